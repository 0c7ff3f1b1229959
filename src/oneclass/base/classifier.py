"""Base class of all classifiers: turns the loss of each row into scores, a threshold, labels and p-values."""

from __future__ import annotations

import copy
import math
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from ..core import threshold as rules
from ..core.arrays import Array, namespace, to_numpy
from ..core.calibration import Calibration, HeldOut
from ..core.cholesky import SingularSystemError
from ..core.column_summary import ColumnSummary
from ..core.groups import Groups
from ..core.plan import CostError
from ..core.segments import Segments
from ..core.stored import MAYBE, Names, Size, must
from ..core.training_keys import TrainingKeys
from ..core.typing import Labels, Name, Rows, Weights
from ..engines.dask import is_dask, map_rows
from ..screening import Screening, current_sheet, judge, sheet_of_matrix
from .checks import check_integer, check_number, read_scaling
from .comparing import ComparesBatches
from .explain_mixin import Explains
from .parameter_docs import complete_docstrings
from .rates import decision_of, warn_of_decision
from .reading import Header, read_rows, read_training_rows
from .saving import Saved
from .score_tables import ScoresTables
from .seeds import check_seed
from .segments import refuse_training_losses, warn_of_small, without_labels
from .suggesting import Suggests
from .threads import by_one_fit
from .training_set import TrainingSet, read_training_set
from .warnings import TrainingRowsWarning, warn

__all__ = ["OneClassClassifier"]


