"""The evidence against every value of a table, from its held-out residual and the assumptions about its column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .residuals import Spread
from .tails import NormalTail, NumberTail, ValueShares, few_values, side_ratio
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
        j, tail = list(self.columns), self.tail
        if isinstance(tail, ValueShares):
            return tail.log_p(values[:, j], residuals[:, j])
        if ranking:
            return tail.for_ranking(residuals[:, j[0]])
        return tail.log_p(residuals[:, j[0]]) if self.normal is None else self.normal.log_p(unscaled[:, j[0]])


@dataclass(frozen=True)
class CellEvidence:
    """The assumptions about each unit, from the held-out residuals of all rows."""

    parts: tuple[tuple[_Part, ...], ...]
    spread: Spread
    normal: bool  # whether the residuals of most columns look normal

    @classmethod
    def of(
        cls,
        values: Numbers,
        residuals: Numbers,
        unscaled: Numbers,
        units: Sequence[Unit],
        numbers: Sequence[int],
        *,
        independent: float,
    ) -> CellEvidence:
        """Return the evidence from scaled values, and from residuals in scaled units and in the units of the data.

        `numbers` are the columns of numbers of many values.
        """
        normal = bool(numbers) and float(np.median([side_ratio(unscaled[:, j]) for j in numbers])) <= _NORMAL_MEDIAN
        spread = Spread.of(values, numbers)
        factors = spread(values)
        residuals, unscaled = residuals / factors, unscaled / factors
        found = []
        for unit in units:
            parts = []
            for columns in [unit.columns] if unit.category else [(j,) for j in unit.columns]:
                own, apart = values[:, list(columns)], residuals[:, list(columns)]
                if columns[0] in numbers:
                    tail = NumberTail.of(apart[:, 0], largest=float(np.abs(own).max()), independent=independent)
                    few = normal and len(values) <= _NORMAL_ROWS
                    parts.append(_Part(columns, tail, NormalTail.of(unscaled[:, columns[0]]) if few else None))
                else:
                    levels = np.unique(own, axis=0) if unit.category else few_values(own)
                    assert levels is not None
                    parts.append(_Part(columns, ValueShares.of(own, apart, levels)))
            found.append(tuple(parts))
        return cls(tuple(found), spread, normal)

    def log_p(
        self, values: Numbers, residuals: Numbers, unscaled: Numbers, *, cleaned: Numbers, ranking: bool = False
    ) -> Numbers:
        """Return the logarithm of the p-value of each unit (rows x units).

        `cleaned` are the values without those known to be wrong.
        """
        factors = np.ones(values.shape) if ranking else self.spread(cleaned)
        residuals, unscaled = residuals / factors, unscaled / factors
        out = np.zeros((len(values), len(self.parts)))
        for k, parts in enumerate(self.parts):
            for part in parts:
                p = part.log_p(values, residuals, unscaled, ranking=ranking) + math.log(len(parts))
                out[:, k] = np.minimum(out[:, k], p)
        return out


def number_columns(values: Numbers, units: Sequence[Unit]) -> list[int]:
    """Return the columns of numbers of many values."""
    columns = [j for unit in units if not unit.category for j in unit.columns]
    return [j for j in columns if few_values(values[:, [j]]) is None]
