"""From the user's units to comparable ones and back: tamed columns by their quantiles, or z-scores by their moments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated

import numpy as np

from .arrays import Array, Namespace, device, namespace
from .stored import Floats

__all__ = ["SCALINGS", "ColumnMoments", "Scaler", "quantiles"]

#: Ways to make columns comparable, by name.
SCALINGS = ("robust", "zscore", "none")

#: The outer deciles of a column and its median, and how many deviations of a normal column the deciles are apart.
_DECILES, _APART = (0.1, 0.5, 0.9), 2.563

#: Slack that keeps summed weights from falling short of the share that they stand for.
_SLACK = 1e-12


@dataclass(frozen=True)
class ColumnMoments:
    """Weight, mean, centred sum of squares and range of each column, in double precision; two of them add."""

    weight: float
    mean: Array
    squares: Array
    low: Array
    high: Array
    dtype: object  # of the rows

    @classmethod
    def of(cls, X: Array, w: Array) -> ColumnMoments:
        """Moments of the rows of `X`, row i counted ``w[i]`` times."""
        xp = namespace(X)
        dtype, X, w = X.dtype, xp.astype(X, xp.float64, copy=False), xp.astype(w, xp.float64, copy=False)
        low, high = xp.min(X, axis=0), xp.max(X, axis=0)
        bound = largest(xp.float64, xp)
        if bool(xp.any(high > bound)) or bool(xp.any(low < -bound)):
            X = xp.clip(X, -bound, bound)  # the range tells; squares must not overflow
        n = float(xp.sum(w))
        mean = (w @ X) / n
        centred = X - mean
        # Zero in exact arithmetic; it takes back the rounding of the mean, so that a constant's mean is the constant.
        drift = (w @ centred) / n
        squares = w @ (centred * centred) - n * drift**2
        return cls(n, mean + drift, squares, low, high, dtype)

    def __add__(self, other: ColumnMoments) -> ColumnMoments:
        # Merge means, not raw sums: no cancellation when the mean is large.
        xp = namespace(self.mean)
        n = self.weight + other.weight
        gap = other.mean - self.mean
        mean = self.mean + gap * (other.weight / n)
        squares = self.squares + other.squares + gap * gap * (self.weight * other.weight / n)
        low, high = xp.minimum(self.low, other.low), xp.maximum(self.high, other.high)
        return ColumnMoments(n, mean, squares, low, high, self.dtype)

    def out_of_range(self, scaling: str) -> int | None:
        """The first column whose values, or whose differences, are too large or too small for a scaling, if any.

        Z-scores are squared here, in double precision, what is not scaled in its own; tamed values may have any size.
        """
        xp = namespace(self.mean)
        bound = largest(self.dtype if scaling == "none" else xp.float64, xp)
        spread = self.high / 2 - self.low / 2  # halves, for the range of all numbers is not a number
        wrong = (spread > 0) & (spread < 1 / bound)
        if scaling != "robust":
            wrong = wrong | (xp.maximum(-self.low, self.high) > bound)
        return int(xp.argmax(xp.astype(wrong, xp.int64))) if bool(xp.any(wrong)) else None


def but_for_one(weight: float) -> float:
    """The weight of all rows but one; of two rows at least, whatever their unit of weight."""
    return weight - min(1.0, weight / 2)


@cache
def largest(dtype: object, xp: Namespace) -> float:
    """Magnitude up to which values can be squared and a few thousand squares added up, and its inverse be squared."""
    return float(float(xp.finfo(dtype).max) ** 0.45)


def quantiles(X: Array, w: Array, shares: Sequence[float]) -> list[Array]:
    """Values of each column below which these shares of the rows lie, row i counted ``w[i]`` times.

    Where a share falls between two rows it is their middle, so that a row of weight w is as good as w copies.
    """
    xp, n = namespace(X), X.shape[0]
    w = xp.astype(w, xp.float64, copy=False)
    if bool(xp.all(w == w[0])):
        values = xp.sort(X, axis=0, stable=False)
        # The first row that reaches the share, and the next one where it only just does.
        ends = [[max(math.ceil(share * side * n) - 1, 0) for side in (1 - _SLACK, 1 + _SLACK)] for share in shares]
        return [values[low, :] / 2 + values[min(high, n - 1), :] / 2 for low, high in ends]
    order = xp.argsort(X, axis=0)
    values = xp.stack([xp.take(X[:, j], order[:, j]) for j in range(X.shape[1])], axis=1)
    reached = xp.cumulative_sum(xp.reshape(xp.take(w, xp.reshape(order, (-1,))), order.shape), axis=0)
    columns, found = xp.arange(X.shape[1], device=device(X)), []
    for share in shares:
        goal = share * reached[-1:, :]
        place = xp.sum(xp.astype(reached < goal * (1 - _SLACK), xp.int64), axis=0)
        at_goal = xp.sum(xp.astype(reached < goal * (1 + _SLACK), xp.int64), axis=0)
        place, at_goal = (xp.clip(p, max=X.shape[0] - 1) for p in (place, at_goal))
        found.append(values[place, columns] / 2 + values[at_goal, columns] / 2)
    return found


def _asinh(Z: Array) -> Array:
    """Inverse hyperbolic sine; of host values at a third of NumPy's time, off by up to two roundings of 1."""
    if not isinstance(Z, np.ndarray):
        return namespace(Z).asinh(Z)
    size = np.abs(Z)
    far = None if size.max(initial=0) < (bound := largest(Z.dtype, np)) else ~(size < bound)
    root = size * size if far is None else np.where(far, 0, size) ** 2
    root += 1
    np.sqrt(root, out=root)
    root += size
    np.log(root, out=root)
    tamed = np.copysign(root, Z)
    if far is not None:  # each value by itself: none may change those of others
        tamed[far] = np.asinh(Z[far])
    return tamed


