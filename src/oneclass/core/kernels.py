"""Kernels: frozen callables ``k(X, Y)`` that return the matrix of similarities between two sets of rows."""

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


#: Error of an exponent, and so relative error of a kernel value, above which single precision is not enough.
_ROUNDED = 1e-5


@runtime_checkable
class Kernel(Protocol):
    """What a kernel must do."""

    def __call__(self, X: Array, Y: Array) -> Array:
        """Matrix of kernel values."""
        ...

    def diagonal(self, X: Array) -> Array:
        """``k(x, x)`` of each row."""
        ...


@runtime_checkable
class Radial(Kernel, Protocol):
    """A kernel of a distance over a bandwidth `sigma`."""

    @property
    def sigma(self) -> float | str:
        """A number, or the name of a bandwidth rule."""
        ...

    def distances(self, X: Array, Y: Array) -> Array:
        """Matrix of the kernel's own distances."""
        ...

    def with_sigma(self, sigma: float | str) -> Radial:
        """The same kernel with another bandwidth."""
        ...


class Settled(Mark):
    """A kernel whose bandwidth, if it has one, is a number."""

    def check(self, value: object, sizes: Sizes) -> None:  # noqa: D102
        must(not isinstance(getattr(value, "sigma", None), str), "must have a number as sigma")


def is_radial(kernel: Kernel) -> TypeGuard[Radial]:
    """Whether a kernel has a bandwidth; to ask the protocol itself takes longer than a dozen rows."""
    return hasattr(kernel, "sigma")


def _minus_half_squared_distances(X: Array, Y: Array, *, unit: float = 1.0) -> Array:
    """``-‖x - y‖² / (2 unit²)`` of all pairs as one matrix product of rows lengthened by their norms.

    A pair's value depends on that pair alone, up to rounding of its own size. Rows `Y` whose norms single precision
    would round to more than `_ROUNDED` are measured in double precision; rows `X` far beyond them need none.
    """
    xp = namespace(X, Y)
    if isinstance(X, np.ndarray) and X.shape[0] == 1:  # nothing to share with other rows
        apart = (Y - X) / unit
        return -0.5 * np.einsum("ij,ij->i", apart, apart)[None, :]
    # Distances do not see a shift, rounding does: move the origin into the data.
    one = ones(Y)
    origin = (one @ Y) / Y.shape[0]
    X, Y = X - origin, Y - origin
    if unit != 1:
        X, Y = X / unit, Y / unit
    own, eps = X.dtype, xp.finfo(X.dtype).eps
    if eps > _ROUNDED**2 and eps * float(xp.max(xp.vecdot(Y, Y))) > _ROUNDED:
        X, Y = xp.astype(X, xp.float64), xp.astype(Y, xp.float64)
    # A hair less than their norms, by more than rounding: a row and its copy are at distance zero, not at its square
    # root, 1e-8. Each row's own hair, or one far row would bring all others of its batch together.
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
    """Rows that are kernel values already, one column for each training row."""

    def __call__(self, X: Array, Y: Array) -> Array:
        """The columns of the training rows `Y`, of which only the number matters."""
        return X[:, : Y.shape[0]]

    def diagonal(self, X: Array) -> Array:
        """Not known: the kernel of a new row with itself is not among its values with the training rows."""
        raise ValueError("kernel='precomputed' does not tell k(z, z); use loss='reconstruction'")


@dataclass(frozen=True)
class UserKernel:
    """A user's function of two sets of rows that returns their matrix of similarities."""

    function: Callable[[Array, Array], Array]
    owner: str = ""  # who to name in errors

    def __call__(self, X: Array, Y: Array) -> Array:
        """Matrix of kernel values, checked for its shape and for values that are no numbers."""
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
        """``k(x, x)``, in small blocks."""
        xp = namespace(X)
        n = X.shape[0]
        parts = [X[a : min(a + 64, n), :] for a in range(0, n, 64)]
        return xp.concat([xp.linalg.diagonal(self(part, part)) for part in parts])


def diagonal(kernel: Kernel, Z: Array) -> Array:
    """``k(z, z)`` of the training rows; of precomputed values, which are a column for each row, their own diagonal."""
    return namespace(Z).linalg.diagonal(Z) if isinstance(kernel, Precomputed) else kernel.diagonal(Z)


def values_among(kernel: Kernel, X: Array) -> Array:
    """Kernel matrix of rows, of which on the host little more than half is worked out."""
    if not isinstance(X, np.ndarray):
        return kernel(X, X)
    K = np.empty((len(X), len(X)), dtype=X.dtype)
    for a, b in triangle(len(X), X):
        K[a:b, :b] = kernel(X[a:b], X[:b])
    mirror(K.T)
    return K


def values_in_blocks(kernel: Kernel, X: Array, Y: Array) -> Array:
    """Matrix of kernel values by blocks of rows: what a value is made of stays in a cache, and leaves a device room."""
    if isinstance(kernel, Laplacian) and is_host_double(X, Y):
        return kernel(X, Y)  # knows how to part them by itself
    n, m = X.shape[0], Y.shape[0]
    K = namespace(X).empty((n, m), dtype=X.dtype, device=device(X))
    for a, b in blocks(n, m, X):
        K[a:b, :] = kernel(X[a:b, :], Y)
    return K
