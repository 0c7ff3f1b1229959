"""Deterministic weighted k-means: the clusters of the `subclass` variance.

Seeds come from splitting the widest cluster along its principal direction (Su and Dy, 2007), so the clusters depend on
the set of rows alone: not on their order, not on a random seed, and a row of weight w acts as w rows. Sums in another
order are rounded otherwise, and on symmetric rows much is equal but for rounding: distances to two centres, the widths
of two clusters, the sides of a cut. So whatever is equal within a margin wider than rounding counts as equal, and the
first of equals is taken.
"""

from __future__ import annotations

import math

from .arrays import Array, blocks, device, namespace

__all__ = ["Splits", "assign", "kmeans", "lloyd", "one_hot"]


def assign(Z: Array, centres: Array) -> Array:
    """Index of the nearest centre of each row, of the first one where several are as near."""
    xp = namespace(Z)
    origin = xp.mean(centres, axis=0)  # distances from afar would be differences of large numbers
    ranges = blocks(Z.shape[0], max(centres.shape), Z)
    parts = [xp.zeros(0, dtype=xp.int64, device=device(Z))]
    parts += [_nearest(*_seen_from(origin, Z[a:b, :]), centres - origin) for a, b in ranges]
    return xp.concat(parts)


def _seen_from(origin: Array, Z: Array) -> tuple[Array, Array]:
    """The rows, and how far each is away."""
    xp = namespace(Z)
    rows = Z - origin
    return rows, xp.sqrt(xp.sum(rows * rows, axis=1))


def _nearest(rows: Array, lengths: Array, centres: Array) -> Array:
    xp = namespace(rows)
    halves = xp.sum(centres * centres, axis=1) / 2
    reach = xp.sqrt(2 * xp.max(halves))
    far = halves - rows @ centres.T
    margin = _margin(rows, 0.75) * reach * (reach + lengths)
    nearest = far <= (xp.min(far, axis=1) + margin)[:, None]
    return xp.argmax(xp.astype(nearest, xp.int8), axis=1)


def kmeans(Z: Array, w: Array, n_clusters: int, *, splits: Splits | None = None, max_iter: int = 100) -> Array:
    """Centres of at most `n_clusters` clusters of the rows (fewer when there are fewer distinct rows).

    Calls for several numbers of clusters may share the `splits` of the rows.
    """
    splits = splits or Splits(Z, w)
    return lloyd(Z, w, splits.seeds(n_clusters), max_iter=max_iter)


def lloyd(Z: Array, w: Array, centres: Array, *, max_iter: int) -> Array:
    """Move the centres to the means of the rows nearest to them until no row changes hands; drop those with no rows."""
    xp = namespace(Z)
    origin = xp.mean(centres, axis=0)
    seen = _seen_from(origin, Z)
    labels = _nearest(*seen, centres - origin)
    for _ in range(max_iter):
        membership = one_hot(labels, centres.shape[0], Z)
        weight = w @ membership
        kept = weight > 0
        centres = ((membership * w[:, None]).T @ Z)[kept] / weight[kept][:, None]
        before, labels = labels, _nearest(*seen, centres - origin)
        if centres.shape[0] == weight.shape[0] and bool(xp.all(labels == before)):
            break
    return centres


def one_hot(labels: Array, k: int, like: Array) -> Array:
    """Membership of each row in `k` clusters, in the dtype of `like`."""
    xp = namespace(like)
    return xp.astype(labels[:, None] == xp.arange(k, device=device(labels), dtype=labels.dtype)[None, :], like.dtype)


class Splits:
    """The rows cut in two again and again: the widest part at its mean, along its principal direction."""

    def __init__(self, Z: Array, w: Array) -> None:
        self._parts = [_part(Z, w)]
        self._seeds = [self._parts[0][2][None, :]]

    def seeds(self, k: int) -> Array:
        """Means of the first `k` parts, or of as many as there can be."""
        while len(self._seeds) < k and self._split():
            self._seeds.append(namespace(self._parts[0][2]).stack([mean for _, _, mean, _ in self._parts]))
        return self._seeds[min(k, len(self._seeds)) - 1]

    def _split(self) -> bool:
        scatters = [scatter for *_, scatter in self._parts]
        widest = next(p for p, s in enumerate(scatters) if s >= (1 - _margin(self._parts[0][0], 0.5)) * max(scatters))
        rows, weight, mean, scatter = self._parts[widest]
        if scatter <= 0:
            return False
        xp = namespace(rows)
        along = (rows - mean) @ _principal_direction(rows - mean, weight)
        margin = _margin(rows, 0.5) * xp.max(xp.abs(along))
        side = along > margin
        if not bool(xp.any(side)):  # one row lies far on the other side
            side = along >= -margin
        if bool(xp.all(side)) or not bool(xp.any(side)):
            return False
        self._parts[widest : widest + 1] = [_part(rows[s], weight[s]) for s in (side, ~side)]
        return True


def _part(rows: Array, w: Array) -> tuple[Array, Array, Array, float]:
    xp = namespace(rows)
    apart = rows - rows[:1, :]  # exactly zero for rows that coincide
    shift = (w @ apart) / xp.sum(w)
    squares = xp.sum(w @ ((apart - shift) ** 2))
    rounding = xp.finfo(rows.dtype).eps ** 2 * xp.sum(w @ (rows * rows)) * 100
    return rows, w, rows[0, :] + shift, float(xp.where(squares > rounding, squares, xp.zeros_like(squares)))


def _principal_direction(centred: Array, w: Array, *, n_iter: int = 30) -> Array:
    xp = namespace(centred)
    # The feature spreads are a start that no reordering of rows or features changes; the skewness breaks symmetry.
    spreads = xp.sqrt(w @ (centred * centred))
    norms = w * xp.sqrt(xp.sum(centred * centred, axis=1))
    skewness = norms @ centred
    noise = _margin(w, 0.5) * (norms @ xp.abs(centred))
    skewness = xp.where(xp.abs(skewness) > noise, skewness, xp.zeros_like(skewness))
    # Both can be orthogonal to the direction sought: then a little of no direction in particular decides, not rounding.
    generic = xp.cos(xp.arange(1, centred.shape[1] + 1, dtype=centred.dtype, device=device(centred)))
    v = spreads + skewness + _margin(w, 0.25) * xp.max(spreads) * generic
    v = v / xp.max(xp.abs(v))
    # Of more rows than columns the scatter is smaller than they are.
    scatter = centred.T @ (w[:, None] * centred) if centred.shape[0] > centred.shape[1] else None
    for _ in range(n_iter):
        v = (w * (centred @ v)) @ centred if scatter is None else scatter @ v
        length = math.sqrt(float(v @ v))
        if not length > 0:
            break
        v = v / length
    return v


def _margin(like: Array, power: float) -> float:
    """A relative difference that rounding does not reach."""
    return float(float(namespace(like).finfo(like.dtype).eps) ** power)
