"""Parsing of the cells of a column into numbers, flags, times and words.

The value of a cell does not depend on other cells, so that a row has the same score alone and in any batch. Only the
`kind` of a column, which a fit uses to plan it, depends on all its cells. Each distinct value is parsed once.
"""

from __future__ import annotations

import datetime
import decimal
import math
import numbers
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..core.wording import seconds_of
from .frames import INEXACT, Values, objects
from .notation import Days, Durations, Figures, Notation, TimesOfDay
from .text import CODE, FLAGS, NOTHING, TIME, different, meant

__all__ = ["DAY", "Cells", "Words", "distinct_cells", "is_missing", "is_time", "read_cells"]

#: The parsed value of a cell: text, a flag, a number, a time, or None if the value is missing.
Plain: TypeAlias = str | bool | int | float | np.datetime64 | None

#: Kinds of typed arrays that need no notation, although the column has one.
_TYPED = {Figures: "iuf", Durations: "m", Days: "M", TimesOfDay: "M"}
_ZONE = re.compile(r"(?:Z|[+-]\d\d:?\d\d)$")
DAY = 86_400_000_000  # in microseconds, the unit of times
#: Largest number of different cells of text that are parsed one by one. One cell takes 19 microseconds so, and 52 with
#: PyArrow; 16 different numbers take 84 and 94.
_FEW = 16


@dataclass(frozen=True)
class Words:
    """Text cells: `levels` holds the distinct words (None for missing), `codes` the index of each cell's word."""

    levels: NDArray[np.object_]
    codes: NDArray[np.intp]

    def where(self, chosen: NDArray[np.bool_]) -> list[str | None]:
        """The distinct words of the cells in the mask `chosen`."""
        return [self.levels[code] for code in np.unique(self.codes[chosen])]


@dataclass(frozen=True)
class Cells:
    """The parsed cells of one column.

    Attributes
    ----------
    kind : str
        The type of all cells that are not missing: ``number``, ``flag`` (true or false) or ``time``; ``words`` for
        other and mixed columns.
    words : Words or None
        The cells as text; None if the text follows from `numbers` or `times`.
    numbers : array or None
        The cells as numbers, with NaN for a cell that is not a number; True is 1. None if no cell is a number.
    flags : array or None
        1 for a cell that is true, 0 for one that is false, also as text, and NaN elsewhere; None if no cell is a flag.
    times : array or None
        The cells as times, with NaT for a cell that is not a time; None if no cell is a time.
    span : bool
        Whether all cells are durations or times of day. Their numbers are seconds.
    whole : array or None
        The cells as whole numbers, which may be too large for exact floats.
    """

    kind: str
    words: Words | None = None
    numbers: NDArray[np.float64] | None = None
    flags: NDArray[np.float64] | None = None
    times: NDArray[np.datetime64] | None = None
    span: bool = False
    whole: NDArray[np.integer] | None = None

    def __len__(self) -> int:
        """Number of cells."""
        known = (None if self.words is None else self.words.codes, self.numbers, self.times)
        return next(len(cells) for cells in known if cells is not None)

    @property
    def gaps(self) -> NDArray[np.bool_]:
        """Mask of the missing cells."""
        if self.words is not None:
            return np.array([word is None for word in self.words.levels], dtype=np.bool_)[self.words.codes]
        return np.isnan(self.numbers) if self.times is None else np.isnat(self.times)  # type: ignore[arg-type]

    def as_words(self) -> Words:
        """The cells as text. Whole numbers have no decimals, so that 3 and 3.0 are the same word."""
        if self.words is not None:
            return self.words
        values: Any = next(known for known in (self.whole, self.times, self.numbers) if known is not None)
        distinct, codes = np.unique(values, return_inverse=True)
        return Words(objects([_word(value, self.kind) for value in distinct]), codes.reshape(-1))

    def as_numbers(self, *, flags: bool = False) -> NDArray[np.float64]:
        """The cells as numbers, NaN if a cell is not a number; with `flags`, the words true and false are 1 and 0."""
        numbers = np.full(len(self), np.nan) if self.numbers is None else self.numbers
        return np.where(np.isnan(numbers), self.flags, numbers) if flags and self.flags is not None else numbers

    def as_times(self) -> NDArray[np.datetime64]:
        """The cells as times, NaT if a cell is not a time."""
        return np.full(len(self), "NaT", dtype="datetime64[us]") if self.times is None else self.times

    def measured(self, *, flags: bool = False) -> NDArray[np.float64]:
        """The cells as numbers: times in days since 1970, NaN for cells without a number.

        Flags are 1 and 0, also beside cells of other kinds if the column is one of `flags`.
        """
        if self.kind == "time":
            times = self.as_times()
            return np.where(np.isnat(times), np.nan, times.astype(np.int64) / DAY)
        return self.as_numbers(flags=flags or self.kind == "flag")


