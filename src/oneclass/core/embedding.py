r"""Variance embeddings: the matrix M of the family's one equation, and the shrinkage that it acts by.

Everywhere a row of weight w stands for w copies of itself, so with W = diag(w) the machines solve
:math:`((W + M/C) K + \lambda I / C) A = W T`, and only :math:`S = (W + M/C)^{-1}` is ever needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .arrays import Array, add_to_diagonal, device, namespace, ones
from .cholesky import cho_solve, cholesky

__all__ = ["Embedding", "NoVariance", "Scatter", "Shrink", "UserLaplacian", "WithinVariance"]


@dataclass(frozen=True)
class Shrink:
    r"""The symmetric positive definite :math:`S = (W + M/C)^{-1}`, as ``diag(d) + V Z V'`` or as a full matrix.

    The first form has few columns in V; the second keeps `full` and is for a Laplacian without structure.
    """

    d: Array
    V: Array
    Z: Array
    full: Array | None = None

    def __matmul__(self, T: Array) -> Array:
        """``S T``."""
        if self.full is not None:
            return self.full @ T
        return self.d[:, None] * T + self.V @ (self.Z @ (self.V.T @ T))

    def add_block(self, G: Array, a: int, b: int, scale: float) -> None:
        """Add ``scale S``, rows a to b and columns 0 to b, to that block `G` of a Gram matrix, in place."""
        if self.full is not None:
            G += scale * self.full[a:b, :b]
            return
        if self.V.shape[1]:
            G += (self.V[a:b, :] @ (scale * self.Z)) @ self.V[:b, :].T
        add_to_diagonal(G[:, a:], scale * self.d[a:b])

    def diagonal(self) -> Array:
        """Diagonal of S."""
        if self.full is not None:
            return namespace(self.full).linalg.diagonal(self.full)
        return self.d + namespace(self.d).sum((self.V @ self.Z) * self.V, axis=1)


class Embedding(Protocol):
    """A choice of M for n weighted rows."""

    def apply(self, B: Array, w: Array) -> Array:
        """``M B``, for n rows of these weights."""
        ...

    def shrink(self, w: Array, *, C: float) -> Shrink:
        """S for one value of C."""
        ...


@dataclass(frozen=True)
class NoVariance:
    """``M = 0``."""

    def apply(self, B: Array, w: Array) -> Array:
        """Zeros."""
        return namespace(B).zeros_like(B)

    def shrink(self, w: Array, *, C: float) -> Shrink:
        """``S = W^-1``."""
        nothing = w[:, None][:, :0]
        return Shrink(1 / w, nothing, nothing[:0, :])


@dataclass(frozen=True)
class Scatter:
    """Which variance to embed: the scatter of the rows inside clusters, about their own mean or the global one.

    A cluster's scatter has the paper's share n_p / n for `subclass` (model_SV), and 1 / n for `class` (model_CVdecomp:
    one cluster, `per_row`). `weight` multiplies the whole term; 1 is the paper.
    """

    own_mean: bool = True
    per_row: bool = False
    weight: float = 1.0

    def shares(self, sizes: Array) -> Array:
        """The weight of each cluster's scatter, for clusters of these sizes."""
        n = namespace(sizes).sum(sizes)
        return self.weight * (ones(sizes) / n if self.per_row else sizes / n)


@dataclass(frozen=True)
class WithinVariance:
    """The M of a scatter, for rows of known clusters."""

    membership: Array  # n x k, one-hot
    scatter: Scatter = Scatter()

    def _shares(self, w: Array) -> Array:
        return self.scatter.shares(w @ self.membership)

    def apply(self, B: Array, w: Array) -> Array:
        """Deviations from the mean(s), in their share."""
        xp = namespace(B)
        pull = (w * (self.membership @ self._shares(w)))[:, None]
        if self.scatter.own_mean:
            means = ((self.membership * w[:, None]).T @ B) / (w @ self.membership)[:, None]
            deviations = self.membership @ -means
            deviations += B
            deviations *= pull
            return deviations
        deviations = pull * (B - (w @ B) / xp.sum(w))
        return deviations - w[:, None] * (xp.sum(deviations, axis=0) / xp.sum(w))

    def shrink(self, w: Array, *, C: float) -> Shrink:
        """S: deviations from the mean(s) shrink by ``a = 1 / (1 + omega / C)``, the means stay."""
        xp = namespace(w)
        a = 1 / (1 + self._shares(w) / C)
        a_row = self.membership @ a
        if self.scatter.own_mean:
            sizes = w @ self.membership
            Z = xp.eye(a.shape[0], dtype=w.dtype, device=device(w)) * ((1 - a) / sizes)
            return Shrink(a_row / w, self.membership, Z)
        # Woodbury around diag(w / a): global centring is a correction of rank two, spanned by a and 1 - a.
        n = float(xp.sum(w))
        V = xp.stack([a_row, 1 - a_row], axis=1)
        keep, lose = float(w @ a_row), float(w @ (1 - a_row))
        # With u = 1 / a: M/C = diag(w (u-1)) - (w g' + g w')/n + w w' sum(g)/n^2, where g = w (u - 1).
        g = w * (1 - a_row) / a_row
        total = float(xp.sum(g))
        # Middle matrix Q in the basis (w, g); S = D - D U (Q^-1 + U' D U)^-1 U' D with D = diag(a / w).
        UDU = np.array([[keep, lose], [lose, float(g @ (1 - a_row))]])
        Q = np.array([[total / n**2, -1 / n], [-1 / n, 0.0]])
        middle = -np.linalg.solve(np.eye(2) + Q @ UDU, Q)
        return Shrink(a_row / w, V, xp.asarray(middle.tolist(), dtype=w.dtype, device=device(w)))


@dataclass(frozen=True)
class UserLaplacian:
    """Any symmetric positive semi-definite M that the user gives (the paper: "any Laplacian matrix")."""

    M: Array
    weight: float = 1.0

    def apply(self, B: Array, w: Array) -> Array:
        """The user's product, times the weight."""
        return self.weight * (self.M @ B)

    def shrink(self, w: Array, *, C: float) -> Shrink:
        """S as a full matrix; fails with ``LinAlgError`` when M is not positive semi-definite, up to rounding."""
        xp = namespace(w)
        largest = xp.max(xp.abs(xp.linalg.diagonal(self.M)))
        rounding = xp.finfo(w.dtype).eps ** 0.5 * xp.where(largest > 0, largest, xp.ones_like(largest))
        cholesky(_plus_diagonal(1.0, self.M, rounding * ones(w)))
        L = cholesky(_plus_diagonal(self.weight / C, self.M, w))
        full = cho_solve(L, xp.eye(w.shape[0], dtype=w.dtype, device=device(w)))
        nothing = w[:, None][:, :0]
        return Shrink(w, nothing, nothing[:0, :], full)


def _plus_diagonal(scale: float, M: Array, d: Array) -> Array:
    """``scale M + diag(d)``, with no second matrix for the diagonal."""
    G = scale * M
    add_to_diagonal(G, d)
    return G
