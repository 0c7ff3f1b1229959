"""Scorers for one-class data: metrics of labels and decision values, in the form of scikit-learn's scorers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer as sklearn_scorer
from sklearn.metrics import get_scorer_names

from ..base.labels import is_target
from ..base.protocol import Decides
from ..core.typing import Labels, Rows

__all__ = ["SCORERS", "Scorer", "Scoring", "get_scorer", "recall_at"]

Float = NDArray[np.float64]
Bool = NDArray[np.bool_]
Metric = Callable[[Bool, Float], float]
#: A scorer as in scikit-learn: a function of a fitted estimator, rows and labels.
Scoring: TypeAlias = Callable[..., float]

#: Decisions are compared to 26 binary digits, half of those of a float: bounds the rounding errors of tied rows.
_COMPARED_DIGITS = 2.0**26

#: Bounds the rounding error of a rate times a number of rows, which should be a whole number.
_WHOLE = 1e-9

#: False-alarm rate of the scorer `recall_at_false_alarms`.
_FALSE_ALARMS = 0.05


@dataclass(frozen=True)
class Scorer:
    """A metric of targets (True) and decision values (negative for rejected rows); larger is better.

    Parameters
    ----------
    name : str
        Name of the scorer, also in error messages.
    metric : callable
        ``metric(targets, decisions)``, a number.
    target : label, optional
        The label of the target class in `y`, as in `is_target`.
    depends_on : {"decisions", "ranks", "signs"}, default="decisions"
        What of the decisions the metric depends on: their signs (the labels), their ranks, or all of their values. A
        search fits a candidate again if rounding could change what the metric depends on.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass import AAKELM
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> SCORERS["auroc"](AAKELM().fit(X), [[0.0, 0.0], [9.0, 9.0]], [1, -1])
    1.0
    """

    name: str
    metric: Metric
    target: object = None
    depends_on: str = "decisions"

    def __post_init__(self) -> None:
        if self.depends_on not in ("decisions", "ranks", "signs"):
            raise ValueError(
                f"Scorer: depends_on must be one of 'decisions', 'ranks', 'signs'; got {self.depends_on!r}"
            )

    def __call__(self, estimator: Decides, X: Rows, y: Labels) -> float:
        """The metric of a fitted estimator's decisions on rows `X` with labels `y`."""
        decisions = np.asarray(estimator.decision_function(X), dtype=float)
        return self.metric(is_target(y, self.target, caller=self.name), decisions)


def recall_at(rate: float) -> Scorer:
    """Scorer: share of the outliers found at the threshold that rejects a share `rate` of the targets.

    Parameters
    ----------
    rate : float in [0, 1)
        False-alarm rate.

    Returns
    -------
    Scorer

    Examples
    --------
    >>> import numpy as np
    >>> targets, decisions = np.array([True, True, False, False]), np.array([0.3, 0.5, 0.1, 0.4])
    >>> recall_at(0.0).metric(targets, decisions), recall_at(0.5).metric(targets, decisions)
    (0.5, 1.0)
    """
    if not 0 <= rate < 1:
        raise ValueError(f"recall_at: rate must be a number in [0, 1), got {rate!r}")
    return Scorer(f"recall_at_{rate:g}", partial(_recall_at, rate=rate), depends_on="ranks")


def get_scorer(scoring: str | Scoring) -> Scoring:
    """A scorer by its name in `SCORERS` or in scikit-learn; a callable is returned as it is.

    Parameters
    ----------
    scoring : str or callable
        A name, or a callable ``scorer(estimator, X, y)``.

    Returns
    -------
    callable

    Examples
    --------
    >>> get_scorer("f1").name
    'f1'
    """
    if isinstance(scoring, str):
        if scoring in SCORERS:
            return SCORERS[scoring]
        if scoring in get_scorer_names():
            found: Scoring = sklearn_scorer(scoring)
            return found
    if not callable(scoring):
        listed = ", ".join(repr(name) for name in SCORERS)
        raise ValueError(
            f"get_scorer: scoring must be one of {listed}, a name of scikit-learn's, or a callable; got {scoring!r}"
        )
    return scoring


def _precision_recall(targets: Bool, decisions: Float) -> tuple[float, float]:
    accepted = decisions >= 0
    hits = np.count_nonzero(accepted & targets)
    return (hits / np.count_nonzero(accepted) if hits else 0.0), hits / np.count_nonzero(targets)


def _precision(targets: Bool, decisions: Float) -> float:
    return _precision_recall(targets, decisions)[0]


def _recall(targets: Bool, decisions: Float) -> float:
    return _precision_recall(targets, decisions)[1]


