"""OneClassSearchCV: scikit-learn's grid search for classifiers that learn from one class."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
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

from ..base.classifier import OneClassClassifier
from ..base.delegation import Delegates, if_wrapped_has
from ..base.groups import is_column, read_labels, split_off
from ..base.labels import is_target, warn_of_few
from ..base.non_numeric import framed, unwrapped
from ..base.pipeline import ends_in_classifier, with_verbs
from ..base.protocol import Detector, Estimator
from ..base.reading import read_training_rows
from ..base.segments import label_columns_of
from ..base.warnings import FewRowsWarning, warn
from ..core.arrays import Array
from ..core.stored import MAYBE, Count, Extended, must
from ..core.typing import Labels, Name, Rows
from ..core.wording import parameter
from ..engines.chunks import Progress
from ..engines.dask import refuse_dask
from ..screening import Screening
from ._evaluate import Job, Result, jobs
from ._fitting import Params, fit_candidate
from ._folds import make_folds, taken
from ._likelihood import likelihood_jobs
from ._results import cv_results
from .scorers import Scoring, get_scorer
from .splits import OneClassGroupKFold, Splitter

if TYPE_CHECKING:
    from sklearn.utils import Tags

__all__ = ["OneClassSearchCV"]

_NAME = "OneClassSearchCV"
#: Outliers below which a search warns. On KEEL, the best candidate changes the mean AUROC of the defaults by -0.001
#: with 3 outliers, and by +0.001 with 10 (docs/tune.md).
_FEW_OUTLIERS = 10

#: Values to try of each parameter.
Grid: TypeAlias = Mapping[str, Iterable[object]]


class OneClassSearchCV(Delegates, MetaEstimatorMixin, OutlierMixin, BaseEstimator):
    """Search a grid of parameters by cross-validation that trains on targets only.

    Candidates of an exact kernel machine that differ in C, delta, threshold and loss share one decomposition of each
    fold. Those of an approximated machine share the moments of each fold. All other candidates are fitted on each fold.
    The scores are those of fitting every candidate, and ``cv_results_["numerics"]`` says how they were computed
    ("none" if no fit succeeds).

    Parameters
    ----------
    estimator : estimator
        A one-class classifier with `decision_function`.
    param_grid : dict or list of dict
        Parameters and the values to try, as in scikit-learn. Each combination is a candidate.
    criterion : {"labels", "likelihood"}, default="labels"
        How candidates are compared. ``labels``: by the `scoring` of held-out targets and of the outliers in `y`, which
        must hold some. ``likelihood``: by the marginal likelihood of the targets, without outliers and without folds.
        It is for C and the bandwidth of exact kernel machines: it ignores `delta`, and it is no guide to the choice of
        the kernel (docs/selection_measured.md).
    scoring : str, callable, list or dict, default="f1"
        Names of `SCORERS` or of scikit-learn's, or callables ``scorer(estimator, X, y)`` with `y` of +1 and -1. With
        several, `refit` names the one that decides.
    cv : int, splitter, iterable or None, default=None
        Folds: a number for `OneClassKFold` (None is 5), or for `OneClassGroupKFold` if rows have groups; a splitter; or
        pairs of row numbers. Outliers are never trained on, whatever the splitter returns. If there are fewer outliers
        than folds, a score that needs outliers is the mean over the folds that have one, with a warning. Fewer than ten
        outliers raise a warning, too, since the best candidate may then be the best by chance.
    refit : bool, str or callable, default=True
        Whether to fit the best candidate to all targets. With several scorers: the name of the one that decides; with
        False, none decides, and there is no best candidate. Or a function of `cv_results_` that returns the index of
        the best candidate; there is then no `best_score_` and, with several scorers, no `score`.
    target : label, optional
        The label of the target class in `y`, as in `is_target`. Without it, a warning is raised if less than half of
        the rows are targets.
    n_jobs : int, optional
        Number of joblib jobs; joblib's backends apply.
    error_score : "raise" or number, default=nan
        Score of a candidate that cannot be fitted.
    verbose : int, default=0
        With a positive number, progress is shown on standard error.

    Attributes
    ----------
    best_estimator_, best_params_, best_score_, best_index_, cv_results_, n_splits_, scorer_, refit_time_
        As in scikit-learn's searches. With ``criterion="likelihood"``, `best_score_` is the log marginal likelihood per
        row and feature, and there is one split.
    offset_, calibration_, decision_, held_out_scores_, held_out_p_values_
        Those of `best_estimator_`, as are all verbs.

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

    n_splits_: Count
    cv_results_: dict[str, Any]
    best_estimator_: Annotated[Detector, MAYBE]
    best_params_: Annotated[Params, MAYBE]
    best_index_: Annotated[Count, MAYBE]
    best_score_: Annotated[Extended, MAYBE]
    refit_time_: Annotated[float, MAYBE]
    segment_column_: Annotated[Name | None, MAYBE]
    group_column_: Annotated[Name | None, MAYBE]

    def __init__(
        self,
        estimator: Estimator,
        param_grid: Grid | Sequence[Grid],
        *,
        criterion: str = "labels",
        scoring: str | Scoring | list[str] | tuple[str, ...] | set[str] | Mapping[str, str | Scoring] = "f1",
        cv: int | Splitter | Iterable[tuple[ArrayLike, ArrayLike]] | None = None,
        refit: bool | str | Callable[..., int] = True,
        target: object = None,
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
        self.n_jobs = n_jobs
        self.error_score = error_score
        self.verbose = verbose

    # Fitting.

    def fit(
        self,
        X: Rows,
        y: Labels | None = None,
        *,
        groups: Labels | Name | None = None,
        segments: Labels | Name | None = None,
    ) -> Self:
        """Score every candidate, then fit the best one to all targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Targets and outliers; the kernel matrix of all rows if the kernel is precomputed.
        y : array-like of shape (n_samples,), optional
            Labels. Without labels all rows are targets, which needs ``criterion="likelihood"``.
        groups : array-like of shape (n_samples,), or the name or number of a column of `X`, optional
            The group of each row, as any labels: a person, a machine, a day. No group is on both sides of a fold.
            Groups are passed on to the `fit` of estimators that take them: through scikit-learn's metadata routing if
            it is enabled, else by the parameter `groups`, also that of the last step of a pipeline. A column of groups
            is not a feature.
        segments : array-like of shape (n_samples,), or the name or number of a column of `X`, optional
            The segment of each row, as in the classifiers. Only the fit of the best candidate uses segments; candidates
            are compared without them. A column of segments is not a feature.

        Returns
        -------
        self
            The fitted search.
        """
        table, targets, together, parts = self._read(X, y, groups, segments)
        grid, scorers = list(ParameterGrid(self.param_grid)), self._scorers()
        if not grid:
            raise ValueError(f"{_NAME}: param_grid must hold at least one candidate, got {self.param_grid!r}")
        self._check_criterion(targets)
        names = ("score",) if self.criterion == "likelihood" else tuple(scorers)
        self._check_refit(names)
        estimator, pairwise = clone(self.estimator), bool(get_tags(self.estimator).input_tags.pairwise)
        rows = np.flatnonzero(targets)
        train = taken(table, rows, rows if pairwise else None)
        if self.criterion == "likelihood":
            calls, outliers = likelihood_jobs(estimator, grid, train), [0]
            read_training_rows(estimator, table)  # refuses bad rows among the outliers, too
        else:
            self._warn_of_noise(len(grid), int(np.sum(~targets)))
            folds = make_folds(table, targets, together, self.cv, pairwise=pairwise)
            calls = jobs(estimator, grid, folds, scorers, error_score=self.error_score)
            outliers = [int(np.sum(fold.y == -1)) for fold in folds]
        results = cv_results(type(estimator).__name__, grid, self._run(calls), names, outliers)
        fitted: dict[str, Any] = {"n_splits_": len(outliers), "cv_results_": results}
        fitted |= self._shown_scorers() | self._chosen(results, names)
        if self.refit:
            start, known = time.perf_counter(), None if together is None else together[rows]
            part = None if parts is None else parts[rows]
            best = fit_candidate(estimator, fitted["best_params_"], train, known, part)
            fitted["best_estimator_"] = best
            fitted["segment_column_"] = segments if is_column(segments) else None
            fitted["group_column_"] = groups if is_column(groups) else None
            fitted["refit_time_"] = time.perf_counter() - start
        # Replace the attributes of an earlier fit at the very end, also those that this fit does not have.
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        return self._keep(fitted)

    def _keep(self, fitted: Mapping[str, object]) -> Self:
        for name, value in fitted.items():
            setattr(self, name, value)
        return self

    def fit_predict(
        self,
        X: Rows,
        y: Labels | None = None,
        *,
        groups: Labels | Name | None = None,
        segments: Labels | Name | None = None,
    ) -> Array:
        """`fit`, then labels of the same rows by the best estimator: +1 for the target class, -1 for an outlier.

        Parameters
        ----------
        X, y, groups, segments
            As in `fit`.

        Returns
        -------
        array of shape (n_samples,)
        """
        return self.fit(X, y, groups=groups, segments=segments).predict(X, segments=segments)

    @if_wrapped_has("screen")
    def screen(self, X: Rows, *, q: float = 0.1, top: int = 100, groups: Labels | Name | None = None) -> Screening:
        """Find the odd rows of a table, and fit the best candidate to the other rows.

        The search must be fitted: `best_params_` and `cv_results_` stay as they are.

        Parameters
        ----------
        X, q, top, groups
            As in the classifiers' `screen`.

        Returns
        -------
        Screening
            Rows and cells in order of suspicion, and this search as `classifier`.
        """
        self._check_fitted()
        found: Screening = with_verbs(clone(self.best_estimator_)).screen(X, q=q, top=top, groups=groups)
        return replace(found, classifier=self._keep({"best_estimator_": found.classifier}))

    def _read(
        self, X: Rows, y: Labels | None, groups: Labels | Name | None, segments: Labels | Name | None
    ) -> tuple[Rows, NDArray[np.bool_], NDArray[np.generic] | None, NDArray[np.generic] | None]:
        """The rows, which of them are targets, and their groups and segments, if any."""
        refuse_dask(_NAME, X)
        given = unwrapped(_NAME, X) if isinstance(self.estimator, OneClassClassifier) else framed(X)
        given, (groups, segments) = split_off(_NAME, given, {"groups": groups, "segments": segments})
        known = None if groups is None else read_labels(_NAME, groups)
        parts = None if segments is None else read_labels(_NAME, segments, "segments")
        table, y, together, parts = indexable(given, y, known, parts)
        targets = np.ones(_num_samples(table), dtype=bool) if y is None else is_target(y, self.target, caller=_NAME)
        if self.target is None:
            warn_of_few(_NAME, targets, f"name the label of the target class with {parameter('target')}")
        return table, targets, together, parts

    def _check_criterion(self, targets: NDArray[np.bool_]) -> None:
        if self.criterion not in ("labels", "likelihood"):
            raise ValueError(f"{_NAME}: criterion must be one of 'labels', 'likelihood'; got {self.criterion!r}")
        if self.criterion == "labels" and targets.all():
            raise ValueError(
                f"{_NAME}: y must hold labelled outliers to compare candidates by, got targets only; without outliers "
                "use the default parameters of the estimator, or criterion='likelihood' for C and the bandwidth of a "
                "kernel machine"
            )

    def _warn_of_noise(self, candidates: int, outliers: int) -> None:
        """Warn if the best of the candidates is to be taken, and so few outliers compare them."""
        if self.refit and not callable(self.refit) and candidates > 1 and outliers < _FEW_OUTLIERS:
            warn(
                f"{_NAME}: {outliers} outliers compare {candidates} candidates, so that the best one may be the best "
                "by chance; refit=prefer_first keeps the first candidate, such as the estimator as it is, unless "
                "another one leads by more than chance",
                FewRowsWarning,
            )

    def _check_refit(self, names: tuple[str, ...]) -> None:
        named = self.refit in names if isinstance(self.refit, str) else not self.refit or len(names) == 1
        if not (named or callable(self.refit)):
            raise ValueError(f"{_NAME}: refit must name the scorer that decides, one of {names}; got {self.refit!r}")

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
        must(best is None or ends_in_classifier(best), "best_estimator_ must be a classifier of the library")

    def _run(self, calls: Iterable[Job]) -> list[Result]:
        if not self.verbose:
            done = Parallel(n_jobs=self.n_jobs)(delayed(call)(*given) for call, given in calls)
            return [result for results in done for result in results]
        calls, found = list(calls), []
        progress = Progress("search", len(calls), unit="fits")
        done = Parallel(n_jobs=self.n_jobs, return_as="generator")(delayed(call)(*given) for call, given in calls)
        for i, results in enumerate(done, 1):
            found += results
            progress.show(i)
        progress.close()
        return found

    def _chosen(self, results: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
        """The best candidate, the first of those with the best rank; nothing if no scorer decides."""
        if callable(self.refit):
            index = self.refit(results)
            if not isinstance(index, Integral) or int(index) not in range(len(results["params"])):
                rule = f"must return the number of a candidate, from 0 to {len(results['params']) - 1}"
                raise ValueError(f"{_NAME}: refit {rule}; got {index!r}")
            return {"best_index_": int(index), "best_params_": results["params"][int(index)]}
        if len(names) > 1 and not self.refit:
            return {}
        name = self.refit if isinstance(self.refit, str) else names[0]
        means = results[f"mean_test_{name}"]
        if np.isnan(means).all():
            raise ValueError(
                f"{_NAME}: no candidate has a score: the mean {name} over the folds is NaN for all {len(means)} of "
                "them; use another scoring, or other folds"
            )
        index = int(results[f"rank_test_{name}"].argmin())
        return {"best_index_": index, "best_params_": results["params"][index], "best_score_": float(means[index])}

    # The best estimator.

    def _wrapped(self) -> Any:
        return with_verbs(getattr(self, "best_estimator_", self.estimator))

    def _check_fitted(self) -> None:
        check_is_fitted(self, "best_estimator_")

    def _prepare(self, X: Rows) -> Rows:
        return split_off(_NAME, X, label_columns_of(self, X))[0]

    def _best(self) -> Detector:
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(f"{_NAME} has no best estimator: fit it, with refit on")
        return self.best_estimator_

    @property
    def n_features_in_(self) -> int:
        """Number of features of the best estimator."""
        return int(self._best().n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """Feature names of the best estimator."""
        return self._best().feature_names_in_

    def score(self, X: Rows, y: Labels) -> float:
        """The deciding scorer's value for rows `X` with labels `y`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to score.
        y : array-like of shape (n_samples,)
            Labels of the same kind as in `fit`.

        Returns
        -------
        float
        """
        check_is_fitted(self, "best_estimator_")
        scorer = self.scorer_
        if isinstance(scorer, Mapping):
            if self.refit not in scorer:
                raise ValueError(
                    f"{_NAME}: score needs a scorer that decides, but refit={self.refit!r} names none of "
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
