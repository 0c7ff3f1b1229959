"""Gaps between rows that are nothing but rounding, and so are none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from ..core.arrays import Array
from ..core.scaling import Scaler
from ..core.stored import Floats

__all__ = ["UNIT", "Rounding"]

#: What a few roundings can change a number by, relative to the numbers that it comes from.
UNIT = 8 * float(np.finfo(float).eps)


@dataclass(frozen=True)
class Rounding:
    """How far rounding can leave a row in z-scores from another that it equals.

    Where all training rows lie on what a model describes, be it a plane or a handful of points, their losses are made
    of rounding and so would be a threshold among them. A gap that rounding can make is zero, at fit and afterwards.
    """

    unit: ClassVar[float] = UNIT

    #: The largest value of each feature, in z-scores but not centred: centering takes away no rounding.
    extent: Annotated[Array, Floats("d")]

    @classmethod
    def of(cls, X: Array, scaler: Scaler) -> Rounding:
        """The rounding of rows `X` on their way to z-scores."""
        return cls(np.abs(X).max(axis=0) / scaler.scale)

    def __call__(self, Z: Array) -> Array:
        """How far from zero rounding can leave each value of a row that equals what it is compared with."""
        return self.unit * (self.extent + np.abs(Z))

    def beyond(self, gaps: Array, Z: Array, *, roundings: float = 1) -> Array:
        """The gaps, zero where as many times the rounding of the rows would do."""
        return np.where(np.abs(gaps) > roundings * self(Z), gaps, 0)
