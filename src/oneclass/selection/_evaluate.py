"""Judge every candidate on every fold: kernel machines by one decomposition for many candidates, others by refits.

A job is one call that returns rows of results, of whichever candidates and folds it can do together.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning

from ..estimators._kernel_machine import KernelMachine
from ._moments import MomentPath, approximates, partition_targets
from ._spectral import EMBEDDING, FREE, SpectralPath, serves
from .scorers import Scorer

__all__ = ["Fold", "Params", "Row", "jobs", "shared_groups"]

Params = dict[str, Any]
Job = tuple[Callable[..., list["Row"]], tuple[Any, ...]]


class Fold(NamedTuple):
    """Targets to train on; rows to judge and their labels, +1 target and -1 outlier."""

    train: Any
    rows: Any
    y: NDArray[np.int64]


class Row(NamedTuple):
    """Scores of one candidate on one fold."""

    candidate: int
    fold: int
    scores: dict[str, float]
    complexity: float
    seconds: float
    error: Exception | None = None


def jobs(
    estimator: Any,
    candidates: Sequence[Params],
    folds: Sequence[Fold],
    scorers: Mapping[str, Any],
    *,
    complexity: Callable[[Any], float] | None,
    sizes: bool,
    error_score: Any,
) -> Iterator[Job]:
    """The calls that together judge every candidate on every fold.

    `complexity` measures a fitted model; without it kernel machines tell their effective number of parameters if the
    `sizes` are asked for.
    """
    by_decisions = complexity is None and all(isinstance(scorer, Scorer) for scorer in scorers.values())
    shared = by_decisions and isinstance(estimator, KernelMachine)
    if shared and approximates(estimator, folds[0].train) and partition_targets(folds):
        for group in shared_groups(_points(estimator, candidates)):
            yield _by_moments, (estimator, {i: candidates[i] for i in group}, folds, dict(scorers), error_score)
        return
    groups = [[i] for i in range(len(candidates))]
    if shared:
        groups = shared_groups(_points(estimator, candidates), FREE + EMBEDDING)
    for k, fold in enumerate(folds):
        for group in groups:
            members = {i: candidates[i] for i in group}
            arguments = (estimator, members, k, fold, dict(scorers), error_score)
            yield (_by_path, (*arguments, sizes)) if shared else (_by_refits, (*arguments, complexity))


def _points(estimator: Any, candidates: Iterable[Params]) -> list[Params]:
    """Candidates with the estimator's own values of what paths vary: in a list, grids may leave out what others set."""
    own = {name: value for name, value in estimator.get_params(deep=False).items() if name in FREE + EMBEDDING}
    return [{**own, **params} for params in candidates]


def shared_groups(candidates: Sequence[Params], free: Sequence[str] = FREE) -> list[list[int]]:
    """Candidates that differ in the `free` parameters only; a C that has to be chosen first is not free."""
    groups: dict[Any, list[int]] = {}
    for i, params in enumerate(candidates):
        bound = ((name, _identity(value)) for name, value in params.items() if not _is_free(name, value, free))
        groups.setdefault(frozenset(bound), []).append(i)
    return list(groups.values())


def _identity(value: Any) -> Any:
    """What tells a value from others: itself when it is plain, else which object it is."""
    return value if value is None or isinstance(value, bool | int | float | str) else id(value)


def _is_free(name: str, value: Any, free: Sequence[str]) -> bool:
    return name in free and not (name == "C" and isinstance(value, str))


def _by_path(
    estimator: Any,
    members: dict[int, Params],
    k: int,
    fold: Fold,
    scorers: dict[str, Scorer],
    error_score: Any,
    sizes: bool,
) -> list[Row]:
    start = time.perf_counter()
    points = dict(zip(members, _points(estimator, members.values()), strict=True))
    machine = clone(estimator).set_params(**next(iter(points.values())))
    if not serves(machine, fold.train) or isinstance(machine.C, str):
        return _by_refits(estimator, members, k, fold, scorers, error_score, None)
    try:
        rows = list(_walk(machine, points, k, fold, scorers, sizes))
    except (ValueError, TypeError, ArithmeticError, MemoryError):
        # A candidate that cannot be fitted must not take the others of its group with it.
        return _by_refits(estimator, members, k, fold, scorers, error_score, None)
    seconds = (time.perf_counter() - start) / len(members)
    return [row._replace(seconds=seconds) for row in rows]


