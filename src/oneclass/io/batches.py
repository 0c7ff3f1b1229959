"""Record batches of files that hold tables, in blocks of a size that memory does not mind."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import IO

import numpy as np

from .formats import Batch, arrow

__all__ = ["Batches", "CountedLines", "arrow_batches", "gathered", "parquet_batches", "rows_of_block", "with_points"]

#: Rows of a block, and bytes of its numbers, at most.
_ROWS, _BYTES = 16_384, 16 << 20

#: What reads some columns in blocks of so many rows.
Batches = Callable[[list[str], int], Iterable[Batch]]


@contextmanager
def parquet_batches(path: str) -> Iterator[tuple[list[str], Batches]]:
    """The names of the columns of a Parquet file, and what reads some of them."""
    with arrow().parquet.ParquetFile(path) as file:
        groups = range(file.num_row_groups)  # one after the other, or those read would stay in memory
        yield (
            file.schema_arrow.names,
            lambda columns, rows: (
                batch for group in groups for batch in file.iter_batches(rows, row_groups=[group], columns=columns)
            ),
        )


@contextmanager
def arrow_batches(path: str) -> Iterator[tuple[list[str], Batches]]:
    """The same of Feather files, and of files and streams of Arrow."""
    pa = arrow()
    with pa.memory_map(path) as source:
        start = source.read(6)
        source.seek(0)
        if start == b"ARROW1":
            file = pa.ipc.open_file(source)
            batches = (file.get_batch(i) for i in range(file.num_record_batches))
        else:
            batches = file = pa.ipc.open_stream(source)
        yield file.schema.names, lambda columns, rows: _cut(batches, rows)


def rows_of_block(n_columns: int) -> int:
    """Rows of a block of so many columns."""
    return max(1, min(_ROWS, _BYTES // (8 * n_columns)))


def _cut(batches: Iterable[Batch], rows: int) -> Iterator[Batch]:
    for batch in batches:
        for start in range(0, batch.num_rows, rows):
            yield batch.slice(start, rows)


def gathered(batches: Iterable[Batch], rows: int) -> Iterator[Batch]:
    """Batches put together until they have as many rows."""
    parts: list[Batch] = []
    for batch in batches:
        parts.append(batch)
        if sum(part.num_rows for part in parts) >= rows:
            yield arrow().concat_batches(parts)
            parts = []
    if parts:
        yield arrow().concat_batches(parts)


def with_points(batch: Batch, decimal: str) -> Batch:
    """The text of a batch, with those cells that this decimal mark makes numbers as all the world writes them."""
    if decimal == ".":
        return batch
    mark, pc = re.escape(decimal), arrow().compute
    thousands = rf"^\s*[+-]?[1-9]\d{{0,2}}(?:\.\d{{3}})+(?:{mark}\d+)?\s*$"
    columns = []
    for cells in batch.columns:
        grouped = pc.match_substring_regex(cells, thousands)
        cells = pc.if_else(grouped, pc.replace_substring(cells, ".", ""), cells)
        number = rf"^(\s*[+-]?\d*){mark}(\d+(?:[eE][+-]?\d+)?\s*)$"
        columns.append(pc.replace_substring_regex(cells, number, r"\1.\2"))
    made: Batch = arrow().RecordBatch.from_arrays(columns, names=batch.schema.names)
    return made


class CountedLines:
    """A stream that counts its lines, but for empty ones, as it is read."""

    closed = False

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._ended = stream, True
        self.count = 0

    def read(self, size: int = -1) -> bytes:
        """The next bytes, counted."""
        data: bytes = self._stream.read(size)
        if data:
            codes = np.frombuffer(data, np.uint8)
            ends = (codes == ord("\n")) | (codes == ord("\r"))
            self.count += int(np.count_nonzero(ends[:-1] & ~ends[1:])) + (self._ended and not ends[0])
            self._ended = bool(ends[-1])
        return data

    def close(self) -> None:
        """Nothing: who opened the stream closes it."""
