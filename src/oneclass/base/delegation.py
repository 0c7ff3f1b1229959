"""The methods of a classifier for estimators that wrap one: pipelines, searches and table detectors."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, Self, TypeVar, cast

from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..core.arrays import Array
from ..core.calibration import Calibration
from ..core.segments import Segments
from ..core.threshold import Decision
from ..core.typing import Labels, Name, Rows
from ..engines.chunks import Source, Transformed
from ..engines.scoring import Columns, Scored, score_through
from ..io.sinks import Sink
from .classifier import OneClassClassifier
from .groups import without_groups
from .saving import Saved
from .suggesting import Suggests
from .warnings import collected

__all__ = ["Delegates", "are_training_rows", "documented_as", "if_wrapped_has"]

#: Methods that take the segments of the rows.
_OF_SEGMENTS = ("predict", "decision_function", "p_value", "label_batch", "score_table", "compare_batch")

P = ParamSpec("P")
R = TypeVar("R")
Method = TypeVar("Method", bound=Callable[..., Any])


def if_wrapped_has(verb: str) -> Callable[[Method], Method]:
    """Decorator: the method exists only if the wrapped estimator has `verb`."""

    def check(wrapper: Delegates) -> bool:
        getattr(wrapper._wrapped(), verb)
        return True

    decorate: Callable[[Method], Method] = available_if(check)
    return decorate


def documented_as(verb: Callable[..., object]) -> Callable[[Method], Method]:
    """Decorator: the method has the docstring of another one."""

    def decorate(method: Method) -> Method:
        method.__doc__ = verb.__doc__
        return method

    return decorate


def _of_rows(verb: Callable[P, R]) -> Callable[P, R]:
    """The method of a wrapper that prepares rows and passes them to the wrapped estimator's method."""

    @if_wrapped_has(verb.__name__)
    @wraps(verb)
    def delegated(self: Delegates, X: Rows, **options: Any) -> Any:
        self._check_fitted()
        return self._delegate(verb.__name__, X, _given(self._options(X, verb.__name__, options)))

    return cast(Callable[P, R], delegated)


def _of_model(verb: Callable[P, R]) -> Callable[P, R]:
    """The method of a wrapper that calls the wrapped estimator's method; for methods without rows."""

    @if_wrapped_has(verb.__name__)
    @wraps(verb)
    def delegated(self: Delegates, **options: Any) -> Any:
        self._check_fitted()
        return getattr(self._wrapped(), verb.__name__)(**_given(options))

    return cast(Callable[P, R], delegated)


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """Options that are not None. Methods of other libraries do not accept the options of this one."""
    return {name: value for name, value in options.items() if value is not None}


