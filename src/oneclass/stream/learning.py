"""Functions that return the state of a stream after more rows, labels, adoptions and undone adoptions."""

from __future__ import annotations

import copy
import math
from dataclasses import replace

import numpy as np

from ..core.caching import preset
from .events import Bets, Event, Events, Moved, Verdict, moved
from .known import learned, renewed, with_answers
from .parameters import ChangeDetector
from .plan import Fitting, due, held_out, planned
from .policy import POLICY, Patience
from .reference import Reference, released, unlearned, with_reference
from .state import Opening, Settings, State, Trial, finite_losses
from .trust import adoptable, decided, quantile, soft_trust, too_similar, with_confirmed_alarms, with_corrected_level
from .window import Mask, Memory, Numbers, Vector, added, bounded, with_trust

__all__ = ["adopt", "begin", "forget", "learn", "opened", "scored", "tell", "watched"]

#: Largest number of rows that are scored before the next are learned. It bounds memory. The level is corrected after
#: each block. With 1,000 independent rows it overshoots: 8 to 10 % were alarms for 5 % asked.
#: With at most 500 it was 4.5 %. Of rare anomalies 99 % were found with 256 rows and 85 % with 500 (torture/soak.py).
_MAX_BLOCK = 256
#: Largest number of times that trials which were undone double the number of rows that the next one needs.
_MAX_DOUBLINGS = 30

# The start of a stream.


def opened(
    settings: Settings, known: Opening | None, X: Vector, time: Vector | None, given_trust: Vector
) -> tuple[State | Opening, Verdict]:
    """Return the first state of a stream, or the collected rows if they are too few, and the verdict on the new rows.

    A first call with at least two rows starts the stream. Single rows are collected until there are `every` of them.
    All rows until the start are labelled as normal, with a score of zero.
    """
    alone = known is not None or len(X) < 2
    opening = Opening(X, np.full(len(X), np.nan) if time is None else time, given_trust)
    if known is not None:
        parts = zip(vars(known).values(), vars(opening).values(), strict=True)
        opening = Opening(*(np.concatenate(pair) for pair in parts))
    n = len(opening.X)
    verdict = Verdict(np.arange(n - len(X), n), np.zeros(len(X)), np.ones(len(X), dtype=int), ())
    normal = np.where(np.isnan(opening.told), 1.0, opening.told)
    if n < (settings.every if alone else 2) or np.count_nonzero(normal) < 2:
        return opening, verdict
    time, labelled = opening.time if settings.forgetting.clock else None, opening.told == 1
    return _screened(settings, begin(settings, opening.X, time, normal, labelled), np.flatnonzero(labelled)), verdict


def begin(settings: Settings, X: Vector, time: Vector | None, w: Vector, labelled: Mask) -> State:
    """Return the first state of a stream, which has learned the rows `X` with the weights `w`."""
    n = len(X)
    time = np.cumsum(w) if time is None else time
    now = float(time[-1])
    inside = settings.forgetting.inside(now - time)
    weights = w * settings.forgetting.weights(now - time)
    plan, moments = planned(settings, X[inside], weights[inside], labelled[inside])
    nothing, none = np.zeros(n), np.zeros(n, dtype=bool)
    memory = Memory.of(X, plan.scaler(X), number=0, time=time, loss=nothing, alarm=none, trust=w, boost=nothing)
    memory = replace(memory, counted=w > 0, labelled=labelled)[inside]
    fit = Fitting.at_first(plan, moments, memory)
    state = State(plan, moments, memory, memory[:0], now, n, float(np.sum(w)), settings.delta, fit, Bets())
    memory = memory.where(memory.counted, loss=held_out(settings, state, memory.counted))
    return replace(state, memory=bounded(settings, memory)[0], reference=Reference.at_first(settings))


