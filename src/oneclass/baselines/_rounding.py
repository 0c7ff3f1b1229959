"""Bounds on rounding errors of differences between rows; smaller differences count as zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from ..core.arrays import Array
from ..core.scaling import Scaler
from ..core.stored import Floats

__all__ = ["UNIT", "Rounding"]

#: Bound on the error of a few rounding steps, relative to the numbers that are rounded.
UNIT = 8 * float(np.finfo(float).eps)


@dataclass(frozen=True)
class Rounding:
    """Bound on the rounding error of the difference between scaled rows that are equal in exact arithmetic.

    If all training rows lie exactly on the model, such as a plane or a few points, their losses are rounding errors,
    and so would be the threshold. Therefore differences below the bound count as zero, in `fit` and for new rows.
    """

    unit: ClassVar[float] = UNIT

    #: Largest magnitude of each feature, scaled but not centered: centering does not remove rounding.
    extent: Annotated[Array, Floats("d")]

    @classmethod
    def of(cls, X: Array, scaler: Scaler) -> Rounding:
        """The bound for rows `X` that `scaler` scales."""
        return cls(np.abs(X).max(axis=0) / scaler.scale)

    def __call__(self, Z: Array) -> Array:
        """Bound on the rounding error of each value of scaled rows."""
        return self.unit * (self.extent + np.abs(Z))

    def beyond(self, gaps: Array, Z: Array, *, roundings: float = 1) -> Array:
        """The gaps, with zero in place of those below `roundings` times the bound."""
        return np.where(np.abs(gaps) > roundings * self(Z), gaps, 0)
