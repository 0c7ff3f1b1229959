"""Tables of records, whose columns hold cells of any type, and lines of JSON."""

from __future__ import annotations

import datetime
import io
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..core.typing import Shaped
from .batches import rows_of_block
from .formats import Batch, arrow
from .messages import one_line

__all__ = ["JSONLinesWriter", "Records", "json_records", "json_value", "record_blocks"]

#: Names of Arrow types for the types of cells that a column holds.
_TYPES = {
    (): "string", ("flag",): "bool", ("whole",): "int64", ("number",): "float64", ("number", "whole"): "float64",
    ("time",): "timestamp[us]", ("large",): "int64", ("large", "whole"): "int64",
}  # fmt: skip
#: From this number on, a whole number may have no exact float, and from the second on no exact 64-bit integer.
_INEXACT, _BEYOND = 2**53, 2**63


@dataclass(frozen=True)
class Records:
    """Names of columns, if the table has names, their number, and a function that reads the rows from the first on."""

    names: list[str]
    named: bool
    rows: Callable[[], Iterator[Sequence[object]]]

    def beside(self, columns: Mapping[str, object]) -> Records:
        """The records with more columns, each of which has one value in all rows."""
        if not columns:
            return self
        rows = self.rows
        return Records([*self.names, *columns], self.named, lambda: ([*row, *columns.values()] for row in rows()))


def json_records(path: str | Path, opened: Callable[[], Any]) -> Records:
    """The records of a file of JSON lines, each an object of plain values; `opened` opens it."""
    name = Path(path).name

    def objects() -> Iterator[dict[str, object]]:
        with opened() as stream:
            for i, line in enumerate(io.TextIOWrapper(stream, "utf-8-sig"), 1):
                if not line.strip():
                    continue
                try:
                    found = json.loads(line)
                except ValueError:
                    found = None
                if not isinstance(found, dict) or any(isinstance(value, dict | list) for value in found.values()):
                    raise ValueError(f"{name}: line {i:,} must be a JSON object of plain values: {one_line(line, 80)}")
                yield found

    names = [*dict.fromkeys(key for found in objects() for key in found)]
    if not names:
        raise ValueError(f"{name}: the file holds no rows")
    return Records(names, True, lambda: ([found.get(key) for key in names] for found in objects()))


def record_blocks(
    records: Records, columns: list[str], keep: list[str], *, text: Sequence[str] | None, name: str
) -> Iterator[tuple[Shaped, Batch]]:
    """Blocks of the feature columns as data frames, each with a record batch of the columns to keep.

    Columns that are not in `text` must hold numbers; if it is None, all columns hold cells of any type.
    """
    pa = arrow()
    frame_of = type(pa.table({}).to_pandas())  # the class of data frames, which this layer does not import
    place = {column: j for j, column in enumerate(records.names)}
    types = {column: set[str]() for column in keep}
    for row in records.rows() if keep else ():
        for column, found in types.items():
            found.add(_type_of(row[place[column]]))
    schema = {column: _TYPES.get(tuple(sorted(found - {""})), "string") for column, found in types.items()}
    rows = records.rows()
    while block := [*islice(rows, rows_of_block(len(columns)))]:
        cells = {column: [row[place[column]] for row in block] for column in dict.fromkeys([*columns, *keep])}
        frame = frame_of({column: _cells(cells[column], column, text, name) for column in columns})
        kept = [
            pa.array([_text(cell) if kind == "string" else cell for cell in cells[column]], pa.type_for_alias(kind))
            for column, kind in schema.items()
        ]
        batch = pa.RecordBatch.from_arrays(kept, names=[*keep])
        yield frame if records.named else frame.to_numpy(), batch


def _cells(cells: list[object], column: str, text: Sequence[str] | None, name: str) -> Any:
    if text is None or column in text:
        return np.fromiter(cells, dtype=object, count=len(cells))
    try:
        return np.array([np.nan if cell is None else _number(cell) for cell in cells])
    except ValueError as error:
        raise ValueError(
            f"{name}: every cell must hold a number, but column {column!r} holds {error}; leave it out (columns=), "
            "carry it over (keep=) or call it text="
        ) from None


def _number(cell: object) -> float:
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        raise ValueError(one_line(repr(cell), 80))
    return float(cell)


def _type_of(cell: object) -> str:
    """The type of a cell; the empty string if it is missing."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "flag"
    if isinstance(cell, int):
        return "whole" if abs(cell) < _INEXACT else "large" if abs(cell) < _BEYOND else "text"
    if isinstance(cell, float):
        return "number"
    return "time" if isinstance(cell, datetime.datetime) else "text"


def _text(cell: object) -> str | None:
    if cell is None or isinstance(cell, str):
        return cell
    return json.dumps(cell) if isinstance(cell, bool | int | float) else str(cell)


def json_value(cell: object) -> object:
    """A cell as JSON can hold it: NaN and infinity become null, times become text."""
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else None
    if isinstance(cell, datetime.datetime | datetime.date | datetime.time):
        return cell.isoformat()
    return cell if cell is None or isinstance(cell, bool | int | str) else str(cell)


class JSONLinesWriter:
    """Writer of record batches as lines of JSON."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def write_batch(self, batch: Any) -> None:
        """Write one line for each row."""
        lines: Iterable[dict[str, object]] = batch.to_pylist()
        for row in lines:
            text = json.dumps({key: json_value(cell) for key, cell in row.items()}, ensure_ascii=False)
            self._stream.write(f"{text}\n".encode())

    def close(self) -> None:
        """Do nothing: each line is complete."""
