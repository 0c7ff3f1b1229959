"""Judge every candidate on every fold: families of kernel machines by paths, all else by refits.

A job is one call that returns rows of results, of whichever candidates it can do together on a fold.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import _num_samples

from ..base.groups import read_groups
from ..base.protocol import Estimator
from ..base.reading import read_rows, read_training_rows
from ..base.warnings import DependentRowsWarning, FewRowsWarning
from ..core.typing import Rows
from ..engines.threads import on_one_thread
from ._judged import SETTLED, Decisions
from ._moments import MomentPath
from ._points import Family, Params, Path, Refusal, families, refusing
from ._routing import group_arguments
from ._spectral import SpectralPath
from .scorers import Scorer, Scoring

__all__ = ["Fold", "Job", "Row", "failures", "jobs", "threads_for"]

Job = tuple[Callable[..., list["Row"]], tuple[Any, ...]]

#: A difference between scores that is not worth a fit.
_INDIFFERENT = 1e-6

#: How many times as large as it is a matrix is for threads: decompositions gain more from them than factorisations.
_SHARED = 4


class Fold(NamedTuple):
    """Targets to train on; rows to judge and their labels, +1 target and -1 outlier; groups of the former, if any."""

    train: Rows
    rows: Rows
    y: NDArray[np.int64]
    groups: NDArray[np.generic] | None = None


class Row(NamedTuple):
    """Scores of one candidate on one fold, and how they were worked out."""

    candidate: int
    fold: int
    scores: Mapping[str, float]
    complexity: float
    seconds: float
    error: Exception | None = None
    numerics: str = "fits"


def jobs(
    estimator: Estimator,
    candidates: Sequence[Params],
    folds: Sequence[Fold],
    scorers: Mapping[str, Scoring],
    *,
    complexity: Callable[..., float] | None,
    sizes: bool,
    error_score: float | str,
) -> Iterator[Job]:
    """The calls that together judge every candidate on every fold.

    `complexity` measures a fitted model; without it kernel machines tell their effective number of parameters if the
    `sizes` are asked for.
    """
    by_decisions = complexity is None and all(isinstance(scorer, Scorer) for scorer in scorers.values())
    ways: dict[int, tuple[list[Family], list[int]]] = {}
    for k, fold in enumerate(folds):
        # How a machine is fitted depends on the number of rows.
        if (n := _num_samples(fold.train)) not in ways:
            ways[n] = families(estimator, candidates, fold.train) if by_decisions else ([], [*range(len(candidates))])
        shared, others = ways[n]
        for family in shared:
            members = {i: candidates[i] for i in family.points}
            yield _by_path, (estimator, family, members, k, fold, dict(scorers), error_score, sizes)
        for i in others:
            yield _by_refits, (estimator, {i: candidates[i]}, k, fold, dict(scorers), error_score, complexity)


def _by_path(
    estimator: Estimator,
    family: Family,
    members: dict[int, Params],
    k: int,
    fold: Fold,
    scorers: dict[str, Scorer],
    error_score: float | str,
    sizes: bool,
) -> list[Row]:
    start = time.perf_counter()
    try:
        with _quiet(), threads_for(fold.train), refusing():
            walked = list(_walk(estimator, family, k, fold, scorers, error_score, sizes))
    except Refusal:
        return _by_refits(estimator, members, k, fold, scorers, error_score, None)
    except Exception as error:  # of the rows, or of a kernel of the user's: every fit would raise it
        return failures(members, [k], scorers, error_score, error)
    seconds = (time.perf_counter() - start) / len(members)
    rows = {row.candidate: row._replace(seconds=seconds) for row, _ in walked}
    doubtful = {row.candidate: members[row.candidate] for row, sure in walked if not sure}
    if doubtful:
        for row in _by_refits(estimator, doubtful, k, fold, scorers, error_score, None):
            rows[row.candidate] = row._replace(complexity=rows[row.candidate].complexity)
    return list(rows.values())


def threads_for(train: Rows) -> AbstractContextManager[None]:
    """One thread for the path of few rows."""
    return on_one_thread(_SHARED * _num_samples(train), np.empty(0))


def _walk(
    estimator: Estimator,
    family: Family,
    k: int,
    fold: Fold,
    scorers: dict[str, Scorer],
    error_score: float | str,
    sizes: bool,
) -> Iterator[tuple[Row, bool]]:
    """Every point, those of one variance after the other.

    With every row whether its scores are those of a fit, whatever rounding did.
    """
    X, header = read_training_rows(estimator, fold.train)
    groups = read_groups(estimator, group_arguments(estimator, fold.groups).get("groups"), X.shape[0])
    kind = SpectralPath if family.approximation is None else MomentPath
    path: Path = kind.of(family, X, read_rows(header, fold.rows), groups)
    targets = fold.y == 1
    for group in family.by_variance():
        found = [path.decisions(family.points[i]) for i in group]
        settled = {sees: SETTLED[sees](found, path.copies) for sees in {scorer.sees for scorer in scorers.values()}}
        for p, i in enumerate(group):
            size = path.complexity(family.points[i]) if sizes else np.nan
            try:
                scores, sure = _scores(scorers, found[p], targets, {sees: of[p] for sees, of in settled.items()})
            except Exception as error:  # of a scorer of the user's
                yield failures([i], [k], scorers, error_score, error)[0], True
            else:
                yield Row(i, k, scores, size, 0.0, numerics=path.numerics), sure


def _scores(
    scorers: dict[str, Scorer], found: Decisions, targets: NDArray[np.bool_], settled: Mapping[str, bool]
) -> tuple[dict[str, float], bool]:
    """Scores of decisions, and whether they are a fit's: what scorers see is `settled`, or rounding matters little."""
    scores, sure = {}, True
    for name, scorer in scorers.items():
        if settled[scorer.sees]:
            scores[name] = scorer.metric(targets, found.values)
            continue
        high, low = (scorer.metric(targets, moved) for moved in found.extremes(targets))
        scores[name] = (high + low) / 2
        sure = sure and not abs(high - low) > _INDIFFERENT
    return scores, sure


