"""A change that leaves nobody of the old world is believed on trial, and no longer than the old world stays away.

A burst comes on top of the world, a change comes in its place. So what tells them apart, long before patience ends, is
whether ordinary rows still come, whose losses most rows of the old world stay below: the odds are those of next to none
against a tenth of the old world being left.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from .feedback import adopt
from .memory import Vector
from .policy import Patience, quantiles
from .state import Settings, State, Trial

__all__ = ["on_trial", "watched"]

#: Share of the old world that is ordinary, and share of the rows that such ones have when the old world is gone.
_ORDINARY, _NONE = 0.75, 0.005
#: Share of the rows that the old world has under a burst.
_LEFT = 0.1
#: Share of the old world's breadth below which rows are too much alike to be another: those of a fault or attack are.
_NARROW = 0.7
#: What an ordinary row takes from the odds, and what any other adds.
_OLD = math.log(_NONE / (_LEFT * _ORDINARY))
_OTHER = math.log((1 - _NONE) / (1 - _LEFT * _ORDINARY))


def on_trial(settings: Settings, patience: Patience, state: State) -> State:
    """The stream, with a change on trial if one has come that leaves nobody of the old world."""
    # Whoever was deceived waits twice as long the next time.
    memory, long_enough = state.memory, patience.trial * 2.0**state.deceived
    if long_enough >= patience.rows or not np.any(memory.waiting[-1:]):
        return state
    odds = np.cumsum(_gains(state, memory.loss)[::-1])
    long = int(np.argmax(odds))
    since = memory[len(memory) - 1 - long :]
    if odds[long] < long_enough * _OTHER * (1 - 1e-9) or np.mean(since.waiting) < 0.5:
        return state
    if _is_narrow(state, since.X[since.waiting]):
        return state
    believed = adopt(settings, state, since.number[since.waiting], "change", float(odds[long]))
    return replace(believed, trial=Trial(state, int(since.number[0]), float(odds[long])))


def watched(trial: Trial, without: State) -> Trial:
    """The trial after more rows, which are pending in what would be known without it."""
    return replace(trial, odds=trial.odds + float(np.sum(_gains(without, without.pending.loss))))


def _is_narrow(state: State, X: Vector) -> bool:
    """Whether rows are too much alike to be a world, beside as many of the latest that were learned."""
    latest = state.memory.X[state.memory.trust > 0][-len(X) :]
    new, old = (np.mean(np.abs(rows - np.median(rows, axis=0)) / state.plan.scaler.scale) for rows in (X, latest))
    return bool(new < _NARROW * old)


def _gains(state: State, losses: Vector) -> Vector:
    """What rows of these losses add to the odds that nobody is left of a world."""
    return np.where(losses <= quantiles(state.calibration.losses, _ORDINARY), _OLD, _OTHER)
