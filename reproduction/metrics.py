"""What a row of results says about one set of decisions: the paper's five metrics and the ones it lacks."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

__all__ = ["METRICS", "confusion", "metrics", "paper_gmean"]

Float = NDArray[np.float64]
Bool = NDArray[np.bool_]

#: Metrics of a row, in the order in which tables list them.
METRICS = (
    "accuracy",
    "precision",
    "recall",
    "f1",
    "gmean_paper",
    "gmean",
    "auroc",
    "average_precision",
    "false_alarm_rate",
)


def confusion(y: NDArray[np.int64], accepted: Bool) -> tuple[Float, Float, Float, Float]:
    """Counts TP, FP, FN, TN over the last axis; the target class is positive.

    Parameters
    ----------
    y : array of shape (m,)
        Labels, +1 target and -1 outlier.
    accepted : array of shape (..., m)
        Decisions, True for "target".

    Returns
    -------
    tuple of four arrays of shape (...,)

    Examples
    --------
    >>> import numpy as np
    >>> [int(c) for c in confusion(np.array([1, 1, -1, -1]), np.array([True, False, True, False]))]
    [1, 1, 1, 1]
    """
    target = y == 1
    tp = np.asarray((accepted & target).sum(axis=-1), dtype=float)
    fp = np.asarray((accepted & ~target).sum(axis=-1), dtype=float)
    return tp, fp, target.sum() - tp, (~target).sum() - fp


def paper_gmean(y: NDArray[np.int64], accepted: Bool) -> Float:
    """G-mean as the paper defines it, ``sqrt(P R)``, over the last axis; NaN where nothing is accepted.

    Parameters
    ----------
    y : array of shape (m,)
        Labels, +1 target and -1 outlier.
    accepted : array of shape (..., m)
        Decisions, True for "target".

    Returns
    -------
    array of shape (...,)

    Examples
    --------
    >>> import numpy as np
    >>> float(paper_gmean(np.array([1, 1, -1, -1]), np.array([True, True, True, True])).round(4))
    0.7071
    """
    tp, fp, fn, _ = confusion(y, accepted)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.sqrt(tp / (tp + fp) * (tp / (tp + fn))))


def metrics(y: NDArray[np.int64], accepted: Bool, scores: Float) -> dict[str, float]:
    """All `METRICS` of one set of decisions.

    Precision is 0 when nothing is accepted. ``gmean_paper`` is sqrt(P R); ``gmean`` is the usual sqrt(sensitivity
    specificity). ``false_alarm_rate`` is the share of targets rejected, to be held against the delta asked for.

    Parameters
    ----------
    y : array of shape (m,)
        Labels, +1 target and -1 outlier.
    accepted : array of shape (m,)
        Decisions, True for "target".
    scores : array of shape (m,)
        Scores, larger for more normal rows.

    Returns
    -------
    dict of str to float

    Examples
    --------
    >>> import numpy as np
    >>> row = metrics(np.array([1, 1, -1]), np.array([True, True, True]), np.array([0.9, 0.8, 0.1]))
    >>> round(row["f1"], 2), row["gmean"], row["auroc"]
    (0.8, 0.0, 1.0)
    """
    tp, fp, fn, tn = (float(count) for count in confusion(y, accepted))
    precision = tp / (tp + fp) if tp + fp else 0.0
    recall = tp / (tp + fn)
    # Scores beyond the largest float rank as the largest float does.
    finite = np.nan_to_num(scores)
    return {
        "accuracy": (tp + tn) / (tp + fp + fn + tn),
        "precision": precision,
        "recall": recall,
        "f1": 2 * tp / (2 * tp + fp + fn),
        "gmean_paper": math.sqrt(precision * recall),
        "gmean": math.sqrt(recall * tn / (tn + fp)),
        "auroc": float(roc_auc_score(y, finite)),
        "average_precision": float(average_precision_score(y, finite)),
        "false_alarm_rate": 1 - recall,
    }
