"""Bandwidth rules by name: what `sigma` is when the user does not give a number."""

from __future__ import annotations

import math
from collections.abc import Callable

from .arrays import Array, blocks, namespace
from .kernels import Laplacian, Radial

__all__ = ["BANDWIDTHS", "bandwidth"]


def _mean(kernel: Radial, Z: Array, w: Array) -> float:
    """Mean distance between two training rows (the paper)."""
    n = float(namespace(Z).sum(w))
    total = _all_cityblock_distances(Z, w) if isinstance(kernel, Laplacian) else _all_distances(kernel, Z, w)
    return total / (n * (n - 1)) if n > 1 else 0.0


def _all_distances(kernel: Radial, Z: Array, w: Array) -> float:
    """Sum of the distances from every row to every row."""
    total = 0.0
    for a, b in blocks(Z.shape[0], Z.shape[0], Z):
        D = kernel.distances(Z[a:b, :], Z[:b, :])
        # Pairs left of the block on the diagonal stand for their mirror images too.
        total += float(w[a:b] @ (D @ w[:b])) + float(w[a:b] @ (D[:, :a] @ w[:a]))
    return total


def _all_cityblock_distances(Z: Array, w: Array) -> float:
    """The same of city-block distances, without a look at any pair: a gap between values is in all pairs across it."""
    xp = namespace(Z)
    n = xp.sum(w)
    total = 0.0
    for j in range(Z.shape[1]):
        order = xp.argsort(Z[:, j])
        z, below = xp.take(Z[:, j], order), xp.cumulative_sum(xp.take(w, order))[:-1]
        total += 2 * float(xp.sum((z[1:] - z[:-1]) * below * (n - below)))
    return total


def _rms(kernel: Radial, Z: Array, w: Array) -> float:
    """The authors' code: ``exp(-‖x-y‖²/A²)`` with A² the mean squared distance over all n² pairs, so sigma² = A²/2."""
    xp = namespace(Z)
    n = float(xp.sum(w))
    apart = Z - Z[:1, :]  # exactly zero for rows that coincide
    centred = apart - (w @ apart) / n
    # The mean squared distance over all pairs is twice the total variance.
    return math.sqrt(float(xp.sum(w @ (centred * centred))) / n)


def _median(kernel: Radial, Z: Array, w: Array) -> float:
    """Median distance between two training rows; the copies that a weight stands for are rows too."""
    xp = namespace(Z)
    parts, weights = [], []
    for a, b in blocks(Z.shape[0], Z.shape[0], Z):
        D = kernel.distances(Z[a:b, :], Z[:b, :])
        W = xp.tril(w[a:b, None] * w[None, :b], k=a - 1)
        parts.append(D[W > 0])
        weights.append(W[W > 0])
    copies = xp.sum(w * (w - 1)) / 2  # pairs of copies of the same row, at distance zero
    if copies > 0:
        parts.append(xp.zeros_like(w[:1]))
        weights.append(xp.reshape(copies, (1,)))
    d, m = xp.concat(parts), xp.concat(weights)
    del parts, weights  # they hold as much memory as their sum
    if d.shape[0] == 0:
        return 0.0
    order = xp.argsort(d)
    reached = xp.cumulative_sum(xp.take(m, order))
    half = reached[-1] / 2
    low = order[int(xp.sum(xp.astype(reached < half * (1 - 1e-12), xp.int64)))]
    high = order[min(int(xp.sum(xp.astype(reached <= half * (1 + 1e-12), xp.int64))), d.shape[0] - 1)]
    return float(d[low] + d[high]) / 2


BANDWIDTHS: dict[str, Callable[[Radial, Array, Array], float]] = {"mean": _mean, "rms": _rms, "median": _median}


def bandwidth(rule: str, kernel: Radial, Z: Array, w: Array) -> float:
    """Bandwidth of a radial kernel for rows `Z`, row i counted ``w[i]`` times; 1 when all rows coincide."""
    return BANDWIDTHS[rule](kernel, Z, w) or 1.0
