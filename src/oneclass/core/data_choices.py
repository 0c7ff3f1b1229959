"""What the rows decide where a recipe leaves it to them: the bandwidth of a radial kernel, and C."""

from __future__ import annotations

from .arrays import Array, namespace
from .bandwidth import BANDWIDTHS, bandwidth
from .kernels import Kernel, Precomputed, is_radial
from .likelihood import likeliest_bandwidth, likeliest_cost, sample

__all__ = ["BANDWIDTH_RULES", "COST_RULES", "choose_cost", "choose_kernel"]

#: The name of C, and of a bandwidth, that the likelihood chooses.
LIKELIHOOD = "likelihood"
#: Names of all rules of C.
COST_RULES = ("auto", LIKELIHOOD)
#: Rows to one unit of C under the rule "auto", and its bounds: docs/defaults.md says why.
_ROWS, _LEAST, _MOST = 64, 8.0, 32.0
#: Bandwidths that likelihoods choose, and whether nearest neighbors bound them.
_LIKELIEST = {"local": True, LIKELIHOOD: False}
#: Names of all rules of bandwidth.
BANDWIDTH_RULES = (*_LIKELIEST, *BANDWIDTHS)


def choose_kernel(kernel: Kernel, Z: Array, w: Array, *, lam: float = 1.0) -> Kernel:
    """The kernel with its bandwidth as a number; rules by name read rows `Z`, weights `w`."""
    if not is_radial(kernel) or not isinstance(kernel.sigma, str):
        return kernel
    if kernel.sigma in _LIKELIEST:
        local = _LIKELIEST[kernel.sigma]
        return kernel.with_sigma(likeliest_bandwidth(kernel, *_sampled(kernel, Z, w), lam=lam, local=local))
    return kernel.with_sigma(bandwidth(kernel.sigma, kernel, Z, w))


def choose_cost(C: float | str, kernel: Kernel, Z: Array, w: Array, *, lam: float, total: float) -> float:
    """C as a number; rules by name read rows `Z`, weights `w`, or what all rows weigh in `total`."""
    if not isinstance(C, str):
        return C
    if C == LIKELIHOOD:
        return likeliest_cost(kernel, *_sampled(kernel, Z, w), lam=lam)
    return min(max(total / _ROWS, _LEAST), _MOST)


def _sampled(kernel: Kernel, Z: Array, w: Array) -> tuple[Array, Array]:
    """The rows that the likelihood looks at, and their weights; of kernel values, the columns of the same rows."""
    drawn = sample(Z, w)
    if drawn is None:
        return Z, w
    xp = namespace(Z)
    part = xp.take(Z, drawn[0], axis=0)
    return xp.take(part, drawn[0], axis=1) if isinstance(kernel, Precomputed) else part, drawn[1]
