"""What a stream learns about rows after they came: that they may be believed, or may not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .events import Event, Moved, moved
from .martingale import Bets
from .memory import Mask, Numbers, Vector
from .policy import far_out
from .renewal import held_out, renew
from .state import Settings, State, Trial

__all__ = ["adopt", "doubt", "forget", "moved_from", "taken_back", "tell"]

#: Smallest number of losses for a threshold.
_MIN_LOSSES = 20


def moved_from(state: State, X: Vector) -> tuple[Moved, ...]:
    """Columns that moved from rows believed normal to these."""
    return moved(state.memory.X[state.memory.counted], X)


def _trusting(settings: Settings, state: State, which: Mask, trust: float) -> State:
    """The stream with this trust in rows of a mask: their moments are added or taken out."""
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


def doubt(settings: Settings, state: State, known: Numbers) -> State:
    """Let the strange ones among the rows of an opening wait, unless they are known to be normal."""
    memory = state.memory
    if settings.patience is None or np.count_nonzero(memory.counted) < _MIN_LOSSES:
        return state
    cut = far_out(np.sort(memory.loss[memory.counted]), columns=memory.Z.shape[1])
    strange = memory.counted & (memory.loss > cut) & ~np.isin(memory.number, known)
    state = _trusting(settings, state, strange, 0.0)
    return replace(state, memory=state.memory.where(strange, counted=False, waiting=True))


def adopt(settings: Settings, state: State, numbers: Numbers, kind: str, evidence: float) -> State:
    """Believe rows that waited; a change leaves the threshold to them alone, and begins anew with its level."""
    which = np.isin(state.memory.number, numbers)
    columns = moved_from(state, state.memory.X[which])
    state = _trusting(settings, state, which, 1.0)
    memory = state.memory.where(which, waiting=False, counted=True, alarm=False)
    level = state.level
    if kind == "change":
        memory, level = replace(memory, counted=which), settings.delta
    since = float(np.min(memory.time[which]))
    state = replace(state, memory=memory, level=level, bets=Bets(seen=state.bets.seen), since=since)
    return renew(settings, state, drift=False).with_event(kind, memory.number[which], evidence, columns)


def tell(settings: Settings, state: State, numbers: Numbers, normal: Mask) -> State:
    """Labels of rows that came before; rows that are gone are past learning."""
    for value in (False, True):
        named = numbers[normal == value]
        pending = np.isin(state.pending.number, named)
        if np.any(pending):
            state = state.but(pending=state.pending.where(pending, trust=float(value)))
        which = np.isin(state.memory.number, named)
        if np.any(which):
            less = which & (state.memory.trust < 1) if value else which
            state = _trusting(settings, state, less, float(value))
            state = replace(state, memory=state.memory.where(which, counted=value, waiting=False))
            # What was strange is as a rule out of the reach of features that were chosen without it.
            state = renew(settings, state) if value else _with_enough(settings, state)
    if state.trial is None:
        return state
    without = tell(settings, state.trial.without, numbers, normal)
    return state.but(trial=replace(state.trial, without=without))


def _with_enough(settings: Settings, state: State) -> State:
    """The stream whose threshold, where it stood on rows that are gone, is on held-out losses of those that stay."""
    known = state.memory.trust > 0
    if int(state.memory.counted.sum()) >= min(_MIN_LOSSES, int(known.sum())):
        return state
    loss = held_out(settings, state, known)
    return replace(state, memory=replace(state.memory.where(known, loss=loss), counted=known))


def taken_back(state: State, trial: Trial) -> State:
    """What would be known without a trial, having told of it."""
    told = {"bets": state.bets, "n_events": state.n_events, "events": state.events}
    back = trial.without.but(**told, deceived=state.deceived + 1)
    lost = state.memory[(state.memory.trust > 0) & (state.memory.number >= trial.first)]
    lost = lost[~np.isin(lost.number, back.memory.number[back.memory.trust > 0])]
    return back.with_event("forgotten", lost.number, trial.odds, moved_from(back, lost.X))


def forget(settings: Settings, state: State, event: Event) -> State:
    """Take the rows of an adoption out again: from now on as if they had never been learned.

    With a change that is on trial goes all that was learned on its word.
    """
    if state.trial is not None and max(event.rows) >= state.trial.first:
        return taken_back(state, state.trial)
    which = np.isin(state.memory.number, np.asarray(event.rows))
    state = _trusting(settings, state, which, 0.0)
    state = replace(state, memory=state.memory.where(which, counted=False, waiting=False))
    if state.trial is not None:
        state = state.but(trial=replace(state.trial, without=forget(settings, state.trial.without, event)))
    if not np.any(state.memory.trust > 0):
        return state
    state = _with_enough(settings, state)
    state = state.but(deceived=state.deceived + (event.kind == "change"))
    return state.with_event("forgotten", state.memory.number[which], event.evidence, event.columns)
