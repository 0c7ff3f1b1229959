"""Adopt a change provisionally when no row resembles the earlier data, and undo it when such rows return.

During a burst of anomalies, normal rows usually continue to arrive; after a change they do not. So the stream counts
*ordinary* rows: rows with a loss that three quarters of the earlier normal rows stay below. It compares two
assumptions. After a change, 0.5 % of the rows are ordinary by chance. During a burst, a tenth of the rows belong to the
earlier data, and three quarters of these are ordinary. The *odds* are the logarithm of the likelihood ratio of these
assumptions. The constants were chosen on the streams of docs/streams_measured.md; there is no recorded measurement of a
single constant.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from .feedback import adopt
from .memory import Vector
from .policy import Patience, quantiles
from .state import Settings, State, Trial

__all__ = ["start_trial", "with_odds"]

#: Share of the earlier normal rows that are ordinary.
_ORDINARY_SHARE = 0.75
#: Assumed share of ordinary rows after a complete change.
_ORDINARY_AFTER_CHANGE = 0.005
#: Assumed share of rows of the earlier data during a burst of anomalies.
_EARLIER_DATA_IN_BURST = 0.1
#: Smallest ratio of the spread of the new rows to that of the rows learned last. Rows with a smaller spread are too
#: similar to be a change, as the rows of a fault or of an attack often are.
_MIN_SPREAD_RATIO = 0.7
#: Smallest share of rows held back, among the rows since a change began, at which a trial may start.
_MIN_HELD_BACK = 0.5
#: Factor on the number of rows that a trial needs, for each trial that was undone.
_UNDONE_FACTOR = 2.0
#: Relative slack for rounding errors when odds are compared.
_ODDS_SLACK = 1e-9
#: What an ordinary row adds to the odds (a negative number).
_ORDINARY_GAIN = math.log(_ORDINARY_AFTER_CHANGE / (_EARLIER_DATA_IN_BURST * _ORDINARY_SHARE))
#: What any other row adds to the odds.
_OTHER_GAIN = math.log((1 - _ORDINARY_AFTER_CHANGE) / (1 - _EARLIER_DATA_IN_BURST * _ORDINARY_SHARE))


def start_trial(settings: Settings, patience: Patience, state: State) -> State:
    """Return the state with a trial, if a change has come after which no row resembles the earlier data."""
    # Each trial that was undone doubles the number of rows that the next trial needs.
    memory, long_enough = state.memory, patience.trial * _UNDONE_FACTOR**state.deceived
    if long_enough >= patience.rows or not np.any(memory.waiting[-1:]):
        return state
    odds = np.cumsum(_odds_gains(state, memory.loss)[::-1])
    long = int(np.argmax(odds))
    since = memory[len(memory) - 1 - long :]
    if odds[long] < long_enough * _OTHER_GAIN * (1 - _ODDS_SLACK) or np.mean(since.waiting) < _MIN_HELD_BACK:
        return state
    if _is_too_similar(state, since.X[since.waiting]):
        return state
    adopted = adopt(settings, state, since.number[since.waiting], "change", float(odds[long]))
    return replace(adopted, trial=Trial(state, int(since.number[0]), float(odds[long])))


def with_odds(trial: Trial, without: State) -> Trial:
    """Return the trial with the odds after more rows, which are pending in `without`, the state without the change."""
    return replace(trial, odds=trial.odds + float(np.sum(_odds_gains(without, without.pending.loss))))


def _is_too_similar(state: State, X: Vector) -> bool:
    """Return whether the rows are too similar to be a change, compared with as many of the rows learned last."""
    latest = state.memory.X[state.memory.trust > 0][-len(X) :]
    new, old = (np.mean(np.abs(rows - np.median(rows, axis=0)) / state.plan.scaler.scale) for rows in (X, latest))
    return bool(new < _MIN_SPREAD_RATIO * old)


def _odds_gains(state: State, losses: Vector) -> Vector:
    """Return what a row of each loss adds to the odds that no rows of the earlier data arrive any more."""
    return np.where(losses <= quantiles(state.accepted, _ORDINARY_SHARE), _ORDINARY_GAIN, _OTHER_GAIN)
