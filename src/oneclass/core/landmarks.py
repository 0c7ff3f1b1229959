"""Choice of the landmarks of a Nystrom approximation from weighted rows: uniform, k-means centres, or by leverage."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from . import clusters
from .arrays import Array, device, namespace
from .cholesky import SingularSystemError, cholesky, solve_lower
from .kernels import Kernel

__all__ = ["LANDMARKS", "choose_landmarks"]

Rng = np.random.Generator

#: Part of the largest k(x, x) below which a row is explained by the landmarks so far.
_EXPLAINED = 1e-10


def _uniform(kernel: Kernel, Z: Array, w: Array, m: int, rng: Rng) -> Array:
    """Return rows drawn without replacement with probabilities proportional to their weights (exponential races)."""
    xp = namespace(Z)
    races = xp.asarray(rng.exponential(size=Z.shape[0]), dtype=w.dtype, device=device(Z)) / w
    return xp.take(Z, xp.argsort(races)[:m], axis=0)


def _kmeans(kernel: Kernel, Z: Array, w: Array, m: int, rng: Rng) -> Array:
    """Return centres of k-means after a few iterations from a uniform sample."""
    return clusters.lloyd(Z, w, _uniform(kernel, Z, w, m, rng), max_iter=10)[0]


def _leverage(kernel: Kernel, Z: Array, w: Array, m: int, rng: Rng) -> Array:
    """Return rows chosen by randomly pivoted Cholesky in blocks.

    A pivot is drawn with a probability proportional to its kernel value that the earlier pivots do not explain.
    """
    xp = namespace(Z)
    rows = Z
    # The unexplained part is a small difference of large numbers: single precision would lose it.
    Z, w = xp.astype(Z, xp.float64), xp.astype(w, xp.float64)
    left = kernel.diagonal(Z) + 0
    explained = _EXPLAINED * float(xp.max(left))
    if not 0 < explained < math.inf:
        raise SingularSystemError(
            "k(x, x) of the kernel must be finite and, for one row at least, positive; the largest is "
            f"{explained / _EXPLAINED:g}"
        )
    F = xp.zeros((Z.shape[0], m), dtype=Z.dtype, device=device(Z))
    pivots = xp.zeros(0, dtype=xp.int64, device=device(Z))
    while True:
        done = pivots.shape[0]
        step = min(max(16, m // 8), m - done)
        races = xp.asarray(rng.exponential(size=Z.shape[0]), dtype=Z.dtype, device=device(Z))
        # Exponential races draw without replacement; explained rows are excluded.
        races = xp.where(left > explained, races / xp.clip(w * left, min=1e-300), xp.full_like(races, float("inf")))
        chosen = xp.argsort(races)[: min(step, int(xp.sum(xp.astype(left > explained, xp.int64))))]
        pivots = xp.concat([pivots, xp.astype(chosen, xp.int64)])
        if chosen.shape[0] == 0 or pivots.shape[0] == m:  # no further pivots: skip the update
            return xp.take(rows, pivots, axis=0)
        columns = kernel(Z, xp.take(Z, chosen, axis=0)) - F[:, :done] @ xp.take(F[:, :done], chosen, axis=0).T
        block = xp.take(columns, chosen, axis=0)
        jitter = explained * xp.eye(chosen.shape[0], dtype=Z.dtype, device=device(Z))
        grown = solve_lower(cholesky(block + jitter), columns.T).T
        F[:, done : done + chosen.shape[0]] = grown
        left = xp.clip(left - xp.sum(grown * grown, axis=1), min=0.0)


LANDMARKS: dict[str, Callable[[Kernel, Array, Array, int, Rng], Array]] = {
    "leverage": _leverage,
    "kmeans": _kmeans,
    "uniform": _uniform,
}


def choose_landmarks(rule: str, kernel: Kernel, Z: Array, w: Array, m: int, rng: Rng) -> Array:
    """Return at most `m` landmarks for rows `Z` with weights `w`; all rows if there are at most `m`."""
    return Z if Z.shape[0] <= m else LANDMARKS[rule](kernel, Z, w, m, rng)
