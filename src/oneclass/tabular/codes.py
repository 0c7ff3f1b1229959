"""What becomes of a column: frozen codes that lead from cells to numbers, and from numbers back to what was meant."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from ..core.stored import Count, Within, must
from .cells import Cells

__all__ = ["CategoryCode", "DateCode", "NumberCode"]

Matrix = NDArray[np.float64]
_DAY, _WEEK = 86_400e6, 7 * 86_400e6
_WEEKDAYS = ("Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed")  # the first of January 1970 was a Thursday


@dataclass(frozen=True)
class NumberCode:
    """A number as it is; gaps take the median.

    `gap` is how rare they are, which a column of their own then holds; 0 where there were none, None where they are so
    common that they say nothing.
    """

    centre: float
    gap: Annotated[float, Within(0)] | None = None
    lenient: bool = False  # words are gaps
    flag: bool = False
    span: bool = False  # in seconds

    @property
    def parts(self) -> tuple[str, ...]:
        """What is made of the column."""
        return ("", "missing") if self.gap else ("",)

    def gaps(self, cells: Cells) -> NDArray[np.bool_]:
        """Cells that say no number."""
        return np.isnan(cells.as_numbers(flags=self.flag))

    def encode(self, cells: Cells) -> Matrix:
        """One row of numbers for each cell."""
        values, gaps = cells.as_numbers(flags=self.flag), self.gaps(cells)
        filled = np.where(gaps, self.centre, values)
        return np.stack([filled, gaps * self.gap] if self.gap else [filled], axis=1)

    def restore(self, Z: Matrix) -> Sequence[object]:
        """What the numbers stand for."""
        return [bool(value > 0.5) for value in Z[:, 0]] if self.flag else Z[:, 0].tolist()


@dataclass(frozen=True)
class CategoryCode:
    """A column for each of the commonest values but the first, and how rare the value is: minus the log of its share.

    A value that was never seen counts as half a row: it has no column, but a rarity. Where rows are of groups, `counts`
    and `total` are of groups.
    """

    levels: tuple[str | None, ...]
    counts: tuple[Count, ...]
    total: Annotated[int, Within(1)]
    shown: Count

    def __check__(self) -> None:
        count = len(self.levels)
        must(len(self.counts) == count == len(set(self.levels)), "counts must be as many as different levels")
        must(1 <= self.shown <= count, f"shown must be from 1 to {count}, got {self.shown}")

    @property
    def parts(self) -> tuple[str, ...]:
        """What is made of the column."""
        return (*(f"is {_say(level)}" for level in self.levels[1 : self.shown]), "rarity")

    def encode(self, cells: Cells) -> Matrix:
        """One row of numbers for each cell.

        A training row does not count itself among those like it. No more does a new row count all of them: where values
        are about as common as each other, one row more or less would set all new rows apart from those of the fit.
        """
        place = {level: i for i, level in enumerate(self.levels)}
        words = cells.as_words()
        codes = np.array([place.get(word, -1) for word in words.levels], dtype=np.intp)[words.codes]
        others = np.maximum(np.array([*self.counts, 0.0])[codes] - 1, 0)
        rarity = np.log((self.total - 0.5) / (others + 0.5))
        return np.column_stack([codes[:, None] == np.arange(1, self.shown), rarity]).astype(float)

    def restore(self, Z: Matrix) -> Sequence[object]:
        """The likeliest value."""
        shares = Z[:, :-1]
        return [self.levels[i] for i in np.argmax(np.column_stack([1 - shares.sum(axis=1), shares]), axis=1)]

    def unknown(self, cells: Cells) -> list[str]:
        """Values that were never seen."""
        known = {None, *self.levels}
        return [word for word in cells.as_words().levels if word not in known]


@dataclass(frozen=True)
class DateCode:
    """Days since the first, weekday and hour as points on circles, as far as they vary."""

    start: Annotated[int, Within(-(2**62), 2**62)]  # microseconds since 1970
    centre: float
    elapsed: bool
    weekday: bool
    hour: bool
    gap: Annotated[float, Within(0)] | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        """What is made of the column."""
        made = ["days"] * self.elapsed + ["weekday sin", "weekday cos"] * self.weekday
        made += ["hour sin", "hour cos"] * self.hour
        return (*made, "missing") if self.gap else tuple(made)

    def gaps(self, cells: Cells) -> NDArray[np.bool_]:
        """Cells that say no time."""
        return np.isnat(cells.as_times())

    def encode(self, cells: Cells) -> Matrix:
        """One row of numbers for each cell; a gap has the middle of every circle."""
        gaps = self.gaps(cells)
        since = np.where(gaps, self.start, cells.as_times().astype(np.int64)).astype(float)
        made = [np.where(gaps, self.centre, (since - self.start) / _DAY)] * self.elapsed
        for wanted, turn in ((self.weekday, np.floor(since / _DAY) / 7), (self.hour, since / _DAY)):
            if wanted:
                made += [np.where(gaps, 0.0, wave(2 * math.pi * (turn % 1))) for wave in (np.sin, np.cos)]
        return np.stack([*made, gaps * self.gap] if self.gap else made, axis=1)

    def restore(self, Z: Matrix) -> Sequence[object]:
        """Day, weekday and hour in words."""
        said: list[list[str]] = [[] for _ in Z]
        columns = iter(Z.T)
        days = np.floor((self.start + next(columns) * _DAY) / _DAY).astype(int) if self.elapsed else None
        weekdays = _turns(next(columns), next(columns), 7) if self.weekday else None
        if days is not None and weekdays is not None:
            days += (weekdays - days + 3) % 7 - 3  # of that weekday, the day nearest to the one expected
        if days is not None:
            said = [[*words, str(day)] for words, day in zip(said, days.astype("datetime64[D]"), strict=True)]
        if weekdays is not None:
            said = [[*words, _WEEKDAYS[weekday]] for words, weekday in zip(said, weekdays, strict=True)]
        if self.hour:
            minutes = _turns(next(columns), next(columns), 1440)
            said = [[*words, f"{m // 60:02d}:{m % 60:02d}"] for words, m in zip(said, minutes, strict=True)]
        return [" ".join(words) for words in said]


def _turns(sine: Matrix, cosine: Matrix, parts: int) -> NDArray[np.int_]:
    """Which of so many parts of a circle points are nearest to."""
    return np.rint(parts * np.arctan2(sine, cosine) / (2 * math.pi)).astype(int) % parts


def _say(level: str | None) -> str:
    return "missing" if level is None else level
