"""From what the user says about a kernel (a name, an object, a function, a bandwidth rule) to the kernel itself."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from ..core import kernels as k
from ..core.choosing import BANDWIDTH_RULES, LIKELIHOOD
from .checks import check_number

__all__ = ["is_precomputed", "read_cost", "read_kernel"]

_KERNELS = {"rbf": k.RBF, "laplacian": k.Laplacian, "polynomial": k.Polynomial, "linear": k.Linear}


def is_precomputed(estimator: Any) -> bool:
    """Whether the rows that the estimator is given are kernel values already."""
    return isinstance(estimator.kernel, str) and estimator.kernel == "precomputed"


def read_kernel(estimator: Any) -> k.Kernel:
    """The kernel that `estimator.kernel` and `estimator.sigma` stand for; its bandwidth may be a rule by name."""
    kernel = _named_kernel(estimator)
    if not isinstance(kernel, k.Radial):
        return kernel
    sigma = kernel.sigma
    if isinstance(sigma, str) and sigma in BANDWIDTH_RULES:
        return kernel
    number = isinstance(sigma, numbers.Real) and not isinstance(sigma, bool | np.bool_)
    if not number or not 0 < float(sigma) < float("inf"):
        listed = ", ".join(repr(c) for c in BANDWIDTH_RULES)
        name = type(estimator).__name__
        raise ValueError(f"{name}: sigma must be a number in (0, inf) or one of {listed}; got {sigma!r}")
    return kernel.with_sigma(float(sigma))


def read_cost(estimator: Any) -> float | str:
    """The number that `estimator.C` is, or the rule that it names."""
    if not isinstance(estimator.C, str):
        return check_number(estimator, "C", 0, float("inf"))
    if estimator.C != LIKELIHOOD:
        name = type(estimator).__name__
        raise ValueError(f"{name}: C must be a number in (0, inf) or {LIKELIHOOD!r}, got {estimator.C!r}")
    return LIKELIHOOD


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
    return k.UserKernel(kernel, name)
