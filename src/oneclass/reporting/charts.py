"""Coordinates of the small charts of the page, which `templates/charts.html.j2` draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from ..core.bins import drawable
from ..core.column_summary import LEVELS
from .formatting import cell
from .schema import Cell, ColumnValues

__all__ = ["DistributionChart", "Mark", "distribution_chart", "range_chart"]

Float = NDArray[np.float64]

#: Width of the axis and height of the highest point of a distribution, in units of the drawing.
_AXIS, _PEAK = 308.0, 54.0
#: Bins of a distribution, and points at which the training quantiles are interpolated to fill them.
_DISTRIBUTION_BINS, _QUANTILE_POINTS = 48, 1000
#: Flagged values are drawn up to this multiple of the training range beyond its ends; others become an arrow.
_BEYOND = 1.5
#: Width of a range chart, and the margin on each side, which holds the lines of medians at the ends.
_RANGES, _RANGE_MARGIN = 112.0, 4.0


class DistributionChart(TypedDict):
    """Outline of the training distribution, its central 90 %, and positions of values of listed rows."""

    width: float
    outline: str
    central_90: tuple[float, float]
    #: The place of each value; None if it is missing. Values beyond an end are placed there.
    places: list[float | None]
    ends: tuple[str, str]


class Mark(TypedDict):
    """A range with its median."""

    start: float
    width: float
    median: float


def distribution_chart(quantiles: Sequence[float], values: Sequence[Cell], kind: str) -> DistributionChart:
    """The distribution of a training column with these quantiles, and the values of listed rows."""
    numbers = [float(value) if isinstance(value, int | float) else np.nan for value in values]
    known = np.isfinite(numbers)
    q, listed = drawable(quantiles), drawable(np.where(known, numbers, 0.0))
    low, high = _ends(q, listed[known])
    edges = np.linspace(low, high, _DISTRIBUTION_BINS + 1)
    # A value that many rows share is the quantile at many levels, and so is counted many times.
    heights = np.histogram(np.interp(np.linspace(0, 1, _QUANTILE_POINTS), LEVELS, q), bins=edges)[0]
    heights = np.convolve(np.pad(heights, 1), [0.25, 0.5, 0.25], mode="valid")

    def x(value: Float) -> Float:
        return _AXIS * (np.clip(value, low, high) - low) / (high - low)

    middles, tops = x((edges[1:] + edges[:-1]) / 2), -2 - _PEAK * heights / heights.max()
    outline = "".join(f"L{a:.1f} {b:.1f}" for a, b in zip(middles, tops, strict=True))
    start, end = x(np.interp([0.05, 0.95], LEVELS, q)).round(1).tolist()
    return {
        "width": _AXIS,
        "outline": f"M{middles[0]:.1f} 0{outline}L{middles[-1]:.1f} 0Z",
        "central_90": (start, max(end - start, 1.0)),
        "places": [place if there else None for place, there in zip(x(listed).round(1).tolist(), known, strict=True)],
        "ends": (cell(float(low), kind, 3), cell(float(high), kind, 3)),
    }


def _ends(q: Float, flagged: Float) -> tuple[float, float]:
    """Ends of an axis that shows the training values, and flagged values unless these are too far away."""
    wide = (q[-1] - q[0]) or max(abs(q[0]), 1.0)
    low = max(min(q[0], flagged.min(initial=np.inf)), q[0] - _BEYOND * wide)
    high = min(max(q[-1], flagged.max(initial=-np.inf)), q[-1] + _BEYOND * wide)
    return (low, high) if high > low else (low - 0.5 * wide, high + 0.5 * wide)


def range_chart(training: ColumnValues, new: ColumnValues) -> list[Mark]:
    """Central 90 % and median of the training values and of the new values, on one axis."""
    ends = drawable([*training["central_90"], *new["central_90"]])
    low, wide = float(ends.min()), float(np.ptp(ends)) or 1.0
    marks: list[Mark] = []
    for values in (training, new):
        places = (drawable([*values["central_90"], values["median"]]) - low) / wide * _RANGES + _RANGE_MARGIN
        start, end, median = places.round(1).tolist()
        median = min(max(median, _RANGE_MARGIN), _RANGE_MARGIN + _RANGES)
        marks.append({"start": start, "width": max(end - start, 1.5), "median": median})
    return marks
