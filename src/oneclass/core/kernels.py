"""Kernels: immutable callables ``k(X, Y)`` that return the matrix of kernel values between two sets of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Protocol, TypeGuard, runtime_checkable

import numpy as np

from .arrays import (
    Array,
    blocks,
    city_block,
    clip_above_inplace,
    device,
    exp_city_block,
    exp_inplace,
    is_host_double,
    mirror,
    namespace,
    ones,
    triangle,
)
from .stored import Mark, Positive, Sizes, Within, must

__all__ = [
    "RBF",
    "Kernel",
    "Laplacian",
    "Linear",
    "Polynomial",
    "Precomputed",
    "Radial",
    "Settled",
    "UserKernel",
    "diagonal",
    "is_radial",
    "values_among",
    "values_in_blocks",
]


#: Largest rounding error of an exponent in single precision; it is the relative error of the kernel value.
_EXPONENT_ROUNDING = 1e-5


@runtime_checkable
class Kernel(Protocol):
    """The methods that a kernel must have."""

    def __call__(self, X: Array, Y: Array) -> Array:
        """Return the matrix of kernel values."""
        ...

    def diagonal(self, X: Array) -> Array:
        """Return ``k(x, x)`` for each row."""
        ...


@runtime_checkable
class Radial(Kernel, Protocol):
    """A kernel that is a function of a distance divided by a bandwidth `sigma`."""

    @property
    def sigma(self) -> float | str:
        """The bandwidth: a number, or the name of a bandwidth rule."""
        ...

    def distances(self, X: Array, Y: Array) -> Array:
        """Return the matrix of the distances that the kernel uses."""
        ...

    def with_sigma(self, sigma: float | str) -> Radial:
        """Return the same kernel with another bandwidth."""
        ...


class Settled(Mark):
    """A kernel whose bandwidth, if it has one, is a number."""

    def check(self, value: object, sizes: Sizes) -> None:  # noqa: D102
        must(not isinstance(getattr(value, "sigma", None), str), "must have a number as sigma")


def is_radial(kernel: Kernel) -> TypeGuard[Radial]:
    """Whether a kernel has a bandwidth. This is faster than `isinstance` with the protocol."""
    return hasattr(kernel, "sigma")


def _minus_half_squared_distances(X: Array, Y: Array, *, unit: float = 1.0) -> Array:
    """Return ``-‖x - y‖² / (2 unit²)`` for all pairs, as one matrix product of rows extended by their squared norms.

    The value of a pair depends on this pair only, up to rounding. Double precision is used if the squared norms of rows
    `Y` would have rounding errors above `_EXPONENT_ROUNDING`. Rows `X` that are much further away do not need it.
    """
    xp = namespace(X, Y)
    if isinstance(X, np.ndarray) and X.shape[0] == 1:  # for a single row, direct differences are faster
        apart = (Y - X) / unit
        return -0.5 * np.einsum("ij,ij->i", apart, apart)[None, :]
    # Distances do not depend on the origin, but rounding does: use the mean of Y as the origin.
    one = ones(Y)
    origin = (one @ Y) / Y.shape[0]
    X, Y = X - origin, Y - origin
    own, eps = X.dtype, xp.finfo(X.dtype).eps
    if eps > _EXPONENT_ROUNDING**2 and eps * float(xp.max(xp.vecdot(Y, Y))) > _EXPONENT_ROUNDING * unit**2:
        X, Y = xp.astype(X, xp.float64), xp.astype(Y, xp.float64)
    if unit != 1:
        X, Y = X / unit, Y / unit
    # Reduce the squared norms by slightly more than rounding, so that a row and its copy have distance zero, not the
    # square root of a rounding error, 1e-8. The reduction is relative to each row's norm: an absolute one, from the
    # largest norm, would set the distances of all other rows of the batch to zero.
    hair = 1 - 8 * xp.finfo(X.dtype).eps
    x, y = -hair / 2 * xp.vecdot(X, X)[:, None], -hair / 2 * xp.vecdot(Y, Y)[:, None]
    left = xp.concat([X, x, ones(X)[:, None]], axis=1)
    right = xp.concat([Y, one[:, None], y], axis=1)
    return xp.astype(clip_above_inplace(left @ right.T, 0.0), own, copy=False)


@dataclass(frozen=True)
class RBF:
    """``exp(-‖x - y‖² / (2 sigma²))``; `sigma` is a number or the name of a bandwidth rule.

    >>> import numpy as np
    >>> RBF(sigma=1.0)(np.array([[0.0], [1.0]]), np.array([[0.0]])).round(3)
    array([[1.   ],
           [0.607]])
    """

    sigma: Positive | str = "mean"

    def __call__(self, X: Array, Y: Array) -> Array:
        """Matrix of kernel values."""
        return exp_inplace(_minus_half_squared_distances(X, Y, unit=float(self.sigma)))

    def diagonal(self, X: Array) -> Array:
        """``k(x, x)``, one."""
        return ones(X)

    def distances(self, X: Array, Y: Array) -> Array:
        """Euclidean distances."""
        D = _minus_half_squared_distances(X, Y)
        D *= -2
        return namespace(D).sqrt(D)

    def with_sigma(self, sigma: float | str) -> RBF:
        """The same kernel with another bandwidth."""
        return replace(self, sigma=sigma)


@dataclass(frozen=True)
class Laplacian:
    """``exp(-‖x - y‖₁ / sigma)``; `sigma` is a number or the name of a bandwidth rule.

    >>> import numpy as np
    >>> Laplacian(sigma=1.0)(np.array([[0.0], [1.0]]), np.array([[0.0]])).round(3)
    array([[1.   ],
           [0.368]])
    """

    sigma: Positive | str = "mean"

    def __call__(self, X: Array, Y: Array) -> Array:
        """Matrix of kernel values."""
        return exp_city_block(X, Y, -1 / float(self.sigma))

    def diagonal(self, X: Array) -> Array:
        """``k(x, x)``, one."""
        return ones(X)

    def distances(self, X: Array, Y: Array) -> Array:
        """City-block distances."""
        return city_block(X, Y)

    def with_sigma(self, sigma: float | str) -> Laplacian:
        """The same kernel with another bandwidth."""
        return replace(self, sigma=sigma)


@dataclass(frozen=True)
class Polynomial:
    """``(x·y / d + coef0)^degree`` over d features.

    >>> import numpy as np
    >>> Polynomial(degree=2)(np.array([[1.0, 1.0]]), np.array([[1.0, 3.0]]))
    array([[9.]])
    """

    degree: Annotated[int, Within(1, 2**31)] = 3
    coef0: float = 1.0

    def __call__(self, X: Array, Y: Array) -> Array:
        """Matrix of kernel values."""
        return (X @ Y.T / X.shape[1] + self.coef0) ** self.degree

    def diagonal(self, X: Array) -> Array:
        """``k(x, x)``."""
        return (namespace(X).sum(X * X, axis=1) / X.shape[1] + self.coef0) ** self.degree


@dataclass(frozen=True)
class Linear:
    """``x·y``.

    >>> import numpy as np
    >>> Linear()(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[11.]])
    """

    def __call__(self, X: Array, Y: Array) -> Array:
        """Matrix of kernel values."""
        return X @ Y.T

    def diagonal(self, X: Array) -> Array:
        """``k(x, x)``."""
        return namespace(X).sum(X * X, axis=1)


@dataclass(frozen=True)
class Precomputed:
    """A precomputed kernel: rows hold their kernel values with the training rows, one column for each."""

    def __call__(self, X: Array, Y: Array) -> Array:
        """Return the first columns of `X`, one for each training row in `Y`."""
        return X[:, : Y.shape[0]]

    def diagonal(self, X: Array) -> Array:
        """Raise ValueError: the kernel value of a new row with itself is not known."""
        raise ValueError("kernel='precomputed' does not tell k(z, z); use loss='reconstruction'")


@dataclass(frozen=True)
class UserKernel:
    """A kernel given by a user's function, which returns the matrix of kernel values of two sets of rows."""

    function: Callable[[Array, Array], Array]
    owner: str = ""  # the class to name in error messages

    def __call__(self, X: Array, Y: Array) -> Array:
        """Return the matrix of kernel values after checking its shape and that all values are finite."""
        xp = namespace(X)
        K = xp.asarray(self.function(X, Y), dtype=X.dtype)
        if K.shape != (X.shape[0], Y.shape[0]):
            raise ValueError(
                f"{self._name} must return a matrix of shape {(X.shape[0], Y.shape[0])}, one row for each row of its "
                f"first argument; got {tuple(K.shape)}"
            )
        if not bool(xp.all(xp.isfinite(K))):
            raise ValueError(f"{self._name} must return finite values, but returned NaN or infinity")
        return K

    @property
    def _name(self) -> str:
        owner = f"{self.owner}: " if self.owner else ""
        return f"{owner}kernel {getattr(self.function, '__name__', repr(self.function))}"

    def diagonal(self, X: Array) -> Array:
        """Return ``k(x, x)`` for each row, computed in small blocks."""
        xp = namespace(X)
        n = X.shape[0]
        parts = [X[a : min(a + 64, n), :] for a in range(0, n, 64)]
        return xp.concat([xp.linalg.diagonal(self(part, part)) for part in parts])


