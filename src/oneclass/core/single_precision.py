"""Leverages of training rows in single precision, in half the time."""

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
    """A host model whose leverages of training rows are computed with factors in single precision.

    If features are not whitened, the factor of the penalty (`outer`) whitens them first. `inner` is the factor of the
    normal equations in these coordinates. Without whitening, rounding errors would be a hundred times as large.
    """

    outer: NDArray[np.floating] | None = None
    inner: NDArray[np.floating] | None = None

    @classmethod
    def of(cls, model: PrimalModel) -> RoundedModel:
        """Return the same model with factors in single precision; its outputs do not change."""
        penalty = model.map.factored if isinstance(model.map, NystromMap) else None
        inner = model.factored if penalty is None else _solve_triangle(penalty, model.factored)
        outer = None if penalty is None else penalty.astype(np.float32)
        known = {field.name: getattr(model, field.name) for field in fields(PrimalModel)}
        return cls(**known, outer=outer, inner=inner.astype(np.float32))

    def judged(self, Z: Array, features: Array, *, beyond: bool) -> tuple[Array, Array | float]:
        """Return the leverages of rows and, with `beyond`, the variance outside the features (otherwise 0)."""
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
    """Return ``L^-1 B`` for lower triangular `L` and `B`, in parts that skip zeros: half the cost of a full solve."""
    found = np.zeros_like(B)
    step = -(-len(B) // 4)
    for a in range(0, len(B), step):
        found[a:, a : a + step] = solve_lower(L[a:, a:], B[a:, a : a + step])
    return found
