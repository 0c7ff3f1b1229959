"""Read and check the parameters of a machine, and turn them into a recipe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn.utils import check_random_state

from ..base.checks import ChoiceError, check_choice, check_integer, check_number, read_scaling
from ..base.kernels import read_cost, read_kernel
from ..core.arrays import Array, device, namespace
from ..core.embedding import Scatter, UserLaplacian
from ..core.kernels import Precomputed
from ..core.loss import REBUILDING
from ..core.recipe import Recipe, Variance

if TYPE_CHECKING:
    from .kernel_machine import KernelMachine

__all__ = ["is_matrix", "recipe_of", "seed_of"]

_INFINITE = float("inf")


def recipe_of(machine: KernelMachine, rows: Array | None, kept: Array | None = None) -> Recipe:
    """The recipe of a machine for these rows; None means too many rows for an exact fit.

    `kept` marks the rows of positive weight, if there are others: a matrix given as `variance` is reduced to them. A
    choice that is not a parameter of a machine is an attribute of its class.
    """
    name = type(machine).__name__
    loss = check_choice(machine, "loss", REBUILDING) if machine._rebuilds else machine.loss
    constant = None if machine._rebuilds else check_number(machine, "r", -_INFINITE, _INFINITE)
    if constant == 0:
        raise ChoiceError(f"{name}: r must not be 0, because that is the output for rows far from all training rows")
    kernel, scaling = read_kernel(machine), read_scaling(name, machine.scale)
    precomputed = isinstance(kernel, Precomputed)
    recipe = Recipe(
        kernel=kernel,
        C=read_cost(machine),
        lam=check_number(machine, "lam", 0, _INFINITE),
        loss=loss,
        constant=constant,
        variance=_variance(machine, rows, kept),
        scaling="none" if precomputed else scaling,
    )
    if precomputed and recipe.needs_variance:
        raise ChoiceError(
            f"{name}: kernel='precomputed' needs loss='reconstruction', because k(z, z) of new rows is unknown"
        )
    return recipe


def seed_of(machine: KernelMachine) -> int:
    """The seed of the landmarks and random features of a machine."""
    try:
        return 0 if machine.random_state is None else int(check_random_state(machine.random_state).randint(2**31 - 1))
    except ValueError as error:
        raise ChoiceError(str(error)) from None


def is_matrix(variance: object) -> bool:
    """Whether the variance is a Laplacian over the training rows, given as a matrix."""
    return hasattr(variance, "shape")


def _variance(machine: KernelMachine, rows: Array | None, kept: Array | None) -> Variance | UserLaplacian | None:
    if is_matrix(machine.variance):
        if rows is None:
            raise ChoiceError(f"{type(machine).__name__}: a matrix as variance needs an exact fit, approximation=None")
        return UserLaplacian(_laplacian(machine, rows, kept))
    choice = machine.variance
    if not isinstance(choice, str) or choice not in ("none", "class", "subclass"):
        choices = "'none', 'class', 'subclass' or an n x n matrix"
        raise ChoiceError(f"{type(machine).__name__}: variance must be {choices}; got {choice!r}")
    if choice == "none":
        return None
    if choice == "class":
        return Variance(Scatter(per_row=True))
    own_mean = check_choice(machine, "centering", ("own", "global")) == "own"
    return Variance(Scatter(own_mean=own_mean), check_integer(machine, "n_clusters", 1))


def _laplacian(machine: KernelMachine, like: Array, kept: Array | None) -> Array:
    name, n = type(machine).__name__, like.shape[0]
    xp = namespace(like)
    M = xp.asarray(machine.variance, dtype=like.dtype, device=device(like))
    if kept is not None and M.shape == 2 * kept.shape:
        M = M[kept].T[kept]  # without rows of weight zero; M is symmetric
    if M.shape != (n, n):
        raise ChoiceError(
            f"{name}: variance must have shape {(n, n)}, one row and column for each row, got {tuple(M.shape)}"
        )
    if not bool(xp.all(xp.abs(M - M.T) <= 1e-8 * (1 + xp.max(xp.abs(M))))):
        raise ChoiceError(f"{name}: variance must be symmetric positive semi-definite when it is a matrix")
    return M