class OneClassClassifier(
    Saved, Explains, ComparesBatches, ScoresTables, Suggests, OutlierMixin, BaseEstimator, metaclass=ABCMeta
):
    """Base class of classifiers that give each row a loss, which is larger for a more anomalous row.

    A subclass implements `fit`, which ends with a call of `_keep`, and `_losses`, which computes the loss of new rows.
    It has the parameters `delta`, `threshold`, `confidence` and `rate_by`.
    """

    #: Threshold rules by name, and the names of those that use held-out losses. The other rules use training losses.
    _thresholds: ClassVar[dict[str, rules.Rule]] = rules.RULES
    _held_out_thresholds: ClassVar[tuple[str, ...]] = rules.HELD_OUT

    #: Attributes that grow with the number of training rows and that no method on new rows needs. They are not sent to
    #: the workers of a cluster.
    _left_behind: ClassVar[tuple[str, ...]] = ("calibration_", "held_out_", "training_keys_")
    #: With scikit-learn's metadata routing, these are requested by default: the parameters have one meaning only.
    __metadata_request__fit: ClassVar = {"groups": True, "segments": True}
    __metadata_request__predict: ClassVar = {"segments": True}
    __metadata_request__decision_function: ClassVar = {"segments": True}

    delta: float
    threshold: str
    confidence: float | None
    rate_by: str
    decision_: rules.Decision
    offset_: float
    calibration_: Calibration | None
    held_out_: Annotated[HeldOut | None, MAYBE]
    segments_: Annotated[Segments | None, MAYBE]
    group_column_: Annotated[Name | None, MAYBE]
    n_features_in_: Annotated[int, Size("features")]
    feature_names_in_: Annotated[NDArray[np.object_], Names("features"), MAYBE]
    column_summary_: Annotated[ColumnSummary, MAYBE]
    training_keys_: Annotated[TrainingKeys, MAYBE]

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
        training: TrainingSet | None = None,
        **fitted: object,
    ) -> Self:
        """Replace the attributes of an earlier fit by those of this one.

        The segments of `training` are those of the rows with a held-out loss.
        This is the last step of a fit. If the fit fails before, the estimator is unchanged.
        """
        if not math.isfinite(threshold):
            raise rules.LossError(
                f"{self._name}: the threshold must be a finite number, but threshold={decision_.rule!r} gives "
                f"{threshold}; the likely cause is a parameter, or a value of X, that is extremely large or small"
            )
        if calibration is not None and decision_.held_out:
            warn_of_decision(self._name, decision_, calibration)  # the user may have turned warnings into errors
        segments = None
        if training is not None and training.segments is not None and held_out is not None:
            with self._naming(" in a segment"):
                segments = Segments.of(held_out, training.segments, decision_, training.segment_column)
            warn_of_small(self._name, segments, decision_.delta)
        found = {name: value for name, value in vars(self).copy().items() if not name.endswith("_")}
        found |= header.attributes() | fitted
        found |= {"offset_": -threshold, "calibration_": calibration, "decision_": decision_, "held_out_": held_out}
        found |= {"segments_": segments, "group_column_": None if training is None else training.group_column}
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
        segments = {} if fit_params.get("segments") is None else {"segments": fit_params["segments"]}
        return self.fit(X, y, **fit_params).predict(X, **segments)

    def screen(self, X: Rows, *, q: float = 0.1, top: int = 100, groups: Labels | Name | None = None) -> Screening:
        """Find odd rows and wrong cells in a table, remove the rows that are named, and fit on the others.

        Every row is judged by models that have not seen the row or its group. Every cell is predicted from the other
        columns of its row. The p-value of a row combines those of its cells and of the row as a whole. Of the
        classifier's parameters, only `scale` has an effect on this step. The function `oneclass.screen` does the same
        without a classifier.

        The classifier is then fitted on the rows that are not named. Its thresholds and p-values assume that a share
        `q` of the removed rows were normal, with larger losses than all remaining rows. This keeps the false-alarm rate
        for clean rows (docs/dirty.md).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The table. Most rows must be normal. A cluster of more than a tenth of the rows is taken for normal.
        q : float in (0, 1), default=0.1
            False-discovery rate: upper bound on the mean share of normal rows among the named rows, under the
            assumptions that docs/dirty_measured.md states.
        top : int, default=100
            Smallest number of rows whose suspicious cells are listed, with expected values.
        groups : array-like of shape (n_samples,), or the name or number of a column of `X`, optional
            The group of each row, as in `fit`.

        Returns
        -------
        Screening
            All rows and the most suspicious cells in order of suspicion, the named rows in `odd`, and the fitted
            `classifier`.

        Examples
        --------
        >>> import numpy as np
        >>> from oneclass import VAAKELM
        >>> X = np.random.default_rng(0).normal(size=(200, 2))
        >>> X[:3] += 20
        >>> found = VAAKELM().screen(X)
        >>> sorted(found.order[:3].tolist()), found.odd[:3].tolist()
        ([0, 1, 2], [True, True, True])
        >>> found.classifier.predict([[0.0, 0.0], [20.0, 20.0]])
        array([ 1, -1])
        """
        q, top = check_number(self, "q", 0, 1, value=q), check_integer(self, "top", 1, value=top)
        decision = decision_of(self)
        if is_dask(X) or get_tags(self).input_tags.pairwise:
            kind = "a Dask collection" if is_dask(X) else "kernel values"
            raise ValueError(f"{self._name}: screen must have the rows themselves, in memory; got {kind}")
        rows = read_training_set(self, X, groups=groups)
        names = range(rows.X.shape[1]) if rows.header.names is None else rows.header.names.tolist()
        sheet = current_sheet() or sheet_of_matrix(to_numpy(rows.X), names)
        scaled = read_scaling(self._name, self.scale) != "none"
        judged = judge(rows.X, sheet, q=q, top=top, groups=rows.groups, scaled=scaled)
        self._fit_set(rows.only(~judged.odd, removed=_removed_share(judged.odd, rows.groups, q)), decision)
        return replace(Screening.of(judged, sheet), classifier=self)

    def _fit(
        self,
        X: Rows,
        y: Labels | None = None,
        *,
        outliers: Rows | None = None,
        sample_weight: Weights | None = None,
        groups: Labels | Name | None = None,
        segments: Labels | Name | None = None,
    ) -> Self:
        """Check the parameters, read the rows, and fit."""
        check_seed(self)
        decision = decision_of(self)
        if segments is not None:
            refuse_training_losses(self._name, decision)
        training = read_training_set(
            self, X, y, outliers=outliers, sample_weight=sample_weight, groups=groups, segments=segments
        )
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

    def _finite_losses(self, rows: Array) -> Array:
        """Loss of each row; the largest finite number where it overflowed."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = self._losses(rows)
        xp = namespace(found)
        return xp.where(xp.isfinite(found), found, xp.full_like(found, xp.finfo(found.dtype).max))

    def _answer(self, X: Rows, verb: Callable[[Array], Array], *, recognise: bool = False) -> Array:
        """`verb` applied to the scores of the rows; if `recognise`, a warning is raised for training rows."""

        def answer(one: Self, rows: Array) -> Array:
            if recognise and one._knows(rows):
                warn(
                    f"{one._name}: most of these rows are training rows, so mistakes that the model has learned from "
                    "them may not be found; to find mistakes among training rows, use screen or held_out_scores_",
                    TrainingRowsWarning,
                )
            return verb(-one._finite_losses(rows))

        return self._of_rows(X, answer)

    def _knows(self, rows: Array) -> bool:
        """Whether most of these rows, as `_read` returns them, are training rows; false for fits without their keys."""
        keys: TrainingKeys | None = vars(self).get("training_keys_")
        return keys is not None and keys.are_most_of(rows)

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
        return read_rows(Header.of(self), without_labels(self, X))


def _removed_share(odd: NDArray[np.bool_], groups: Groups | None, q: float) -> float:
    """Estimated number of normal rows among those removed, divided by the number of rows that remain.

    The estimate is a share `q` of the removed rows. The rows of a group count as one row.
    """
    w = np.ones(len(odd)) if groups is None else groups.weights(np.ones(len(odd)))
    stayed = int((~odd).sum()) if groups is None else len(np.unique(groups.of_rows[~odd]))
    return q * float(w[odd].sum()) / max(1, stayed)
