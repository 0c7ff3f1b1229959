"""Decide which scored rows a stream learns, and correct the level of its threshold.

The constants were chosen on the streams of docs/streams_measured.md. Unless a comment says otherwise, there is no
recorded measurement of a single constant.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from .memory import Mask, Memory
from .policy import (
    SHORT_BURST,
    anomaly_limit,
    burst_lengths,
    in_bursts,
    neighbor_support,
    quantiles,
    soft_trust,
    trusted_rows,
)
from .state import Settings, State

__all__ = ["decide_trust", "with_confirmed_alarms", "with_corrected_level"]

#: Smallest number of losses of normal rows from which the limit for anomalous rows is estimated.
_MIN_LIMIT_LOSSES = 20
#: Share of the normal rows, those with the smallest losses, whose neighbors are not checked.
_UNCHECKED_SHARE = 0.75
#: Smallest support by trusted neighbors of a row that is not held back.
_MIN_SUPPORT = 0.5
#: Change of the level by one false alarm, in units of `delta` (adaptive conformal inference).
_LEVEL_STEP = 0.1
#: Smallest level, in units of `delta`. At a level of zero or less, only a loss above the whole calibration is an alarm.
_MIN_LEVEL = -10.0
#: Largest level, in units of `delta`. The level is also at most 0.5.
_MAX_LEVEL = 10.0
#: Share of all rows, in units of `delta`, that count as anomalies among single alarms that are held back. Further
#: single alarms are false. Without anomalies, the rate of alarms is at most this share above `delta`.
_ANOMALY_SHARE = 0.2
#: Number of latest rows over which the share of single alarms is averaged (the decay length of an exponential mean).
_AVERAGED_ROWS = 200
#: Number of latest rows in which bursts that have ended are searched.
_SEARCHED_ROWS = 200


def decide_trust(settings: Settings, state: State, rows: Memory) -> tuple[Memory, Mask, Mask]:
    """Return the rows with their trust, and two masks of rows held back: single alarms, and rows in a burst.

    A label that is given with a row decides its trust. Other rows are held back if they are anomalous, in a burst, or
    have too few trusted neighbors. The remaining rows get a weight that decreases with their loss.
    """
    given_trust, none = rows.trust, np.zeros(len(rows), dtype=bool)
    known = ~np.isnan(given_trust)
    normal = known & (given_trust > 0)
    patience = settings.patience
    if patience is None:
        trust = np.where(known, given_trust, 1.0)
        return replace(rows, trust=trust, counted=trust > 0, waiting=none), none, none
    losses, columns = state.accepted, rows.Z.shape[1]
    missing = _excess(state.alone, settings.delta)  # normal rows that are held back
    enough = len(losses) >= _MIN_LIMIT_LOSSES
    cut = max(anomaly_limit(losses, missing, columns=columns), state.threshold) if enough else np.inf
    anomalous = rows.loss > cut
    in_burst = in_bursts(state.memory.alarm, rows.alarm) if enough else none
    support = np.ones(len(rows))
    if enough and columns > 1:
        # Neighbors are checked only for the quarter of the rows with the largest losses. They are not checked in data
        # with a single column: rows at its ends have only each other as neighbors, so that one row held back would
        # cause the next to be held back.
        checked, memory = rows.loss > quantiles(losses, _UNCHECKED_SHARE), state.memory
        support[checked] = neighbor_support(state.plan.kernel, rows.Z[checked], memory.Z, trusted_rows(memory))
    trust = support * soft_trust(rows.loss, state.threshold, patience.steepness)
    held_back = anomalous | in_burst | (support < _MIN_SUPPORT)
    counted = np.where(known, normal, ~held_back)
    waiting = ~known & held_back
    trust = np.where(known, given_trust, np.where(held_back, 0.0, trust))
    return replace(rows, trust=trust, counted=counted, waiting=waiting), waiting & rows.alarm & ~in_burst, in_burst


def with_corrected_level(settings: Settings, state: State, rows: Memory, alone: Mask) -> State:
    """Return the state with the level after these rows: lower after false alarms, higher after other rows.

    Alarms that are held back may be anomalies or false alarms. Among single alarms, up to a fifth of `delta` of all
    rows count as anomalies, and those beyond this share count as false. A burst counts as anomalies if it is long. A
    short burst counts as false alarms when it is over, unless its rows were labelled.
    """
    share = state.alone + (float(np.mean(alone)) - state.alone) * -math.expm1(-len(rows) / _AVERAGED_ROWS)
    false = _excess(share, settings.delta) / share if share > 0 else 0.0
    miss, over = rows.alarm - settings.delta, _ended_bursts(state.memory, rows).alarm - settings.delta
    total = float(np.sum(miss[rows.counted]) + false * np.sum(miss[alone]) + np.sum(over))
    step = _LEVEL_STEP * settings.delta * total
    level = float(np.clip(state.level - step, _MIN_LEVEL * settings.delta, min(_MAX_LEVEL * settings.delta, 0.5)))
    return replace(state, level=level, alone=share)


def with_confirmed_alarms(settings: Settings, state: State, confirmed: Mask) -> State:
    """Return the state with the level raised by what alarms in the memory had lowered it, now labelled as anomalies."""
    memory = state.memory
    length = burst_lengths(memory.alarm)
    single = _excess(state.alone, settings.delta) / state.alone if state.alone > 0 else 0.0
    held_back = np.where(length == 0, single, length <= SHORT_BURST) * memory.waiting
    counted = float(np.sum(np.where(memory.counted, 1.0, held_back)[confirmed & memory.alarm]))
    level = state.level + _LEVEL_STEP * settings.delta * (1 - settings.delta) * counted
    return replace(state, level=min(level, max(state.level, settings.delta)))


def _excess(alone: float, delta: float) -> float:
    """Return the share of normal rows among all rows, if a share `alone` of all rows are single alarms held back."""
    return max(0.0, alone - _ANOMALY_SHARE * delta)


def _ended_bursts(memory: Memory, rows: Memory) -> Memory:
    """Return the rows held back that are in a short burst of which only the new rows show that it is over."""
    known = memory[-_SEARCHED_ROWS:]
    latest = known + rows if len(known) else rows
    length, before = burst_lengths(latest.alarm), np.full(len(latest), np.inf)
    before[: len(known)] = burst_lengths(known.alarm)
    return latest[latest.waiting & (length > 0) & (length <= SHORT_BURST) & (before == np.inf)]
