r"""Choice of the bandwidth and of C by marginal likelihood, without outliers for validation.

The likelihood is that of Gaussian-process regression of the rows on themselves, with prior :math:`\tau^2 K / \lambda`
and noise :math:`\tau^2 / C`. It is used for every machine, whatever its own target, and without its variance term. (For
a constant target an infinite bandwidth would have the largest likelihood.) A row predicted from itself has no noise, so
the likelihood increases with C almost everywhere, and the paper's range of C bounds it. The bandwidth is therefore
chosen at the largest C of this range, whatever C the machine then uses.
"""

from __future__ import annotations

import math

from .arrays import Array, add_to_diagonal, device, namespace
from .bandwidth import bandwidth
from .cholesky import cho_solve, factor
from .embedding import NoVariance
from .kernels import Kernel, Radial
from .spectrum import Spectrum, log_density

__all__ = [
    "COSTS",
    "FACTORS",
    "NEIGHBORS",
    "likeliest_bandwidth",
    "likeliest_cost",
    "log_marginal_likelihood",
    "nearest_distance",
    "sample",
]

#: Candidate values of C: those of the paper.
COSTS = tuple(2.0**k for k in range(-5, 6))

#: Candidate bandwidths, in units of the mean distance between rows.
FACTORS = tuple(2.0 ** (k / 2) for k in range(-4, 5))

#: Largest local bandwidth, in units of the mean nearest-neighbor distance.
NEIGHBORS = 5.0

#: Largest number of rows for the likelihood: it bounds the size of the factorised matrices.
LIKELIHOOD_ROWS = 500


def likeliest_bandwidth(kernel: Radial, Z: Array, w: Array, *, lam: float, local: bool = False) -> float:
    """Return the bandwidth with the largest likelihood of rows `Z` given themselves, row i counted ``w[i]`` times.

    Regression of rows on themselves needs little more than a linear map. The likelihood therefore prefers wide kernels,
    even if the rows are dense enough to show more detail. A `local` bandwidth is at most `NEIGHBORS` mean
    nearest-neighbor distances, or half the mean distance if this is larger. A smaller bound than half the mean distance
    would allow kernels so narrow that they overfit.
    """
    mean = bandwidth("mean", kernel, Z, w)
    candidates = [mean * factor for factor in FACTORS]
    if local:
        widest = max(NEIGHBORS * nearest_distance(kernel, Z, w), 0.5 * mean)
        candidates = [sigma for sigma in candidates if sigma <= widest]

    def likelihood(sigma: float) -> float:
        return log_marginal_likelihood(kernel.with_sigma(sigma)(Z, Z), Z, w, C=COSTS[-1], lam=lam)

    return float(max(candidates, key=likelihood))


def nearest_distance(kernel: Radial, Z: Array, w: Array) -> float:
    """Return the mean distance from a row to the nearest different row; infinite if all rows are equal."""
    xp = namespace(Z)
    D = kernel.distances(Z, Z)
    alike = xp.finfo(D.dtype).eps ** 0.5 * xp.max(D)
    nearest = xp.min(xp.where(alike >= D, xp.full_like(D, math.inf), D), axis=1)
    return float(w @ nearest / xp.sum(w))


def likeliest_cost(kernel: Kernel, Z: Array, w: Array, *, lam: float) -> float:
    """Return the C of the paper's range with the largest likelihood; one eigendecomposition serves every C."""
    spectrum = Spectrum.of(kernel(Z, Z), Z, w, NoVariance(), lam=lam)
    return max(COSTS, key=lambda C: spectrum.log_marginal_likelihood(C=C))


def log_marginal_likelihood(K: Array, T: Array, w: Array, *, C: float, lam: float) -> float:
    """Return the log density of targets `T` for one C, at the signal variance that maximises it."""
    xp = namespace(K)
    # In double precision: single precision would lose the small noise variance of a row with a large weight.
    K, T, w = (xp.astype(A, xp.float64, copy=False) for A in (K, T, w))
    n, d = float(xp.sum(w)), T.shape[1]

    def build() -> Array:
        G = K / lam
        add_to_diagonal(G, 1 / (C * w))
        return G

    L = factor(build)
    quadratic = float(xp.sum(T * cho_solve(L, T)))
    log_det = 2 * float(xp.sum(xp.log(xp.linalg.diagonal(L)))) + float(xp.sum(xp.log(w)))
    return log_density(quadratic, log_det, n, d, copies=n - K.shape[0], C=C)


def sample(Z: Array, w: Array, *, size: int = LIKELIHOOD_ROWS) -> tuple[Array, Array] | None:
    """Return indices and counts of `size` draws from the weighted rows; None if there are at most `size` rows.

    The rows are sorted along one fixed direction and drawn at equal steps of their cumulative weight. The draw depends
    on the set of rows only, not on their order, and a row of weight w is drawn like w copies. If at most `size` rows
    are distinct, the result is one copy of each distinct row with its total weight.
    """
    if Z.shape[0] <= size:
        return None
    xp = namespace(Z)
    # A direction that no feature dominates, so that different rows rarely have equal projections.
    direction = xp.cos(xp.arange(1, Z.shape[1] + 1, dtype=Z.dtype, device=device(Z)))
    order = xp.argsort(Z @ direction)
    rows = xp.take(Z, order, axis=0)
    last = xp.concat([xp.any(rows[1:, :] != rows[:-1, :], axis=1), xp.ones(1, dtype=xp.bool, device=device(Z))])
    order, reached = order[last], xp.cumulative_sum(xp.take(w, order))[last]
    if order.shape[0] <= size:
        copies = reached - xp.concat([xp.zeros_like(reached[:1]), reached[:-1]])
        return order, xp.maximum(copies, xp.take(w, order))  # small weights are lost in sums with large ones
    steps = (xp.arange(size, dtype=w.dtype, device=device(w)) + 0.5) * (reached[-1] / size)
    steps = steps * (1 - 8 * xp.finfo(w.dtype).eps)  # rounding must not raise a step above an integer sum
    drawn = xp.clip(xp.searchsorted(reached, steps), max=order.shape[0] - 1)
    places, counts = xp.unique_counts(drawn)
    return xp.take(order, places), xp.astype(counts, w.dtype)
