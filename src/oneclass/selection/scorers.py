"""Scorers that know one-class data: each is a function of labels and decision values, and a scikit-learn scorer."""

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
#: What scikit-learn calls a scorer: a function of a fitted estimator, rows and labels.
Scoring: TypeAlias = Callable[..., float]

#: Half of the binary digits of a float.
_HALF = 2.0**26


@dataclass(frozen=True)
class Scorer:
    """A metric of targets (True) and decision values (negative for rejected rows); larger is better.

    Parameters
    ----------
    name : str
        What tables call it.
    metric : callable
        ``metric(targets, decisions)``, a number.
    target : label, optional
        The label of the target class in `y`, as in `is_target`.
    sees : {"decisions", "ranks", "signs"}, default="decisions"
        What of the decisions the metric depends on; a search need not doubt what is beyond rounding then.

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
    sees: str = "decisions"

    def __post_init__(self) -> None:
        if self.sees not in ("decisions", "ranks", "signs"):
            raise ValueError(f"Scorer: sees must be one of 'decisions', 'ranks', 'signs'; got {self.sees!r}")

    def __call__(self, estimator: Decides, X: Rows, y: Labels) -> float:
        """The metric of a fitted estimator's decisions on rows `X` with labels `y`."""
        decisions = np.asarray(estimator.decision_function(X), dtype=float)
        return self.metric(is_target(y, self.target, caller=self.name), decisions)


def recall_at(rate: float) -> Scorer:
    """Share of the outliers found when the threshold moves to where a share `rate` of the targets is rejected.

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
    return Scorer(f"recall_at_{rate:g}", partial(_recall_at, rate=rate), sees="ranks")


def get_scorer(scoring: str | Scoring) -> Scoring:
    """A scorer by name, or the callable itself; names that are not in `SCORERS` are scikit-learn's.

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
    """Share of targets accepted, share of outliers rejected; the latter is NaN without outliers."""
    accepted = decisions >= 0
    found = float(np.mean(~accepted[~targets])) if not targets.all() else math.nan
    return float(np.mean(accepted[targets])), found


def _balanced(targets: Bool, decisions: Float) -> float:
    return sum(_rates(targets, decisions)) / 2


def _gmean(targets: Bool, decisions: Float) -> float:
    sensitivity, specificity = _rates(targets, decisions)
    return math.sqrt(sensitivity * specificity)


def _ranked(decisions: Float) -> Float:
    """Decisions to half of their digits: rows that differ by rounding alone, as copies of a row may, tie.

    The digits are those of the losses. A loss is not told, but the largest decision is about the threshold, and so the
    loss of a row no more than twice that less its decision; a power of two keeps the digits where they are.
    """
    finite = decisions[np.isfinite(decisions)]
    top = float(finite.max()) if len(finite) else 0.0
    threshold = math.ldexp(1.0, math.frexp(top)[1]) if top else 0.0
    mantissa, exponent = np.frexp(2 * threshold - decisions)
    with np.errstate(over="ignore"):  # of an infinite loss
        return np.asarray(-np.ldexp(np.round(mantissa * _HALF) / _HALF, exponent))


def _counts(targets: Bool, decisions: Float) -> tuple[Float, Float]:
    """Numbers of targets and of outliers at each distinct decision, the most normal first; NaN if a decision is."""
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
    """Mean precision at the places of the wanted rows, from their numbers and those of the others, first places first.

    NaN when nothing is wanted.
    """
    found = np.cumsum(wanted)
    return float(wanted @ (found / np.cumsum(wanted + others)) / found[-1]) if found[-1] else math.nan


def _recall_at(targets: Bool, decisions: Float, *, rate: float) -> float:
    if targets.all():
        return math.nan
    decisions = _ranked(decisions)
    inside = np.sort(decisions[targets])
    # Rows strictly below the k-th smallest target are rejected: at most k - 1 targets.
    level = inside[math.floor(rate * len(inside) + 1e-9)]
    return float(np.mean(decisions[~targets] < level))


_OF_SIGNS: dict[str, Metric] = {
    "f1": _f1,
    "precision": _precision,
    "recall": _recall,
    "gmean_paper": _gmean_paper,
    "gmean": _gmean,
    "balanced": _balanced,
}
_OF_RANKS: dict[str, Metric] = {
    "auroc": _auroc,
    "average_precision": _average_precision,
    "outlier_average_precision": _outlier_average_precision,
    "recall_at_false_alarms": partial(_recall_at, rate=0.05),
}

#: Scorers by name. The target class is positive: `f1`, `precision`, `recall` and `gmean_paper`, the paper's
#: sqrt(precision x recall), are about accepted targets, `average_precision` about targets ranked first,
#: `outlier_average_precision` about outliers.
SCORERS: dict[str, Scorer] = {
    **{name: Scorer(name, metric, sees="signs") for name, metric in _OF_SIGNS.items()},
    **{name: Scorer(name, metric, sees="ranks") for name, metric in _OF_RANKS.items()},
}
