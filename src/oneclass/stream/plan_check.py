"""How well a plan still fits the rows that keep coming."""

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

#: How far a world may move under one plan, in units of its width, and how many of the latest rows tell.
_MOVED, _LATEST = 0.1, 1024
#: What is added to widths, of about one, lest those of columns that hardly vary seem to grow without bounds.
_NARROW = 0.1


@dataclass(frozen=True)
class Fitting:
    """How a plan fits the rows: their weight, what features reach of them, where scaled columns are and how wide."""

    weight: float
    reached: float
    mean: Annotated[Vector, Floats("d")]
    width: Annotated[Vector, Floats("d", above=0)]

    @classmethod
    def of(cls, plan: Plan, moments: Moments, memory: Memory) -> Fitting:
        """The fit of all rows, by their moments, and of the latest that are held."""
        whole, features = moments.total(), plan.features
        weight = float(whole.weight[0])
        squares = whole.ff[0] / weight + np.outer(whole.f[0], whole.f[0])
        plain = features.factored if isinstance(features, NystromMap) else None
        reached = float(np.trace(squares)) if plain is None else trace_of_solved(plain, squares)
        Z = memory.Z[memory.trust > 0][-_LATEST:]
        return cls(weight, reached, np.mean(Z, axis=0), np.std(Z, axis=0) + _NARROW)

    @classmethod
    def at_first(cls, plan: Plan, moments: Moments, memory: Memory) -> Fitting:
        """The fit that is to be expected of fresh rows, when landmarks were chosen among these."""
        fit = cls.of(plan, moments, memory)
        fresh = max(0.5, 1 - moments.f.shape[1] / fit.weight)
        return replace(fit, reached=1 - (1 - fit.reached) / fresh)

    def is_left_by(self, now: Fitting) -> bool:
        """Whether rows are farther out of reach, elsewhere, or more or less wide than when this was the fit."""
        moves = ((now.mean - self.mean) / self.width, np.log(now.width / self.width))
        farther = 1 - now.reached > (1 + _MOVED / 2) * (1 - self.reached) + _MOVED / 20
        return farther or any(float(np.mean(move**2)) > _MOVED**2 for move in moves)