def _screened(settings: Settings, state: State, known: Numbers) -> State:
    """Return the first state of a stream with smaller weights for unusual rows, except rows labelled as normal.

    Rows with a weight below 1/2 are held back, as in `decided`.

    Parameters
    ----------
    settings : Settings
        The parameters of the stream.
    state : State
        The state in which all first rows are learned.
    known : array of int
        Numbers of the rows labelled as normal.
    """
    memory, patience = state.memory, settings.patience
    if patience is None or np.count_nonzero(memory.counted) < POLICY.min_losses:
        return state
    unlabelled = memory.counted & ~np.isin(memory.number, known)
    trust = soft_trust(memory.loss, state.threshold, patience.steepness)
    anomalous = unlabelled & (trust < POLICY.min_trust)
    state = with_trust(settings, state, unlabelled, np.where(anomalous, 0.0, trust))
    return replace(state, memory=state.memory.where(anomalous, counted=False, waiting=True))


# More rows.


def watched(
    settings: Settings,
    known: State,
    detector: ChangeDetector | None,
    X: Vector,
    time: Vector | None,
    given_trust: Vector,
) -> tuple[State, ChangeDetector | None, Verdict]:
    """Score rows, learn them as their labels and `patience` say, and return the state, the detector and the verdict."""
    state, losses, labels = known, [], []
    for a in range(0, len(X), _MAX_BLOCK):
        block = slice(a, a + _MAX_BLOCK)
        state, new, features = scored(state, X[block], None if time is None else time[block], given_trust[block])
        losses.append(new.loss)
        labels.append(np.where(new.alarm, -1, 1))
        if detector is not None:
            detector, state = _with_detector(copy.deepcopy(detector), state, new)
        if len(state.pending) >= settings.every:
            state = learn(settings, state, features)
    events = Events(event for event in state.events if event.number >= known.n_events)
    rows = np.arange(known.seen, state.seen)
    return state, detector, Verdict(rows, -np.concatenate(losses), np.concatenate(labels), events)


