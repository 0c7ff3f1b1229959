"""OneClassPipeline: a scikit-learn pipeline with the methods of the classifier at its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import check_is_fitted

from ..core.arrays import Array, to_numpy
from ..core.stored import must
from ..core.typing import Labels, Name, Rows
from ..engines.dask import refuse_dask
from ..io.scikit_learn import check_steps
from ..screening import Screening, Sheet, current_sheet, sheet_of_matrix, using_sheet
from .checks import check_learns_outliers
from .classifier import OneClassClassifier
from .column_origins import NoWayBackError, folded, origins, restored
from .delegation import Delegates, documented_as, if_wrapped_has
from .expected import Encoding, current_encoding, using_encoding
from .explain_mixin import index_of, names_of
from .explanation import Explanation, shares_among
from .non_numeric import framed
from .saving import Saved
from .segments import label_columns_of

__all__ = ["OneClassPipeline", "ends_in_classifier", "make_one_class_pipeline", "with_verbs"]

E = TypeVar("E")


class OneClassPipeline(Delegates, Pipeline):
    """A scikit-learn Pipeline that ends in a classifier of the library and has its methods.

    Explanations refer to the input columns of the pipeline. If preprocessing turned a column into several, such as
    one-hot columns, their contributions are added up. Reconstructions are in the units and categories of the input
    columns.

    Parameters
    ----------
    steps : list of (str, estimator)
        Transformers, and a classifier (or a search for one) at the end.
    transform_input, memory, verbose
        As in scikit-learn's Pipeline.

    Attributes
    ----------
    offset_, calibration_, decision_, held_out_scores_, held_out_p_values_
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
    >>> print(pipe.explain(strange).top(1)[0][0])  # of two columns, where the detector sees three
    0=9 (expected -1.208 to 1.583)
    """

    def fit(self, X: Rows, y: Labels | None = None, *, outliers: Rows | None = None, **params: Any) -> Self:
        """Fit the transformers in order, and fit the classifier to their output.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of the target class, in the form that the first step accepts.
        y : optional
            Passed on to every step.
        outliers : array-like of shape (n_outliers, n_features), optional
            Known outliers that are not in `X`, for the classifier. The transformers do not learn from them.
        **params
            For the classifier, such as ``groups=``, ``segments=`` and ``sample_weight=``; for another step as
            ``step__parameter``. A column of groups or segments is one of the output of the transformers.
            With scikit-learn's metadata routing enabled, each step gets what it requests.

        Returns
        -------
        self
            The fitted pipeline.
        """
        if outliers is None:
            super().fit(framed(X), y, **self._addressed(params))
            return self
        check_learns_outliers(self, self._wrapped())
        before, rows = self[:-1], framed(X)
        if self.steps[:-1]:
            rows, outliers = before.fit_transform(rows, y), before.transform(framed(outliers))
            self.steps[:-1] = before.steps  # clones, where the pipeline has a memory
        self._wrapped().fit(rows, y, outliers=outliers, **params)
        return self

    @if_wrapped_has("fit_predict")
    def fit_predict(self, X: Rows, y: Labels | None = None, **params: Any) -> Array:
        """`fit`, then the classifier's `fit_predict` of the same rows; the parameters are those of `fit`."""
        return super().fit_predict(framed(X), y, **self._addressed(params))

    @if_wrapped_has("screen")
    @documented_as(OneClassClassifier.screen)
    def screen(  # noqa: D102
        self, X: Rows, *, q: float = 0.1, top: int = 100, groups: Labels | Name | None = None
    ) -> Screening:
        if len(self.steps) < 2:
            found: Screening = self._wrapped().screen(X, q=q, top=top, groups=groups)
        else:
            refuse_dask(f"{type(self).__name__}: screen", X)
            rows = self[:-1].fit_transform(framed(X))
            with using_sheet(self._sheet(framed(X))):
                found = self._wrapped().screen(rows, q=q, top=top, groups=groups)
        return replace(found, classifier=self)

    def _sheet(self, X: Any) -> Sheet | None:
        """The input columns as units of a screen; None if they cannot be told from the columns of the classifier."""
        values = X.to_numpy() if hasattr(X, "to_numpy") else to_numpy(X)
        n = values.shape[1]
        outer = current_sheet() or sheet_of_matrix(values, names_of(X, n))
        try:
            return outer.through(origins(self._before, n), lambda Z: restored(self._before, Z))
        except NoWayBackError:
            return None

    def _addressed(self, params: dict[str, object]) -> dict[str, object]:
        if get_config()["enable_metadata_routing"]:
            return params
        return {name if "__" in name else f"{self.steps[-1][0]}__{name}": value for name, value in params.items()}

    def __check__(self) -> None:
        check_steps(self.steps)
        must(ends_in_classifier(self), "the last step must be a classifier of the library")

    def _wrapped(self) -> Any:
        return self.steps[-1][1]

    def _prepare(self, X: Rows) -> Rows:
        rows: Rows = self[:-1].transform(framed(X)) if len(self.steps) > 1 else framed(X)
        return rows

    @if_wrapped_has("predict")
    @documented_as(OneClassClassifier.predict)
    def predict(  # noqa: D102
        self, X: Rows, *, delta: float | None = None, segments: Labels | Name | None = None, **params: Any
    ) -> Array:
        given = {name: value for name, value in (("delta", delta), ("segments", segments)) if value is not None}
        if given:
            return self._wrapped().predict(self._prepare(X), **given)
        return Pipeline.predict(self, framed(X), **params)

    @if_wrapped_has("explain")
    def explain(self, X: Rows, *, neighbors: int = 0) -> Explanation:
        """Contribution of each column of `X` to the loss of each row, with the values expected there.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to explain.
        neighbors : int, default=0
            Number of nearest training rows to return for each row, if the classifier keeps training rows.

        Returns
        -------
        Explanation
            Columns that a step drops have share 0. Expected values and neighbors are None where a step has no inverse.
            An error is raised if a step computes a column from several others.
        """
        check_is_fitted(self)
        X = framed(X)
        rows = self._prepare(X)
        values = X.to_numpy() if hasattr(X, "to_numpy") else np.asarray(X)
        n = values.shape[1]
        try:
            of = origins(self._before, n)
        except NoWayBackError as error:
            raise self._refusal("explain", error) from None
        places = self._label_places(rows)
        of = np.delete(of, places)
        outer = current_encoding() or Encoding(np.arange(n), np.zeros(n, dtype=bool))
        with using_encoding(outer.through(of) if len(outer.of) == n else None):
            found: Explanation = self._wrapped().explain(rows, neighbors=neighbors)
        parts = folded(found.parts, of, n)
        low, high = self._led_back_ends(found, of, np.bincount(of, minlength=n) == 1, places)
        return Explanation(
            values=values,
            expected=self._led_back(found.expected, values.shape, places),
            shares=shares_among(np.unique(of), parts),
            parts=parts,
            names=names_of(X, n),
            index=index_of(X, len(values)),
            exact=found.exact,
            method=found.method,
            low=low,
            high=high,
            neighbors=None if found.neighbors is None else self._led_back(found.neighbors, values.shape, places),
            known=found.known
            and found.known.in_columns(
                lambda made: self._led_back(made, values.shape, places), lambda gaps: folded(gaps, of, n)
            ),
        )

    def _led_back_ends(
        self, found: Explanation, of: NDArray[np.intp], single: NDArray[np.bool_], places: Sequence[int]
    ) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
        """The ranges of the explanation in the input columns; those of which one column was made have a range."""
        if found.low is None or found.high is None:
            return None, None
        whole = [np.where(single[of], Z, found.expected) for Z in (found.low, found.high)]
        ends = [self._led_back(Z, (len(Z), len(single)), places) for Z in whole]
        if any(end.dtype.kind != "f" for end in ends):
            for end in (ends := [end.astype(object) for end in ends]):
                end[~(single & np.vectorize(_is_number, otypes=[bool])(end))] = None
            return ends[0], ends[1]
        # An inverse that decreases exchanges the ends.
        return np.where(single, np.minimum(*ends), np.nan), np.where(single, np.maximum(*ends), np.nan)

    def _label_places(self, rows: Any) -> list[int]:
        """Places of the columns of segments and groups in preprocessed rows, which answers leave out."""
        last = self._wrapped()
        columns = {} if hasattr(last, "plan_") else label_columns_of(last, rows)  # a table leaves them out itself
        return sorted(list(rows.columns).index(c) if isinstance(c, str) else c for c in columns.values())

    def _led_back(
        self, made: NDArray[np.floating], shape: tuple[int, ...], places: Sequence[int] = ()
    ) -> NDArray[np.generic]:
        """Preprocessed rows mapped back to the input columns; all None if a step has no inverse.

        The rows lack the columns of segments and groups, whose places these are; their values become NaN.
        """
        made, cells = _with_gaps(made, places), (*made.shape[:-1], shape[1])
        try:
            return restored(self._before, made.reshape(-1, made.shape[-1])).reshape(cells)
        except NoWayBackError:
            return np.full(cells, None, dtype=object)

    @if_wrapped_has("reconstruct")
    def reconstruct(self, X: Rows) -> NDArray[np.generic]:
        """Rows as the classifier reconstructs them, in the units of the given columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to reconstruct.

        Returns
        -------
        array of shape (n_samples, n_features)
            Expected values; the likeliest category for encoded columns. Columns that the classifier does not see are
            NaN (None if some columns are not numbers). An error is raised if a step has no inverse.
        """
        check_is_fitted(self)
        rows = self._prepare(X)
        made = to_numpy(self._wrapped().reconstruct(rows))
        try:
            return restored(self._before, _with_gaps(made, self._label_places(rows)))
        except NoWayBackError as error:
            raise self._refusal("reconstruct", error) from None

    def _refusal(self, verb: str, error: NoWayBackError) -> ValueError:
        return ValueError(
            f"{type(self).__name__}: {verb} must lead back to the given columns, but {error}; for the columns that the "
            f"classifier sees, use pipe[-1].{verb}(pipe[:-1].transform(X))"
        )

    @property
    def _before(self) -> Pipeline | str:
        return self[:-1] if len(self.steps) > 1 else "passthrough"


def _is_number(value: object) -> bool:
    return isinstance(value, float | int | np.number) and not isinstance(value, bool | np.bool_)


def _with_gaps(made: NDArray[np.floating], places: Sequence[int]) -> NDArray[np.floating]:
    """The rows with columns of NaN at these places, which ascend."""
    for place in places:
        made = np.insert(made, place, np.nan, axis=-1)
    return made


def make_one_class_pipeline(
    *steps: object, memory: object = None, transform_input: list[str] | None = None, verbose: bool = False
) -> OneClassPipeline:
    """Make a `OneClassPipeline` whose steps are named after their types.

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
    """A `OneClassPipeline` with the same fitted steps, if `estimator` is a scikit-learn Pipeline; else `estimator`."""
    plain: Any = estimator
    return OneClassPipeline(plain.steps) if type(plain) is Pipeline else estimator


def ends_in_classifier(estimator: object) -> bool:
    """Whether the estimator, or the last step of a pipeline, is a classifier of the library."""
    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    return isinstance(last, Saved)
