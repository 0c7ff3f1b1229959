"""Score every candidate on every fold: families of kernel machines by their path, all others by fits.

A job is one call that returns the results of some candidates on one fold.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples

from ..base.groups import read_groups
from ..base.protocol import Estimator
from ..base.reading import read_rows, read_training_rows
from ..base.warnings import DependentRowsWarning, FewRowsWarning, collected
from ..core.typing import Rows
from ..engines.threads import on_one_thread
from ._approximate_path import ApproximatePath
from ._exact_path import ExactPath
from ._families import Family, NotSharedError, Path, families, numeric_limits
from ._fitting import Params, fit_candidate, group_arguments
from ._folds import Fold
from ._rounding import Decisions, unaffected
from .scorers import Scorer, Scoring

__all__ = ["Job", "Result", "jobs", "threads_for"]

Job = tuple[Callable[..., list["Result"]], tuple[Any, ...]]

#: Scores that rounding changes by no more than this need no fit: bounds the error of a score in ``cv_results_``.
_SCORE_ERROR = 1e-6

#: Decompositions of n rows gain from threads as factorisations of this many times n rows do; bounds the folds that a
#: search scores on one thread.
_DECOMPOSITION_SIZE = 4


class Result(NamedTuple):
    """Scores of one candidate on one fold, how they were computed, and the error if there are none."""

    candidate: int
    fold: int
    scores: Mapping[str, float]
    seconds: float
    error: Exception | None = None
    numerics: str = "fits"


def jobs(
    estimator: Estimator,
    grid: Sequence[Params],
    folds: Sequence[Fold],
    scorers: Mapping[str, Scoring],
    *,
    error_score: float | str,
) -> Iterator[Job]:
    """The calls that together score every candidate on every fold."""
    by_decisions = all(isinstance(scorer, Scorer) for scorer in scorers.values())
    ways: dict[int, tuple[list[Family], list[int]]] = {}
    for k, fold in enumerate(folds):
        # The number of rows decides how a machine is fitted.
        if (n := _num_samples(fold.train)) not in ways:
            ways[n] = families(estimator, grid, fold.train) if by_decisions else ([], [*range(len(grid))])
        shared, others = ways[n]
        for family in shared:
            members = {i: grid[i] for i in family.candidates}
            yield _by_path, (estimator, family, members, k, fold, dict(scorers), error_score)
        for i in others:
            yield _by_fits, (estimator, {i: grid[i]}, k, fold, dict(scorers), error_score)


def _by_path(
    estimator: Estimator,
    family: Family,
    members: dict[int, Params],
    k: int,
    fold: Fold,
    scorers: dict[str, Scorer],
    error_score: float | str,
) -> list[Result]:
    start = time.perf_counter()
    try:
        with _without_warnings(), threads_for(fold.train), numeric_limits():
            scored = list(_along_path(estimator, family, k, fold, scorers, error_score))
    except NotSharedError:
        return _by_fits(estimator, members, k, fold, scorers, error_score)
    except Exception as error:  # of the rows or of a user's kernel: every fit would raise it
        return _failures(members, k, scorers, error_score, error)
    seconds = (time.perf_counter() - start) / len(members)
    results = {result.candidate: result._replace(seconds=seconds) for result, _ in scored}
    inexact = {result.candidate: members[result.candidate] for result, exact in scored if not exact}
    if inexact:
        fitted = _by_fits(estimator, inexact, k, fold, scorers, error_score)
        results |= {result.candidate: result for result in fitted}
    return list(results.values())


def threads_for(train: Rows) -> AbstractContextManager[None]:
    """One thread for the linear algebra of few training rows."""
    return on_one_thread(_DECOMPOSITION_SIZE * _num_samples(train), np.empty(0))


def _along_path(
    estimator: Estimator, family: Family, k: int, fold: Fold, scorers: dict[str, Scorer], error_score: float | str
) -> Iterator[tuple[Result, bool]]:
    """The result of each candidate, and whether its scores are those of a fit in spite of rounding."""
    X, header = read_training_rows(estimator, fold.train)
    groups = read_groups(estimator, group_arguments(estimator, fold.groups).get("groups"), X.shape[0])
    kind = ExactPath if family.approximation is None else ApproximatePath
    path: Path = kind.of(family, X, read_rows(header, fold.rows), groups)
    targets = fold.y == 1
    for members in family.by_variance():
        found = [path.decisions(family.candidates[i]) for i in members]
        safe = {name: unaffected(name, found, path.copies) for name in {one.depends_on for one in scorers.values()}}
        for p, i in enumerate(members):
            try:
                scores, exact = _scores(scorers, found[p], targets, {name: of[p] for name, of in safe.items()})
            except Exception as error:  # of a user's scorer
                yield _failures([i], k, scorers, error_score, error)[0], True
            else:
                yield Result(i, k, scores, 0.0, numerics=path.numerics), exact


def _scores(
    scorers: dict[str, Scorer], decisions: Decisions, targets: NDArray[np.bool_], safe: Mapping[str, bool]
) -> tuple[dict[str, float], bool]:
    """Scores of decisions, and whether they are exact: rounding cannot change them, or by very little."""
    scores, exact = {}, True
    for name, scorer in scorers.items():
        if safe[scorer.depends_on]:
            scores[name] = scorer.metric(targets, decisions.values)
            continue
        high, low = (scorer.metric(targets, values) for values in decisions.extremes(targets))
        scores[name] = (high + low) / 2
        exact = exact and not abs(high - low) > _SCORE_ERROR
    return scores, exact


def _by_fits(
    estimator: Estimator,
    members: dict[int, Params],
    k: int,
    fold: Fold,
    scorers: Mapping[str, Scoring],
    error_score: float | str,
) -> list[Result]:
    results = []
    for i, params in members.items():
        start = time.perf_counter()
        try:
            with _without_warnings():
                model = fit_candidate(estimator, params, fold.train, fold.groups)
            scores = {name: float(scorer(model, fold.rows, fold.y)) for name, scorer in scorers.items()}
        except Exception as error:
            results += _failures([i], k, scorers, error_score, error)
        else:
            results.append(Result(i, k, scores, time.perf_counter() - start))
    return results


def _failures(
    candidates: Iterable[int], k: int, scorers: Iterable[str], error_score: float | str, error: Exception
) -> list[Result]:
    """Results of candidates that could not be scored on a fold; raises the error if ``error_score="raise"``."""
    if isinstance(error_score, str):
        raise error
    scores = dict.fromkeys(scorers, float(error_score))
    return [Result(i, k, scores, 0.0, error, "none") for i in candidates]


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Ignore the warnings about rows that the fit to all targets gives again; folds have fewer rows."""
    with collected(DependentRowsWarning, FewRowsWarning):
        yield
