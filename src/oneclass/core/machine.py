"""A fitted kernel machine: its fit from rows or from moments, its losses, reconstructions and contributions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from .arrays import Array, copy, namespace
from .groups import Groups
from .kernels import Precomputed
from .loss import Measures, contributions, loss
from .moments import Moments
from .plan import Plan
from .primal import PrimalModel, solve_primal
from .recipe import Recipe
from .solve import DualModel, TrainingRows, solve_dual
from .stored import Floats, Whole, must
from .threshold import RULES, Decision, Ranks

__all__ = ["Machine", "fit_moments", "fit_rows", "holds_out", "put_threshold"]


@dataclass(frozen=True)
class Machine:
    """The plan, the fitted model and the loss of a machine. Rows are scaled; a larger loss is less normal."""

    plan: Plan
    model: DualModel | PrimalModel
    signal: float
    mean_residual: Annotated[Array, Floats("t")]
    labels: Annotated[Array, Whole("n")] | None = None  # clusters of the training rows, for exact fits with clusters

    def __check__(self) -> dict[str, int]:
        model, recipe, columns = self.model, self.plan.recipe, int(self.plan.scaler.centre.shape[0])
        if isinstance(model, DualModel):
            precomputed = isinstance(model.kernel, Precomputed)
            rows, wide = model.rows.shape
            must(wide == (0 if precomputed else columns), f"the rows of the model must have {columns} columns")
            must(not precomputed or rows == columns, f"a precomputed kernel must have {rows} columns")
            must(not (precomputed and recipe.needs_variance), f"loss={recipe.loss!r} must have a kernel of rows")
            made_of: object = model.shrink
        else:
            made_of = model.equations
        must((recipe.loss == "either") == (self.plan.measures is not None), "only the loss 'either' has measures")
        told = model.L is not None or made_of is not None
        must(told or not recipe.needs_variance, f"loss={recipe.loss!r} must have a factor, or what it is computed from")
        return {"t": columns if recipe.constant is None else 1}

    def judge(self, Z: Array, features: Array | None = None) -> tuple[Array, Array | None]:
        """Return the residuals of rows and, if the loss needs it, their uncertainty v(z)."""
        features = self.model.features(Z) if features is None else features
        residuals = self.plan.recipe.target(Z) - self.model.outputs(features)
        wanted = self.plan.recipe.needs_variance
        return residuals, self.model.uncertainty(Z, features) / self.plan.C if wanted else None

    def losses(self, Z: Array, features: Array | None = None) -> Array:
        """Return the loss of each row; `features` are its features, if they are known."""
        return self.loss(*self.judge(Z, features))

    def training_losses(self, rows: TrainingRows) -> Array:
        """Return the loss of each training row under the machine fitted with it."""
        wanted = self.plan.recipe.needs_variance
        return self.loss(rows.residuals, rows.uncertainty() / self.plan.C if wanted else None)

    def held_out_losses(self, rows: TrainingRows) -> Array:
        """Return the loss of each training row under the machine fitted without it."""
        wanted = self.plan.recipe.needs_variance
        return self.loss(rows.held_out_residuals(), rows.held_out_uncertainty() / self.plan.C if wanted else None)

    def rebuilt(self, Z: Array) -> Array:
        """Return the reconstruction of rows, in the user's units."""
        return self.plan.scaler.inverse(self.model.outputs(self.model.features(Z)))

    def contributions(self, Z: Array) -> Array:
        """Return the contribution of each feature to the loss."""
        residuals, variance = self.judge(Z)
        measures = self.plan.measures
        squares = None if measures is None else measures.squares
        return contributions(residuals, self.loss(residuals, variance), squares=squares)

    def loss(self, residuals: Array, variance: Array | None) -> Array:
        """Return the loss from residuals and, if the loss needs it, the uncertainty."""
        return loss(self.plan.recipe.loss, residuals, variance, signal=self.signal, measures=self.plan.measures)

    def measured(self, rows: TrainingRows) -> Machine:
        """Return the machine with the measures of its loss, from held-out values of `rows`, if the loss needs them."""
        if self.plan.recipe.loss != "either":
            return self
        measures = Measures.of(rows.held_out_residuals(), rows.held_out_uncertainty() / self.plan.C, rows.w)
        return replace(self, plan=replace(self.plan, measures=measures))


def fit_rows(
    plan: Plan, Z: Array, w: Array, *, out: bool, groups: Groups | None = None
) -> tuple[Machine, TrainingRows]:
    """Return the exact machine of rows `Z`, row i counted ``w[i]`` times, and the residuals of these rows.

    With `out`, held-out residuals are computed: without each row or, if `groups` are given, without its group.
    """
    recipe = plan.recipe
    embedding, labels = recipe.embedding(Z, w)
    model, rows = solve_dual(
        plan.kernel,
        Z,
        recipe.target(Z),
        w,
        embedding.shrink(w, C=plan.C),
        ridge=plan.ridge,
        leave_one_out=out or recipe.needs_variance,
        keep_factor=recipe.needs_variance,
        embedding=embedding if out else None,
        C=plan.C,
        groups=groups if out else None,
    )
    if isinstance(plan.kernel, Precomputed):
        # A precomputed kernel needs only the number of training rows. A view would keep the whole matrix in memory.
        model = replace(model, rows=copy(Z[:, :0]))
    mean_residual = (w @ rows.residuals) / namespace(w).sum(w)
    machine = Machine(plan, model, rows.signal(C=plan.C), mean_residual, labels)
    single = rows if groups is None else replace(rows, left=None)  # measures are those of single rows
    return machine.measured(single), rows


def fit_moments(plan: Plan, moments: Moments, *, count: bool = True) -> Machine:
    """Return the machine fitted from moments; with `count`, its effective number of parameters is computed."""
    scatter, dtype = plan.recipe.scatter, plan.scaler.centre.dtype
    model, signal = solve_primal(plan.features, moments, scatter, C=plan.C, ridge=plan.ridge, dtype=dtype, count=count)
    features, targets = moments.means()
    return Machine(plan, model, signal, targets - namespace(features).astype(features, dtype) @ model.weights)


def holds_out(decision: Decision, recipe: Recipe, *, grouped: bool) -> bool:
    """Whether a fit computes held-out losses.

    It does if the threshold needs them. It also does if the loss needs the uncertainty, since held-out losses of single
    rows then cost nothing. For whole groups they do cost time.
    """
    return decision.held_out or (recipe.needs_variance and not grouped)


def put_threshold(decision: Decision, ranks: Ranks, *, recipe: Recipe, mean_residual: Array) -> float:
    """Return the threshold from ranked losses or, for the rule ``mean``, from the mean output (VOCKELM_thresh)."""
    if decision.rule == "mean":
        # The rule does not depend on the sign of r.
        return decision.delta * abs((recipe.constant or 0.0) - float(mean_residual[0]))
    return RULES[decision.rule](ranks, delta=decision.budget(ranks.total))
