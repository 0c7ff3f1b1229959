"""Pure functions for one call with new rows: they return the next state and the verdict on the rows."""

from __future__ import annotations

import copy

import numpy as np

from .events import Events
from .feedback import hold_back_anomalous
from .learning import begin, learn, scored
from .memory import Memory, Vector
from .parameters import ChangeDetector
from .result import Opening, Verdict
from .state import Settings, State

__all__ = ["last_time", "opened", "watched"]

#: Largest number of rows that are scored before the next are learned. No recorded measurement.
_MAX_BLOCK = 1024


def watched(
    settings: Settings,
    known: State,
    detector: ChangeDetector | None,
    X: Vector,
    time: Vector | None,
    given_trust: Vector,
) -> tuple[State, ChangeDetector | None, Verdict]:
    """Score rows, learn those accepted as normal, and return the next state, the detector and the verdict."""
    state, losses, labels = known, [], []
    for a in range(0, len(X), _MAX_BLOCK):
        block = slice(a, a + _MAX_BLOCK)
        state, features = scored(state, X[block], None if time is None else time[block], given_trust[block])
        new = state.pending[-len(X[block]) :]
        losses.append(new.loss)
        labels.append(np.where(new.alarm, -1, 1))
        if detector is not None:
            detector, state = _with_detector(copy.deepcopy(detector), state, new)
        if len(state.pending) >= settings.every:
            state = learn(settings, state, features)
    events = Events(event for event in state.events if event.number >= known.n_events)
    rows = np.arange(known.seen, state.seen)
    return state, detector, Verdict(rows, -np.concatenate(losses), np.concatenate(labels), events)


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
    state = begin(settings, opening.X, opening.time if settings.forgetting.clock else None, normal)
    return hold_back_anomalous(settings, state, np.flatnonzero(opening.told == 1)), verdict


def last_time(known: State | Opening | None) -> float:
    """Return the time of the latest row, or minus infinity before the first row."""
    if isinstance(known, State):
        return float(known.pending.time[-1]) if len(known.pending) else known.now
    return -np.inf if known is None else float(known.time[-1])


def _with_detector(detector: ChangeDetector, state: State, rows: Memory) -> tuple[ChangeDetector, State]:
    """Return the river detector after the p-values of these rows, and the state, with an event if it found a change."""
    found = False
    for p in state.calibration.p_value(rows.loss).tolist():
        detector.update(p)
        found = found or bool(detector.drift_detected)
    return detector, state.with_event("shift", rows.number, 0.0) if found else state