def _word(value: int | float | np.datetime64, kind: str) -> str | None:
    if value != value:
        return None
    if kind == "time":
        return str(value).removesuffix(".000000").removesuffix("T00:00:00")
    if kind == "flag":
        return str(bool(value))
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def read_cells(column: Values, label: str, notation: Notation | None = None) -> Cells:
    """Parse a column, which is an array or PyArrow text; errors call it `label`.

    With a `notation`, only cells that it can read are numbers or times.
    """
    typed = isinstance(column, np.ndarray) and column.dtype.kind in _TYPED.get(type(notation), "biufmM")
    if notation is not None and not (typed and not _has_infinity(column)):
        return _noted(*distinct_cells(column, label), notation)
    if not isinstance(column, np.ndarray):
        if len(column) <= _FEW:
            return _of_distinct(*_different(column.to_pylist(), label))
        distinct, codes = different(column)
        if len(distinct) <= _FEW or (found := meant(distinct)) is None:
            return _of_distinct(distinct.to_pylist(), codes)
        is_time = found.dtype.kind == "M"
        return Cells("time", times=found[codes]) if is_time else Cells("number", numbers=found[codes])
    kind = column.dtype.kind
    if kind == "b":
        return Cells("flag", numbers=column.astype(float), flags=column.astype(float))
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


def distinct_cells(column: Values, label: str) -> tuple[list[object], NDArray[np.intp]]:
    """The distinct cells of a column as they are written, and the index of each cell among them."""
    if isinstance(column, np.ndarray):
        # A list of times in nanoseconds would hold whole numbers.
        return _different([*column] if column.dtype.kind in "mM" else column.tolist(), label)
    if len(column) <= _FEW:
        return _different(column.to_pylist(), label)
    distinct, codes = different(column)
    return [*distinct.to_pylist()], codes


def _has_infinity(column: Values) -> bool:
    return isinstance(column, np.ndarray) and column.dtype.kind == "f" and bool(np.isinf(column).any())


def _noted(distinct: list[object], codes: NDArray[np.intp], notation: Notation) -> Cells:
    """The cells as a notation reads them; other cells are words."""
    known = [_plain(cell) is not None for cell in distinct]
    bare = [cell.strip() if isinstance(cell, str) else cell for cell in distinct]
    values = [notation.read(cell) if there else None for cell, there in zip(bare, known, strict=True)]
    names = [str(cell) if there else None for cell, there in zip(bare, known, strict=True)]
    places = {name: i for i, name in enumerate(dict.fromkeys(names))}
    words = Words(objects([*places]), np.array([places[name] for name in names], dtype=np.intp)[codes])
    whole = all(value is not None for value, there in zip(values, known, strict=True) if there)
    if isinstance(notation, Days | TimesOfDay):
        return Cells("time" if whole else "words", words, times=np.array(values, dtype="datetime64[us]")[codes])
    numbers = np.array(values, dtype=float)[codes]
    return Cells("number" if whole else "words", words, numbers, span=isinstance(notation, Durations))


def _different(cells: Sequence[object], label: str) -> tuple[list[object], NDArray[np.intp]]:
    """The distinct cells in order of first occurrence, and the index of each cell among them."""
    keys = cells
    if not {*map(type, cells)} <= {str, type(None)}:
        # Cells that compare equal may have different meanings: 1 and True, 12:00+00:00 and 14:00+02:00. The key has the
        # id of the time zone, because some zones cannot be hashed.
        keys = [(type(cell), cell, id(getattr(cell, "tzinfo", None))) for cell in cells]
    try:
        distinct = dict(zip(keys, cells, strict=True))
    except TypeError:
        kinds = sorted({type(cell).__name__ for cell in cells if not _has_hash(cell)})
        raise TypeError(f"{label} must hold numbers, words or times, but holds a {', a '.join(kinds)}") from None
    place = {key: i for i, key in enumerate(distinct)}
    return [*distinct.values()], np.fromiter(map(place.__getitem__, keys), np.intp, len(cells))


def _has_hash(cell: object) -> bool:
    try:
        hash(cell)
    except TypeError:
        return False
    return True


