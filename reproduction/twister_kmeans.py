"""The k-means of the released MATLAB code: one start of k-means++ with the Mersenne Twister and seed 2."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["twister_kmeans"]

Float = NDArray[np.float64]


def twister_kmeans(rows: Float, k: int, *, seed: int = 2, max_iter: int = 100) -> Float:
    """Centres of `k` clusters, the same in every call; empty clusters are dropped.

    Parameters
    ----------
    rows : array of shape (n, d)
        Points to cluster.
    k : int
        Number of clusters.
    seed : int
        Seed of the Mersenne Twister; the release sets 2 before every call.
    max_iter : int
        Maximum number of iterations.

    Returns
    -------
    array of shape (at most k, d)

    Examples
    --------
    >>> import numpy as np
    >>> twister_kmeans(np.array([[0.0], [0.2], [9.0], [9.2]]), 2)
    array([[0.1],
           [9.1]])
    """
    centres = rows[_seeds(rows, k, np.random.RandomState(seed))]
    distances = _distances(rows, centres)
    labels = distances.argmin(axis=1)
    every = np.arange(len(rows))
    for _ in range(max_iter):
        centres = _means(rows, labels, k)
        distances = _distances(rows, centres)
        nearest = distances.argmin(axis=1)
        closer = distances[every, nearest] < distances[every, labels]
        if not closer.any():
            break
        labels = np.where(closer, nearest, labels)
    centres = _means(rows, labels, k)
    return centres[np.isfinite(centres).all(axis=1)]


def _seeds(rows: Float, k: int, twister: np.random.RandomState) -> list[int]:
    """A uniform draw, then draws in proportion to the squared distance from the nearest seed."""
    n = len(rows)
    chosen = [int(twister.random_sample() * n)]
    gap = np.full(n, np.inf)
    for _ in range(1, k):
        gap = np.minimum(gap, _distances(rows, rows[chosen[-1:]])[:, 0])
        edges = np.minimum(np.cumsum(gap / gap.sum()), 1.0)
        chosen.append(min(int(np.searchsorted(edges, twister.random_sample(), side="right")), n - 1))
    return chosen


def _means(rows: Float, labels: NDArray[np.int64], k: int) -> Float:
    nowhere = np.full(rows.shape[1], np.inf)
    return np.stack([rows[labels == j].mean(axis=0) if (labels == j).any() else nowhere for j in range(k)])


def _distances(rows: Float, centres: Float) -> Float:
    # Differences, not inner products: comparisons of distances must not depend on rounding.
    return np.stack([((rows - c) ** 2).sum(axis=1) for c in centres], axis=1)
