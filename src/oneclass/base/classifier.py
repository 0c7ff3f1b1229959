"""Base class of all classifiers: turns the loss of each row into scores, a threshold, labels and p-values."""

from __future__ import annotations

import copy
import math
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from ..core import threshold as rules
from ..core.arrays import Array, namespace, to_numpy
from ..core.calibration import Calibration, HeldOut, benjamini_hochberg
from ..core.cholesky import SingularSystemError
from ..core.column_summary import ColumnSummary
from ..core.pareto_tail import TAILS
from ..core.plan import CostError
from ..core.stored import MAYBE, Names, Size, must
from ..core.typing import Labels, Name, Rows, Weights
from ..engines.chunks import Source
from ..engines.dask import is_dask, map_rows
from ..engines.scoring import Columns, Scored, score_through
from ..io.sinks import Sink
from .checks import check_choice, check_number, read_scaling
from .explain_mixin import Explains
from .held_out import HoldsOut
from .parameter_docs import complete_docstrings
from .rates import decision_of, warn_below_smallest, warn_of_decision, warn_too_coarse
from .reading import Header, read_rows, read_training_rows
from .saving import Saved
from .screening import Screening, judge_rows, removed_share
from .threads import by_one_fit
from .training_set import TrainingSet, read_training_set

__all__ = ["OneClassClassifier"]


