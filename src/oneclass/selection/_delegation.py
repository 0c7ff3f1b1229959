"""Verbs and fitted attributes that a search takes from its best estimator."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..contract.delegating import Delegates
from ..contract.detector import Detector, Estimator
from ..contract.pipeline import with_verbs
from ..core.stored import MAYBE

__all__ = ["BestEstimator"]


class BestEstimator(Delegates):
    """The verbs of a classifier, answered by `best_estimator_`."""

    estimator: Estimator
    best_estimator_: Annotated[Detector, MAYBE]

    def _wrapped(self) -> Any:
        return with_verbs(getattr(self, "best_estimator_", self.estimator))

    def _check_fitted(self) -> None:
        check_is_fitted(self, "best_estimator_")

    @property
    def n_features_in_(self) -> int:
        """Number of features of the best estimator."""
        self._check_best()
        return int(self.best_estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """Feature names of the best estimator."""
        self._check_best()
        return self.best_estimator_.feature_names_in_

    def _check_best(self) -> None:
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(f"{type(self).__name__} has no best estimator yet: fit it, with refit on")
