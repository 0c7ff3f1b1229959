"""The cells of a column, whatever they are written as, as numbers, times or words.

Words are looked at once for each distinct value, not once a row.
"""

from __future__ import annotations

import datetime
import decimal
import numbers
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Cells", "read_cells"]

#: What people write where nothing is known.
_NOTHING = frozenset(["", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "?", "-", "--", "."])
_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?")
_ZONE = re.compile(r"(?:Z|[+-]\d\d:?\d\d)$")
_CODE = re.compile(r"[+-]?0\d")


@dataclass(frozen=True)
class Cells:
    """Cells of one column: `numbers` with NaN, `times` with NaT or `words` with None in gaps, as far as they are such.

    Words and numbers mixed have both: `numbers` is NaN where a word stands.
    """

    kind: str
    words: NDArray[Any] | None = None
    numbers: NDArray[np.float64] | None = None
    times: NDArray[np.datetime64] | None = None

    @property
    def gaps(self) -> NDArray[np.bool_]:
        """Where nothing is known."""
        if self.words is not None:
            return np.array([word is None for word in self.words], dtype=np.bool_)
        return np.isnan(self.numbers) if self.times is None else np.isnat(self.times)  # type: ignore[arg-type]

    def as_words(self) -> NDArray[Any]:
        """The cells as text, None in gaps: whole numbers without decimals, so that 3 and 3.0 are one."""
        if self.words is not None:
            return self.words
        values: NDArray[Any] = self.numbers if self.times is None else self.times  # type: ignore[assignment]
        distinct, codes = np.unique(values, return_inverse=True)
        named = np.empty(len(distinct), dtype=object)
        named[:] = [_word(value, self.kind) for value in distinct]
        return np.asarray(named[codes.reshape(-1)])


def _word(value: Any, kind: str) -> str | None:
    if value != value:
        return None
    if kind == "time":
        return str(value)
    if kind == "flag":
        return str(bool(value))
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def read_cells(column: NDArray[Any], label: str) -> Cells:
    """The cells of a column called so."""
    kind = column.dtype.kind
    if kind == "b":
        return Cells("flag", numbers=column.astype(float))
    if kind in "iuf":
        values = column.astype(float)
        return Cells("number", numbers=np.where(np.isfinite(values), values, np.nan))
    if kind == "M":
        return Cells("time", times=column.astype("datetime64[us]"))
    if kind == "m":
        seconds = column.astype("timedelta64[us]").astype(float) / 1e6
        return Cells("number", numbers=np.where(np.isnat(column), np.nan, seconds))
    return _of_objects(column.tolist(), label)


def _of_objects(cells: list[Any], label: str) -> Cells:
    try:
        distinct = {cell: _plain(cell) for cell in dict.fromkeys(cells)}
    except TypeError:
        kinds = sorted({type(cell).__name__ for cell in cells if cell.__hash__ is None})
        raise TypeError(f"{label} must hold numbers, words or times, but holds a {', a '.join(kinds)}") from None
    known = [value for value in distinct.values() if value is not None]
    if known and all(isinstance(value, bool) for value in known):
        return Cells("flag", numbers=_mapped(cells, distinct, float, np.nan))
    if known and all(isinstance(value, np.datetime64) or _is_time(value) for value in known):
        table = {cell: _time(value) for cell, value in distinct.items()}
        times = np.array([*table.values()], dtype="datetime64[us]")
        place = dict(zip(table, range(len(table)), strict=True))
        return Cells("time", times=times[np.fromiter(map(place.__getitem__, cells), np.intp, len(cells))])
    parsed = {cell: _number(value) for cell, value in distinct.items()}
    figures = np.fromiter(map(parsed.__getitem__, cells), float, len(cells))
    if all(value is None or parsed[cell] == parsed[cell] for cell, value in distinct.items()) and known:
        return Cells("number", numbers=figures)
    named = {cell: None if value is None else _text(value) for cell, value in distinct.items()}
    words = np.empty(len(cells), dtype=object)
    words[:] = [*map(named.__getitem__, cells)]
    return Cells("words", words=words, numbers=figures)


def _mapped(cells: list[Any], distinct: dict[Any, Any], make: Any, gap: float) -> NDArray[np.float64]:
    table = {cell: gap if value is None else make(value) for cell, value in distinct.items()}
    return np.fromiter(map(table.__getitem__, cells), float, len(cells))


def _plain(cell: Any) -> Any:
    """A cell as str, bool, float or datetime64; None where it says nothing."""
    if isinstance(cell, str):
        word = cell.strip()
        return None if word.lower() in _NOTHING else word
    if cell is None or isinstance(cell, bool | np.bool_):
        return None if cell is None else bool(cell)
    if isinstance(cell, numbers.Real | decimal.Decimal):
        return float(cell) if np.isfinite(float(cell)) else None
    if isinstance(cell, datetime.datetime):
        return np.datetime64(cell.replace(tzinfo=None), "us") if cell == cell else None
    if isinstance(cell, datetime.date):
        return np.datetime64(cell, "us")
    if isinstance(cell, datetime.time):
        return cell.hour * 3600.0 + cell.minute * 60 + cell.second
    if isinstance(cell, datetime.timedelta):
        return cell.total_seconds()
    if isinstance(cell, bytes):
        return _plain(cell.decode(errors="replace"))
    return None if cell is NotImplemented or type(cell).__name__ in ("NAType", "NaTType") else str(cell)


def _is_time(value: Any) -> bool:
    return isinstance(value, str) and _TIME.fullmatch(_ZONE.sub("", value) if len(value) > 10 else value) is not None


def _time(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return np.datetime64(_ZONE.sub("", value) if len(value) > 10 else value, "us")
        except ValueError:  # the thirteenth month
            return np.datetime64("NaT")
    return np.datetime64("NaT") if value is None else value


def _number(value: Any) -> float:
    """The number that a plain value is; codes such as 00123 are none."""
    if isinstance(value, float):
        return value
    if not isinstance(value, str) or _CODE.match(value) or "_" in value:
        return np.nan
    try:
        found = float(value)
    except ValueError:
        return np.nan
    return found if np.isfinite(found) else np.nan


def _text(value: Any) -> str:
    return _word(value, "number") or "" if isinstance(value, float) else str(value)
