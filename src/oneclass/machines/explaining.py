"""What a fitted machine knows of why a row is strange."""

from __future__ import annotations

from ..core.arrays import Array
from ..core.features import NystromMap
from ..core.kernels import Precomputed
from ..core.machine import Machine
from ..core.primal import PrimalModel
from .exact import in_blocks

__all__ = ["expected_of", "kept_rows", "parts_of"]


def parts_of(machine: Machine, X: Array) -> Array | None:
    """Every feature's part of the loss, where that is a sum over them.

    The loss ``reconstruction`` is a sum of squared residuals in scaled units, one a feature; ``predictive`` adds the
    machine's uncertainty about the whole row, in proportion to them.
    """
    recipe = machine.plan.recipe
    if recipe.constant is not None or recipe.loss == "uncertainty":
        return None
    return in_blocks(machine, X, machine.blame)


def expected_of(machine: Machine, X: Array) -> Array | None:
    """The rows as the machine rebuilds them, in the user's own units, if it does."""
    return in_blocks(machine, X, machine.rebuilt) if machine.plan.recipe.constant is None else None


def kept_rows(machine: Machine) -> Array | None:
    """Training rows of an exact fit, or its landmarks, which are some of them or means of a few."""
    model = machine.model
    if isinstance(machine.plan.kernel, Precomputed):
        return None
    if isinstance(model, PrimalModel):
        return model.map.landmarks if isinstance(model.map, NystromMap) else None
    return model.rows
