"""Summary of the scores of new rows: flagged rows by false-alarm rate, and comparison with training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kstwobign

from ..base.protocol import Detector
from ..core import calibration
from ..core.arrays import to_numpy
from ..core.bins import bin_edges, drawable
from ..core.calibration import Calibration, rows_needed
from ..core.threshold import Decision
from ..core.typing import Labels, Rows
from ..engines.scoring import Columns
from ..plot.drawing import CONFIDENCE, ROUNDING, needs_log_scale
from .schema import AlarmSummary, BeyondTraining, ExpectedAlarms, Histogram, Resemblance, Segment, Step

__all__ = ["ScoredRows", "alarms_of", "histogram_of", "resemblance_of", "segments_of", "steps_of"]

Float = NDArray[np.float64]

#: False-alarm rates that the slider offers, in percent: closer to each other where they are small.
_RATES = np.concatenate(
    [np.arange(0.01, 0.1, 0.01), np.arange(0.1, 1, 0.1), np.arange(1, 10, 0.5), np.arange(10, 51, 2.5)]
)
#: Normal rows for which each position of the slider states the number of alarms.
_NORMAL_ROWS = 1000
#: Bars of the histogram of losses, and of the histogram of p-values.
_LOSS_BARS, _P_VALUE_BARS = 40, 20


@dataclass(frozen=True)
class ScoredRows:
    """Scores of new rows, as NumPy arrays and in the order of the rows, with the threshold and the calibration."""

    scores: Float
    offset: float
    decision: Decision
    calibration: Calibration | None
    by_segment: Columns | None = None  # labels, p-values and segments, if the model has segments

    @classmethod
    def of(cls, model: Detector, X: Rows, segments: Labels | None = None) -> Self:
        """Scores of the rows by a fitted model."""
        known = model.calibration_
        if known is not None:
            known = Calibration(to_numpy(known.losses), to_numpy(known.reached), known.total, known.removed)
        by_segment = None
        if segments is not None or getattr(model, "segments_", None) is not None:
            by_segment = model.score_table(X, segments=segments)
        return cls(to_numpy(model.score_samples(X)), float(model.offset_), model.decision_, known, by_segment)

    @property
    def flagged(self) -> NDArray[np.bool_]:
        """Rows beyond the threshold, which may depend on the segment."""
        return self.scores < self.offset if self.by_segment is None else self.by_segment["label"] == -1

    @property
    def fitted_on(self) -> int | None:
        """Number of training rows, or of groups of them, that have held-out losses."""
        known = self.calibration
        return None if known is None else round(known.total - known.removed)

    @property
    def p_values(self) -> Float:
        """P-values of the rows; NaN if the model has no held-out losses."""
        if self.by_segment is not None:
            return np.asarray(self.by_segment["p_value"], dtype=float)
        if self.calibration is None:
            return np.full(len(self.scores), np.nan)
        return np.asarray(self.calibration.p_value(-self.scores), dtype=float)

    @property
    def rate(self) -> float | None:
        """False-alarm rate of the threshold: as requested or, if it is set on training losses, by held-out losses."""
        known = self.calibration
        if known is None:
            return None
        if self.decision.held_out:
            return self.decision.budget(known.total)
        below = int(np.searchsorted(known.losses, -self.offset, side="right"))
        return float((known.total - (known.reached[below - 1] if below else 0.0)) / (known.total + 1))


def _as_dict(alarms: calibration.Alarms) -> ExpectedAlarms:
    return {"expected": alarms.expected, "fewest": alarms.fewest, "most": alarms.most}


def alarms_of(scored: ScoredRows) -> AlarmSummary:
    """Number of flagged rows, requested false-alarm rate, and confidence intervals for the rate of this model."""
    decision, known, rate = scored.decision, scored.calibration, scored.rate
    n = len(scored.scores)
    found: AlarmSummary = {
        "delta": decision.delta,
        "confidence": decision.confidence,
        "held_out": decision.held_out,
        "rule": decision.rule,
        "flagged": int(scored.flagged.sum()),
        "flagged_share": float(scored.flagged.mean()),
    }
    if known is None or rate is None:
        return found
    smallest = known.smallest_budget
    count = int(np.count_nonzero(scored.p_values <= smallest * (1 + ROUNDING)))
    beyond: BeyondTraining = {**_as_dict(known.alarms(smallest, n, CONFIDENCE)), "rows": count}
    safe = known.budget(decision.delta, CONFIDENCE) if decision.delta > 0 else 0.0
    return {
        **found,
        "rate": rate,
        "interval": list(known.false_alarm_interval(rate, CONFIDENCE)),
        "in_1000": _as_dict(known.alarms(rate, _NORMAL_ROWS, CONFIDENCE)),
        "if_all_normal": _as_dict(known.alarms(rate, n, CONFIDENCE)),
        "beyond_training": beyond,
        "safe_delta": safe or None,
        "rows_needed": rows_needed(decision.delta, CONFIDENCE, exact=known.exact) if decision.delta > 0 else None,
    }


def segments_of(model: Detector, scored: ScoredRows) -> list[Segment]:
    """The segments of the new rows; first that whose training rows one threshold for all rows rejects most often."""
    if scored.by_segment is None:
        return []
    rates = {rate.segment: rate for rate in model.segment_rates(confidence=CONFIDENCE)}
    labels, found = scored.by_segment["segment"], list[Segment]()
    for label in dict.fromkeys(labels.tolist()):
        some, rate = labels == label, rates.get(label)
        found.append(
            {
                "segment": label or "no training row",
                "rows": int(some.sum()),
                "flagged": int(scored.flagged[some].sum()),
                "fitted_on": 0.0 if rate is None else rate.rows,
                "rate": None if rate is None else rate.rate,
                "interval": None if rate is None else [rate.low, rate.high],
                "unsegmented": None if rate is None else rate.unsegmented,
            }
        )
    return sorted(found, key=lambda segment: -(segment["unsegmented"] or 0.0))


def steps_of(scored: ScoredRows) -> list[Step]:
    """The positions of the slider, in ascending order of the rate; the rate of the model is one of them.

    There are none if each segment has its own threshold.
    """
    known, own = scored.calibration, scored.rate
    if known is None or own is None or scored.by_segment is not None:
        return []
    own = max(own, known.smallest_budget) if scored.decision.held_out else own
    rates = [round(float(percent) / 100, 6) for percent in _RATES]
    rates = [delta for delta in rates if delta > known.smallest_budget and abs(delta - own) > ROUNDING]
    losses = np.sort(-scored.scores)
    steps: list[Step] = []
    for delta in sorted({*rates, known.smallest_budget, own}):
        limit = -scored.offset if delta == own else known.threshold(delta)
        low, high = known.false_alarm_interval(delta, CONFIDENCE)
        steps.append(
            {
                "delta": delta,
                "flagged": int(len(losses) - np.searchsorted(losses, limit, side="right")),
                "low": low,
                "high": high,
                **_as_dict(known.alarms(delta, _NORMAL_ROWS, CONFIDENCE)),
                "score": -limit,
                "own": delta == own,
            }
        )
    return steps


def histogram_of(scored: ScoredRows) -> Histogram:
    """Histogram of the losses of the rows, on a logarithmic scale if a few large losses would hide the others."""
    losses, limit = -scored.scores, -scored.offset
    logarithmic = limit > 0 and needs_log_scale(losses, np.median(losses))
    shown = drawable(np.log10(losses) if logarithmic else losses)
    counts, edges = np.histogram(shown, bins=bin_edges(shown, _LOSS_BARS))
    return {"logarithmic": logarithmic, "counts": counts.tolist(), "edges": edges.tolist()}


def resemblance_of(scored: ScoredRows) -> Resemblance | None:
    """Kolmogorov-Smirnov test between the losses of the new rows and the weighted held-out losses.

    The distance is the largest difference between the two distribution functions; its p-value is the asymptotic one.
    """
    known = scored.calibration
    if known is None:
        return None
    new, old, n = np.sort(-scored.scores), known.losses, len(scored.scores)
    at = np.concatenate([new, old])
    reached = np.concatenate([[0.0], known.reached]) / known.total
    apart = reached[np.searchsorted(old, at, side="right")] - np.searchsorted(new, at, side="right") / n
    distance = float(np.abs(apart).max())
    return {
        "distance": distance,
        "p_value": float(kstwobign.sf(distance * np.sqrt(n * known.total / (n + known.total)))),
        "more_unusual": bool(apart[np.abs(apart).argmax()] > 0),
        "histogram": np.histogram(scored.p_values, bins=_P_VALUE_BARS, range=(0, 1))[0].tolist(),
    }
