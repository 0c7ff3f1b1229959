"""From what the user says about a kernel (a name, an object, a function, a bandwidth rule) to the kernel itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import kernels as k
from ..core.arrays import Array
from ..core.bandwidth import BANDWIDTHS, bandwidth

__all__ = ["choose_kernel", "is_precomputed"]

_KERNELS = {"rbf": k.RBF, "laplacian": k.Laplacian, "polynomial": k.Polynomial, "linear": k.Linear}


def is_precomputed(estimator: Any) -> bool:
    """Whether the rows that the estimator is given are kernel values already."""
    return isinstance(estimator.kernel, str) and estimator.kernel == "precomputed"


def choose_kernel(estimator: Any, Z: Array, w: Array) -> k.Kernel:
    """The kernel that `estimator.kernel` and `estimator.sigma` stand for; rules by name read rows `Z`, weights `w`."""
    kernel = estimator.kernel
    name = type(estimator).__name__
    if isinstance(kernel, str):
        if kernel == "precomputed":
            return k.Precomputed()
        if kernel not in _KERNELS:
            listed = ", ".join(repr(c) for c in (*_KERNELS, "precomputed"))
            raise ValueError(f"{name}: kernel must be one of {listed}, or a callable; got {kernel!r}")
        kernel = _KERNELS[kernel]()
        if isinstance(kernel, k.Radial):
            kernel = kernel.with_sigma(estimator.sigma)
    if isinstance(kernel, k.Radial):
        return kernel.with_sigma(_choose_sigma(name, kernel, Z, w))
    if isinstance(kernel, k.Polynomial | k.Linear):
        return kernel
    if not callable(kernel):
        raise ValueError(f"{name}: kernel must be a name or a callable k(X, Y), got {kernel!r}")
    return k.UserKernel(kernel)


def _choose_sigma(name: str, kernel: k.Radial, Z: Array, w: Array) -> float:
    sigma = kernel.sigma
    if isinstance(sigma, str) and sigma in BANDWIDTHS:
        return bandwidth(sigma, kernel, Z, w)
    if isinstance(sigma, str) or not np.isreal(sigma) or not 0 < float(sigma) < float("inf"):
        listed = ", ".join(repr(c) for c in BANDWIDTHS)
        raise ValueError(f"{name}: sigma must be a number in (0, inf) or one of {listed}; got {sigma!r}")
    return float(sigma)
