"""Tests of a whole batch of rows: whether it is like the training rows, and how many of its rows are odd.

All of this uses the p-values of the rows. Conformal p-values of normal rows depend on one another, because they share
their held-out losses. The dependence is positive (PRDS; Bates, Candes, Lei, Romano and Sesia 2023), so that Simes' test
keeps its level, and so does closed testing with it. This is a theorem for losses of rows that the model did not learn
from; for leave-one-out losses it is measured (docs/batches_measured.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from .arrays import Array, namespace, to_numpy
from .calibration import Calibration

__all__ = ["false_alarm_bounds", "fewest_odd", "mid_ranks", "shift_p_value", "simes"]

Float = NDArray[np.float64]


def simes(p: Float) -> float:
    """Return Simes' p-value for the hypothesis that all rows are normal: the smallest of ``m p_(i) / i``."""
    m = len(p)
    return float(min(1.0, np.min(np.sort(p) * m / np.arange(1, m + 1)))) if m else 1.0


def false_alarm_bounds(p: Float, *, level: float) -> NDArray[np.int64]:
    r"""Return upper bounds on the number of normal rows among the k rows with the smallest p-values, for every k.

    All bounds hold at once with probability 1 - `level`, so k may be chosen after seeing them. The method is closed
    testing with Simes' test (Goeman and Solari 2011; Goeman, Meijer, Krebs and Solari 2019): with h the largest number
    of rows whose hypothesis of being all normal is not rejected,

    .. math:: \max_{u \le k} \, 1 - u + \#\{i \le k: h p_{(i)} \le u \, \text{level}\}

    of the k rows are odd.
    """
    ranked, m = np.sort(p), len(p)
    h = _most_normal(ranked, level)
    needed = np.maximum(1, np.ceil(h * ranked / level * (1 - 1e-12)))  # the smallest u of each row
    odd = np.maximum.accumulate(np.arange(1, m + 1) + 1 - needed) if m else np.empty(0)
    return (np.arange(1, m + 1) - np.maximum(odd, 0)).astype(np.int64)


def fewest_odd(p: Float, *, level: float) -> int:
    """Return a lower bound on the number of odd rows, which holds with probability 1 - `level`."""
    return len(p) - _most_normal(np.sort(p), level)


def _most_normal(ranked: Float, level: float) -> int:
    """The largest number of rows that may all be normal: Simes' test does not reject the rows of the largest p-values.

    If it does not reject i + 1 such rows, it does not reject i of them: bisection.
    """
    m = len(ranked)

    def may_be_normal(i: int) -> bool:
        return bool(np.all(i * ranked[m - i :] > level * (1 + 1e-12) * np.arange(1, i + 1)))

    low, high = 0, m + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if may_be_normal(middle) else (low, middle)
    return low


def mid_ranks(calibration: Calibration, losses: Array) -> Float:
    """Return the share of held-out losses below each loss; ties count as half."""
    xp = namespace(losses)
    reached = to_numpy(xp.concat([xp.zeros_like(calibration.reached[:1]), calibration.reached]))
    lower = 2 * calibration.losses - calibration.limits
    below, upto = (
        to_numpy(xp.searchsorted(edges, losses, side=side))
        for edges, side in ((calibration.limits, "left"), (lower, "right"))
    )
    return np.asarray((reached[below] + reached[upto]) / 2 / calibration.total)


def shift_p_value(parts: Iterable[tuple[Float, float]]) -> tuple[float, float]:
    """Return the mean of ranks minus 1/2, and the p-value of a mean above it: Wilcoxon's test.

    The test is one-sided, because held-out losses of some classifiers are larger than losses of new rows. Each part
    holds the ranks of some rows, from 0 to 1, among training rows of a total weight.
    """
    ranks: Sequence[tuple[Float, float]] = [part for part in parts if len(part[0])]
    m = sum(len(part) for part, _ in ranks)
    if not m:
        return 0.0, 1.0
    shift = float(sum(part.sum() for part, _ in ranks)) / m - 0.5
    # Ties make the variance of ranks smaller than 1/12, so that the test is conservative.
    variance = (1 / m + sum((len(part) / m) ** 2 / n for part, n in ranks)) / 12
    return shift, float(norm.sf(shift / math.sqrt(variance)))
