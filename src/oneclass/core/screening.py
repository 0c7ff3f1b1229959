r"""Detection of anomalies among the training rows: the remoteness of each row from the other rows, and a test on it.

If the training rows contain anomalies, an auto-associative machine with a small C ranks them best. In the limit of a
small C the variance that it explains of a row, :math:`1 - v(z)`, is proportional to the sum
:math:`\sum_j k(z, x_j)^2` over the training rows. To leave out a row, its group, or all suspected rows, it suffices to
leave out terms of the sum. A cluster of similar anomalies has a large sum only if it contains many rows.

The remoteness of a row is minus the log of such a mean of kernel values. With the Laplacian kernel and robustly scaled
features it grows like a distance, and heavy-tailed features give it an exponential tail.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .arrays import Array, blocks, city_block, device, namespace, ones, to_numpy
from .bandwidth import bandwidth
from .calibration import benjamini_hochberg
from .kernels import Laplacian
from .scaling import ColumnMoments, Scaler

__all__ = ["ScreenedRows", "p_values_by_tail", "remoteness", "settle"]

Mask = NDArray[np.bool_]
Numbers = NDArray[np.float64]

#: Kernel bandwidth as a share of the mean distance between rows. A wider one misses outliers close to the normal rows;
#: a narrower one marks too many normal rows as outliers (measured in docs/dirty_measured.md). The first rounds use
#: the wider one, so that a cluster of outliers does not appear dense.
_BANDWIDTH, _FIRST_BANDWIDTH = 1 / 3, 1 / 2
#: Largest number of rows that each row is compared with: this many estimate the mean kernel value to a few per cent.
_MOST_COMPARED = 4096
#: The same for more rows than the second number; a thousand estimate the mean to a tenth.
_FEWER_COMPARED, _MANY_ROWS = 1024, 20_000
#: Lower bound of a mean kernel value, to keep its logarithm finite.
_LEAST_MASS = 1e-300
#: A fitted scale below this share of the largest distance counts as rounding.
_ROUNDING = 1e-9
#: Quantile levels of the kept rows' distances. The tail is fitted from `_MIDDLE` to `_EDGE` and from `_NEAR` to
#: `_EDGE`. Distances above `_EDGE` may be those of outliers and are not used.
_MIDDLE, _NEAR, _EDGE = 0.5, 0.8, 0.9
#: Lower bound of the scale of the tail, in units of the spread of the distances. It matters in one dimension, where
#: the central distances decrease faster than the tail does.
_LEAST_SCALE = 0.65
#: Number of rows whose pairwise distances give the spread; the share of the smallest distances that counts as distances
#: inside one cluster; and the ratio of the spread of all distances to the spread of these, for one normal column.
_SPREAD_ROWS, _WITHIN_CLUSTER, _SPREAD_RATIO = 512, 0.25, 8.5
#: Share of the rows, the most remote ones, left out of the first reference set: larger than the share of a cluster of
#: outliers, smaller than that of a cluster of normal rows.
_FIRST_LEFT_OUT = 0.15
#: False-discovery rate of the suspected rows: up to half of them may be normal.
_SUSPICION = 0.5
#: Largest number of rounds of `settle`.
_MOST_ROUNDS = 20


def remoteness(
    X: Array, kept: Mask, reach: float = _BANDWIDTH, *, groups: NDArray[np.intp] | None = None, scaled: bool = True
) -> Numbers:
    """Return ``-log mean_j k(x_i, x_j)`` for each row i, with j over the rows `kept` outside the group of row i.

    Every group has the same total weight. With `scaled`, features are robustly scaled by the rows kept. The bandwidth
    is `reach` times the mean distance between the rows kept. The result is in units of the spread of these distances
    (their variance divided by their mean).
    """
    xp, n = namespace(X), X.shape[0]
    number = np.arange(n) if groups is None else groups
    chosen = np.flatnonzero(kept)
    most = _MOST_COMPARED if n <= _MANY_ROWS else _FEWER_COMPARED
    if len(chosen) > most:
        chosen = np.random.default_rng(0).permutation(chosen)[:most]
    sizes = np.bincount(number[chosen])[number[chosen]]
    place, w, own, others = (xp.asarray(v, device=device(X)) for v in (chosen, 1 / sizes, number, number[chosen]))
    X = xp.astype(X, xp.float64, copy=False)
    rows = xp.take(X, place, axis=0)
    if scaled:
        scaler = Scaler.of("robust", ColumnMoments.of(rows, ones(rows)), rows, ones(rows))
        X, rows = scaler(X), scaler(rows)
    kernel = Laplacian(reach * bandwidth("mean", Laplacian(), rows, ones(rows)))
    masses = []
    for a, b in blocks(n, 2 * len(chosen), X):
        apart = xp.astype(own[a:b, None] != others[None, :], xp.float64)
        masses.append((apart * kernel(X[a:b, :], rows)) @ w / xp.clip(apart @ w, min=_LEAST_MASS))
    unit = float(kernel.sigma) / _spread(rows)
    return np.asarray(-unit * np.log(np.maximum(to_numpy(xp.concat(masses)), _LEAST_MASS)))


def _spread(rows: Array) -> float:
    """Return the variance divided by the mean of the city-block distances: their tail's scale if they are gamma.

    If the rows form clusters that are far apart, the smaller spread of the distances inside a cluster is returned.
    """
    some = rows[:: max(1, rows.shape[0] // _SPREAD_ROWS), :]
    distances = np.sort(to_numpy(city_block(some, some))[np.triu_indices(some.shape[0], 1)])
    near = distances[: max(1, int(_WITHIN_CLUSTER * len(distances)))]
    spread = _dispersion(distances)
    return (spread if rows.shape[1] == 1 else min(spread, _SPREAD_RATIO * _dispersion(near))) or 1.0


def _dispersion(x: Numbers) -> float:
    return float(x.var() / x.mean()) if len(x) and x.mean() else 0.0


def p_values_by_tail(
    bulk: Numbers, distances: Numbers, *, edge: float = _EDGE, beyond: float = 0.0, independent: float = 1.0
) -> Numbers:
    """Return p-values of distances with respect to the distances of the kept rows, `bulk`.

    Up to the quantile of level `edge` of the bulk, p-values come from ranks. Above it they are proportional to
    ``(1 + x / (r s))^-r``, with x the distance above this quantile. This is the predictive tail of an exponential
    distribution whose scale s is estimated from r distances below the edge. The larger of two estimates of s is used:
    from the median to the edge, and near the edge only. Distances above the edge enter by their number alone.

    `beyond` is the weight of further rows assumed above the edge. `independent` is the share of rows that count as
    independent; it multiplies r.
    """
    ranked = np.sort(bulk)
    n, total = len(ranked), len(ranked) + beyond
    high = int(edge * (n - 1))
    ranks = (1 + total - np.searchsorted(ranked, distances, side="left")) / (1 + total)
    starts = (int(share * edge / _EDGE * (n - 1)) for share in (_MIDDLE, _NEAR))
    (scale, known), (slower, _) = (_fitted_tail(ranked, low, high, total) for low in starts)
    scale = max(scale, slower)
    outside = (total - high) / (1 + total)
    if scale <= _ROUNDING * np.abs(ranked).max():  # the scale is rounding: no tail can be fitted
        return np.asarray(np.maximum(ranks, outside))
    r = independent * known
    further = np.maximum(distances - ranked[high], 0) / max(scale, _LEAST_SCALE)
    return np.where(further > 0, outside * np.exp(-r * np.log1p(further / r)), ranks)


def _fitted_tail(ranked: Numbers, low: int, high: int, total: float) -> tuple[float, int]:
    """Return the scale of an exponential tail that starts at rank `low` and is censored at rank `high`.

    The second value is the number of distances that the scale is estimated from.
    """
    gaps = ranked[low + 1 : high + 1] - ranked[low]
    return (float((gaps.sum() + (total - high - 1) * gaps[-1]) / len(gaps)), len(gaps)) if len(gaps) else (0.0, 0)


@dataclass(frozen=True)
class ScreenedRows:
    """Outliers among the training rows, their p-values and distances, and the number of rounds until convergence."""

    odd: Mask
    p_values: Numbers
    distances: Numbers
    rounds: int
    settled: bool  # whether the last two rounds kept the same rows


def settle(judge: Callable[[Mask, float], Numbers], n_rows: int, *, q: float, independent: float = 1.0) -> ScreenedRows:
    """Mark rows as outliers at the false-discovery rate `q`: on average at most a share `q` of them is normal.

    `judge(kept, bandwidth)` returns the distances of all rows from the rows kept. Each round leaves the suspected rows
    of the round before out of the reference set. The rounds end when a reference set occurs again. The first reference
    set excludes the most remote rows, since a cluster of outliers would otherwise make its own rows look normal.
    """
    everyone = np.ones(n_rows, dtype=bool)
    distances = judge(everyone, _FIRST_BANDWIDTH)
    rank = int((1 - _FIRST_LEFT_OUT) * (n_rows - 1))
    distances = judge(distances <= np.sort(distances)[rank], _FIRST_BANDWIDTH)
    p = p_values_by_tail(distances, distances, edge=1 - _FIRST_LEFT_OUT, independent=independent)
    kept = [_trusted(p)]
    for _ in range(_MOST_ROUNDS):
        suspects = n_rows - int(kept[-1].sum())
        distances = judge(kept[-1], _BANDWIDTH)
        bulk = distances[kept[-1]]
        p = p_values_by_tail(bulk, distances, beyond=_SUSPICION * suspects, independent=independent)
        kept.append(_trusted(p))
        if any(np.array_equal(kept[-1], before) for before in kept[:-1]):
            break
    odd = p <= benjamini_hochberg(p, q=q)
    return ScreenedRows(odd, p, distances, len(kept) - 1, bool(np.array_equal(kept[-1], kept[-2])))


def _trusted(p: Numbers) -> Mask:
    """Return which rows are not suspected: at least half of all rows."""
    return np.asarray((p > benjamini_hochberg(p, q=_SUSPICION)) | (p >= np.median(p)))
