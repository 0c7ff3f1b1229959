"""Decide which scored rows a stream learns, and correct the level of its threshold.

The constants were chosen on the streams of docs/streams.md. Unless a comment says otherwise, there is no
recorded measurement of a single constant.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from .memory import Mask, Memory
from .policy import Patience, backing, far_out, in_stretches, quantiles, soft_trust, trusted_rows
from .state import Settings, State

__all__ = ["believed", "corrected"]

#: Smallest number of losses of normal rows from which the limit for anomalous rows is estimated.
_ENOUGH = 20
#: Share of the normal rows, those with the smallest losses, whose neighbors are not checked.
_UNASKED = 0.75
#: Smallest support by trusted neighbors of a row that is not held back.
_DOUBTED = 0.5
#: Change of the level by one false alarm, in units of `delta` (adaptive conformal inference).
_STEP = 0.1
#: Smallest level, in units of `delta`.
_LOWEST = 0.04
#: Largest level, in units of `delta`. The level is also at most 0.5.
_HIGHEST = 10.0
#: Share of all rows that count as anomalies among single alarms that are held back. Further single alarms are false.
_GRANTED = 0.01
#: Number of latest rows over which the share of single alarms is averaged (the decay length of an exponential mean).
_LATELY = 200


def believed(patience: Patience | None, state: State, rows: Memory) -> tuple[Memory, Mask, Mask]:
    """Return the rows with their trust, and two masks of rows held back: single alarms, and rows in a burst.

    A label that is given with a row decides its trust. Other rows are held back if they are anomalous, in a burst, or
    have too few trusted neighbors. The remaining rows get a weight that decreases with their loss.
    """
    told, none = rows.trust, np.zeros(len(rows), dtype=bool)
    known = ~np.isnan(told)
    normal = known & (told > 0)
    if patience is None:
        trust = np.where(known, told, 1.0)
        return replace(rows, trust=trust, counted=trust > 0, waiting=none), none, none
    losses, columns = state.calibration.losses, rows.Z.shape[1]
    sure = len(losses) >= _ENOUGH
    cut = max(far_out(losses, _normal(state.alone), columns=columns), state.threshold) if sure else np.inf
    strange = rows.loss > cut
    held = in_stretches(state.memory.alarm, rows.alarm) if sure else none
    backed = np.ones(len(rows))
    if sure and columns > 1:
        # Neighbors are checked only for the quarter of the rows with the largest losses. They are not checked in data
        # with a single column: rows at its ends have only each other as neighbors, so that one row held back would
        # cause the next to be held back.
        asked, memory = rows.loss > quantiles(losses, _UNASKED), state.memory
        backed[asked] = backing(state.plan.kernel, rows.Z[asked], memory.Z, trusted_rows(memory))
    trust = backed * soft_trust(rows.loss, state.threshold, patience.steepness)
    doubted = strange | held | (backed < _DOUBTED)
    counted = np.where(known, normal, ~doubted)
    waiting = ~known & doubted
    trust = np.where(known, told, np.where(doubted, 0.0, trust))
    return replace(rows, trust=trust, counted=counted, waiting=waiting), waiting & rows.alarm & ~held, held


def corrected(settings: Settings, state: State, rows: Memory, alone: Mask) -> State:
    """Return the state with the level after these rows: lower after false alarms, higher after other rows.

    Single alarms that are held back may be anomalies or false alarms. Up to 1 % of all rows count as anomalies; single
    alarms beyond this share count as false.
    """
    lately = state.alone + (float(np.mean(alone)) - state.alone) * -math.expm1(-len(rows) / _LATELY)
    false = _normal(lately) / lately if lately > 0 else 0.0
    miss = rows.alarm.astype(float) - settings.delta
    step = _STEP * settings.delta * float(np.sum(miss[rows.counted]) + false * np.sum(miss[alone]))
    level = float(np.clip(state.level - step, _LOWEST * settings.delta, min(_HIGHEST * settings.delta, 0.5)))
    return replace(state, level=level, alone=lately)


def _normal(alone: float) -> float:
    """Return the share of normal rows among all rows, if a share `alone` of all rows are single alarms held back."""
    return max(0.0, alone - _GRANTED)
