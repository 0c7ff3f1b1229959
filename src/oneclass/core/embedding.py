r"""Variance embeddings: the matrix M of the family's one equation, and the shrinkage that it acts by.

Everywhere a row of weight w stands for w copies of itself, so with W = diag(w) the machines solve
:math:`((W + M/C) K + \lambda I / C) A = W T`, and only :math:`S = (W + M/C)^{-1}` is ever needed.
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
    """A symmetric matrix with one row for each training row, as ``diag(d) + V Z V'`` or whole.

    The first form has few columns in V; the second keeps `full` and is for a Laplacian without structure.
    """

    d: Annotated[Array, Floats("n")]
    V: Annotated[Array, Floats("n _v?")]
    Z: Annotated[Array, Floats("_v? _v?")]
    full: Annotated[Array, Floats("n n")] | None = None

    @classmethod
    def diagonal_only(cls, d: Array) -> Self:
        """``diag(d)``."""
        nothing = d[:, None][:, :0]
        return cls(d, nothing, nothing[:0, :])

    def __matmul__(self, B: Array) -> Array:
        """The product with a matrix."""
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
        """``G`` plus `scale` times this, for host matrices; written into `out` where that is given."""
        if self.full is not None:
            return np.add(G, scale * self.full, out=out)
        total = np.matmul(self.V @ (scale * self.Z), self.V.T, out=out)
        total += G
        add_to_diagonal(total, scale * self.d)
        return total

    def inside(self, places: Array) -> Array:
        """The blocks of groups of rows (groups x size), groups x size x size."""
        xp = namespace(self.d)
        if self.full is not None:
            return self.full[places[:, :, None], places[:, None, :]]
        groups, size = places.shape
        V = xp.reshape(xp.take(self.V, xp.reshape(places, (-1,)), axis=0), (groups, size, self.V.shape[1]))
        d = xp.reshape(xp.take(self.d, xp.reshape(places, (-1,))), (groups, size))
        return V @ self.Z @ xp.matrix_transpose(V) + d[:, :, None] * xp.eye(size, dtype=d.dtype, device=device(d))

    def diagonal(self) -> Array:
        """The diagonal."""
        if self.full is not None:
            return namespace(self.full).linalg.diagonal(self.full)
        return self.d + namespace(self.d).sum((self.V @ self.Z) * self.V, axis=1)


class Embedding(Protocol):
    """A choice of M for n weighted rows."""

    def laplacian(self, w: Array) -> Structured:
        """M for rows of these weights."""
        ...

    def shrink(self, w: Array, *, C: float) -> Structured:
        """The positive definite S for one value of C."""
        ...


@dataclass(frozen=True)
class NoVariance:
    """``M = 0``."""

    def laplacian(self, w: Array) -> Structured:
        """Zeros."""
        return Structured.diagonal_only(0 * w)

    def shrink(self, w: Array, *, C: float) -> Structured:
        """``S = W^-1``."""
        return Structured.diagonal_only(1 / w)


@dataclass(frozen=True)
class Scatter:
    """Which variance to embed: the scatter of the rows inside clusters, about their own mean or the global one.

    A cluster's scatter has the paper's share n_p / n for `subclass` (model_SV), and 1 / n for `class` (model_CVdecomp:
    one cluster, `per_row`). `weight` multiplies the whole term; 1 is the paper.
    """

    own_mean: bool = True
    per_row: bool = False
    weight: Annotated[float, Within(0)] = 1.0

    def shares(self, sizes: Array) -> Array:
        """The weight of each cluster's scatter, for clusters of these sizes."""
        n = namespace(sizes).sum(sizes)
        return self.weight * (ones(sizes) / n if self.per_row else sizes / n)

    def columns(self, sizes: Array, of_clusters: Array) -> Array:
        """From sums over the rows of each cluster, one column each, to the columns that M changes in when rows leave.

        Those of the clusters or, with global means, one by weight and one by pull.
        """
        if self.own_mean:
            return of_clusters
        xp = namespace(of_clusters)
        return xp.stack([xp.sum(of_clusters, axis=-1), of_clusters @ self.shares(sizes)], axis=-1)

    def change(self, sizes: Array, members: Array, left: Array) -> Array:
        """What M changes by when rows leave that are `members` (groups x size x clusters), with weights `left`.

        The scatter of the rows that stay less that of all, in the basis of the rows and of `columns`; clusters keep
        their shares.
        """
        xp = namespace(sizes)
        shares = self.shares(sizes)
        gone = members * left[:, :, None]
        pulls = left * (members @ shares)
        rows = -pulls[:, :, None] * xp.eye(left.shape[1], dtype=left.dtype, device=device(left))
        if not self.own_mean:
            ways = xp.stack([left, pulls], axis=2)  # how the rows that leave enter both columns
            n, total = xp.sum(sizes), sizes @ shares
            rest, pull = n - xp.sum(left, axis=1), total - xp.sum(pulls, axis=1)
            after = _middle(rest, pull)
            across = -(ways @ after)
            inside = after - _middle(n + 0 * rest, total + 0 * rest)
            return _blocks(rows - across @ xp.matrix_transpose(ways), across, inside)
        rest = sizes - xp.sum(gone, axis=1)
        # A cluster of which nothing is left has no scatter.
        some = rest > xp.finfo(sizes.dtype).eps * 16 * sizes
        each = xp.where(some, shares / xp.where(some, rest, xp.ones_like(rest)), xp.zeros_like(rest))
        across = gone * each[:, None, :]
        inside = (shares / without_zeros(sizes) - each)[:, :, None] * xp.eye(
            sizes.shape[0], dtype=left.dtype, device=device(left)
        )
        return _blocks(rows - across @ xp.matrix_transpose(gone), across, inside)