def _f1(targets: Bool, decisions: Float) -> float:
    accepted = decisions >= 0
    return 2 * np.count_nonzero(accepted & targets) / (np.count_nonzero(accepted) + np.count_nonzero(targets))


def _gmean_paper(targets: Bool, decisions: Float) -> float:
    precision, recall = _precision_recall(targets, decisions)
    return math.sqrt(precision * recall)


def _rates(targets: Bool, decisions: Float) -> tuple[float, float]:
    """Share of targets accepted and share of outliers rejected, which is NaN without outliers."""
    accepted = decisions >= 0
    found = float(np.mean(~accepted[~targets])) if not targets.all() else math.nan
    return float(np.mean(accepted[targets])), found


def _balanced(targets: Bool, decisions: Float) -> float:
    return sum(_rates(targets, decisions)) / 2


def _gmean(targets: Bool, decisions: Float) -> float:
    sensitivity, specificity = _rates(targets, decisions)
    return math.sqrt(sensitivity * specificity)


def _ranked(decisions: Float) -> Float:
    """Decisions rounded to half of their digits, so that copies of a row, which may differ by rounding errors, tie.

    The digits that count are those of the losses, which are unknown here. The largest decision is about the threshold,
    so a loss is at most twice the threshold minus the decision. The threshold is rounded up to a power of two, which
    moves no digits.
    """
    finite = decisions[np.isfinite(decisions)]
    top = float(finite.max()) if len(finite) else 0.0
    threshold = math.ldexp(1.0, math.frexp(top)[1]) if top else 0.0
    mantissa, exponent = np.frexp(2 * threshold - decisions)
    with np.errstate(over="ignore"):  # for infinite losses
        return np.asarray(-np.ldexp(np.round(mantissa * _COMPARED_DIGITS) / _COMPARED_DIGITS, exponent))


def _counts(targets: Bool, decisions: Float) -> tuple[Float, Float]:
    """Numbers of targets and outliers at each distinct decision, in descending order; NaN if any decision is NaN."""
    values, place = np.unique(-_ranked(decisions), return_inverse=True)
    one = math.nan if np.isnan(decisions).any() else 1.0
    inside, outside = (one * np.bincount(place[rows], minlength=len(values)) for rows in (targets, ~targets))
    return np.asarray(inside, dtype=float), np.asarray(outside, dtype=float)


def _auroc(targets: Bool, decisions: Float) -> float:
    inside, outside = _counts(targets, decisions)
    pairs = inside.sum() * outside.sum()
    behind = outside.sum() - np.cumsum(outside) + outside / 2
    return float(inside @ behind / pairs) if pairs else math.nan


def _average_precision(targets: Bool, decisions: Float) -> float:
    return _area(*_counts(targets, decisions))


def _outlier_average_precision(targets: Bool, decisions: Float) -> float:
    inside, outside = _counts(targets, decisions)
    return _area(outside[::-1], inside[::-1])


def _area(wanted: Float, others: Float) -> float:
    """Mean precision at the ranks of the relevant rows, from the numbers of relevant and other rows at each rank.

    NaN if no row is relevant.
    """
    found = np.cumsum(wanted)
    return float(wanted @ (found / np.cumsum(wanted + others)) / found[-1]) if found[-1] else math.nan


def _recall_at(targets: Bool, decisions: Float, *, rate: float) -> float:
    if targets.all():
        return math.nan
    decisions = _ranked(decisions)
    inside = np.sort(decisions[targets])
    # Rows strictly below the k-th smallest target are rejected: at most k - 1 targets.
    level = inside[math.floor(rate * len(inside) + _WHOLE)]
    return float(np.mean(decisions[~targets] < level))


_BY_SIGNS: dict[str, Metric] = {
    "f1": _f1,
    "precision": _precision,
    "recall": _recall,
    "gmean_paper": _gmean_paper,
    "gmean": _gmean,
    "balanced": _balanced,
}
_BY_RANKS: dict[str, Metric] = {
    "auroc": _auroc,
    "average_precision": _average_precision,
    "outlier_average_precision": _outlier_average_precision,
    "recall_at_false_alarms": partial(_recall_at, rate=_FALSE_ALARMS),
}

#: Scorers by name. Targets are the positive class, except in `outlier_average_precision` and `recall_at_false_alarms`.
#: `gmean_paper` is the paper's sqrt(precision x recall).
SCORERS: dict[str, Scorer] = {
    **{name: Scorer(name, metric, depends_on="signs") for name, metric in _BY_SIGNS.items()},
    **{name: Scorer(name, metric, depends_on="ranks") for name, metric in _BY_RANKS.items()},
}
