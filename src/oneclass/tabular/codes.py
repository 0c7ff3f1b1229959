"""Encodings of columns: frozen values that convert cells to numbers, and numbers back to cell values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from ..core.stored import Count, Within, must
from .cells import DAY, Cells
from .variants import folded

__all__ = ["CategoryCode", "DateCode", "NumberCode", "OrdinalCode"]

Matrix = NDArray[np.float64]
_WEEKDAYS = ("Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed")  # the first of January 1970 was a Thursday


@dataclass(frozen=True)
class NumberCode:
    """Encoding of numbers: a number is unchanged, and a missing value becomes the training median.

    If `gap` is positive, a further column holds it for each missing value and 0 for other cells. It is minus the
    logarithm of the share of missing values. `gap` is 0 if the training rows had no missing values. It is None if
    missing values are common and uncorrelated with the other columns.
    """

    centre: float
    gap: Annotated[float, Within(0)] | None = None
    lenient: bool = False  # words count as missing values
    flag: bool = False
    span: bool = False  # in seconds

    @property
    def parts(self) -> tuple[str, ...]:
        """Suffixes of the names of the encoded columns."""
        return ("", "missing") if self.gap else ("",)

    def gaps(self, cells: Cells) -> NDArray[np.bool_]:
        """Mask of the cells that are not numbers."""
        return np.isnan(cells.as_numbers(flags=self.flag))

    def encode(self, cells: Cells) -> Matrix:
        """One row of numbers for each cell."""
        values, gaps = cells.as_numbers(flags=self.flag), self.gaps(cells)
        filled = np.where(gaps, self.centre, values)
        return np.stack([filled, gaps * self.gap] if self.gap else [filled], axis=1)

    def restore(self, Z: Matrix) -> Sequence[object]:
        """The cell values for encoded numbers."""
        return [bool(value > 0.5) for value in Z[:, 0]] if self.flag else Z[:, 0].tolist()


@dataclass(frozen=True)
class CategoryCode:
    """Encoding of categories: one indicator for each common value except the most common one, and the rarity.

    The rarity is minus the logarithm of the value's share of the training rows. A value that no training row has counts
    as half a row; it has no indicator. If the training rows have groups, `counts` and `total` count groups.
    """

    levels: tuple[str | None, ...]
    counts: tuple[Count, ...]
    total: Annotated[int, Within(1)]
    shown: Count
    merged: bool = False  # words that differ in case or spaces only are one value

    def __check__(self) -> None:
        count = len(self.levels)
        must(len(self.counts) == count == len(set(self.levels)), "counts must be as many as different levels")
        must(1 <= self.shown <= count, f"shown must be from 1 to {count}, got {self.shown}")

    @property
    def parts(self) -> tuple[str, ...]:
        """Suffixes of the names of the encoded columns."""
        return (*(f"is {_say(level)}" for level in self.levels[1 : self.shown]), "rarity")

    def encode(self, cells: Cells) -> Matrix:
        """One row of numbers for each cell.

        The share of a value is computed with one row less, for training rows and for new rows. A training row must not
        count itself. A new row must have the same rarity as a training row with the same value.
        """
        place, words = self._places, cells.as_words()
        codes = np.array([place.get(self.key(word), -1) for word in words.levels], dtype=np.intp)[words.codes]
        others = np.maximum(self._counts[codes] - 1, 0)
        rarity = np.log((self.total - 0.5) / (others + 0.5))
        return np.column_stack([codes[:, None] == np.arange(1, self.shown), rarity]).astype(float)

    def restore(self, Z: Matrix) -> Sequence[object]:
        """The most likely value."""
        shares = Z[:, :-1]
        return [self.levels[i] for i in np.argmax(np.column_stack([1 - shares.sum(axis=1), shares]), axis=1)]

    def likelihoods(self, shares: Matrix, cells: Cells) -> tuple[NDArray[np.object_], Matrix, Matrix]:
        """The most likely value of each row, its probability, and that of the cell, from probabilities of indicators.

        The most common value and the rare values have no indicator. What the indicators leave is divided among them in
        proportion to their counts.
        """
        rest = np.clip(1 - shares.sum(axis=1), 0, 1) / max(self.counts[0] + sum(self.counts[self.shown :]), 1)
        chances = np.column_stack([rest * self.counts[0], shares])
        words = cells.as_words()
        own = np.array([self._places.get(self.key(word), -1) for word in words.levels], dtype=np.intp)[words.codes]
        best, rows = chances.argmax(axis=1), np.arange(len(shares))
        has_indicator = (own > 0) & (own < self.shown)
        given = np.where(has_indicator, chances[rows, np.where(has_indicator, own, 0)], rest * self._counts[own])
        return np.array(self.levels, dtype=object)[best], chances[rows, best], given

    def unknown(self, cells: Cells) -> list[str]:
        """Values that no training row has."""
        return [word for word in cells.as_words().levels if word is not None and self.key(word) not in self._places]

    def spelled(self, cells: Cells) -> NDArray[np.object_]:
        """The words, with the spelling of the training rows where they are the same value."""
        words = cells.as_words()
        known = [self._places.get(self.key(word), -1) for word in words.levels]
        levels = [word if i < 0 else self.levels[i] for word, i in zip(words.levels, known, strict=True)]
        return np.array([*levels, None], dtype=object)[words.codes]

    def key(self, word: str | None) -> str | None:
        """What is equal for words that are one value."""
        return folded(word) if self.merged and word is not None else word

    @cached_property
    def _places(self) -> dict[str | None, int]:
        """The index of each level."""
        return {self.key(level): i for i, level in enumerate(self.levels)}

    @cached_property
    def _counts(self) -> Matrix:
        """The count of each level, and 0 for a value that is none."""
        return np.array([*self.counts, 0.0])


@dataclass(frozen=True)
class OrdinalCode:
    """Encoding of words that have an order: the place of the word, or a point on a circle for months and weekdays.

    `counts` and `total` are those of the training rows. `gap` is that of `NumberCode`.
    """

    levels: tuple[str, ...]
    counts: tuple[Count, ...]
    total: Annotated[int, Within(1)]
    centre: float
    circle: bool = False
    gap: Annotated[float, Within(0)] | None = None

    def __check__(self) -> None:
        count = len(self.levels)
        must(
            len(self.counts) == count == len({*map(folded, self.levels)}), "counts must be as many as different levels"
        )

    @property
    def parts(self) -> tuple[str, ...]:
        """Suffixes of the names of the encoded columns."""
        made = ("sin", "cos") if self.circle else ("",)
        return (*made, "missing") if self.gap else made

    def ranks(self, cells: Cells) -> Matrix:
        """The place of each cell among the levels; NaN for other words and missing values."""
        place = {folded(level): float(i) for i, level in enumerate(self.levels)}
        words = cells.as_words()
        known = [np.nan if word is None else place.get(folded(word), np.nan) for word in words.levels]
        return np.array(known, dtype=float)[words.codes]

    def gaps(self, cells: Cells) -> NDArray[np.bool_]:
        """Mask of the cells that are none of the levels."""
        return np.isnan(self.ranks(cells))

    def encode(self, cells: Cells) -> Matrix:
        """One row of numbers for each cell; sine and cosine are 0 for a missing value."""
        ranks = self.ranks(cells)
        gaps = np.isnan(ranks)
        made = [np.where(gaps, self.centre, ranks)]
        if self.circle:
            angles = 2 * math.pi * np.where(gaps, 0.0, ranks) / len(self.levels)
            made = [np.where(gaps, 0.0, wave(angles)) for wave in (np.sin, np.cos)]
        return np.stack([*made, gaps * self.gap] if self.gap else made, axis=1)

    def restore(self, Z: Matrix) -> Sequence[object]:
        """The nearest level."""
        last = len(self.levels) - 1
        if self.circle:
            return [self.levels[i] for i in _turns(Z[:, 0], Z[:, 1], len(self.levels))]
        return [self.levels[i] for i in np.clip(np.rint(Z[:, 0]), 0, last).astype(int)]


@dataclass(frozen=True)
class DateCode:
    """Encoding of dates: days since the first date, and sine and cosine of weekday and hour, if they vary."""

    start: Annotated[int, Within(-(2**62), 2**62)]  # microseconds since 1970
    centre: float
    elapsed: bool
    weekday: bool
    hour: bool
    gap: Annotated[float, Within(0)] | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        """Suffixes of the names of the encoded columns."""
        made = ["days"] * self.elapsed + ["weekday sin", "weekday cos"] * self.weekday
        made += ["hour sin", "hour cos"] * self.hour
        return (*made, "missing") if self.gap else tuple(made)

    def gaps(self, cells: Cells) -> NDArray[np.bool_]:
        """Mask of the cells that are not times."""
        return np.isnat(cells.as_times())

    def encode(self, cells: Cells) -> Matrix:
        """One row of numbers for each cell; sine and cosine are 0 for a missing value."""
        gaps = self.gaps(cells)
        since = np.where(gaps, self.start, cells.as_times().astype(np.int64)).astype(float)
        made = [np.where(gaps, self.centre, (since - self.start) / DAY)] * self.elapsed
        for wanted, turn in ((self.weekday, np.floor(since / DAY) / 7), (self.hour, since / DAY)):
            if wanted:
                made += [np.where(gaps, 0.0, wave(2 * math.pi * (turn % 1))) for wave in (np.sin, np.cos)]
        return np.stack([*made, gaps * self.gap] if self.gap else made, axis=1)

    def restore(self, Z: Matrix) -> Sequence[object]:
        """Day, weekday and hour as text."""
        said: list[list[str]] = [[] for _ in Z]
        columns = iter(Z.T)
        days = np.floor((self.start + next(columns) * DAY) / DAY).astype(int) if self.elapsed else None
        weekdays = _turns(next(columns), next(columns), 7) if self.weekday else None
        if days is not None and weekdays is not None:
            days += (weekdays - days + 3) % 7 - 3  # the nearest day that has the expected weekday
        if days is not None:
            said = [[*words, str(day)] for words, day in zip(said, days.astype("datetime64[D]"), strict=True)]
        if weekdays is not None:
            said = [[*words, _WEEKDAYS[weekday]] for words, weekday in zip(said, weekdays, strict=True)]
        if self.hour:
            minutes = _turns(next(columns), next(columns), 1440)
            said = [[*words, f"{m // 60:02d}:{m % 60:02d}"] for words, m in zip(said, minutes, strict=True)]
        return [" ".join(words) for words in said]


def _turns(sine: Matrix, cosine: Matrix, parts: int) -> NDArray[np.int_]:
    """The angle of each point as a whole number of `parts`-ths of a full turn."""
    return np.rint(parts * np.arctan2(sine, cosine) / (2 * math.pi)).astype(int) % parts


def _say(level: str | None) -> str:
    return "missing" if level is None else level
