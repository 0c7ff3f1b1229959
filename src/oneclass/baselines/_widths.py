"""The width of a Parzen density that maximizes the leave-one-out likelihood of the rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

__all__ = ["SAME", "TIED", "likeliest_width"]

#: Largest difference, relative to the range of the values, of two values that count as equal.
SAME = 1e-9

#: Standard deviation of the uniform distribution on an interval, relative to its length. The smallest gap between two
#: different values is taken for the precision of the data: a value may lie anywhere in an interval of that length.
TIED = float(1 / np.sqrt(12))

#: Step of the log width in the search for an interval with the maximum.
_LOG_STEP = 0.5


def likeliest_width(slope: Callable[[float], float], *, start: float, floor: float, reach: float) -> float:
    """The width between `floor` and `reach` at which the likelihood has its maximum.

    `slope` is the derivative of the log likelihood with respect to the log width. The lower bound is needed because the
    likelihood of repeated values grows without bound as the width goes to zero.
    """

    def at(log_width: float) -> float:
        return slope(float(np.exp(log_width)))

    least, most = np.log(floor), np.log(reach)
    low = high = np.clip(np.log(start), least, most)
    if at(low) <= 0:
        while at(low) <= 0:
            if low <= least:
                return floor
            low, high = max(low - _LOG_STEP, least), low
    else:
        while at(high) > 0 and high < most:
            low, high = high, min(high + _LOG_STEP, most)
        if at(high) > 0:
            return reach
    return float(np.exp(brentq(at, low, high, xtol=1e-5)))
