"""Metrics of a set of decisions: the five of the paper, and others."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from oneclass.selection import SCORERS, Scorer

__all__ = ["METRICS", "VALIDATION", "metrics", "over_grid"]

Float = NDArray[np.float64]
Bool = NDArray[np.bool_]

#: Metrics of a row, in the order of the tables.
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

#: Metrics of scores; the others are metrics of decisions.
_RANKED = ("auroc", "average_precision")


def _gmean_if_any(targets: Bool, decisions: Float) -> float:
    return SCORERS["gmean_paper"].metric(targets, decisions) if np.any(decisions >= 0) else math.nan


#: The validation score: the paper's g-mean, sqrt(P R). It is NaN for a fold in which nothing is accepted.
VALIDATION = Scorer("gmean_paper", _gmean_if_any)


def over_grid(scorer: Scorer, y: NDArray[np.int64], accepted: Bool) -> Float:
    """A metric of many sets of decisions.

    Parameters
    ----------
    scorer : Scorer
        A scorer of decisions.
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
    >>> over_grid(VALIDATION, np.array([1, 1, -1, -1]), np.array([[True] * 4, [False] * 4])).round(4)
    array([0.7071,    nan])
    """
    return np.apply_along_axis(partial(scorer.metric, y == 1), -1, _decisions(accepted))


def _decisions(accepted: Bool) -> Float:
    return np.where(accepted, 1.0, -1.0)


def metrics(y: NDArray[np.int64], accepted: Bool, scores: Float) -> dict[str, float]:
    """All `METRICS` of one set of decisions.

    Precision is 0 if nothing is accepted. ``gmean_paper`` is sqrt(P R); ``gmean`` is the usual sqrt(sensitivity
    specificity). ``false_alarm_rate`` is the share of targets that are rejected.

    Parameters
    ----------
    y : array of shape (m,)
        Labels, +1 target and -1 outlier.
    accepted : array of shape (m,)
        Decisions, True for "target".
    scores : array of shape (m,)
        Scores; larger is more normal.

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
    targets, decided = y == 1, _decisions(accepted)
    # Infinite scores have the rank of the largest float.
    ranked = np.nan_to_num(scores)
    found = {
        name: float(scorer.metric(targets, ranked if name in _RANKED else decided))
        for name, scorer in SCORERS.items()
        if name in METRICS
    }
    found |= {"accuracy": float(np.mean(accepted == targets)), "false_alarm_rate": 1 - found["recall"]}
    return {name: found[name] for name in METRICS}
