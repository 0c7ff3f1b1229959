"""What a search passes on to its best estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..contract.detector import Detector, Estimator
from ..contract.explanation import Explanation
from ..contract.pipeline import with_verbs
from ..core.arrays import Array
from ..core.calibration import Calibration
from ..core.given import Rows
from ..core.threshold import Decision
from ..disk.sinks import Sink
from ..engines.chunks import Source
from ..engines.scoring import Columns, Scored

__all__ = ["BestEstimator"]

Method = TypeVar("Method", bound=Callable[..., Any])


def _if_it_has(method: str) -> Callable[[Method], Method]:
    """Offer the method only if the best (before fitting: the given) estimator has it."""

    def check(search: BestEstimator) -> bool:
        getattr(with_verbs(getattr(search, "best_estimator_", search.estimator)), method)
        return True

    decorate: Callable[[Method], Method] = available_if(check)
    return decorate


class BestEstimator:
    """The verbs of a classifier, answered by `best_estimator_`."""

    estimator: Estimator
    best_estimator_: Detector

    @property
    def n_features_in_(self) -> int:
        """Number of features of the best estimator."""
        return int(self._best.n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """Feature names of the best estimator."""
        return self._best.feature_names_in_

    @property
    def offset_(self) -> float:
        """Threshold of the best estimator."""
        return self._best.offset_

    @property
    def calibration_(self) -> Calibration | None:
        """Held-out losses of the best estimator."""
        return self._best.calibration_

    @property
    def decision_(self) -> Decision:
        """How the best estimator put its threshold."""
        return self._best.decision_

    @property
    def _best(self) -> Detector:
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(f"{type(self).__name__} has no best estimator yet: fit it, with refit on")
        return with_verbs(self.best_estimator_)

    def _ask(self, method: str, X: Rows, **options: Any) -> Any:
        check_is_fitted(self, "best_estimator_")
        return getattr(self._best, method)(X, **options)

    @_if_it_has("predict")
    def predict(self, X: Rows, **options: Any) -> Array:
        """Labels of the best estimator: +1 for the target class, -1 for an outlier; `alpha` goes to it."""
        return self._ask("predict", X, **options)

    @_if_it_has("decision_function")
    def decision_function(self, X: Rows) -> Array:
        """Decision values of the best estimator: negative for outliers."""
        return self._ask("decision_function", X)

    @_if_it_has("score_samples")
    def score_samples(self, X: Rows) -> Array:
        """Scores of the best estimator: larger for more normal rows."""
        return self._ask("score_samples", X)

    @_if_it_has("p_value")
    def p_value(self, X: Rows, tail: str | None = None) -> Array:
        """Conformal p-values of the best estimator."""
        return self._ask("p_value", X, tail=tail)

    @_if_it_has("false_discovery")
    def false_discovery(self, X: Rows, q: float = 0.1, tail: str | None = None) -> Array:
        """Labels of the best estimator with the false-discovery rate `q` over the batch."""
        return self._ask("false_discovery", X, q=q, tail=tail)

    @_if_it_has("interval")
    def interval(self, alpha: float | None = None, confidence: float = 0.95) -> tuple[float, float]:
        """Between which rates the best estimator rejects fresh normal rows."""
        check_is_fitted(self, "best_estimator_")
        return self._best.interval(alpha, confidence)

    @_if_it_has("judging")
    def judging(self, alpha: float | None = None, tail: str | None = None) -> Callable[[Rows], Columns]:
        """A function from rows to all that the best estimator says of them: scores, p-values and labels."""
        check_is_fitted(self, "best_estimator_")
        return self._best.judging(alpha, tail)

    @_if_it_has("score_chunks")
    def score_chunks(self, source: Source, sink: Sink, **options: Any) -> Scored:
        """Scores, p-values and labels of the best estimator, from chunks of rows to a file."""
        check_is_fitted(self, "best_estimator_")
        return self._best.score_chunks(source, sink, **options)

    @_if_it_has("explain")
    def explain(self, X: Rows, neighbours: int = 0) -> Explanation:
        """Why rows are as strange as they are to the best estimator."""
        found: Explanation = self._ask("explain", X, neighbours=neighbours)
        return found

    @_if_it_has("reconstruct")
    def reconstruct(self, X: Rows) -> Array:
        """The rows as the best estimator rebuilds them."""
        return self._ask("reconstruct", X)