def scored(state: State, X: Vector, time: Vector | None, given_trust: Vector) -> tuple[State, Memory, Vector]:
    """Return the state with more rows scored and pending, these rows, and their features.

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
    loss, boost = state.losses(Z, F)
    time = np.full(len(X), np.nan) if time is None else time
    alarm = loss > state.threshold
    rows = Memory.of(X, Z, number=state.seen, time=time, loss=loss, alarm=alarm, trust=given_trust, boost=boost)
    pending = state.pending + rows if len(state.pending) else rows
    return state.but(pending=pending, seen=state.seen + len(X)), rows, F


def _with_detector(detector: ChangeDetector, state: State, rows: Memory) -> tuple[ChangeDetector, State]:
    """Return the river detector after the p-values of these rows, and the state, with an event if it found a change."""
    found = False
    for p in state.calibration.p_value(rows.loss).tolist():
        detector.update(p)
        found = found or bool(detector.drift_detected)
    return detector, state.with_event("shift", rows.number, 0.0) if found else state


def learn(settings: Settings, state: State, F: Vector | None = None) -> State:
    """Return the state after the pending rows.

    The steps are: decide which rows are learned, forget older rows, add the new rows, and adopt rows that were held
    back if the evidence is large enough. `F` holds the features of the new pending rows, if they are known already.
    """
    pending, patience, before = state.pending, settings.patience, state.learned
    anomalies = pending.number[pending.trust == 0]  # by their labels
    if len(anomalies):
        state = with_answers(state, anomalies, np.zeros(len(anomalies), dtype=bool))
    state, rows = state.but(pending=pending[:0]), pending
    if F is None or len(F) != len(rows):
        rows = replace(rows, Z=state.plan.scaler(rows.X))  # the plan may have changed since the rows were scored
        F = state.plan.features(rows.Z)
    state = _test_for_change(settings, state, rows, F)
    state = _compared(with_reference(settings, state), rows)
    rows, in_burst = decided(settings, state, rows)
    rows = unlearned(state, rows, ~np.isnan(pending.trust))
    if not settings.forgetting.clock:
        rows = replace(rows, time=state.now + np.cumsum(rows.trust))
    burst_before = 2 * np.count_nonzero(state.memory.waiting[-POLICY.stretch :]) > POLICY.stretch
    fitted = state
    state = added(settings, with_corrected_level(settings, state, rows, in_burst), rows, F)
    if state.moments is fitted.moments:  # nothing was learned or forgotten
        state = preset(state, machine=fitted.machine)
    state = learned(settings, state) if len(anomalies) else state
    strange = rows[in_burst & rows.waiting]
    if patience is not None and len(strange) and not burst_before:
        evidence = patience.evidence(state.memory.number[state.memory.waiting], state.seen)
        state = state.with_event("strange", strange.number, evidence, _moved_from(state, strange.X))
    if patience is not None:
        found = adoptable(patience, state.memory, state.seen, state.plan.kernel)
        if found is not None:
            state = adopt(settings, state, found.rows, found.kind, found.evidence)
            return replace(state, trial=None, deceived=0 if found.kind == "change" else state.deceived)
        go_on = _start_trial if state.trial is None else _continue_trial
        state = go_on(settings, patience, state, pending)
        if state.reference is not None and state.reference.differs(patience):
            return renewed(settings, released(settings, state))
    learned_alarms = bool(np.any(pending.alarm & (pending.trust > 0)))
    return renewed(settings, state) if due(settings, state, before, learned_alarms=learned_alarms) else state


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
            state = state.with_event("shift", first.number, rejected, _moved_from(state, first.X))
    return state


def _compared(state: State, rows: Memory) -> State:
    """Return the state with the ranks of these unlabelled rows added, unless the comparison is over."""
    reference, rows = state.reference, rows[np.isnan(rows.trust)]
    if reference is None or reference.machine is None or not len(rows):
        return state
    machine = reference.machine
    return state.but(reference=reference.after(finite_losses(machine, machine.plan.scaler(rows.X))))


# Adoption, provisionally or not.


def adopt(settings: Settings, state: State, numbers: Numbers, kind: str, evidence: float) -> State:
    """Return the state that has learned these rows, which were held back, with an event of this kind.

    After a "change" the threshold depends on the new rows alone, and its level starts again at delta.
    """
    state = released(settings, state) if kind == "mode" else state.but(reference=None)
    which = np.isin(state.memory.number, numbers)
    columns = _moved_from(state, state.memory.X[which])
    state = with_trust(settings, state, which, 1.0)
    memory = state.memory.where(which, waiting=False, counted=True, alarm=False)
    level = state.level
    if kind == "change":
        memory, level = replace(memory, counted=which), settings.delta
    state = replace(state, memory=memory, level=level, bets=Bets(seen=state.bets.seen), frozen=None)
    return renewed(settings, state, drift=False).with_event(kind, memory.number[which], evidence, columns)


def _start_trial(settings: Settings, patience: Patience, state: State, _: Memory) -> State:
    """Return the state with a trial, if a change has come after which no row resembles the earlier data.

    During a burst of anomalies, normal rows usually continue to arrive; after a change they do not. So a trial needs a
    run of rows without an ordinary row.
    """
    memory, needed = state.memory, patience.trial * 2.0 ** min(state.deceived, _MAX_DOUBLINGS)
    if needed >= patience.rows or not np.any(memory.waiting[-1:]):
        return state
    latest = np.flatnonzero(memory.loss <= quantile(state.accepted, POLICY.ordinary))
    since = memory[latest[-1] + 1 if latest.size else 0 :]
    if len(since) < needed or np.mean(since.waiting) < POLICY.min_held_back:
        return state
    held_back = since[since.waiting]
    learned_last = memory.X[memory.trust > 0][-len(held_back) :]
    if too_similar(held_back.X, learned_last, state.plan.scaler.scale):
        return state
    adopted = adopt(settings, state, held_back.number, "change", float(len(since)))
    return replace(adopted, trial=Trial(state, int(since.number[0])))


def _continue_trial(settings: Settings, patience: Patience, state: State, rows: Memory) -> State:
    """Return the state after more rows of a trial: the trial continues, ends with the change kept, or is undone."""
    assert state.trial is not None
    without, _, F = scored(state.trial.without, rows.X, rows.time, rows.trust)
    resembling = without.pending.loss <= quantile(without.accepted, POLICY.ordinary)
    ordinary, lasting = state.trial.ordinary + int(np.sum(resembling)), state.seen - state.trial.first
    without = learn(replace(settings, patience=replace(patience, trial=math.inf), test=None), without, F)
    trial = replace(state.trial, without=without, ordinary=ordinary)
    if ordinary > POLICY.returning * lasting:
        return _undone(state, trial)
    return state.but(trial=None, deceived=0) if lasting >= patience.rows else state.but(trial=trial)


def _undone(state: State, trial: Trial) -> State:
    """Return the state without the change on trial, with the events so far and a new event "forgotten"."""
    kept = {"bets": state.bets, "frozen": state.frozen, "n_events": state.n_events, "events": state.events}
    back = trial.without.but(**kept, deceived=state.deceived + 1)
    lost = state.memory[(state.memory.trust > 0) & (state.memory.number >= trial.first)]
    lost = lost[~np.isin(lost.number, back.memory.number[back.memory.trust > 0])]
    return back.with_event("forgotten", lost.number, 0.0, _moved_from(back, lost.X))


# Labels that arrive later, and adoptions that are undone on request.


def tell(settings: Settings, state: State, numbers: Numbers, normal: Mask) -> State:
    """Return the state after labels for earlier rows; labels of rows that the stream no longer keeps have no effect.

    Rows labelled as anomalies become known outliers.
    """
    state = with_answers(state, numbers, normal)
    for value in (False, True):
        named = numbers[normal == value]
        pending = np.isin(state.pending.number, named)
        if np.any(pending):
            state = state.but(pending=state.pending.where(pending, trust=float(value)))
        which = np.isin(state.memory.number, named)
        if np.any(which):
            less = which & (state.memory.trust < 1) if value else which
            state = state if value else with_confirmed_alarms(settings, state, which)
            state = with_trust(settings, state, less, float(value))
            state = replace(state, memory=state.memory.where(which, counted=value, waiting=False, labelled=value))
            # The landmarks were chosen without these rows, and represent rows that were anomalous poorly.
            state = renewed(settings, state) if value else _with_enough_losses(settings, state)
    if state.anomalies is not None or state.known is not None:
        state = learned(settings, state)
    if state.trial is None:
        return state
    without = tell(settings, state.trial.without, numbers, normal)
    return state.but(trial=replace(state.trial, without=without))


def _with_enough_losses(settings: Settings, state: State) -> State:
    """Return the state, with held-out losses of all learned rows for the threshold if too few losses remain."""
    known = state.memory.trust > 0
    if int(state.memory.counted.sum()) >= min(POLICY.min_losses, int(known.sum())):
        return state
    loss = held_out(settings, state, known) * np.exp(state.memory.boost[known])
    return replace(state, memory=replace(state.memory.where(known, loss=loss), counted=known))


def forget(settings: Settings, state: State, event: Event) -> State:
    """Return the state without the rows that an event adopted, as if they had never been learned.

    If the change is still on trial, the state also loses what the stream learned since the change.
    """
    if state.trial is not None and max(event.rows) >= state.trial.first:
        return _undone(state, state.trial)
    which = np.isin(state.memory.number, np.asarray(event.rows))
    state = with_trust(settings, state, which, 0.0)
    state = replace(state, memory=state.memory.where(which, counted=False, waiting=False))
    if state.trial is not None:
        state = state.but(trial=replace(state.trial, without=forget(settings, state.trial.without, event)))
    if not np.any(state.memory.trust > 0):
        return state
    state = _with_enough_losses(settings, state)
    state = state.but(deceived=state.deceived + (event.kind == "change"))
    return state.with_event("forgotten", state.memory.number[which], event.evidence, event.columns)


def _moved_from(state: State, X: Vector) -> tuple[Moved, ...]:
    """Return the columns whose medians differ most between the rows accepted as normal and the rows `X`."""
    return moved(state.memory.X[state.memory.counted], X)
