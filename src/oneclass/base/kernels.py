"""Reading of the parameters `kernel`, `sigma` and `C` into kernels, bandwidths and costs."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Protocol, TypeAlias

import numpy as np

from ..core import kernels as k
from ..core.arrays import Array
from ..core.data_choices import BANDWIDTH_RULES, COST_RULES
from .checks import ChoiceError, check_number

__all__ = ["HasCost", "HasKernel", "KernelChoice", "is_precomputed", "read_cost", "read_kernel"]

#: The parameter `kernel`: a name, a kernel object of this library, or a function of two sets of rows.
KernelChoice: TypeAlias = str | k.Kernel | Callable[[Array, Array], Array]


class HasKernel(Protocol):
    """An estimator with the parameters `kernel` and `sigma`."""

    @property
    def kernel(self) -> KernelChoice:
        """The kernel."""
        ...

    @property
    def sigma(self) -> float | str:
        """The bandwidth, or the name of a bandwidth rule; unused by kernels without a bandwidth."""
        ...


class HasCost(Protocol):
    """An estimator with the parameter `C`, the weight of errors."""

    @property
    def C(self) -> float | str:
        """A number, or the name of a rule that computes one."""
        ...

    @property
    def _cost_by_rule(self) -> bool:
        """Whether `C` may be the name of a rule."""
        ...


_RADIAL: dict[str, type[k.RBF] | type[k.Laplacian]] = {"rbf": k.RBF, "laplacian": k.Laplacian}
_PLAIN: dict[str, type[k.Polynomial] | type[k.Linear]] = {"polynomial": k.Polynomial, "linear": k.Linear}

#: Classes of kernels without a bandwidth. An `isinstance` check against a protocol would be much slower.
_Plain = k.Polynomial | k.Linear | k.Precomputed | k.UserKernel


def is_precomputed(estimator: HasKernel) -> bool:
    """Whether `X` holds kernel values instead of rows."""
    return isinstance(estimator.kernel, str) and estimator.kernel == "precomputed"


def read_kernel(estimator: HasKernel) -> k.Kernel:
    """The kernel given by `estimator.kernel` and `estimator.sigma`; its bandwidth may be the name of a rule."""
    kernel = _named_kernel(estimator)
    if isinstance(kernel, _Plain):
        return kernel
    sigma = kernel.sigma
    if isinstance(sigma, str) and sigma in BANDWIDTH_RULES:
        return kernel
    number = isinstance(sigma, numbers.Real) and not isinstance(sigma, bool | np.bool_)
    if not number or not 0 < float(sigma) < float("inf"):
        listed = ", ".join(repr(c) for c in BANDWIDTH_RULES)
        name = type(estimator).__name__
        raise ChoiceError(f"{name}: sigma must be a number in (0, inf) or one of {listed}; got {sigma!r}")
    return kernel.with_sigma(float(sigma))


def read_cost(estimator: HasCost) -> float | str:
    """The checked value of `estimator.C`: a number or the name of a rule."""
    if not isinstance(estimator.C, str) or not estimator._cost_by_rule:
        return check_number(estimator, "C", 0, float("inf"))
    if estimator.C not in COST_RULES:
        name, listed = type(estimator).__name__, ", ".join(repr(c) for c in COST_RULES)
        raise ChoiceError(f"{name}: C must be a number in (0, inf) or one of {listed}; got {estimator.C!r}")
    return estimator.C


def _named_kernel(estimator: HasKernel) -> k.Radial | _Plain:
    """The kernel with its bandwidth as given: a number or the name of a rule."""
    kernel = estimator.kernel
    name = type(estimator).__name__
    if isinstance(kernel, str):
        if kernel == "precomputed":
            return k.Precomputed()
        if kernel not in _RADIAL and kernel not in _PLAIN:
            listed = ", ".join(repr(c) for c in (*_RADIAL, *_PLAIN, "precomputed"))
            raise ChoiceError(f"{name}: kernel must be one of {listed}, or a callable; got {kernel!r}")
        if kernel in _RADIAL:
            return _RADIAL[kernel](sigma=estimator.sigma)
        return _PLAIN[kernel]()
    if isinstance(kernel, k.Radial | k.Polynomial | k.Linear):
        return kernel
    if not callable(kernel):
        raise ChoiceError(f"{name}: kernel must be a name or a callable k(X, Y), got {kernel!r}")
    return k.UserKernel(kernel, name)
