"""TableDetector: a classifier for tables, whose explanations refer to the columns of the table."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.utils.validation import check_is_fitted

from ..base.alarms import columns_of_batch, warned_once
from ..base.checks import check_learns_outliers
from ..base.classifier import OneClassClassifier
from ..base.delegation import documented_as, if_wrapped_has
from ..base.expected import using_encoding
from ..base.explain_mixin import index_of
from ..base.explanation import Explanation
from ..base.groups import is_column
from ..base.pipeline import ends_in_classifier
from ..base.protocol import Detector, Estimator
from ..base.warnings import ColumnWarning, warn
from ..core.arrays import Array, to_numpy
from ..core.batch_verdict import BatchVerdict
from ..core.stored import MAYBE, must
from ..core.typing import Labels, Name, Rows
from ..core.wording import parameter
from ..engines.chunks import Source
from ..engines.scoring import Columns, Scored, score_through
from ..io.sinks import Sink
from ..machines import VAAKELM
from ..screening import Screening, using_sheet
from ..selection import OneClassSearchCV
from .bad_cells import ALARMS, GAPS, BadCells, Tally, with_alarms
from .cells import Cells
from .comparing import changes_of
from .explaining import encoding_of, in_columns
from .frames import as_array, columns_of, rows_of
from .hints import hints_of
from .plan import ColumnPlan, Matrix
from .planning import Kind
from .preparing import prepared, prepared_chunks
from .screening import sheet_of
from .streaming import StreamsTables

if TYPE_CHECKING:
    from sklearn.utils import Tags

__all__ = ["TableDetector"]


@final
class TableDetector(StreamsTables, OutlierMixin, BaseEstimator):
    """Classify the rows of a table with numbers, words, dates and missing values.

    The fit decides how each column is encoded as numbers. This plan, `plan_`, encodes every later table, refuses
    columns of another type, and maps explanations back to the columns of the table. Columns of ids and constant columns
    are dropped, with a warning.

    Parameters
    ----------
    estimator : classifier, optional
        Any classifier of the library, or a pipeline or search of one. By default ``VAAKELM()``, whose parameters can be
        set and searched as ``estimator__C`` and so on.
    columns : dict, optional
        The kind of some columns, which replaces the automatic choice: ``{"visit": "drop", "zip": "category"}``. A kind
        is one of ``number``, ``category``, ``date`` (days, weekday, hour), ``clock`` (weekday and hour, or time of
        day), ``drop``. A list of words is their order: ``{"size": ["S", "M", "L"]}``; ``ordinal`` is for orders that
        are known, such as low, medium, high. Numbers in text are read as ``thousands`` (1,080 is 1080),
        ``decimal_comma`` (1,080 is 1.08), ``currency``, ``percent`` or ``duration`` if the automatic choice is wrong.
    delta : float in [0, 1), optional
        False-alarm rate of the default classifier, 0.05 unless given. A given `estimator` has its own.
    date_format : str, optional
        Format of dates, by the rules of `datetime.strptime`, for columns where 03/06/2024 may be in March or in June.
    merge_variants : bool, default=False
        Whether words that differ only in case or spaces are one category. By default they are different categories, and
        a warning names them.
    bad_cells : {"alarm", "gap", "refuse"}, default="alarm"
        What to do with new cells that are not values of their column, such as ``#REF!`` or infinity in a column of
        numbers. ``"alarm"``: the row is an outlier, with the lowest score, and the cell is the reason. ``"gap"``: the
        cell is a missing value. ``"refuse"``: an error. A warning counts them. In training rows, such cells are
        missing values if they are fewer than 5 % of the column; otherwise, and with ``"refuse"``, they are an error.

    Attributes
    ----------
    plan_ : ColumnPlan
        How each column is encoded, with the reason.
    estimator_ : classifier
        The classifier, fitted to the encoded table.
    offset_, calibration_, decision_, held_out_scores_, held_out_p_values_
        The attributes of `estimator_`.
    n_seen_, events_
        The attributes of a `Stream`, if it is the classifier.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame({"colour": rng.choice(["red", "blue"], 100), "mass": rng.normal(4, 2, 100).round(2)})
    >>> model = TableDetector().fit(table)
    >>> strange = pd.DataFrame({"colour": ["red", "red"], "mass": ["4", "400"]})
    >>> model.predict(strange)
    array([ 1, -1])
    >>> model.explain(strange).top(1)[1][0].column
    'mass'
    """

    #: With scikit-learn's metadata routing, `fit` requests `groups` by default, as the classifiers do.
    __metadata_request__fit: ClassVar = {"groups": True, "segments": True, "outliers": True}

    plan_: ColumnPlan
    estimator_: Any  # of the class of the parameter `estimator`
    segment_column_: Annotated[Name | None, MAYBE]

    def __init__(
        self,
        estimator: Estimator | None = None,
        columns: Mapping[Name, Kind] | None = None,
        *,
        delta: float | None = None,
        date_format: str | None = None,
        merge_variants: bool = False,
        bad_cells: str = "alarm",
    ) -> None:
        self.estimator = estimator
        self.columns = columns
        self.delta = delta
        self.date_format = date_format
        self.merge_variants = merge_variants
        self.bad_cells = bad_cells

    def set_params(self, **params: Any) -> Self:
        """Set parameters. Setting one of the default classifier's makes that classifier the parameter `estimator`.

        Parameters
        ----------
        **params
            Parameters by name; those of the classifier as ``estimator__name``.

        Returns
        -------
        self
            The detector.
        """
        nested = any(name.startswith("estimator__") for name in params)
        if nested and params.get("estimator", self.estimator) is None:
            default = _default(params.get("delta", self.delta))
            params |= {"estimator": default, "delta": None}
        super().set_params(**params)
        return self

    @property
    def _name(self) -> str:
        return type(self).__name__

    def _estimator(self) -> Estimator:
        return _default(self.delta) if self.estimator is None else self.estimator

    def _unfitted(self) -> Any:
        """A clone of the classifier, for a fit."""
        if self.estimator is not None and self.delta is not None:
            raise ValueError(
                f"{self._name}: delta must be None if an estimator is given, which has a delta of its own; got "
                f"{self.delta!r}"
            )
        return _default(self.delta) if self.estimator is None else clone(self.estimator)

    def fit(
        self,
        X: Rows,
        y: Labels | None = None,
        *,
        outliers: Rows | None = None,
        groups: Labels | Name | None = None,
        segments: Labels | Name | None = None,
        **params: Any,
    ) -> Self:
        """Plan the columns, and fit the classifier to the rows of the target class.

        Parameters
        ----------
        X : frame of pandas, polars or PyArrow, or array
            Rows of the target class.
        y : array-like of shape (n_samples,), optional
            Labels, as in the classifiers; the plan depends on the targets only.
        outliers : table, optional
            Known outliers that are not in `X`, as in the kernel machines. It may lack the column of groups.
        groups : column name or array-like of shape (n_samples,), optional
            The group of each row, as in the classifiers; a column of groups is not a feature.
        segments : column name or array-like of shape (n_samples,), optional
            The segment of each row, as in the classifiers: the false-alarm rate holds in each segment. A column of
            segments is not a feature, and later tables must have it.
        **params
            Passed to the classifier's `fit`, such as ``sample_weight=``.

        Returns
        -------
        self
            The fitted detector.
        """
        column = segments if is_column(segments) else None
        table: Any = columns_of(X, self._name) or X  # an error about a table without columns says what it was
        plan, rows, together = prepared(self, table, groups, y, params.get("sample_weight"), column)
        parts = segments if column is None else self._labels_in(X, column)
        params |= {} if together is None else {"groups": together}
        params |= {} if parts is None else {"segments": parts}
        if outliers is not None:
            params["outliers"] = self._encoded_outliers(plan, outliers)
        with hints_of(table, plan, rows, groups):
            return self._keep(plan, self._unfitted().fit(rows, y, **params), column)

    def _encoded_outliers(self, plan: ColumnPlan, outliers: Rows) -> Matrix:
        check_learns_outliers(self, self._estimator())
        try:
            return plan.encode(outliers, owner=self._name)
        except ValueError as error:
            raise ValueError(f"{self._name}: outliers must be rows with the columns of X: {error}") from None

    def fit_predict(self, X: Rows, y: Labels | None = None, **params: Any) -> Array:
        """Fit, and return the labels of the training rows; the parameters are those of `fit`."""
        return self.fit(X, y, **params).predict(X, segments=params.get("segments"))

    @if_wrapped_has("screen")
    def screen(self, X: Rows, *, q: float = 0.1, top: int = 100, groups: Labels | Name | None = None) -> Screening:
        """Find odd rows and wrong cells in a table, and fit the classifier to the rows that are not named.

        If `estimator` is a search, fit the detector first: `screen` then uses the best estimator of the search.

        Parameters
        ----------
        X : table
            The table. Most of its rows must be normal.
        q : float in (0, 1), default=0.1
            False-discovery rate, as in the classifiers.
        top : int, default=100
            Smallest number of rows whose suspicious cells are listed, with expected values.
        groups : column name or array-like of shape (n_samples,), optional
            As in `fit`.

        Returns
        -------
        Screening
            Rows and cells in order of suspicion; `classifier` is this detector.
        """
        plan, rows, together = prepared(self, X, groups)
        # A fitted search screens with the parameters that it chose.
        screening = copy(self._wrapped()) if isinstance(self.estimator, OneClassSearchCV) else self._unfitted()
        sheet = sheet_of(plan, X, owner=self._name, bad_cells=self.bad_cells == "alarm")
        with hints_of(X, plan, rows, groups), using_sheet(sheet):
            found: Screening = screening.screen(rows, q=q, top=top, groups=together)
        return replace(found, classifier=self._keep(plan, found.classifier))

    @if_wrapped_has("fit_chunks")
    def fit_chunks(
        self, chunks: Source, *, outliers: Rows | None = None, groups: Name | None = None, verbose: bool = False
    ) -> Self:
        """Plan the columns from a sample of the rows, and fit to all rows; the memory use does not grow with the rows.

        Parameters
        ----------
        chunks : path, TableFile, callable or iterable
            As in the kernel machines. The rows are read one time more, for the plan.
        outliers : table, optional
            Known outliers in memory, as in the kernel machines. With known outliers, `groups` must be None.
        groups : column name, optional
            The column with the group of each row, as in the kernel machines; it is not a feature.
        verbose : bool, default=False
            Whether to show progress on standard error.

        Returns
        -------
        self
            The fitted detector.
        """
        plan, numbers = prepared_chunks(self, chunks, groups)
        given: dict[str, Any] = {} if groups is None else {"groups": -1}
        if outliers is not None:
            given["outliers"] = self._encoded_outliers(plan, outliers)
        detector = self._unfitted().fit_chunks(numbers, verbose=verbose, **given)
        return self._keep(plan, detector)

    def _keep(self, plan: ColumnPlan, detector: Detector, segment_column: Name | None = None) -> Self:
        if left := [column for column in plan.columns if column.noticed]:
            listed = "; ".join(f"{column.name!r} ({column.why})" for column in left[:5])
            more = f" and {len(left) - 5} more" if len(left) > 5 else ""
            warn(
                f"{self._name}: left out {listed}{more}; to keep a column, give its kind with {parameter('columns')}; "
                f"to leave it out without this warning, use {parameter('columns', {left[0].name: 'drop'})}",
                ColumnWarning,
            )
        self.__dict__.pop("feature_names_in_", None)
        self.plan_, self.estimator_, self.segment_column_ = plan, detector, segment_column
        self.__dict__.update(self.__derived__())
        return self

    def __derived__(self) -> dict[str, object]:
        if "plan_" not in vars(self):
            return {}
        names = [column.name for column in self.plan_.columns]
        worded = all(isinstance(name, str) for name in names)
        known: dict[str, object] = {"feature_names_in_": np.array(names, dtype=object)} if worded else {}
        return known | {"n_features_in_": len(names)}

    def __check__(self) -> None:
        made = len(self.plan_.made)
        must(ends_in_classifier(self.estimator_), "estimator_ must be a classifier of the library")
        columns = getattr(self.estimator_, "n_features_in_", made)  # a search that did not refit has none
        must(columns == made, f"estimator_ must be fitted to {made} columns, got {columns}")

    def encode(self, X: Rows) -> NDArray[np.float64]:
        """The table as numbers, with one column for each of ``plan_.made``; bad cells count as missing values."""
        read, bad = self._read(X)
        bad.warn(self._name, GAPS)
        return self.plan_.coded(read)

    def _read(self, X: Rows, before: int | None = 0) -> tuple[dict[Name, Cells], BadCells]:
        """The parsed cells of the used columns, and the bad cells among them; `before` rows preceded the table."""
        check_is_fitted(self)
        read = self.plan_.read(X, owner=self._name)
        bad = self.plan_.bad(read)
        if self.bad_cells == "refuse":
            bad.refuse(self._name, before)
        return read, bad

    def _delegate(self, verb: str, X: Rows, options: dict[str, Any]) -> Any:
        read, bad = self._read(X)
        bad.warn(self._name, ALARMS if self.bad_cells == "alarm" else GAPS)
        with columns_of_batch(lambda: changes_of(self.plan_, read)):
            return self._answer(verb, self.plan_.coded(read), bad, options)

    def _answer(self, verb: str, rows: NDArray[np.float64], bad: BadCells, options: dict[str, Any]) -> Any:
        """The answer of the classifier, in which rows with bad cells are outliers if they are to be alarms."""
        model = self._wrapped()
        answer = getattr(model, verb)
        if not bad or self.bad_cells == "gap":
            return answer(rows, **options)
        if verb == "label_batch":  # these rows are no hypotheses to be tested
            found = np.full(len(rows), -1)
            if not bad.rows.all():
                parts = options.get("segments")
                kept = {} if parts is None else {"segments": np.asarray(parts)[~bad.rows]}
                found[~bad.rows] = answer(rows[~bad.rows], **options | kept)
            return found
        found = answer(rows, **options)
        if verb == "score_table":
            return {name: with_alarms(name, column, bad, model, options) for name, column in found.items()}
        return with_alarms(verb, found, bad, model, options)

    @if_wrapped_has("compare_batch")
    @documented_as(OneClassClassifier.compare_batch)
    def compare_batch(  # noqa: D102
        self,
        X: Rows,
        *,
        confidence: float = 0.95,
        tail: str | None = None,
        segments: Labels | Name | None = None,
        X_train: Rows | None = None,
    ) -> BatchVerdict:
        read, bad = self._read(X)
        bad.warn(self._name, GAPS)
        options = self._options(X, "compare_batch", {"segments": segments, "X_train": X_train})
        rows = self.plan_.coded(read)
        found: BatchVerdict = self._wrapped().compare_batch(rows, confidence=confidence, tail=tail, **options)
        return found.with_columns(changes_of(self.plan_, read))

    def _labels_in(self, X: Rows, column: Name) -> Labels:
        table = columns_of(X, self._name)
        if column not in table:
            raise ValueError(f"{self._name}: segments must name a column of the table, but there is no {column!r}")
        return as_array(table[column])

    def _options(self, X: Rows, verb: str, options: dict[str, Any]) -> dict[str, Any]:
        if is_column(column := options.get("segments")):
            return options | {"segments": self._labels_in(X, column)}
        return super()._options(X, verb, options)

    def _wrapped(self) -> Any:
        return getattr(self, "estimator_", None) or self._estimator()

    def _prepare(self, X: Rows) -> Rows:
        return self.encode(X)

    @if_wrapped_has("explain")
    def explain(self, X: Rows, *, neighbors: int = 0) -> Explanation:
        """Contribution of each column of the table to the loss of each row, with the values expected there.

        Contributions of numbers that encode one column are added up.

        Parameters
        ----------
        X : table
            Rows to explain.
        neighbors : int, default=0
            Number of nearest training rows to return for each row, if the classifier keeps training rows.

        Returns
        -------
        Explanation
            Dropped columns have share 0, and None as the expected value.
        """
        check_is_fitted(self)
        table = columns_of(X, self._name)
        read, bad = self._read(X)
        rows = self.plan_.coded(read)
        with using_encoding(encoding_of(self.plan_)):
            found = self.estimator_.explain(rows, neighbors=neighbors)
        wrong = bad.columns if self.bad_cells == "alarm" else {}
        return in_columns(
            found,
            self.plan_,
            table,
            read,
            rows,
            {name: cells.mask for name, cells in wrong.items()},
            index_of(X, len(rows)),
        )

    @if_wrapped_has("reconstruct")
    def reconstruct(self, X: Rows) -> NDArray[np.object_]:
        """Rows as the classifier reconstructs them, in the columns of the table."""
        return self.plan_.restore(to_numpy(self.estimator_.reconstruct(self.encode(X))))

    def score_chunks(
        self,
        source: Source,
        sink: Sink,
        *,
        delta: float | None = None,
        tail: str | None = None,
        segments: Name | None = None,
        reasons: int = 0,
        verbose: bool = False,
    ) -> Scored:
        """Score tables that are read in chunks, and write a table of results; memory use does not grow with the rows.

        Parameters
        ----------
        source, sink, delta, tail, segments, verbose
            As in the classifiers' `score_chunks`.
        reasons : int, default=0
            Number of columns ``reason_1``, ``reason_2``, ... to write for the outliers.

        Returns
        -------
        Scored
            The number of rows and of outliers among them.
        """
        check_is_fitted(self)
        tally, options = Tally(), dict[str, Any](delta=delta, tail=tail)

        def judged(block: Rows) -> Columns:
            read, bad = self._read(block, tally.rows)
            tally.add(bad)
            rows = self.plan_.coded(read)
            parts = self._options(block, "score_table", {} if segments is None else {"segments": segments})
            with columns_of_batch(lambda: changes_of(self.plan_, read)):
                found: Columns = self._answer("score_table", rows, bad, options | parts)
            odd = np.flatnonzero(found["label"] == -1)
            said = np.full((len(rows), reasons), "", dtype=object)
            if reasons and len(odd):
                for i, row in zip(odd, self.explain(rows_of(block, odd)).top(reasons), strict=True):
                    said[i, : len(row)] = [str(reason) for reason in row]
            return found | {f"reason_{j + 1}": said[:, j] for j in range(reasons)}

        with warned_once():
            done = score_through(source, sink, judged, name=self._name, verbose=verbose)
        tally.warn(self._name, ALARMS if self.bad_cells == "alarm" else GAPS)
        return done

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = tags.input_tags.categorical = True
        return tags


def _default(delta: float | None) -> VAAKELM:
    return VAAKELM() if delta is None else VAAKELM(delta=delta)
