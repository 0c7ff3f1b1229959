"""What a stream knows, as one frozen value."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..core.approximation import Approximation
from ..core.caching import cached, preset
from ..core.calibration import Calibration
from ..core.machine import Machine, fit_moments
from ..core.moments import Moments
from ..core.plan import Plan
from ..core.recipe import Recipe
from .events import Event, Moved
from .forgetting import Forgetting
from .martingale import Bets, Martingale
from .memory import Memory, Numbers, Vector
from .plan_check import Fitting
from .policy import Patience

__all__ = ["RANKED", "Settings", "State", "Trial"]

#: Losses that the threshold is put on.
RANKED = 500
#: Events that are kept.
_EVENTS = 256


@dataclass(frozen=True)
class Settings:
    """The choices of a stream."""

    recipe: Recipe
    approximation: Approximation
    seed: int
    delta: float
    forgetting: Forgetting
    patience: Patience | None
    test: Martingale | None
    every: int


@dataclass(frozen=True)
class Trial:
    """A change that is believed for now: what would be known without it, its first row, and the odds for it."""

    without: State
    first: int
    odds: float  # logarithm: that the old world is gone, not that a tenth of it is left


@dataclass(frozen=True)
class State:
    """What a stream knows: a plan, the moments of all that is learned, rows, and where threshold and test stand."""

    plan: Plan
    moments: Moments
    memory: Memory
    pending: Memory  # judged, and learned with the next block; a trust that is no number is not known
    now: float
    seen: int
    learned: float  # total trust so far
    level: float
    planned: Fitting  # of the plan when it was made
    bets: Bets
    n_events: int = 0
    events: tuple[Event, ...] = ()
    carried: float = 0.0  # share of the features' variance that changes of plan left open, of rows that are gone
    since: float = -math.inf  # when the world began
    trial: Trial | None = None
    alone: float = 0.0  # share of alarms that wait by themselves in the latest rows
    deceived: int = 0  # changes that were taken back since one last stayed

    @cached_property
    def machine(self) -> Machine:
        """The machine of all that is learned."""
        return fit_moments(self.plan, self.moments, count=False)

    @cached_property
    def calibration(self) -> Calibration:
        """The latest losses, before learning, of rows believed normal."""
        counted = self.memory.counted if np.any(self.memory.counted) else self.memory.trust > 0
        losses = self.memory.loss[counted][-RANKED:]
        return Calibration.of(losses, np.ones(len(losses)))

    @cached_property
    def threshold(self) -> float:
        """The loss beyond which a row alarms."""
        return self.calibration.threshold(self.level)

    def weights(self, forgetting: Forgetting) -> Vector:
        """What the rows that are held weigh by now."""
        return self.memory.trust * forgetting.weights(self.now - self.memory.time)

    @property
    def weight(self) -> float:
        """Weight of all that is learned."""
        return float(np.sum(self.moments.weight))

    def losses(self, Z: Vector, F: Vector | None = None) -> Vector:
        """Losses of scaled rows; those beyond all measure are the largest number."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = self.machine.losses(Z, F)
        return np.where(np.isfinite(found), found, np.finfo(float).max)

    def but(self, **changes: object) -> State:
        """The same with other values that neither machine nor threshold depends on: what was worked out stays."""
        return preset(replace(self, **changes), **cached(self))  # type: ignore[arg-type]

    def with_event(self, kind: str, rows: Numbers, evidence: float, columns: tuple[Moved, ...] = ()) -> State:
        """The same, having told of something."""
        told = Event(self.n_events, self.seen, self.now, kind, tuple(rows.tolist()), float(evidence), columns)
        return self.but(n_events=self.n_events + 1, events=(*self.events, told)[-_EVENTS:])
