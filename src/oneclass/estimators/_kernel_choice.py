"""From what the user says about a kernel (a name, an object, a function, a bandwidth rule) to the kernel itself."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from ..core import kernels as k
from ..core.arrays import Array, namespace
from ..core.bandwidth import BANDWIDTHS, bandwidth
from ..core.likelihood import likeliest_bandwidth, likeliest_cost, sample
from ._input import check_number

__all__ = ["choose_kernel", "choose_kernel_and_cost", "is_precomputed"]

_KERNELS = {"rbf": k.RBF, "laplacian": k.Laplacian, "polynomial": k.Polynomial, "linear": k.Linear}
_LIKELIHOOD = "likelihood"
#: Bandwidths that likelihoods choose, and whether nearest neighbours bound them.
_LIKELIEST = {"local": True, _LIKELIHOOD: False}


def is_precomputed(estimator: Any) -> bool:
    """Whether the rows that the estimator is given are kernel values already."""
    return isinstance(estimator.kernel, str) and estimator.kernel == "precomputed"


def choose_kernel(estimator: Any, Z: Array, w: Array) -> k.Kernel:
    """The kernel that `estimator.kernel` and `estimator.sigma` stand for; rules by name read rows `Z`, weights `w`."""
    kernel = _named_kernel(estimator)
    if not isinstance(kernel, k.Radial):
        return kernel
    sigma = kernel.sigma
    if isinstance(sigma, str) and sigma in _LIKELIEST:
        lam = check_number(estimator, "lam", 0, float("inf")) if hasattr(estimator, "lam") else 1.0
        rows = _sampled(kernel, Z, w)
        return kernel.with_sigma(likeliest_bandwidth(kernel, *rows, lam=lam, local=_LIKELIEST[sigma]))
    if isinstance(sigma, str) and sigma in BANDWIDTHS:
        return kernel.with_sigma(bandwidth(sigma, kernel, Z, w))
    number = isinstance(sigma, numbers.Real) and not isinstance(sigma, bool | np.bool_)
    if not number or not 0 < float(sigma) < float("inf"):
        listed = ", ".join(repr(c) for c in (*_LIKELIEST, *BANDWIDTHS))
        name = type(estimator).__name__
        raise ValueError(f"{name}: sigma must be a number in (0, inf) or one of {listed}; got {sigma!r}")
    return kernel.with_sigma(float(sigma))


def choose_cost(estimator: Any, kernel: k.Kernel, Z: Array, w: Array) -> float:
    """The number that `estimator.C` stands for."""
    lam = check_number(estimator, "lam", 0, float("inf"))
    if not isinstance(estimator.C, str):
        return check_number(estimator, "C", 0, float("inf"))
    if estimator.C != _LIKELIHOOD:
        name = type(estimator).__name__
        raise ValueError(f"{name}: C must be a number in (0, inf) or {_LIKELIHOOD!r}, got {estimator.C!r}")
    return likeliest_cost(kernel, *_sampled(kernel, Z, w), lam=lam)


def choose_kernel_and_cost(estimator: Any, Z: Array, w: Array) -> tuple[k.Kernel, float]:
    """Both, the kernel first."""
    kernel = choose_kernel(estimator, Z, w)
    return kernel, choose_cost(estimator, kernel, Z, w)


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


def _sampled(kernel: k.Kernel, Z: Array, w: Array) -> tuple[Array, Array]:
    """The rows that the likelihood looks at, and their weights; of kernel values, the columns of the same rows."""
    drawn = sample(Z, w)
    if drawn is None:
        return Z, w
    xp = namespace(Z)
    part = xp.take(Z, drawn[0], axis=0)
    return xp.take(part, drawn[0], axis=1) if isinstance(kernel, k.Precomputed) else part, drawn[1]
