"""The state of a stream, as one frozen value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated

import numpy as np

from ..core.approximation import Approximation
from ..core.caching import cached, preset
from ..core.calibration import Calibration
from ..core.known import KnownOutliers
from ..core.machine import Machine, fit_moments
from ..core.moments import Moments
from ..core.plan import Plan
from ..core.recipe import Recipe
from ..core.stored import APART, Count, Positive, Share, Within, must
from .events import Bets, Event, Martingale, Moved
from .known import Anomalies, boost_of, raised
from .plan import Fitting
from .policy import POLICY, Patience
from .reference import Reference
from .trust import burst_lengths
from .window import Forgetting, Mask, Memory, Numbers, Vector

__all__ = ["Opening", "Settings", "State", "Trial", "finite_losses", "last_time"]

#: Largest number of events that are kept. It bounds memory.
_MAX_EVENTS = 256


@dataclass(frozen=True)
class Settings:
    """The checked parameters of a stream."""

    recipe: Recipe
    approximation: Approximation
    seed: int
    delta: Share
    forgetting: Forgetting
    patience: Patience | None
    test: Martingale | None
    every: Annotated[int, Within(1)]
    most_cost: Positive | None = None  # C if all learned rows are labelled; None means the C of the recipe


@dataclass(frozen=True)
class Trial:
    """A change that was adopted provisionally."""

    without: Annotated[State, APART]  # the state without the change, which is updated with each row
    first: Count  # number of the first row of the change
    ordinary: Count = 0  # number of rows since the trial began that resemble the earlier data


@dataclass(frozen=True)
class Opening:
    """Rows that a stream collects until there are enough to start."""

    X: Vector
    time: Vector
    told: Vector  # 1 if labelled as normal, 0 if labelled as an anomaly, NaN without a label


@dataclass(frozen=True)
class State:
    """The state of a stream: a plan, the moments of the learned rows, the kept rows, and the level and the test."""

    plan: Plan  # scaling, kernel, landmarks and clusters
    moments: Moments  # of all learned rows, with forgetting
    memory: Memory  # rows that are kept
    pending: Memory  # rows that were scored, but not processed yet; their trust is NaN unless they are labelled
    now: float  # time of the latest processed row; without a clock, the trust of all learned rows
    seen: Count  # number of rows so far
    learned: float  # sum of the trust of all learned rows
    level: Annotated[float, Within(-5, 1)]  # largest p-value of an alarm; below zero after many alarms
    planned: Fitting  # statistics of the rows when the plan was made
    bets: Bets  # state of the test for change
    n_events: Count = 0  # number of events so far
    events: tuple[Event, ...] = ()  # the latest events
    carried: float = 0.0  # largest share of the features' variance that a conversion of moments did not explain
    trial: Trial | None = None  # the change on trial, if any
    deceived: Count = 0  # number of changes that were undone since a change was last kept
    frozen: Annotated[Machine | None, APART] = None  # the machine when the epoch of the test for change began
    anomalies: Anomalies | None = None  # rows that were labelled as anomalies
    known: KnownOutliers | None = None  # these rows, learned as known outliers under the current plan
    reference: Reference | None = None  # comparison with the first rows; None once it is over

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
        """The machine fitted to all learned rows."""
        return fit_moments(self.plan, self.moments, count=False)

    @cached_property
    def calibration(self) -> Calibration:
        """The latest losses, before learning, of rows that may be normal."""
        return Calibration.of(self.memory.loss[self.ranked], None)

    @cached_property
    def accepted(self) -> Vector:
        """The latest losses of rows that were not held back, in ascending order."""
        return np.sort(self.memory.loss[self._counted][-POLICY.losses :])

    @cached_property
    def ranked(self) -> Numbers:
        """Indices of the kept rows whose losses are the calibration: the latest ones that may be normal."""
        counted = self._counted
        single = self.memory.waiting & (burst_lengths(self.memory.alarm) <= POLICY.false_burst)
        single[: int(np.argmax(counted))] = False  # from before the latest change
        return np.flatnonzero(counted | single)[-POLICY.losses :]

    @property
    def _counted(self) -> Mask:
        return self.memory.counted if np.any(self.memory.counted) else self.memory.trust > 0

    @cached_property
    def threshold(self) -> float:
        """The loss above which a row is an alarm."""
        return self.calibration.threshold(max(self.level, 0.0))

    def weights(self, forgetting: Forgetting) -> Vector:
        """Return the weights of the kept rows after forgetting."""
        return self.memory.trust * forgetting.weights(self.now - self.memory.time)

    @property
    def weight(self) -> float:
        """Total weight of all learned rows after forgetting."""
        return float(np.sum(self.moments.weight))

    def losses(self, Z: Vector, F: Vector | None = None) -> tuple[Vector, Vector]:
        """Return the losses of scaled rows, and the logarithm of the factor by which known outliers raise them."""
        found, boost = finite_losses(self.machine, Z, F), self.boost(Z)
        return found if self.known is None else raised(found, boost), boost

    def boost(self, Z: Vector) -> Vector:
        """Return the logarithm of the factor by which known outliers raise the losses of scaled rows."""
        return np.zeros(len(Z)) if self.known is None else boost_of(self.known, self.known.scores(self.plan.kernel, Z))

    def but(self, **changes: object) -> State:
        """Return the state with other values on which machine and threshold do not depend; cached properties stay."""
        return preset(replace(self, **changes), **cached(self))  # type: ignore[arg-type]

    def with_event(self, kind: str, rows: Numbers, evidence: float, columns: tuple[Moved, ...] = ()) -> State:
        """Return the state with one more event."""
        event = Event(self.n_events, self.seen, self.now, kind, tuple(rows.tolist()), float(evidence), columns)
        return self.but(n_events=self.n_events + 1, events=(*self.events, event)[-_MAX_EVENTS:])


def finite_losses(machine: Machine, Z: Vector, F: Vector | None = None) -> Vector:
    """Return the losses of scaled rows; a loss that is not finite becomes the largest float."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = machine.losses(Z, F)
    return np.where(np.isfinite(found), found, np.finfo(float).max)


def last_time(known: State | Opening | None) -> float:
    """Return the time of the latest row, or minus infinity before the first row."""
    if isinstance(known, State):
        return float(known.pending.time[-1]) if len(known.pending) else known.now
    return -np.inf if known is None else float(known.time[-1])
