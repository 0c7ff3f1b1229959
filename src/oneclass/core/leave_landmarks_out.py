r"""Closed-form leave-group-out for a Nystrom model, where the landmarks that are rows of the group are removed too.

A function with feature weights b has the landmark coefficients :math:`R b`. Removing the landmarks l means the
constraint :math:`R_l b = 0`, with :math:`R_l` the rows of R that belong to them. The constraint subtracts
:math:`P^{-1} R_l' (R_l P^{-1} R_l')^{-1} R_l P^{-1}` from :math:`P^{-1}`, the inverse of the normal equations. The same
formula, with the penalty matrix in the place of P, gives the loss of explained prior variance.

If there are more landmarks than columns of R, let the columns of N span the directions orthogonal to R. A change of the
coefficients along N does not change the function, so :math:`R_l b` needs to vanish only up to the span of :math:`N_l`.
Adding a large multiple of :math:`N_l N_l'` to :math:`R_l P^{-1} R_l'` relaxes the constraint in this way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .arrays import Array, device, namespace
from .cholesky import cho_solve, inverse
from .features import NystromMap
from .leave_out import Embedded, taken
from .primal import PrimalModel
from .solve import DualModel

__all__ = ["Landmarks", "Withdrawn"]


@dataclass(frozen=True)
class Withdrawn:
    """Changes for groups of rows (groups x size) when the landmarks of their own group are removed."""

    known: Array  # to subtract from the outputs, groups x size x d
    explained: Array  # to subtract from the covariance of the outputs, groups x size x size
    beyond: Array  # to add to the variance outside the features, groups x size
    QV: Array  # to subtract from `Embedded`'s QV, VQV and VF: groups x size x b, then b x b and b x d for each group
    VQV: Array
    VF: Array

    def embedded(self, scatter: Embedded) -> Embedded:
        """Return the scatter terms of the model without these landmarks, one set for each group."""
        QV = scatter.QV - namespace(self.QV).reshape(self.QV, scatter.QV.shape)
        return replace(scatter, QV=QV, VQV=scatter.VQV - self.VQV, VF=scatter.VF - self.VF)


@dataclass(frozen=True)
class Landmarks:
    """The landmarks of a model, the group number of each, and matrices needed to remove them."""

    owners: NDArray[np.int64]
    solved: Array  # R P^-1, landmarks x m
    inside: Array  # R P^-1 R'
    shared: Array  # R Omega^-1, with Omega the penalty matrix
    prior: Array  # R Omega^-1 R'
    weights: Array  # R B
    columns: Array  # R P^-1 F'V
    ridge: float

    @classmethod
    def of(
        cls, model: DualModel | PrimalModel, owners: NDArray[np.int64], chosen: NDArray[np.int64] | None = None
    ) -> Landmarks | None:
        """Return the landmarks of a model: all, or those at the indices `chosen`; None if there are none."""
        if isinstance(model, DualModel) or (chosen is not None and not len(chosen)):
            return None
        found = model.map
        if not isinstance(found, NystromMap):
            return None
        PV = model.weights[:, :0] if model.columns is None else model.columns.PV
        if found.factored is not None and chosen is None:  # R is the identity
            solved, shared = inverse(model.factored), inverse(found.factored)
            return cls(owners, solved, solved, shared, shared, model.weights, PV, model.ridge)
        R = found.coefficients
        xp, N = namespace(R), _orthogonal(R)
        if chosen is not None:
            places = xp.asarray(chosen, device=device(R))
            R, N, owners = xp.take(R, places, axis=0), xp.take(N, places, axis=0), owners[chosen]
        solved, L = cho_solve(model.factored, R.T).T, found.factored
        shared = R if L is None else cho_solve(L, R.T).T
        inside, prior = (_but_for(N, of @ R.T) for of in (solved, shared))
        return cls(owners, solved, inside, shared, prior, R @ model.weights, R @ PV, model.ridge)

    def withdrawn(self, groups: NDArray[np.int64], features: Array) -> Withdrawn | None:
        """Return the changes for rows of these groups, with features (groups x size x m); None without landmarks."""
        xp = namespace(features)
        owned = self._of(groups)
        if not owned.shape[1]:
            return None
        m = len(self.owners)
        size, d, b = features.shape[1], self.weights.shape[1], self.columns.shape[1]
        places = xp.asarray(np.maximum(owned, 0), device=device(features))
        present = xp.asarray(owned >= 0, dtype=features.dtype, device=device(features))
        pairs = places[:, :, None] * m + places[:, None, :]

        def of_rows(A: Array) -> Array:
            """Products of the rows' features with the rows of A (landmarks x m) that belong to the same group."""
            return features @ xp.matrix_transpose(taken(A, places)) * present[:, None, :]

        def solved(S: Array, B: Array) -> Array:
            return _solve(_entries(S, pairs) * present[:, :, None] * present[:, None, :], B)

        across, reached = of_rows(self.solved), of_rows(self.shared)
        weights, columns = (taken(of, places) * present[:, :, None] for of in (self.weights, self.columns))
        pulled = solved(self.inside, xp.concat([xp.matrix_transpose(across), weights, columns], axis=2))
        GB, GV = pulled[:, :, size : size + d], pulled[:, :, size + d : size + d + b]
        turned = xp.matrix_transpose(columns)
        unreached = xp.matrix_transpose(solved(self.prior, xp.matrix_transpose(reached)))
        return Withdrawn(
            known=across @ GB,
            explained=across @ pulled[:, :, :size],
            beyond=xp.sum(reached * unreached, axis=2) / self.ridge,
            QV=across @ GV,
            VQV=turned @ GV,
            VF=turned @ GB,
        )

    def _of(self, groups: NDArray[np.int64]) -> NDArray[np.intp]:
        """Indices of the landmarks of each group, one group per row, padded with -1."""
        order = np.argsort(self.owners, kind="stable")
        first, last = (np.searchsorted(self.owners, groups, side, order) for side in ("left", "right"))
        place = first[:, None] + np.arange(max(last - first, default=0))
        return np.where(place < last[:, None], order[np.minimum(place, len(order) - 1)], -1)


