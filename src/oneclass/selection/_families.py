"""Group the candidates of a grid into families of kernel machines that one computation can score together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..base.checks import ChoiceError
from ..base.rates import decision_of
from ..core.approximation import Approximation
from ..core.arrays import is_foreign
from ..core.embedding import UserLaplacian
from ..core.plan import CostError
from ..core.recipe import Recipe
from ..core.threshold import Decision
from ..core.typing import Device, Rows, Shaped
from ..machines.auto_approximation import choose_approximation
from ..machines.kernel_machine import KernelMachine
from ..machines.parameters import recipe_of, seed_of
from ._fitting import Params
from ._rounding import Decisions

__all__ = ["Candidate", "Family", "NotSharedError", "Path", "PerVariance", "families", "fits_exactly", "numeric_limits"]

Value = TypeVar("Value")


class NotSharedError(Exception):
    """A family cannot be scored by one computation as accurately as by fits: its candidates must be fitted."""


@contextmanager
def numeric_limits() -> Iterator[None]:
    """Raise `NotSharedError` for a singular matrix and for too little memory: fits of single candidates may succeed."""
    try:
        yield
    except (CostError, np.linalg.LinAlgError, MemoryError) as error:
        raise NotSharedError(str(error)) from error


@dataclass(frozen=True)
class Candidate:
    """A kernel machine to fit, and its rule for the threshold."""

    recipe: Recipe
    decision: Decision

    @property
    def variance(self) -> Hashable:
        """A key of the variance; a matrix is known by its identity."""
        variance = self.recipe.variance
        return id(variance.M) if isinstance(variance, UserLaplacian) else variance


class PerVariance(Generic[Value]):
    """A value made from a recipe for all candidates with its variance; only the latest one is kept.

    The next value may be made in the memory of the latest one.
    """

    def __init__(self, make: Callable[[Recipe], Value]) -> None:
        self._make, self._kept = make, dict[Hashable, Value]()

    def __call__(self, candidate: Candidate) -> Value:
        """The value for the variance of this candidate."""
        if candidate.variance not in self._kept:
            self._kept.clear()
            self._kept[candidate.variance] = self._make(candidate.recipe)
        return self._kept[candidate.variance]


class Path(Protocol):
    """Decisions of a family on validation rows; fastest if candidates with the same variance come in succession."""

    #: Entry of ``cv_results_["numerics"]``.
    numerics: str

    @property
    def copies(self) -> NDArray[np.intp]:
        """A number for each validation row, the same for equal rows."""
        ...

    def decisions(self, candidate: Candidate) -> Decisions:
        """Decision values of the validation rows."""
        ...


@dataclass(frozen=True)
class Family:
    """Candidates, by their number, that share kernel, scaling and approximation: one path scores all of them."""

    candidates: Mapping[int, Candidate]
    approximation: Approximation | None
    seed: int
    device: Device | None

    def by_variance(self) -> list[list[int]]:
        """Numbers of the candidates, grouped by their variance."""
        groups: dict[Hashable, list[int]] = {}
        for i, candidate in self.candidates.items():
            groups.setdefault(candidate.variance, []).append(i)
        return list(groups.values())

    @property
    def first(self) -> Recipe:
        """The recipe of the first candidate."""
        return next(iter(self.candidates.values())).recipe


def fits_exactly(estimator: object, grid: Sequence[Params], rows: Rows) -> bool:
    """Whether every candidate is a kernel machine that fits these rows exactly, on the host."""
    if not isinstance(estimator, KernelMachine) or is_foreign(rows):
        return False
    machines = (copy(estimator).set_params(**params) for params in grid)
    return all(m.device is None and choose_approximation(m, _with_shape(rows)) is None for m in machines)


def families(
    estimator: object, grid: Sequence[Params], rows: Rows, *, whole: bool = False
) -> tuple[list[Family], list[int]]:
    """Families of the candidates that are kernel machines, for rows like these, and the numbers of all others.

    A candidate with a parameter that the machine refuses is one of the others: its own fit raises the error. A matrix
    as variance belongs to the `whole` of the rows, and folds cannot use it.
    """
    if not isinstance(estimator, KernelMachine):
        return [], list(range(len(grid)))
    rows = _with_shape(rows)
    found: dict[Hashable, tuple[dict[int, Candidate], Approximation | None, int, Device | None]] = {}
    others = []
    # A grid combines few recipes with few decisions: each is read once.
    machines: dict[Hashable, tuple[Recipe, Approximation | None, int, Device | None]] = {}
    decisions: dict[Hashable, Decision] = {}
    known = estimator.get_params(deep=False).keys()
    for i, params in enumerate(grid):
        if not params.keys() <= known or "rate_by" in params:
            others.append(i)
            continue
        deciding: Params = {name: params[name] for name in params if name in ("delta", "threshold", "confidence")}
        fitting: Params = {name: params[name] for name in params if name not in deciding}
        key, other = (frozenset((name, _key_of(part[name])) for name in part) for part in (fitting, deciding))
        try:
            if key not in machines:
                machine = _with(estimator, fitting)
                recipe, approximation = recipe_of(machine, rows if whole else None), choose_approximation(machine, rows)
                seed = 0 if approximation is None else seed_of(machine)
                machines[key] = recipe, approximation, seed, machine.device
            if other not in decisions:
                decisions[other] = decision_of(_with(estimator, deciding))
        except ChoiceError:
            others.append(i)
            continue
        recipe, approximation, seed, device = machines[key]
        if approximation is None and (device is not None or is_foreign(rows)):
            others.append(i)
            continue
        # Numbers as C share a family; a rule for C has a family of its own, since the rows decide C once.
        shared = replace(recipe, C=recipe.C if isinstance(recipe.C, str) else 0.0, loss="", variance=None)
        same = (shared, approximation, seed, _key_of(device))
        candidates = found.setdefault(same, ({}, approximation, seed, device))[0]
        candidates[i] = Candidate(recipe, decisions[other])
    return [Family(*family) for family in found.values()], others


def _with(machine: KernelMachine, params: Params) -> KernelMachine:
    """A copy of the machine with these parameters; `set_params` would read its signature again for each candidate."""
    machine = copy(machine)
    for name, value in params.items():
        setattr(machine, name, value)
    machine.random_state = deepcopy(machine.random_state)  # as in a clone: every candidate draws the same numbers
    return machine


def _with_shape(rows: Any) -> Shaped:
    return rows if hasattr(rows, "shape") else np.asarray(rows)


def _key_of(value: object) -> Hashable:
    """A key of a parameter's value: the value if it is plain, else the identity of the object."""
    return value if value is None or isinstance(value, bool | int | float | str) else id(value)
