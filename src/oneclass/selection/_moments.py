"""An approximated machine at every C, loss, rule and delta from one gathering of its training rows' moments."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..core.approximation import Approximation
from ..core.arrays import Array, to_device, to_numpy
from ..core.compiled import expecting
from ..core.groups import Groups
from ..core.machine import Machine, fit_moments, holds_out
from ..core.recipe import Recipe
from ..core.scaling import ColumnMoments
from ..engines import InMemory
from ..machines.approximate import Ranked, judge_groups, judge_training, plan_through, primal
from ..machines.exact import Fit, losses_of
from ._judged import Decisions
from ._points import Family, Latest, Point, Refusal

__all__ = ["MomentPath"]

#: A number, or the rule that finds one.
Cost = float | str


class MomentPath:
    """A machine on training rows, to judge other `rows`: step by step what `fit` does, each step once for a variance.

    Another variance has other clusters, and so other moments.
    """

    numerics = "one set of moments"

    def __init__(
        self, approximation: Approximation, seed: int, X: Array, rows: Array, groups: Groups | None = None
    ) -> None:
        engine = InMemory(X, None)
        self._n_rows = int(rows.shape[0])
        self._gathered = Latest(lambda recipe: Gathered(recipe, approximation, seed, engine, rows, groups))

    @classmethod
    def of(cls, family: Family, X: Array, rows: Array, groups: Groups | None = None) -> MomentPath:
        """The path of a family."""
        if family.approximation is None:
            raise Refusal("an exact fit has no moments")
        if family.device is not None:
            X, rows = to_device(X, family.device), to_device(rows, family.device)
        return cls(family.approximation, family.seed, X, rows, groups)

    @property
    def copies(self) -> NDArray[np.intp]:
        """No row stands for another one."""
        return np.arange(self._n_rows)

    def decisions(self, point: Point) -> Decisions:
        """Decision values of the rows to judge; those of a fit, so none is off."""
        return self._gathered(point).decisions(point)

    def complexity(self, point: Point) -> float:
        """Effective number of parameters: the sum of the training rows' leverages."""
        return primal(self._gathered(point).machine(point.recipe)).effective


class Gathered:
    """The machines of one variance.

    Scaling, bandwidth, clusters and landmarks are chosen and moments gathered here; a solution serves its C, losses of
    the training rows their C and loss.
    """

    def __init__(
        self,
        recipe: Recipe,
        approximation: Approximation,
        seed: int,
        engine: InMemory,
        rows: Array,
        groups: Groups | None,
    ) -> None:
        self._approximation, self._engine, self._rows, self._groups = approximation, engine, rows, groups
        check = partial(_check, recipe.scaling)
        self._plan, self._survey = plan_through(recipe, engine, approximation, seed=seed, check=check)
        total = expecting(self._survey.n_rows * self._plan.features.width, engine.total)
        self._moments = total(self._plan.block_moments, "moments")
        self._solved: dict[Cost, Machine] = {}
        self._losses: dict[tuple[Cost, str], tuple[dict[tuple[bool, bool], Ranked], Array]] = {}
        self._by_groups: dict[tuple[Cost, str], Fit] = {}

    def decisions(self, point: Point) -> Decisions:
        """Decision values of the rows to judge."""
        recipe, decision = point.recipe, point.decision
        machine = self.machine(recipe)
        key = recipe.C, recipe.loss
        if key not in self._losses:
            self._losses[key] = {}, losses_of(machine, self._rows)
        known, losses = self._losses[key]
        out = holds_out(decision, recipe, grouped=self._groups is not None)
        if self._groups is None or not out:
            fit = judge_training(machine, self._engine, self._survey, self._approximation, decision, known, out=out)
        else:
            if key not in self._by_groups:
                self._by_groups[key] = judge_groups(machine, self._engine, self._groups, decision)
            fit = self._by_groups[key]
        values = to_numpy(fit.threshold(decision) - losses)
        return Decisions(values, np.zeros_like(values), 0.0)

    def machine(self, recipe: Recipe) -> Machine:
        """The solution at the recipe's C, with its loss."""
        if recipe.C not in self._solved:
            C = self._plan.C if isinstance(recipe.C, str) else recipe.C
            self._solved[recipe.C] = fit_moments(replace(self._plan, C=C), self._moments)
        solved = self._solved[recipe.C]
        return replace(solved, plan=replace(solved.plan, recipe=replace(solved.plan.recipe, loss=recipe.loss)))


def _check(scaling: str, columns: ColumnMoments, n_rows: int) -> None:
    if n_rows < 2 or columns.out_of_range(scaling) is not None:
        raise Refusal("rows that a fit refuses")