def _of_distinct(distinct: Sequence[object], codes: NDArray[np.intp]) -> Cells:
    plain = [_plain(cell) for cell in distinct]
    known = np.array([value is not None for value in plain], dtype=np.bool_)
    numbers, flags = (np.array([*map(read, plain)], dtype=float) for read in (_number, _flag))
    moments = [*map(_time, plain)]
    times = np.array(moments, dtype="datetime64[us]")
    kinds = {"flag": ~np.isnan(flags), "time": ~np.isnat(times), "number": ~np.isnan(numbers)}
    kind = next((kind for kind, such in kinds.items() if known.any() and such[known].all()), "words")
    span = kind == "number" and all(
        value is None or seconds_of(cell) is not None for cell, value in zip(distinct, plain, strict=True)
    )
    # The text need not be stored if it follows from the numbers: all are exact as floats, and none stands for a flag.
    plainly = kind == "number" and not (np.abs(numbers[known]) >= INEXACT).any() and not kinds["flag"].any()
    plainly |= kind == "time" or (kind == "flag" and bool(kinds["number"][known].all()))
    return Cells(
        kind,
        None if plainly else _as_words(plain, numbers, moments, codes),
        numbers[codes] if kinds["number"].any() else None,
        flags[codes] if kinds["flag"].any() else None,
        times[codes] if kinds["time"].any() else None,
        span,
    )


def _as_words(
    plain: list[Plain],
    numbers: NDArray[np.float64],
    times: list[np.datetime64 | None],
    codes: NDArray[np.intp],
) -> Words:
    """The cells as words. Different cells with the same meaning, such as 3 and "3.0", become one word."""
    named = [*map(_text, plain, numbers.tolist(), times)]
    place = {word: i for i, word in enumerate(dict.fromkeys(named))}
    return Words(objects([*place]), np.array([place[word] for word in named], dtype=np.intp)[codes])


def _plain(cell: object) -> Plain:
    """A cell as str, bool, int, float or datetime64; None if it is missing."""
    if isinstance(cell, str):
        word = cell.strip()
        return None if word.lower() in NOTHING else word
    if cell is None or isinstance(cell, bool | np.bool_):
        return None if cell is None else bool(cell)
    if (seconds := seconds_of(cell)) is not None:  # before numbers: np.timedelta64 is registered as a number
        return None if np.isnan(seconds) else seconds
    if isinstance(cell, np.datetime64):
        return None if np.isnat(cell) else cell.astype("datetime64[us]")
    if isinstance(cell, numbers.Real | decimal.Decimal):
        try:
            value = float(cell)
        except OverflowError:
            value = math.inf if cell > 0 else -math.inf  # type: ignore[operator]
        if not np.isfinite(value):
            return None if np.isnan(value) else str(value)  # infinity is a word, as it is in text columns
        return value if abs(value) < INEXACT else int(cell)  # type: ignore[arg-type]
    if isinstance(cell, datetime.datetime):
        return np.datetime64(cell.replace(tzinfo=None), "us") if cell == cell else None
    if isinstance(cell, datetime.date):
        return np.datetime64(cell, "us")
    if isinstance(cell, bytes):
        return _plain(cell.decode(errors="replace"))
    return None if cell is NotImplemented or type(cell).__name__ in ("NAType", "NaTType") else str(cell)


def is_missing(cell: object) -> bool:
    """Whether a cell, as it is written, is a missing value."""
    return _plain(cell) is None


def is_time(word: str) -> bool:
    """Whether a word is a time."""
    return _time(word) is not None


def _time(value: Plain) -> np.datetime64 | None:
    """A parsed value as a time; None if it is not a valid time (such as month 13)."""
    if isinstance(value, np.datetime64):
        return value
    if isinstance(value, str) and value[4:5] == "-":  # a quick check that excludes most words
        bare = _ZONE.sub("", value) if len(value) > 10 else value
        if TIME.fullmatch(bare):
            with suppress(ValueError):
                return np.datetime64(bare, "us")
    return None


def _flag(value: Plain) -> float:
    """1 for true and 0 for false; NaN for other values."""
    if isinstance(value, str):
        return float(word == "true") if (word := value.lower()) in FLAGS else np.nan
    return float(value) if isinstance(value, bool) else np.nan


def _number(value: Plain) -> float:
    """A parsed value as a number; NaN if it is not a number. Codes such as 00123 are not numbers."""
    if isinstance(value, int | float):
        return float(value)
    if not isinstance(value, str) or CODE.match(value) or "_" in value:
        return np.nan
    try:
        found = float(value)
    except ValueError:
        return np.nan
    return found if np.isfinite(found) else np.nan


def _text(value: Plain, number: float, time: np.datetime64 | None) -> str | None:
    """A parsed value as text; `number` and `time` are the value as a number and as a time."""
    if value is None or isinstance(value, bool):
        return None if value is None else str(value)
    if abs(number) >= INEXACT:
        with suppress(ValueError):  # 1e20
            return str(int(value))
    if number == number:
        return _word(number, "number")
    return str(value) if time is None else _word(time, "time")
