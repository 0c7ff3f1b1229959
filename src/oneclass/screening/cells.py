"""The evidence against every value of a table, from its held-out residual and the assumptions about its column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .tails import NormalTail, NumberTail, ValueShares, few_values, side_ratio
from .units import Unit

__all__ = ["CellEvidence"]

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
        found = (tail.for_ranking if ranking else tail.log_p)(residuals[:, j[0]])
        if self.normal is None:
            return found
        return np.minimum(found, self.normal.log_p(unscaled[:, j[0]])) + math.log(2)


@dataclass(frozen=True)
class CellEvidence:
    """The assumptions about each unit, from the held-out residuals of all rows."""

    parts: tuple[tuple[_Part, ...], ...]

    @classmethod
    def of(
        cls, values: Numbers, residuals: Numbers, unscaled: Numbers, units: Sequence[Unit], *, independent: float
    ) -> CellEvidence:
        """Return the evidence from scaled values, and from residuals in scaled units and in the units of the data."""
        found = []
        for unit in units:
            parts = []
            for columns in [unit.columns] if unit.category else [(j,) for j in unit.columns]:
                own, apart = values[:, list(columns)], residuals[:, list(columns)]
                levels = np.unique(own, axis=0) if unit.category else few_values(own)
                if levels is None:
                    largest = float(np.abs(own).max())
                    parts.append(_Part(columns, NumberTail.of(apart[:, 0], largest=largest, independent=independent)))
                else:
                    parts.append(_Part(columns, ValueShares.of(own, apart, levels)))
            found.append(parts)
        numbers = [part.columns[0] for parts in found for part in parts if isinstance(part.tail, NumberTail)]
        normal: dict[tuple[int, ...], NormalTail | None] = {}
        if (
            numbers
            and len(values) <= _NORMAL_ROWS
            and np.median([side_ratio(unscaled[:, j]) for j in numbers]) <= _NORMAL_MEDIAN
        ):
            normal = {(j,): NormalTail.of(unscaled[:, j]) for j in numbers}
        return cls(tuple(tuple(replace(part, normal=normal.get(part.columns)) for part in parts) for parts in found))

    def log_p(self, values: Numbers, residuals: Numbers, unscaled: Numbers, *, ranking: bool = False) -> Numbers:
        """Return the logarithm of the p-value of each unit (rows x units)."""
        out = np.zeros((len(values), len(self.parts)))
        for k, parts in enumerate(self.parts):
            for part in parts:
                p = part.log_p(values, residuals, unscaled, ranking=ranking) + math.log(len(parts))
                out[:, k] = np.minimum(out[:, k], p)
        return out
