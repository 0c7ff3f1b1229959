"""Scaling of columns and its inverse: robust scaling from quantiles, or z-scores from moments."""

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

#: Names of the scalings.
SCALINGS = ("robust", "zscore", "none")

#: Quantile levels for robust scaling, and the distance of the outer deciles of a normal distribution, in standard
#: deviations.
_DECILES, _DECILE_DISTANCE = (0.1, 0.5, 0.9), 2.563

#: Relative tolerance of summed weights, which may be less than an exact share by rounding.
_WEIGHT_SLACK = 1e-12


@dataclass(frozen=True)
class ColumnMoments:
    """Weight, mean, centred sum of squares and range of each column, in double precision; two can be added."""

    weight: float
    mean: Array
    squares: Array
    low: Array
    high: Array
    dtype: object  # of the rows

    @classmethod
    def of(cls, X: Array, w: Array) -> ColumnMoments:
        """Return the moments of the rows of `X`, row i counted ``w[i]`` times."""
        xp = namespace(X)
        dtype, X, w = X.dtype, xp.astype(X, xp.float64, copy=False), xp.astype(w, xp.float64, copy=False)
        low, high = xp.min(X, axis=0), xp.max(X, axis=0)
        bound = largest(xp.float64, xp)
        if bool(xp.any(high > bound)) or bool(xp.any(low < -bound)):
            X = xp.clip(X, -bound, bound)  # squares must not overflow; the range keeps the values
        n = float(xp.sum(w))
        mean = (w @ X) / n
        centred = X - mean
        # Zero in exact arithmetic. It corrects the rounding of the mean: the mean of a constant column is the constant.
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
        """Return the first column whose values or range are too large or too small for a scaling; None without one.

        Z-scores need squares in double precision, and unscaled values need squares in their own precision. For robust
        scaling, values may have any size.
        """
        xp = namespace(self.mean)
        bound = largest(self.dtype if scaling == "none" else xp.float64, xp)
        spread = self.high / 2 - self.low / 2  # halves, since the difference itself may overflow
        wrong = (spread > 0) & (spread < 1 / bound)
        if scaling != "robust":
            wrong = wrong | (xp.maximum(-self.low, self.high) > bound)
        return int(xp.argmax(xp.astype(wrong, xp.int64))) if bool(xp.any(wrong)) else None


def but_for_one(weight: float) -> float:
    """Return the weight minus one, or half of it if it is less than 2: the weight of all rows but one."""
    return weight - min(1.0, weight / 2)


@cache
def largest(dtype: object, xp: Namespace) -> float:
    """Return the largest magnitude for which sums of some thousand squares, and the squared inverse, are in range."""
    return float(float(xp.finfo(dtype).max) ** 0.45)


def quantiles(X: Array, w: Array, shares: Sequence[float]) -> list[Array]:
    """Return the quantiles of each column at the levels `shares`, row i counted ``w[i]`` times.

    If a level is exactly between two rows, the quantile is their midpoint, so that a row of weight w is equivalent to w
    copies.
    """
    xp, n = namespace(X), X.shape[0]
    w = xp.astype(w, xp.float64, copy=False)
    if bool(xp.all(w == w[0])):
        values = xp.sort(X, axis=0, stable=False)
        # The first row that reaches the level, and the next row if the first reaches it exactly.
        ends = [
            [max(math.ceil(share * side * n) - 1, 0) for side in (1 - _WEIGHT_SLACK, 1 + _WEIGHT_SLACK)]
            for share in shares
        ]
        return [values[low, :] / 2 + values[min(high, n - 1), :] / 2 for low, high in ends]
    order = xp.argsort(X, axis=0)
    values = xp.stack([xp.take(X[:, j], order[:, j]) for j in range(X.shape[1])], axis=1)
    reached = xp.cumulative_sum(xp.reshape(xp.take(w, xp.reshape(order, (-1,))), order.shape), axis=0)
    columns, found = xp.arange(X.shape[1], device=device(X)), []
    for share in shares:
        goal = share * reached[-1:, :]
        place = xp.sum(xp.astype(reached < goal * (1 - _WEIGHT_SLACK), xp.int64), axis=0)
        at_goal = xp.sum(xp.astype(reached < goal * (1 + _WEIGHT_SLACK), xp.int64), axis=0)
        place, at_goal = (xp.clip(p, max=X.shape[0] - 1) for p in (place, at_goal))
        found.append(values[place, columns] / 2 + values[at_goal, columns] / 2)
    return found


