"""The plan of a stream (scaling, bandwidth, landmarks and clusters): how well it fits, and how it is renewed.

The stream checks the plan every 100 learned rows. A new plan is made from the rows that are kept. With a half-life or
without forgetting, the moments of rows that are not kept are converted by regression.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray

from ..core import clusters
from ..core.cholesky import trace_of_solved
from ..core.features import NystromMap
from ..core.kernels import is_radial
from ..core.machine import fit_moments
from ..core.moments import Moments
from ..core.plan import Plan
from ..core.stored import Floats
from ..engines import InMemory
from ..machines.approximate import plan_through
from .policy import POLICY, ROUNDING_SLACK
from .window import Mask, Memory, Numbers, Vector

if TYPE_CHECKING:
    from .state import Settings, State

__all__ = ["Fitting", "carried", "due", "held_out", "planned", "renew"]

#: Constant added to the width of each scaled column, which is about one. Without it, a column that hardly varies could
#: seem to become many times as wide.
_WIDTH_OFFSET = 0.1
#: Lower limit of the share of rows that are not landmarks, when the fit for new rows is estimated.
_MIN_NEW_SHARE = 0.5
#: Weight below which the influence of a row on the machine is as small as rounding errors.
_MIN_WEIGHT = 1e-6
#: Share of the total weight below which the moments of rows that are not kept are dropped.
_NEGLIGIBLE_WEIGHT_SHARE = 1e-6
#: Ridge, in units of the trace, that keeps the regression of new features on old ones solvable. No recorded
#: measurement.
_RIDGE = 1e-12


@dataclass(frozen=True)
class Fitting:
    """Statistics of the rows under a plan, by which an old plan is compared with the present rows."""

    weight: float  # weight of all learned rows
    reached: float  # mean squared norm of the features: the part of a row that the landmarks represent
    mean: Annotated[Vector, Floats("d")]  # mean of each scaled column over the latest rows
    width: Annotated[Vector, Floats("d", above=0)]  # standard deviation of each scaled column, plus a constant

    @classmethod
    def of(cls, plan: Plan, moments: Moments, memory: Memory) -> Fitting:
        """Return the statistics: weight and features from the moments of all rows, columns from the latest rows."""
        whole, features = moments.total(), plan.features
        weight = float(whole.weight[0])
        plain = features.factored if isinstance(features, NystromMap) else None
        if plain is None:
            reached = float(np.trace(whole.ff[0]) / weight + whole.f[0] @ whole.f[0])
        else:
            reached = trace_of_solved(plain, whole.ff[0] / weight + np.outer(whole.f[0], whole.f[0]))
        Z = memory.Z[memory.trust > 0][-POLICY.compared :]
        return cls(weight, reached, np.mean(Z, axis=0), np.std(Z, axis=0) + _WIDTH_OFFSET)

    @classmethod
    def at_first(cls, plan: Plan, moments: Moments, memory: Memory) -> Fitting:
        """Return the statistics to expect for new rows, from the rows among which the landmarks were chosen.

        The landmarks represent themselves exactly, so new rows are represented less well.
        """
        fit = cls.of(plan, moments, memory)
        fresh = max(_MIN_NEW_SHARE, 1 - moments.f.shape[1] / fit.weight)
        return replace(fit, reached=1 - (1 - fit.reached) / fresh)

    def is_outdated(self, now: Fitting) -> bool:
        """Return whether the rows moved, changed their width, or are represented less well since these statistics."""
        moves = ((now.mean - self.mean) / self.width, np.log(now.width / self.width))
        farther = 1 - now.reached > (1 + POLICY.max_change / 2) * (1 - self.reached) + POLICY.max_change / 20
        return farther or any(float(np.mean(move**2)) > POLICY.max_change**2 for move in moves)


def due(settings: Settings, state: State, before: float, *, learned_alarms: bool) -> bool:
    """Return whether the plan must be renewed.

    It must be if the weight of the rows has doubled, if their distribution changed, or if C for the present share of
    labelled rows differs from that of the plan by a factor of `Policy.max_cost_change` or more.

    The plan is checked every 100 learned rows, and at each block in a short stream. It is also checked after alarms
    that were learned because of their labels (`learned_alarms`), because the landmarks usually represent alarms poorly.

    Parameters
    ----------
    settings : Settings
        The parameters of the stream.
    state : State
        The state after the latest block.
    before : float
        Number of rows learned before this block.
    learned_alarms : bool
        Whether the block contains alarms that were learned.
    """
    if (
        not learned_alarms
        and state.weight > 4 * POLICY.checked_every
        and state.learned // POLICY.checked_every == before // POLICY.checked_every
    ):
        return False
    if settings.forgetting.half_life is None and settings.forgetting.window is None and not _keeps_all_rows(state):
        return False
    C = cost(settings, state.weights(settings.forgetting), state.memory.labelled)
    if C is not None and abs(math.log(C / state.plan.C)) >= math.log(POLICY.max_cost_change):
        return True
    first, now = state.planned, Fitting.of(state.plan, state.moments, state.memory)
    return now.weight >= POLICY.max_growth * first.weight or first.is_outdated(now)


def _keeps_all_rows(state: State) -> bool:
    """Return whether the stream still keeps all rows that it learned."""
    return bool(np.sum(state.memory.trust) >= state.learned * (1 - ROUNDING_SLACK))


def cost(settings: Settings, w: Vector, labelled: Mask) -> float | None:
    """Return C for rows with these weights, larger if more of them are labelled as normal; None for the recipe's C."""
    if settings.most_cost is None or isinstance(settings.recipe.C, str):
        return None
    share = float(np.sum(w[labelled]) / np.sum(w))
    return float(settings.recipe.C * (settings.most_cost / settings.recipe.C) ** share)