def diagonal(kernel: Kernel, Z: Array) -> Array:
    """Return ``k(z, z)`` of the training rows; for a precomputed kernel, the diagonal of the matrix `Z`."""
    return namespace(Z).linalg.diagonal(Z) if isinstance(kernel, Precomputed) else kernel.diagonal(Z)


def values_among(kernel: Kernel, X: Array) -> Array:
    """Return the kernel matrix of rows; on the host, little more than half of it is computed, and then mirrored."""
    if not isinstance(X, np.ndarray):
        return kernel(X, X)
    K = np.empty((len(X), len(X)), dtype=X.dtype)
    for a, b in triangle(len(X), X):
        K[a:b, :b] = kernel(X[a:b], X[:b])
    mirror(K.T)
    return K


def values_in_blocks(kernel: Kernel, X: Array, Y: Array) -> Array:
    """Return the matrix of kernel values, computed in blocks of rows that fit the cache or the device's memory."""
    if isinstance(kernel, Laplacian) and is_host_double(X, Y):
        return kernel(X, Y)  # uses blocks itself
    n, m = X.shape[0], Y.shape[0]
    K = namespace(X).empty((n, m), dtype=X.dtype, device=device(X))
    for a, b in blocks(n, m, X):
        K[a:b, :] = kernel(X[a:b, :], Y)
    return K
