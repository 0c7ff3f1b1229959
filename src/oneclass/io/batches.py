"""Record batches of table files, in blocks of bounded size."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import IO

import numpy as np

from .formats import Batch, Schema, arrow

__all__ = [
    "Batches",
    "CountedLines",
    "arrow_batches",
    "gathered",
    "numbered_labels",
    "parquet_batches",
    "rows_of_block",
    "with_points",
]

#: Upper bounds on the rows of a block, and on the bytes of its numbers.
_MAX_ROWS, _MAX_BYTES = 16_384, 16 << 20

#: A function of column names and a number of rows that reads these columns in blocks of so many rows.
Batches = Callable[[list[str], int], Iterable[Batch]]


@contextmanager
def parquet_batches(path: str) -> Iterator[tuple[Schema, Batches]]:
    """The schema of a Parquet file, and a function that reads some of its columns."""
    with arrow().parquet.ParquetFile(path) as file:
        groups = range(file.num_row_groups)  # one at a time: PyArrow would keep row groups in memory after reading them
        yield (
            file.schema_arrow,
            lambda columns, rows: _validated(
                (batch for group in groups for batch in file.iter_batches(rows, row_groups=[group], columns=columns)),
                columns,
            ),
        )


@contextmanager
def arrow_batches(path: str) -> Iterator[tuple[Schema, Batches]]:
    """The schema of a Feather file, or an Arrow file or stream, and a function that reads some of its columns."""
    pa = arrow()
    # Not memory-mapped: if a mapped file is truncated while it is read, SIGBUS ends the process.
    with pa.OSFile(path) as source:
        start = source.read(6)
        source.seek(0)
        if start == b"ARROW1":
            file = pa.ipc.open_file(source)
            batches = (file.get_batch(i) for i in range(file.num_record_batches))
        else:
            batches = file = pa.ipc.open_stream(source)
        yield file.schema, lambda columns, rows: _cut(_validated(batches, columns), rows)


def numbered_labels(schema: Schema) -> dict[str, int]:
    """Integer column labels by the text that pandas wrote for them; empty for files without integer labels."""
    try:
        [index] = json.loads((schema.metadata or {})[b"pandas"])["column_indexes"]
        integers = index["pandas_type"] == "int64"
    except (LookupError, RecursionError, TypeError, ValueError):  # no metadata of pandas, or damaged metadata
        return {}
    return {name: int(name) for name in schema.names if name.removeprefix("-").isdecimal()} if integers else {}


def rows_of_block(n_columns: int) -> int:
    """The number of rows in a block of `n_columns` columns."""
    return max(1, min(_MAX_ROWS, _MAX_BYTES // (8 * n_columns)))


def _validated(batches: Iterable[Batch], columns: list[str]) -> Iterator[Batch]:
    """Some columns of the batches, validated, because offsets in a damaged file may point outside the memory."""
    for batch in batches:
        chosen = batch.select(columns)
        chosen.validate(full=True)
        yield chosen


def _cut(batches: Iterable[Batch], rows: int) -> Iterator[Batch]:
    for batch in batches:
        for start in range(0, batch.num_rows, rows):
            yield batch.slice(start, rows)


def gathered(batches: Iterable[Batch], rows: int) -> Iterator[Batch]:
    """Batches concatenated until they have at least `rows` rows."""
    parts: list[Batch] = []
    for batch in batches:
        parts.append(batch)
        if sum(part.num_rows for part in parts) >= rows:
            yield arrow().concat_batches(parts)
            parts = []
    if parts:
        yield arrow().concat_batches(parts)


def with_points(batch: Batch, decimal: str) -> Batch:
    """Text cells in which numbers with the decimal mark `decimal` are rewritten with a decimal point."""
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
    """A UTF-8 stream that counts all lines (`count`) and the lines that are not empty (`filled`) while it is read."""

    closed = False

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._last = stream, ord("\n")
        self.count = self.filled = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def read(self, size: int = -1) -> bytes:
        """Read the next bytes and count their lines; raise `UnicodeDecodeError` if they are not UTF-8."""
        data: bytes = self._stream.read(size)
        self._decoder.decode(data, final=not data)
        if data:
            codes = np.frombuffer(data, np.uint8)
            before = np.concatenate([[np.uint8(self._last)], codes[:-1]])
            ends, ended = ((part == ord("\n")) | (part == ord("\r")) for part in (codes, before))
            # A line begins at each byte after a line end, except at the second byte of "\r\n".
            self.count += int(np.count_nonzero(ended & ~((before == ord("\r")) & (codes == ord("\n")))))
            self.filled += int(np.count_nonzero(ended & ~ends))
            self._last = int(codes[-1])
        return data

    def close(self) -> None:
        """Leave the stream open: the code that opened it closes it."""
