"""The cells of a column, whatever they are written as, as numbers, times or words.

Words are looked at once for each distinct value, not once a row.
"""

from __future__ import annotations

import datetime
import decimal
import numbers
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..base.explanation import seconds_of
from .frames import INEXACT, Values, objects
from .text import CODE, FLAGS, NOTHING, TIME, different, meant

__all__ = ["Cells", "Words", "is_time", "read_cells"]

#: What a cell says: text, a flag, a number, a time, or nothing.
Plain: TypeAlias = str | bool | int | float | np.datetime64 | None

_ZONE = re.compile(r"(?:Z|[+-]\d\d:?\d\d)$")
_DAY = 86_400e6


@dataclass(frozen=True)
class Words:
    """Text in cells: the different words, None for a gap, and the place of each cell's word among them."""

    levels: NDArray[np.object_]
    codes: NDArray[np.intp]

    def where(self, chosen: NDArray[np.bool_]) -> list[str | None]:
        """The different words of some cells."""
        return [self.levels[code] for code in np.unique(self.codes[chosen])]


@dataclass(frozen=True)
class Cells:
    """Cells of one column: `numbers` with NaN, `times` with NaT or `words` with None in gaps, as far as they are such.

    Words and numbers mixed have both: `numbers` is NaN where a word stands. So have flags that were written in words,
    and numbers of more digits than floats hold; those of an array are `whole`. Numbers may be the seconds of a `span`
    of time, or of a time of day.
    """

    kind: str
    words: Words | None = None
    numbers: NDArray[np.float64] | None = None
    times: NDArray[np.datetime64] | None = None
    span: bool = False
    whole: NDArray[np.integer] | None = None

    @property
    def gaps(self) -> NDArray[np.bool_]:
        """Where nothing is known."""
        if self.words is not None:
            return np.array([word is None for word in self.words.levels], dtype=np.bool_)[self.words.codes]
        return np.isnan(self.numbers) if self.times is None else np.isnat(self.times)  # type: ignore[arg-type]

    @property
    def no_numbers(self) -> NDArray[np.bool_]:
        """Where something is known that is no number."""
        return ~self.gaps if self.numbers is None else ~self.gaps & np.isnan(self.numbers)

    @property
    def no_times(self) -> NDArray[np.bool_]:
        """Where something is known that is no time."""
        words = self.as_words()
        times = np.array([word is not None and is_time(word) for word in words.levels], dtype=np.bool_)
        return ~self.gaps & ~times[words.codes]

    def as_words(self) -> Words:
        """The cells as text: whole numbers without decimals, so that 3 and 3.0 are one."""
        if self.words is not None:
            return self.words
        values: Any = next(known for known in (self.whole, self.times, self.numbers) if known is not None)
        distinct, codes = np.unique(values, return_inverse=True)
        return Words(objects([_word(value, self.kind) for value in distinct]), codes.reshape(-1))

    def as_numbers(self) -> NDArray[np.float64]:
        """The cells as numbers, times as days since 1970; NaN in gaps and where words stand."""
        if self.times is not None:
            return np.where(np.isnat(self.times), np.nan, self.times.astype(np.int64) / _DAY)
        return np.full(len(self.gaps), np.nan) if self.numbers is None else self.numbers


def _word(value: int | float | np.datetime64, kind: str) -> str | None:
    if value != value:
        return None
    if kind == "time":
        return str(value).removesuffix(".000000").removesuffix("T00:00:00")
    if kind == "flag":
        return str(bool(value))
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def read_cells(column: Values, label: str) -> Cells:
    """The cells of a column called so: an array, or text of PyArrow."""
    if not isinstance(column, np.ndarray):
        distinct, codes = different(column)
        if (found := meant(distinct)) is None:
            return _of_distinct(distinct.to_pylist(), codes)
        is_time = found.dtype.kind == "M"
        return Cells("time", times=found[codes]) if is_time else Cells("number", numbers=found[codes])
    kind = column.dtype.kind
    if kind == "b":
        return Cells("flag", numbers=column.astype(float))
    if kind in "iuf":
        values = column.astype(float)
        if not np.isinf(values).any():
            return Cells("number", numbers=values, whole=None if kind == "f" else column)  # type: ignore[arg-type]
    if kind == "M":
        return Cells("time", times=column.astype("datetime64[us]"))
    if kind == "m":
        seconds = column.astype("timedelta64[us]").astype(float) / 1e6
        return Cells("number", numbers=np.where(np.isnat(column), np.nan, seconds), span=True)
    return _of_distinct(*_different(column.tolist(), label))


