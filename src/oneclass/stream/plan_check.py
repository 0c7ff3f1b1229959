"""Measure how well a plan (scaling, bandwidth, landmarks and clusters) still fits the latest rows.

None of the constants has a recorded measurement of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from ..core.cholesky import trace_of_solved
from ..core.features import NystromMap
from ..core.moments import Moments
from ..core.plan import Plan
from ..core.stored import Floats
from .memory import Memory, Vector

__all__ = ["Fitting"]

#: Largest root mean square change over the columns, of the means (in widths) or of the logarithms of the widths.
_MAX_CHANGE = 0.1
#: Largest relative increase of the variance of the features that the landmarks do not represent.
_MAX_UNEXPLAINED_INCREASE = _MAX_CHANGE / 2
#: Absolute increase of that variance that is allowed in addition.
_UNEXPLAINED_SLACK = _MAX_CHANGE / 20
#: Number of latest learned rows whose means and widths are compared.
_LATEST_ROWS = 1024
#: Constant added to the width of each scaled column, which is about one. Without it, a column that hardly varies could
#: seem to become many times as wide.
_WIDTH_OFFSET = 0.1
#: Lower limit of the share of rows that are not landmarks, when the fit for new rows is estimated.
_MIN_NEW_SHARE = 0.5


@dataclass(frozen=True)
class Fitting:
    """Statistics of the rows under a plan, by which an old plan is compared with the present rows."""

    weight: float  # weight of all learned rows
    reached: float  # mean squared norm of the features: the part of a row that the landmarks represent
    mean: Annotated[Vector, Floats("d")]  # mean of each scaled column over the latest rows
    width: Annotated[Vector, Floats("d", above=0)]  # standard deviation of each scaled column, plus a constant

    @classmethod
    def of(cls, plan: Plan, moments: Moments, memory: Memory) -> Fitting:
        """Return the statistics: weight and features from the moments of all rows, columns from the latest rows."""
        whole, features = moments.total(), plan.features
        weight = float(whole.weight[0])
        squares = whole.ff[0] / weight + np.outer(whole.f[0], whole.f[0])
        plain = features.factored if isinstance(features, NystromMap) else None
        reached = float(np.trace(squares)) if plain is None else trace_of_solved(plain, squares)
        Z = memory.Z[memory.trust > 0][-_LATEST_ROWS:]
        return cls(weight, reached, np.mean(Z, axis=0), np.std(Z, axis=0) + _WIDTH_OFFSET)

    @classmethod
    def at_first(cls, plan: Plan, moments: Moments, memory: Memory) -> Fitting:
        """Return the statistics to expect for new rows, from the rows among which the landmarks were chosen.

        The landmarks represent themselves exactly, so new rows are represented less well.
        """
        fit = cls.of(plan, moments, memory)
        fresh = max(_MIN_NEW_SHARE, 1 - moments.f.shape[1] / fit.weight)
        return replace(fit, reached=1 - (1 - fit.reached) / fresh)

    def is_outdated(self, now: Fitting) -> bool:
        """Return whether the rows moved, changed their width, or are represented less well since these statistics."""
        moves = ((now.mean - self.mean) / self.width, np.log(now.width / self.width))
        farther = 1 - now.reached > (1 + _MAX_UNEXPLAINED_INCREASE) * (1 - self.reached) + _UNEXPLAINED_SLACK
        return farther or any(float(np.mean(move**2)) > _MAX_CHANGE**2 for move in moves)
