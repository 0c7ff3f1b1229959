"""Fitting all rows at once, and asking a fitted machine about rows, in blocks that bound the memory."""

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

#: May refuse columns, and their number of rows, once they are known.
Check = Callable[[ColumnMoments, int], None]


@dataclass(frozen=True)
class Fit:
    """A fitted machine and how its training rows were judged."""

    machine: Machine
    judgement: Judgement

    @classmethod
    def of(cls, machine: Machine, rows: TrainingRows, decision: Decision, groups: Groups | None, *, out: bool) -> Fit:
        """The fit of rows that fared like this, and may have been held `out`, those of a group together."""
        held_out = HeldOut.of(machine.held_out_losses(rows), rows.w, groups) if out else None
        return cls(machine, Judgement.of(decision, held_out, lambda: Ranks.of(machine.training_losses(rows), rows.w)))

    def threshold(self, decision: Decision) -> float:
        """Where the decision puts its threshold."""
        machine, ranks = self.machine, self.judgement.ranks
        return put_threshold(decision, ranks, recipe=machine.plan.recipe, mean_residual=machine.mean_residual)


def fit_exactly(
    recipe: Recipe, X: Array, w: Array, *, decision: Decision, check: Check, groups: Groups | None = None
) -> Fit:
    """The exact machine of rows `X`, row i counted ``w[i]`` times.

    Rows of `groups` are held out together, and each group weighs the same in the calibration.
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
    """Concatenate what `step` makes of the rows in z-scores."""
    # Each block is solved against the whole n x n factor: longer blocks read it less often.
    factored = machine.plan.recipe.needs_variance and isinstance(machine.model, DualModel) and isinstance(X, np.ndarray)
    width, at_most = max(machine.model.width, X.shape[1]), 512 if factored else None
    ranges = list(blocks(X.shape[0], width, X, for_products=factored, at_most=at_most))
    scaler = machine.plan.scaler
    prepare(machine, X)
    if len(ranges) == 1:
        # A single row takes no product that a BLAS would share.
        with on_one_thread(width, X) if X.shape[0] > 1 else nullcontext():
            return step(scaler(X))
    part = expecting(X.shape[0] * width, lambda ab: step(scaler(X[ab[0] : ab[1], :])))
    return namespace(X).concat(list(spread(part, ranges, X)))


def prepare(machine: Machine, like: Array) -> None:
    """Have at hand what losses take, made as in the fit: the same to the last bit."""
    if not machine.model.is_prepared and machine.plan.recipe.needs_variance:
        check_factor_fits(machine.model.width, like)
        with on_one_thread(machine.model.width, like):
            machine.model.prepare()


def losses_of(machine: Machine, X: Array) -> Array:
    """Loss of each row."""
    return in_blocks(machine, X, machine.losses)
