"""The pure functions that lead from what a stream knows to what it knows after more rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core.moments import Moments
from ..core.plan import Plan
from .feedback import adopt, moved_from
from .fitting import Fitting
from .martingale import Bets
from .memory import Memory, Vector
from .patience import (
    STRETCH,
    Patience,
    backing,
    far_out,
    in_stretches,
    ripe,
    soft_trust,
    trusted_rows,
)
from .renewal import due, held_out, planned, renew
from .state import Settings, State

__all__ = ["begin", "judged", "learn"]

#: Losses that it takes to tell who is strange.
_ENOUGH = 20
#: Feedback on the level for one row, in units of the rate asked for; and the bounds of the level in these units.
_STEP, _LOWEST, _HIGHEST = 0.1, 0.04, 10.0
#: What a strange row by itself counts as a false alarm: it may be either.
_EITHER = 0.5
#: Backing below which a row waits.
_DOUBTED = 0.5
#: Weight below which a world is not forgotten any further.
_LEAST = 1e-9


def begin(settings: Settings, X: Vector, time: Vector | None, w: Vector) -> State:
    """The stream that opens with rows that are believed."""
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
    return replace(state, memory=_bounded(settings, memory)[0])


def judged(state: State, X: Vector, time: Vector | None, told: Vector) -> tuple[State, Vector]:
    """The stream with more rows pending, and their features."""
    Z = state.plan.scaler(X)
    F = state.plan.features(Z)
    loss = state.losses(Z, F)
    time = np.full(len(X), np.nan) if time is None else time
    rows = Memory.of(X, Z, number=state.seen, time=time, loss=loss, alarm=loss > state.threshold, trust=told)
    pending = state.pending + rows if len(state.pending) else rows
    return state.but(pending=pending, seen=state.seen + len(X)), F


def learn(settings: Settings, state: State, F: Vector | None = None) -> State:
    """Learn what is pending: believe, forget, add, and adopt what waited long enough.

    The features `F` of all of it may be known already.
    """
    rows, patience, before = state.pending, settings.patience, state.learned
    state = state.but(pending=rows[:0])
    if F is None or len(F) != len(rows):
        rows = replace(rows, Z=state.plan.scaler(rows.X))  # there may be another plan since they came
        F = state.plan.features(rows.Z)
    state = _test(settings, state, rows)
    told = rows.trust
    rows, single, held = _believed(patience, state, rows)
    # Feedback by rows believed normal; strange ones by themselves may be either.
    miss = rows.alarm.astype(float) - settings.delta
    step = _STEP * settings.delta * float(np.sum(miss[rows.counted]) + _EITHER * np.sum(miss[single]))
    level = float(np.clip(state.level - step, _LOWEST * settings.delta, min(_HIGHEST * settings.delta, 0.5)))
    if not settings.forgetting.clock:
        rows = replace(rows, time=state.now + np.cumsum(rows.trust))
    now, going_on = float(rows.time[-1]), bool(np.mean(state.memory.waiting[-STRETCH:]) > 0.5)
    state = _added(settings, replace(state, level=level), rows, F, now)
    if patience is None:
        return renew(settings, state) if due(settings, state, before) else state
    fresh = held & np.isnan(told)
    if np.any(fresh) and not going_on:
        evidence = patience.evidence(state.memory.number[state.memory.waiting], state.seen)
        state = state.with_event("strange", rows.number[fresh], evidence, moved_from(state, rows.X[fresh]))
    waiting, good = state.memory[state.memory.waiting], state.memory[trusted_rows(state.memory)]
    found = ripe(patience, waiting, good, state.seen, state.plan.kernel)
    if found is not None:
        return adopt(settings, state, waiting.number[found.rows], found.kind, found.evidence)
    return renew(settings, state) if due(settings, state, before) else state


def _test(settings: Settings, state: State, rows: Memory) -> State:
    if settings.test is None:
        return state
    bets, rejected = settings.test.bet(state.bets, rows.loss)
    state = state.but(bets=bets)
    return state if rejected is None else state.with_event("shift", rows.number, rejected, moved_from(state, rows.X))


def _believed(patience: Patience | None, state: State, rows: Memory) -> tuple[Memory, Vector, Vector]:
    """The rows with what is believed of them, those that are strange by themselves, and those held in a stretch."""
    told, none = rows.trust, np.zeros(len(rows), dtype=bool)
    known = ~np.isnan(told)
    normal = known & (told > 0)
    if patience is None:
        trust = np.where(known, told, 1.0)
        return replace(rows, trust=trust, counted=trust > 0, waiting=none), none, none
    losses = state.calibration.losses
    sure = len(losses) >= _ENOUGH
    strange = rows.loss > max(far_out(losses), state.threshold) if sure else none
    held = in_stretches(state.memory.alarm, rows.alarm) if sure else none
    backed = np.ones(len(rows))
    if sure:
        # Rows less strange than most need nobody to vouch for them.
        asked, memory = rows.loss > np.median(losses), state.memory
        backed[asked] = backing(state.plan.kernel, rows.Z[asked], memory.Z, trusted_rows(memory))
    trust = backed * soft_trust(rows.loss, state.threshold, patience.steepness)
    doubted = strange | held | (backed < _DOUBTED)
    counted = np.where(known, normal, ~doubted)
    waiting = ~known & doubted
    trust = np.where(known, told, np.where(doubted, 0.0, trust))
    return replace(rows, trust=trust, counted=counted, waiting=waiting), ~known & strange & ~held, held


def _added(settings: Settings, state: State, rows: Memory, F: Vector, now: float) -> State:
    """Forget up to now, then add the rows."""
    forgetting = settings.forgetting
    moments, memory = state.moments, state.memory
    arriving = rows.trust > 0
    stays = forgetting.inside(now - memory.time)
    if not np.any(stays & (memory.trust > 0)) and not np.any(arriving):
        stays[:] = True  # nothing came that could replace the world
    memory, gone = memory[stays], memory[~stays]
    moments = _without(state.plan, moments, memory, gone)
    if forgetting.half_life is not None and state.weight > 0:
        rho = float(forgetting.weights(np.array([now - state.now]))[0])
        moments = moments.decay(max(rho, min(1.0, _LEAST / state.weight)))
    if np.any(arriving):
        w = rows.trust * forgetting.weights(now - rows.time)
        everything = bool(np.all(arriving))
        part = (rows.Z, F, w) if everything else (rows.Z[arriving], F[arriving], w[arriving])
        moments = moments + state.plan.moments_of(*part)
    memory, gone = _bounded(settings, memory + rows if len(memory) else rows)
    if forgetting.window is not None:
        moments = _without(state.plan, moments, memory, gone)
    learned = state.learned + float(np.sum(rows.trust))
    return replace(state, moments=moments, memory=memory, now=now, learned=learned)


def _without(plan: Plan, moments: Moments, stays: Memory, gone: Memory) -> Moments:
    """Moments less those of rows of a window that are gone, by subtraction, or anew where that is less work."""
    gone, stays = gone[gone.trust > 0], stays[stays.trust > 0]
    if not len(gone):
        return moments
    if len(gone) >= len(stays):
        return plan.moments(stays.X, stays.trust)
    return moments - plan.moments(gone.X, gone.trust)


def _bounded(settings: Settings, memory: Memory) -> tuple[Memory, Memory]:
    """As many rows as may be kept, and those that must go: the oldest without trust, then the oldest."""
    kept = np.ones(len(memory), dtype=bool)
    useless = np.flatnonzero(memory.trust == 0)
    room = settings.patience.kept if settings.patience else 0
    kept[useless[: max(0, len(useless) - room)]] = False
    places = np.flatnonzero(kept)
    size = settings.forgetting.size + room
    if len(places) > size:
        kept[places[: len(places) - int(size)]] = False
    return (memory, memory[:0]) if np.all(kept) else (memory[kept], memory[~kept])
