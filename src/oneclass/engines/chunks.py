"""The engine for rows in chunks: arrays, memory maps, files, or iterables that can be read more than once."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np

from ..core.arrays import is_foreign
from ..core.block import Block
from ..core.quantiles import EXACT
from ..core.typing import Name, Rows
from ..io.formats import Batch
from ..io.table_file import TableFile
from .threads import spread

__all__ = ["Chunks", "Progress", "Source", "Transformed", "blocks_of", "with_labels"]

#: Sources from which rows are read in blocks.
Source: TypeAlias = (
    "Rows | Path | TableFile | Transformed | Callable[[], Iterable[Rows]] | Iterable[Rows | Path | TableFile]"
)

S = TypeVar("S")
R = TypeVar("R", bound=Callable[[Any], Block])

#: Number of rows in a block of an array or a ``.npy`` file.
_BLOCK_ROWS = 65_536


class Chunks(Generic[R]):
    """Engine for a source of chunks, which is read once for each pass.

    Parameters
    ----------
    source : array, path, callable or iterable
        An array or memory map; a ``.npy`` file, the path of a table file or a `TableFile`, or a list of them; a
        callable that returns a fresh iterator of blocks of rows; or an iterable that can be iterated over again.
    reader_of : callable
        Function of the first block that returns the `reader`. The reader checks a block and returns a `Block`: its rows
        as a two-dimensional array of floats and, if there are groups, a hash of each row's group.
    verbose : bool
        Whether to report rows per second and the time left on standard error.
    """

    loss_limit = EXACT

    def __init__(self, source: Source, reader_of: Callable[[Rows], R], *, verbose: bool = False) -> None:
        self._verbose = verbose
        self._n_rows: int | None = None
        if isinstance(source, Iterator):
            raise TypeError(
                f"a {type(source).__name__} can be read only once, but fitting reads the rows several times; pass a "
                "function that returns a fresh iterator, for example lambda: read_blocks(path)"
            )
        opened = _nonempty(source)
        first = next(opened, None)
        if first is None:
            raise ValueError("the source of chunks holds no rows")
        self.reader = reader_of(first)
        #: Iterators over the blocks, one for each pass; the first one reuses the block that was read above.
        self._passes = chain([chain([first], opened)], iter(lambda: _nonempty(source), None))

    def total(self, step: Callable[[Block], S], label: str) -> S:
        """Sum of the results of `step` over all chunks."""
        progress = Progress(label, self._n_rows) if self._verbose else None
        checked = map(self.reader, next(self._passes))
        result: S | None = None
        rows = 0
        for first in checked:
            for part, n in spread(lambda block: (step(block), block.X.shape[0]), chain([first], checked), first.X):
                result = part if result is None else result + part  # type: ignore[operator]
                rows += n
                if progress:
                    progress.show(rows)
        if self._n_rows is not None and rows != self._n_rows:
            raise ValueError(f"the source gave {self._n_rows:,} rows on one pass and {rows:,} on the next")
        self._n_rows = rows
        if progress:
            progress.close()
        return result  # type: ignore[return-value]  # not None: an empty pass raises the error above


def with_labels(source: Source, column: Name) -> Source:
    """The source, whose text files read `column` as text, because labels need not be numbers."""
    if isinstance(source, str | Path) and Path(source).suffix != ".npy":
        source = TableFile(source)
    if isinstance(source, TableFile) and not (isinstance(column, int) and column < 0):
        return replace(source, text=(*source.text, column))
    if isinstance(source, list | tuple):
        parts: list[Any] = [with_labels(p, column) if isinstance(p, str | Path | TableFile) else p for p in source]
        return parts
    return source


@dataclass(frozen=True)
class Transformed:
    """A source with a function that is applied to each block."""

    source: Source
    step: Callable[[Any], Any]


def _nonempty(source: Source) -> Iterator[Rows]:
    return (block for block, _ in blocks_of(source))


def blocks_of(source: Source) -> Iterator[tuple[Rows, Batch | None]]:
    """The blocks of a source that are not empty, each with the columns of `TableFile.keep`, or None."""
    return ((block, kept) for block, kept in _blocks(source) if getattr(block, "shape", (1,))[0] > 0)


def _blocks(source: Source) -> Iterator[tuple[Rows, Batch | None]]:
    if isinstance(source, Transformed):
        yield from ((source.step(block), kept) for block, kept in blocks_of(source.source))
    elif isinstance(source, TableFile):
        yield from source.blocks()
    elif isinstance(source, str | Path):
        yield from _blocks(TableFile(source)) if Path(source).suffix != ".npy" else _array_file(Path(source))
    elif callable(source):
        yield from ((block, None) for block in source())
    elif hasattr(source, "shape"):  # an array or a table
        rows: Any = getattr(source, "iloc", source)
        n = source.shape[0]
        for a in range(0, n, _BLOCK_ROWS):
            yield rows[a : min(a + _BLOCK_ROWS, n), ...] if is_foreign(source) else rows[a : a + _BLOCK_ROWS], None
    elif isinstance(source, Iterable):
        parts: Iterable[Any] = source
        for part in parts:
            yield from _blocks(part) if isinstance(part, str | Path | TableFile) else [(part, None)]
    else:
        advice = "; collect it first" if hasattr(source, "collect") else ""
        kind = type(source).__name__
        raise TypeError(f"chunks must be an array, a path, a callable or an iterable, got {kind}{advice}")


def _array_file(path: Path) -> Iterator[tuple[Rows, Batch | None]]:
    """Blocks of a ``.npy`` file, read without a memory map, which would count against an address-space limit."""
    formats = np.lib.format
    readers = {(1, 0): formats.read_array_header_1_0, (2, 0): formats.read_array_header_2_0}
    with path.open("rb") as file:
        reader = readers.get(formats.read_magic(file))
        shape, by_columns, dtype = reader(file) if reader else ((), True, None)
        if by_columns or len(shape) != 2:
            yield from _blocks(np.load(path, mmap_mode="r"))
            return
        for a in range(0, shape[0], _BLOCK_ROWS):
            rows = min(_BLOCK_ROWS, shape[0] - a)
            yield np.fromfile(file, dtype, rows * shape[1]).reshape(rows, shape[1]), None


class Progress:
    """One line on standard error: rows (or other units), units per second, time left."""

    def __init__(self, label: str, n_rows: int | None, *, unit: str = "rows") -> None:
        self._label, self._n_rows, self._unit = label, n_rows, unit
        self._start = self._shown = time.monotonic()

    def show(self, rows: int, *, last: bool = False) -> None:
        """Print the progress, at most every 0.2 seconds except for the `last` time."""
        now = time.monotonic()
        if now - self._shown < 0.2 and not last and rows != self._n_rows:
            return
        self._shown = now
        speed = rows / max(now - self._start, 1e-9)
        left = f", {(self._n_rows - rows) / speed:,.0f} s left" if self._n_rows else ""
        done = f"{rows:,} {self._unit}, {speed:,.0f} {self._unit}/s{left}"
        print(f"\r{self._label}: {done}    ", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """End the line."""
        print(file=sys.stderr)
