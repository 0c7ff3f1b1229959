r"""Variance embeddings: the matrix M of the linear system, and the shrinkage matrix S that follows from it.

A row of weight w is equivalent to w copies of the row. With W = diag(w) the machines solve
:math:`((W + M/C) K + \lambda I / C) A = W T`, and this needs only :math:`S = (W + M/C)^{-1}`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from .arrays import Array, add_to_diagonal, device, namespace, ones
from .cholesky import cho_solve, cholesky
from .stored import Floats, Within

__all__ = [
    "Embedding",
    "NoVariance",
    "NotLaplacianError",
    "Scatter",
    "Structured",
    "UserLaplacian",
    "WithinVariance",
    "without_zeros",
]


@dataclass(frozen=True)
class Structured:
    """A symmetric matrix with one row for each training row, stored as ``diag(d) + V Z V'`` or in full.

    V has few columns. The form `full` is for a user's Laplacian without structure.
    """

    d: Annotated[Array, Floats("n")]
    V: Annotated[Array, Floats("n _v?")]
    Z: Annotated[Array, Floats("_v? _v?")]
    full: Annotated[Array, Floats("n n")] | None = None

    @classmethod
    def diagonal_only(cls, d: Array) -> Self:
        """Return the matrix ``diag(d)``."""
        nothing = d[:, None][:, :0]
        return cls(d, nothing, nothing[:0, :])

    def __matmul__(self, B: Array) -> Array:
        """Return the product with a matrix."""
        if self.full is not None:
            return self.full @ B
        product = self.V @ (self.Z @ (self.V.T @ B))
        product += self.d[:, None] * B
        return product

    def add_block(self, G: Array, a: int, b: int, scale: float) -> None:
        """Add rows a to b and columns 0 to b, times `scale`, to that block `G` of a Gram matrix, in place."""
        if self.full is not None:
            G += scale * self.full[a:b, :b]
            return
        if self.V.shape[1]:
            G += (self.V[a:b, :] @ (scale * self.Z)) @ self.V[:b, :].T
        add_to_diagonal(G[:, a:], scale * self.d[a:b])

    def added_to(self, G: Array, *, scale: float = 1.0, out: Array | None = None) -> Array:
        """Return ``G`` plus `scale` times this matrix, for host matrices; written to `out` if it is given."""
        if self.full is not None:
            return np.add(G, scale * self.full, out=out)
        total = np.matmul(self.V @ (scale * self.Z), self.V.T, out=out)
        total += G
        add_to_diagonal(total, scale * self.d)
        return total

    def inside(self, places: Array) -> Array:
        """Return the diagonal blocks for groups of rows (groups x size), as groups x size x size."""
        xp = namespace(self.d)
        if self.full is not None:
            return self.full[places[:, :, None], places[:, None, :]]
        groups, size = places.shape
        V = xp.reshape(xp.take(self.V, xp.reshape(places, (-1,)), axis=0), (groups, size, self.V.shape[1]))
        d = xp.reshape(xp.take(self.d, xp.reshape(places, (-1,))), (groups, size))
        return V @ self.Z @ xp.matrix_transpose(V) + d[:, :, None] * xp.eye(size, dtype=d.dtype, device=device(d))

    def diagonal(self) -> Array:
        """Return the diagonal."""
        if self.full is not None:
            return namespace(self.full).linalg.diagonal(self.full)
        return self.d + namespace(self.d).sum((self.V @ self.Z) * self.V, axis=1)


class Embedding(Protocol):
    """A choice of M for n weighted rows."""

    def laplacian(self, w: Array) -> Structured:
        """Return M for rows of these weights."""
        ...

    def shrink(self, w: Array, *, C: float) -> Structured:
        """Return the positive definite S for one value of C."""
        ...


@dataclass(frozen=True)
class NoVariance:
    """No variance term: ``M = 0``."""

    def laplacian(self, w: Array) -> Structured:
        """Return the zero matrix."""
        return Structured.diagonal_only(0 * w)

    def shrink(self, w: Array, *, C: float) -> Structured:
        """Return ``S = W^-1``."""
        return Structured.diagonal_only(1 / w)


@dataclass(frozen=True)
class Scatter:
    """The variance to embed: the scatter of the rows inside clusters, about each cluster's own or the global mean.

    The share of a cluster's scatter is n_p / n for `subclass` (paper, model_SV) and 1 / n for `class` (paper,
    model_CVdecomp: one cluster, `per_row`). `weight` multiplies the whole term; it is 1 in the paper.
    """

    own_mean: bool = True
    per_row: bool = False
    weight: Annotated[float, Within(0)] = 1.0

    def shares(self, sizes: Array) -> Array:
        """Return the weight of each cluster's scatter, for clusters of these sizes."""
        n = namespace(sizes).sum(sizes)
        return self.weight * (ones(sizes) / n if self.per_row else sizes / n)

    def columns(self, sizes: Array, of_clusters: Array) -> Array:
        """Return the columns V in whose span M changes when rows are removed.

        `of_clusters` holds sums over the rows of each cluster, one column per cluster. With own means these are the
        columns V. With the global mean there are two columns: the sum over clusters, and the sum weighted by shares.
        """
        if self.own_mean:
            return of_clusters
        xp = namespace(of_clusters)
        return xp.stack([xp.sum(of_clusters, axis=-1), of_clusters @ self.shares(sizes)], axis=-1)

    def change(self, sizes: Array, members: Array, left: Array) -> Array:
        """Return the change of M when rows of these clusters are removed, with weights `left`.

        `members` is one-hot (groups x size x clusters). The change is the scatter of the remaining rows minus that of
        all rows, in the basis of the removed rows and of `columns`. Clusters keep their shares.
        """
        xp = namespace(sizes)
        shares = self.shares(sizes)
        gone = members * left[:, :, None]
        pulls = left * (members @ shares)
        rows = -pulls[:, :, None] * xp.eye(left.shape[1], dtype=left.dtype, device=device(left))
        if not self.own_mean:
            ways = xp.stack([left, pulls], axis=2)  # entries of the removed rows in the two columns
            n, total = xp.sum(sizes), sizes @ shares
            rest, pull = n - xp.sum(left, axis=1), total - xp.sum(pulls, axis=1)
            after = _middle(rest, pull)
            across = -(ways @ after)
            inside = after - _middle(n + 0 * rest, total + 0 * rest)
            return _blocks(rows - across @ xp.matrix_transpose(ways), across, inside)
        rest = sizes - xp.sum(gone, axis=1)
        # An emptied cluster has no scatter.
        some = rest > xp.finfo(sizes.dtype).eps * 16 * sizes
        each = xp.where(some, shares / xp.where(some, rest, xp.ones_like(rest)), xp.zeros_like(rest))
        across = gone * each[:, None, :]
        inside = (shares / without_zeros(sizes) - each)[:, :, None] * xp.eye(
            sizes.shape[0], dtype=left.dtype, device=device(left)
        )
        return _blocks(rows - across @ xp.matrix_transpose(gone), across, inside)