class Delegates(Saved, Suggests):
    """Base class of estimators that delegate methods to the estimator that they wrap.

    A subclass implements `_wrapped`, which returns the wrapped estimator (the fitted one after a fit), and `_prepare`,
    which prepares rows for it. It also implements the methods that fit: `fit`, `fit_predict` and `screen`.
    """

    def _wrapped(self) -> Any:
        """The wrapped estimator: the fitted one if there is one."""
        raise NotImplementedError

    def _check_fitted(self) -> None:
        check_is_fitted(self)

    def _prepare(self, X: Rows) -> Rows:
        """Rows in the form that the wrapped estimator expects."""
        return X

    def _delegate(self, verb: str, X: Rows, options: dict[str, Any]) -> Any:
        """The answer of the wrapped estimator's method `verb` about the rows."""
        return getattr(self._wrapped(), verb)(self._prepare(X), **options)

    @property
    def _segment_column(self) -> Name | None:
        """The column of the rows that holds the segments, if `fit` was given a column and passed labels on."""
        column: Name | None = vars(self).get("segment_column_")
        return column

    def _labels_in(self, X: Rows, column: Name) -> Labels | None:
        """The segments that a column of the rows holds."""
        return without_groups(type(self).__name__, X, column, "segments")[1]

    def _options(self, X: Rows, verb: str, options: dict[str, Any]) -> dict[str, Any]:
        """The options of a verb about rows `X`, with the segments that a column of the rows holds."""
        if options.get("X_train") is not None:
            options = options | {"X_train": self._prepare(options["X_train"])}
        column = self._segment_column
        if verb in _OF_SEGMENTS and column is not None and options.get("segments") is None:
            return options | {"segments": self._labels_in(X, column)}
        return options

    predict = _of_rows(OneClassClassifier.predict)
    decision_function = _of_rows(OneClassClassifier.decision_function)
    score_samples = _of_rows(OneClassClassifier.score_samples)
    p_value = _of_rows(OneClassClassifier.p_value)
    label_batch = _of_rows(OneClassClassifier.label_batch)
    compare_batch = _of_rows(OneClassClassifier.compare_batch)
    score_table = _of_rows(OneClassClassifier.score_table)
    explain = _of_rows(OneClassClassifier.explain)
    false_alarm_interval = _of_model(OneClassClassifier.false_alarm_interval)
    segment_rates = _of_model(OneClassClassifier.segment_rates)

    @if_wrapped_has("score_chunks")
    @documented_as(OneClassClassifier.score_chunks)
    def score_chunks(  # noqa: D102
        self,
        source: Source,
        sink: Sink,
        *,
        delta: float | None = None,
        tail: str | None = None,
        segments: Name | None = None,
        verbose: bool = False,
    ) -> Scored:
        self._check_fitted()
        if self._segment_column is not None and segments is None:
            scores = self._wrapped().score_table

            def judged(block: Rows) -> Columns:
                parts = self._options(block, "score_table", {})
                found: Columns = scores(self._prepare(block), delta=delta, tail=tail, **parts)
                return found

            return score_through(source, sink, judged, name=type(self).__name__, verbose=verbose)
        prepared, options = Transformed(source, self._prepare), _given({"segments": segments})
        found: Scored = self._wrapped().score_chunks(prepared, sink, delta=delta, tail=tail, verbose=verbose, **options)
        return found

    @if_wrapped_has("learn_from")
    def learn_from(self, X: Rows, y: Labels) -> Self:
        """Learn from answers: rows, mostly alarms, about which somebody said whether they are normal.

        Parameters
        ----------
        X : array-like of shape (n_answers, n_features)
            Rows.
        y : array-like of shape (n_answers,)
            Labels, as in the kernel machines' `learn_from`. Only the classifier learns: steps before it and plans of
            columns stay as they are.

        Returns
        -------
        self
            The same estimator, whose classifier is fitted again.
        """
        self._check_fitted()
        self._wrapped().learn_from(self._prepare(X), y)
        return self

    @if_wrapped_has("reconstruct")
    def reconstruct(self, X: Rows) -> Array:
        """Rows as the wrapped classifier reconstructs them, in the columns and units of `X`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to reconstruct.

        Returns
        -------
        array of shape (n_samples, n_features)
            Expected values.
        """
        self._check_fitted()
        return self._wrapped().reconstruct(self._prepare(X))

    @property
    def offset_(self) -> float:
        """Threshold on the scores."""
        offset: float = self._wrapped().offset_
        return offset

    @property
    def calibration_(self) -> Calibration | None:
        """Held-out losses, or None."""
        calibration: Calibration | None = self._wrapped().calibration_
        return calibration

    @property
    def decision_(self) -> Decision:
        """How the threshold was chosen."""
        decision: Decision = self._wrapped().decision_
        return decision

    @property
    def segments_(self) -> Segments | None:
        """Segments of the rows, or None."""
        segments: Segments | None = getattr(self._wrapped(), "segments_", None)
        return segments

    @property
    def held_out_scores_(self) -> Array:
        """Score of each training row by a model that did not see it."""
        return self._wrapped().held_out_scores_

    @property
    def held_out_p_values_(self) -> Array:
        """P-value of each training row among the others."""
        return self._wrapped().held_out_p_values_


def are_training_rows(model: Any, X: Rows) -> bool:
    """Whether most of these rows are rows that a fitted classifier, or the classifier in a wrapper, was fitted to."""
    with collected():  # scoring warns of bad cells
        while isinstance(model, Delegates):
            model, X = model._wrapped(), model._prepare(X)
    return isinstance(model, OneClassClassifier) and model._knows(model._read(X))
