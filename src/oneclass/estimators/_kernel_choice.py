"""From what the user says about a kernel (a name, an object, a function, a bandwidth rule) to the kernel itself."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import kernels as k
from ..core.arrays import Array, namespace
from ..core.bandwidth import BANDWIDTHS, bandwidth
from ..core.embedding import Embedding, NoVariance, UserLaplacian
from ..core.likelihood import COSTS, FACTORS, likeliest, sample
from ._input import check_number

__all__ = ["choose_kernel", "choose_kernel_and_cost", "is_precomputed"]

_KERNELS = {"rbf": k.RBF, "laplacian": k.Laplacian, "polynomial": k.Polynomial, "linear": k.Linear}
_LIKELIHOOD = "likelihood"

Embed = Callable[[Array, Array], Embedding]


def is_precomputed(estimator: Any) -> bool:
    """Whether the rows that the estimator is given are kernel values already."""
    return isinstance(estimator.kernel, str) and estimator.kernel == "precomputed"


def choose_kernel(estimator: Any, Z: Array, w: Array) -> k.Kernel:
    """The kernel that `estimator.kernel` and `estimator.sigma` stand for; rules by name read rows `Z`, weights `w`."""
    kernel = _named_kernel(estimator)
    if _by_likelihood(kernel):
        return _likeliest(kernel, Z, w, lambda Z, w: NoVariance(), costs=COSTS, lam=1.0)[0]
    return _with_number(type(estimator).__name__, kernel, Z, w)


def choose_kernel_and_cost(estimator: Any, Z: Array, w: Array, embed: Embed) -> tuple[k.Kernel, float]:
    """The kernel and the number that `estimator.C` stands for; `embed` gives the embedding of any weighted rows."""
    kernel = _named_kernel(estimator)
    lam = check_number(estimator, "lam", 0, float("inf"))
    free = isinstance(estimator.C, str) and estimator.C == _LIKELIHOOD
    if isinstance(estimator.C, str) and not free:
        name = type(estimator).__name__
        raise ValueError(f"{name}: C must be a number in (0, inf) or {_LIKELIHOOD!r}, got {estimator.C!r}")
    costs = COSTS if free else (check_number(estimator, "C", 0, float("inf")),)
    if not _by_likelihood(kernel):
        kernel = _with_number(type(estimator).__name__, kernel, Z, w)
        if not free:
            return kernel, costs[0]
    return _likeliest(kernel, Z, w, embed, costs=costs, lam=lam)


def _named_kernel(estimator: Any) -> k.Kernel:
    """The kernel with its bandwidth as given: a number or the name of a rule."""
    kernel = estimator.kernel
    name = type(estimator).__name__
    if isinstance(kernel, str):
        if kernel == "precomputed":
            return k.Precomputed()
        if kernel not in _KERNELS:
            listed = ", ".join(repr(c) for c in (*_KERNELS, "precomputed"))
            raise ValueError(f"{name}: kernel must be one of {listed}, or a callable; got {kernel!r}")
        made: k.Kernel = _KERNELS[kernel]()
        return made.with_sigma(estimator.sigma) if isinstance(made, k.Radial) else made
    if isinstance(kernel, k.Radial | k.Polynomial | k.Linear):
        return kernel
    if not callable(kernel):
        raise ValueError(f"{name}: kernel must be a name or a callable k(X, Y), got {kernel!r}")
    return k.UserKernel(kernel)


def _by_likelihood(kernel: k.Kernel) -> bool:
    return isinstance(kernel, k.Radial) and isinstance(kernel.sigma, str) and kernel.sigma == _LIKELIHOOD


def _with_number(name: str, kernel: k.Kernel, Z: Array, w: Array) -> k.Kernel:
    if not isinstance(kernel, k.Radial):
        return kernel
    sigma = kernel.sigma
    if isinstance(sigma, str) and sigma in BANDWIDTHS:
        return kernel.with_sigma(bandwidth(sigma, kernel, Z, w))
    number = isinstance(sigma, numbers.Real) and not isinstance(sigma, bool | np.bool_)
    if not number or not 0 < float(sigma) < float("inf"):
        listed = ", ".join(repr(c) for c in (*BANDWIDTHS, _LIKELIHOOD))
        raise ValueError(f"{name}: sigma must be a number in (0, inf) or one of {listed}; got {sigma!r}")
    return kernel.with_sigma(float(sigma))


def _likeliest(
    kernel: k.Kernel, Z: Array, w: Array, embed: Embed, *, costs: tuple[float, ...], lam: float
) -> tuple[k.Kernel, float]:
    """Kernel and C of the largest marginal likelihood, judged on a sample when there are many rows."""
    drawn = sample(Z, w)
    if drawn is None:
        embedding = embed(Z, w)
    else:
        embedding = _on_sample(embed, Z, w, *drawn)
        Z, w = _rows(kernel, Z, drawn[0]), drawn[1]
    kernels = [kernel]
    if _by_likelihood(kernel) and isinstance(kernel, k.Radial):
        mean = bandwidth("mean", kernel, Z, w)
        kernels = [kernel.with_sigma(mean * factor) for factor in FACTORS]
    return likeliest(kernels, Z, w, embedding, costs=costs, lam=lam)


def _rows(kernel: k.Kernel, Z: Array, rows: Array) -> Array:
    xp = namespace(Z)
    part = xp.take(Z, rows, axis=0)
    return xp.take(part, rows, axis=1) if isinstance(kernel, k.Precomputed) else part


def _on_sample(embed: Embed, Z: Array, w: Array, rows: Array, counts: Array) -> Embedding:
    xp = namespace(Z)
    whole = embed(Z, w)
    if isinstance(whole, UserLaplacian):
        return UserLaplacian(xp.take(xp.take(whole.M, rows, axis=0), rows, axis=1), whole.weight)
    return embed(xp.take(Z, rows, axis=0), counts)
