"""Deterministic weighted k-means: the clusters of the `subclass` variance.

Initial centres come from splitting the cluster with the largest scatter along its principal direction (Su and Dy,
2007). The clusters therefore depend on the set of rows only, not on their order or a random seed, and a row of weight w
is equivalent to w copies. Sums in another order have other rounding errors, and for symmetric rows many quantities are
equal up to rounding: distances to two centres, the scatters of two clusters, the two sides of a split. Values whose
difference is less than a margin count as equal, and the first of equal values is taken.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .arrays import Array, Namespace, blocks, device, namespace

__all__ = ["Splits", "assign", "kmeans", "lloyd", "one_hot"]

#: Largest matrix, in rows, that the power method squares: its square takes as long as a few products with a vector.
_LARGEST_SQUARED = 32


def assign(Z: Array, centres: Array) -> Array:
    """Return the index of the nearest centre of each row; of equally near centres, the first."""
    xp = namespace(Z)
    origin = xp.mean(centres, axis=0)  # far from the origin, distances would lose digits to cancellation
    ranges = blocks(Z.shape[0], max(centres.shape), Z)
    parts = [xp.zeros(0, dtype=xp.int64, device=device(Z))]
    parts += [_nearest(xp, *_seen_from(xp, origin, Z[a:b, :]), centres - origin) for a, b in ranges]
    return xp.concat(parts)


def _seen_from(xp: Namespace, origin: Array, Z: Array) -> tuple[Array, Array]:
    """Return the rows relative to the origin, and their lengths."""
    rows = Z - origin
    return rows, xp.sqrt(xp.sum(rows * rows, axis=1))


def _nearest(xp: Namespace, rows: Array, lengths: Array, centres: Array) -> Array:
    halves = xp.vecdot(centres, centres) / 2
    reach = xp.sqrt(2 * xp.max(halves))
    far = halves - rows @ centres.T
    margin = _margin(xp, rows.dtype, 0.75) * reach * (reach + lengths)
    nearest = far <= (xp.min(far, axis=1) + margin)[:, None]
    return xp.argmax(xp.astype(nearest, xp.int8), axis=1)


def kmeans(Z: Array, w: Array, n_clusters: int) -> Array:
    """Return the centres of at most `n_clusters` clusters; fewer if there are fewer distinct rows."""
    return lloyd(Z, w, Splits(Z, w).seeds(n_clusters))[0]


def lloyd(Z: Array, w: Array, centres: Array, *, max_iter: int = 100) -> tuple[Array, Array]:
    """Return the centres after Lloyd's iterations, and the index of the nearest centre of each row.

    Each iteration moves the centres to the means of their nearest rows, and drops centres without rows. The iterations
    end when no row changes its centre.
    """
    xp = namespace(Z)
    origin = xp.mean(centres, axis=0)
    seen, heavy = _seen_from(xp, origin, Z), w[:, None] * Z
    labels = _nearest(xp, *seen, centres - origin)
    for _ in range(max_iter):
        membership = one_hot(labels, centres.shape[0], Z)
        weight = w @ membership
        kept = weight > 0
        centres = (membership.T @ heavy)[kept] / weight[kept][:, None]
        before, labels = labels, _nearest(xp, *seen, centres - origin)
        if centres.shape[0] == weight.shape[0] and bool(xp.all(labels == before)):
            break
    return centres, labels


def one_hot(labels: Array, k: int, like: Array) -> Array:
    """Return the one-hot membership of each row in `k` clusters, in the dtype of `like`."""
    xp = namespace(like)
    return xp.astype(labels[:, None] == xp.arange(k, device=device(labels), dtype=labels.dtype)[None, :], like.dtype)


class _Part(NamedTuple):
    """Some of the rows, their mean, the centred rows, the squared distances from the mean, and the weighted sum."""

    rows: Array
    w: Array
    mean: Array
    centred: Array
    squares: Array
    scatter: float

    @classmethod
    def of(cls, xp: Namespace, rows: Array, w: Array) -> Self:
        apart = rows - rows[:1, :]  # exactly zero for rows that coincide
        total = xp.sum(w)
        shift = (w @ apart) / total
        mean, centred = rows[0, :] + shift, apart - shift
        squares = xp.vecdot(centred, centred)
        scatter = float(w @ squares)
        rounding = 100 * _margin(xp, rows.dtype, 2) * (scatter + float(total * (mean @ mean)))
        return cls(rows, w, mean, centred, squares, scatter if scatter > rounding else 0.0)

    def cut(self, xp: Namespace) -> list[Self]:
        """Return the two parts on either side of the mean along the principal direction; [] if one is empty."""
        if self.scatter <= 0:
            return []
        along = self.centred @ self._principal_direction(xp)
        margin = _margin(xp, self.rows.dtype, 0.5) * xp.max(xp.abs(along))
        side = along > margin
        count = int(xp.count_nonzero(side))
        if count == 0:  # one row lies far on the other side
            side = along >= -margin
            count = int(xp.count_nonzero(side))
        if count == 0 or count == side.shape[0]:
            return []
        return [self.of(xp, self.rows[s], self.w[s]) for s in (side, ~side)]

    def _principal_direction(self, xp: Namespace, *, n_iter: int = 30) -> Array:
        """Return the principal direction, of any length, by the power method.

        The start does not depend on the order of rows or features.
        """
        centred, w, d, reach = self.centred, self.w, self.centred.shape[1], math.sqrt(self.scatter)
        # The spreads of the features are such a start. Adding the skewness, where it is more than rounding, breaks ties
        # between symmetric directions.
        spreads = xp.sqrt(w @ (centred * centred))
        skewness = (w * xp.sqrt(self.squares)) @ centred
        skewed = xp.abs(skewness) > _margin(xp, w.dtype, 0.5) * reach * spreads
        # Both can be orthogonal to the principal direction. A small part of a fixed generic direction then decides,
        # instead of rounding errors.
        generic = xp.asarray(_generic(d), dtype=centred.dtype, device=device(centred))
        v = spreads + _margin(xp, w.dtype, 0.25) * xp.max(spreads) * generic
        v = xp.where(skewed, v + skewness, v) / (reach + self.scatter)
        rows = xp.sqrt(w)[:, None] * centred
        # Use the smaller of the two Gram matrices. Divided by its trace it does not lengthen vectors, and in double
        # precision shortened ones do not underflow.
        tall = rows.shape[0] > d
        square, v, steps = (rows.T @ rows, v, n_iter) if tall else (rows @ rows.T, rows @ v, n_iter - 1)
        square, v = xp.astype(square, xp.float64, copy=False) / self.scatter, xp.astype(v, xp.float64, copy=False)
        while steps:
            if steps % 2 == 0 and square.shape[0] <= _LARGEST_SQUARED:
                square, steps = square @ square, steps // 2
            else:
                v, steps = square @ v, steps - 1
        if rows.dtype != v.dtype:
            v = xp.astype(v / (float(xp.max(xp.abs(v))) or 1.0), rows.dtype)
        return v if tall else v @ rows


class Splits:
    """Repeated splits of the rows: each splits the part with the largest scatter at its mean, in its main direction."""

    def __init__(self, Z: Array, w: Array) -> None:
        self._parts = [_Part.of(namespace(Z), Z, w)]
        self._means = [[self._parts[0].mean]]

    def seeds(self, k: int) -> Array:
        """Return the means of `k` parts, or of the largest possible number of parts."""
        parts, like = self._parts, self._parts[0].mean
        xp = namespace(like)
        while len(self._means) < k:
            enough = (1 - _margin(xp, like.dtype, 0.5)) * max(part.scatter for part in parts)
            widest = next(p for p, part in enumerate(parts) if part.scatter >= enough)
            if not (halves := parts[widest].cut(xp)):
                break
            parts[widest : widest + 1] = halves
            self._means.append([part.mean for part in parts])
        return xp.stack(self._means[min(k, len(self._means)) - 1])


@cache
def _generic(d: int) -> NDArray[np.float64]:
    """Return a fixed direction in d dimensions that is unlikely to be orthogonal to any other."""
    return np.cos(np.arange(1, d + 1))


@cache
def _margin(xp: Namespace, dtype: object, power: float) -> float:
    """Return a relative margin that is larger than rounding errors."""
    return float(float(xp.finfo(dtype).eps) ** power)
