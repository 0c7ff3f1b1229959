"""OneClassSearchCV: scikit-learn's grid search for classifiers that learn from one class."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeAlias

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, OutlierMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import _num_samples, check_is_fitted

from ..contract.base import OneClassClassifier
from ..contract.detector import Estimator
from ..contract.grouping import read_labels, without_groups
from ..contract.labels import is_target, warn_of_few
from ..contract.notices import warn
from ..contract.saving import Saved
from ..contract.tables import framed, unwrapped
from ..core.arrays import Array
from ..core.given import Labels, Name, Rows, Seed
from ..core.stored import MAYBE, Count, Extended, must
from ..engines.dask import refuse_dask
from ._criteria import CRITERIA, WITHOUT_SCORERS, Problem
from ._delegation import BestEstimator
from ._evaluate import Job, Row
from ._points import Params, fits_exactly
from ._results import parameters
from ._routing import group_arguments
from .scorers import Scoring, get_scorer
from .splits import OneClassGroupKFold, OneClassKFold, Splitter

if TYPE_CHECKING:
    from sklearn.utils import Tags

__all__ = ["OneClassSearchCV"]

_NAME = "OneClassSearchCV"

Index = NDArray[np.intp]
#: Values to try of each parameter.
Grid: TypeAlias = Mapping[str, Iterable[object]]


class OneClassSearchCV(BestEstimator, MetaEstimatorMixin, OutlierMixin, BaseEstimator):
    """Search a grid of parameters by folds that train on targets only, with or without outliers to judge by.

    Candidates of a kernel machine that differ in C, delta, threshold and loss share one decomposition of each fold (the
    moments of each fold, where the machine is approximated); other estimators are fitted again at every point. Either
    way the scores are those of fitting every point, and ``cv_results_["numerics"]`` says which it was ("none" where
    no fit succeeds).

    Parameters
    ----------
    estimator : estimator
        A one-class classifier with `decision_function`.
    param_grid : dict or list of dict
        Parameters and the values to try, as in scikit-learn.
    criterion : {"auto", "labels", "consistency", "ball", "box", "gaussian", "histogram", "likelihood"}, default="auto"
        What makes a point good. ``labels``: the `scoring` of held-out targets and of the outliers in `y`.
        ``consistency``: the most complex point whose share of rejected held-out targets stays within two standard
        deviations of the share asked for (kernel machines are judged by their threshold on training scores here, since
        the leave-one-out threshold keeps its promise at any complexity). ``ball``, ``box``, ``gaussian``,
        ``histogram``: the `scoring` of held-out targets and of outliers made up by `generate_outliers`. ``likelihood``:
        the marginal likelihood of the targets, for kernel machines; it does not see delta. ``auto``: ``labels`` when
        `y` holds outliers, else ``likelihood`` for kernel machines that fit exactly and ``histogram`` for others.
    scoring : str, callable, list or dict, default="f1"
        Names of `SCORERS` or of scikit-learn's, or callables ``scorer(estimator, X, y)`` with `y` of +1 and -1. Of
        several, `refit` names the one that decides.
    cv : int, splitter, iterable or None, default=None
        Folds: a number for `OneClassKFold` (None is 5), or for `OneClassGroupKFold` where rows have groups; a
        splitter; or pairs of row numbers. Outliers are never trained on, whatever the splitter says. Where there are
        fewer outliers than folds, a score that needs some is the mean over the folds that have one, with a warning.
    refit : bool, str or callable, default=True
        Whether to fit the best point on all targets; the name of the deciding scorer when there are several (False:
        none decides, and there is no best point); or a function of `cv_results_` that returns the index of the best
        point, which leaves no `best_score_` and, among several scorers, none for `score`.
    target : label, optional
        The label of the target class in `y`, as in `is_target`. Without it a warning says so when the rows taken for
        targets are the fewer.
    complexity : callable, optional
        ``complexity(fitted_estimator)``, a number that orders models for ``consistency``. By default kernel machines
        are ordered by their effective number of parameters, others by their place in the grid, simplest first.
    n_outliers : int, optional
        Outliers to make up for each fold; by default ten for every held-out target, at least 200.
    random_state : int, RandomState instance or None, default=0
        Seed of the made-up outliers.
    n_jobs : int, optional
        Jobs of joblib; its backends apply.
    error_score : "raise" or number, default=nan
        Score of a point that cannot be fitted.
    verbose : int, default=0
        Verbosity of joblib.

    Attributes
    ----------
    best_estimator_, best_params_, best_score_, best_index_, cv_results_, n_splits_, scorer_, refit_time_
        As in scikit-learn's searches. `best_score_` of ``consistency`` is the place of the best point in the order of
        complexity (negative when no point is consistent), of ``likelihood`` the log-likelihood a row and feature.
    criterion_ : str
        The criterion in use.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass import VAAKELM
    >>> from oneclass.selection import OneClassSearchCV
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(60, 2)), rng.uniform(-5, 5, size=(20, 2))])
    >>> y = np.repeat([1, -1], [60, 20])
    >>> search = OneClassSearchCV(VAAKELM(), {"C": [0.1, 1, 10], "delta": [0.02, 0.1]}, scoring="balanced").fit(X, y)
    >>> sorted(search.best_params_)
    ['C', 'delta']
    >>> search.predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    """

    criterion_: str
    n_splits_: Count
    cv_results_: dict[str, Any]
    best_params_: Annotated[dict[str, Any], MAYBE]
    best_index_: Annotated[Count, MAYBE]
    best_score_: Annotated[Extended, MAYBE]
    refit_time_: Annotated[float, MAYBE]

    def __init__(
        self,
        estimator: Estimator,
        param_grid: Grid | Sequence[Grid],
        *,
        criterion: str = "auto",
        scoring: str | Scoring | list[str] | tuple[str, ...] | set[str] | Mapping[str, str | Scoring] = "f1",
        cv: int | Splitter | Iterable[tuple[ArrayLike, ArrayLike]] | None = None,
        refit: bool | str | Callable[..., int] = True,
        target: object = None,
        complexity: Callable[..., float] | None = None,
        n_outliers: int | None = None,
        random_state: Seed = 0,
        n_jobs: int | None = None,
        error_score: float | str = np.nan,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.criterion = criterion
        self.scoring = scoring
        self.cv = cv
        self.refit = refit
        self.target = target
        self.complexity = complexity
        self.n_outliers = n_outliers
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.error_score = error_score
        self.verbose = verbose

    def fit(self, X: Rows, y: Labels | None = None, *, groups: Labels | Name | None = None) -> Self:
        """Judge every point of the grid, then fit the best one on all targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Targets and, if there are any, outliers; the kernel matrix of all rows when the kernel is precomputed.
        y : array-like of shape (n_samples,), optional
            Labels; none are all targets.
        groups : array-like of shape (n_samples,), or the name or number of a column of `X`, optional
            The group of each row, by any labels: the person that visits belong to, the machine, the day. No group is on
            both sides of a fold, and estimators that know groups are fitted with them, on folds and at last: through
            scikit-learn's metadata routing where that is on, else by the parameter `groups` of their `fit`, or of that
            of the last step of a pipeline. A column that has the groups is no feature.

        Returns
        -------
        self
            The search.
        """
        refuse_dask(_NAME, X)
        given = unwrapped(_NAME, X) if isinstance(self.estimator, OneClassClassifier) else framed(X)
        given, groups = without_groups(_NAME, given, groups)
        known = None if groups is None else read_labels(_NAME, groups)
        table, y, together = indexable(given, y, known)
        targets = np.ones(_num_samples(table), dtype=bool) if y is None else is_target(y, self.target, caller=_NAME)
        if self.target is None:
            warn_of_few(_NAME, targets, "target= names the label of the target class")
        candidates, scorers = list(ParameterGrid(self.param_grid)), self._scorers()
        if not candidates:
            raise ValueError(f"{_NAME}: param_grid must hold at least one point, got {self.param_grid!r}")
        criterion = self._criterion(table, targets, candidates)
        names = ("score",) if criterion in WITHOUT_SCORERS else tuple(scorers)
        self._check_refit(names)
        problem = Problem(
            estimator=clone(self.estimator),
            candidates=candidates,
            X=table,
            targets=targets,
            groups=together,
            splits=lambda: self._splits(table, targets, together),
            scorers=scorers,
            run=self._run,
            complexity=self.complexity,
            n_outliers=self.n_outliers,
            random_state=self.random_state,
            error_score=self.error_score,
        )
        decided = CRITERIA[criterion](problem)
        results = decided.columns | parameters(candidates)
        fitted: dict[str, Any] = {"criterion_": criterion, "n_splits_": decided.n_folds, "cv_results_": results}
        fitted |= self._shown_scorers()
        fitted |= self._chosen(results, names)
        if self.refit:
            rows = np.flatnonzero(targets)
            start = time.perf_counter()
            best = clone(self.estimator).set_params(**clone(fitted["best_params_"], safe=False))
            named = group_arguments(best, None if together is None else together[rows])
            fitted["best_estimator_"] = best.fit(problem.take(rows, rows), **named)
            fitted["refit_time_"] = time.perf_counter() - start
        # All at once, and nothing stays of an earlier fit: not even what this one has no answer to.
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        for name, value in fitted.items():
            setattr(self, name, value)
        return self

    def fit_predict(self, X: Rows, y: Labels | None = None, *, groups: Labels | Name | None = None) -> Array:
        """`fit`, then labels of the same rows by the best estimator: +1 for the target class, -1 for an outlier.

        Parameters
        ----------
        X, y, groups
            As in `fit`.

        Returns
        -------
        array of shape (n_samples,)
        """
        return self.fit(X, y, groups=groups).predict(X)

    def _criterion(self, X: Rows, targets: NDArray[np.bool_], candidates: list[Params]) -> str:
        if self.criterion == "auto":
            if not targets.all():
                return "labels"
            return "likelihood" if fits_exactly(self.estimator, candidates, X) else "histogram"
        if self.criterion not in CRITERIA:
            listed = ", ".join(repr(name) for name in ("auto", *CRITERIA))
            raise ValueError(f"{_NAME}: criterion must be one of {listed}; got {self.criterion!r}")
        if self.criterion == "labels" and targets.all():
            raise ValueError(f"{_NAME}: criterion='labels' needs outliers in y, got targets only")
        return self.criterion

    def _scorers(self) -> dict[str, Scoring]:
        if not isinstance(self.scoring, Mapping | list | tuple | set):
            return {"score": get_scorer(self.scoring)}
        if not self.scoring:
            raise ValueError(f"{_NAME}: scoring must hold at least one scorer, got {self.scoring!r}")
        if isinstance(self.scoring, Mapping):
            return {name: get_scorer(scoring) for name, scoring in self.scoring.items()}
        return {str(name): get_scorer(name) for name in self.scoring}

    def __derived__(self) -> dict[str, object]:
        return self._shown_scorers() if "cv_results_" in vars(self) else {}

    def _shown_scorers(self) -> dict[str, object]:
        scorers = self._scorers()
        return {"scorer_": scorers if len(scorers) > 1 else next(iter(scorers.values()))}

    def __check__(self) -> None:
        best = vars(self).get("best_estimator_")
        must(best is None or isinstance(best, Saved), "best_estimator_ must be a classifier of the library")

    def _splits(
        self, X: Rows, targets: NDArray[np.bool_], groups: NDArray[np.generic] | None
    ) -> list[tuple[Index, Index]]:
        cv: Any = 5 if self.cv is None else self.cv
        if isinstance(cv, bool | np.bool_ | str) or not (isinstance(cv, Integral | Iterable) or hasattr(cv, "split")):
            raise ValueError(f"{_NAME}: cv must be a whole number, a splitter or pairs of row numbers; got {cv!r}")
        if isinstance(cv, Integral):
            cv = OneClassKFold(int(cv)) if groups is None else OneClassGroupKFold(int(cv))
        if not hasattr(cv, "split"):
            folds = [(np.asarray(train), np.asarray(test)) for train, test in cv]
        else:
            if getattr(cv, "target", None) is not None:  # the labels are read already
                cv = clone(cv).set_params(target=None)
            folds = list(cv.split(X, np.where(targets, 1, -1), groups))
        known = [] if groups is None else [(groups[train[targets[train]]], groups[test]) for train, test in folds]
        if any(np.isin(new, seen).any() for seen, new in known):
            warn(
                f"{_NAME}: cv={self.cv!r} has rows of one group on both sides of a fold, where a group that is known "
                "looks better than a new one would; a number of folds, or OneClassGroupKFold, keeps groups together"
            )
        return folds

    def _run(self, calls: Iterable[Job]) -> list[Row]:
        done = Parallel(n_jobs=self.n_jobs, verbose=self.verbose)(delayed(call)(*given) for call, given in calls)
        return [row for rows in done for row in rows]

    def _check_refit(self, names: tuple[str, ...]) -> None:
        named = self.refit in names if isinstance(self.refit, str) else not self.refit or len(names) == 1
        if not (named or callable(self.refit)):
            raise ValueError(f"{_NAME}: refit must name the scorer that decides, one of {names}; got {self.refit!r}")

    def _chosen(self, results: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
        """The best point, the first of those with the best rank; nothing when no scorer decides."""
        if callable(self.refit):
            index = self.refit(results)
            if not isinstance(index, Integral) or int(index) not in range(len(results["params"])):
                rule = f"must return the number of a point, from 0 to {len(results['params']) - 1}"
                raise ValueError(f"{_NAME}: refit {rule}; got {index!r}")
            return {"best_index_": int(index), "best_params_": results["params"][int(index)]}
        if len(names) > 1 and not self.refit:
            return {}
        name = self.refit if isinstance(self.refit, str) else names[0]
        means = results[f"mean_test_{name}"]
        if np.isnan(means).all():
            raise ValueError(
                f"{_NAME}: no point of the grid has a score to choose by: the mean {name} over the folds is NaN for "
                f"all {len(means)} of them; use another scoring, or other folds"
            )
        index = int(results[f"rank_test_{name}"].argmin())
        return {"best_index_": index, "best_params_": results["params"][index], "best_score_": float(means[index])}

    def score(self, X: Rows, y: Labels) -> float:
        """The deciding scorer's value for rows `X` with labels `y`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to judge.
        y : array-like of shape (n_samples,)
            Labels, of the same kind as at fit.

        Returns
        -------
        float
        """
        check_is_fitted(self, "best_estimator_")
        scorer = self.scorer_
        if isinstance(scorer, Mapping):
            if self.refit not in scorer:
                raise ValueError(
                    f"{_NAME}: score needs a scorer that decides, but refit={self.refit!r} names none of the several, "
                    f"{tuple(scorer)}; use scorer_[name](search, X, y)"
                )
            scorer = scorer[self.refit]
        return float(scorer(self.best_estimator_, X, np.where(is_target(y, self.target, caller=_NAME), 1, -1)))

    def get_metadata_routing(self) -> MetadataRouter:
        """Where scikit-learn's metadata routing sends `groups`: to the estimator and to the splitter.

        Returns
        -------
        MetadataRouter
        """
        router, fit = MetadataRouter(owner=self), MethodMapping()
        router.add(estimator=self.estimator, method_mapping=fit.add(caller="fit", callee="fit"))
        splitter = self.cv if hasattr(self.cv, "split") else OneClassGroupKFold()
        return router.add(splitter=splitter, method_mapping=MethodMapping().add(caller="fit", callee="split"))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.input_tags.sparse = inner.input_tags.sparse
        return tags
