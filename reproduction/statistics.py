"""Compare classifiers over many datasets: mean ranks, Friedman, Nemenyi, Wilcoxon with Holm's correction."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

__all__ = ["Comparison", "critical_difference", "friedman", "holm", "ranks", "wilcoxon_pairs"]

Float = NDArray[np.float64]

#: Smaller differences are ties: they come from rounding.
TIE = 1e-9


def ranks(table: Float) -> Float:
    """Rank of every method on every dataset; 1 is the best, and ties have their mean rank.

    Parameters
    ----------
    table : array of shape (datasets, methods)
        Scores, larger is better.

    Returns
    -------
    array of the same shape

    Examples
    --------
    >>> import numpy as np
    >>> ranks(np.array([[0.9, 0.8, 0.9]]))
    array([[1.5, 3. , 1.5]])
    """
    return np.asarray(stats.rankdata(-np.round(table, 9), axis=1))


def friedman(table: Float) -> tuple[float, float]:
    """Friedman's test of the hypothesis that the methods do not differ: chi-square statistic and p-value.

    Parameters
    ----------
    table : array of shape (datasets, methods)
        Scores.

    Returns
    -------
    tuple of float

    Examples
    --------
    >>> import numpy as np
    >>> statistic, p = friedman(np.array([[1.0, 2.0, 3.0]] * 8))
    >>> statistic, p < 0.001
    (16.0, True)
    """
    result = stats.friedmanchisquare(*np.round(table, 9).T)
    return float(result.statistic), float(result.pvalue)


def critical_difference(n_methods: int, n_datasets: int, *, alpha: float = 0.05) -> float:
    """Nemenyi's critical difference: mean ranks closer than this do not differ significantly (Demsar, 2006).

    Parameters
    ----------
    n_methods, n_datasets : int
        Size of the comparison.
    alpha : float
        Level of significance.

    Returns
    -------
    float

    Examples
    --------
    >>> round(critical_difference(10, 20), 2)
    3.03
    """
    q = stats.studentized_range.ppf(1 - alpha, n_methods, np.inf) / math.sqrt(2)
    return float(q * math.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))


def holm(p_values: Float) -> Float:
    """Holm's step-down adjustment of p-values.

    Parameters
    ----------
    p_values : array of shape (m,)
        Raw p-values.

    Returns
    -------
    array of shape (m,)

    Examples
    --------
    >>> import numpy as np
    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    m = len(p_values)
    order = np.argsort(p_values)
    stepped = np.maximum.accumulate((m - np.arange(m)) * p_values[order])
    out = np.empty(m)
    out[order] = np.minimum(stepped, 1.0)
    return out


@dataclass(frozen=True)
class Comparison:
    """Two methods over all datasets.

    Examples
    --------
    >>> Comparison("A", "B", 0.1, 5, 1, 0, 0.03, 0.06).wins
    5
    """

    first: str
    second: str
    difference: float  # mean of first minus second
    wins: int
    ties: int
    losses: int
    p: float
    p_holm: float


def wilcoxon_pairs(table: Float, methods: list[str]) -> list[Comparison]:
    """Wilcoxon's signed-rank test of every pair of methods, adjusted by Holm over all pairs.

    Parameters
    ----------
    table : array of shape (datasets, methods)
        Scores.
    methods : list of str
        Names of the columns.

    Returns
    -------
    list of Comparison

    Examples
    --------
    >>> import numpy as np
    >>> table = np.arange(24.0).reshape(8, 3) ** 1.5
    >>> [(pair.first, pair.second, pair.wins, round(pair.p_holm, 3)) for pair in wilcoxon_pairs(table, ["a", "b", "c"])]
    [('a', 'b', 0, 0.023), ('a', 'c', 0, 0.023), ('b', 'c', 0, 0.023)]
    """
    pairs = list(combinations(range(len(methods)), 2))
    gaps = [table[:, i] - table[:, j] for i, j in pairs]
    raw = np.array([_signed_rank(gap) for gap in gaps])
    return [
        Comparison(
            methods[i],
            methods[j],
            float(gap.mean()),
            int((gap > TIE).sum()),
            int((np.abs(gap) <= TIE).sum()),
            int((gap < -TIE).sum()),
            float(p),
            float(adjusted),
        )
        for (i, j), gap, p, adjusted in zip(pairs, gaps, raw, holm(raw), strict=True)
    ]


def _signed_rank(gap: Float) -> float:
    moved = np.round(gap[np.abs(gap) > TIE], 9)
    return float(stats.wilcoxon(moved, method="auto").pvalue) if len(moved) else 1.0
