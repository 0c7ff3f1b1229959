"""Score a family of exact machines: one decomposition of the training rows serves every C, loss, rule and delta."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..core.clusters import Splits
from ..core.groups import Groups
from ..core.machine import put_threshold
from ..core.plan import Plan
from ..core.recipe import Recipe
from ..core.scaling import ColumnMoments, Scaler
from ._decomposition import Decomposition, TrainingData
from ._families import Candidate, Family, NotSharedError, PerVariance
from ._rounding import Decisions

__all__ = ["ExactPath"]

Float = NDArray[np.float64]


class ExactPath:
    """Decisions on validation `rows` after training on rows `X`, for several numbers as C, or for one rule for C.

    All machines share the scaled rows and the kernel values; there is one decomposition for each variance.
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
            raise NotSharedError("a column holds values whose squares overflow or underflow")
        scaler = Scaler.of(recipe.scaling, columns, X, w)
        Z, rows = scaler(X), scaler(rows)
        plan = Plan.of(recipe, scaler, Z, w, total=columns.weight)
        chosen = [plan.C if isinstance(C, str) else C for C in costs]
        for C in chosen:
            replace(plan, C=C).checked(Z)
        K, row_K = plan.kernel(Z, Z), plan.kernel(rows, Z)
        # Double precision from here on, for values of C of different magnitude share one decomposition.
        Z, w, rows, K, row_K = (np.asarray(A, dtype=np.float64) for A in (Z, w, rows, K, row_K))
        data = TrainingData(
            *(Z, w, rows, K, row_K),
            T=recipe.target(Z),
            T_rows=recipe.target(rows),
            kernel=plan.kernel,
            lam=recipe.lam,
            costs=np.array(chosen, dtype=np.float64),
            leverages=leverages,
            groups=groups,
        )
        splits, memory = Splits(Z, w), dict[str, Float]()
        self._rows, self._place = rows, {C: c for c, C in enumerate(costs)}
        self._decompositions = PerVariance(
            lambda recipe: Decomposition(data, recipe.embedding(Z, w, splits)[0], memory)
        )

    @classmethod
    def of(cls, family: Family, X: Float, rows: Float, groups: Groups | None = None) -> ExactPath:
        """The path of a family, for validation `rows`."""
        candidates = family.candidates.values()
        leverages = any(one.decision.held_out or one.recipe.needs_variance for one in candidates)
        costs = {one.recipe.C for one in candidates}
        ordered = list(costs) if len(costs) == 1 else sorted(float(C) for C in costs)
        return cls(family.first, X, rows, costs=ordered, leverages=leverages, groups=groups)

    @cached_property
    def copies(self) -> NDArray[np.intp]:
        """A number for each validation row, the same for equal rows."""
        return np.unique(self._rows, axis=0, return_inverse=True)[1].reshape(-1)

    def decisions(self, candidate: Candidate) -> Decisions:
        """Decision values of the validation rows."""
        recipe, decision = candidate.recipe, candidate.decision
        decomposition, c = self._decompositions(candidate), self._place[recipe.C]
        losses = decomposition.losses(recipe, held_out=decision.held_out)
        mean_residual = decomposition.mean_residuals[c] if decision.rule == "mean" else None
        threshold = put_threshold(decision, losses.training[c], recipe=recipe, mean_residual=mean_residual)
        error = losses.threshold_error(c, threshold)
        return Decisions(threshold - losses.rows[c], losses.row_errors[c], error)

    def log_likelihood(self, candidate: Candidate) -> float:
        """Log marginal likelihood of the training rows, per row and feature; the machine's target has no part in it."""
        return self._decompositions(candidate).log_likelihood(self._place[candidate.recipe.C])
