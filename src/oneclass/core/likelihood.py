r"""Bandwidth and C by marginal likelihood: Gaussian-process regression of the rows on themselves, no outlier needed.

The process has prior :math:`\tau^2 K / \lambda` and noise :math:`\tau^2 / C`. Every machine is judged by how it would
rebuild its rows, whatever its own target (a constant target is likeliest at an infinite bandwidth) and without its
variance. Since a row is rebuilt from itself there is no noise, and the likelihood hardly ever stops rising with C: the
paper's range of C is the prior. So a bandwidth is chosen at the end of that range, whatever C is then used.
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
    "NEIGHBOURS",
    "likeliest_bandwidth",
    "likeliest_cost",
    "log_marginal_likelihood",
    "nearest_distance",
    "sample",
]

#: Values of C to choose among: the paper's.
COSTS = tuple(2.0**k for k in range(-5, 6))

#: Bandwidths to choose among, in mean distances between rows.
FACTORS = tuple(2.0 ** (k / 2) for k in range(-4, 5))

#: Distances between nearest neighbors that a local bandwidth may span.
NEIGHBOURS = 5.0

#: Rows that the likelihood looks at: a few factorisations of a matrix of that size.
LARGEST = 500


def likeliest_bandwidth(kernel: Radial, Z: Array, w: Array, *, lam: float, local: bool = False) -> float:
    """The bandwidth under which rows `Z`, row i counted ``w[i]`` times, are likeliest to rebuild themselves.

    Rebuilding rows from themselves asks for hardly more than a linear map, and so for a wide kernel, however finely the
    rows show where they are and where not. A `local` bandwidth spans at most `NEIGHBOURS` distances between nearest
    neighbors, or half the mean distance if that is more: narrower kernels learn their rows by heart.
    """
    mean = bandwidth("mean", kernel, Z, w)
    candidates = [mean * factor for factor in FACTORS]
    if local:
        widest = max(NEIGHBOURS * nearest_distance(kernel, Z, w), 0.5 * mean)
        candidates = [sigma for sigma in candidates if sigma <= widest]

    def likelihood(sigma: float) -> float:
        return log_marginal_likelihood(kernel.with_sigma(sigma)(Z, Z), Z, w, C=COSTS[-1], lam=lam)

    return float(max(candidates, key=likelihood))


def nearest_distance(kernel: Radial, Z: Array, w: Array) -> float:
    """Mean distance from a row to the nearest one that differs from it; infinite when all rows coincide."""
    xp = namespace(Z)
    D = kernel.distances(Z, Z)
    alike = xp.finfo(D.dtype).eps ** 0.5 * xp.max(D)
    nearest = xp.min(xp.where(alike >= D, xp.full_like(D, math.inf), D), axis=1)
    return float(w @ nearest / xp.sum(w))


def likeliest_cost(kernel: Kernel, Z: Array, w: Array, *, lam: float) -> float:
    """The C of the paper's range under which the rows are likeliest; one eigendecomposition serves every C."""
    spectrum = Spectrum.of(kernel(Z, Z), Z, w, NoVariance(), lam=lam)
    return max(COSTS, key=lambda C: spectrum.log_marginal_likelihood(C=C))


def log_marginal_likelihood(K: Array, T: Array, w: Array, *, C: float, lam: float) -> float:
    """Log density of targets `T` at the signal variance that maximises it, as `Spectrum` gives it, for a single C."""
    xp = namespace(K)
    # In double precision: the noise of a row of large weight is less than single precision leaves of the kernel.
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


def sample(Z: Array, w: Array, *, size: int = LARGEST) -> tuple[Array, Array] | None:
    """Indices and counts of `size` draws from the weighted rows; None when there are no more rows than that.

    The rows are ranked along one fixed direction and drawn at equal steps of their summed weight: the draw depends on
    the set of rows alone, not on their order, and a row of weight w is drawn as w copies would be. When no more than
    `size` rows are distinct none is drawn: these are one copy of each, and their weights.
    """
    if Z.shape[0] <= size:
        return None
    xp = namespace(Z)
    # A direction that no feature dominates, along which different rows seldom tie.
    direction = xp.cos(xp.arange(1, Z.shape[1] + 1, dtype=Z.dtype, device=device(Z)))
    order = xp.argsort(Z @ direction)
    rows = xp.take(Z, order, axis=0)
    last = xp.concat([xp.any(rows[1:, :] != rows[:-1, :], axis=1), xp.ones(1, dtype=xp.bool, device=device(Z))])
    order, reached = order[last], xp.cumulative_sum(xp.take(w, order))[last]
    if order.shape[0] <= size:
        copies = reached - xp.concat([xp.zeros_like(reached[:1]), reached[:-1]])
        return order, xp.maximum(copies, xp.take(w, order))  # a weight beside far larger ones is lost in their sum
    steps = (xp.arange(size, dtype=w.dtype, device=device(w)) + 0.5) * (reached[-1] / size)
    steps = steps * (1 - 8 * xp.finfo(w.dtype).eps)  # whole numbers are common, and rounding must not lift one
    drawn = xp.clip(xp.searchsorted(reached, steps), max=order.shape[0] - 1)
    places, counts = xp.unique_counts(drawn)
    return xp.take(order, places), xp.astype(counts, w.dtype)
