"""What a stream knows, as one frozen value."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated

import numpy as np

from ..core.approximation import Approximation
from ..core.caching import cached, preset
from ..core.calibration import Calibration
from ..core.machine import Machine, fit_moments
from ..core.moments import Moments
from ..core.plan import Plan
from ..core.recipe import Recipe
from ..core.stored import APART, Count, Extended, Share, Within, must
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
    delta: Share
    forgetting: Forgetting
    patience: Patience | None
    test: Martingale | None
    every: Annotated[int, Within(1)]


@dataclass(frozen=True)
class Trial:
    """A change that is believed for now: what would be known without it, its first row, and the odds for it."""

    without: Annotated[State, APART]
    first: Count
    odds: float  # logarithm: that the old world is gone, not that a tenth of it is left


@dataclass(frozen=True)
class State:
    """What a stream knows: a plan, the moments of all that is learned, rows, and where threshold and test stand."""

    plan: Plan
    moments: Moments
    memory: Memory
    pending: Memory  # judged, and learned with the next block; a trust that is no number is not known
    now: float
    seen: Count
    learned: float  # total trust so far
    level: Share
    planned: Fitting  # of the plan when it was made
    bets: Bets
    n_events: Count = 0
    events: tuple[Event, ...] = ()
    carried: float = 0.0  # share of the features' variance that changes of plan left open, of rows that are gone
    since: Extended = -math.inf  # when the world began
    trial: Trial | None = None
    alone: float = 0.0  # share of alarms that wait by themselves in the latest rows
    deceived: Count = 0  # changes that were taken back since one last stayed

    def __check__(self) -> dict[str, int]:
        plan, columns, trust = self.plan, self.memory.X.shape[1], self.memory.trust
        must(plan.map is not None, "plan must have a feature map")
        must(bool(np.any(trust > 0) and np.sum(self.moments.weight) > 0), "something must be learned")
        must(bool(np.all((trust >= 0) & (trust < np.inf))), "the trust of rows that are learned must be in [0, inf)")
        must(bool(np.all(self.memory.time <= self.now)), "the time of rows that are learned must be before now")
        for part in (self.memory, self.pending):
            must(bool(np.all(part.number < self.seen)), f"rows must have numbers below {self.seen}")
        named = [moved.column for event in self.events for moved in event.columns]
        must(max(named, default=0) < columns, f"events must name columns below {columns}")
        clusters = {"k": 1} if plan.centres is None else {}
        return clusters | {"t": columns if plan.recipe.constant is None else 1}

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
