"""Rules that choose the bandwidth of a radial kernel, and C, from the training rows."""

from __future__ import annotations

from .arrays import Array, namespace
from .bandwidth import BANDWIDTHS, bandwidth
from .kernels import Kernel, Precomputed, is_radial
from .likelihood import likeliest_bandwidth, likeliest_cost, sample

__all__ = ["BANDWIDTH_RULES", "COST_RULES", "choose_cost", "choose_kernel"]

#: Name of the rule that maximises the marginal likelihood, for C and for the bandwidth.
LIKELIHOOD = "likelihood"
#: Names of all rules for C.
COST_RULES = ("auto", LIKELIHOOD)
#: The rule "auto": C is the number of rows divided by `_ROWS_PER_UNIT`, between the two bounds (docs/defaults.md gives
#: the measurements).
_ROWS_PER_UNIT, _LEAST_COST, _MOST_COST = 64, 8.0, 32.0
#: Bandwidth rules that use the likelihood, and whether nearest-neighbor distances bound the bandwidth.
_LIKELIEST = {"local": True, LIKELIHOOD: False}
#: Names of all bandwidth rules.
BANDWIDTH_RULES = (*_LIKELIEST, *BANDWIDTHS)


def choose_kernel(kernel: Kernel, Z: Array, w: Array, *, lam: float = 1.0) -> Kernel:
    """Return the kernel with a numeric bandwidth; a rule computes it from rows `Z` with weights `w`."""
    if not is_radial(kernel) or not isinstance(kernel.sigma, str):
        return kernel
    if kernel.sigma in _LIKELIEST:
        local = _LIKELIEST[kernel.sigma]
        return kernel.with_sigma(likeliest_bandwidth(kernel, *_sampled(kernel, Z, w), lam=lam, local=local))
    return kernel.with_sigma(bandwidth(kernel.sigma, kernel, Z, w))


def choose_cost(C: float | str, kernel: Kernel, Z: Array, w: Array, *, lam: float, total: float) -> float:
    """Return C as a number; a rule computes it from rows `Z` with weights `w`, or from the `total` weight."""
    if not isinstance(C, str):
        return C
    if C == LIKELIHOOD:
        return likeliest_cost(kernel, *_sampled(kernel, Z, w), lam=lam)
    return min(max(total / _ROWS_PER_UNIT, _LEAST_COST), _MOST_COST)


def _sampled(kernel: Kernel, Z: Array, w: Array) -> tuple[Array, Array]:
    """Return the rows for the likelihood and their weights; of a precomputed kernel, the rows and columns."""
    drawn = sample(Z, w)
    if drawn is None:
        return Z, w
    xp = namespace(Z)
    part = xp.take(Z, drawn[0], axis=0)
    return xp.take(part, drawn[0], axis=1) if isinstance(kernel, Precomputed) else part, drawn[1]
