"""Segments: parts of the rows that each keep the false-alarm rate, because a row is ranked within its own part.

A p-value is then the rank of a loss among the held-out losses of the row's segment (Mondrian conformal prediction). A
segment with too few rows for the rate is ranked among all rows too:

- its threshold is the larger of the segment's and of that of all rows;
- the p-value of a row is the larger of its two ranks or, beyond all rows of its segment, the rank among all rows.

For a segment of m rows the rate is then at most the larger of the requested one and 1 / (m + 1), if the rank among all
rows does not make it smaller. A segment without training rows is ranked among all rows only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from .arrays import Array, device, namespace, to_numpy
from .calibration import Calibration, HeldOut
from .stored import Flags, Length, Whole, must
from .threshold import Decision, conformal, ranks_within
from .typing import Name

__all__ = ["RowSegments", "SegmentRate", "Segments", "rates_by_segment"]


class SegmentRate(NamedTuple):
    """The false-alarm rate in one segment, and how many of its training rows the threshold of all rows rejects."""

    #: Label of the segment, as text.
    segment: str
    #: Number of training rows in it, or of groups, or their total weight.
    rows: float
    #: What its rows are ranked among: "segment", or "segment and all rows" if it has too few rows for the rate.
    ranked_among: str
    #: Upper bound on the mean false-alarm rate over training sets.
    rate: float
    #: Confidence interval for the rate of this model; its lower limit is 0 for a segment with too few rows.
    low: float
    high: float
    #: Share of the segment's held-out training rows that the threshold of all rows rejects, with its interval.
    unsegmented: float
    unsegmented_low: float
    unsegmented_high: float


@dataclass(frozen=True)
class Segments:
    """The held-out losses of each segment, and the segment of each training row."""

    labels: Annotated[tuple[str, ...], Length("_k")]
    calibrations: Annotated[tuple[Calibration, ...], Length("_k")]
    enough: Annotated[NDArray[np.bool_], Flags("_k")]  # whether a segment has enough rows for the rate of the fit
    column: Name | None = None  # the column of the user's rows that holds the segments
    of_rows: Annotated[NDArray[np.intp], Whole("*")] | None = None  # of the rows with a held-out loss

    def __check__(self) -> None:
        must(len(set(self.labels)) == len(self.labels), "labels must differ")
        must(list(self.labels) == sorted(self.labels), "labels must ascend")
        known = self.of_rows is None or bool(np.all(self.of_rows < len(self.labels)))
        must(known, f"of_rows must be below {len(self.labels)}")

    @classmethod
    def of(cls, held_out: HeldOut, texts: NDArray[np.str_], decision: Decision, column: Name | None = None) -> Segments:
        """Return the segments of training rows from the text of each row's label."""
        found, of_rows = np.unique(texts, return_inverse=True)
        of_rows = of_rows.reshape(-1).astype(np.intp)
        calibrations = tuple(held_out.only(of_rows == k).calibration() for k in range(len(found)))
        enough = [_keeps(calibration, decision) for calibration in calibrations]
        return cls(tuple(str(text) for text in found), calibrations, np.array(enough), column, of_rows)

    def codes(self, texts: NDArray[np.str_]) -> NDArray[np.intp]:
        """Return the number of each row's segment; -1 for a segment without training rows."""
        known = np.array(self.labels)
        places = np.minimum(np.searchsorted(known, texts), len(known) - 1)
        return np.where(known[places] == texts, places, -1)

    def threshold(self, k: int, pooled: Calibration, rate_of: Callable[[float], float]) -> float:
        """Return the threshold on the losses of segment k; -1 is a segment without training rows.

        `rate_of` returns the rate to request from losses of a total weight.
        """
        if k < 0:
            return conformal(pooled, delta=rate_of(pooled.total))
        own = self.calibrations[k]
        limit = conformal(own, delta=rate_of(own.total))
        return limit if self.enough[k] else max(limit, conformal(pooled, delta=rate_of(pooled.total)))

    def held_out_p_values(self, held_out: HeldOut) -> Array:
        """Return the p-value of each training row among the other rows of its segment."""
        assert self.of_rows is not None
        xp, pooled = namespace(held_out.losses), held_out.p_values()
        parts, rows = [], []
        for k, enough in enumerate(self.enough):
            some = np.flatnonzero(self.of_rows == k)
            part = held_out.only(self.of_rows == k)
            own = part.p_values()
            if not enough:
                everywhere = xp.take(pooled, xp.asarray(some, device=device(pooled)))
                own = _larger(own, everywhere, beyond=part.is_beyond_others())
            parts.append(own)
            rows.append(some)
        return _in_order(parts, rows)