def _by_refits(
    estimator: Estimator,
    members: dict[int, Params],
    k: int,
    fold: Fold,
    scorers: Mapping[str, Scoring],
    error_score: float | str,
    complexity: Callable[..., float] | None,
) -> list[Row]:
    rows = []
    for i, params in members.items():
        start = time.perf_counter()
        measure = np.nan
        try:
            with _quiet():
                model = clone(estimator).set_params(**clone(params, safe=False))
                model = model.fit(fold.train, **group_arguments(model, fold.groups))
            scores = {name: float(scorer(model, fold.rows, fold.y)) for name, scorer in scorers.items()}
            measure = np.nan if complexity is None else float(complexity(model))
        except Exception as error:
            rows += failures([i], [k], scorers, error_score, error)
            continue
        rows.append(Row(i, k, scores, measure, time.perf_counter() - start))
    return rows


def failures(
    candidates: Iterable[int], folds: Iterable[int], scorers: Iterable[str], error_score: float | str, error: Exception
) -> list[Row]:
    """The rows of candidates that cannot be fitted on some folds; raises the error where there is no score for them."""
    if isinstance(error_score, str):  # "raise"
        raise error
    scores = dict.fromkeys(scorers, float(error_score))
    return [Row(i, k, scores, np.nan, 0.0, error, "none") for i, k in product(candidates, folds)]


@contextmanager
def _quiet() -> Iterator[None]:
    """The folds are smaller than the data; whether the budget can be kept is the last fit's question.

    So is whether the rows are enough for it, and independent of one another.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DependentRowsWarning)
        warnings.simplefilter("ignore", FewRowsWarning)
        yield