@dataclass(frozen=True)
class WithinVariance:
    """The matrix M of a scatter, for rows with known clusters."""

    membership: Array  # n x k, one-hot
    scatter: Scatter = Scatter()

    def laplacian(self, w: Array) -> Structured:
        """Return M: deviations from the mean(s), weighted by the shares."""
        xp, sizes = namespace(w), w @ self.membership
        shares = self.scatter.shares(sizes)
        g = w * (self.membership @ shares)
        if self.scatter.own_mean:
            Z = xp.eye(shares.shape[0], dtype=w.dtype, device=device(w)) * (-shares / sizes)
            return Structured(g, w[:, None] * self.membership, Z)
        return Structured(g, xp.stack([w, g], axis=1), _like(_centring(w, g), w))

    def shrink(self, w: Array, *, C: float) -> Structured:
        """Return S: it shrinks deviations from the mean(s) by ``a = 1 / (1 + omega / C)`` and keeps the means."""
        xp, sizes = namespace(w), w @ self.membership
        a = 1 / (1 + self.scatter.shares(sizes) / C)
        a_row = self.membership @ a
        if self.scatter.own_mean:
            Z = xp.eye(a.shape[0], dtype=w.dtype, device=device(w)) * ((1 - a) / sizes)
            return Structured(a_row / w, self.membership, Z)
        # The Woodbury identity for diag(w / a): global centering is a rank-two correction, spanned by a and 1 - a.
        V = xp.stack([a_row, 1 - a_row], axis=1)
        keep, lose = float(w @ a_row), float(w @ (1 - a_row))
        g = w * (1 - a_row) / a_row
        # Middle matrix Q in the basis (w, g); S = D - D U (Q^-1 + U' D U)^-1 U' D with D = diag(a / w).
        UDU = np.array([[keep, lose], [lose, float(g @ (1 - a_row))]])
        Q = _centring(w, g)
        return Structured(a_row / w, V, _like(-np.linalg.solve(np.eye(2) + Q @ UDU, Q), w))

    def columns(self, w: Array) -> Array:
        """Return the columns V of the scatter: M changes in their span, and that of the rows, when rows are removed."""
        return self.scatter.columns(w @ self.membership, w[:, None] * self.membership)

    def shrunk(self, V: Array, image: Array, shrink: Structured, *, C: float) -> Array:
        """Return the image of ``S V`` under a linear map, from the known `image` of the columns of S.

        V are the columns of `columns`. With own means, ``S V`` equals the columns of S, because S keeps the means. With
        the global mean, ``S V`` is in the span of the columns of S.
        """
        if self.scatter.own_mean:
            return image
        xp = namespace(V)
        own = xp.asarray([[1.0, 0.0], [0.0, C]], dtype=V.dtype, device=device(V))
        return image @ (own + shrink.Z @ (shrink.V.T @ V))