@dataclass(frozen=True)
class RowSegments:
    """The segments of some new rows, with the calibration of all training rows: what their losses are ranked among."""

    segments: Segments
    codes: NDArray[np.intp]
    pooled: Calibration

    def p_value(self, losses: Array, tail: str | None = None) -> Array:
        """Return the p-value of each loss within the segment of its row."""
        xp, parts, rows = namespace(losses), [], []
        for k, some in self._parts():
            part = xp.take(losses, xp.asarray(some, device=device(losses)))
            parts.append(self._p_value(k, part, tail))
            rows.append(some)
        return _in_order(parts, rows)

    def _p_value(self, k: int, losses: Array, tail: str | None) -> Array:
        if k >= 0 and self.segments.enough[k]:
            return self.segments.calibrations[k].p_value(losses, tail)
        everywhere = self.pooled.p_value(losses, tail)
        if k < 0:
            return everywhere
        own = self.segments.calibrations[k]
        return _larger(own.p_value(losses), everywhere, beyond=losses > own.limits[-1])

    def thresholds(self, rate_of: Callable[[float], float]) -> NDArray[np.float64]:
        """Return the threshold on the loss of each row; `rate_of` gives the rate for a calibration of some weight."""
        found = np.empty(len(self.codes))
        for k, some in self._parts():
            found[some] = self.segments.threshold(k, self.pooled, rate_of)
        return found

    @property
    def labels(self) -> NDArray[np.object_]:
        """The label of each row's segment, as text; empty for a segment without training rows."""
        return np.array([*self.segments.labels, ""], dtype=object)[self.codes]

    @property
    def calibrations(self) -> dict[str, Calibration]:
        """The calibrations of the segments of these rows, by label."""
        known = self.segments
        return {known.labels[k]: known.calibrations[k] for k in np.unique(self.codes) if k >= 0}

    def _parts(self) -> Iterator[tuple[int, NDArray[np.intp]]]:
        """The number of each segment, and the numbers of its rows."""
        order = np.argsort(self.codes, kind="stable")
        found, starts = np.unique(self.codes[order], return_index=True)
        yield from zip(found.tolist(), np.split(order, starts[1:]), strict=True)


def rates_by_segment(
    segments: Segments, limit: float, rate_of: Callable[[float], float], confidence: float
) -> list[SegmentRate]:
    """Return the rate of each segment; `limit` is the threshold of all rows on the loss."""
    found = []
    for k, (label, own) in enumerate(zip(segments.labels, segments.calibrations, strict=True)):
        rate, enough = rate_of(own.total), bool(segments.enough[k])
        low, high = own.false_alarm_interval(rate, confidence)
        kept = int(np.count_nonzero(to_numpy(own.losses) <= limit))
        beyond = own.total - (float(own.reached[kept - 1]) if kept else 0.0)
        found.append(
            SegmentRate(
                label,
                own.total,
                "segment" if enough else "segment and all rows",
                max(ranks_within(own.total, rate), 1 + own.removed) / (own.total + 1),
                low if enough else 0.0,
                high,
                beyond / own.total,
                *_binomial_interval(beyond, own.total, confidence),
            )
        )
    return found


def _keeps(calibration: Calibration, decision: Decision) -> bool:
    """Whether the losses can guarantee the rate of the decision."""
    return decision.budget(calibration.total) >= calibration.smallest_budget * (1 - 1e-9)


def _larger(own: Array, everywhere: Array, *, beyond: Array) -> Array:
    """The p-value in a segment with few rows, from the ranks among its rows and among all rows."""
    xp = namespace(own)
    return xp.where(beyond, everywhere, xp.maximum(own, everywhere))


def _in_order(parts: list[Array], rows: list[NDArray[np.intp]]) -> Array:
    """The values of parts of the rows, in the order of the rows."""
    xp = namespace(parts[0])
    back = np.argsort(np.concatenate(rows), kind="stable")
    return xp.take(xp.concat(parts), xp.asarray(back, device=device(parts[0])))


def _binomial_interval(count: float, n: float, confidence: float) -> tuple[float, float]:
    """Clopper and Pearson's interval for a share, of which `count` of `n` were seen."""
    doubt = (1 - confidence) / 2
    low = float(betaincinv(count, n - count + 1, doubt)) if count > 0 else 0.0
    return low, float(betaincinv(count + 1, n - count, 1 - doubt)) if count < n else 1.0