@dataclass(frozen=True)
class WithinVariance:
    """The M of a scatter, for rows of known clusters."""

    membership: Array  # n x k, one-hot
    scatter: Scatter = Scatter()

    def laplacian(self, w: Array) -> Structured:
        """Deviations from the mean(s), in their share."""
        xp, sizes = namespace(w), w @ self.membership
        shares = self.scatter.shares(sizes)
        g = w * (self.membership @ shares)
        if self.scatter.own_mean:
            Z = xp.eye(shares.shape[0], dtype=w.dtype, device=device(w)) * (-shares / sizes)
            return Structured(g, w[:, None] * self.membership, Z)
        return Structured(g, xp.stack([w, g], axis=1), _like(_centring(w, g), w))

    def shrink(self, w: Array, *, C: float) -> Structured:
        """S: deviations from the mean(s) shrink by ``a = 1 / (1 + omega / C)``, the means stay."""
        xp, sizes = namespace(w), w @ self.membership
        a = 1 / (1 + self.scatter.shares(sizes) / C)
        a_row = self.membership @ a
        if self.scatter.own_mean:
            Z = xp.eye(a.shape[0], dtype=w.dtype, device=device(w)) * ((1 - a) / sizes)
            return Structured(a_row / w, self.membership, Z)
        # Woodbury around diag(w / a): global centering is a correction of rank two, spanned by a and 1 - a.
        V = xp.stack([a_row, 1 - a_row], axis=1)
        keep, lose = float(w @ a_row), float(w @ (1 - a_row))
        g = w * (1 - a_row) / a_row
        # Middle matrix Q in the basis (w, g); S = D - D U (Q^-1 + U' D U)^-1 U' D with D = diag(a / w).
        UDU = np.array([[keep, lose], [lose, float(g @ (1 - a_row))]])
        Q = _centring(w, g)
        return Structured(a_row / w, V, _like(-np.linalg.solve(np.eye(2) + Q @ UDU, Q), w))

    def columns(self, w: Array) -> Array:
        """The columns V in whose span, with the rows themselves, M changes when rows leave: the scatter's."""
        return self.scatter.columns(w @ self.membership, w[:, None] * self.membership)

    def shrunk(self, V: Array, image: Array, shrink: Structured, *, C: float) -> Array:
        """The image of ``S V``, for these columns V, under a linear map whose `image` of S's own columns is known.

        Those of clusters are what S makes of V, for their means stay; with global means S V is in their span.
        """
        if self.scatter.own_mean:
            return image
        xp = namespace(V)
        own = xp.asarray([[1.0, 0.0], [0.0, C]], dtype=V.dtype, device=device(V))
        return image @ (own + shrink.Z @ (shrink.V.T @ V))


def without_zeros(sizes: Array) -> Array:
    """Sizes of clusters to divide by: one for a cluster that lost all of its rows, whose sums are zero as well."""
    return namespace(sizes).where(sizes > 0, sizes, 1.0)


def _middle(n: Array, total: Array) -> Array:
    """`_centring` for several sums at once."""
    xp = namespace(n)
    first = xp.stack([total / n**2, -1 / n], axis=1)
    return xp.stack([first, xp.stack([-1 / n, 0 * n], axis=1)], axis=1)


def _blocks(rows: Array, across: Array, inside: Array) -> Array:
    """Symmetric matrices of blocks: rows with rows, rows with columns, columns with columns."""
    xp = namespace(rows)
    low = xp.concat([xp.matrix_transpose(across), inside], axis=2)
    return xp.concat([xp.concat([rows, across], axis=2), low], axis=1)


def _centring(w: Array, g: Array) -> NDArray[np.float64]:
    """The Q that makes a pull g on each row one towards the global mean: ``diag(g) + U Q U'`` with U = (w, g)."""
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
        """The user's matrix, times the weight."""
        return replace(Structured.diagonal_only(w), full=self.weight * self.M)

    def shrink(self, w: Array, *, C: float) -> Structured:
        """S as a full matrix; fails with `NotLaplacianError` when M is not positive semi-definite, up to rounding."""
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
    """``scale M + diag(d)``, with no second matrix for the diagonal."""
    G = scale * M
    add_to_diagonal(G, d)
    return G
