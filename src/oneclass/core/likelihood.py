"""Bandwidth and C by marginal likelihood: Gaussian-process regression of the rows on themselves, no outlier needed.

Every machine is judged by how it would rebuild its rows, whatever its own target: a constant target has its largest
likelihood at an infinite bandwidth. The likelihood of rows that are rebuilt from themselves hardly ever stops rising
with C, so the paper's range of C is the prior: `COSTS` ends where the paper's grid does.
"""

from __future__ import annotations

from collections.abc import Sequence

from .arrays import Array, device, namespace
from .embedding import Embedding
from .kernels import Kernel
from .spectrum import Spectrum

__all__ = ["COSTS", "FACTORS", "likeliest", "sample", "spread"]

#: Values of C to choose among: the paper's.
COSTS = tuple(2.0**k for k in range(-5, 6))

#: Bandwidths to choose among, in mean distances between rows.
FACTORS = tuple(2.0 ** (k / 2) for k in range(-4, 5))

#: Rows that the likelihood looks at; it needs a few eigendecompositions of a matrix of that size.
LARGEST = 500


def likeliest(
    kernels: Sequence[Kernel], Z: Array, w: Array, embedding: Embedding, *, costs: Sequence[float], lam: float
) -> tuple[Kernel, float]:
    """The kernel and the C under which rows `Z`, row i counted ``w[i]`` times, are likeliest to rebuild themselves.

    One eigendecomposition a kernel serves every C. The first of equals wins.
    """
    found: list[tuple[float, Kernel, float]] = []
    for kernel in kernels:
        spectrum = Spectrum.of(kernel(Z, Z), Z, w, embedding, lam=lam)
        found += [(spectrum.log_marginal_likelihood(C=C), kernel, C) for C in costs]
    _, kernel, C = max(found, key=lambda point: point[0])
    return kernel, C


def sample(Z: Array, w: Array, *, size: int = LARGEST) -> tuple[Array, Array] | None:
    """Indices and counts of `size` draws from the weighted rows, or None when there are no more rows than that.

    The rows are ranked along one fixed direction and drawn at equal steps of their summed weight: the draw depends on
    the set of rows alone, not on their order, and a row of weight w is drawn as w copies would be.
    """
    if Z.shape[0] <= size:
        return None
    xp = namespace(Z)
    order = xp.argsort(spread(Z))
    reached = xp.cumulative_sum(xp.take(w, order))
    steps = (xp.arange(size, dtype=w.dtype, device=device(w)) + 0.5) * (reached[-1] / size)
    drawn = xp.searchsorted(reached, steps)
    places, counts = xp.unique_counts(xp.clip(drawn, max=Z.shape[0] - 1))
    return xp.take(order, places), xp.astype(counts, w.dtype)


def spread(Z: Array) -> Array:
    """Place of every row along a direction that no feature dominates and in which different rows seldom tie."""
    xp = namespace(Z)
    return Z @ xp.cos(xp.arange(1, Z.shape[1] + 1, dtype=Z.dtype, device=device(Z)))
