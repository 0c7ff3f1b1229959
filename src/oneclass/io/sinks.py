"""Writing of tables in blocks; if writing fails, an existing file is unchanged."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeAlias

from .excel import ExcelWriter
from .formats import JSON_LINES, TEXT, Batch, Schema, arrow, ending
from .records import JSONLinesWriter
from .replacing import replacing

__all__ = ["Arranged", "EscapedCSV", "Sink", "free_name", "path_of", "writing"]

#: Regular expressions: text that a spreadsheet reads as a formula, and the numbers that match it as well.
_FORMULA = r"\A('*[=+\-@\t\r\n\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}])"
_NUMBER = r"\A[+\-](?:[0-9.,]*(?:[eE][+\-]?[0-9]+)?%?|(?i:nan|inf|infinity))\z"


@dataclass(frozen=True)
class EscapedCSV:
    r"""A sink for `score_chunks` that writes CSV in which a spreadsheet does not read text as a formula.

    Text and column names that begin with ``=``, ``+``, ``-``, ``@``, a tab or a line break get an apostrophe in front.
    So do those that begin with apostrophes followed by one of these characters. Numbers such as -0.5 are not changed,
    also in text columns.

    Parameters
    ----------
    sink : path or binary file
        Path of a file with the suffix ``.csv`` or ``.tsv``, which ``.gz`` or ``.zst`` may follow, or a file open for
        writing.

    Notes
    -----
    To restore the text, remove the first apostrophe of each cell that begins with apostrophes followed by one of these
    characters. In pandas: ``cells.str.replace(r"^'('*[=+\-@\t\r\n])", r"\1", regex=True)``.

    Examples
    --------
    >>> import io
    >>> import numpy as np
    >>> from oneclass import EscapedCSV, KNNDetector
    >>> model = KNNDetector().fit(np.random.default_rng(0).normal(size=(99, 2)))
    >>> file = io.BytesIO()
    >>> model.score_chunks([[[0.0, 0.0]], [[6.0, 6.0]]], EscapedCSV(file))
    Scored(rows=2, outliers=1)
    """

    sink: str | Path | IO[bytes] | IO[str]

    def __post_init__(self) -> None:
        if isinstance(self.sink, str | Path) and ending(self.sink)[0] not in TEXT:
            raise ValueError(f"EscapedCSV: sink must end in .csv or .tsv, got {Path(self.sink).name}")


@dataclass(frozen=True)
class Arranged:
    """A sink that writes some rows of the scores, or the rows in another order.

    Results whose names columns of the table have are written with ``oneclass_`` before their names.

    Attributes
    ----------
    sink : path, binary file or EscapedCSV
        Where the rows are written.
    only_outliers : bool
        Whether to write the outliers only.
    sort : bool
        Whether to write the most anomalous rows first. All rows to be written are then held in memory.
    numbered : bool
        Whether to add the number of the row, counted from 1, as the first column.
    """

    sink: str | Path | IO[bytes] | IO[str] | EscapedCSV
    only_outliers: bool = False
    sort: bool = False
    numbered: bool = False


#: Destination of a table: a path, or a file open for writing.
Sink: TypeAlias = str | Path | IO[bytes] | IO[str] | EscapedCSV | Arranged


def path_of(sink: Sink) -> str | Path | None:
    """The path of a sink; None for an open file."""
    place = sink.sink if isinstance(sink, Arranged) else sink
    place = place.sink if isinstance(place, EscapedCSV) else place
    return place if isinstance(place, str | Path) else None


@contextmanager
def writing(sink: Sink) -> Iterator[Callable[[Batch], None]]:
    """A function that writes record batches to a path or, as CSV, to an open file."""
    if isinstance(sink, Arranged):
        with writing(sink.sink) as write:
            arranging = _Arranging(sink, write)
            yield arranging.add
            arranging.end()
        return
    escaped = isinstance(sink, EscapedCSV)
    sink, path = sink.sink if isinstance(sink, EscapedCSV) else sink, path_of(sink)
    kind, packed = (".csv", None) if path is None else ending(path, written=True)
    with nullcontext(_binary(sink)) if path is None else replacing(path) as file:
        stream = arrow().PythonFile(_LeftOpen(file), mode="w")
        stream = stream if packed is None else arrow().CompressedOutputStream(stream, packed)
        writer: Any = None

        def write(batch: Batch) -> None:
            nonlocal writer
            batch = _escaped(batch) if escaped else batch
            writer = writer or _writer(kind, stream, batch.schema, Path(path or "").name)
            writer.write_batch(batch)

        try:
            yield write
        except BaseException:
            with suppress(Exception):  # the file is discarded; an unclosed writer would warn later
                writer.close()
            raise
        if writer is not None:
            writer.close()
        stream.close()


def _writer(kind: str, stream: IO[bytes], schema: Schema, name: str) -> Any:
    pa = arrow()
    if kind == ".parquet":
        return pa.parquet.ParquetWriter(stream, schema)
    if kind in (".feather", ".arrow"):
        return pa.ipc.new_file(stream, schema)
    if kind in JSON_LINES:
        return JSONLinesWriter(stream)
    if kind == ".xlsx":
        return ExcelWriter(stream, schema.names, name)
    delimiter = "\t" if kind in (".tsv", ".txt") else ","
    names = io.StringIO()
    csv.writer(names, delimiter=delimiter, lineterminator="\n").writerow(schema.names)
    stream.write(names.getvalue().encode())  # PyArrow would put every name in quotes
    options = pa.csv.WriteOptions(include_header=False, delimiter=delimiter)
    return pa.csv.CSVWriter(stream, schema, write_options=options)


def _escaped(batch: Batch) -> Batch:
    """The batch with an apostrophe before text and column names that a spreadsheet reads as formulas."""
    pa = arrow()
    columns = [*map(_without_formulas, batch.columns), _without_formulas(pa.array(batch.schema.names))]
    made: Batch = pa.RecordBatch.from_arrays(columns[:-1], names=columns[-1].to_pylist())
    return made


def _without_formulas(cells: Any) -> Any:
    """A column of PyArrow, escaped if it holds text."""
    pa = arrow()
    if pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_decode()
    if not re.match("(large_)?(string|binary)|fixed_size_binary", str(cells.type)):
        return cells
    cells = cells.cast(pa.large_string())
    number = pa.compute.match_substring_regex(cells, _NUMBER)
    return pa.compute.if_else(number, cells, pa.compute.replace_substring_regex(cells, _FORMULA, r"'\1"))


def _binary(sink: object) -> IO[bytes]:
    file: Any = getattr(sink, "buffer", sink) if isinstance(sink, io.TextIOBase) else sink
    if not hasattr(file, "write") or isinstance(file, io.TextIOBase):
        raise TypeError(f"a sink must be a path or a binary file that is open, got {type(file).__name__}")
    binary: IO[bytes] = file
    return binary


class _Arranging:
    """Writing of record batches of scores as an `Arranged` sink asks for; the last batch may be empty."""

    def __init__(self, asked: Arranged, write: Callable[[Batch], None]) -> None:
        self._asked, self._write = asked, write
        self._rows = 0
        self._held: list[Any] = []

    def add(self, batch: Any) -> None:
        """Write or keep the next rows."""
        pa = arrow()
        if self._asked.numbered:
            numbers = pa.array(range(self._rows + 1, self._rows + batch.num_rows + 1), pa.int64())
            name = free_name("row", batch.schema.names)
            batch = pa.RecordBatch.from_arrays([numbers, *batch.columns], names=[name, *batch.schema.names])
        self._rows += batch.num_rows
        if self._asked.only_outliers:
            batch = batch.filter(pa.compute.equal(batch[_last(batch, "label")], -1))
        if self._asked.sort:
            self._held.append(batch)
        else:
            self._write(batch)

    def end(self) -> None:
        """Write the rows that were kept, sorted by their scores."""
        if self._held:
            whole = arrow().concat_batches(self._held)
            scores = whole[_last(whole, "score")].to_numpy(zero_copy_only=False)
            self._write(whole.take(arrow().array(scores.argsort(kind="stable"))))


def _last(batch: Any, name: str) -> int:
    """The number of the column of results with this name, or with the name that it has if an input has this one."""
    return int(max(j for j, found in enumerate(batch.schema.names) if found in (name, f"oneclass_{name}")))


def free_name(name: str, taken: Collection[str]) -> str:
    """The name of a column of results that stands beside columns with the names `taken`."""
    while name in taken:
        name = f"oneclass_{name}"
    return name


class _LeftOpen:
    """A wrapper of a file that keeps PyArrow from closing it."""

    closed = False

    def __init__(self, file: IO[bytes]) -> None:
        self.write, self.flush = file.write, file.flush

    def close(self) -> None:
        self.flush()
