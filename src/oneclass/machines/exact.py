"""Exact fits, and answers of a fitted machine in blocks of rows that bound the memory."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

from ..base.memory import check_factor_fits
from ..core.arrays import Array, blocks, namespace
from ..core.calibration import HeldOut, Judgement
from ..core.compiled import expecting
from ..core.groups import Groups
from ..core.machine import Machine, fit_rows, holds_out, put_threshold
from ..core.plan import Plan
from ..core.recipe import Recipe
from ..core.scaling import ColumnMoments, Scaler
from ..core.solve import DualModel, TrainingRows
from ..core.threshold import Decision, Ranks
from ..engines.threads import on_one_thread, spread

__all__ = ["Check", "Fit", "fit_exactly", "in_blocks", "losses_of", "prepare"]

#: Raises an error if the columns, or their number of rows, cannot be fitted.
Check = Callable[[ColumnMoments, int], None]


@dataclass(frozen=True)
class Fit:
    """A fitted machine, and the losses of its training rows that set the threshold."""

    machine: Machine
    judgement: Judgement
    sample: tuple[Array, Array] | None = None  # sampled rows and weights that the held-out losses are of, if asked for

    @classmethod
    def of(cls, machine: Machine, rows: TrainingRows, decision: Decision, groups: Groups | None, *, out: bool) -> Fit:
        """The fit with held-out losses (if `out`) or training losses; a group is held out as a whole."""
        held_out = HeldOut.of(machine.held_out_losses(rows), rows.w, groups) if out else None
        return cls(machine, Judgement.of(decision, held_out, lambda: Ranks.of(machine.training_losses(rows), rows.w)))

    def threshold(self, decision: Decision) -> float:
        """The threshold on the losses that the decision gives."""
        machine, ranks = self.machine, self.judgement.ranks
        return put_threshold(decision, ranks, recipe=machine.plan.recipe, mean_residual=machine.mean_residual)


def fit_exactly(
    recipe: Recipe, X: Array, w: Array, *, decision: Decision, check: Check, groups: Groups | None = None
) -> Fit:
    """Fit the exact machine to rows `X`, where row i counts ``w[i]`` times.

    Rows of the same group are held out together, and each group has the same weight in the calibration.
    """
    with on_one_thread(X.shape[0], X):
        columns = ColumnMoments.of(X, w)
        check(columns, X.shape[0])
        scaler = Scaler.of(recipe.scaling, columns, X, w)
        Z = scaler(X)
        plan = Plan.of(recipe, scaler, Z, w, total=columns.weight)
        out = holds_out(decision, recipe, grouped=groups is not None)
        machine, rows = fit_rows(plan, Z, w, out=out, groups=groups)
    return Fit.of(machine, rows, decision, groups, out=out)


def in_blocks(machine: Machine, X: Array, step: Callable[[Array], Array]) -> Array:
    """Apply `step` to blocks of scaled rows and concatenate the results."""
    # Every block reads the whole n x n factor; longer blocks read it less often.
    factored = machine.plan.recipe.needs_variance and isinstance(machine.model, DualModel) and isinstance(X, np.ndarray)
    width, at_most = max(machine.model.width, X.shape[1]), 512 if factored else None
    ranges = list(blocks(X.shape[0], width, X, for_products=factored, at_most=at_most))
    scaler = machine.plan.scaler
    prepare(machine, X)
    if len(ranges) == 1:
        # A single row needs no matrix product, which BLAS would compute on several threads.
        with on_one_thread(width, X) if X.shape[0] > 1 else nullcontext():
            return step(scaler(X))
    part = expecting(X.shape[0] * width, lambda ab: step(scaler(X[ab[0] : ab[1], :])))
    return namespace(X).concat(list(spread(part, ranges, X)))


def prepare(machine: Machine, like: Array) -> None:
    """Compute what losses need in advance, as in the fit, so that results are equal to the last bit."""
    if not machine.model.is_prepared and machine.plan.recipe.needs_variance:
        check_factor_fits(machine.model.width, like)
        with on_one_thread(machine.model.width, like):
            machine.model.prepare()


def losses_of(machine: Machine, X: Array) -> Array:
    """Loss of each row."""
    return in_blocks(machine, X, machine.losses)
