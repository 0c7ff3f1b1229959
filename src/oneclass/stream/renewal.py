"""Renew the plan (scaling, bandwidth, landmarks and clusters) when it no longer fits, and convert moments and losses.

None of the constants has a recorded measurement of its own.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..core.features import NystromMap
from ..core.machine import fit_moments
from ..core.moments import Moments
from ..core.plan import Plan
from ..engines import InMemory
from ..machines.approximate import plan_through
from .forgetting import carried
from .memory import Mask, Vector
from .plan_check import Fitting
from .state import Settings, State

__all__ = ["due", "held_out", "planned", "renew"]

#: Weight below which the influence of a row on the machine is as small as rounding errors.
_MIN_WEIGHT = 1e-6
#: Number of learned rows between two checks of the plan.
_CHECKED_EVERY = 100
#: Weight of all rows, in units of `_CHECKED_EVERY`, up to which the plan is checked at each block.
_SHORT_STREAM = 4
#: Factor by which the weight of the rows may grow before the plan is renewed.
_MAX_GROWTH = 2
#: Share of the total weight below which the moments of rows that are not kept are dropped.
_NEGLIGIBLE_WEIGHT_SHARE = 1e-6
#: Relative slack for rounding errors when sums of weights are compared.
_WEIGHT_SLACK = 1e-12


def due(settings: Settings, state: State, before: float, *, surprised: bool) -> bool:
    """Return whether the plan must be renewed: the weight of the rows has doubled, or their distribution changed.

    The plan is checked every 100 learned rows, and at each block in a short stream. It is also checked after alarms
    that were learned because of their labels (`surprised`), because the landmarks usually represent alarms poorly.

    Parameters
    ----------
    settings : Settings
        The parameters of the stream.
    state : State
        The state after the latest block.
    before : float
        Number of rows learned before this block.
    surprised : bool
        Whether the block contains alarms that were learned.
    """
    if (
        not surprised
        and state.weight > _SHORT_STREAM * _CHECKED_EVERY
        and state.learned // _CHECKED_EVERY == before // _CHECKED_EVERY
    ):
        return False
    if settings.forgetting.half_life is None and settings.forgetting.window is None and not _keeps_all_rows(state):
        return False
    first, now = state.planned, Fitting.of(state.plan, state.moments, state.memory)
    return now.weight >= _MAX_GROWTH * first.weight or first.is_outdated(now)


def _keeps_all_rows(state: State) -> bool:
    """Return whether the stream still keeps all rows that it learned."""
    return bool(np.sum(state.memory.trust) >= state.learned * (1 - _WEIGHT_SLACK))


def planned(settings: Settings, X: Vector, w: Vector) -> tuple[Plan, Moments]:
    """Return a plan for rows with these weights, and the moments of the rows under it."""
    # Rows with negligible weights are left out of the plan, because they may be so far away that they would determine
    # the scaling alone.
    heavy, some = w > np.finfo(float).eps * np.max(w), w > 0
    engine = InMemory(X[heavy], w[heavy])
    plan, _ = plan_through(
        settings.recipe, engine, settings.approximation, seed=settings.seed, check=lambda columns, n: None
    )
    if isinstance(plan.map, NystromMap):
        # With orthonormal features, the regression of new features on old ones is well conditioned, and the solve of
        # each block need not factor the penalty again.
        plan = replace(plan, map=plan.map.whitened())
    moments = plan.moments(X[some], w[some])
    if settings.recipe.loss == "either":
        machine = fit_moments(plan, moments, count=False)
        rows = plan.training_rows(machine.model, X[some], w[some])  # type: ignore[arg-type]
        plan = machine.measured(rows).plan
    return plan, moments


def renew(settings: Settings, state: State, *, drift: bool = True) -> State:
    """Return the state with a new plan, made from the rows that are kept, and with converted moments and losses.

    The moments of rows that are not kept are converted by regression. With `drift`, each loss that the threshold
    depends on is multiplied by the ratio of the held-out losses of its row under the new plan and the old plan. Without
    `drift`, it is replaced by the held-out loss under the new plan.
    """
    memory, w = state.memory, state.weights(settings.forgetting)
    if np.count_nonzero(w) < 2:
        return state
    plan, moments = planned(settings, memory.X, w)
    memory = replace(memory, Z=plan.scaler(memory.X))
    unexplained = 0.0
    if settings.forgetting.window is None:
        some = w > 0
        old = state.moments - state.plan.moments(memory.X[some], w[some])
        gone = float(np.sum(old.weight))
        if gone > _NEGLIGIBLE_WEIGHT_SHARE * state.weight:
            part, left = carried(old, state.plan, plan, memory.X[some], w[some])
            moments, unexplained = moments + part, left * gone / state.weight
    fit, unexplained = Fitting.at_first(plan, moments, memory), max(state.carried, unexplained)
    fresh = replace(state, plan=plan, moments=moments, planned=fit, carried=unexplained)
    ranked = state.ranked
    loss, found = memory.loss.copy(), held_out(settings, fresh, ranked)
    if drift:
        # The ratio of the stored loss to the held-out loss stays the same.
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            found = loss[ranked] * (found / held_out(settings, state, ranked))
        found = np.where(np.isfinite(found), found, loss[ranked])
    loss[ranked] = found
    return replace(fresh, memory=replace(memory, loss=loss))


def held_out(settings: Settings, state: State, which: Mask | NDArray[np.intp]) -> Vector:
    """Return the losses of rows that are kept, each under the machine without that row."""
    X, w, machine = state.memory.X[which], state.weights(settings.forgetting)[which], state.machine
    rows = state.plan.training_rows(machine.model, X, np.maximum(w, _MIN_WEIGHT))  # type: ignore[arg-type]
    with np.errstate(over="ignore", invalid="ignore"):
        # A row with a negligible weight has no influence on the machine, so its loss is already a held-out loss.
        found = np.where(w > _MIN_WEIGHT, machine.held_out_losses(rows), machine.training_losses(rows))
    return np.where(np.isfinite(found), found, np.finfo(float).max)
