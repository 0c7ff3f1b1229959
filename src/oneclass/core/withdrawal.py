r"""Landmarks leave with the group whose rows they are: a model without some of its landmarks, in closed form.

A function that landmarks span has the coefficients :math:`R b` with them, b the weights of the features. Without some
of them their rows of R obey :math:`R_l b = 0`, which takes :math:`P^{-1} R_l' (R_l P^{-1} R_l')^{-1} R_l P^{-1}` from
the inverse of the normal equations P and, with the penalty for P, as much from what the features reach of a row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .arrays import Array, device, namespace
from .cholesky import cho_solve
from .features import NystromMap
from .leaving import Embedded, taken
from .solve import PrimalModel

__all__ = ["Landmarks", "Withdrawn"]


@dataclass(frozen=True)
class Withdrawn:
    """What groups of rows (groups x size) lose with landmarks of their own."""

    across: Array  # groups x size x landmarks, F P^-1 R'
    inside: Array  # inverse of R P^-1 R', groups x landmarks x landmarks
    weights: Array  # R B, groups x landmarks x d
    columns: Array | None  # R P^-1 F'V, groups x landmarks x b, where there is an embedding
    beyond: Array  # what the features no longer reach of each row, groups x size

    @property
    def known(self) -> Array:
        """What the outputs of the rows owe to the landmarks: groups x size x d."""
        return self.across @ (self.inside @ self.weights)

    @property
    def explained(self) -> Array:
        """What their covariance does: groups x size x size."""
        return self.across @ self.inside @ namespace(self.across).matrix_transpose(self.across)

    def embedded(self, scatter: Embedded) -> Embedded:
        """The scatter as it is without them, for each group by itself."""
        xp = namespace(self.across)
        if self.columns is None:
            return scatter
        lost = self.inside @ self.columns
        turned = xp.matrix_transpose(self.columns)
        QV = scatter.QV - xp.reshape(self.across @ lost, scatter.QV.shape)
        VF = scatter.VF - turned @ (self.inside @ self.weights)
        return replace(scatter, QV=QV, VQV=scatter.VQV - turned @ lost, VF=VF)


@dataclass(frozen=True)
class Landmarks:
    """The landmarks of a model and whose they are, by the number of the group; negative is nobody's."""

    model: PrimalModel
    owners: np.ndarray[Any, Any]
    coefficients: Array  # R, landmarks x m
    solved: Array  # R P^-1
    shared: Array  # R by the inverse of the penalty

    @classmethod
    def of(cls, model: PrimalModel, owners: np.ndarray[Any, Any]) -> Landmarks | None:
        """The landmarks of a model that has some."""
        found = model.map
        if not isinstance(found, NystromMap):
            return None
        R = found.coefficients
        return cls(model, owners, R, cho_solve(model.L, R.T).T, R if found.L is None else cho_solve(found.L, R.T).T)

    def withdrawn(self, groups: np.ndarray[Any, Any], features: Array) -> Withdrawn | None:
        """What rows of these groups lose with their own landmarks, by their features (groups x size x m)."""
        xp = namespace(features)
        owned = self._of(groups)
        if not owned.shape[1]:
            return None
        places = xp.asarray(np.maximum(owned, 0), device=device(features))
        present = xp.asarray(owned >= 0, dtype=features.dtype, device=device(features))[:, :, None]
        R, RP, RO = (taken(of, places) * present for of in (self.coefficients, self.solved, self.shared))
        across, reached = (features @ xp.matrix_transpose(of) for of in (RP, RO))
        columns = self.model.columns
        prior = _inverse(R @ xp.matrix_transpose(RO))
        return Withdrawn(
            across,
            _inverse(R @ xp.matrix_transpose(RP)),
            R @ self.model.weights,
            None if columns is None else R @ columns.PV,
            xp.sum(reached @ prior * reached, axis=2) / self.model.ridge,
        )

    def _of(self, groups: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Numbers of the landmarks of each group, a line a group, filled up with -1."""
        order = np.argsort(self.owners, kind="stable")
        first, last = (np.searchsorted(self.owners, groups, side, order) for side in ("left", "right"))
        place = first[:, None] + np.arange(max(last - first, default=0))
        return np.where(place < last[:, None], order[np.minimum(place, len(order) - 1)], -1)


def _inverse(S: Array) -> Array:
    """Inverse of small matrices; zeros, and what landmarks that are alike share but for rounding, stay out."""
    xp = namespace(S)
    sizes = xp.sqrt(xp.linalg.diagonal(S))
    unit = xp.where(sizes > 0, sizes, xp.ones_like(sizes))
    scale = unit[:, :, None] * unit[:, None, :]
    return xp.linalg.pinv(S / scale, rtol=xp.finfo(S.dtype).eps ** 0.75) / scale