def _different(cells: list[object], label: str) -> tuple[list[object], NDArray[np.intp]]:
    """The different cells in the order in which they come, and the place of each among them."""
    keys = cells
    if not {*map(type, cells)} <= {str, type(None)}:
        # Equal cells may say different things: 1 and True, 12:00+00:00 and 14:00+02:00. Not all zones have a hash.
        keys = [(type(cell), cell, id(getattr(cell, "tzinfo", None))) for cell in cells]
    try:
        distinct = dict(zip(keys, cells, strict=True))
    except TypeError:
        kinds = sorted({type(cell).__name__ for cell in cells if cell.__hash__ is None})
        raise TypeError(f"{label} must hold numbers, words or times, but holds a {', a '.join(kinds)}") from None
    place = {key: i for i, key in enumerate(distinct)}
    return [*distinct.values()], np.fromiter(map(place.__getitem__, keys), np.intp, len(cells))


def _of_distinct(distinct: Sequence[object], codes: NDArray[np.intp]) -> Cells:
    plain = [_plain(cell) for cell in distinct]
    known = [value for value in plain if value is not None]
    if known and all(isinstance(value, bool) for value in known):
        return Cells("flag", numbers=_gaps_as_nan(plain)[codes])
    if known and all(isinstance(value, np.datetime64) or is_time(value) for value in known):
        return Cells("time", times=np.array([*map(_time, plain)], dtype="datetime64[us]")[codes])
    figures = np.array([*map(_number, plain)], dtype=float)
    if known and all(value is None or figure == figure for value, figure in zip(plain, figures, strict=True)):
        span = all(value is None or seconds_of(cell) is not None for cell, value in zip(distinct, plain, strict=True))
        words = _as_words(plain, figures, codes) if (np.abs(figures) >= INEXACT).any() else None
        return Cells("number", words, figures[codes], span=span)
    words = _as_words(plain, figures, codes)
    if known and all(isinstance(value, str) and value.lower() in FLAGS for value in known):
        flags = [None if value is None else str(value).lower() == "true" for value in plain]
        return Cells("flag", words=words, numbers=_gaps_as_nan(flags)[codes])
    return Cells("words", words=words, numbers=figures[codes])


def _as_words(plain: list[Plain], figures: NDArray[np.float64], codes: NDArray[np.intp]) -> Words:
    """Each word once, though cells that differ, as 3 and "3.0" do, say the same."""
    named = [*map(_text, plain, figures.tolist())]
    place = {word: i for i, word in enumerate(dict.fromkeys(named))}
    return Words(objects([*place]), np.array([place[word] for word in named], dtype=np.intp)[codes])


def _gaps_as_nan(flags: Sequence[Plain]) -> NDArray[np.float64]:
    return np.array([np.nan if flag is None else flag for flag in flags], dtype=float)


def _plain(cell: object) -> Plain:
    """A cell as str, bool, float or datetime64; None where it says nothing."""
    if isinstance(cell, str):
        word = cell.strip()
        return None if word.lower() in NOTHING else word
    if cell is None or isinstance(cell, bool | np.bool_):
        return None if cell is None else bool(cell)
    if isinstance(cell, numbers.Real | decimal.Decimal):
        value = float(cell)
        if not np.isfinite(value):
            return None if np.isnan(value) else str(value)  # infinity is a word, also in text
        return value if abs(value) < INEXACT else int(cell)  # type: ignore[arg-type]
    if isinstance(cell, datetime.datetime):
        return np.datetime64(cell.replace(tzinfo=None), "us") if cell == cell else None
    if isinstance(cell, datetime.date):
        return np.datetime64(cell, "us")
    if (seconds := seconds_of(cell)) is not None:
        return None if np.isnan(seconds) else seconds
    if isinstance(cell, bytes):
        return _plain(cell.decode(errors="replace"))
    return None if cell is NotImplemented or type(cell).__name__ in ("NAType", "NaTType") else str(cell)


def is_time(value: Plain) -> bool:
    """Whether a plain value is text that says a time."""
    if not isinstance(value, str) or value[4:5] != "-":  # most words are told from a time at a glance
        return False
    return TIME.fullmatch(_ZONE.sub("", value) if len(value) > 10 else value) is not None


def _time(value: Plain) -> np.datetime64:
    if isinstance(value, np.datetime64):
        return value
    if isinstance(value, str):
        with suppress(ValueError):  # the thirteenth month
            return np.datetime64(_ZONE.sub("", value) if len(value) > 10 else value, "us")
    return np.datetime64("NaT")


def _number(value: Plain) -> float:
    """The number that a plain value is; codes such as 00123 are none."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, str) or CODE.match(value) or "_" in value:
        return np.nan
    try:
        found = float(value)
    except ValueError:
        return np.nan
    return found if np.isfinite(found) else np.nan


def _text(value: Plain, figure: float) -> str | None:
    """The word for a plain value, and the number that it is: the same one, whatever stands beside it."""
    if abs(figure) >= INEXACT:
        with suppress(ValueError):  # 1e20
            return str(int(value))  # type: ignore[arg-type]
    if figure == figure:
        return _word(figure, "number")
    if isinstance(value, np.datetime64) or is_time(value):
        return _word(_time(value), "time")
    return None if value is None else str(value)