def _orthogonal(R: Array) -> Array:
    """Return an orthonormal basis, as columns, of the directions orthogonal to the columns of R."""
    xp, (m, r) = namespace(R), R.shape
    return R[:, :0] if r == m else xp.linalg.qr(R, mode="complete")[0][:, r:]


def _but_for(N: Array, S: Array) -> Array:
    """Return S plus a large multiple of ``N N'``: its inverse ignores the span of N to half the digits."""
    xp = namespace(S)
    return S + xp.max(xp.linalg.diagonal(S)) / xp.finfo(S.dtype).eps ** 0.5 * (N @ N.T) if N.shape[1] else S


def _entries(A: Array, places: Array) -> Array:
    """Return the entries of A at these flat indices in row-major order."""
    xp = namespace(A)
    return xp.reshape(xp.take(xp.reshape(A, (-1,)), xp.reshape(places, (-1,))), places.shape)


def _solve(S: Array, B: Array) -> Array:
    """Return ``S^-1 B`` for small matrices that may be singular.

    Zero rows give zeros. A small diagonal term bounds the result for landmarks that are equal up to rounding.
    """
    xp = namespace(S)
    sizes = xp.sqrt(xp.linalg.diagonal(S))
    unit = xp.where(sizes > 0, sizes, xp.ones_like(sizes))[:, :, None]
    lift = xp.finfo(S.dtype).eps ** 0.75 * xp.eye(S.shape[1], dtype=S.dtype, device=device(S))
    return xp.linalg.solve(S / (unit * xp.matrix_transpose(unit)) + lift, B / unit) / unit