def planned(settings: Settings, X: Vector, w: Vector, labelled: Mask) -> tuple[Plan, Moments]:
    """Return a plan for rows with these weights, and the moments of the rows under it."""
    # Rows with negligible weights are left out of the plan, because they may be so far away that they would determine
    # the scaling alone.
    heavy, some = w > np.finfo(float).eps * np.max(w), w > 0
    engine = InMemory(X[heavy], w[heavy])
    plan, _ = plan_through(
        settings.recipe, engine, settings.approximation, seed=settings.seed, check=lambda columns, n: None
    )
    C = cost(settings, w, labelled)
    plan = plan if C is None else replace(plan, C=C)
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
    plan, moments = planned(settings, memory.X, w, memory.labelled)
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


def carried(old: Moments, before: Plan, after: Plan, X: Vector, w: Vector) -> tuple[Moments, float]:
    """Return moments of rows that are not kept, in the features of a new plan, and the share of unexplained variance.

    Each new feature is regressed on all old features, over rows that are kept. Each new target is regressed on the same
    target under the old plan. The moments are transformed by these regressions. The residual variances of the new
    features are added to the diagonal of their covariance.

    The share is the part of the new features' variance that the regression does not explain. It is zero if the new
    features are linear combinations of the old ones.

    The feature vectors of a radial kernel have a norm of at most one. Far from the kept rows, the regression may give a
    larger norm, and the features are then scaled down. Otherwise the norm would grow with each new plan, until the
    systems could no longer be solved.

    Parameters
    ----------
    old : Moments
        Moments of rows that are not kept, under the plan `before`.
    before, after : Plan
        The old plan and the new plan.
    X : array of shape (n, d)
        Rows that are kept.
    w : array of shape (n,)
        Weights of these rows.
    """
    longest = 1.0 if is_radial(after.kernel) else math.inf
    total = float(np.sum(w))
    root = np.sqrt(w / total)[:, None]
    Z, new_Z = before.scaler(X), after.scaler(X)
    F, G = before.features(Z), after.features(new_Z)
    T, U = before.recipe.target(Z), after.recipe.target(new_Z)
    f, g, t, u = (w @ A / total for A in (F, G, T, U))
    F, G, T, U = (root * (A - mean) for A, mean in ((F, f), (G, g), (T, t), (U, u)))
    gram = F.T @ F
    gram[np.diag_indices_from(gram)] += _RIDGE * np.trace(gram) + np.finfo(float).tiny
    R = np.linalg.solve(gram, F.T @ G)
    left = np.sum((G - F @ R) ** 2, axis=0)
    spread = np.sum(T * T, axis=0)
    # A target without variance keeps its value: its slope is one.
    slope = np.where(spread > 0, np.sum(T * U, axis=0) / np.where(spread > 0, spread, 1.0), 1.0)
    stretch = float(np.sum(U * U) / np.sum(spread)) if np.any(spread > 0) else 1.0

    def moved(p: int) -> Moments:
        weight = old.weight[p : p + 1]
        ff = R.T @ old.ff[p] @ R
        ff[np.diag_indices_from(ff)] += weight * left
        to_f, to_t = g + (old.f[p] - f) @ R, u + (old.t[p] - t) * slope
        ft = (R.T @ old.ft[p]) * slope
        length = float(np.trace(ff) + weight[0] * (to_f @ to_f))
        shorter = math.sqrt(longest * weight[0] / length) if length > longest * weight[0] > 0 else 1.0
        to_f, ff, ft = shorter * to_f, shorter**2 * ff, shorter * ft
        return Moments(weight, to_f[None], to_t[None], ff[None], ft[None], stretch * old.tt[p : p + 1])

    unexplained = float(np.sum(left)) / max(float(np.sum(G * G)), np.finfo(float).tiny)
    if after.centres is None:
        return reduce(add, (moved(p) for p in range(len(old.weight)))), unexplained
    successor = _cluster_successors(before, after, Z, new_Z)
    nothing = after.moments(X[:0], None)
    slots = [Moments(*(part[c : c + 1] for part in vars(nothing).values())) for c in range(len(after.centres))]
    for p in range(len(old.weight)):
        slots[successor[p]] = slots[successor[p]] + moved(p)
    return Moments.stack(slots), unexplained


def _cluster_successors(before: Plan, after: Plan, Z: Vector, new_Z: Vector) -> Numbers:
    """Return, for each old cluster, the new cluster that contains most of its rows."""
    k = 1 if after.centres is None else len(after.centres)
    old = np.zeros(len(Z), dtype=int) if before.centres is None else clusters.assign(Z, before.centres)
    counts = np.zeros((1 if before.centres is None else len(before.centres), k))
    np.add.at(counts, (old, clusters.assign(new_Z, after.centres)), 1)
    return np.asarray(np.argmax(counts, axis=1))
