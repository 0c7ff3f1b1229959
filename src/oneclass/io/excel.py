"""Excel files: reading of sheets, and writing of record batches in which no value changes."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import IO, Any

from ..core.wording import parameter
from .messages import one_line
from .records import Records, json_value
from .sniffing import names_columns

__all__ = ["ExcelWriter", "excel_records"]

#: What a sheet can hold: rows, columns, characters of a cell, digits of a number, and the range of a number.
_MAX_ROWS, _MAX_COLUMNS, _MAX_CHARACTERS, _MAX_DIGITS, _MAX_NUMBER = 1_048_576, 16_384, 32_767, 15, 9.99e307
#: The first day that spreadsheets agree about.
_FIRST_DAY = datetime.datetime(1900, 3, 1)
#: Text that is a plain number. A cell shows it as written if its number format has as many decimals.
_PLAIN = re.compile(r"(?!-0(?:\.0*)?$)-?(?:0|[1-9]\d*)(?:\.(?P<decimals>\d+))?")


def _openpyxl(name: str) -> ModuleType:
    try:
        import openpyxl
    except ImportError as error:
        raise ImportError(f"{name}: Excel files need openpyxl: pip install 'oneclass[excel]'") from error
    library: ModuleType = openpyxl
    return library


def excel_records(path: str | Path, sheet: str | None, header: bool | None, asked: list[str]) -> Records:
    """The records of a sheet of an Excel file; without a name, of its only sheet that holds cells."""
    name = Path(path).name
    openpyxl = _openpyxl(name)

    @contextmanager
    def opened() -> Iterator[Any]:
        try:
            book = openpyxl.load_workbook(path, read_only=True, data_only=True)
            try:
                yield book
            finally:
                book.close()
        except Exception as error:  # a damaged file makes openpyxl raise errors of any class, also while it reads rows
            raise ValueError(f"{name}: the Excel file cannot be read: {one_line(error)}") from error

    def filled(place: str) -> Iterator[list[object]]:
        with opened() as book:
            for cells in book[place].iter_rows(values_only=True):
                row = [*cells]
                while row and row[-1] is None:
                    row.pop()
                if row:
                    yield row

    with opened() as book:
        sheets = [place.title for place in book.worksheets]
    if sheet is not None and sheet not in sheets:
        raise ValueError(f"{name}: sheet must be one of {', '.join(map(repr, sheets))}; got {sheet!r}")
    held = [sheet] if sheet is not None else [place for place in sheets if next(filled(place), None) is not None]
    if len(held) > 1:
        listed = ", ".join(map(repr, held))
        raise ValueError(f"{name}: the file holds the sheets {listed}; name one with {parameter('sheet', held[0])}")
    first = next(filled(held[0]), None) if held else None
    if first is None:
        raise ValueError(f"{name}: the file holds no rows")
    width = max(map(len, filled(held[0])))
    words = ["" if cell is None else str(cell).strip() for cell in first]
    named = names_columns(words, asked, name, decimal=".") if header is None else header
    if named and (len(words) < width or "" in words):
        place = words.index("") + 1 if "" in words else len(words) + 1
        raise ValueError(f"{name}: column {place} of the sheet has no name; remove the rows above the line of names")
    names = words if named else [*map(str, range(width))]

    def rows() -> Iterator[Sequence[object]]:
        for row in islice(filled(held[0]), int(named), None):
            yield [*row, *[None] * (width - len(row))]

    return Records(names, named, rows)


class ExcelWriter:
    """Writer of record batches as a sheet. What a number or a date of Excel cannot hold exactly is written as text.

    Text that is a plain number, as in a CSV file, becomes a number that is shown as it was written.
    """

    def __init__(self, stream: IO[bytes], names: Sequence[str], name: str) -> None:
        self._stream, self._name, self._rows = stream, name, 1
        if len(names) > _MAX_COLUMNS:
            raise ValueError(f"{name}: a sheet of Excel holds {_MAX_COLUMNS:,} columns at most, got {len(names):,}")
        openpyxl = _openpyxl(name)
        self._book = openpyxl.Workbook(write_only=True)
        self._sheet = self._book.create_sheet("Sheet1")
        self._new = partial(openpyxl.cell.WriteOnlyCell, self._sheet)
        self._illegal = openpyxl.cell.cell.ILLEGAL_CHARACTERS_RE
        self._sheet.append([self._text(title) for title in names])

    def write_batch(self, batch: Any) -> None:
        """Write one row of the sheet for each row."""
        self._rows += batch.num_rows
        if self._rows > _MAX_ROWS:
            raise ValueError(
                f"{self._name}: a sheet of Excel holds {_MAX_ROWS:,} rows at most; write a .csv or .parquet file"
            )
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            self._sheet.append([self._cell(value) for value in row])

    def close(self) -> None:
        """Write the file."""
        self._book.save(self._stream)

    def _cell(self, value: Any) -> object:
        if value is None or isinstance(value, bool) or value != value:
            return value if isinstance(value, bool) else None
        if isinstance(value, datetime.date):
            return value if _is_exact(value) else self._text(value.isoformat())
        if isinstance(value, int | float):
            shown = repr(value)
            exact = abs(value) < (10**_MAX_DIGITS if isinstance(value, int) else _MAX_NUMBER)
            return self._number(shown) if exact else self._text(shown)
        text = str(json_value(value))
        plain = _PLAIN.fullmatch(text)
        if plain is None or len(text) > _MAX_DIGITS:
            return self._text(text)
        decimals = plain["decimals"]
        return self._number(text, "0" if decimals is None else f"0.{'0' * len(decimals)}")

    def _number(self, shown: str, form: str = "General") -> Any:
        cell = self._new()
        cell.value, cell.data_type, cell.number_format = shown, "n", form  # as text, since openpyxl rounds floats
        return cell

    def _text(self, text: str) -> Any:
        """A cell with text, which is never read as a formula."""
        if len(text) > _MAX_CHARACTERS or self._illegal.search(text):
            raise ValueError(
                f"{self._name}: a cell of Excel holds at most {_MAX_CHARACTERS:,} characters and no control "
                f"characters, got {one_line(repr(text), 80)}; write a .csv or .parquet file"
            )
        cell = self._new()
        cell.value, cell.data_type = text, "s"
        return cell


def _is_exact(time: datetime.date) -> bool:
    """Whether a cell of Excel holds a date or time exactly."""
    if not isinstance(time, datetime.datetime):
        return time >= _FIRST_DAY.date()
    whole = time.microsecond % 1000 == 0 and not getattr(time, "nanosecond", 0)
    return time.tzinfo is None and whole and time >= _FIRST_DAY
