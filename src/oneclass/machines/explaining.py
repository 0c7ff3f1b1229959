"""What a fitted machine contributes to explanations: parts of the loss, expected values, training rows."""

from __future__ import annotations

from ..base.known_outliers import nearest_outliers
from ..base.nearest_known import NearestKnown
from ..core.arrays import Array, namespace, to_numpy
from ..core.features import NystromMap
from ..core.kernels import Precomputed
from ..core.known import KnownOutliers
from ..core.machine import Machine
from ..core.primal import PrimalModel
from .exact import in_blocks

__all__ = ["expected_of", "kept_rows", "nearest_known", "parts_of"]


def parts_of(machine: Machine, X: Array) -> Array | None:
    """The part of each feature in the loss, or None if the loss is not a sum over features.

    The loss ``reconstruction`` is the sum of the squared residuals of the scaled features. ``predictive`` adds the
    machine's variance at the row, which is divided among the features in proportion to their squared residuals. The
    loss ``either`` is divided in proportion to the squared residuals in units of their held-out mean squares.
    """
    recipe = machine.plan.recipe
    if recipe.constant is not None or recipe.loss == "uncertainty":
        return None
    return in_blocks(machine, X, machine.contributions)


def expected_of(machine: Machine, X: Array) -> Array | None:
    """The rows as the machine reconstructs them, in the units of the data; None if it has a constant target."""
    return in_blocks(machine, X, machine.rebuilt) if machine.plan.recipe.constant is None else None


def kept_rows(machine: Machine) -> Array | None:
    """Training rows of an exact fit, or landmarks, which are training rows or means of some; None if there are none."""
    model = machine.model
    if isinstance(machine.plan.kernel, Precomputed):
        return None
    if isinstance(model, PrimalModel):
        return model.map.landmarks if isinstance(model.map, NystromMap) else None
    return model.rows


def nearest_known(machine: Machine, known: KnownOutliers, X: Array) -> NearestKnown:
    """The known outlier nearest to each row."""

    def parts(Z: Array) -> Array:
        return namespace(Z).stack(known.parts(machine, Z), axis=1)

    return nearest_outliers(known, machine.plan.scaler, X, *to_numpy(in_blocks(machine, X, parts)).T)
