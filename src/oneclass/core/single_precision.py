"""Leverages of training rows in single precision, at half the work."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from .arrays import Array
from .cholesky import explained, solve_lower
from .features import NystromMap
from .primal import PrimalModel

__all__ = ["RoundedModel"]


@dataclass(frozen=True)
class RoundedModel(PrimalModel):
    """A host model that judges training rows by factors in single precision.

    First that of the penalty, if features are not whitened, then that of the normal equations in the coordinates that
    this makes: features as they are would take a hundred times the rounding.
    """

    outer: NDArray[np.floating] | None = None
    inner: NDArray[np.floating] | None = None

    @classmethod
    def of(cls, model: PrimalModel) -> RoundedModel:
        """The same model; its outputs stay as they are."""
        penalty = model.map.factored if isinstance(model.map, NystromMap) else None
        inner = model.factored if penalty is None else _solve_triangle(penalty, model.factored)
        outer = None if penalty is None else penalty.astype(np.float32)
        known = {field.name: getattr(model, field.name) for field in fields(PrimalModel)}
        return cls(**known, outer=outer, inner=inner.astype(np.float32))

    def judged(self, Z: Array, features: Array, *, beyond: bool) -> tuple[Array, Array | float]:
        """Leverages of rows and, if it is wanted, what lies beyond the features."""
        if self.outer is None:
            return explained(self.inner, features), self.outside(Z, features) if beyond else 0.0
        half = solve_lower(self.outer, features.astype(np.float32).T, overwrite=True)
        outside = 0.0
        if beyond:
            unreached = self.map.kernel.diagonal(Z) - np.vecdot(half.T, half.T)  # type: ignore[union-attr]
            outside = np.maximum(unreached, 0) / self.ridge
        half = solve_lower(self.inner, half, overwrite=True).T
        return np.vecdot(half, half).astype(features.dtype), outside


def _solve_triangle(L: NDArray[np.floating], B: NDArray[np.floating]) -> NDArray[np.floating]:
    """``L^-1 B`` of lower triangles, in parts without what is zero above them: at half the work."""
    found = np.zeros_like(B)
    step = -(-len(B) // 4)
    for a in range(0, len(B), step):
        found[a:, a : a + step] = solve_lower(L[a:, a:], B[a:, a : a + step])
    return found
