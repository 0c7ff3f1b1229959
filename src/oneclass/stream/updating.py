"""Add new rows to the moments and the memory of a stream, and remove old rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core.moments import Moments
from ..core.plan import Plan
from .memory import Memory, Vector
from .state import Settings, State

__all__ = ["added", "bounded"]

#: Smallest total weight that forgetting leaves. No recorded measurement.
_MIN_TOTAL_WEIGHT = 1e-9


def added(settings: Settings, state: State, rows: Memory, F: Vector, now: float) -> State:
    """Return the state that has forgotten old rows up to time `now`, and then learned the new rows.

    The rows come with their trust. `F` holds their features.
    """
    forgetting = settings.forgetting
    moments, memory = state.moments, state.memory
    arriving = rows.trust > 0
    first = len(memory) - int(np.sum(forgetting.inside(now - memory.time)))  # rows are in the order of arrival
    if not np.any(memory.trust[first:] > 0) and not np.any(arriving):
        first = 0  # keep old rows, because otherwise no learned row would remain
    memory, gone = memory[first:], memory[:first]
    moments = _without(state.plan, moments, memory, gone)
    if forgetting.half_life is not None and state.weight > 0:
        rho = float(forgetting.weights(np.array([now - state.now]))[0])
        moments = moments.decay(max(rho, min(1.0, _MIN_TOTAL_WEIGHT / state.weight)))
    if np.any(arriving):
        w = rows.trust * forgetting.weights(now - rows.time)
        everything = bool(np.all(arriving))
        part = (rows.Z, F, w) if everything else (rows.Z[arriving], F[arriving], w[arriving])
        moments = moments + state.plan.moments_of(*part)
    memory, gone = bounded(settings, memory + rows if len(memory) else rows)
    if forgetting.window is not None:
        moments = _without(state.plan, moments, memory, gone)
    learned = state.learned + float(np.sum(rows.trust))
    return replace(state, moments=moments, memory=memory, now=now, learned=learned)


def _without(plan: Plan, moments: Moments, stays: Memory, gone: Memory) -> Moments:
    """Return the moments without removed rows, by subtraction, or from the remaining rows if that is less work."""
    leaving, left = np.count_nonzero(gone.trust), np.count_nonzero(stays.trust)
    if not leaving:
        return moments
    return _moments(plan, stays) if leaving >= left else moments - _moments(plan, gone)


def _moments(plan: Plan, rows: Memory) -> Moments:
    Z, w = rows.Z[rows.trust > 0], rows.trust[rows.trust > 0]
    return plan.moments_of(Z, plan.features(Z), w)


def bounded(settings: Settings, memory: Memory) -> tuple[Memory, Memory]:
    """Return the rows to keep and the rows to remove: the oldest rows without trust, then the oldest rows."""
    kept = np.ones(len(memory), dtype=bool)
    useless = np.flatnonzero(memory.trust == 0)
    room = settings.patience.kept if settings.patience else 0
    kept[useless[: max(0, len(useless) - room)]] = False
    places = np.flatnonzero(kept)
    size = settings.forgetting.size + room
    if len(places) > size:
        kept[places[: len(places) - int(size)]] = False
    return (memory, memory[:0]) if np.all(kept) else (memory[kept], memory[~kept])
