"""LIBSVM as the paper used it: its own tolerance and threshold, on unscaled rows in the order of the file."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from sklearn.svm import OneClassSVM

__all__ = ["LIBSVM"]


class LIBSVM:
    """One-class machine with kernel ``exp(-d²/(2 A²))``, A² the mean of all n² squared distances.

    The library's `OCSVM` sorts the rows and sets a smaller tolerance, so that its results do not depend on the order of
    the rows. The published values depend on it: they are those of LIBSVM's defaults.

    Parameters
    ----------
    delta : float
        LIBSVM's nu; at least 1/n is used.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> LIBSVM(delta=0.1).fit(X).decision_function(np.array([[0.0, 0.0], [9.0, 9.0]])) > 0
    array([ True, False])
    """

    def __init__(self, *, delta: float) -> None:
        self.delta = delta

    def get_params(self) -> dict[str, Any]:
        """Parameters by name, as in scikit-learn's estimators."""
        return {"delta": self.delta}

    def fit(self, X: NDArray[np.float64]) -> Self:
        """Fit to rows of the target class."""
        n = len(X)
        A2 = 2 * float(pdist(X, "sqeuclidean").sum()) / n**2
        self._machine = OneClassSVM(gamma=0.5 / A2, nu=max(self.delta, 1 / n), tol=1e-3).fit(X)
        return self

    def decision_function(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Score minus LIBSVM's rho: negative for outliers."""
        return np.asarray(self._machine.decision_function(X))
