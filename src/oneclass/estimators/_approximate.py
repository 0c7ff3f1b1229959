"""Fitting through an engine: survey the rows, gather their moments, solve once, then see how the rows fare."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from ..core.approximation import Fourier, Nystrom
from ..core.arrays import Array, available_bytes, namespace
from ..core.cholesky import SingularSystemError
from ..core.kernels import Radial
from ..core.moments import Moments
from ..core.scaling import Scaler
from ..core.solve import PrimalModel, solve_primal
from ..engines import InMemory, LossSummary, Plan, Survey
from ._kernel_choice import choose_kernel_and_cost

if TYPE_CHECKING:
    from ._kernel_machine import KernelMachine

__all__ = [
    "Approximation",
    "Solved",
    "choose_approximation",
    "chunk_approximation",
    "decide",
    "fit_through",
    "plan_through",
    "solve_moments",
]

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


def choose_approximation(machine: KernelMachine, X: Array) -> Approximation | None:
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


def chunk_approximation(machine: KernelMachine) -> Approximation:
    """What `machine.approximation` means for rows that are too many to hold."""
    choice, name = machine.approximation, type(machine).__name__
    if machine._precomputed:
        raise ValueError(f"{name}: kernel='precomputed' needs an exact fit, approximation=None")
    if isinstance(choice, Nystrom | Fourier):
        return choice
    if choice is None or (isinstance(choice, str) and choice == "auto"):
        return Nystrom()
    raise ValueError(f"{name}: approximation must be None, 'auto', Nystrom(m) or Fourier(m); got {choice!r}")


def _fits_exactly(machine: KernelMachine, X: Array) -> bool:
    n = X.shape[0]
    return machine._precomputed or (n <= _EXACT_ROWS and 8 * 3 * n * n < available_bytes(X))


def fit_through(machine: KernelMachine, engine: Any, approximation: Approximation) -> None:
    """Fit the machine with explicit features to the rows of an engine."""
    machine._check_decision()
    plan, survey = plan_through(machine, engine, approximation)
    solved = solve_moments(machine, plan, engine.total(plan.moments, "moments"))
    solved.put_into(machine)
    decide(machine, engine, plan, survey, solved.model, approximation, {})


def _choosing_rows(approximation: Approximation) -> int:
    """Rows of the sample that the plan looks at; those after them are fresh to it."""
    return max(_CHOOSING_ROWS, 8 * approximation.m)


def plan_through(machine: KernelMachine, engine: Any, approximation: Approximation) -> tuple[Plan, Survey]:
    """Survey the rows of an engine, then choose scaling, kernel, C, features and clusters."""
    random_state = machine.random_state
    seed = 0 if random_state is None else int(check_random_state(random_state).randint(2**31 - 1))
    choosing = _choosing_rows(approximation)
    survey = engine.total(partial(Survey.of, size=choosing + _SAMPLE_ROWS, seed=seed), "survey")
    n = min(choosing, survey.sample.rows.shape[0])
    if survey.n_rows < 2:
        raise ValueError(f"{type(machine).__name__}: X must have at least 2 rows, got {survey.n_rows}")
    rows, w = survey.sample.rows[:n, :], survey.sample.weights[:n]
    machine.scaler_ = Scaler.of(survey.columns) if machine._scales else Scaler.identity(rows)
    Z = machine.scaler_(rows)
    few = slice(0, min(_CHOOSING_ROWS, n))
    machine.kernel_, machine.C_ = choose_kernel_and_cost(machine, Z[few, :], w[few])
    if isinstance(machine.kernel_, Radial):
        machine.sigma_ = float(machine.kernel_.sigma)
    # Whitening doubles the work of the moments: worth it while that is little, and in single precision, whose rounding
    # is more than landmarks that are alike leave of their normal equations.
    single = namespace(Z).finfo(Z.dtype).bits == 32
    whiten = single or survey.n_rows * approximation.m**2 <= _AFFORDABLE
    feature_map = approximation.map(machine.kernel_, Z, w, np.random.default_rng(seed), whiten=whiten)
    scatter = machine._scatter()
    centres = machine._centres(Z[few, :], w[few]) if scatter is not None else None
    return Plan(machine.scaler_, feature_map, machine._target, centres, scatter), survey


@dataclass(frozen=True)
class Solved:
    """What the moments of some rows say: a model, the signal variance and the rows' mean residual."""

    model: PrimalModel
    signal: float
    mean_residual: Array

    def put_into(self, machine: KernelMachine) -> None:
        """Make it the machine's own."""
        machine.model_, machine.signal_, machine._mean_residual = self.model, self.signal, self.mean_residual


def solve_moments(machine: KernelMachine, plan: Plan, moments: Moments) -> Solved:
    """Solve the machine's normal equations at its `C_`."""
    variance = None
    if plan.scatter is not None:
        variance = moments.variance(plan.scatter.shares, own_mean=plan.scatter.own_mean)
    C, dtype = machine.C_, plan.scaler.mean.dtype
    try:
        model, signal = solve_primal(plan.map, moments, variance, C=C, ridge=machine.lam / C, dtype=dtype)
    except SingularSystemError as error:
        raise SingularSystemError(f"{type(machine).__name__}: {error}; C={C!r}, lam={machine.lam!r}") from None
    whole = moments.total()
    features = namespace(whole.f).astype(whole.f[0, :], dtype)
    return Solved(model, signal, whole.t[0, :] - features @ model.weights)


def decide(
    machine: KernelMachine,
    engine: Any,
    plan: Plan,
    survey: Survey,
    model: PrimalModel,
    approximation: Approximation,
    known: dict[tuple[bool, bool], tuple[Array, Array]],
) -> None:
    """Threshold and calibration from the losses of all rows, or of a sample where leverages would cost too much.

    Losses (held out or not, of a sample or not) that are `known` by then are taken from there, others put there: they
    serve any other threshold and delta of the same model and score.
    """
    n, sample = survey.n_rows, survey.sample
    matters = model.effective / n > _NEGLIGIBLE * machine.delta
    costly = (matters or machine._wants_variance) and n * model.width**2 > _AFFORDABLE
    sampled = costly and n > 2 * sample.size
    if sampled:
        # Rows that landmarks were chosen from are closer to them than fresh ones: leave these out. A sample that is not
        # full holds every distinct row, with as much weight as it has copies.
        first = _choosing_rows(approximation) if sample.rows.shape[0] == sample.size else 0
        engine = InMemory(sample.rows[first:, :], sample.weights[first:])

    def losses(held_out: bool, label: str) -> tuple[Array, Array]:
        if (held_out, sampled) not in known:
            step = partial(_held_out_losses, machine, plan, model) if held_out else partial(_training_losses, machine)
            known[held_out, sampled] = engine.total(partial(step, engine.loss_limit), label).weighted()
        return known[held_out, sampled]

    machine._decide(*losses(matters, "held-out losses"), held_out=True)
    if machine.threshold not in machine._held_out_rules:
        machine._decide(*losses(False, "losses"), held_out=False)


def _held_out_losses(
    machine: KernelMachine, plan: Plan, model: PrimalModel, limit: float, X: Array, w: Array | None
) -> LossSummary:
    rows = plan.training_rows(model, X, w, uncertainty=machine._wants_variance)
    return LossSummary.of(machine._held_out_loss(rows), w, limit=limit)


def _training_losses(machine: KernelMachine, limit: float, X: Array, w: Array | None) -> LossSummary:
    return LossSummary.of(machine._losses(X), w, limit=limit)
