"""The evidence against every value of a table, from its held-out residual and the assumptions about its column."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .residuals import Spread
from .tails import NormalTail, NumberTail, ValueShares, distinct_rows, few_values, side_ratio
from .units import Unit

__all__ = ["CellEvidence", "number_columns"]

Numbers = NDArray[np.float64]

#: The residuals of a column are taken for normal only if the median of this ratio over the columns allows it.
_NORMAL_MEDIAN = 2.75
#: Most rows for which residuals are taken for normal. With more, the tail itself is known well, and a third of the rows
#: named in 20,000 rows of three Gaussian factors were false.
_NORMAL_ROWS = 2_000


@dataclass(frozen=True)
class _Part:
    """Some columns of a unit, and the assumptions about their residuals."""

    columns: tuple[int, ...]
    tail: NumberTail | ValueShares
    normal: NormalTail | None = None

    def log_p(self, values: Numbers, residuals: Numbers, unscaled: Numbers, *, ranking: bool) -> Numbers:
        """Return the logarithm of the p-value of each row; with `ranking`, of a stabler number in its place."""
        tail = self.tail
        if isinstance(tail, ValueShares):
            return tail.log_p(values, residuals)
        found = (tail.for_ranking if ranking else tail.log_p)(residuals[:, 0])
        if self.normal is None:
            return found
        by_normal = self.normal.log_p(unscaled[:, 0])
        return np.minimum(found, by_normal) + math.log(2) if ranking else by_normal


@dataclass(frozen=True)
class CellEvidence:
    """The assumptions about each unit, from the held-out residuals of all rows."""

    parts: tuple[tuple[_Part, ...], ...]
    spread: Spread
    #: Returns scaled values in the units of the data. The residuals of most columns look `normal` in these units or do
    #: not.
    inverse: Callable[[Numbers], Numbers]
    normal: bool

    @classmethod
    def of(
        cls,
        values: Numbers,
        residuals: Numbers,
        units: Sequence[Unit],
        numbers: Sequence[int],
        *,
        usual: NDArray[np.bool_],
        inverse: Callable[[Numbers], Numbers],
        independent: float,
    ) -> CellEvidence:
        """Return the evidence from scaled values and residuals.

        `numbers` are the columns of numbers of many values, and `usual` marks the rows that show whether most residuals
        look normal.
        """
        unscaled = _unscaled(values[usual], residuals[usual], inverse)
        normal = bool(numbers) and float(np.median([side_ratio(unscaled[:, j]) for j in numbers])) <= _NORMAL_MEDIAN
        spread = Spread.of(values, numbers)
        factors = spread(values)
        found = []
        for unit in units:
            parts = []
            for columns in [unit.columns] if unit.category else [(j,) for j in unit.columns]:
                own, apart = values[:, list(columns)], residuals[:, list(columns)]
                if columns[0] in numbers:
                    apart = apart[:, 0] / factors[:, columns[0]]
                    tail = NumberTail.of(apart, largest=float(np.abs(own).max()), independent=independent)
                    bulk = None
                    if normal and len(values) <= _NORMAL_ROWS:
                        bulk = NormalTail.of(unscaled[:, columns[0]] / factors[usual, columns[0]])
                    parts.append(_Part(columns, tail, bulk))
                else:
                    levels = distinct_rows(own) if unit.category else few_values(own)
                    assert levels is not None
                    parts.append(_Part(columns, ValueShares.of(own, apart, levels)))
            found.append(tuple(parts))
        return cls(tuple(found), spread, inverse, normal)

    def log_p(
        self, values: Numbers, residuals: Numbers, *, cleaned: Numbers | None = None, ranking: bool = False
    ) -> Numbers:
        """Return the logarithm of the p-value of each unit (rows x units).

        `cleaned` are the values with expected values in place of those that are known to be wrong.
        """
        factors = np.ones((1, values.shape[1])) if ranking else self.spread(values if cleaned is None else cleaned)
        any_normal = any(part.normal is not None for parts in self.parts for part in parts)
        unscaled = _unscaled(values, residuals, self.inverse) if any_normal else residuals
        out = np.zeros((len(values), len(self.parts)))
        for k, parts in enumerate(self.parts):
            for part in parts:
                j = list(part.columns)
                by = factors[:, j] if isinstance(part.tail, NumberTail) else 1.0
                p = part.log_p(values[:, j], residuals[:, j] / by, unscaled[:, j] / by, ranking=ranking)
                out[:, k] = np.minimum(out[:, k], p + math.log(len(parts)))
        return out


def _unscaled(values: Numbers, residuals: Numbers, inverse: Callable[[Numbers], Numbers]) -> Numbers:
    """Return residuals in the units of the data."""
    return inverse(values) - inverse(values - residuals)


def number_columns(values: Numbers, units: Sequence[Unit]) -> list[int]:
    """Return the columns of numbers of many values."""
    columns = [j for unit in units if not unit.category for j in unit.columns]
    return [j for j in columns if few_values(values[:, [j]]) is None]
