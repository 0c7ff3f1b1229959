"""Fits with explicit features: survey the rows, sum their moments, solve once, then compute the losses of the rows."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial, reduce
from operator import add

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
from ..core.landmark_rows import OwnLandmarks, measured
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
    "with_measures",
]

#: Losses and their weights.
Ranked = tuple[Array, Array]

#: Number of sampled rows from which bandwidth, clusters and landmarks are chosen.
_PLAN_ROWS = 4096
#: Largest cost of choosing landmarks, in multiply-adds. It bounds the rows that they are chosen from, but not below two
#: rows for each landmark: more rows than that do not improve the landmarks.
_LANDMARK_COST = 2e9
#: Number of sampled rows that the plan does not use.
_UNPLANNED_ROWS = 32_768
#: Number of sampled rows whose losses set the threshold if those of all rows cost too much. They estimate a rate of 5 %
#: with a standard error of 0.17 percentage points.
_THRESHOLD_ROWS = 16_384
#: Largest cost, in multiply-adds, of a pass over all rows that improves only the last digits.
_EXTRA_PASS_COST = 2e10
#: Cost of held-out losses, in multiply-adds, above which single precision is faster, although its error is
#: measured first.
_SINGLE_PRECISION_COST = 2e9
#: Largest relative error of a loss in single precision, and number of rows on which the error is measured.
_SINGLE_PRECISION_ERROR, _SINGLE_PRECISION_ROWS = 1e-4, 64
#: Largest size in bytes of the features that stay in memory between two passes over the rows.
_KEPT_FEATURE_BYTES = 256 << 20
#: Size of a factor, relative to the rows, up to which a saved model contains it.
_SAVED_FACTOR_SIZE = 6
#: Cost of computing the factor again from the rows, in multiply-adds, above which a saved model contains it anyway.
_SAVED_FACTOR_COST = 1e11
#: Mean leverage, relative to delta, below which training losses replace leave-one-out losses.
_NEGLIGIBLE_LEVERAGE = 0.02
#: Mean change of a loss by leaving its row out, relative to delta times the spread of the losses, below which the same
#: holds; and number of rows on which the change is measured.
_NEGLIGIBLE_CHANGE, _CHANGE_ROWS = 0.04, 256


def fit_through(
    recipe: Recipe,
    engine: Engine,
    approximation: Approximation,
    *,
    decision: Decision,
    seed: int,
    check: Check,
    groups: Groups | None = None,
    by_row: bool = False,
    exact: bool = False,
    every_row: bool = False,
    by_sample: bool = False,
) -> Fit:
    """Fit a machine with explicit features to the rows of an engine.

    `check` may raise an error for the columns. Rows of the same group are held out together if `groups` is given, which
    needs rows in memory. If the chunks of the engine contain the groups, folds of whole groups are held out; with
    `by_row`, these groups count by their numbers of rows. Without
    groups, the fit may be `exact` if the rows are few: the sample then contains every distinct row, with the number of
    its copies as its weight. With `every_row`, losses of all rows are computed, however many they are. With
    `by_sample`, there are no groups of rows, and the losses are those of sampled rows, which the fit contains.
    """
    survey = _surveyed(engine, approximation, seed)
    if survey.groups is not None:
        survey.groups.refuse_one()
        survey = replace(survey, groups=replace(survey.groups, by_row=by_row))
    rows, w, n = survey.sample.rows, survey.sample.weights, survey.n_rows
    if exact and survey.groups is None and n <= survey.sample.size and is_quick(n, rows):
        check(survey.columns, n)
        fit = fit_exactly(recipe, rows, w, decision=decision, check=lambda columns, distinct: None)
        machine = replace(fit.machine, labels=None)  # the sample has another order than the rows
        if by_sample:
            return Fit(machine, fit.judgement, (rows, w))
        return Fit(machine, replace(fit.judgement, held_out=None))
    plan = _planned(recipe, survey, approximation, seed, check)
    fit_planned = expecting(n * plan.features.width, _fit_planned)
    return fit_planned(plan, survey, engine, approximation, decision, groups, every_row, by_sample)


def _slim(fit: Fit, engine: Engine) -> Fit:
    """The same fit without its factor, if scores do not need it or a few rows suffice to compute it again."""
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
    """Whether the factor of a model is much larger than the rows, and quickly computed from them again."""
    n, d = X.shape
    return bool(width**2 > _SAVED_FACTOR_SIZE * n * d and n * width**2 <= _SAVED_FACTOR_COST)


def _fit_planned(
    plan: Plan,
    survey: Survey,
    engine: Engine,
    approximation: Approximation,
    decision: Decision,
    groups: Groups | None,
    every_row: bool,
    by_sample: bool,
) -> Fit:
    in_pieces = None if survey.groups is None or survey.groups.alone else survey.groups
    out = holds_out(decision, plan.recipe, grouped=groups is not None or in_pieces is not None)
    if out and in_pieces is not None:
        return _slim(_fit_by_folds(plan, survey, in_pieces, engine, approximation), engine)
    if groups is None and isinstance(engine, InMemory):
        engine = _with_features(engine, plan)
    moments = engine.total(plan.block_moments, "moments")
    with on_one_thread(plan.features.width, survey.sample.rows):
        machine = fit_moments(plan, moments)
        machine = with_measures(machine, survey, engine, approximation, grouped=groups is not None)
    del moments  # they take the memory of a model for each cluster
    if out and groups is not None and isinstance(engine, InMemory):
        fit = judge_groups(machine, engine, groups, decision)
    elif by_sample:
        X, w = _judged_sample(survey, approximation)
        some = InMemory(X, w)
        fit = judge_training(machine, some, survey, approximation, decision, {}, out=out, every_row=True)
        fit = replace(fit, sample=(X, w))
    else:
        fit = judge_training(machine, engine, survey, approximation, decision, {}, out=out, every_row=every_row)
    return _slim(fit, engine)


def _with_features(engine: InMemory, plan: Plan) -> InMemory:
    """The same rows with their features, if the memory is sufficient; losses then do not compute them again."""
    X, features, scaler = engine.X, plan.features, plan.scaler
    room = 8 * X.shape[0] * features.width
    if not isinstance(X, np.ndarray) or room > _KEPT_FEATURE_BYTES or not has_room(2 * room, X):
        return engine
    return engine.with_features(lambda rows: features(scaler(rows)))


def judge_groups(machine: Machine, engine: InMemory, groups: Groups, decision: Decision) -> Fit:
    """The machine and the losses of its training rows, where each group is held out as a whole."""
    rows = machine.plan.training_groups(primal(machine), engine.X, engine.w, groups)
    return Fit.of(machine, rows, decision, groups, out=True)


def _fit_by_folds(plan: Plan, survey: Survey, groups: GroupCounts, engine: Engine, approximation: Approximation) -> Fit:
    """The machine of all rows, with losses from machines that were fitted without the fold of the row's group.

    Each fold takes a pass of its own. All folds in one pass would multiply the memory on every core by the number of
    folds.
    """
    n = groups.folds
    steps = [(partial(fold_moments, plan, groups, k), f"moments, fold {k + 1} of {n}") for k in range(n)]
    parts = [engine.total(*step) for step in steps]
    machine = fit_moments(plan, reduce(add, parts))
    machine = with_measures(machine, survey, engine, approximation, grouped=True)
    twins = fold_machines(machine, survey, groups, parts)
    step = partial(_held_out_fold, twins, groups, engine.loss_limit)
    calibration = replace(Calibration.of(*engine.total(step, "held-out losses").weighted()), way="folds")
    return Fit(machine, Judgement(calibration, calibration, None))


def with_measures(
    machine: Machine, survey: Survey, engine: Engine, approximation: Approximation, *, grouped: bool
) -> Machine:
    """The machine with the measures of its loss, if the loss needs them."""
    all_rows = Block(engine.X, engine.w) if isinstance(engine, InMemory) else None
    return measured(machine, survey, _candidates(approximation), all_rows, grouped=grouped)


def judge_training(
    machine: Machine,
    engine: Engine,
    survey: Survey,
    approximation: Approximation,
    decision: Decision,
    known: dict[tuple[bool, bool], Ranked],
    *,
    out: bool,
    every_row: bool = False,
) -> Fit:
    """The machine and the losses of its training rows, or of a sample if the leverages of all rows cost too much.

    With `every_row`, there is no sample. The losses are held-out losses if `out` is true. `known` caches losses by
    (held out, of a sample): other decisions about the same machine use them again.
    """
    model, n = primal(machine), survey.n_rows
    matters = out and (
        model.effective / survey.columns.weight > _NEGLIGIBLE_LEVERAGE * decision.delta
        or _change_when_left_out(machine, survey) > _NEGLIGIBLE_CHANGE * decision.delta
    )
    costly = (matters or machine.plan.recipe.needs_variance) and n * model.width**2 > _EXTRA_PASS_COST
    sampled = costly and n > 2 * _THRESHOLD_ROWS and not every_row
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
    in_order = isinstance(engine, InMemory) and not sampled
    return Fit(machine, judgement if in_order else replace(judgement, held_out=None))


def _change_when_left_out(machine: Machine, survey: Survey) -> float:
    """Mean change of the loss of a row that is left out, as a share of the distance of the outer deciles of losses.

    A small leverage is no small change where C is so small that losses of all rows are nearly the same.
    """
    sample = survey.sample
    some = slice(None, None, max(1, sample.rows.shape[0] // _CHANGE_ROWS))
    rows = machine.plan.training_rows(primal(machine), sample.rows[some, :], sample.weights[some])
    losses, held_out = (to_numpy(of(rows)) for of in (machine.training_losses, machine.held_out_losses))
    low, high = np.quantile(losses, [0.1, 0.9])
    change = float(np.mean(np.abs(held_out - losses)))
    return change / float(high - low) if high > low else math.inf


def _judging(machine: Machine, owned: OwnLandmarks | None, survey: Survey) -> Machine:
    """The machine that computes held-out losses: in single precision if the rows are many and the error is small."""
    model, sample = primal(machine), survey.sample
    L = model.factored
    if (
        not isinstance(L, np.ndarray)
        or L.dtype != np.float64
        or survey.n_rows * model.width**2 <= _SINGLE_PRECISION_COST
    ):
        return machine
    rounded = replace(machine, model=RoundedModel.of(model))
    some = slice(None, None, max(1, sample.rows.shape[0] // _SINGLE_PRECISION_ROWS))
    block = Block(sample.rows[some, :], sample.weights[some])
    found, plain = (_judged(one, owned, True, math.inf, block)[True].losses for one in (rounded, machine))
    return rounded if bool(np.all(np.abs(found - plain) <= _SINGLE_PRECISION_ERROR * plain)) else machine


def _choosing_rows(approximation: Approximation) -> int:
    """Number of rows of the sample that the plan uses; it does not use the rows after them."""
    return max(_PLAN_ROWS, 2 * approximation.m)


def _candidates(approximation: Approximation) -> int:
    """Number of rows of the sample from which landmarks are chosen."""
    return max(min(_PLAN_ROWS, int(_LANDMARK_COST / approximation.m**2)), 2 * approximation.m)


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
    size = _choosing_rows(approximation) + _UNPLANNED_ROWS
    return engine.total(partial(Survey.of, size=size, seed=seed), "survey")


def _planned(recipe: Recipe, survey: Survey, approximation: Approximation, seed: int, check: Check) -> Plan:
    check(survey.columns, survey.n_rows)
    with on_one_thread(approximation.m, survey.sample.rows):
        return _chosen(recipe, survey, approximation, seed)


def _chosen(recipe: Recipe, survey: Survey, approximation: Approximation, seed: int) -> Plan:
    choosing, rows, w = _choosing_rows(approximation), survey.sample.rows, survey.sample.weights
    n = min(choosing, rows.shape[0])
    few = slice(0, min(_PLAN_ROWS, n))
    looked_at = few if looks_at_pairs(recipe.kernel) else slice(None)
    scaler = Scaler.of(recipe.scaling, survey.columns, rows, w)
    plan = Plan.of(recipe, scaler, scaler(rows[looked_at, :]), w[looked_at], total=survey.columns.weight)
    Z, w = scaler(rows[:n, :]), w[:n]
    # Similar landmarks make the normal equations ill-conditioned; whitening prevents this, but triples the cost of the
    # moments. Use it if the cost is small, and always in single precision, where rounding errors are large.
    single = namespace(Z).finfo(Z.dtype).bits == 32
    whiten = single or survey.n_rows * approximation.m**2 <= _EXTRA_PASS_COST
    some, rng = slice(0, min(_candidates(approximation), n)), np.random.default_rng(seed)
    feature_map = approximation.map(plan.kernel, Z[some, :], w[some], rng, whiten=whiten)
    clustered = isinstance(recipe.variance, Variance)
    centres = recipe.variance.centres(Z[few, :], w[few]) if clustered else None  # type: ignore[union-attr]
    return replace(plan, map=feature_map, centres=centres).checked(Z)


def _sample_of(survey: Survey, approximation: Approximation) -> Engine:
    """Rows of the sample that the plan did not use."""
    sample, first = survey.sample, _choosing_rows(approximation)
    n = sample.rows.shape[0]
    # Rows from which landmarks were chosen are closer to them than new rows are, so leave them out. If most rows are
    # copies, there may be no other rows: the sample holds every distinct row, weighted by the number of its copies.
    first = first if n >= first + _THRESHOLD_ROWS else 0
    some = slice(first, min(first + _THRESHOLD_ROWS, n))
    return InMemory(sample.rows[some, :], sample.weights[some])


def _judged_sample(survey: Survey, approximation: Approximation) -> tuple[Array, Array]:
    """All distinct rows, if the sample contains them, or the sampled rows that the plan did not use; their weights."""
    sample = survey.sample
    first = 0 if sample.rows.shape[0] < sample.size else _choosing_rows(approximation)
    return sample.rows[first:, :], sample.weights[first:]


def primal(machine: Machine) -> PrimalModel:
    """The model of an approximated machine."""
    if not isinstance(machine.model, PrimalModel):
        raise TypeError("an exact fit has no explicit features")
    return machine.model


class _Losses(dict[bool, LossSummary]):
    """Losses of rows, by whether they are held out; two of these objects can be added."""

    def __add__(self, other: _Losses) -> _Losses:
        return _Losses({held_out: summary + other[held_out] for held_out, summary in self.items()})


def _judged(machine: Machine, owned: OwnLandmarks | None, matters: bool, limit: float, block: Block) -> _Losses:
    """Training losses and, if the difference `matters`, held-out losses of rows; leverages are computed once."""
    X, w, F = block.X, block.w, block.F
    if not matters:
        losses = losses_of(machine, X) if F is None else machine.losses(machine.plan.scaler(X), F)
        return _Losses({False: LossSummary.of(losses, w, limit=limit)})
    rows = machine.plan.training_rows(primal(machine), X, w, F)
    found = {
        True: machine.held_out_losses(rows if owned is None else owned.without(machine, X, rows, F)),
        False: machine.training_losses(rows),
    }
    return _Losses({held_out: LossSummary.of(of, w, limit=limit) for held_out, of in found.items()})


def _held_out_fold(twins: tuple[FoldMachine, ...], groups: GroupCounts, limit: float, block: Block) -> LossSummary:
    return LossSummary.of(*held_out_by_folds(twins, groups, block), limit=limit)
