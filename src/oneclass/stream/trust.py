"""Whom a stream believes among rows that were judged, and where that puts the level of its threshold."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from .memory import Mask, Memory
from .policy import Patience, backing, far_out, in_stretches, quantiles, soft_trust, trusted_rows
from .state import Settings, State

__all__ = ["believed", "corrected"]

#: Number of losses below which no row is doubted.
_MIN_LOSSES = 20
#: Share of the rows that need nobody's backing, and backing below which others wait.
_UNASKED, _DOUBTED = 0.75, 0.5
#: Feedback on the level for one row, in units of the rate asked for; and the bounds of the level in these units.
_STEP, _LOWEST, _HIGHEST = 0.1, 0.04, 10.0
#: Share of the rows that anomalies are granted among those that wait by themselves, and rows over which these count.
_GRANTED, _LATELY = 0.01, 200


def believed(patience: Patience | None, state: State, rows: Memory) -> tuple[Memory, Mask, Mask]:
    """The rows with what is believed of them, alarms that wait by themselves, and those held in a stretch."""
    told, none = rows.trust, np.zeros(len(rows), dtype=bool)
    known = ~np.isnan(told)
    normal = known & (told > 0)
    if patience is None:
        trust = np.where(known, told, 1.0)
        return replace(rows, trust=trust, counted=trust > 0, waiting=none), none, none
    losses, columns = state.calibration.losses, rows.Z.shape[1]
    sure = len(losses) >= _MIN_LOSSES
    cut = max(far_out(losses, _normal(state.alone), columns=columns), state.threshold) if sure else np.inf
    strange = rows.loss > cut
    held = in_stretches(state.memory.alarm, rows.alarm) if sure else none
    backed = np.ones(len(rows))
    if sure and columns > 1:
        # Rows less strange than most need nobody to vouch for them; nor do those at an end of a single column, whose
        # neighbors are as far out as they are: one that waited would keep the others waiting.
        asked, memory = rows.loss > quantiles(losses, _UNASKED), state.memory
        backed[asked] = backing(state.plan.kernel, rows.Z[asked], memory.Z, trusted_rows(memory))
    trust = backed * soft_trust(rows.loss, state.threshold, patience.steepness)
    doubted = strange | held | (backed < _DOUBTED)
    counted = np.where(known, normal, ~doubted)
    waiting = ~known & doubted
    trust = np.where(known, told, np.where(doubted, 0.0, trust))
    return replace(rows, trust=trust, counted=counted, waiting=waiting), waiting & rows.alarm & ~held, held


def corrected(settings: Settings, state: State, rows: Memory, alone: Mask) -> State:
    """The stream with a level that heeds the false alarms among rows.

    Alarms that wait by themselves may be either: what they have beyond the share granted to anomalies is false.
    """
    lately = state.alone + (float(np.mean(alone)) - state.alone) * -math.expm1(-len(rows) / _LATELY)
    false = _normal(lately) / lately if lately > 0 else 0.0
    miss = rows.alarm.astype(float) - settings.delta
    step = _STEP * settings.delta * float(np.sum(miss[rows.counted]) + false * np.sum(miss[alone]))
    level = float(np.clip(state.level - step, _LOWEST * settings.delta, min(_HIGHEST * settings.delta, 0.5)))
    return replace(state, level=level, alone=lately)


def _normal(alone: float) -> float:
    """Share of normal rows that wait by themselves, when so many rows do."""
    return max(0.0, alone - _GRANTED)
