"""Scoring of rows in chunks: each block is read, scored and written before the next one is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.typing import Rows
from ..io.formats import Batch, arrow
from ..io.sinks import Arranged, Sink, free_name, path_of, writing
from ..io.table_file import TableFile
from .chunks import Progress, Source, Transformed, blocks_of

__all__ = ["Columns", "Scored", "score_through"]

#: Columns of results, by name.
Columns = dict[str, NDArray[np.generic]]


class Scored(NamedTuple):
    """Number of scored rows, and number of outliers among them."""

    rows: int
    outliers: int


def score_through(source: Source, sink: Sink, judged: Callable[[Rows], Columns], *, name: str, verbose: bool) -> Scored:
    """Write the columns that `judged` computes for each block, after the columns of `TableFile.keep`."""
    place = path_of(sink)
    for path in _paths(source):
        if place is not None and os.path.exists(place) and path.exists() and os.path.samefile(path, place):
            raise ValueError(f"{name}: sink must be another file than the source, got {place} for both")
    progress = Progress("scores", None) if verbose else None
    rows = outliers = 0
    with writing(sink) as write:
        for block, kept in blocks_of(source):
            found = judged(block)
            write(_beside(kept, found, name, rename=isinstance(sink, Arranged)))
            rows, outliers = rows + len(found["label"]), outliers + int(np.count_nonzero(found["label"] == -1))
            if progress:
                progress.show(rows)
        if not rows:
            raise ValueError(f"{name}: the source holds no rows")
    if progress:
        progress.show(rows, last=True)
        progress.close()
    return Scored(rows, outliers)


def _beside(kept: Batch | None, found: Columns, name: str, *, rename: bool) -> Batch:
    """One record batch of the kept columns and the computed columns; equal names are an error unless `rename`."""
    pa = arrow()
    columns = {} if kept is None else dict(zip(kept.schema.names, kept.columns, strict=True))
    if not rename and (both := columns.keys() & found.keys()):
        raise ValueError(f"{name}: a column to keep must not be called {min(both)!r}, which is written beside it")
    results = {free_name(key, columns): column for key, column in found.items()}
    batch: Batch = pa.RecordBatch.from_pydict(columns | results)
    return batch


def _paths(source: object) -> Iterator[Path]:
    """The paths of the files that a source reads, as far as they are known."""
    if isinstance(source, Transformed):
        yield from _paths(source.source)
    elif isinstance(source, TableFile | str | Path):
        yield from (source if isinstance(source, TableFile) else TableFile(source)).files()
    elif isinstance(source, list | tuple):
        for part in source:
            if isinstance(part, str | Path | TableFile):
                yield from _paths(part)
