"""Z-scores from mergeable column moments, and the way back to the user's units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import Array, Namespace, namespace

__all__ = ["ColumnMoments", "Scaler"]


@dataclass(frozen=True)
class ColumnMoments:
    """Weight, mean, centred sum of squares and range of each column, in double precision; two of them add."""

    weight: float
    mean: Array
    squares: Array
    low: Array
    high: Array
    dtype: Any  # of the rows

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

    def out_of_range(self, *, scaled: bool) -> int | None:
        """The first column whose values, or whose differences, are too large or too small to be squared, if any.

        Columns that are to be `scaled` are squared here, in double precision, others in their own.
        """
        xp = namespace(self.mean)
        bound = largest(xp.float64 if scaled else self.dtype, xp)
        spread = self.high / 2 - self.low / 2  # halves, for the range of all numbers is not a number
        wrong = (xp.maximum(-self.low, self.high) > bound) | ((spread > 0) & (spread < 1 / bound))
        return int(xp.argmax(xp.astype(wrong, xp.int64))) if bool(xp.any(wrong)) else None


def largest(dtype: Any, xp: Namespace) -> float:
    """Magnitude up to which values can be squared and a few thousand squares added up, and its inverse be squared."""
    return float(float(xp.finfo(dtype).max) ** 0.45)


@dataclass(frozen=True)
class Scaler:
    """Maps rows to z-scores and back."""

    mean: Array
    scale: Array

    @classmethod
    def of(cls, moments: ColumnMoments) -> Scaler:
        """Centre on the mean, divide by the (n - 1) standard deviation; constant columns stay undivided."""
        xp = namespace(moments.mean)
        variance = moments.squares / max(moments.weight - 1, 1)
        eps = xp.finfo(moments.dtype).eps
        constant = variance <= (10 * eps * xp.abs(moments.mean)) ** 2
        scale = xp.where(constant, xp.ones_like(variance), xp.sqrt(xp.abs(variance)))
        return cls(xp.astype(moments.mean, moments.dtype), xp.astype(scale, moments.dtype))

    @classmethod
    def identity(cls, like: Array) -> Scaler:
        """The scaler that changes nothing, for the columns of `like`."""
        xp = namespace(like)
        return cls(xp.zeros_like(like[0, :]), xp.ones_like(like[0, :]))

    def __call__(self, X: Array) -> Array:
        """Rows in z-scores, as far away as can be squared."""
        xp = namespace(X)
        bound = largest(X.dtype, xp)
        with np.errstate(over="ignore"):
            return xp.clip((X - self.mean) / self.scale, -bound, bound)

    def inverse(self, Z: Array) -> Array:
        """Rows in the user's own units."""
        return Z * self.scale + self.mean