class OneClassClassifier(Saved, Explains, HoldsOut, OutlierMixin, BaseEstimator, metaclass=ABCMeta):
    """Base class of classifiers that give each row a loss, which is larger for a more anomalous row.

    A subclass implements `fit`, which ends with a call of `_keep`, and `_losses`, which computes the loss of new rows.
    It has the parameters `delta`, `threshold` and `confidence`.
    """

    #: Threshold rules by name, and the names of those that use held-out losses. The other rules use training losses.
    _thresholds: ClassVar[dict[str, rules.Rule]] = rules.RULES
    _held_out_thresholds: ClassVar[tuple[str, ...]] = rules.HELD_OUT

    #: Attributes that grow with the number of training rows and that no method on new rows needs. They are not sent to
    #: the workers of a cluster.
    _left_behind: ClassVar[tuple[str, ...]] = ("calibration_", "held_out_")
    #: With scikit-learn's metadata routing, `fit` requests `groups` by default: the parameter has one meaning only.
    __metadata_request__fit: ClassVar = {"groups": True}

    delta: float
    threshold: str
    confidence: float | None
    decision_: rules.Decision
    offset_: float
    calibration_: Calibration | None
    held_out_: Annotated[HeldOut | None, MAYBE]
    n_features_in_: Annotated[int, Size("features")]
    feature_names_in_: Annotated[NDArray[np.object_], Names("features"), MAYBE]
    column_summary_: Annotated[ColumnSummary, MAYBE]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        complete_docstrings(cls)

    @abstractmethod
    def _losses(self, X: Array) -> Array:
        """Loss of each row."""

    @property
    def _name(self) -> str:
        return type(self).__name__

    def __check__(self) -> Mapping[str, int] | None:
        rules = (*self._thresholds, "stream")  # which machines of version 0.1 had that went on learning
        must(self.decision_.rule in rules, f"the rule of decision_ must be one of {rules}")
        return None

    # Steps at the start and at the end of a fit.

    def _keep(
        self,
        header: Header,
        threshold: float,
        calibration: Calibration | None,
        held_out: HeldOut | None = None,
        *,
        decision_: rules.Decision,
        **fitted: object,
    ) -> Self:
        """Replace the attributes of an earlier fit by those of this one.

        This is the last step of a fit. If the fit fails before, the estimator is unchanged.
        """
        if not math.isfinite(threshold):
            raise rules.LossError(
                f"{self._name}: the threshold must be a finite number, but threshold={decision_.rule!r} gives "
                f"{threshold}; the likely cause is a parameter, or a value of X, that is extremely large or small"
            )
        if calibration is not None and decision_.held_out:
            warn_of_decision(self._name, decision_, calibration)  # the user may have turned warnings into errors
        found = {name: value for name, value in vars(self).copy().items() if not name.endswith("_")}
        found |= header.attributes() | fitted
        found |= {"offset_": -threshold, "calibration_": calibration, "decision_": decision_, "held_out_": held_out}
        self.__dict__ = found  # in one step, so that no thread reads attributes of two fits
        return self

    @contextmanager
    def _naming(self, about: str = "") -> Iterator[None]:
        """Add the name of the classifier, and the text `about`, to error messages of the core."""
        try:
            yield
        except (CostError, rules.LossError, SingularSystemError) as error:
            raise type(error)(f"{self._name}: {error}{about}") from None
        except np.linalg.LinAlgError as error:
            raise SingularSystemError(f"{self._name}: a linear system has no solution ({error}){about}") from None

    def _forget(self) -> None:
        """Delete all fitted attributes."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    def _check_fitted(self) -> None:
        if not hasattr(self, "offset_"):  # scikit-learn's check is slower: it reads the estimator's tags first
            check_is_fitted(self)

    def _calibrated(self) -> Calibration:
        self._check_fitted()
        if self.calibration_ is None:
            raise ValueError(
                f"{self._name}: p-values and other budgets need held-out losses, which a fit with threshold="
                f"{self.decision_.rule!r} does not compute; fit with threshold='held_out'"
            )
        return self.calibration_

    # Public methods.

    def fit_predict(self, X: Rows, y: Labels | None = None, **fit_params: Any) -> Array:
        """Fit the classifier, and return its labels of the training rows.

        The model has learned from the rows that it labels, so anomalous training rows are often labelled as normal. To
        find anomalous rows in the training table, use `screen` or `held_out_scores_`.

        Parameters
        ----------
        X, y, **fit_params
            As in `fit`.

        Returns
        -------
        array of shape (n_samples,)
            Labels: +1 for the target class, -1 for an outlier.
        """
        return self.fit(X, y, **fit_params).predict(X)

    def screen(self, X: Rows, *, q: float = 0.1, groups: Labels | Name | None = None) -> Screening:
        """Find anomalous rows in a contaminated table, remove them, and fit on the others.

        The score of a row measures how many other rows are near it. The row itself, the rows of its group and the rows
        that are suspected to be anomalous do not count. An exponential tail, fitted to the distances of the other rows,
        gives each row a p-value. The distances are computed on scaled and log-compressed features. Of the classifier's
        parameters, only `scale` has an effect on this step.

        The classifier is then fitted on the remaining rows. Its thresholds and p-values assume that a share `q` of the
        removed rows were normal, with larger losses than all remaining rows. This keeps the false-alarm rate for clean
        rows (docs/dirty.md).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The table. Most rows must be normal. A cluster of more than a tenth of the rows is taken for normal.
        q : float in (0, 1), default=0.1
            False-discovery rate: upper bound on the mean share of normal rows among the removed rows.
        groups : array-like of shape (n_samples,), or the name or number of a column of `X`, optional
            The group of each row, as in `fit`.

        Returns
        -------
        Screening
            `odd` marks the anomalous rows; further fields are `p_values`, `scores`, the number of `rounds`, and the
            fitted `classifier`.

        Examples
        --------
        >>> import numpy as np
        >>> from oneclass import VAAKELM
        >>> X = np.random.default_rng(0).normal(size=(200, 2))
        >>> X[:3] += 20
        >>> found = VAAKELM().screen(X)
        >>> np.flatnonzero(found.odd)
        array([0, 1, 2])
        >>> found.classifier.predict([[0.0, 0.0], [20.0, 20.0]])
        array([ 1, -1])
        """
        q = check_number(self, "q", 0, 1, value=q)
        decision = decision_of(self)
        if is_dask(X) or get_tags(self).input_tags.pairwise:
            kind = "a Dask collection" if is_dask(X) else "kernel values"
            raise ValueError(f"{self._name}: screen must have the rows themselves, in memory; got {kind}")
        rows = read_training_set(self, X, groups=groups)
        verdict = judge_rows(rows.X, rows.groups, q=q, scaled=read_scaling(self._name, self.scale) != "none")
        self._fit_set(rows.only(~verdict.odd, removed=removed_share(verdict.odd, rows.groups, q)), decision)
        return Screening(verdict.odd, verdict.p_values, -verdict.distances, verdict.rounds, verdict.settled, self)

    def _fit(
        self,
        X: Rows,
        y: Labels | None = None,
        *,
        outliers: Rows | None = None,
        sample_weight: Weights | None = None,
        groups: Labels | Name | None = None,
    ) -> Self:
        """Check the parameters, read the rows, and fit."""
        decision = decision_of(self)
        training = read_training_set(self, X, y, outliers=outliers, sample_weight=sample_weight, groups=groups)
        return self._fit_set(training, decision)

    def _read_training(self, X: Rows) -> tuple[Array, Header]:
        """Training rows and their columns."""
        return read_training_rows(self, X)

    @abstractmethod
    def _fit_set(self, training: TrainingSet, decision: rules.Decision) -> Self:
        """Learn from the rows of positive weight, and keep the result."""

    @by_one_fit
    def score_samples(self, X: Rows) -> Array:
        """How normal each row is; larger is more normal.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        array of shape (n_samples,)
            Scores: the negative loss.
        """
        return self._answer(X, lambda scores: scores)

    @by_one_fit
    def decision_function(self, X: Rows) -> Array:
        """Score minus `offset_`: negative for outliers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to judge.

        Returns
        -------
        array of shape (n_samples,)
            Signed distance of the score from the threshold.
        """
        self._check_fitted()
        offset = self.offset_
        return self._answer(X, lambda scores: scores - offset)

    @by_one_fit
    def predict(self, X: Rows, *, delta: float | None = None) -> Array:
        """Label each row: +1 for the target class, -1 for an outlier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to label.
        delta : float in [0, 1), optional
            False-alarm rate to use instead of that of the fit, without fitting again. The threshold is then the
            (1 - delta) quantile of the held-out losses, whatever `threshold` is. This needs a fit that has held-out
            losses (`calibration_` is not None).

        Returns
        -------
        array of shape (n_samples,)
            Labels.
        """
        offset = self._offset_for(delta)
        return self._answer(X, lambda scores: _labels(scores >= offset))

    def _offset_for(self, delta: float | None) -> float:
        """Threshold on the scores for a false-alarm rate, by default that of the fit."""
        self._check_fitted()
        if delta is None:
            return self.offset_
        delta = check_number(self, "delta", 0, 1, value=delta, closed_low=True)
        calibration = self._calibrated()
        warn_below_smallest(self._name, calibration, "delta", delta)
        return -calibration.threshold(delta)

    @by_one_fit
    def false_alarm_interval(self, *, delta: float | None = None, confidence: float = 0.95) -> tuple[float, float]:
        """Confidence interval for this model's false-alarm rate.

        `delta` is kept on average over training sets; the rate of one fitted model varies around it.

        Parameters
        ----------
        delta : float in [0, 1), optional
            False-alarm rate given to `predict`; by default that of the fit.
        confidence : float in (0, 1), default=0.95
            Probability that the interval contains the rate.

        Returns
        -------
        (float, float)
            Lower and upper bound of the two-sided interval.
        """
        calibration = self._calibrated()
        confidence = check_number(self, "confidence", 0, 1, value=confidence)
        if delta is not None:
            delta = check_number(self, "delta", 0, 1, value=delta, closed_low=True)
        elif not self.decision_.held_out:
            raise ValueError(
                f"{self._name}: delta must be given, got None: the threshold of this fit, {self.decision_.rule!r}, "
                "does not use held-out losses, so that its false-alarm rate is unknown"
            )
        return calibration.false_alarm_interval(
            self.decision_.budget(calibration.total) if delta is None else delta, confidence
        )

    @by_one_fit
    def label_batch(self, X: Rows, *, q: float = 0.1, tail: str | None = None) -> Array:
        """Label a batch of rows with a false-discovery rate of at most `q`.

        Of the rows labelled as outliers, a share of at most `q` are normal on average. `predict` instead bounds the
        share of all *normal rows* that are labelled as outliers. The method is Benjamini and Hochberg's on the rows'
        p-values: the label of a row depends on the whole batch.

        To label r of m rows as outliers, the method needs p-values of at most q r / m, and n held-out losses give no
        p-value below 1 / (n + 1). If no row is labelled as an outlier for this reason, a warning is raised.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The batch.
        q : float in (0, 1), default=0.1
            Upper bound on the false-discovery rate.
        tail : {None, "pareto"}, default=None
            P-values of rows beyond every held-out loss, as in `p_value`.

        Returns
        -------
        array of shape (n_samples,)
            Labels: +1 for the target class, -1 for an outlier.
        """
        q = check_number(self, "q", 0, 1, value=q)
        p = np.asarray(self.p_value(X, tail=tail)) if is_dask(X) else self.p_value(X, tail=tail)
        limit = benjamini_hochberg(p, q=q)
        if tail is None:
            warn_below_smallest(self._name, self._calibrated(), "q", q, "no row can be labelled as an outlier")
            if not limit:
                warn_too_coarse(self._name, self._calibrated(), p, q)
        return _labels(p > limit)

    @by_one_fit
    def p_value(self, X: Rows, *, tail: str | None = None) -> Array:
        """Conformal p-value of each row, for the hypothesis that the row is normal.

        A share of at most delta of new normal rows has a p-value of at most delta.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to judge.
        tail : {None, "pareto"}, default=None
            P-values of rows whose loss is larger than every held-out loss. None: 1 / (n + 1), which is valid for every
            distribution. ``"pareto"``: smaller values, from a Pareto tail fitted to the largest tenth of the held-out
            losses; they include the uncertainty of the fit. They are valid for Pareto tails and for tails that fall
            faster. They are not valid if a kind of normal rows is so rare that the training rows hold almost none of
            it (docs/calibration.md).

        Returns
        -------
        array of shape (n_samples,)
            Values in (0, 1]: ``(1 + number of held-out training losses at least as large) / (n + 1)``. A p-value is at
            most delta if and only if ``predict(X, delta=delta)`` labels the row as an outlier.
        """
        calibration = self._calibrated()
        check_choice(self, "tail", (None, *TAILS), value=tail)
        return self._answer(X, lambda scores: calibration.p_value(-scores, tail))

    @by_one_fit
    def score_chunks(
        self, source: Source, sink: Sink, *, delta: float | None = None, tail: str | None = None, verbose: bool = False
    ) -> Scored:
        """Score rows that arrive in chunks and write a table of results, in memory that does not grow with the rows.

        One line is written for each row, in order: the columns that the source is to keep, then those of
        `score_table`. A file appears when it is complete; if scoring fails, an existing file stays as it was.

        Parameters
        ----------
        source : array, path, TableFile, callable or iterable
            Rows, as in `fit_chunks`, or an iterator: rows are read once.
        sink : path, binary file or EscapedCSV
            File to write, in the format of its suffix: ``.csv`` or ``.tsv`` (compressed if ``.gz`` or ``.zst``
            follows), ``.parquet``, ``.feather`` or ``.arrow``; or a file open for writing, such as
            ``sys.stdout.buffer``, for CSV. `EscapedCSV` is for CSV that is opened in a spreadsheet.
        delta : float in [0, 1), optional
            False-alarm rate to use instead of that of the fit, as in `predict`.
        tail : {None, "pareto"}, default=None
            P-values of rows beyond every held-out loss, as in `p_value`.
        verbose : bool, default=False
            Whether to show progress on standard error.

        Returns
        -------
        Scored
            Number of rows, and of outliers among them.

        Examples
        --------
        >>> import io
        >>> import numpy as np
        >>> from oneclass import KNNDetector
        >>> model = KNNDetector().fit(np.random.default_rng(0).normal(size=(99, 2)))
        >>> file = io.BytesIO()
        >>> model.score_chunks([[[0.0, 0.0]], [[6.0, 6.0]]], file)
        Scored(rows=2, outliers=1)
        >>> file.getvalue().splitlines()[0]
        b'score,p_value,label'
        """
        offset = self._check_scoring(delta, tail)
        return score_through(source, sink, partial(self._table, offset, tail), name=self._name, verbose=verbose)

    @by_one_fit
    def score_table(self, X: Rows, *, delta: float | None = None, tail: str | None = None) -> Columns:
        """Scores, p-values and labels of rows, computed in one pass.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to score.
        delta : float in [0, 1), optional
            False-alarm rate to use instead of that of the fit, as in `predict`.
        tail : {None, "pareto"}, default=None
            P-values of rows beyond every held-out loss, as in `p_value`.

        Returns
        -------
        dict of arrays
            NumPy arrays by name: ``"score"``, ``"p_value"`` (if the fit has held-out losses) and ``"label"``.

        Examples
        --------
        >>> import numpy as np
        >>> from oneclass import KNNDetector
        >>> model = KNNDetector().fit(np.random.default_rng(0).normal(size=(99, 2)))
        >>> table = model.score_table([[0.0, 0.0], [6.0, 6.0]], delta=0.1)
        >>> list(table), table["label"]
        (['score', 'p_value', 'label'], array([ 1, -1]))
        """
        return self._table(self._check_scoring(delta, tail), tail, X)

    def _check_scoring(self, delta: float | None, tail: str | None) -> float:
        """Check the options of `score_table`, and return the threshold on the scores."""
        offset = self._offset_for(delta)
        if check_choice(self, "tail", (None, *TAILS), value=tail) is not None:
            self._calibrated()
        return offset

    def _table(self, offset: float, tail: str | None, X: Rows) -> Columns:
        calibration = self.calibration_

        def columns(scores: Array) -> Array:
            xp = namespace(scores)
            p = [] if calibration is None else [calibration.p_value(-scores, tail)]
            return xp.stack([xp.astype(x, xp.float64) for x in (scores, *p, _labels(scores >= offset))], axis=1)

        score, *p, label = to_numpy(self._answer(X, columns)).T
        return {"score": score} | ({"p_value": p[0]} if p else {}) | {"label": label.astype(np.int64)}

    def _finite_losses(self, rows: Array) -> Array:
        """Loss of each row; the largest finite number where it overflowed."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = self._losses(rows)
        xp = namespace(found)
        return xp.where(xp.isfinite(found), found, xp.full_like(found, xp.finfo(found.dtype).max))

    def _answer(self, X: Rows, verb: Callable[[Array], Array]) -> Array:
        """`verb` applied to the scores of the rows."""
        return self._of_rows(X, lambda one, rows: verb(-one._finite_losses(rows)))

    def _of_rows(self, X: Rows, verb: Callable[[Self, Array], Array]) -> Array:
        """The result of `verb` for this classifier and the rows; for a Dask collection, a lazy array."""
        self._check_fitted()
        if not is_dask(X):
            return self._give(verb(self, self._read(X)))
        return map_rows(partial(self._travelling()._of_rows, verb=verb), X)

    def _travelling(self) -> Self:
        """A copy of the fitted classifier for workers, without the attributes of `_left_behind`."""
        travels = copy.copy(self)
        travels.__dict__.update(dict.fromkeys(self._left_behind))
        return travels

    def _give(self, result: Array) -> Array:
        """The result in the form that the user gets."""
        return result

    def _read(self, X: Rows) -> Array:
        return read_rows(Header.of(self), X)


def _labels(normal: Array) -> Array:
    """+1 where true, -1 where false."""
    xp = namespace(normal)
    return 2 * xp.astype(normal, xp.int64) - 1
