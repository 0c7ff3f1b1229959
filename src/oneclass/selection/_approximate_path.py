"""Score a family of approximated machines: the moments of the training rows serve every C, loss, rule and delta."""

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
from ..machines.approximate import Ranked, judge_groups, judge_training, plan_through, with_measures
from ..machines.exact import Fit, losses_of
from ._families import Candidate, Family, NotSharedError, PerVariance
from ._rounding import Decisions

__all__ = ["ApproximatePath"]

#: C: a number, or the rule that finds one.
Cost = float | str


class ApproximatePath:
    """The steps of a fit to training rows `X`, each step computed once for all candidates that share its result.

    Candidates with different variances have different clusters, and so different moments.
    """

    numerics = "one set of moments"

    def __init__(
        self, approximation: Approximation, seed: int, X: Array, rows: Array, groups: Groups | None = None
    ) -> None:
        engine = InMemory(X, None)
        self._n_rows = int(rows.shape[0])
        self._machines = PerVariance(lambda recipe: Machines(recipe, approximation, seed, engine, rows, groups))

    @classmethod
    def of(cls, family: Family, X: Array, rows: Array, groups: Groups | None = None) -> ApproximatePath:
        """The path of a family, for validation `rows`."""
        if family.approximation is None:
            raise NotSharedError("an exact fit has no moments")
        if family.device is not None:
            X, rows = to_device(X, family.device), to_device(rows, family.device)
        return cls(family.approximation, family.seed, X, rows, groups)

    @property
    def copies(self) -> NDArray[np.intp]:
        """A number for each validation row; decisions have no errors here, so equal rows need not be found."""
        return np.arange(self._n_rows)

    def decisions(self, candidate: Candidate) -> Decisions:
        """Decision values of the validation rows, by the same steps as a fit, so without errors."""
        return self._machines(candidate).decisions(candidate)


class Machines:
    """The machines of one variance: one plan (scaling, bandwidth, clusters, landmarks) and one set of moments.

    There is one solution for each C, and one set of training losses for each C and loss.
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
        self._measured: dict[Cost, Machine] = {}  # with the loss ``either``
        self._losses: dict[tuple[Cost, str], tuple[dict[tuple[bool, bool], Ranked], Array]] = {}
        self._by_groups: dict[tuple[Cost, str], Fit] = {}

    def decisions(self, candidate: Candidate) -> Decisions:
        """Decision values of the validation rows."""
        recipe, decision = candidate.recipe, candidate.decision
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
        """The machine with the C and the loss of this recipe."""
        if recipe.C not in self._solved:
            C = self._plan.C if isinstance(recipe.C, str) else recipe.C
            plan, some = replace(self._plan, C=C), self._survey.sample.rows[:1, :]
            self._solved[recipe.C] = fit_moments(plan.checked(plan.scaler(some)), self._moments)
        solved = self._solved[recipe.C]
        machine = replace(solved, plan=replace(solved.plan, recipe=replace(solved.plan.recipe, loss=recipe.loss)))
        if recipe.loss != "either":
            return machine
        if recipe.C not in self._measured:
            given = (machine, self._survey, self._engine, self._approximation)
            self._measured[recipe.C] = with_measures(*given, grouped=self._groups is not None)
        return self._measured[recipe.C]


def _check(scaling: str, columns: ColumnMoments, n_rows: int) -> None:
    """Leave rows that a fit refuses to a fit, which raises the error."""
    if n_rows < 2 or columns.out_of_range(scaling) is not None:
        raise NotSharedError("a fit refuses these rows")
