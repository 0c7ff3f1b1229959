"""Numbers of any size for pictures and histograms: differences must not overflow, and edges of bins must differ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["LARGEST_DRAWN", "bin_edges", "drawable"]

Float = NDArray[np.float64]

#: The largest number that is drawn: ranges, and margins around them, are numbers too.
LARGEST_DRAWN = 1e300


def drawable(values: Float | Sequence[float]) -> Float:
    """Return the values, clipped to a magnitude of 1e300, so that their differences are finite.

    >>> drawable([1.5, -1.7e308]).tolist()
    [1.5, -1e+300]
    """
    return np.asarray(np.clip(np.asarray(values, dtype=float), -LARGEST_DRAWN, LARGEST_DRAWN))


def bin_edges(values: Float, bins: int) -> Float:
    """Return the edges of bins of equal width over drawable values; neighboring edges differ.

    >>> bin_edges(np.array([0.0, 1.0]), 4).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    >>> bool((np.diff(bin_edges(np.full(3, 1e16), 40)) > 0).all())
    True
    """
    low, high = float(values.min()), float(values.max())
    least = bins * float(np.spacing(max(abs(low), abs(high))))
    if high - low < least:
        wider = least if high > low else max(0.5, least)
        low, high = low - wider, high + wider
    return np.linspace(low, high, bins + 1)