def _longest(rows: Array) -> Array:
    """The largest magnitude in each row, in a column; 1 for rows of zeros."""
    xp = namespace(rows)
    size = xp.max(xp.abs(rows), axis=1, keepdims=True)
    return xp.where(size > 0, size, xp.ones_like(size))


@dataclass(frozen=True)
class Scaler:
    """Maps rows to comparable units and back: by a centre and a scale of each column, then by asinh where `tamed`."""

    centre: Annotated[Array, Floats("d")]
    scale: Annotated[Array, Floats("d", above=0)]
    tamed: bool = False

    @classmethod
    def of(cls, scaling: str, columns: ColumnMoments, X: Array, w: Array) -> Scaler:
        """The scaler of rows by all their `columns`; their quantiles are those of rows `X`, all or a sample of them.

        Z-scores divide by the (n - 1) standard deviation. Taming takes the median and the distance of the outer
        deciles, which no single row moves far, or the deviation where most values are equal. Constant columns stay
        undivided.
        """
        xp = namespace(columns.mean)
        if scaling == "none":
            return cls.identity(X)
        tamed, rounded = scaling == "robust", 10 * float(xp.finfo(columns.dtype).eps)  # of a constant
        centre = columns.mean
        scale = xp.sqrt(xp.abs(columns.squares) / but_for_one(columns.weight))
        if tamed:
            low, centre, high = quantiles(xp.astype(X, xp.float64, copy=False), w, _DECILES)
            apart = high / _APART - low / _APART
            scale = xp.where(apart > rounded * xp.abs(centre), apart, scale)
        scale = xp.where(scale > rounded * xp.abs(centre), scale, xp.ones_like(scale))
        return cls(xp.astype(centre, columns.dtype), xp.astype(scale, columns.dtype), tamed)

    @classmethod
    def identity(cls, like: Array) -> Scaler:
        """The scaler that changes nothing, for the columns of `like`."""
        xp = namespace(like)
        return cls(xp.zeros_like(like[0, :]), xp.ones_like(like[0, :]))

    def __call__(self, X: Array) -> Array:
        """Rows in comparable units; rows too far away for their z-scores to be squared are moved towards the centre."""
        xp = namespace(X)
        with np.errstate(over="ignore"):
            Z = (X - self.centre) / self.scale  # in double precision where the training rows were, whatever X is in
        if self.tamed:
            far, Z = xp.isinf(Z), _asinh(Z)
            return xp.where(far, self._asinh_of_far(X), Z) if bool(xp.any(far)) else Z
        far = xp.abs(Z) > (bound := largest(Z.dtype, xp))
        return xp.where(xp.any(far, axis=1)[:, None], self._moved(X, bound), Z) if bool(xp.any(far)) else Z

    def _asinh_of_far(self, X: Array) -> Array:
        """Tamed values of z-scores that overflow: ``asinh(z) = log(2z)``, by the logarithms of what z is made of."""
        xp, half = namespace(X), X / 2 - self.centre / 2
        size = xp.abs(half)
        size = xp.log(xp.where(size > 0, size, xp.ones_like(size))) - xp.log(self.scale) + 2 * math.log(2)
        return xp.where(half < 0, -size, size)

    def _moved(self, X: Array, bound: float) -> Array:
        """Rows at the distance `bound` from the centre, in the largest of their z-scores, with their direction kept.

        To clip each z-score by itself would move rows to a diagonal, where they may look normal.
        """
        half = X / 2 - self.centre / 2  # halves, for the range of all numbers is not a number
        unit = half / _longest(half) / self.scale
        return unit / _longest(unit) * bound

    def inverse(self, Z: Array) -> Array:
        """Rows in the user's own units."""
        if not self.tamed:
            return Z * self.scale + self.centre
        xp = namespace(Z)
        bound = float(xp.finfo(Z.dtype).max)
        with np.errstate(over="ignore"):
            return xp.clip(xp.sinh(Z) * self.scale + self.centre, -bound, bound)
