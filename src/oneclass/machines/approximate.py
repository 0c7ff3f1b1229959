"""Fitting through an engine: survey the rows, gather their moments, solve once, then see how the rows fare."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from ..base.memory import has_room
from ..core.approximation import Approximation
from ..core.arrays import Array, namespace, to_numpy
from ..core.bandwidth import looks_at_pairs
from ..core.block import Block
from ..core.calibration import Calibration, HeldOut, Judgement
from ..core.compiled import expecting
from ..core.folds import FoldMachine, fold_machines, fold_moments, held_out_by_folds
from ..core.groups import GroupCounts, Groups
from ..core.landmark_rows import OwnLandmarks
from ..core.machine import Machine, fit_moments, holds_out
from ..core.plan import Plan, Survey
from ..core.primal import Equations, PrimalModel
from ..core.quantiles import LossSummary
from ..core.recipe import Recipe, Variance
from ..core.scaling import Scaler
from ..core.single_precision import RoundedModel
from ..core.threshold import Decision, Ranks
from ..engines import Engine, InMemory
from ..engines.threads import on_one_thread
from .auto_approximation import is_quick
from .exact import Check, Fit, fit_exactly, losses_of

__all__ = [
    "Ranked",
    "fit_through",
    "judge_groups",
    "judge_training",
    "plan_through",
    "primal",
]

#: Losses and their weights.
Ranked = tuple[Array, Array]

#: Rows of the sample that bandwidth, clusters and landmarks are chosen from, but for these as few as cost this many
#: multiply-adds; two rows a landmark are as good as more.
_CHOOSING_ROWS, _CHOOSING_COST = 4096, 2e9
#: Rows of the sample beyond these, and how many of them thresholds fall back on where there are more than twice as many
#: rows: they estimate a rate of 5 % with a standard error of 0.17 points.
_SAMPLE_ROWS, _JUDGED_ROWS = 32_768, 16_384
#: Multiply-adds of a pass over all rows that is worth its time for the last digits.
_AFFORDABLE = 2e10
#: Multiply-adds of held-out losses above which single precision saves more than it takes to see that it will do, the
#: relative error that it may make of a loss, and the rows that it is measured on.
_SINGLE, _ROUNDED, _MEASURED = 2e9, 1e-4, 64
#: Bytes of features that are kept from one pass over rows in memory to the next.
_KEPT = 256 << 20
#: Times the room of the rows that a factor may take in a saved model, and multiply-adds that it is worth otherwise.
_ROOM, _AGAIN = 6, 1e11
#: Held-out losses are the losses themselves where the mean leverage, and the mean change of the loss of a row that is
#: left out over the spread of the losses, are at most these shares of delta. The change is measured on so many rows.
_NEGLIGIBLE, _UNCHANGED, _COMPARED = 0.02, 0.04, 256


def fit_through(
    recipe: Recipe,
    engine: Engine,
    approximation: Approximation,
    *,
    decision: Decision,
    seed: int,
    check: Check,
    groups: Groups | None = None,
    exact: bool = False,
) -> Fit:
    """The machine with explicit features of the rows of an engine; `check` may refuse their columns.

    Rows of `groups`, which must be in memory, are held out together; of an engine whose chunks bring the keys of their
    groups along, folds of whole groups are. Without groups the fit may be `exact` if the rows are few: then the sample
    holds all of them, and copies as weights.
    """
    survey = _surveyed(engine, approximation, seed)
    if survey.groups is not None:
        survey.groups.refuse_one()
    rows, w, n = survey.sample.rows, survey.sample.weights, survey.n_rows
    if exact and survey.groups is None and n <= survey.sample.size and is_quick(n, rows):
        check(survey.columns, n)
        fit = fit_exactly(recipe, rows, w, decision=decision, check=lambda columns, distinct: None)
        judgement = replace(fit.judgement, held_out=None)  # not in the order of the rows
        return Fit(replace(fit.machine, labels=None), judgement)
    plan = _planned(recipe, survey, approximation, seed, check)
    fit_planned = expecting(n * plan.features.width, _fit_planned)
    return fit_planned(plan, survey, engine, approximation, decision, groups)


def _slim(fit: Fit, engine: Engine) -> Fit:
    """The same fit without a factor that scores do not need, or that few rows make again."""
    machine, model = fit.machine, primal(fit.machine)
    if not machine.plan.recipe.needs_variance:
        slim = replace(model, L=None)
    elif isinstance(engine, InMemory) and _are_few(engine.X, model.width):
        plan, starts = machine.plan, tuple(a for a, _ in engine.slices())
        whole = engine.F is not None
        slim = model.made_of(Equations(plan.scaler(engine.X), engine.w, plan.centres, starts, whole))
    else:
        return fit
    return replace(fit, machine=replace(machine, model=slim))


def _are_few(X: Array, width: int) -> bool:
    """Whether the factor of a model takes many times the room of the rows, and little time to make of them again."""
    n, d = X.shape
    return bool(width**2 > _ROOM * n * d and n * width**2 <= _AGAIN)


def _fit_planned(
    plan: Plan,
    survey: Survey,
    engine: Engine,
    approximation: Approximation,
    decision: Decision,
    groups: Groups | None,
) -> Fit:
    in_pieces = None if survey.groups is None or survey.groups.alone else survey.groups
    out = holds_out(decision, plan.recipe, grouped=groups is not None or in_pieces is not None)
    if out and in_pieces is not None:
        return _slim(_fit_by_folds(plan, survey, in_pieces, engine), engine)
    if groups is None and isinstance(engine, InMemory):
        engine = _with_features(engine, plan)
    moments = engine.total(plan.block_moments, "moments")
    with on_one_thread(plan.features.width, survey.sample.rows):
        machine = fit_moments(plan, moments)
    del moments  # as large as a model for each cluster
    if out and groups is not None and isinstance(engine, InMemory):
        fit = judge_groups(machine, engine, groups, decision)
    else:
        fit = judge_training(machine, engine, survey, approximation, decision, {}, out=out)
    return _slim(fit, engine)


def _with_features(engine: InMemory, plan: Plan) -> InMemory:
    """The same rows with their features, so that losses need not work these out again, if there is room."""
    X, features, scaler = engine.X, plan.features, plan.scaler
    room = 8 * X.shape[0] * features.width
    if not isinstance(X, np.ndarray) or room > _KEPT or not has_room(2 * room, X):
        return engine
    return engine.with_features(lambda rows: features(scaler(rows)))


def judge_groups(machine: Machine, engine: InMemory, groups: Groups, decision: Decision) -> Fit:
    """The machine with the losses of its training rows, held out with their group."""
    rows = machine.plan.training_groups(primal(machine), engine.X, engine.w, groups)
    return Fit.of(machine, rows, decision, groups, out=True)


def _fit_by_folds(plan: Plan, survey: Survey, groups: GroupCounts, engine: Engine) -> Fit:
    """The machine of all rows, with losses by machines that did not see the fold of their group.

    A pass for each fold, whose moments are what a chunk of any size leaves of it: all folds in one pass would take as
    many times the memory on every core.
    """
    n = groups.folds
    steps = [(partial(fold_moments, plan, groups, k), f"moments, fold {k + 1} of {n}") for k in range(n)]
    machine, twins = fold_machines(plan, survey, groups, [engine.total(*step) for step in steps])
    step = partial(_held_out_fold, twins, groups, engine.loss_limit)
    calibration = Calibration.of(*engine.total(step, "held-out losses").weighted())
    return Fit(machine, Judgement(calibration, calibration, None))


def judge_training(
    machine: Machine,
    engine: Engine,
    survey: Survey,
    approximation: Approximation,
    decision: Decision,
    known: dict[tuple[bool, bool], Ranked],
    *,
    out: bool,
) -> Fit:
    """The machine with the losses of its training rows, or of a sample where leverages of all would cost too much.

    Rows are held `out` if that is asked for. Losses (held out or not, of a sample or not) that are `known` are taken
    from there, others put there: they serve other decisions about the same machine.
    """
    model, n = primal(machine), survey.n_rows
    matters = out and (
        model.effective / survey.columns.weight > _NEGLIGIBLE * decision.delta
        or _change_when_left_out(machine, survey) > _UNCHANGED * decision.delta
    )
    costly = (matters or machine.plan.recipe.needs_variance) and n * model.width**2 > _AFFORDABLE
    sampled = costly and n > 2 * _JUDGED_ROWS
    if (matters, sampled) not in known:
        source = _sample_of(survey, approximation) if sampled else engine
        with on_one_thread(model.width, model.factored):
            owned = OwnLandmarks.of(machine, survey, _candidates(approximation)) if matters and not sampled else None
            judging = _judging(machine, owned, survey) if matters else machine
        step = partial(_judged, judging, owned, matters, source.loss_limit)
        for without, summary in source.total(step, "held-out losses" if out else "losses").items():
            known[without, sampled] = summary.weighted()
    held_out = HeldOut.of(*known[matters, sampled]) if out else None
    judgement = Judgement.of(decision, held_out, lambda: Ranks.of(*known[False, sampled]))
    every_row = isinstance(engine, InMemory) and not sampled
    return Fit(machine, judgement if every_row else replace(judgement, held_out=None))


def _change_when_left_out(machine: Machine, survey: Survey) -> float:
    """Mean change of the loss of a row that is left out, as a share of the distance of the outer deciles of losses.

    A small leverage is no small change where C is so small that losses of all rows are nearly the same.
    """
    sample = survey.sample
    some = slice(None, None, max(1, sample.rows.shape[0] // _COMPARED))
    rows = machine.plan.training_rows(primal(machine), sample.rows[some, :], sample.weights[some])
    losses, held_out = (to_numpy(of(rows)) for of in (machine.training_losses, machine.held_out_losses))
    low, high = np.quantile(losses, [0.1, 0.9])
    change = float(np.mean(np.abs(held_out - losses)))
    return change / float(high - low) if high > low else math.inf


def _judging(machine: Machine, owned: OwnLandmarks | None, survey: Survey) -> Machine:
    """The machine as it holds rows out: where they are many in single precision, if that is seen to be as good."""
    model, sample = primal(machine), survey.sample
    L = model.factored
    if not isinstance(L, np.ndarray) or L.dtype != np.float64 or survey.n_rows * model.width**2 <= _SINGLE:
        return machine
    rounded = replace(machine, model=RoundedModel.of(model))
    some = slice(None, None, max(1, sample.rows.shape[0] // _MEASURED))
    block = Block(sample.rows[some, :], sample.weights[some])
    found, plain = (_judged(one, owned, True, math.inf, block)[True].losses for one in (rounded, machine))
    return rounded if bool(np.all(np.abs(found - plain) <= _ROUNDED * plain)) else machine


def _choosing_rows(approximation: Approximation) -> int:
    """Rows of the sample that the plan looks at; those after them are fresh to it."""
    return max(_CHOOSING_ROWS, 2 * approximation.m)


def _candidates(approximation: Approximation) -> int:
    """Rows of the sample that landmarks are chosen from."""
    return max(min(_CHOOSING_ROWS, int(_CHOOSING_COST / approximation.m**2)), 2 * approximation.m)


def plan_through(
    recipe: Recipe,
    engine: Engine,
    approximation: Approximation,
    *,
    seed: int,
    check: Check,
) -> tuple[Plan, Survey]:
    """Survey the rows of an engine, then choose scaling, kernel, C, features and clusters."""
    survey = _surveyed(engine, approximation, seed)
    return _planned(recipe, survey, approximation, seed, check), survey


def _surveyed(engine: Engine, approximation: Approximation, seed: int) -> Survey:
    size = _choosing_rows(approximation) + _SAMPLE_ROWS
    return engine.total(partial(Survey.of, size=size, seed=seed), "survey")


def _planned(recipe: Recipe, survey: Survey, approximation: Approximation, seed: int, check: Check) -> Plan:
    check(survey.columns, survey.n_rows)
    with on_one_thread(approximation.m, survey.sample.rows):
        return _chosen(recipe, survey, approximation, seed)


def _chosen(recipe: Recipe, survey: Survey, approximation: Approximation, seed: int) -> Plan:
    choosing, rows, w = _choosing_rows(approximation), survey.sample.rows, survey.sample.weights
    n = min(choosing, rows.shape[0])
    few = slice(0, min(_CHOOSING_ROWS, n))
    looked_at = few if looks_at_pairs(recipe.kernel) else slice(None)
    scaler = Scaler.of(recipe.scaling, survey.columns, rows, w)
    plan = Plan.of(recipe, scaler, scaler(rows[looked_at, :]), w[looked_at], total=survey.columns.weight)
    Z, w = scaler(rows[:n, :]), w[:n]
    # Whitening triples the work of the moments: worth it, for landmarks that are alike, while that is little, and in
    # single precision, whose rounding is more than they leave of their normal equations.
    single = namespace(Z).finfo(Z.dtype).bits == 32
    whiten = single or survey.n_rows * approximation.m**2 <= _AFFORDABLE
    some, rng = slice(0, min(_candidates(approximation), n)), np.random.default_rng(seed)
    feature_map = approximation.map(plan.kernel, Z[some, :], w[some], rng, whiten=whiten)
    clustered = isinstance(recipe.variance, Variance)
    centres = recipe.variance.centres(Z[few, :], w[few]) if clustered else None  # type: ignore[union-attr]
    return replace(plan, map=feature_map, centres=centres).checked(Z)


def _sample_of(survey: Survey, approximation: Approximation) -> Engine:
    """Rows of the sample that are fresh to the plan."""
    sample, first = survey.sample, _choosing_rows(approximation)
    n = sample.rows.shape[0]
    # Rows that landmarks were chosen from are closer to them than fresh ones: leave these out. Where rows are mostly
    # copies there are no others: the sample holds every distinct row, with as much weight as it has copies.
    first = first if n >= first + _JUDGED_ROWS else 0
    some = slice(first, min(first + _JUDGED_ROWS, n))
    return InMemory(sample.rows[some, :], sample.weights[some])


def primal(machine: Machine) -> PrimalModel:
    """The model of an approximated machine."""
    if not isinstance(machine.model, PrimalModel):
        raise TypeError("an exact fit has no explicit features")
    return machine.model


class _Losses(dict[bool, LossSummary]):
    """Losses of rows, held out or not; two of them add."""

    def __add__(self, other: _Losses) -> _Losses:
        return _Losses({held_out: summary + other[held_out] for held_out, summary in self.items()})


def _judged(machine: Machine, owned: OwnLandmarks | None, matters: bool, limit: float, block: Block) -> _Losses:
    """Losses of rows as they are and, where it `matters`, held out: both by one look at their leverages."""
    X, w, F = block.X, block.w, block.F
    if not matters:
        losses = losses_of(machine, X) if F is None else machine.losses(machine.plan.scaler(X), F)
        return _Losses({False: LossSummary.of(losses, w, limit=limit)})
    rows = machine.plan.training_rows(primal(machine), X, w, F)
    found = {
        True: machine.held_out_losses(rows) if owned is None else owned.without(machine, X, rows, F),
        False: machine.training_losses(rows),
    }
    return _Losses({held_out: LossSummary.of(of, w, limit=limit) for held_out, of in found.items()})


def _held_out_fold(twins: tuple[FoldMachine, ...], groups: GroupCounts, limit: float, block: Block) -> LossSummary:
    return LossSummary.of(*held_out_by_folds(twins, groups, block), limit=limit)
