"""ROC and precision-recall curves of scikit-learn, with outliers as the positive class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import PrecisionRecallDisplay, RocCurveDisplay

from ..base.labels import is_target
from ..base.protocol import Decides
from ..core.typing import Labels, Rows
from .drawing import Float, numbers, pyplot

__all__ = ["precision_recall_display", "roc_display"]


def roc_display(estimator: Decides, X: Rows, y: Labels, *, target: object = None, **options: Any) -> RocCurveDisplay:
    """ROC curve of a fitted detector: outliers are the positive class, so that false positives are false alarms.

    Parameters
    ----------
    estimator : fitted detector
        Any estimator with `decision_function`.
    X : array-like of shape (n_samples, n_features)
        Rows of both classes.
    y : array-like of shape (n_samples,)
        Labels.
    target : label, optional
        The label of the target class, as in `oneclass.selection.is_target`.
    **options
        Passed on to ``RocCurveDisplay.from_predictions``.

    Returns
    -------
    RocCurveDisplay

    Examples
    --------
    >>> roc_display(model, X_test, y_test)  # doctest: +SKIP
    """
    pyplot()
    options = {"name": type(estimator).__name__, "pos_label": "outlier"} | options
    return RocCurveDisplay.from_predictions(*_outliers_first(estimator, X, y, target), **options)


def precision_recall_display(
    estimator: Decides, X: Rows, y: Labels, *, target: object = None, **options: Any
) -> PrecisionRecallDisplay:
    """Precision-recall curve of a fitted detector: outliers are the positive class.

    Parameters
    ----------
    estimator : fitted detector
        Any estimator with `decision_function`.
    X : array-like of shape (n_samples, n_features)
        Rows of both classes.
    y : array-like of shape (n_samples,)
        Labels.
    target : label, optional
        The label of the target class, as in `oneclass.selection.is_target`.
    **options
        Passed on to ``PrecisionRecallDisplay.from_predictions``.

    Returns
    -------
    PrecisionRecallDisplay

    Examples
    --------
    >>> precision_recall_display(model, X_test, y_test)  # doctest: +SKIP
    """
    pyplot()
    options = {"name": type(estimator).__name__, "pos_label": "outlier"} | options
    return PrecisionRecallDisplay.from_predictions(*_outliers_first(estimator, X, y, target), **options)


def _outliers_first(estimator: Decides, X: Rows, y: Labels, target: object) -> tuple[NDArray[np.str_], Float]:
    """Labels, and values that are larger for more unusual rows."""
    labels = np.where(is_target(y, target), "target", "outlier")
    return labels, -numbers(estimator.decision_function(X))
