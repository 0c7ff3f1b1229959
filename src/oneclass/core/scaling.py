"""Z-scores from mergeable column moments, and the way back to the user's units."""

from __future__ import annotations

from dataclasses import dataclass

from .arrays import Array, namespace

__all__ = ["ColumnMoments", "Scaler"]


@dataclass(frozen=True)
class ColumnMoments:
    """Weight, mean and centred sum of squares of each column; two of them add."""

    weight: float
    mean: Array
    squares: Array

    @classmethod
    def of(cls, X: Array, w: Array) -> ColumnMoments:
        """Moments of the rows of `X`, row i counted ``w[i]`` times."""
        xp = namespace(X)
        n = float(xp.sum(w))
        mean = (w @ X) / n
        centred = X - mean
        # The second term is zero in exact arithmetic; it takes back the rounding of the mean.
        squares = w @ (centred * centred) - (w @ centred) ** 2 / n
        return cls(n, mean, squares)

    def __add__(self, other: ColumnMoments) -> ColumnMoments:
        # Merge means, not raw sums: no cancellation when the mean is large.
        n = self.weight + other.weight
        gap = other.mean - self.mean
        mean = self.mean + gap * (other.weight / n)
        squares = self.squares + other.squares + gap * gap * (self.weight * other.weight / n)
        return ColumnMoments(n, mean, squares)


@dataclass(frozen=True)
class Scaler:
    """Maps rows to z-scores and back."""

    mean: Array
    scale: Array

    @classmethod
    def of(cls, moments: ColumnMoments) -> Scaler:
        """Centre on the mean, divide by the (n - 1) standard deviation; constant columns stay undivided."""
        xp = namespace(moments.mean)
        n = moments.weight
        variance = moments.squares / max(n - 1, 1)
        eps = xp.finfo(moments.mean.dtype).eps
        constant = variance <= (10 * eps * xp.abs(moments.mean)) ** 2
        return cls(moments.mean, xp.where(constant, xp.ones_like(variance), xp.sqrt(xp.abs(variance))))

    @classmethod
    def identity(cls, like: Array) -> Scaler:
        """The scaler that changes nothing, for the columns of `like`."""
        xp = namespace(like)
        return cls(xp.zeros_like(like[0, :]), xp.ones_like(like[0, :]))

    def __call__(self, X: Array) -> Array:
        """Rows in z-scores."""
        return (X - self.mean) / self.scale

    def inverse(self, Z: Array) -> Array:
        """Rows in the user's own units."""
        return Z * self.scale + self.mean
