"""Uncertainty in single precision: half the work of an exact machine's scores, and a bound on what that costs them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import Array
from .cholesky import explained
from .solve import DualModel

__all__ = ["SinglePrecision"]

#: Training rows that rounding is measured on, and times the largest error among them that no row is expected to exceed.
_MEASURED, _SAFETY = 32, 16


@dataclass(frozen=True)
class SinglePrecision:
    """The factor of a host model's system in single precision."""

    L: np.ndarray[Any, Any]
    error: float  # bound on the relative error of what is explained

    @classmethod
    def of(cls, model: DualModel) -> SinglePrecision:
        """The factor of a model that has one; its error is measured on rows that the model knows well.

        Rounding grows with the condition of the system and with no other trait of a row than what is explained of it.
        """
        precise, L = model.factored, model.factored.astype(np.float32)  # type: ignore[union-attr]
        features = model.features(model.rows[:: max(1, model.width // _MEASURED), :])
        found = explained(precise, features)
        apart = np.abs(explained(L, features) - found) / found
        return cls(L, _SAFETY * max(float(np.max(apart)), float(np.finfo(np.float32).eps)))

    def uncertainty(self, model: DualModel, Z: Array, features: Array) -> tuple[Array, Array]:
        """``C v(z)`` of rows, and a bound on its error."""
        known = explained(self.L, features)
        return model.unknown(Z, known), self.error * known / model.ridge