def _walk(
    machine: KernelMachine, points: dict[int, Params], k: int, fold: Fold, scorers: dict[str, Scorer], sizes: bool
) -> Iterator[Row]:
    """Every point along paths that share rows and kernel, one decomposition for each variance."""
    known = next(iter(points.values()))
    free, embedding = ([name for name in names if name in known] for names in (FREE, EMBEDDING))
    costs = sorted({params["C"] for params in points.values()})
    path = SpectralPath(machine, fold.train, fold.rows, costs=costs)
    targets = fold.y == 1
    numbers = list(points)
    for g, group in enumerate(shared_groups(list(points.values()))):
        indices = [numbers[i] for i in group]
        if g > 0:
            path = path.again({name: points[indices[0]][name] for name in embedding})
        for i in indices:
            decisions = path.decisions({name: points[i][name] for name in free})
            scores = {name: scorer.metric(targets, decisions) for name, scorer in scorers.items()}
            yield Row(i, k, scores, path.complexity(points[i]["C"]) if sizes else np.nan, 0.0)


def _by_moments(
    estimator: Any, members: dict[int, Params], folds: Sequence[Fold], scorers: dict[str, Scorer], error_score: Any
) -> list[Row]:
    """Every member on every fold of an approximated machine, folds by subtraction of moments."""
    start = time.perf_counter()
    points = _points(estimator, members.values())
    machine = clone(estimator).set_params(**points[0])
    if isinstance(machine.C, str):
        return _refits_of_all(estimator, members, folds, scorers, error_score)
    free = [{name: point[name] for name in FREE if name in point} for point in points]
    numbers = list(members)
    try:
        rows = [
            Row(numbers[i], k, {name: s.metric(folds[k].y == 1, found) for name, s in scorers.items()}, size, 0.0)
            for k, i, found, size in MomentPath(machine, folds).decisions(free)
        ]
    except (ValueError, TypeError, ArithmeticError, MemoryError):
        return _refits_of_all(estimator, members, folds, scorers, error_score)
    seconds = (time.perf_counter() - start) / len(rows)
    return [row._replace(seconds=seconds) for row in rows]


def _refits_of_all(
    estimator: Any, members: dict[int, Params], folds: Sequence[Fold], scorers: dict[str, Scorer], error_score: Any
) -> list[Row]:
    done = (_by_refits(estimator, members, k, fold, scorers, error_score, None) for k, fold in enumerate(folds))
    return [row for rows in done for row in rows]


def _by_refits(
    estimator: Any,
    members: dict[int, Params],
    k: int,
    fold: Fold,
    scorers: dict[str, Any],
    error_score: Any,
    complexity: Callable[[Any], float] | None,
) -> list[Row]:
    rows = []
    for i, params in members.items():
        start = time.perf_counter()
        measure, failed = np.nan, None
        try:
            with warnings.catch_warnings():
                # The folds are smaller than the data; whether the budget can be kept is the last fit's question.
                warnings.filterwarnings("ignore", message=".*smallest false-alarm rate", category=UserWarning)
                model = clone(estimator).set_params(**params).fit(fold.train)
            scores = {name: float(scorer(model, fold.rows, fold.y)) for name, scorer in scorers.items()}
            measure = np.nan if complexity is None else float(complexity(model))
        except Exception as error:
            if isinstance(error_score, str):  # "raise"
                raise
            message = f"{type(estimator).__name__} could not be fitted with {params} on fold {k}: {error}"
            warnings.warn(message, FitFailedWarning, stacklevel=2)
            scores, failed = dict.fromkeys(scorers, float(error_score)), error
        rows.append(Row(i, k, scores, measure, time.perf_counter() - start, failed))
    return rows
