"""The points of a grid as values, and the ways to answer for several at once."""

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
from ..core.recipe import Recipe
from ..core.threshold import Decision
from ..core.typing import Device, Rows, Shaped
from ..machines.auto_approximation import choose_approximation
from ..machines.kernel_machine import KernelMachine
from ..machines.parameters import recipe_of, seed_of
from ._judged import Decisions

__all__ = ["Family", "Latest", "Params", "Path", "Point", "Refusal", "families", "fits_exactly", "identity", "refusing"]

Float = NDArray[np.float64]
Index = NDArray[np.intp]
Params = dict[str, Any]
Made = TypeVar("Made")


class Refusal(Exception):  # noqa: N818  no error: points are fitted one by one then
    """A path cannot answer for its points, or not as fitting them would."""


@contextmanager
def refusing() -> Iterator[None]:
    """What numbers or memory make impossible for points together is left to fits of every point."""
    try:
        yield
    except (np.linalg.LinAlgError, MemoryError) as error:
        raise Refusal(str(error)) from error


@dataclass(frozen=True)
class Point:
    """A point of a grid: the machine to fit, and how to put its threshold."""

    recipe: Recipe
    decision: Decision

    @property
    def variance(self) -> Hashable:
        """What tells its variance from others."""
        variance = self.recipe.variance
        return id(variance.M) if isinstance(variance, UserLaplacian) else variance


class Latest(Generic[Made]):
    """What is made of a point's recipe and serves all points of its variance; kept until another variance is asked for.

    Whoever makes it may use the memory of the one before, which nobody has any more.
    """

    def __init__(self, make: Callable[[Recipe], Made]) -> None:
        self._make, self._kept = make, dict[Hashable, Made]()

    def __call__(self, point: Point) -> Made:
        """What serves the point."""
        if point.variance not in self._kept:
            self._kept.clear()
            self._kept[point.variance] = self._make(point.recipe)
        return self._kept[point.variance]


class Path(Protocol):
    """Answers for points that differ in C, loss, rule, delta and variance; soonest for one variance after the other."""

    #: How it works, for `cv_results_`.
    numerics: str

    @property
    def copies(self) -> Index:
        """A number for each row to judge, the same for copies of a row: rounding does not tell them apart."""
        ...

    def decisions(self, point: Point) -> Decisions:
        """Decision values of the rows to judge."""
        ...

    def complexity(self, point: Point) -> float:
        """Effective number of parameters: the sum of the training rows' leverages."""
        ...


@dataclass(frozen=True)
class Family:
    """Points that share kernel, scaling and the way of fitting, so that one path can answer for all of them."""

    points: Mapping[int, Point]
    approximation: Approximation | None
    seed: int
    device: Device | None

    def by_variance(self) -> list[list[int]]:
        """Numbers of the points that share the variance too."""
        groups: dict[Hashable, list[int]] = {}
        for i, point in self.points.items():
            groups.setdefault(point.variance, []).append(i)
        return list(groups.values())

    @property
    def first(self) -> Recipe:
        """The recipe of one of them."""
        return next(iter(self.points.values())).recipe


def fits_exactly(estimator: object, candidates: Sequence[Params], rows: Rows) -> bool:
    """Whether every candidate is a kernel machine that fits these rows exactly, on the host."""
    if not isinstance(estimator, KernelMachine) or is_foreign(rows):
        return False
    machines = (copy(estimator).set_params(**params) for params in candidates)
    return all(m.device is None and choose_approximation(m, _with_shape(rows)) is None for m in machines)


def families(
    estimator: object, candidates: Sequence[Params], rows: Rows, *, whole: bool = False
) -> tuple[list[Family], list[int]]:
    """Families of the candidates that are kernel machines on rows like these, and the numbers of all others.

    What a machine refuses, or does not know, is left to a fit of its own, to say so. A matrix as variance is one for
    the `whole` of its rows: folds have no use for it.
    """
    if not isinstance(estimator, KernelMachine):
        return [], list(range(len(candidates)))
    rows = _with_shape(rows)
    found: dict[Hashable, tuple[dict[int, Point], Approximation | None, int, Device | None]] = {}
    others = []
    # Grids cross few recipes with few decisions: each is read once.
    machines: dict[Hashable, tuple[Recipe, Approximation | None, int, Device | None]] = {}
    decisions: dict[Hashable, Decision] = {}
    known = estimator.get_params(deep=False).keys()
    for i, params in enumerate(candidates):
        if not params.keys() <= known:
            others.append(i)
            continue
        deciding: Params = {name: params[name] for name in params if name in ("delta", "threshold", "confidence")}
        fitting: Params = {name: params[name] for name in params if name not in deciding}
        key, other = (frozenset((name, identity(part[name])) for name in part) for part in (fitting, deciding))
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
        # What the rows decide is decided once, so a C by a rule stays by itself.
        shared = replace(recipe, C=recipe.C if isinstance(recipe.C, str) else 0.0, loss="", variance=None)
        same = (shared, approximation, seed, identity(device))
        points = found.setdefault(same, ({}, approximation, seed, device))[0]
        points[i] = Point(recipe, decisions[other])
    return [Family(*family) for family in found.values()], others


def _with(machine: KernelMachine, params: Params) -> KernelMachine:
    """A copy with other values of its own parameters; `set_params` would read its signature again for every point."""
    machine = copy(machine)
    for name, value in params.items():
        setattr(machine, name, value)
    machine.random_state = deepcopy(machine.random_state)  # as a clone's: every one draws as the first does
    return machine


def _with_shape(rows: Any) -> Shaped:
    return rows if hasattr(rows, "shape") else np.asarray(rows)


def identity(value: object) -> Hashable:
    """What tells a value from others: itself when it is plain, else which object it is."""
    return value if value is None or isinstance(value, bool | int | float | str) else id(value)
