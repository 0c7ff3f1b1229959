"""When a plan no longer fits: another one by the rows at hand, and all that was learned in its terms."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..core.features import NystromMap
from ..core.moments import Moments
from ..core.plan import Plan
from ..engines import InMemory
from ..machines.approximate import plan_through
from .forgetting import carried
from .martingale import Bets
from .memory import Mask, Vector
from .plan_check import Fitting
from .state import RANKED, Settings, State

__all__ = ["due", "held_out", "planned", "renew"]

#: Weight below which a row has no pull of its own that could be told from rounding.
_WEIGHTLESS = 1e-6
#: Rows between two looks at how a plan fits.
_LOOK = 100
#: Share of the weight below which rows that are gone are not missed.
_NEGLIGIBLE = 1e-6


def due(settings: Settings, state: State, before: float, *, surprised: bool) -> bool:
    """Whether the plan no longer fits: twice the rows it was made by are known, or the world has moved under it.

    Worth a look every so many rows, of which `before` were learned when the last ones came, and when the stream was
    surprised by rows that it was told to learn: what alarms is as a rule out of the plan's reach.
    """
    if not surprised and state.weight > 4 * _LOOK and state.learned // _LOOK == before // _LOOK:
        return False
    if settings.forgetting.half_life is None and settings.forgetting.window is None and not _is_whole(state):
        return False
    first, now = state.planned, Fitting.of(state.plan, state.moments, state.memory)
    return now.weight >= 2 * first.weight or first.is_left_by(now)


def _is_whole(state: State) -> bool:
    """Whether the rows at hand are all that was learned."""
    return bool(np.sum(state.memory.trust) >= state.learned * (1 - 1e-12))


def planned(settings: Settings, X: Vector, w: Vector) -> tuple[Plan, Moments]:
    """A plan by rows of these weights, and their moments."""
    # Rows that are hardly believed weigh nothing beside others, but may be so far away that nothing else is seen.
    heavy, some = w > np.finfo(float).eps * np.max(w), w > 0
    engine = InMemory(X[heavy], w[heavy])
    plan, _ = plan_through(
        settings.recipe, engine, settings.approximation, seed=settings.seed, check=lambda columns, n: None
    )
    if isinstance(plan.map, NystromMap):
        # Orthonormal features keep regressions of one plan's on another's well posed, and have a penalty that every
        # block's solve finds done.
        plan = replace(plan, map=plan.map.whitened())
    return plan, plan.moments(X[some], w[some])


def renew(settings: Settings, state: State, *, drift: bool = True) -> State:
    """A new plan (scaling, bandwidth, landmarks, clusters) by the rows at hand; moments and losses follow.

    Of rows that are gone the moments are carried over. Losses change as they do when held out; where no `drift` is to
    be expected they are the held-out ones.
    """
    memory, w = state.memory, state.weights(settings.forgetting)
    if np.count_nonzero(w) < 2:
        return state
    plan, moments = planned(settings, memory.X, w)
    memory = replace(memory, Z=plan.scaler(memory.X))
    open_ = 0.0
    if settings.forgetting.window is None:
        some = w > 0
        old = state.moments - state.plan.moments(memory.X[some], w[some])
        gone = float(np.sum(old.weight))
        if gone > _NEGLIGIBLE * state.weight:
            part, left = carried(old, state.plan, plan, memory.X[some], w[some])
            moments, open_ = moments + part, left * gone / state.weight
    fit, open_ = Fitting.at_first(plan, moments, memory), max(state.carried, open_)
    fresh = replace(state, plan=plan, moments=moments, planned=fit, carried=open_)
    ranked = np.flatnonzero(memory.counted)[-RANKED:]
    loss, found = memory.loss.copy(), held_out(settings, fresh, ranked)
    if drift:
        # As much larger than a held-out loss as the row was when it came.
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            found = loss[ranked] * (found / held_out(settings, state, ranked))
        found = np.where(np.isfinite(found), found, loss[ranked])
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        unit = float(np.median(found / loss[ranked])) if len(ranked) else 1.0
    bets = state.bets.in_units_of(unit) if math.isfinite(unit) else Bets(seen=state.bets.seen)
    loss[ranked] = found
    return replace(fresh, memory=replace(memory, loss=loss), bets=bets)


def held_out(settings: Settings, state: State, which: Mask | NDArray[np.intp]) -> Vector:
    """Losses of rows at hand under the machine without them."""
    X, w, machine = state.memory.X[which], state.weights(settings.forgetting)[which], state.machine
    rows = state.plan.training_rows(machine.model, X, np.maximum(w, _WEIGHTLESS))  # type: ignore[arg-type]
    with np.errstate(over="ignore", invalid="ignore"):
        # Rows that weigh next to nothing are held out already.
        found = np.where(w > _WEIGHTLESS, machine.held_out_losses(rows), machine.training_losses(rows))
    return np.where(np.isfinite(found), found, np.finfo(float).max)
