"""Calibrated: held-out thresholds, p-values and explanations for the detector of any library."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Self, TypeVar, final

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from ..base.checks import ChoiceError, check_choice, check_integer
from ..base.known_outliers import outliers_to_learn
from ..base.nearest_known import NearestKnown
from ..base.reading import Header
from ..base.training_set import TrainingSet
from ..base.warnings import OneClassWarning, collected
from ..core.arrays import Array, ones
from ..core.hold_out import Part
from ..core.known import KnownOutliers
from ..core.scaling import ColumnMoments, Scaler
from ..core.stored import MAYBE, Floats, OneOf, must
from ..core.threshold import Decision
from ..core.typing import Labels, Name, Rows, Seed, Weights
from ..engines.chunks import Progress
from ._base import Baseline
from ._rounding import Rounding
from ._training import FOLDS, Training
from ._with_known import WithKnown

__all__ = ["Calibrated"]

R = TypeVar("R")

#: What a larger score of the estimator means.
_DIRECTIONS = ("auto", "normal", "odd")
#: Largest number of copies that whole-number weights may stand for.
_MOST_COPIES = 10_000_000
#: Number of rows that are scored together, and the first of them alone, to see whether scores depend on the batch.
_BATCH = 20
#: Number of training rows that are kept for explanations.
_KEPT_ROWS = 1_000


@dataclass(frozen=True)
class _Scored:
    """A fitted estimator as a model: the loss of a row is its score, or the negative of it.

    `score` is the name of the method that scores; "column" for rows that are scores.
    """

    estimator: Any
    score: Annotated[str, OneOf("score_samples", "decision_function", "__call__", "column")]
    sign: float
    some: Annotated[Array, Floats("_n d")]  # training rows, for explanations
    alone: bool = False  # whether rows are scored one by one, since a score depends on the other rows of a batch

    def __check__(self) -> None:
        must(abs(self.sign) == 1, "sign must be 1 or -1")
        must(self.score == "column" or hasattr(self.estimator, self.score), f"estimator must have {self.score}")
        d = self.some.shape[1]
        must(getattr(self.estimator, "n_features_in_", d) == d, f"estimator must be fitted to {d} columns")

    def losses(self, X: Array) -> Array:
        """Loss of each row."""
        if self.score == "column":
            return self.sign * X[:, 0]
        if self.alone and len(X) > 1:
            return np.concatenate([self.losses(X[i : i + 1]) for i in range(len(X))])
        with _quiet(self.estimator):
            found = np.asarray(getattr(self.estimator, self.score)(X), dtype=np.float64)
        if found.shape not in ((len(X),), (len(X), 1)):
            raise ValueError(
                f"Calibrated: {_name_of(self.estimator)} must give one score for each row, got shape {found.shape}"
            )
        return self.sign * found.reshape(-1)


@final
class Calibrated(Baseline["_Scored | WithKnown"]):
    """Give a detector of any library the thresholds, p-values and methods of this library.

    The estimator is fitted to training rows, and scores rows that it did not see. The threshold and the p-values are
    ranks among these held-out scores. The estimator's own threshold (`contamination`, `nu`) is not used.

    Parameters
    ----------
    estimator : estimator, callable or None
        An estimator with `fit` and scores: an outlier detector or density of scikit-learn, a pipeline that ends in one,
        a detector with the interface of PyOD, or a classifier of this library. A callable is a function that scores
        rows and is not fitted. None is for scores that another program computed: `X` is one column of scores.
    {delta}
    {confidence}
    {rate_by}
    {known_outliers}
    direction : {"auto", "normal", "odd"}, default="auto"
        What a larger score means. ``"auto"``: more normal, as in scikit-learn; more anomalous for detectors with the
        interface of PyOD (a fitted attribute ``decision_scores_``). It must be given for a callable and for None.
    hold_out : {"plus", "split", "folds"} or float in (0, 1), default="plus"
        How held-out scores are made (docs/calibration.md). ``"plus"``: `n_folds` folds, whose models are kept, and
        p-values of CV+ [1]_: at most about twice the rate for every distribution. ``"split"``: the estimator learns
        from one half of the rows, and the other half is held out; a number is the share that is held out. This keeps
        the rate for every distribution [2]_. ``"folds"``: only the model of all rows is kept, which scores `n_folds`
        times as fast; the scores of all folds must then have the same scale (those of scikit-learn's `OneClassSVM` grow
        with the number of rows). A callable or None is not fitted: all rows are held out, with the guarantee of a
        split.
    n_folds : int, default=5
        Number of folds, each of which takes one fit.
    n_jobs : int or None, default=None
        Number of processes for the fits of the folds.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds or of the split; the estimator has its own. None gives the same result at every fit.
    verbose : bool, default=False
        Whether to show, on standard error, the number of fits before they start, and progress.

    Attributes
    ----------
    {offset_}
    {calibration_}
    estimator_ : estimator
        The fitted estimator.
    {scaler_and_features_}

    Notes
    -----
    A score must be a function of the row alone. PyOD's ECOD and COPOD rank rows within their batch: such detectors
    score rows one by one, which takes longer.

    Explanations are measured by substitution. `scaler_` serves these and the choice of folds: the estimator gets the
    rows as they are. Folds are chosen by a hash of the values, and do not depend on the order of the rows. A split is
    a random choice among the rows in their order.

    References
    ----------
    .. [1] Barber, Candès, Ramdas and Tibshirani (2021). Predictive inference with the jackknife+.
    .. [2] Bates, Candès, Lei, Romano and Sesia (2023). Testing for outliers with conformal p-values.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import IsolationForest
    >>> from oneclass import Calibrated
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = Calibrated(IsolationForest(random_state=0), hold_out="split").fit(X)
    >>> model.predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    >>> model.p_value([[6.0, 6.0]]).round(4)
    array([0.0099])

    Scores of normal rows that another program computed:

    >>> scores = np.random.default_rng(0).exponential(size=(199, 1))
    >>> Calibrated(direction="odd").fit(scores).p_value([[0.1], [9.0]])
    array([0.91 , 0.005])
    """

    _thresholds: ClassVar = {"held_out": Baseline._thresholds["held_out"]}
    threshold = "held_out"
    scale = "robust"
    _hold_outs: ClassVar = ("plus", "split", "folds")
    _minds_scale: ClassVar = False
    model_: _Scored | WithKnown
    known_: Annotated[KnownOutliers, MAYBE]

    def __init__(
        self,
        estimator: Any = None,
        *,
        delta: float = 0.05,
        confidence: float | None = None,
        rate_by: str = "group",
        known_outliers: str = "learn",
        direction: str = "auto",
        hold_out: str | float = "plus",
        n_folds: int = FOLDS,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.delta = delta
        self.confidence = confidence
        self.rate_by = rate_by
        self.known_outliers = known_outliers
        self.direction = direction
        self.hold_out = hold_out
        self.n_folds = n_folds
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Rows,
        y: Labels | None = None,
        *,
        outliers: Rows | None = None,
        sample_weight: Weights | None = None,
        groups: Labels | Name | None = None,
        segments: Labels | Name | None = None,
    ) -> Self:
        """Fit the estimator, and compute held-out scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of the target class only.
        {y}
        outliers : array-like of shape (n_outliers, n_features), optional
            Known outliers that are not in `X`. Rows like them get a larger loss, as in the kernel machines. The
            estimator does not learn them, and thresholds and p-values come from held-out normal rows alone.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows. Whole numbers count copies, for every estimator. Other weights need an estimator whose
            `fit` has `sample_weight`; a row is then held out with its whole weight.
        groups : array-like of shape (n_samples,), or the name or number of a column of `X`, optional
            The group of each row, as labels of any kind. Whole groups are held out, and each group has the same weight.
            Thresholds and p-values then hold for rows of *new* groups.
        {segments}

        Returns
        -------
        self
            The fitted classifier.
        """
        return self._fit(X, y, outliers=outliers, sample_weight=sample_weight, groups=groups, segments=segments)

    def _fit_rows(self, rows: TrainingSet, decision: Decision, removed: float, *, by_row: bool = True) -> Self:
        rows = outliers_to_learn(self, rows)
        if rows.outliers is not None and not hasattr(self.estimator, "fit"):
            raise ChoiceError(
                f"{self._name}: known outliers need an estimator with fit, got {self.estimator!r:.80}; with "
                "known_outliers='ignore', rows that are labelled as outliers are left out"
            )
        if not rows.weighted or bool((rows.w == 1).all()):
            return super()._fit_rows(rows, decision, removed)
        if not bool((rows.w == rows.w.round()).all()):
            if not hasattr(self.estimator, "fit") or has_fit_parameter(self.estimator, "sample_weight"):
                return super()._fit_rows(rows, decision, removed)
            raise ValueError(
                f"{self._name}: sample_weight must be whole numbers, which count copies, since the fit of "
                f"{_name_of(self.estimator)} has no sample_weight"
            )
        if (count := float(rows.w.sum())) > _MOST_COPIES:
            raise ValueError(
                f"{self._name}: sample_weight of whole numbers must add up to at most {_MOST_COPIES:,}, since they "
                f"count copies; got {count:,.0f}"
            )
        if rows.segments is not None:
            raise ValueError(
                f"{self._name}: segments must be None if sample_weight holds whole numbers, which count copies; groups="
                "range(n_samples) holds out each row with its whole weight"
            )
        copies = np.repeat(np.arange(len(rows.X)), rows.w.astype(np.intp))
        repeated = replace(rows.part(copies), w=np.ones(len(copies)), kept=None)
        return super()._fit_rows(repeated, decision, removed, by_row=False)

    def _way(self, decision: Decision, *, pairwise: bool) -> str:
        check_choice(self, "direction", _DIRECTIONS)
        folds, way = check_integer(self, "n_folds", 2), super()._way(decision, pairwise=pairwise)
        if isinstance(self.estimator, type):
            raise ChoiceError(f"{self._name}: estimator must be an object, got the class {self.estimator.__name__}")
        if not hasattr(self.estimator, "fit"):
            if self.estimator is not None and not callable(self.estimator):
                raise ChoiceError(
                    f"{self._name}: estimator must be an object with fit and scores, a function of rows, or None; got "
                    f"{self.estimator!r:.80}"
                )
            if self.direction == "auto":
                raise ChoiceError(
                    f"{self._name}: direction must be 'normal' or 'odd' for scores of a function or of rows: what a "
                    "larger score means; got 'auto'"
                )
            return "fixed"
        if self.verbose:
            name = _name_of(self.estimator)
            fits = f"1 fit of {name}" if way == "split" else f"{folds + 1} fits of {name}, {folds} without one fold"
            print(f"{self._name}: {fits}", file=sys.stderr, flush=True)
        return way

    @property
    def _n_folds(self) -> int:
        return self.n_folds

    @property
    def _seed(self) -> int:
        if isinstance(self.random_state, np.random.RandomState):
            return int(self.random_state.randint(np.iinfo(np.int32).max))
        return 0 if self.random_state is None else int(self.random_state)

    def _each(self, work: Callable[[Part], R], parts: Iterable[Part]) -> list[R]:
        parts, found = list(parts), []
        progress = Progress("folds", len(parts), unit="fits") if self.verbose else None
        for result in Parallel(n_jobs=self.n_jobs, return_as="generator")(delayed(work)(part) for part in parts):
            found.append(result)
            if progress:
                progress.show(len(found))
        if progress:
            progress.close()
        return found

    def _scaling(self, X: Array, header: Header) -> Scaler:
        w = ones(X)
        return Scaler.of("robust", ColumnMoments.of(X, w), X, w)

    def _training(self, X: Array, scaler: Scaler) -> Training:
        return Training(X, Rounding.of(X, scaler))

    def _learn(self, training: Training) -> _Scored | WithKnown:
        own, outliers = self._learn_scores(training), training.outliers
        return own if outliers is None else WithKnown.of(own, training, outliers.rows)

    def _learn_scores(self, training: Training) -> _Scored:
        some = training.Z[:: -(-len(training.Z) // _KEPT_ROWS)]
        if not hasattr(self.estimator, "fit"):
            return self._known(training.Z.shape[1], some)
        name, w = _name_of(self.estimator), training.w
        fitted = clone(self.estimator, safe=False)
        with _quiet(fitted):
            weights = {} if w is None or bool((w == 1).all()) else {"sample_weight": w}
            fitted.fit(training.Z, **weights)
        like_pyod = hasattr(fitted, "decision_scores_")
        for score in ("decision_function",) if like_pyod else ("score_samples", "decision_function"):
            if hasattr(fitted, score):
                odd = like_pyod if self.direction == "auto" else self.direction == "odd"
                return _in_any_batch(_Scored(fitted, score, 1.0 if odd else -1.0, some))
        hint = ", as with novelty=True" if hasattr(fitted, "novelty") else ""
        raise ChoiceError(
            f"{self._name}: estimator must score new rows by score_samples or decision_function{hint}; {name} does not"
        )

    def _known(self, columns: int, some: Array) -> _Scored:
        """A model that learns nothing: a function of rows, or rows that are scores."""
        if self.estimator is None and columns != 1:
            raise ValueError(
                f"{self._name}: X must be one column of scores if estimator is None, got {columns} columns"
            )
        sign = 1.0 if self.direction == "odd" else -1.0
        return _Scored(self.estimator, "column" if self.estimator is None else "__call__", sign, some)

    def _judge(self, model: _Scored | WithKnown, scaler: Scaler, X: Array) -> Array:
        return model.losses(X)

    def _attributes(self, model: _Scored | WithKnown) -> dict[str, object]:
        return {"estimator_": model.estimator} | ({"known_": model.known} if isinstance(model, WithKnown) else {})

    def _nearest_known(self, rows: Array) -> NearestKnown | None:
        return self.model_.nearest(rows) if isinstance(self.model_, WithKnown) else None

    def _kept_rows(self) -> Array | None:
        return self.scaler_(self.model_.some)


def _in_any_batch(model: _Scored) -> _Scored:
    """The model, which scores rows one by one if the score of a row depends on the other rows of a batch."""
    batch = model.some[:_BATCH]
    together, first = model.losses(batch), model.losses(batch[:1])
    return model if np.allclose(together[:1], first, rtol=1e-6) else replace(model, alone=True)


def _name_of(estimator: object) -> str:
    return type(estimator).__name__


@contextmanager
def _quiet(estimator: object) -> Iterator[None]:
    """Ignore warnings of a classifier of this library about its own threshold, which is not used."""
    if not type(estimator).__module__.startswith(__name__.partition(".")[0] + "."):
        yield
        return
    with collected(OneClassWarning):
        yield
