"""Pure functions that return the state of a stream after more rows."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from .feedback import adopt, moved_from, undone
from .martingale import Bets
from .memory import Memory, Vector
from .plan_check import Fitting
from .policy import STRETCH, Patience, adoptable
from .renewal import due, held_out, planned, renew
from .state import Settings, State, finite_losses
from .trial import start_trial, with_odds
from .trust import decide_trust, with_corrected_level
from .updating import added, bounded

__all__ = ["begin", "learn", "scored"]

#: Share of rows held back in the latest stretch above which a burst continues and raises no second event "strange". No
#: recorded measurement.
_ONGOING_SHARE = 0.5


def begin(settings: Settings, X: Vector, time: Vector | None, w: Vector) -> State:
    """Return the first state of a stream, which has learned the rows `X` with the weights `w`."""
    n = len(X)
    time = np.cumsum(w) if time is None else time
    now = float(time[-1])
    inside = settings.forgetting.inside(now - time)
    plan, moments = planned(settings, X[inside], (w * settings.forgetting.weights(now - time))[inside])
    nothing = np.zeros(n)
    memory = Memory.of(X, plan.scaler(X), number=0, time=time, loss=nothing, alarm=nothing.astype(bool), trust=w)
    memory = memory.where(w > 0, counted=True)[inside]
    fit = Fitting.at_first(plan, moments, memory)
    state = State(plan, moments, memory, memory[:0], now, n, float(np.sum(w)), settings.delta, fit, Bets())
    memory = memory.where(memory.counted, loss=held_out(settings, state, memory.counted))
    return replace(state, memory=bounded(settings, memory)[0])


def scored(state: State, X: Vector, time: Vector | None, given_trust: Vector) -> tuple[State, Vector]:
    """Return the state with more rows scored and pending, and the features of these rows.

    Parameters
    ----------
    state : State
        The state before the rows.
    X : array of shape (n, d)
        The new rows.
    time : array of shape (n,) or None
        Times of the rows, for a stream with a clock.
    given_trust : array of shape (n,)
        1 for rows labelled as normal, 0 for rows labelled as anomalies, NaN for rows without a label.
    """
    Z = state.plan.scaler(X)
    F = state.plan.features(Z)
    loss = state.losses(Z, F)
    time = np.full(len(X), np.nan) if time is None else time
    rows = Memory.of(X, Z, number=state.seen, time=time, loss=loss, alarm=loss > state.threshold, trust=given_trust)
    pending = state.pending + rows if len(state.pending) else rows
    return state.but(pending=pending, seen=state.seen + len(X)), F


def learn(settings: Settings, state: State, F: Vector | None = None) -> State:
    """Return the state after the pending rows.

    The steps are: decide which rows are learned, forget older rows, add the new rows, and adopt rows that were held
    back if the evidence is large enough. `F` holds the features of the new pending rows, if they are known already.
    """
    pending, patience, before = state.pending, settings.patience, state.learned
    state, rows = state.but(pending=pending[:0]), pending
    if F is None or len(F) != len(rows):
        rows = replace(rows, Z=state.plan.scaler(rows.X))  # the plan may have changed since the rows were scored
        F = state.plan.features(rows.Z)
    state = _test_for_change(settings, state, rows, F)
    rows, single_alarms, in_burst = decide_trust(settings, state, rows)
    if not settings.forgetting.clock:
        rows = replace(rows, time=state.now + np.cumsum(rows.trust))
    now, burst_continues = float(rows.time[-1]), bool(np.mean(state.memory.waiting[-STRETCH:]) > _ONGOING_SHARE)
    state = added(settings, with_corrected_level(settings, state, rows, single_alarms), rows, F, now)
    if patience is not None:
        new = in_burst & np.isnan(pending.trust)
        if np.any(new) and not burst_continues:
            evidence = patience.evidence(state.memory.number[state.memory.waiting], state.seen)
            state = state.with_event("strange", rows.number[new], evidence, moved_from(state, rows.X[new]))
        found = adoptable(patience, state.memory, state.seen, state.plan.kernel)
        if found is not None:
            state = adopt(settings, state, found.rows, found.kind, found.evidence)
            return replace(state, trial=None, deceived=0 if found.kind == "change" else state.deceived)
        state = (
            start_trial(settings, patience, state)
            if state.trial is None
            else _continue_trial(settings, patience, state, pending)
        )
    surprised = bool(np.any(pending.alarm & (pending.trust > 0)))
    return renew(settings, state) if due(settings, state, before, surprised=surprised) else state


def _continue_trial(settings: Settings, patience: Patience, state: State, rows: Memory) -> State:
    """Return the state after more rows of a trial: the trial continues, ends with the change kept, or is undone."""
    assert state.trial is not None
    without, F = scored(state.trial.without, rows.X, rows.time, rows.trust)
    trial = with_odds(state.trial, without)
    without = learn(replace(settings, patience=replace(patience, trial=math.inf), test=None), without, F)
    if trial.odds > 0:
        if state.seen - trial.first >= patience.rows:
            return state.but(trial=None, deceived=0)
        return state.but(trial=replace(trial, without=without))
    return undone(state, replace(trial, without=without))


def _test_for_change(settings: Settings, state: State, rows: Memory, F: Vector) -> State:
    """Return the state after the test for change of these rows, by the machine as it was when the epoch began.

    This machine has learned no row of the epoch, so without a change the losses of these rows are exchangeable.
    """
    test = settings.test
    while test is not None and len(rows):
        frozen = state.machine if state.frozen is None else state.frozen
        part, room = state.but(frozen=frozen), test.epoch - len(state.bets.losses)
        first, rows, of_first, F = rows[:room], rows[room:], F[:room], F[room:]
        same = frozen.plan is state.plan
        Z = first.Z if same else frozen.plan.scaler(first.X)
        bets, rejected = test.bet(state.bets, finite_losses(frozen, Z, of_first if same else None))
        state = part.but(bets=bets, frozen=frozen if len(bets.losses) else None)
        if rejected is not None:
            state = state.with_event("shift", first.number, rejected, moved_from(state, first.X))
    return state