def without_zeros(sizes: Array) -> Array:
    """Return cluster sizes as divisors: 1 for an empty cluster, whose sums are zero."""
    return namespace(sizes).where(sizes > 0, sizes, 1.0)


def _middle(n: Array, total: Array) -> Array:
    """Return the matrix of `_centring` for arrays of sums."""
    xp = namespace(n)
    first = xp.stack([total / n**2, -1 / n], axis=1)
    return xp.stack([first, xp.stack([-1 / n, 0 * n], axis=1)], axis=1)


def _blocks(rows: Array, across: Array, inside: Array) -> Array:
    """Return symmetric matrices assembled from three blocks: rows x rows, rows x columns, columns x columns."""
    xp = namespace(rows)
    low = xp.concat([xp.matrix_transpose(across), inside], axis=2)
    return xp.concat([xp.concat([rows, across], axis=2), low], axis=1)


def _centring(w: Array, g: Array) -> NDArray[np.float64]:
    """Return Q with ``diag(g) + U Q U'`` = the scatter matrix with row weights g about the global mean, U = (w, g)."""
    n, total = (float(namespace(w).sum(of)) for of in (w, g))
    return np.array([[total / n**2, -1 / n], [-1 / n, 0.0]])


def _like(small: NDArray[np.float64], w: Array) -> Array:
    return namespace(w).asarray(small.tolist(), dtype=w.dtype, device=device(w))


class NotLaplacianError(np.linalg.LinAlgError):
    """A matrix given as variance is not positive semi-definite."""


@dataclass(frozen=True)
class UserLaplacian:
    """Any symmetric positive semi-definite M that the user gives (the paper: "any Laplacian matrix")."""

    M: Annotated[Array, Floats("_n _n")]
    weight: Annotated[float, Within(0)] = 1.0

    def laplacian(self, w: Array) -> Structured:
        """Return the user's matrix times the weight."""
        return replace(Structured.diagonal_only(w), full=self.weight * self.M)

    def shrink(self, w: Array, *, C: float) -> Structured:
        """Return S as a full matrix; raise `NotLaplacianError` if M is not positive semi-definite up to rounding."""
        xp = namespace(w)
        largest = xp.max(xp.abs(xp.linalg.diagonal(self.M)))
        rounding = xp.finfo(w.dtype).eps ** 0.5 * xp.where(largest > 0, largest, xp.ones_like(largest))
        try:
            cholesky(_plus_diagonal(1.0, self.M, rounding * ones(w)))
            L = cholesky(_plus_diagonal(self.weight / C, self.M, w))
        except np.linalg.LinAlgError:
            raise NotLaplacianError("variance must be symmetric positive semi-definite when it is a matrix") from None
        full = cho_solve(L, xp.eye(w.shape[0], dtype=w.dtype, device=device(w)))
        return replace(Structured.diagonal_only(w), full=full)


def _plus_diagonal(scale: float, M: Array, d: Array) -> Array:
    """Return ``scale M + diag(d)``, without a second n x n matrix."""
    G = scale * M
    add_to_diagonal(G, d)
    return G
