"""Pure functions that return the state of a stream after more rows."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from .feedback import adopt, moved_from, taken_back
from .martingale import Bets
from .memory import Memory, Vector
from .plan_check import Fitting
from .policy import STRETCH, Patience, ripe
from .renewal import due, held_out, planned, renew
from .state import Settings, State
from .trial import on_trial, watched
from .trust import believed, corrected
from .updating import added, bounded

__all__ = ["begin", "judged", "learn"]


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
    state = State(
        plan, moments, memory, memory[:0], now, n, float(np.sum(w)), settings.delta, fit, Bets(), since=float(time[0])
    )
    memory = memory.where(memory.counted, loss=held_out(settings, state, memory.counted))
    return replace(state, memory=bounded(settings, memory)[0])


def judged(state: State, X: Vector, time: Vector | None, told: Vector) -> tuple[State, Vector]:
    """Return the state with more rows scored and pending, and the features of these rows.

    Parameters
    ----------
    state : State
        The state before the rows.
    X : array of shape (n, d)
        The new rows.
    time : array of shape (n,) or None
        Times of the rows, for a stream with a clock.
    told : array of shape (n,)
        1 for rows labelled as normal, 0 for rows labelled as anomalies, NaN for rows without a label.
    """
    Z = state.plan.scaler(X)
    F = state.plan.features(Z)
    loss = state.losses(Z, F)
    time = np.full(len(X), np.nan) if time is None else time
    rows = Memory.of(X, Z, number=state.seen, time=time, loss=loss, alarm=loss > state.threshold, trust=told)
    pending = state.pending + rows if len(state.pending) else rows
    return state.but(pending=pending, seen=state.seen + len(X)), F


def learn(settings: Settings, state: State, F: Vector | None = None) -> State:
    """Return the state after the pending rows.

    The steps are: decide which rows are learned, forget older rows, add the new rows, and adopt rows that were held
    back if the evidence is large enough. `F` holds the features of the new pending rows, if they are known already.
    """
    came, patience, before = state.pending, settings.patience, state.learned
    state, rows = state.but(pending=came[:0]), came
    if F is None or len(F) != len(rows):
        rows = replace(rows, Z=state.plan.scaler(rows.X))  # the plan may have changed since the rows were scored
        F = state.plan.features(rows.Z)
    state = _test(settings, state, rows)
    rows, alone, held = believed(patience, state, rows)
    if not settings.forgetting.clock:
        rows = replace(rows, time=state.now + np.cumsum(rows.trust))
    now, going_on = float(rows.time[-1]), bool(np.mean(state.memory.waiting[-STRETCH:]) > 0.5)
    state = added(settings, corrected(settings, state, rows, alone), rows, F, now)
    if patience is not None:
        fresh = held & np.isnan(came.trust)
        if np.any(fresh) and not going_on:
            evidence = patience.evidence(state.memory.number[state.memory.waiting], state.seen)
            state = state.with_event("strange", rows.number[fresh], evidence, moved_from(state, rows.X[fresh]))
        found = ripe(patience, state.memory, state.seen, state.plan.kernel)
        if found is not None:
            state = adopt(settings, state, found.rows, found.kind, found.evidence)
            return replace(state, trial=None, deceived=0 if found.kind == "change" else state.deceived)
        state = on_trial(settings, patience, state) if state.trial is None else _tried(settings, patience, state, came)
    surprised = bool(np.any(came.alarm & (came.trust > 0)))
    return renew(settings, state) if due(settings, state, before, surprised=surprised) else state


def _tried(settings: Settings, patience: Patience, state: State, rows: Memory) -> State:
    """Return the state after more rows of a trial: the trial continues, ends with the change kept, or is undone."""
    assert state.trial is not None
    without, F = judged(state.trial.without, rows.X, rows.time, rows.trust)
    trial = watched(state.trial, without)
    without = learn(replace(settings, patience=replace(patience, trial=math.inf), test=None), without, F)
    if trial.odds > 0:
        if state.seen - trial.first >= patience.rows:
            return state.but(trial=None, deceived=0)
        return state.but(trial=replace(trial, without=without))
    return taken_back(state, replace(trial, without=without))


def _test(settings: Settings, state: State, rows: Memory) -> State:
    """Return the state after the test for change of the losses of these rows."""
    # While the stream still learns new data, losses decrease, which the test would mistake for a change.
    if settings.test is None or state.now - state.since < settings.forgetting.span:
        return state
    bets, rejected = settings.test.bet(state.bets, rows.loss)
    state = state.but(bets=bets)
    return state if rejected is None else state.with_event("shift", rows.number, rejected, moved_from(state, rows.X))
