"""Predictions of columns of numbers moved towards their centre, and the spread of the residuals of remote rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Shrinkage", "Spread"]

Numbers = NDArray[np.float64]

#: Slopes that the predictions of a column are multiplied by, and the share of the smallest squared residuals whose mean
#: chooses the slope.
_SLOPES, _KEPT = (0.0, 0.25, 0.5, 0.75, 1.0), 0.95
#: Rows are remote by their other columns from the first level of the sizes on. The growth of a column is read from the
#: rows beyond the second, from this quantile of its own sizes.
_REMOTE, _GROWTH, _SIZE = 0.8, 0.9, 0.75
#: Lower bound of a size, in scaled units.
_LEAST = 1e-9


@dataclass(frozen=True)
class Shrinkage:
    """Predictions moved towards the median of their column, by the slope with the smallest trimmed squared residuals.

    A kernel regression on columns that do not predict the column adds its own noise to the residual.
    """

    centre: Numbers
    slope: Numbers

    @classmethod
    def of(cls, values: Numbers, residuals: Numbers, columns: Sequence[int]) -> Shrinkage:
        """Return the slopes of some columns from their held-out residuals; the slope of the others is 1."""
        centre, slope = np.median(values, axis=0), np.ones(values.shape[1])
        for j in columns:
            apart = values[:, j] - centre[j]
            told = apart - residuals[:, j]
            slope[j] = min(reversed(_SLOPES), key=lambda b: _trimmed_mean((apart - b * told) ** 2))
        return cls(centre, slope)

    def __call__(self, predicted: Numbers) -> Numbers:
        """Return shrunk predictions."""
        return self.centre + self.slope * (predicted - self.centre)


@dataclass(frozen=True)
class Spread:
    """The factor by which the residuals of a row are larger if the other columns of the row are remote.

    In a joint distribution with heavy tails, all columns of a row are remote together. The size of the other columns is
    the median of their distances from the medians, so that one wrong value among them has little effect.
    """

    columns: tuple[int, ...]
    centre: Numbers
    start: Numbers
    growth: Numbers

    @classmethod
    def of(cls, values: Numbers, columns: Sequence[int]) -> Spread:
        """Return the growth of some columns with the size of the others of them."""
        centre = np.median(values, axis=0)
        size = np.abs(values[:, list(columns)] - centre[list(columns)])
        others = _others(size)
        start, growth = np.zeros(len(columns)), np.zeros(len(columns))
        for k in range(len(columns)) if others.size else ():
            start[k], high = np.quantile(others[:, k], [_REMOTE, _GROWTH])
            far = others[:, k] > high
            if far.any():
                near_size, far_size = (max(float(np.quantile(size[rows, k], _SIZE)), _LEAST) for rows in (~far, far))
                growth[k] = max(far_size / near_size - 1, 0) / float(np.median(others[far, k] - start[k]))
        return cls(tuple(columns), centre, start, growth)

    def __call__(self, values: Numbers) -> Numbers:
        """Return the factor of each value; 1 for rows that are not remote, and for other columns."""
        found, columns = np.ones(values.shape), list(self.columns)
        others = _others(np.abs(values[:, columns] - self.centre[columns]))
        if others.size:
            found[:, columns] += self.growth * np.maximum(others - self.start, 0)
        return found


def _others(size: Numbers) -> Numbers:
    """Return the lower median of the other sizes of each row; empty with one column."""
    d = size.shape[1]
    if d < 2:
        return size[:, :0]
    k = (d - 2) // 2
    ranked = np.partition(size, [k, k + 1], axis=1)
    return np.where(size <= ranked[:, [k]], ranked[:, [k + 1]], ranked[:, [k]])


def _trimmed_mean(squares: Numbers) -> float:
    """Return the mean of the smallest squares."""
    kept = max(1, int(_KEPT * len(squares)))
    return float(np.partition(squares, kept - 1)[:kept].mean())
