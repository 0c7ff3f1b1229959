r"""Rows of a table that may be dirty: how remote each is from rows it has nothing to do with, and which are odd.

With anomalies among the rows an auto-associative machine of small C ranks them best. In the limit, all that it knows of
a row, :math:`1 - v(z)`, is C times :math:`\sum_j k(z, x_j)^2`: the mass of the other rows within reach. So to leave out
a row, its group, or all rows under suspicion is to leave out terms, and a clump needs a fair share of all rows before
it vouches for itself. With the Laplacian kernel of tamed features the remoteness, minus the log of that mass, grows
like a distance on which power laws thin out exponentially.
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

__all__ = ["Verdict", "p_values_by_tail", "remoteness", "settle"]

Mask = NDArray[np.bool_]
Numbers = NDArray[np.float64]

#: Reach of a row, as a share of the mean distance between rows: a wider one misses outliers beside the normal rows, a
#: narrower one calls too many normal rows odd (docs/dirty.md). Wide at first, lest the rows of a clump be a crowd.
_REACH, _REACH_AT_FIRST = 1 / 3, 1 / 2
#: Rows that all are compared with, at most: so many tell a mass to a few hundredths.
_COMPARED = 4096
#: Smallest mass, of rows beyond all measure.
_NOTHING = 1e-300
#: Share of the distances below which a scale is rounding.
_ROUNDING = 1e-9
#: Shares of the bulk between which its tail is fitted: from the middle on, and near the edge. What lies further out may
#: be anything.
_MIDDLE, _NEAR, _EDGE = 0.5, 0.8, 0.9
#: Scale of the tail at the least, in spreads of the distances: in one dimension a bulk falls faster than its tail.
_SLOWEST = 0.65
#: Rows whose distances tell the spread; the share of these distances that rows of one kind have, and the factor from
#: their spread to that of all if there is one normal column.
_SPREAD_ROWS, _ONE_KIND, _FROM_ONE_KIND = 512, 0.25, 8.5
#: Share of the rows, the remotest ones, that the first judge does not see: more than a clump of outliers has, less than
#: a kind of normal rows.
_UNSEEN_AT_FIRST = 0.15
#: False-discovery rate of suspicion: suspects are no worse than a coin.
_SUSPICION = 0.5
_ROUNDS = 20


def remoteness(
    X: Array, kept: Mask, reach: float = _REACH, *, groups: NDArray[np.intp] | None = None, scaled: bool = True
) -> Numbers:
    """``-log mean_j k(x_i, x_j)`` of each row over the rows `kept`, itself and its group left out.

    Features are tamed by the rows kept unless they are not to be `scaled`; groups weigh the same. As a distance, and in
    spreads of the distances between the rows kept, their variance over their mean.
    """
    xp, n = namespace(X), X.shape[0]
    number = np.arange(n) if groups is None else groups
    chosen = np.flatnonzero(kept)
    if len(chosen) > _COMPARED:
        chosen = np.random.default_rng(0).permutation(chosen)[:_COMPARED]
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
        masses.append((apart * kernel(X[a:b, :], rows)) @ w / xp.clip(apart @ w, min=_NOTHING))
    unit = float(kernel.sigma) / _spread(rows)
    return np.asarray(-unit * np.log(np.maximum(to_numpy(xp.concat(masses)), _NOTHING)))


def _spread(rows: Array) -> float:
    """Variance over mean of the city-block distances: the scale of their tail if they are gamma distributed.

    Where kinds of rows are far apart, that of the rows of a kind is less, and is taken.
    """
    some = rows[:: max(1, rows.shape[0] // _SPREAD_ROWS), :]
    distances = np.sort(to_numpy(city_block(some, some))[np.triu_indices(some.shape[0], 1)])
    near = distances[: max(1, int(_ONE_KIND * len(distances)))]
    spread = _dispersion(distances)
    return (spread if rows.shape[1] == 1 else min(spread, _FROM_ONE_KIND * _dispersion(near))) or 1.0


def _dispersion(x: Numbers) -> float:
    return float(x.var() / x.mean()) if len(x) and x.mean() else 0.0


def p_values_by_tail(
    bulk: Numbers, distances: Numbers, *, edge: float = _EDGE, beyond: float = 0.0, independent: float = 1.0
) -> Numbers:
    """P-values of distances against those of the `bulk`, whose far end, past the share `edge`, may itself be odd.

    Up to the edge they are ranks. Further out they fall like ``(1 + x / (r s))^-r``, x the distance from the edge: what
    an exponential tail predicts that is known from r rows, those between the middle of the bulk and the edge or, where
    the tail gets slower, those near the edge, and from how many are further out. Rows of weight `beyond` more are out
    there, and a share of the rows is `independent`.
    """
    ranked = np.sort(bulk)
    n, total = len(ranked), len(ranked) + beyond
    high = int(edge * (n - 1))
    ranks = (1 + total - np.searchsorted(ranked, distances, side="left")) / (1 + total)
    starts = (int(share * edge / _EDGE * (n - 1)) for share in (_MIDDLE, _NEAR))
    (scale, known), (slower, _) = (_fitted_tail(ranked, low, high, total) for low in starts)
    scale = max(scale, slower)
    outside = (total - high) / (1 + total)
    if scale <= _ROUNDING * np.abs(ranked).max():  # the rows say nothing of a tail
        return np.asarray(np.maximum(ranks, outside))
    r = independent * known
    further = np.maximum(distances - ranked[high], 0) / max(scale, _SLOWEST)
    return np.where(further > 0, outside * np.exp(-r * np.log1p(further / r)), ranks)


def _fitted_tail(ranked: Numbers, low: int, high: int, total: float) -> tuple[float, int]:
    """Scale of an exponential tail from a place on, known up to another, and from how many rows it is known."""
    gaps = ranked[low + 1 : high + 1] - ranked[low]
    return (float((gaps.sum() + (total - high - 1) * gaps[-1]) / len(gaps)), len(gaps)) if len(gaps) else (0.0, 0)


@dataclass(frozen=True)
class Verdict:
    """Which rows are odd, the p-values and distances that say so, and how many rounds it took to settle."""

    odd: Mask
    p_values: Numbers
    distances: Numbers
    rounds: int
    settled: bool  # whether the last round kept the rows that the one before had kept


def settle(judge: Callable[[Mask, float], Numbers], n_rows: int, *, q: float, independent: float = 1.0) -> Verdict:
    """Name rows so that on average at most a share `q` of those named are normal.

    `judge` tells the distances of all rows from those kept, given how far these reach. Rows under suspicion are kept
    from judging until suspicion settles on the same rows again. It begins without the remotest rows, lest a clump hide
    in itself.
    """
    everyone = np.ones(n_rows, dtype=bool)
    distances = judge(everyone, _REACH_AT_FIRST)
    rank = int((1 - _UNSEEN_AT_FIRST) * (n_rows - 1))
    distances = judge(distances <= np.sort(distances)[rank], _REACH_AT_FIRST)
    p = p_values_by_tail(distances, distances, edge=1 - _UNSEEN_AT_FIRST, independent=independent)
    kept = [_trusted(p)]
    for _ in range(_ROUNDS):
        suspects = n_rows - int(kept[-1].sum())
        distances = judge(kept[-1], _REACH)
        bulk = distances[kept[-1]]
        p = p_values_by_tail(bulk, distances, beyond=_SUSPICION * suspects, independent=independent)
        kept.append(_trusted(p))
        if any(np.array_equal(kept[-1], before) for before in kept[:-1]):
            break
    odd = p <= benjamini_hochberg(p, q=q)
    return Verdict(odd, p, distances, len(kept) - 1, bool(np.array_equal(kept[-1], kept[-2])))


def _trusted(p: Numbers) -> Mask:
    """Rows that are not under suspicion: half of them at least."""
    return np.asarray((p > benjamini_hochberg(p, q=_SUSPICION)) | (p >= np.median(p)))
