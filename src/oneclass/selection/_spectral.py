"""A kernel machine at every C, loss, rule and delta from one decomposition of its training rows for each variance."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..core.clusters import Splits
from ..core.groups import Groups
from ..core.machine import put_threshold
from ..core.plan import Plan
from ..core.recipe import Recipe
from ..core.scaling import ColumnMoments, Scaler
from ._decomposed import Decomposed, Shared
from ._judged import Decisions
from ._points import Family, Latest, Point, Refusal

__all__ = ["SpectralPath"]

Float = NDArray[np.float64]


class SpectralPath:
    """A machine on training rows `X`, to judge other `rows`, for several values of C at once, or for the rule of one.

    Machines of every variance share scaled rows and kernel values.
    """

    numerics = "one decomposition"

    def __init__(
        self,
        recipe: Recipe,
        X: Float,
        rows: Float,
        *,
        costs: Sequence[float | str],
        leverages: bool,
        groups: Groups | None = None,
    ) -> None:
        w = np.ones(len(X), dtype=X.dtype)
        columns = ColumnMoments.of(X, w)
        if columns.out_of_range(recipe.scaling) is not None:
            raise Refusal("a column cannot be squared")
        scaler = Scaler.of(recipe.scaling, columns, X, w)
        Z, rows = scaler(X), scaler(rows)
        plan = Plan.of(recipe, scaler, Z, w, total=columns.weight)
        K, row_K = plan.kernel(Z, Z), plan.kernel(rows, Z)
        # From here on in double precision: values of C far apart share one decomposition.
        Z, w, rows, K, row_K = (np.asarray(A, dtype=np.float64) for A in (Z, w, rows, K, row_K))
        shared = Shared(
            *(Z, w, rows, K, row_K),
            T=recipe.target(Z),
            T_rows=recipe.target(rows),
            kernel=plan.kernel,
            lam=recipe.lam,
            costs=np.array([plan.C if isinstance(C, str) else C for C in costs], dtype=np.float64),
            leverages=leverages,
            groups=groups,
        )
        splits, memory = Splits(Z, w), dict[str, Float]()
        self._rows, self._place = rows, {C: c for c, C in enumerate(costs)}
        self._machines = Latest(lambda recipe: Decomposed(shared, recipe.embedding(Z, w, splits)[0], memory))

    @classmethod
    def of(cls, family: Family, X: Float, rows: Float, groups: Groups | None = None) -> SpectralPath:
        """The path of a family."""
        points = family.points.values()
        leverages = any(point.decision.held_out or point.recipe.needs_variance for point in points)
        costs = {point.recipe.C for point in points}
        ordered = list(costs) if len(costs) == 1 else sorted(float(C) for C in costs)
        return cls(family.first, X, rows, costs=ordered, leverages=leverages, groups=groups)

    @cached_property
    def copies(self) -> NDArray[np.intp]:
        """A number for each row to judge, the same for copies of a row."""
        return np.unique(self._rows, axis=0, return_inverse=True)[1].reshape(-1)

    def decisions(self, point: Point) -> Decisions:
        """Decision values of the rows to judge."""
        recipe, decision = point.recipe, point.decision
        machines, c = self._machines(point), self._place[recipe.C]
        found = machines.judged(recipe, held_out=decision.held_out)
        mean_residual = machines.mean_residuals[c] if decision.rule == "mean" else None
        threshold = put_threshold(decision, found.known[c], recipe=recipe, mean_residual=mean_residual)
        slack = found.threshold_slack(c, threshold)
        return Decisions(threshold - found.rows[c], found.row_slack[c], slack)

    def complexity(self, point: Point) -> float:
        """Effective number of parameters: the sum of the training rows' leverages."""
        return self._machines(point).complexity(self._place[point.recipe.C])

    def log_likelihood(self, point: Point) -> float:
        """Marginal likelihood of the rows rebuilt from themselves, whatever the machine's target, a row and feature."""
        return self._machines(point).log_likelihood(self._place[point.recipe.C])
