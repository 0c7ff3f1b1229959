"""Change the trust in rows after they were scored: adopt rows, apply late labels, and undo adoptions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .events import Event, Moved, moved
from .martingale import Bets
from .memory import Mask, Numbers, Vector
from .policy import anomaly_limit
from .renewal import held_out, renew
from .state import Settings, State, Trial
from .trust import with_confirmed_alarms

__all__ = ["adopt", "forget", "hold_back_anomalous", "moved_from", "tell", "undone"]

#: Smallest number of losses of normal rows on which the threshold depends. No recorded measurement.
_MIN_THRESHOLD_LOSSES = 20


def moved_from(state: State, X: Vector) -> tuple[Moved, ...]:
    """Return the columns whose medians differ most between the rows accepted as normal and the rows `X`."""
    return moved(state.memory.X[state.memory.counted], X)


def _with_trust(settings: Settings, state: State, which: Mask, trust: float) -> State:
    """Return the state in which the rows of a mask have this trust, with moments that follow the change exactly."""
    memory, forgetting = state.memory, settings.forgetting
    more = (np.where(which, trust, memory.trust) - memory.trust) * forgetting.weights(state.now - memory.time)
    moments = state.moments
    for sign in (1.0, -1.0):
        part = sign * more > 0
        if np.any(part):
            change = state.plan.moments(memory.X[part], sign * more[part])
            moments = moments + change if sign > 0 else moments - change
    learned = state.learned + float(np.sum(trust - memory.trust[which]))
    return replace(state, moments=moments, memory=memory.where(which, trust=trust), learned=learned)


def hold_back_anomalous(settings: Settings, state: State, known: Numbers) -> State:
    """Return the first state of a stream with its anomalous rows held back, except rows labelled as normal.

    Parameters
    ----------
    settings : Settings
        The parameters of the stream.
    state : State
        The state in which all first rows are learned.
    known : array of int
        Numbers of the rows labelled as normal.
    """
    memory = state.memory
    if settings.patience is None or np.count_nonzero(memory.counted) < _MIN_THRESHOLD_LOSSES:
        return state
    cut = anomaly_limit(np.sort(memory.loss[memory.counted]), columns=memory.Z.shape[1])
    anomalous = memory.counted & (memory.loss > cut) & ~np.isin(memory.number, known)
    state = _with_trust(settings, state, anomalous, 0.0)
    return replace(state, memory=state.memory.where(anomalous, counted=False, waiting=True))


def adopt(settings: Settings, state: State, numbers: Numbers, kind: str, evidence: float) -> State:
    """Return the state that has learned these rows, which were held back, with an event of this kind.

    After a "change" the threshold depends on the new rows alone, and its level starts again at delta.
    """
    which = np.isin(state.memory.number, numbers)
    columns = moved_from(state, state.memory.X[which])
    state = _with_trust(settings, state, which, 1.0)
    memory = state.memory.where(which, waiting=False, counted=True, alarm=False)
    level = state.level
    if kind == "change":
        memory, level = replace(memory, counted=which), settings.delta
    state = replace(state, memory=memory, level=level, bets=Bets(seen=state.bets.seen), frozen=None)
    return renew(settings, state, drift=False).with_event(kind, memory.number[which], evidence, columns)


def tell(settings: Settings, state: State, numbers: Numbers, normal: Mask) -> State:
    """Return the state after labels for earlier rows; labels of rows that the stream no longer keeps have no effect."""
    for value in (False, True):
        named = numbers[normal == value]
        pending = np.isin(state.pending.number, named)
        if np.any(pending):
            state = state.but(pending=state.pending.where(pending, trust=float(value)))
        which = np.isin(state.memory.number, named)
        if np.any(which):
            less = which & (state.memory.trust < 1) if value else which
            state = state if value else with_confirmed_alarms(settings, state, which)
            state = _with_trust(settings, state, less, float(value))
            state = replace(state, memory=state.memory.where(which, counted=value, waiting=False))
            # The landmarks were chosen without these rows, and represent rows that were anomalous poorly.
            state = renew(settings, state) if value else _with_enough_losses(settings, state)
    if state.trial is None:
        return state
    without = tell(settings, state.trial.without, numbers, normal)
    return state.but(trial=replace(state.trial, without=without))


def _with_enough_losses(settings: Settings, state: State) -> State:
    """Return the state, with held-out losses of all learned rows for the threshold if too few losses remain."""
    known = state.memory.trust > 0
    if int(state.memory.counted.sum()) >= min(_MIN_THRESHOLD_LOSSES, int(known.sum())):
        return state
    loss = held_out(settings, state, known)
    return replace(state, memory=replace(state.memory.where(known, loss=loss), counted=known))


def undone(state: State, trial: Trial) -> State:
    """Return the state without the change on trial, with the events so far and a new event "forgotten"."""
    kept = {"bets": state.bets, "frozen": state.frozen, "n_events": state.n_events, "events": state.events}
    back = trial.without.but(**kept, deceived=state.deceived + 1)
    lost = state.memory[(state.memory.trust > 0) & (state.memory.number >= trial.first)]
    lost = lost[~np.isin(lost.number, back.memory.number[back.memory.trust > 0])]
    return back.with_event("forgotten", lost.number, trial.odds, moved_from(back, lost.X))


def forget(settings: Settings, state: State, event: Event) -> State:
    """Return the state without the rows that an event adopted, as if they had never been learned.

    If the change is still on trial, the state also loses what the stream learned since the change.
    """
    if state.trial is not None and max(event.rows) >= state.trial.first:
        return undone(state, state.trial)
    which = np.isin(state.memory.number, np.asarray(event.rows))
    state = _with_trust(settings, state, which, 0.0)
    state = replace(state, memory=state.memory.where(which, counted=False, waiting=False))
    if state.trial is not None:
        state = state.but(trial=replace(state.trial, without=forget(settings, state.trial.without, event)))
    if not np.any(state.memory.trust > 0):
        return state
    state = _with_enough_losses(settings, state)
    state = state.but(deceived=state.deceived + (event.kind == "change"))
    return state.with_event("forgotten", state.memory.number[which], event.evidence, event.columns)
