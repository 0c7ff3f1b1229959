"""Rows and values that repeat: copies that independent rows would not have, and columns that name a group of rows.

Neither depends on the order of the rows.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["copied_rows", "likeness"]

Float = NDArray[np.float64]

#: Largest number of copies of one row that the test of copies examines.
_MOST_COPIES = 8
#: Standard deviations by which counts may differ from their means before copies are reported. With 2.5, none of 4,500
#: tables of independent rows from discrete laws was reported; with 2, 4 were.
_COPY_DEVIATIONS = 2.5

#: Fewest different values of a column that may name groups, and fewest rows for each value, on average.
FEWEST_VALUES, FEWEST_ROWS = 5, 2.0
#: Standard deviations, under shuffling, by which the variance between values must exceed that within.
_SIGNIFICANT = 6.0
#: Correlation between the means of neighboring values above which a column of numbers is a feature, not an id.
_SMOOTH = 0.3


def copied_rows(times: NDArray[np.integer]) -> float:
    """Return the share of rows with exact copies, if independent rows would not have them; otherwise 0.

    `times` are the numbers of copies of the different rows. Let f_k be the number of different rows that occur k times.
    For independent rows of any distribution, ``k! f_k`` is nearly log-convex in k (f_k is a mixture of Poisson
    probabilities), so that ``f_k² <= (k + 1) / k f_(k-1) f_(k+1)`` up to chance. Rows that were all entered twice have
    a large f_2 and no f_1.
    """
    found = np.bincount(times, minlength=_MOST_COPIES + 2).astype(float)
    k = np.arange(2, _MOST_COPIES + 1)
    fewest = found[k] - _COPY_DEVIATIONS * np.sqrt(found[k])
    before, after = (_at_most(found[k + step]) for step in (-1, 1))
    if not (fewest > np.sqrt((k + 1) / k * before * after)).any():
        return 0.0
    return float(times[times > 1].sum() / times.sum())


def _at_most(counts: Float) -> Float:
    return counts + _COPY_DEVIATIONS * np.sqrt(np.maximum(counts, 1))


def likeness(codes: NDArray[np.integer], Z: Float, *, ordered: bool) -> float:
    """Return the intraclass correlation of centred columns `Z` within the values of a column, or 0 if it is chance.

    `codes` are the numbers of the values, in ascending order of the values if they are `ordered`. The part of `Z` that
    depends on the order is then removed: a numeric feature is correlated with others, an id is not.
    """
    n, sizes = len(codes), np.bincount(codes)
    m = len(sizes)
    if m < FEWEST_VALUES or n < FEWEST_ROWS * m or not Z.size:
        return 0.0
    means = _means(codes, sizes, Z)
    if ordered:
        if _smoothness(means, sizes) > _SMOOTH:
            return 0.0
        place = codes - codes.mean()
        Z = Z - np.outer(place, place @ Z / (place @ place))
        means = _means(codes, sizes, Z)
    between = float(sizes @ np.vecdot(means, means)) / (m - 1)
    within = (float(np.vdot(Z, Z)) - (m - 1) * between) / (n - m)
    if between <= within * (1 + _SIGNIFICANT * math.sqrt(2 / (m - 1))):
        return 0.0
    mean_size = (n - float(sizes @ sizes) / n) / (m - 1)
    return (between - within) / (between + (mean_size - 1) * within)


def _means(codes: NDArray[np.integer], sizes: NDArray[np.integer], Z: Float) -> Float:
    sums = np.stack([np.bincount(codes, weights=z) for z in Z.T], axis=1)
    return sums / sizes[:, None]


def _smoothness(means: Float, sizes: NDArray[np.integer]) -> float:
    """Return the correlation between the means of neighboring values, over all columns."""
    apart = means - sizes @ means / sizes.sum()
    total = float(np.vdot(apart, apart))
    return float(np.vdot(apart[:-1], apart[1:])) / total if total > 0 else 0.0
