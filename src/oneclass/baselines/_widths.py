"""The width of a Parzen density: where the likelihood of rows that are left out is largest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

__all__ = ["SAME", "TIED", "likeliest_width"]

#: Values closer than this share of their range are the same value.
SAME = 1e-9

#: A recorded value stands for an interval as wide as the smallest gap; the deviation inside is this share of it.
TIED = float(1 / np.sqrt(12))

#: Step of the log width in the search for a bracket.
_STEP = 0.5


def likeliest_width(slope: Callable[[float], float], *, start: float, floor: float, reach: float) -> float:
    """The width, from `floor` to `reach`, at which the likelihood stops rising; `slope` is its slope by the log width.

    Repeated values would drive the width to zero: `floor` stops it.
    """

    def at(log_width: float) -> float:
        return slope(float(np.exp(log_width)))

    least, most = np.log(floor), np.log(reach)
    low = high = np.clip(np.log(start), least, most)
    if at(low) <= 0:
        while at(low) <= 0:
            if low <= least:
                return floor
            low, high = max(low - _STEP, least), low
    else:
        while at(high) > 0 and high < most:
            low, high = high, min(high + _STEP, most)
        if at(high) > 0:
            return reach
    return float(np.exp(brentq(at, low, high, xtol=1e-5)))
