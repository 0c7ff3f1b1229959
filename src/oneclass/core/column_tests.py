"""Tests whether a column of new rows has moved, against quantiles or counts of the training rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2_contingency, kstwobign, norm

from .column_summary import LEVELS

__all__ = ["category_difference", "homogeneity", "number_difference", "shares_below"]

Float = NDArray[np.float64]

#: Smallest expected count in a cell of a chi-square test, below which categories are pooled (Cochran's rule).
_EXPECTED_COUNT = 5


def shares_below(quantiles: Float, values: Float) -> Float:
    """Return the share of training values below each value, by their quantiles at `LEVELS`; ties count as half."""
    low, high = (np.interp(values, *_steps(quantiles, side)) for side in (0, -1))
    below, above = values < quantiles[0], values > quantiles[-1]
    return np.where(below, 0.0, np.where(above, 1.0, (low + high) / 2))


def _steps(quantiles: Float, side: int) -> tuple[Float, Float]:
    """Distinct quantiles, each with the lowest (side 0) or the highest (side -1) of its levels."""
    distinct, first, times = np.unique(quantiles, return_index=True, return_counts=True)
    return distinct, LEVELS[first if side == 0 else first + times - 1]


def number_difference(quantiles: Float, n: int, values: Float) -> tuple[float, float]:
    """Return how far the new values lie from the training quantiles, from 0 to 1, and the p-value of the difference.

    The p-value combines three tests: Wilcoxon's for the place of the values, Mood's for their spread, and Kolmogorov
    and Smirnov's for anything else; it is three times the smallest of theirs. The distance is the largest difference
    between the shares of values up to a training quantile.
    """
    m = len(values)
    if n == 0 or m == 0 or np.isnan(quantiles).any():
        return 0.0, 1.0
    ranked = np.sort(values)
    below, upto = (np.searchsorted(ranked, quantiles, side=side) / m for side in ("left", "right"))
    distance = float(np.maximum(below - LEVELS, LEVELS - upto).max(initial=0.0))
    size = n * m / (n + m)
    p = [float(kstwobign.sf(distance * math.sqrt(size)))]
    ranks = shares_below(quantiles, ranked) - 0.5
    known = _centred_ranks(quantiles)
    for score, expected in ((ranks, known), (ranks**2, known**2)):
        spread = float(expected.var())
        if spread > 0:
            z = (float(score.mean()) - float(expected.mean())) / math.sqrt(spread / size)
            p.append(float(2 * norm.sf(abs(z))))
    return distance, min(1.0, 3 * min(p))


def _centred_ranks(quantiles: Float) -> Float:
    """Ranks of the training values themselves minus 1/2, one for each of many equal shares of them."""
    fine = np.linspace(0, 1, 16 * (len(LEVELS) - 1) + 1)
    fine = (fine[1:] + fine[:-1]) / 2
    return shares_below(quantiles, np.interp(fine, LEVELS, quantiles)) - 0.5


def category_difference(old: Mapping[str, int], new: Mapping[str, int]) -> tuple[float, float, list[str]]:
    """Return half the sum of the differences of the shares, the p-value of a chi-square test, and unseen categories."""
    unseen = [value for value in new if value not in old]
    counts = np.array([[column.get(value, 0) for value in (*old, *unseen)] for column in (old, new)], dtype=float)
    totals = counts.sum(axis=1, keepdims=True)
    if not totals.all():
        return 0.0, 1.0, unseen
    distance = float(np.abs(np.diff(counts / totals, axis=0)).sum() / 2)
    rare = (counts.sum(axis=0) * totals / totals.sum()).min(axis=0) < _EXPECTED_COUNT
    return distance, homogeneity(np.column_stack([counts[:, ~rare], counts[:, rare].sum(axis=1)])), unseen


def homogeneity(counts: NDArray[np.integer] | NDArray[np.floating] | Sequence[Sequence[float]]) -> float:
    """Return the p-value of a chi-square test whether two rows of counts have the same shares."""
    found = np.asarray(counts, dtype=float)
    found = found[:, found.sum(axis=0) > 0]
    return float(chi2_contingency(found).pvalue) if found.shape[1] > 1 else 1.0
