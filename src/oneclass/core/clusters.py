"""Deterministic weighted k-means: the clusters of the `subclass` variance.

Seeds come from splitting the widest cluster along its principal direction (Su and Dy, 2007), so the clusters depend on
the set of rows alone: not on their order, not on a random seed, and a row of weight w acts as w rows.
"""

from __future__ import annotations

from .arrays import Array, blocks, device, namespace

__all__ = ["assign", "kmeans", "lloyd", "one_hot"]


def assign(Z: Array, centres: Array) -> Array:
    """Index of the nearest centre of each row."""
    xp = namespace(Z)
    norms = xp.sum(centres * centres, axis=1) / 2
    parts = [xp.argmin(norms - Z[a:b, :] @ centres.T, axis=1) for a, b in blocks(Z.shape[0], centres.shape[0], Z)]
    return xp.concat(parts)


def kmeans(Z: Array, w: Array, n_clusters: int, *, max_iter: int = 100) -> Array:
    """Centres of at most `n_clusters` clusters of the rows (fewer when there are fewer distinct rows)."""
    return lloyd(Z, w, _seed(Z, w, n_clusters), max_iter=max_iter)


def lloyd(Z: Array, w: Array, centres: Array, *, max_iter: int) -> Array:
    """Move the centres to the means of the rows nearest to them until no row changes hands; drop those with no rows."""
    xp = namespace(Z)
    labels = assign(Z, centres)
    for _ in range(max_iter):
        membership = one_hot(labels, centres.shape[0], Z)
        weight = w @ membership
        kept = weight > 0
        centres = ((membership * w[:, None]).T @ Z)[kept] / weight[kept][:, None]
        before, labels = labels, assign(Z, centres)
        if centres.shape[0] == weight.shape[0] and bool(xp.all(labels == before)):
            break
    return centres


def one_hot(labels: Array, k: int, like: Array) -> Array:
    """Membership of each row in `k` clusters, in the dtype of `like`."""
    xp = namespace(like)
    return xp.astype(labels[:, None] == xp.arange(k, device=device(labels), dtype=labels.dtype)[None, :], like.dtype)


def _seed(Z: Array, w: Array, k: int) -> Array:
    """Split the cluster with the largest scatter at its mean, along its principal direction, until there are `k`."""
    xp = namespace(Z)
    parts = [_part(Z, w)]
    while len(parts) < k:
        widest = max(range(len(parts)), key=lambda p: parts[p][3])
        rows, weight, mean, scatter = parts[widest]
        side = (rows - mean) @ _principal_direction(rows - mean, weight) > 0
        if scatter <= 0 or bool(xp.all(side)) or not bool(xp.any(side)):
            break
        parts[widest : widest + 1] = [_part(rows[s], weight[s]) for s in (side, ~side)]
    return xp.stack([mean for _, _, mean, _ in parts])


def _part(rows: Array, w: Array) -> tuple[Array, Array, Array, float]:
    xp = namespace(rows)
    mean = (w @ rows) / xp.sum(w)
    squares = xp.sum(w @ ((rows - mean) ** 2))
    rounding = xp.finfo(rows.dtype).eps ** 2 * xp.sum(w @ (rows * rows)) * 100
    return rows, w, mean, float(xp.where(squares > rounding, squares, xp.zeros_like(squares)))


def _principal_direction(centred: Array, w: Array, *, n_iter: int = 30) -> Array:
    xp = namespace(centred)
    # The feature spreads are a start that no reordering of rows or features changes; the skewness breaks symmetry.
    norms = xp.sum(centred * centred, axis=1)
    v = xp.sqrt(w @ (centred * centred)) + (w * xp.sqrt(norms)) @ centred
    if not bool(xp.any(centred @ v != 0)):  # symmetric rows can all be orthogonal to it
        v = centred[int(xp.argmax(norms)), :]
    for _ in range(n_iter):
        v = (w * (centred @ v)) @ centred
        length = xp.sqrt(xp.sum(v * v))
        if not bool(length > 0):
            break
        v = v / length
    return v
