"""Single precision, at half the work, where its error is known: scores, and held-out losses by landmarks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from .arrays import Array
from .cholesky import explained, solve_lower
from .features import NystromMap
from .primal import PrimalModel
from .solve import DualModel

__all__ = ["RoundedModel", "SinglePrecision"]

#: Training rows that rounding is measured on, and times the largest error among them that no row is expected to exceed.
_MEASURED, _SAFETY = 32, 16


@dataclass(frozen=True)
class SinglePrecision:
    """The factor of a host model's system in single precision."""

    L: NDArray[np.floating]
    tell: Callable[[Array, Array], Array]  # what is known of rows, by this and their features
    error: float  # bound on the relative error of what is explained

    @classmethod
    def of(cls, model: DualModel | PrimalModel) -> SinglePrecision | None:
        """The factor of a host model that has one; its error is measured on rows that the model knows well.

        Rounding grows with the condition of the system and with no other trait of a row than what is explained of it.
        """
        telling = model.telling()
        if telling is None or not isinstance(telling[0], np.ndarray) or telling[0].dtype != np.float64:
            return None
        precise, tell, rows = telling
        features = model.features(rows[:: max(1, len(rows) // _MEASURED), :])
        L, found = precise.astype(np.float32), tell(precise, features)
        apart = np.abs(tell(L, features) - found) / found
        return cls(L, tell, _SAFETY * max(float(np.max(apart)), float(np.finfo(np.float32).eps)))

    def uncertainty(self, model: DualModel | PrimalModel, Z: Array, features: Array) -> tuple[Array, Array]:
        """``C v(z)`` of rows, and a bound on its error."""
        known = self.tell(self.L, features)
        return model.unknown(Z, known), self.error * known / model.ridge


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
            unreached = self.map.kernel.diagonal(Z) - np.vecdot(half.T, half.T)  # type: ignore[attr-defined]
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
