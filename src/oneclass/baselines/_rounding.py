"""Gaps between rows that are nothing but rounding, and so are none."""

from __future__ import annotations

from typing import Self

import numpy as np

from ..core.arrays import Array
from ..core.scaling import Scaler
from ._base import Baseline

__all__ = ["UNIT", "Rounded"]

#: What a few roundings can change a number by, relative to the numbers that it comes from.
UNIT = 8 * float(np.finfo(float).eps)


class Rounded(Baseline):
    """A baseline that measures gaps between rows.

    Where all training rows lie on what it describes, be it a plane or a handful of points, their losses are made of
    rounding and so would be a threshold among them. A gap that rounding can make is zero here, at fit and afterwards.
    """

    def _scaling(self, X: Array, w: Array) -> Scaler:
        scaler = super()._scaling(X, w)
        # The largest value of each feature, in z-scores but not centred: centring takes away no rounding.
        self._extent = np.abs(X).max(axis=0) / scaler.scale
        return scaler

    def _twin(self) -> Self:
        twin = super()._twin()
        twin._extent = self._extent
        return twin

    def _rounding(self, Z: Array) -> Array:
        """How far from zero rounding can leave each value of a row that equals what it is compared with."""
        return UNIT * (self._extent + np.abs(Z))

    def _beyond_rounding(self, gaps: Array, Z: Array, *, roundings: float = 1) -> Array:
        """The gaps, zero where as many times the rounding of the rows would do."""
        return np.where(np.abs(gaps) > roundings * self._rounding(Z), gaps, 0)
