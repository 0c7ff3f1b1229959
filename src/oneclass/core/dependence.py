"""Tests of whether rows are independent of one another, for any distribution of the rows.

Columns are replaced by ranks, with ties broken at random, so that tails, units and discrete columns have no influence.
For ordered rows, the correlation at every lag is compared with its distribution under shuffling. For unordered rows,
the test uses the distances to the nearest neighbors. If rows are independent, the radius of a ball with twice as many
neighbors is larger by a constant factor, or by a larger factor at the boundary of the data. If there are
near-duplicates, the first neighbors are close and the next ones are far away.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.fft import irfft, rfft
from numpy.typing import NDArray
from scipy.fft import next_fast_len
from scipy.special import betaincinv

__all__ = ["Crowding", "Succession", "autocorrelation", "centred_ranks", "crowding", "decorrelation", "succession"]

Float = NDArray[np.float64]

#: Fewest rows for a test; most rows whose neighbors are searched; and most columns that are used.
FEWEST, _MOST_QUERIES, _MOST_USED_COLUMNS = 40, 200, 50

#: Smallest correlation that is reported, and the smallest multiple of its standard deviation under shuffling.
_LEAST_CORRELATION, _CORRELATION_DEVIATIONS = 0.3, 6.0

#: Largest number of neighbors that is considered, and its largest share of all rows.
_MOST_NEIGHBORS, _NEIGHBOR_SHARE = 32, 1 / 6

#: Largest relative drop of the estimated dimension, compared with that at larger distances, that is not reported; and
#: the same due to chance, before division by the root of the number of query rows.
_DIP, _CHANCE_DIP = 0.4, 5.0


#: Correlation below which rows count as independent. Blocks that are as long as the lag of this correlation keep the
#: requested false-alarm rate, although their boundary rows are close to rows of other blocks.
_SMALL_CORRELATION = 1 / 3


#: Correlation of ranks with the row number from which on a column counts as sorted, although some rows are swapped.
_SORTED = 0.995

#: Share of the rows that may have duplicates without a report: their losses change a threshold little.
_DUPLICATE_SHARE = 0.15


@dataclass(frozen=True)
class Succession:
    """A lag at which rows are correlated, and the correlation over all columns."""

    lag: int
    correlation: float


@dataclass(frozen=True)
class Crowding:
    """A number of nearest neighbors that are much closer to a row than its next neighbors."""

    neighbors: int


def centred_ranks(X: NDArray[np.float64]) -> Float:
    """Return the columns as ranks with mean zero, ties broken at random.

    Columns that are nearly sorted are left out, since they are row numbers or dates. If there are many columns, a
    random subset is used.
    """
    n = len(X)
    if X.shape[1] > _MOST_USED_COLUMNS:
        X = X[:, np.random.default_rng(0).choice(X.shape[1], _MOST_USED_COLUMNS, replace=False)]
    columns = np.ascontiguousarray(X.T)
    before, after = columns[:, :-1], columns[:, 1:]
    is_sorted = (after >= before).all(axis=1) | (after <= before).all(axis=1)
    if is_sorted.any():
        columns = columns[~is_sorted]
    first = n * np.arange(len(columns))[:, None]
    places = columns.argsort(axis=1) + first
    ranked = columns.ravel()[places]
    tied = (ranked[:, 1:] == ranked[:, :-1]).any(axis=1)
    if tied.any():
        chance = np.random.default_rng(0).random((n, len(columns))).T
        places[tied] = np.lexsort((chance[tied], columns[tied]), axis=1) + first[tied]
    ranks, place = np.empty(columns.shape), np.arange(n) - (n - 1) / 2
    ranks.ravel()[places] = place
    is_sorted = np.abs(ranks @ place) > _SORTED * (place @ place)
    return (ranks[~is_sorted] if is_sorted.any() else ranks).T


def autocorrelation(Z: Float) -> Float:
    """Return the correlation of rows at every lag up to half their number, over all columns of the centred `Z`."""
    n = len(Z)
    length = next_fast_len(n + n // 2, real=True)  # zero padding for as many lags
    spectrum = rfft(Z, length, axis=0)
    sums = irfft((spectrum.real**2 + spectrum.imag**2).sum(axis=1), length)[: n // 2 + 1]
    return np.asarray(sums / (n - np.arange(len(sums))) * (n / sums[0]))


def succession(Z: Float) -> Succession | None:
    """Return the first lag whose correlation is significant and at least `_LEAST_CORRELATION`; None without one."""
    n, found = len(Z), autocorrelation(Z)[1:]
    scatter = Z.T @ Z
    # The standard deviation under shuffling, to first order in 1/n.
    spread = math.sqrt(np.vdot(scatter, scatter)) / np.trace(scatter)
    deviation = spread / np.sqrt(n - np.arange(1, len(found) + 1))
    lags = np.flatnonzero((found > _CORRELATION_DEVIATIONS * deviation) & (found > _LEAST_CORRELATION))
    return Succession(int(lags[0]) + 1, float(found[lags[0]])) if len(lags) else None


def crowding(Z: Float) -> Crowding | None:
    """Return the number of neighbors at which the radius has an unusually large step; None without such a step."""
    n, d = Z.shape
    if d < 2:  # the ranks of one column are equally spaced
        return None
    number = min(n, _MOST_QUERIES)
    asked = np.arange(number) * (n - 1) // (number - 1)
    # Ranks are multiples of 1/2, so single precision stores these sums exactly or with an error that is small compared
    # with the distance of any two rows. The term |z|^2 of the query row is left out: it does not change the order.
    Z = Z.astype(np.float32)
    squares = np.vecdot(Z, Z)
    distances = (-2 * Z[asked]) @ Z.T
    distances += squares
    distances[np.arange(len(asked)), asked] = np.inf
    k = 2 ** np.arange(int(np.log2(min(_MOST_NEIGHBORS, n * _NEIGHBOR_SHARE))) + 1)
    distances.partition(k[-1] - 1, axis=1)
    nearest = np.sort(distances[:, : k[-1]], axis=1)[:, k - 1]
    logs = np.log(nearest + squares[asked, None]) / 2
    steps = np.sort(logs[:, 1:] - logs[:, :-1], axis=0)
    growth = np.maximum(steps[: round((1 - _DUPLICATE_SHARE) * len(asked))].mean(axis=0), np.finfo(float).tiny)
    dimension = _steps_in_one_dimension(len(k) - 1) / growth
    further = np.maximum.accumulate(dimension[::-1])[::-1]
    dips = dimension[:-1] / further[1:]
    place = int(np.argmin(dips))
    return Crowding(int(k[place])) if dips[place] < 1 - max(_DIP, _CHANCE_DIP / np.sqrt(len(asked))) else None


@cache
def _steps_in_one_dimension(n: int) -> Float:
    """Return the trimmed mean steps between the log distances to the neighbors 1, 2, 4..., in one dimension.

    For a smooth density in d dimensions, d times a step is distributed as minus the log of a Beta(k, k) variable.
    """
    k, shares = 2 ** np.arange(n), _DUPLICATE_SHARE + (1 - _DUPLICATE_SHARE) * (np.arange(100) + 0.5) / 100
    return np.asarray(-np.log(betaincinv(k, k, shares[:, None])).mean(axis=0))


def decorrelation(Z: Float) -> int:
    """Return the lag at which the correlation of rows falls below a third, from centred ranks; at most n // 2.

    Correlated rows have an uncertain mean, and correlations about the estimated mean are too small. Each iteration
    corrects this bias for the lag found so far.
    """
    n = len(Z)
    found = 2 * np.sin(np.pi / 6 * autocorrelation(Z))  # from rank correlation to that of a Gaussian
    time = 0
    while True:
        lost = min(2 * time / n, 0.9)
        fallen = np.flatnonzero(found * (1 - lost) + lost < _SMALL_CORRELATION)
        longer = int(fallen[0]) if len(fallen) else n // 2
        if longer <= time:
            return max(1, time)
        time = longer
