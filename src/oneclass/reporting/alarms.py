"""How many rows are flagged: by the threshold of the model, and by every other one that the page offers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kstwobign

from ..base.protocol import Detector
from ..core import calibration
from ..core.arrays import to_numpy
from ..core.calibration import Calibration, rows_needed
from ..core.threshold import Decision
from ..core.typing import Rows
from .contents import Alarms, Beyond, Budget, Histogram, Resemblance, Step

__all__ = ["SURE", "Verdict", "budget_of", "resemblance_of", "scores_of", "steps_of"]

Float = NDArray[np.float64]

#: Confidence of all intervals.
SURE = 0.95

#: Percentages that the page offers: finer where they are small.
_OFFERED = np.concatenate(
    [np.arange(0.01, 0.1, 0.01), np.arange(0.1, 1, 0.1), np.arange(1, 10, 0.5), np.arange(10, 51, 2.5)]
)
_BARS, _BINS = 40, 20


@dataclass(frozen=True)
class Verdict:
    """Scores of rows, on the host and in their order, with the threshold and what it was put by."""

    scores: Float
    offset: float
    decision: Decision
    calibration: Calibration | None

    @classmethod
    def of(cls, model: Detector, X: Rows) -> Self:
        """The rows judged by a fitted model."""
        known = model.calibration_
        if known is not None:
            known = Calibration(to_numpy(known.losses), to_numpy(known.reached), known.total, known.removed)
        return cls(to_numpy(model.score_samples(X)), float(model.offset_), model.decision_, known)

    @property
    def flagged(self) -> NDArray[np.bool_]:
        """Rows beyond the threshold."""
        return self.scores < self.offset

    @property
    def learnt_from(self) -> int | None:
        """Rows, or groups of them, that were held out."""
        known = self.calibration
        return None if known is None else round(known.total - known.removed)

    @property
    def p_values(self) -> Float:
        """P-values of the rows; NaN where the fit has no held-out losses."""
        if self.calibration is None:
            return np.full(len(self.scores), np.nan)
        return np.asarray(self.calibration.p_value(-self.scores), dtype=float)

    @property
    def rate(self) -> float | None:
        """The false-alarm rate of the threshold: what was asked or, of one on training losses, what it comes to."""
        known = self.calibration
        if known is None:
            return None
        if self.decision.held_out:
            return self.decision.budget(known.total)
        below = int(np.searchsorted(known.losses, -self.offset, side="right"))
        return float((known.total - (known.reached[below - 1] if below else 0.0)) / (known.total + 1))


def _told(alarms: calibration.Alarms) -> Alarms:
    return {"expected": alarms.expected, "fewest": alarms.fewest, "most": alarms.most}


def budget_of(verdict: Verdict) -> Budget:
    """The false alarms that were asked for and those that are to come, with the interval of this very model."""
    asked, known, rate = verdict.decision, verdict.calibration, verdict.rate
    n = len(verdict.scores)
    found: Budget = {
        "asked": asked.delta,
        "confidence": asked.confidence,
        "promised": asked.held_out,
        "rule": asked.rule,
        "flagged": int(verdict.flagged.sum()),
        "flagged_share": float(verdict.flagged.mean()),
    }
    if known is None or rate is None:
        return found
    first, p = known.smallest_budget, verdict.p_values
    past = int(np.count_nonzero(p <= first * (1 + 1e-9)))
    beyond: Beyond = {**_told(known.alarms(first, n, SURE)), "rows": past}
    surely = known.budget(asked.delta, SURE) if asked.delta > 0 else 0.0
    return {
        **found,
        "rate": rate,
        "interval": list(known.false_alarm_interval(rate, SURE)),
        "in_1000": _told(known.alarms(rate, 1000, SURE)),
        "if_all_normal": _told(known.alarms(rate, n, SURE)),
        "beyond_all": beyond,
        "ask_to_keep_surely": surely or None,
        "rows_to_keep_surely": rows_needed(asked.delta, SURE) if asked.delta > 0 else None,
    }


def steps_of(verdict: Verdict) -> list[Step]:
    """What every rate that the page offers flags and costs; one of them is that of the model."""
    known, own = verdict.calibration, verdict.rate
    if known is None or own is None:
        return []
    own = max(own, known.smallest_budget) if verdict.decision.held_out else own
    offered = [round(float(percent) / 100, 6) for percent in _OFFERED]
    offered = [alpha for alpha in offered if alpha > known.smallest_budget and abs(alpha - own) > 1e-9]
    losses = np.sort(-verdict.scores)
    steps: list[Step] = []
    for alpha in sorted({*offered, known.smallest_budget, own}):
        limit = -verdict.offset if alpha == own else known.threshold(alpha)
        low, high = known.false_alarm_interval(alpha, SURE)
        steps.append(
            {
                "alpha": alpha,
                "flagged": int(len(losses) - np.searchsorted(losses, limit, side="right")),
                "low": low,
                "high": high,
                **_told(known.alarms(alpha, 1000, SURE)),
                "score": -limit,
                "own": alpha == own,
            }
        )
    return steps


def scores_of(verdict: Verdict) -> Histogram:
    """How strange the rows are: counts of minus their scores, as logarithms where a few would hide the others."""
    losses, limit = -verdict.scores, -verdict.offset
    logarithmic = bool(losses.min() > 0 and limit > 0 and losses.max() > 20 * np.median(losses))
    seen = np.log10(losses) if logarithmic else losses
    counts, edges = np.histogram(seen, bins=_BARS)
    return {"logarithmic": logarithmic, "counts": counts.tolist(), "edges": edges.tolist()}


def resemblance_of(verdict: Verdict) -> Resemblance | None:
    """Whether the rows are as strange as the held-out training rows are: two samples of losses, by their distance.

    The largest distance between the two shares of rows up to a loss, and the chance of a larger one between samples of
    one kind (Kolmogorov and Smirnov), each held-out loss with its weight.
    """
    known = verdict.calibration
    if known is None:
        return None
    new, old, n = np.sort(-verdict.scores), known.losses, len(verdict.scores)
    at = np.concatenate([new, old])
    reached = np.concatenate([[0.0], known.reached]) / known.total
    apart = reached[np.searchsorted(old, at, side="right")] - np.searchsorted(new, at, side="right") / n
    distance = float(np.abs(apart).max())
    return {
        "distance": distance,
        "p_value": float(kstwobign.sf(distance * np.sqrt(n * known.total / (n + known.total)))),
        "stranger": bool(apart[np.abs(apart).argmax()] > 0),
        "histogram": np.histogram(verdict.p_values, bins=_BINS, range=(0, 1))[0].tolist(),
    }
