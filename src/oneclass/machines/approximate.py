"""Fitting through an engine: survey the rows, gather their moments, solve once, then see how the rows fare."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..contract.kernels import is_precomputed
from ..contract.memory import available_bytes
from ..core.approximation import Fourier, Nystrom
from ..core.arrays import Array, namespace
from ..core.calibration import Calibration
from ..core.machine import Machine, fit_moments
from ..core.plan import Plan, Survey
from ..core.quantiles import LossSummary
from ..core.recipe import Recipe, Variance
from ..core.solve import PrimalModel
from ..core.threshold import Ranks
from ..engines import Engine, InMemory
from .exact import Check, Fit, losses_of

__all__ = ["Approximation", "choose_approximation", "chunk_approximation", "fit_through", "plan_through"]

Approximation = Nystrom | Fourier

_log = logging.getLogger("oneclass")

#: Rows above which "auto" does not fit exactly: about a minute on one core.
_EXACT_ROWS = 10_000
#: Rows of the sample that bandwidth, clusters and (with eight rows a landmark) landmarks are chosen from.
_CHOOSING_ROWS = 4096
#: Rows of the sample that thresholds fall back on: they estimate a rate of 5 % with a standard error of 0.12 points.
_SAMPLE_ROWS = 32_768
#: Multiply-adds of a pass over all rows that is worth its time for the last digits.
_AFFORDABLE = 2e10
#: Mean leverage, as a share of delta, below which leave-one-out scores are the scores themselves.
_NEGLIGIBLE = 0.02


def choose_approximation(machine: Any, X: Array) -> Approximation | None:
    """What `machine.approximation` means for rows `X`; None is an exact fit."""
    if machine.approximation is None:
        return None
    if not isinstance(machine.approximation, str):
        return chunk_approximation(machine)
    chosen = None if machine.approximation == "auto" and _fits_exactly(machine, X) else chunk_approximation(machine)
    _log.info(
        "%s: approximation='auto' chose %s for %d rows", type(machine).__name__, chosen or "an exact fit", X.shape[0]
    )
    return chosen


def chunk_approximation(machine: Any) -> Approximation:
    """What `machine.approximation` means for rows that are too many to hold."""
    choice, name = machine.approximation, type(machine).__name__
    if is_precomputed(machine):
        raise ValueError(f"{name}: kernel='precomputed' needs an exact fit, approximation=None")
    if isinstance(choice, Nystrom | Fourier):
        return choice
    if choice is None or (isinstance(choice, str) and choice == "auto"):
        return Nystrom()
    raise ValueError(f"{name}: approximation must be None, 'auto', Nystrom(m) or Fourier(m); got {choice!r}")


def _fits_exactly(machine: Any, X: Array) -> bool:
    n = X.shape[0]
    return is_precomputed(machine) or (n <= _EXACT_ROWS and 8 * 3 * n * n < available_bytes(X))


def fit_through(
    recipe: Recipe,
    engine: Engine,
    approximation: Approximation,
    *,
    delta: float,
    seed: int,
    on_training: bool,
    check: Check,
) -> Fit:
    """The machine with explicit features of the rows of an engine; thresholds may look at losses `on_training` rows.

    `check` may refuse the columns once their moments are known.
    """
    plan, survey = plan_through(recipe, engine, approximation, seed=seed, check=check)
    machine = fit_moments(plan, engine.total(plan.moments, "moments"))
    model: Any = machine.model
    matters = model.effective / survey.n_rows > _NEGLIGIBLE * delta
    costly = matters or recipe.needs_variance
    engine = _judging(engine, survey, model, costly=costly, choosing=_choosing_rows(approximation))
    step = partial(_held_out, machine) if matters else partial(_training, machine)
    held_out = engine.total(partial(step, engine.loss_limit), "held-out losses")
    training = held_out
    if on_training and matters:
        training = engine.total(partial(_training, machine, engine.loss_limit), "losses")
    ranks = Ranks.of(*training.weighted()) if on_training else None
    return Fit(machine, Calibration.of(*held_out.weighted()), ranks)


def _choosing_rows(approximation: Approximation) -> int:
    """Rows of the sample that the plan looks at; those after them are fresh to it."""
    return max(_CHOOSING_ROWS, 8 * approximation.m)


def plan_through(
    recipe: Recipe,
    engine: Engine,
    approximation: Approximation,
    *,
    seed: int,
    check: Check,
) -> tuple[Plan, Survey]:
    """Survey the rows of an engine, then choose scaling, kernel, C, features and clusters."""
    choosing = _choosing_rows(approximation)
    survey = engine.total(partial(Survey.of, size=choosing + _SAMPLE_ROWS, seed=seed), "survey")
    check(survey.columns, survey.n_rows)
    n = min(choosing, survey.sample.rows.shape[0])
    rows, w = survey.sample.rows[:n, :], survey.sample.weights[:n]
    few = slice(0, min(_CHOOSING_ROWS, n))
    plan = Plan.of(recipe, survey.columns, rows[few, :], w[few])
    Z = plan.scaler(rows)
    # Whitening doubles the work of the moments: worth it while that is little, and in single precision, whose rounding
    # is more than landmarks that are alike leave of their normal equations.
    single = namespace(Z).finfo(Z.dtype).bits == 32
    whiten = single or survey.n_rows * approximation.m**2 <= _AFFORDABLE
    feature_map = approximation.map(plan.kernel, Z, w, np.random.default_rng(seed), whiten=whiten)
    clustered = isinstance(recipe.variance, Variance)
    centres = recipe.variance.centres(Z[few, :], w[few]) if clustered else None  # type: ignore[union-attr]
    return replace(plan, map=feature_map, centres=centres), survey


def _judging(engine: Engine, survey: Survey, model: PrimalModel, *, costly: bool, choosing: int) -> Engine:
    """The rows whose losses make the threshold: all, or a sample where leverages of all would cost too much."""
    n, sample = survey.n_rows, survey.sample
    if not costly or n * model.width**2 <= _AFFORDABLE or n <= 2 * sample.size:
        return engine
    # Rows that landmarks were chosen from are closer to them than fresh ones: leave these out. A sample that is not
    # full holds every distinct row, with as much weight as it has copies.
    first = choosing if sample.rows.shape[0] == sample.size else 0
    return InMemory(sample.rows[first:, :], sample.weights[first:])


def _held_out(machine: Machine, limit: float, X: Array, w: Array | None) -> LossSummary:
    model: Any = machine.model
    return LossSummary.of(machine.held_out_losses(machine.plan.training_rows(model, X, w)), w, limit=limit)


def _training(machine: Machine, limit: float, X: Array, w: Array | None) -> LossSummary:
    return LossSummary.of(losses_of(machine, X), w, limit=limit)
