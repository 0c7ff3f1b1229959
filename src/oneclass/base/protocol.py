"""Protocols: the methods and attributes of classifiers, of pipelines that end in one, and of searches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array
from ..core.batch_verdict import BatchVerdict
from ..core.calibration import Calibration
from ..core.segments import SegmentRate, Segments
from ..core.threshold import Decision
from ..core.typing import Labels, Name, Rows
from ..engines.chunks import Source
from ..engines.scoring import Columns, Scored
from ..io.sinks import Sink
from .explanation import Explanation

if TYPE_CHECKING:
    from ..screening import Screening

__all__ = ["Classifier", "Decides", "Detector", "Estimator"]


class Estimator(Protocol):
    """An estimator by scikit-learn's rules."""

    def fit(self, *rows: Any, **params: Any) -> Self:
        """Fit the estimator."""
        ...

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Its parameters."""
        ...

    def set_params(self, **params: Any) -> Self:
        """Set some of its parameters."""
        ...


class Decides(Protocol):
    """An estimator with a decision threshold, of this or another library."""

    def decision_function(self, X: Rows, /) -> Array:
        """Score of each row minus the threshold."""
        ...


class Detector(Decides, Protocol):
    """A fitted classifier of the library."""

    @property
    def n_features_in_(self) -> int:
        """Number of columns."""
        ...

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """Names of the columns, if the training table had names."""
        ...

    @property
    def offset_(self) -> float:
        """Threshold on the scores."""
        ...

    @property
    def decision_(self) -> Decision:
        """Rule and rate by which the threshold was chosen."""
        ...

    @property
    def calibration_(self) -> Calibration | None:
        """Held-out losses; None if the fit computed none."""
        ...

    def score_samples(self, X: Rows, /) -> Array:
        """Score of each row; larger means more normal."""
        ...

    def predict(self, X: Rows, /, *, delta: float | None = None, segments: Labels | Name | None = None) -> Array:
        """+1 for the target class, -1 for an outlier."""
        ...

    def p_value(self, X: Rows, /, *, tail: str | None = None, segments: Labels | Name | None = None) -> Array:
        """Conformal p-value of each row."""
        ...

    def label_batch(
        self, X: Rows, /, *, q: float = 0.1, tail: str | None = None, segments: Labels | Name | None = None
    ) -> Array:
        """Labels of a batch with a bound on the false-discovery rate."""
        ...

    def compare_batch(
        self,
        X: Rows,
        /,
        *,
        confidence: float = 0.95,
        tail: str | None = None,
        segments: Labels | Name | None = None,
        X_train: Rows | None = None,
    ) -> BatchVerdict:
        """Whether a batch is like the training rows, how many of its rows are odd, and which columns moved."""
        ...

    def false_alarm_interval(
        self, *, delta: float | None = None, confidence: float = 0.95, segment: object = None
    ) -> tuple[float, float]:
        """Confidence interval for this model's false-alarm rate."""
        ...

    def segment_rates(
        self, *, segments: Labels | None = None, delta: float | None = None, confidence: float = 0.95
    ) -> list[SegmentRate]:
        """False-alarm rate of each segment."""
        ...

    def explain(self, X: Rows, /, *, neighbors: int = 0) -> Explanation:
        """Contribution of each column to the loss of each row."""
        ...

    @property
    def segments_(self) -> Segments | None:
        """Segments of the rows; None if the fit had none."""
        ...

    def score_table(
        self,
        X: Rows,
        /,
        *,
        delta: float | None = None,
        tail: str | None = None,
        segments: Labels | Name | None = None,
    ) -> Columns:
        """Scores, p-values and labels of rows, computed in one pass."""
        ...

    def score_chunks(self, source: Source, sink: Sink) -> Scored:
        """Score rows that are read in chunks, and write the results to a file."""
        ...


class Classifier(Detector, Protocol):
    """A detector with a held-out score for each training row."""

    @property
    def held_out_scores_(self) -> Array:
        """Score of each training row by a model that did not see it."""
        ...

    @property
    def held_out_p_values_(self) -> Array:
        """P-value of each training row among the others."""
        ...

    def screen(self, X: Rows, /, *, q: float = 0.1, top: int = 100, groups: Labels | Name | None = None) -> Screening:
        """Find anomalous rows in a contaminated table, and fit on the others."""
        ...
