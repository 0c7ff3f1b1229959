"""The state of a stream, as one frozen value."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..core.approximation import Approximation
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

__all__ = ["CALIBRATION_ROWS", "Settings", "State", "Trial"]

#: Number of latest losses of normal rows on which the threshold depends. No recorded measurement.
CALIBRATION_ROWS = 500
#: Largest number of events that are kept. It bounds memory.
_MAX_EVENTS = 256
#: Names of the cached properties of a state.
_CACHED = ("machine", "calibration", "threshold")


@dataclass(frozen=True)
class Settings:
    """The checked parameters of a stream."""

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
    """A change that was adopted provisionally."""

    without: State  # the state without the change, which is updated with each row
    first: int  # number of the first row of the change
    odds: float  # log likelihood ratio: no earlier data arrive any more, against a tenth of the rows is earlier data


@dataclass(frozen=True)
class State:
    """The state of a stream: a plan, the moments of the learned rows, the kept rows, and the level and the test."""

    plan: Plan  # scaling, kernel, landmarks and clusters
    moments: Moments  # of all learned rows, with forgetting
    memory: Memory  # rows that are kept
    pending: Memory  # rows that were scored, but not processed yet; their trust is NaN unless they are labelled
    now: float  # time of the latest processed row; without a clock, the trust of all learned rows
    seen: int  # number of rows so far
    learned: float  # sum of the trust of all learned rows
    level: float  # largest p-value of an alarm
    planned: Fitting  # statistics of the rows when the plan was made
    bets: Bets  # state of the test for change
    n_events: int = 0  # number of events so far
    events: tuple[Event, ...] = ()  # the latest events
    carried: float = 0.0  # largest share of the features' variance that a conversion of moments did not explain
    since: float = -math.inf  # time of the first row of the last adoption, or of the stream
    trial: Trial | None = None  # the change on trial, if any
    alone: float = 0.0  # share of single alarms held back, among the latest rows
    deceived: int = 0  # number of changes that were undone since a change was last kept

    @cached_property
    def machine(self) -> Machine:
        """The machine fitted to all learned rows."""
        return fit_moments(self.plan, self.moments, count=False)

    @cached_property
    def calibration(self) -> Calibration:
        """The latest losses, before learning, of rows accepted as normal."""
        counted = self.memory.counted if np.any(self.memory.counted) else self.memory.trust > 0
        losses = self.memory.loss[counted][-CALIBRATION_ROWS:]
        return Calibration.of(losses, np.ones(len(losses)))

    @cached_property
    def threshold(self) -> float:
        """The loss above which a row is an alarm."""
        return self.calibration.threshold(self.level)

    def weights(self, forgetting: Forgetting) -> Vector:
        """Return the weights of the kept rows after forgetting."""
        return self.memory.trust * forgetting.weights(self.now - self.memory.time)

    @property
    def weight(self) -> float:
        """Total weight of all learned rows after forgetting."""
        return float(np.sum(self.moments.weight))

    def losses(self, Z: Vector, F: Vector | None = None) -> Vector:
        """Return the losses of scaled rows; a loss that is not finite becomes the largest float."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = self.machine.losses(Z, F)
        return np.where(np.isfinite(found), found, np.finfo(float).max)

    def but(self, **changes: object) -> State:
        """Return the state with other values on which machine and threshold do not depend; cached properties stay."""
        changed = replace(self, **changes)  # type: ignore[arg-type]
        vars(changed).update({name: vars(self)[name] for name in _CACHED if name in vars(self)})
        return changed

    def with_event(self, kind: str, rows: Numbers, evidence: float, columns: tuple[Moved, ...] = ()) -> State:
        """Return the state with one more event."""
        event = Event(self.n_events, self.seen, self.now, kind, tuple(rows.tolist()), float(evidence), columns)
        return self.but(n_events=self.n_events + 1, events=(*self.events, event)[-_MAX_EVENTS:])
