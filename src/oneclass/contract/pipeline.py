"""OneClassPipeline: the verbs of a classifier through the preprocessing before it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..core.arrays import Array, to_numpy
from ..core.calibration import Calibration
from ..core.given import Labels, Name, Rows
from ..core.threshold import Decision
from ..disk.sinks import Sink
from ..engines.chunks import Source, Transformed
from ..engines.scoring import Columns, Scored
from .columns import NoWayBackError, folded, origins, restored
from .detector import Classifier
from .explaining import index_of, names_of
from .explanation import Explanation, shares_among
from .screening import Screening
from .tables import framed

__all__ = ["OneClassPipeline", "make_one_class_pipeline", "with_verbs"]

E = TypeVar("E")
Method = TypeVar("Method", bound=Callable[..., Any])


def _if_last_has(method: str) -> Callable[[Method], Method]:
    """Offer the method only if the last step has it."""

    def check(pipeline: Pipeline) -> bool:
        getattr(pipeline.steps[-1][1], method)
        return True

    decorate: Callable[[Method], Method] = available_if(check)
    return decorate


class OneClassPipeline(Pipeline):
    """A scikit-learn Pipeline that ends in a classifier of the library and has its verbs.

    Explanations are about the columns that the pipeline is given: shares of the columns that preprocessing made of one,
    such as its one-hot columns, are added up. Reconstructions are in the units, and of the categories, of the given
    columns.

    Parameters
    ----------
    steps : list of (str, estimator)
        Transformers, and a classifier (or a search for one) at the end.
    transform_input, memory, verbose
        As in scikit-learn's Pipeline.

    Attributes
    ----------
    offset_, calibration_, decision_
        Those of the last step.
    named_steps, n_features_in_, feature_names_in_
        As in scikit-learn's Pipeline.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.compose import make_column_transformer
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> from oneclass import KNNDetector, make_one_class_pipeline
    >>> rng = np.random.default_rng(0)
    >>> X = np.column_stack([rng.normal(size=100), rng.choice(["a", "b"], size=100)]).astype(object)
    >>> encode = make_column_transformer((OneHotEncoder(), [1]), remainder="passthrough")
    >>> pipe = make_one_class_pipeline(encode, KNNDetector()).fit(X)
    >>> strange = np.array([[9.0, "a"]], dtype=object)
    >>> pipe.predict(strange), pipe.p_value(strange).round(3)
    (array([-1]), array([0.01]))
    >>> pipe.explain(strange).top(1)  # of two columns, where the detector sees three
    [(Reason(column=0, value=9.0, expected=1.8016..., share=1.0),)]
    """

    def fit(self, X: Rows, y: Labels | None = None, **params: Any) -> Self:
        """Fit the transformers one after the other, and the classifier to what they make.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of the target class, as the first step takes them.
        y : optional
            Passed on to every step.
        **params
            For the classifier, such as ``groups=`` and ``sample_weight=``; for another step as ``step__parameter``.
            With scikit-learn's metadata routing enabled, each step gets what it requests.

        Returns
        -------
        self
            The fitted pipeline.
        """
        super().fit(framed(X), y, **self._addressed(params))
        return self

    @_if_last_has("fit_predict")
    def fit_predict(self, X: Rows, y: Labels | None = None, **params: Any) -> Array:
        """`fit`, and what the classifier's `fit_predict` says of the same rows; the parameters are those of `fit`."""
        return super().fit_predict(X, y, **self._addressed(params))

    @_if_last_has("screen")
    def screen(self, X: Rows, *, q: float = 0.1, groups: Labels | Name | None = None) -> Screening:
        """Fit the transformers on a table that may be dirty, and let the classifier `screen` what they make of it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The table.
        q : float in (0, 1), default=0.1
            False-discovery rate asked for.
        groups : array-like of shape (n_samples,), optional
            The group of each row.

        Returns
        -------
        Screening
            As that of the classifier, with this pipeline as `classifier`.
        """
        rows = self[:-1].fit_transform(X) if len(self.steps) > 1 else X
        return replace(self._last.screen(rows, q=q, groups=groups), classifier=self)

    def _addressed(self, params: dict[str, object]) -> dict[str, object]:
        if get_config()["enable_metadata_routing"]:
            return params
        return {name if "__" in name else f"{self.steps[-1][0]}__{name}": value for name, value in params.items()}

    def _ask(self, method: str, X: Rows, **options: Any) -> Any:
        check_is_fitted(self)
        X = framed(X)
        rows = self[:-1].transform(X) if len(self.steps) > 1 else X
        return getattr(self.steps[-1][1], method)(rows, **options)

    @_if_last_has("predict")
    def predict(self, X: Rows, **params: Any) -> Array:
        """Label each row: +1 for the target class, -1 for an outlier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to label.
        **params
            ``alpha=``, a false-alarm rate to use instead of that of the fit; anything else as in scikit-learn's
            Pipeline.

        Returns
        -------
        array of shape (n_samples,)
            Labels.
        """
        return self._ask("predict", X, **params) if "alpha" in params else super().predict(framed(X), **params)

    @_if_last_has("p_value")
    def p_value(self, X: Rows, tail: str | None = None) -> Array:
        """Conformal p-values by the classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to judge.
        tail : {None, "pareto"}, default=None
            What is said of rows beyond every held-out loss.

        Returns
        -------
        array of shape (n_samples,)
            Values in (0, 1].
        """
        return self._ask("p_value", X, tail=tail)

    @_if_last_has("false_discovery")
    def false_discovery(self, X: Rows, q: float = 0.1, tail: str | None = None) -> Array:
        """Labels by the classifier with the false-discovery rate `q` over the batch.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The batch.
        q : float in (0, 1), default=0.1
            False-discovery rate asked for.
        tail : {None, "pareto"}, default=None
            As in `p_value`.

        Returns
        -------
        array of shape (n_samples,)
            Labels: +1 for the target class, -1 for an outlier.
        """
        return self._ask("false_discovery", X, q=q, tail=tail)

    @_if_last_has("judging")
    def judging(self, alpha: float | None = None, tail: str | None = None) -> Callable[[Rows], Columns]:
        """A function from rows to all that the classifier says of them.

        Parameters
        ----------
        alpha : float in [0, 1), optional
            False-alarm rate to use instead of that of the fit.
        tail : {None, "pareto"}, default=None
            As in `p_value`.

        Returns
        -------
        callable
            From rows to a dict of arrays: scores, p-values and labels.
        """
        check_is_fitted(self)
        judge, first = self._last.judging(alpha, tail), self[:-1]
        return (lambda X: judge(first.transform(X))) if len(self.steps) > 1 else judge

    @_if_last_has("score_chunks")
    def score_chunks(self, source: Source, sink: Sink, **options: Any) -> Scored:
        """Scores, p-values and labels by the classifier, from chunks of rows to a file.

        Parameters
        ----------
        source : array, path, TableFile, callable or iterable
            Chunks of rows, as the first step takes them.
        sink : path or binary file
            What to write.
        **options
            As in the classifier's own `score_chunks`.

        Returns
        -------
        Scored
            The number of rows and of outliers among them.
        """
        check_is_fitted(self)
        rows = Transformed(source, self[:-1].transform) if len(self.steps) > 1 else source
        return self._last.score_chunks(rows, sink, **options)

    @_if_last_has("interval")
    def interval(self, alpha: float | None = None, confidence: float = 0.95) -> tuple[float, float]:
        """Between which rates this very model rejects fresh normal rows.

        Parameters
        ----------
        alpha : float in [0, 1), optional
            False-alarm rate asked for in `predict`; by default that of the fit.
        confidence : float in (0, 1), default=0.95
            Chance that the rate is inside.

        Returns
        -------
        (float, float)
            Lowest and highest rate.
        """
        return self._last.interval(alpha, confidence)

    @_if_last_has("explain")
    def explain(self, X: Rows, neighbours: int = 0) -> Explanation:
        """Why rows are as strange as they are, in the given columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to explain.
        neighbours : int, default=0
            Nearest normal rows to tell for each row, where the classifier keeps any.

        Returns
        -------
        Explanation
            Dropped columns have no share; there are no expected values, nor neighbours, where a step has no inverse.
            Refused where a step makes columns of several others.
        """
        X = framed(X)
        found: Explanation = self._ask("explain", X, neighbours=neighbours)
        values = X.to_numpy() if hasattr(X, "to_numpy") else np.asarray(X)
        n = values.shape[1]
        try:
            of = origins(self._before, n)
        except NoWayBackError as error:
            raise self._refusal("explain", error) from None
        parts = folded(found.parts, of, n)
        return Explanation(
            values=values,
            expected=self._led_back(found.expected, values.shape),
            shares=shares_among(np.unique(of), parts, found.reach),
            parts=parts,
            reach=found.reach,
            names=names_of(X, n),
            index=index_of(X, len(values)),
            exact=found.exact,
            method=found.method,
            neighbours=None if found.neighbours is None else self._led_back(found.neighbours, values.shape),
        )

    def _led_back(self, made: NDArray[np.floating], shape: tuple[int, ...]) -> NDArray[np.generic]:
        """Prepared rows in the given columns; None where there is no way back."""
        cells = (*made.shape[:-1], shape[1])
        try:
            return restored(self._before, made.reshape(-1, made.shape[-1])).reshape(cells)
        except NoWayBackError:
            return np.full(cells, None, dtype=object)

    @_if_last_has("reconstruct")
    def reconstruct(self, X: Rows) -> NDArray[np.generic]:
        """The rows as the classifier rebuilds them, in the units of the given columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to rebuild.

        Returns
        -------
        array of shape (n_samples, n_features)
            Expected values, and of encoded columns the likeliest categories; NaN (None, where not all columns are
            numbers) in columns that the classifier does not see. Refused where a step has no inverse.
        """
        made = to_numpy(self._ask("reconstruct", X))
        try:
            return restored(self._before, made)
        except NoWayBackError as error:
            raise self._refusal("reconstruct", error) from None

    def _refusal(self, verb: str, error: NoWayBackError) -> ValueError:
        return ValueError(
            f"{type(self).__name__}: {verb} must lead back to the given columns, but {error}; for the columns that the "
            f"classifier sees, use pipe[-1].{verb}(pipe[:-1].transform(X))"
        )

    @property
    def _last(self) -> Classifier:
        last: Classifier = self.steps[-1][1]
        return last

    @property
    def _before(self) -> Pipeline | str:
        return self[:-1] if len(self.steps) > 1 else "passthrough"

    @property
    def offset_(self) -> float:
        """Threshold of the last step."""
        return self._last.offset_

    @property
    def calibration_(self) -> Calibration | None:
        """Held-out losses of the last step."""
        return self._last.calibration_

    @property
    def held_out_scores_(self) -> Array:
        """Held-out scores of the last step."""
        return self._last.held_out_scores_

    @property
    def held_out_p_values_(self) -> Array:
        """Held-out p-values of the last step."""
        return self._last.held_out_p_values_

    @property
    def decision_(self) -> Decision:
        """How the last step put its threshold."""
        return self._last.decision_


def make_one_class_pipeline(
    *steps: object, memory: object = None, transform_input: list[str] | None = None, verbose: bool = False
) -> OneClassPipeline:
    """A `OneClassPipeline` of steps that are named after their types.

    Parameters
    ----------
    *steps : estimators
        Transformers, and a classifier at the end.
    memory, transform_input, verbose
        As in scikit-learn's `make_pipeline`.

    Returns
    -------
    OneClassPipeline

    Examples
    --------
    >>> from sklearn.preprocessing import RobustScaler
    >>> from oneclass import VAAKELM, make_one_class_pipeline
    >>> list(make_one_class_pipeline(RobustScaler(), VAAKELM()).named_steps)
    ['robustscaler', 'vaakelm']
    """
    named = make_pipeline(*steps).steps
    return OneClassPipeline(named, memory=memory, transform_input=transform_input, verbose=verbose)


def with_verbs(estimator: E) -> E | OneClassPipeline:
    """The estimator itself or, of a plain scikit-learn Pipeline, a `OneClassPipeline` of the same fitted steps."""
    plain: Any = estimator
    return OneClassPipeline(plain.steps) if type(plain) is Pipeline else estimator
