"""Judge every candidate on every fold: kernel machines by one decomposition for many candidates, others by refits.

A job is one call that returns rows of results, of whichever candidates it can do together on a fold.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning

from ..estimators._kernel_machine import KernelMachine
from ._moments import MomentPath
from ._spectral import EMBEDDING, FREE, SpectralPath, serves
from .scorers import Scorer

__all__ = ["Fold", "Params", "Row", "complete", "jobs", "shared_groups"]

Float = NDArray[np.float64]
Params = dict[str, Any]
Job = tuple[Callable[..., list["Row"]], tuple[Any, ...]]

#: A difference between scores that is not worth a fit.
_INDIFFERENT = 1e-6


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
    groups = [[i] for i in range(len(candidates))]
    if shared:
        groups = shared_groups(complete(estimator, candidates), FREE + EMBEDDING)
    for k, fold in enumerate(folds):
        for group in groups:
            members = {i: candidates[i] for i in group}
            arguments = (estimator, members, k, fold, dict(scorers), error_score)
            yield (_by_path, (*arguments, sizes)) if shared else (_by_refits, (*arguments, complexity))


def complete(estimator: Any, candidates: Iterable[Params]) -> list[Params]:
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
    points = dict(zip(members, complete(estimator, members.values()), strict=True))
    machine = clone(estimator).set_params(**next(iter(points.values())))
    try:
        with _quiet():
            walked = list(_walk(machine, points, k, fold, scorers, sizes))
    except (ValueError, TypeError, ArithmeticError, MemoryError):
        # A candidate that cannot be fitted must not take the others of its group with it.
        return _by_refits(estimator, members, k, fold, scorers, error_score, None)
    seconds = (time.perf_counter() - start) / len(members)
    rows = {row.candidate: row._replace(seconds=seconds) for row, _ in walked}
    doubtful = {row.candidate: members[row.candidate] for row, sure in walked if not sure}
    if doubtful:
        for row in _by_refits(estimator, doubtful, k, fold, scorers, error_score, None):
            rows[row.candidate] = row._replace(complexity=rows[row.candidate].complexity)
    return list(rows.values())


def _walk(
    machine: KernelMachine, points: dict[int, Params], k: int, fold: Fold, scorers: dict[str, Scorer], sizes: bool
) -> Iterator[tuple[Row, bool]]:
    """Every point along paths that share rows and kernel, one decomposition (or set of moments) for each variance.

    With every row whether its scores are those of a fit, whatever rounding did.
    """
    known = next(iter(points.values()))
    free, embedding = ([name for name in names if name in known] for names in (FREE, EMBEDDING))
    path: SpectralPath | MomentPath
    if serves(machine, fold.train):
        costs = sorted({params["C"] for params in points.values()})
        path = SpectralPath(machine, fold.train, fold.rows, costs=costs)
    else:
        path = MomentPath(machine, fold.train, fold.rows)
    targets = fold.y == 1
    numbers = list(points)
    for g, group in enumerate(shared_groups(list(points.values()))):
        indices = [numbers[i] for i in group]
        if g > 0:
            path = path.again({name: points[indices[0]][name] for name in embedding})
        for i in indices:
            decisions, slack = path.decisions({name: points[i][name] for name in free})
            favour = np.where(targets, slack, -slack)
            high, low = (
                {name: scorer.metric(targets, moved) for name, scorer in scorers.items()}
                for moved in (decisions + favour, decisions - favour)
            )
            scores = {name: (high[name] + low[name]) / 2 for name in scorers}
            size = path.complexity(points[i]["C"]) if sizes else np.nan
            yield Row(i, k, scores, size, 0.0), not any(abs(high[name] - low[name]) > _INDIFFERENT for name in scorers)


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
            with _quiet():
                model = clone(estimator).set_params(**clone(params, safe=False)).fit(fold.train)
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


@contextmanager
def _quiet() -> Iterator[None]:
    """The folds are smaller than the data; whether the budget can be kept is the last fit's question."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*smallest false-alarm rate", category=UserWarning)
        yield
