"""What makes a point of the grid good: labels, consistency, made-up outliers or likelihood."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.utils import _safe_indexing, get_tags

from ..base.classifier import OneClassClassifier
from ..base.protocol import Estimator
from ..base.reading import read_rows, read_training_rows
from ..base.seeds import random_of
from ..base.warnings import OneClassWarning, warn
from ..core.arrays import to_numpy
from ..core.typing import Rows, Seed
from ._evaluate import Fold, Job, Row, failures, jobs, threads_for
from ._points import Family, Params, Refusal, families, fits_exactly, refusing
from ._results import score_columns, table, work_columns
from ._spectral import SpectralPath
from ._steps import Branch, branches, last_step
from .consistency import consistency_scores, promised
from .outliers import OUTLIERS, generate_outliers
from .scorers import Scorer, Scoring

__all__ = ["CRITERIA", "WITHOUT_SCORERS", "Decided", "Problem"]

Float = NDArray[np.float64]
Index = NDArray[np.intp]


class Decided(NamedTuple):
    """Columns for `cv_results_` and the number of folds."""

    columns: dict[str, Any]
    n_folds: int


@dataclass(frozen=True)
class Problem:
    """Everything that a criterion may look at."""

    estimator: Estimator
    candidates: list[Params]
    X: Rows
    targets: NDArray[np.bool_]
    groups: NDArray[np.generic] | None  # of all rows, where they belong to some
    splits: Callable[[], Sequence[tuple[Index, Index]]]
    scorers: Mapping[str, Scoring]
    run: Callable[[Iterable[Job]], list[Row]]
    complexity: Callable[..., float] | None
    n_outliers: int | None
    random_state: Seed
    error_score: float | str

    @property
    def pairwise(self) -> bool:
        """Whether `X` is a kernel matrix."""
        return bool(get_tags(self.estimator).input_tags.pairwise)

    def take(self, rows: Index, columns: Index) -> Rows:
        """Some rows; of a kernel matrix, their values with the training rows `columns`."""
        part: Rows = _safe_indexing(self.X, rows)
        if self.pairwise:
            part = _safe_indexing(part, columns, axis=1)
        return part

    def folds(self) -> list[Fold]:
        """Targets to train on and rows to judge; outliers never get into training."""
        y = np.where(self.targets, 1, -1)
        kept = [(train[self.targets[train]], test) for train, test in self.splits()]
        if not kept:
            raise ValueError("OneClassSearchCV: cv must give at least one fold, got none; an iterator gives them once")
        for k, (train, test) in enumerate(kept):
            if not len(train) or not self.targets[test].any():
                raise ValueError(
                    f"OneClassSearchCV: every fold of cv must have targets on both sides, but fold {k} trains on "
                    f"{len(train)} and validates on {self.targets[test].sum()}"
                )
        groups = [None if self.groups is None else self.groups[train] for train, _ in kept]
        return [
            Fold(self.take(train, train), self.take(test, train), y[test], together)
            for (train, test), together in zip(kept, groups, strict=True)
        ]

    @property
    def n_units(self) -> int:
        """Number of targets that are independent of one another: rows, or groups of them."""
        return int(self.targets.sum()) if self.groups is None else len(np.unique(self.groups[self.targets]))

    def judge(
        self,
        folds: Sequence[Fold],
        scorers: Mapping[str, Scoring],
        estimator: Estimator | None = None,
        *,
        sizes: bool = False,
    ) -> tuple[list[Row], dict[str, Any]]:
        """Rows of scores (and of the models' `sizes`, if asked for), and the columns that they make."""
        whole = Branch(None, self.estimator if estimator is None else estimator, dict(enumerate(self.candidates)))
        rows = self.rows(whole, folds, scorers, sizes=sizes)
        return rows, self.columns(rows, folds, scorers)

    def rows(
        self, branch: Branch, folds: Sequence[Fold], scorers: Mapping[str, Scoring], *, sizes: bool = False
    ) -> list[Row]:
        """Rows of scores of some candidates, on folds as their last step sees them."""
        options: dict[str, Any] = {"complexity": self.complexity, "sizes": sizes, "error_score": self.error_score}
        numbers, candidates = list(branch.members), list(branch.members.values())
        done = self.run(jobs(branch.estimator, candidates, folds, scorers, **options))
        return [row._replace(candidate=numbers[row.candidate]) for row in done]

    def columns(self, rows: Sequence[Row], folds: Sequence[Fold], scorers: Mapping[str, Scoring]) -> dict[str, Any]:
        """What rows of scores of all candidates make of `cv_results_`."""
        errors = self._failed(rows, len(folds))
        if len(errors) == len(self.candidates):  # nothing is left to choose among
            raise next(iter(errors.values()))
        shape = len(self.candidates), len(folds)
        columns = work_columns(rows, *shape)
        for name in scorers:
            columns |= score_columns(name, table(rows, *shape, name), self._defined(rows, folds, name))
        return columns

    def _failed(self, rows: Sequence[Row], n_folds: int) -> dict[int, Exception]:
        """What candidates that cannot be fitted on some fold raised there last, with a warning for each."""
        errors = {row.candidate: row.error for row in rows if row.error is not None}
        times = Counter(row.candidate for row in rows if row.error is not None)
        for i, error in errors.items():
            warn(
                f"{type(self.estimator).__name__} could not be fitted with {self.candidates[i]} on {times[i]} of "
                f"{n_folds} folds: {error}",
                FitFailedWarning,
            )
        return errors

    def _defined(self, rows: Sequence[Row], folds: Sequence[Fold], name: str) -> Index:
        """Folds that have the score: a fold without outliers may not, whatever the candidate."""
        scored = {row.fold for row in rows if row.error is None and not np.isnan(row.scores[name])}
        without = [k for k, fold in enumerate(folds) if np.all(fold.y == 1) and k not in scored]
        if 0 < len(without) < len(folds):
            outliers = len(self.targets) - int(self.targets.sum())
            warn(
                f"OneClassSearchCV: {len(without)} of {len(folds)} folds hold none of the {outliers} outliers, and so "
                f"have no {name}: it is the mean over the others; fewer folds (cv=) leave fewer without",
                OneClassWarning,
            )
            return np.setdiff1d(np.arange(len(folds)), without)
        return np.arange(len(folds))


def by_labels(problem: Problem) -> Decided:
    """Scores of held-out targets and of the outliers that the user has."""
    folds = problem.folds()
    return Decided(problem.judge(folds, problem.scorers)[1], len(folds))


def by_made_up_outliers(problem: Problem, kind: str) -> Decided:
    """Scores of held-out targets and of outliers made up around the training targets of the fold.

    A pipeline's are made up among the rows that its last step sees, and judged by that step.
    """
    if problem.pairwise:
        raise ValueError(f"OneClassSearchCV: criterion={kind!r} needs rows, but a precomputed kernel has none")
    given, parts = problem.folds(), branches(problem.estimator, problem.candidates)
    random = random_of(problem.random_state)
    rows, judged = list[Row](), given
    for part, draw in zip(parts, [random, *(deepcopy(random) for _ in parts[1:])], strict=True):
        try:
            judged = [_with_made_up(part, fold, kind, problem.n_outliers, draw) for fold in given]
        except Exception as error:
            if part.before is None:
                raise
            rows += failures(part.members, range(len(given)), problem.scorers, problem.error_score, error)
        else:
            rows += problem.rows(part, judged, problem.scorers)
    return Decided(problem.columns(rows, judged, problem.scorers), len(given))


def _with_made_up(part: Branch, fold: Fold, kind: str, n: int | None, random: np.random.RandomState) -> Fold:
    fold = _targets_only(part.prepared(fold))
    try:
        known, header = read_training_rows(part.estimator, fold.train, min_rows=1)
        known, inside = (to_numpy(rows).astype(float) for rows in (known, read_rows(header, fold.rows)))
    except (TypeError, ValueError) as error:
        if not get_tags(part.estimator).input_tags.string:
            raise
        raise ValueError(
            f"OneClassSearchCV: criterion={kind!r} makes up outliers among numbers alone "
            f"({str(error).partition(';')[0]}); search for what judges the table's numbers, as in "
            "TableDetector(OneClassSearchCV(...)), or pass labels"
        ) from None
    n = n or max(200, 10 * len(inside))
    made = generate_outliers(known, n, kind=kind, random_state=random)
    return fold._replace(train=known, rows=np.concatenate([inside, made]), y=np.repeat([1, -1], [len(inside), n]))


def by_consistency(problem: Problem) -> Decided:
    """The most complex point whose rejected share of held-out targets stays within two sigma of the share asked for."""
    estimator = problem.estimator
    prefix, step = last_step(estimator)
    if isinstance(step, OneClassClassifier):
        # Held-out thresholds keep their promise at any complexity: only training scores tell a model that overfits.
        estimator = clone(estimator).set_params(**{f"{prefix}threshold": "train", f"{prefix}confidence": None})
    machines = (last_step(clone(estimator).set_params(**params))[1] for params in problem.candidates)
    delta = np.array([promised(machine) for machine in machines])
    folds = [_targets_only(fold) for fold in problem.folds()]
    sizes = np.array([len(fold.y) for fold in folds])
    rows, columns = problem.judge(
        folds, {"rejected": Scorer("rejected", _rejected, sees="signs")}, estimator, sizes=True
    )
    shares = table(rows, len(problem.candidates), len(folds), "rejected")
    rejected = shares @ sizes / sizes.sum()
    complexity = _complexities(rows, len(problem.candidates))
    # A target that is judged in several folds counts as often, a group as many times as its rows do on average.
    n = round(sizes.sum() * problem.n_units / problem.targets.sum())
    score = consistency_scores(rejected, delta, complexity, n)
    columns |= {"complexity": complexity, **score_columns("score", np.repeat(score[:, None], len(folds), axis=1))}
    return Decided(columns, len(folds))


def by_likelihood(problem: Problem) -> Decided:
    """Marginal likelihood of all targets, without folds."""
    rows = np.flatnonzero(problem.targets)
    train = problem.take(rows, rows)
    if not fits_exactly(problem.estimator, problem.candidates, train):
        name = type(problem.estimator).__name__
        raise ValueError(
            f"OneClassSearchCV: criterion='likelihood' needs a kernel machine that fits exactly, got {name}"
        )
    X, _ = read_training_rows(problem.estimator, train)
    shared, others = families(problem.estimator, problem.candidates, X, whole=True)
    for i in others:  # which a fit refuses
        clone(problem.estimator).set_params(**problem.candidates[i]).fit(train)
    machines = [clone(problem.estimator).set_params(**problem.candidates[min(family.points)]) for family in shared]
    done = problem.run(
        (_by_likelihood, (machine, family, train)) for machine, family in zip(machines, shared, strict=True)
    )
    shape = len(problem.candidates), 1
    return Decided(work_columns(done, *shape) | score_columns("score", table(done, *shape, "score")), 1)


def _by_likelihood(estimator: Estimator, family: Family, train: Rows) -> list[Row]:
    start = time.perf_counter()
    with threads_for(train):
        rows = _likelihoods(estimator, family, train)
    seconds = (time.perf_counter() - start) / len(rows)
    return [row._replace(seconds=seconds) for row in rows]


def _likelihoods(estimator: Estimator, family: Family, train: Rows) -> list[Row]:
    X, _ = read_training_rows(estimator, train)
    try:
        with refusing():
            path = SpectralPath.of(family, X, X)
    except Refusal as refusal:  # there is no other way to a likelihood
        estimator.fit(train)  # it says better what is wrong with the rows
        raise (refusal.__cause__ or ValueError(f"{type(estimator).__name__}: {refusal}")) from None
    scores = {i: path.log_likelihood(family.points[i]) for group in family.by_variance() for i in group}
    return [Row(i, 0, {"score": score}, np.nan, 0.0, numerics=path.numerics) for i, score in scores.items()]


def _targets_only(fold: Fold) -> Fold:
    inside = np.flatnonzero(fold.y == 1)
    return fold._replace(rows=_safe_indexing(fold.rows, inside), y=fold.y[inside])


def _rejected(targets: NDArray[np.bool_], decisions: Float) -> float:
    return float(np.mean(decisions < 0))


def _complexities(rows: Sequence[Row], n: int) -> Float:
    """Mean over the folds; the place in the grid where models do not tell."""
    by_candidate = [np.mean([row.complexity for row in rows if row.candidate == i]) for i in range(n)]
    return np.arange(n, dtype=float) if np.isnan(by_candidate).any() else np.array(by_candidate)


CRITERIA: dict[str, Callable[[Problem], Decided]] = {
    "labels": by_labels,
    "consistency": by_consistency,
    **{kind: partial(by_made_up_outliers, kind=kind) for kind in OUTLIERS},
    "likelihood": by_likelihood,
}

#: Criteria that bring a score of their own.
WITHOUT_SCORERS = ("consistency", "likelihood")