def _asinh(Z: Array) -> Array:
    """Return asinh; for host values in a third of NumPy's time, with an absolute error of up to two roundings of 1."""
    if not isinstance(Z, np.ndarray):
        return namespace(Z).asinh(Z)
    size = np.abs(Z)
    far = None if size.max(initial=0) < (bound := largest(Z.dtype, np)) else ~(size < bound)
    root = size * size if far is None else np.where(far, 0, size) ** 2
    root += 1
    np.sqrt(root, out=root)
    root += size
    np.log(root, out=root)
    found = np.copysign(root, Z)
    if far is not None:  # only these values, so that a value does not depend on others
        found[far] = np.asinh(Z[far])
    return found


def _longest(rows: Array) -> Array:
    """Return the largest magnitude in each row, as a column; 1 for rows of zeros."""
    xp = namespace(rows)
    size = xp.max(xp.abs(rows), axis=1, keepdims=True)
    return xp.where(size > 0, size, xp.ones_like(size))


@dataclass(frozen=True)
class Scaler:
    """A scaling of rows and its inverse: subtract a centre and divide by a scale; apply asinh if `asinh`."""

    centre: Annotated[Array, Floats("d")]
    scale: Annotated[Array, Floats("d", above=0)]
    asinh: bool = False

    @classmethod
    def of(cls, scaling: str, columns: ColumnMoments, X: Array, w: Array) -> Scaler:
        """Return the scaler from the moments `columns` of all rows, and quantiles of `X`, all rows or a sample.

        Z-scores divide by the (n - 1) standard deviation. Robust scaling subtracts the median and divides by the
        distance of the outer deciles, which a single row changes little; it divides by the standard deviation if most
        values are equal. Constant columns are not divided.
        """
        xp = namespace(columns.mean)
        if scaling == "none":
            return cls.identity(X)
        # `rounded` bounds the relative scale of a column that is constant up to rounding.
        robust, rounded = scaling == "robust", 10 * float(xp.finfo(columns.dtype).eps)
        centre = columns.mean
        scale = xp.sqrt(xp.abs(columns.squares) / but_for_one(columns.weight))
        if robust:
            low, centre, high = quantiles(xp.astype(X, xp.float64, copy=False), w, _DECILES)
            apart = high / _DECILE_DISTANCE - low / _DECILE_DISTANCE
            scale = xp.where(apart > rounded * xp.abs(centre), apart, scale)
        scale = xp.where(scale > rounded * xp.abs(centre), scale, xp.ones_like(scale))
        return cls(xp.astype(centre, columns.dtype), xp.astype(scale, columns.dtype), robust)

    @classmethod
    def identity(cls, like: Array) -> Scaler:
        """Return the scaler that changes nothing, for the columns of `like`."""
        xp = namespace(like)
        return cls(xp.zeros_like(like[0, :]), xp.ones_like(like[0, :]))

    def __call__(self, X: Array) -> Array:
        """Return scaled rows; rows whose squared z-scores would overflow are moved towards the centre."""
        xp = namespace(X)
        with np.errstate(over="ignore"):
            Z = (X - self.centre) / self.scale  # in double precision if the training rows were
        if self.asinh:
            far, Z = xp.isinf(Z), _asinh(Z)
            return xp.where(far, self._asinh_of_far(X), Z) if bool(xp.any(far)) else Z
        far = xp.abs(Z) > (bound := largest(Z.dtype, xp))
        return xp.where(xp.any(far, axis=1)[:, None], self._moved(X, bound), Z) if bool(xp.any(far)) else Z

    def _asinh_of_far(self, X: Array) -> Array:
        """Return ``asinh(z) = log(2z)`` for z-scores that overflow, from the logarithms of numerator and scale."""
        xp, half = namespace(X), X / 2 - self.centre / 2
        size = xp.abs(half)
        size = xp.log(xp.where(size > 0, size, xp.ones_like(size))) - xp.log(self.scale) + 2 * math.log(2)
        return xp.where(half < 0, -size, size)

    def _moved(self, X: Array, bound: float) -> Array:
        """Return z-scores in the same direction, scaled so that the largest magnitude is `bound`.

        Clipping each z-score by itself would move rows to a diagonal, where they may look normal.
        """
        half = X / 2 - self.centre / 2  # halves, since the difference itself may overflow
        unit = half / _longest(half) / self.scale
        return unit / _longest(unit) * bound

    def inverse(self, Z: Array) -> Array:
        """Return rows in the user's units."""
        if not self.asinh:
            return Z * self.scale + self.centre
        xp = namespace(Z)
        bound = float(xp.finfo(Z.dtype).max)
        with np.errstate(over="ignore"):
            return xp.clip(xp.sinh(Z) * self.scale + self.centre, -bound, bound)
