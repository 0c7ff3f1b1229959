"""Whether rows look as if drawn independently of one another, whatever they are drawn from.

Columns are turned into ranks, ties broken at random, so that tails, units and columns of few values have no part in it.
Where rows come in an order, their correlation at every lag is compared with what shuffling them would leave. Where they
come in no order, distances tell: of independent rows, twice as many neighbors lie within a ball that is wider by the
same factor whatever their number, or by a larger one where the rows end; of rows with near-duplicates, the nearest lie
close together and the next ones far away.
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

#: Rows below which nothing is said, rows whose neighbors are asked for, and columns that are looked at, at most.
FEWEST, _ASKED, _COLUMNS = 40, 200, 50

#: Correlation of rows that does harm, and how many times its standard deviation under shuffling makes it no chance.
_ALIKE, _SURE = 0.3, 6.0

#: Neighbors that are looked at, at most, and the share of all rows that they may be.
_NEIGHBOURS, _NEAR = 32, 1 / 6

#: How much slower the number of neighbors may grow with the distance here than further away; and the same by chance,
#: over the root of the number of rows asked.
_DIP, _CHANCE = 0.4, 5.0


#: Correlation at which rows have forgotten one another: blocks of this length, some of whose rows are next to rows of
#: others, deliver what is asked for.
_FORGOTTEN = 1 / 3


#: Share of the rows that may have duplicates: losses of as few move a threshold little.
_FORGIVEN = 0.15


@dataclass(frozen=True)
class Succession:
    """Rows so many places apart are alike: their correlation, over all columns."""

    lag: int
    correlation: float


@dataclass(frozen=True)
class Crowding:
    """The nearest so many rows of a row are far nearer than those after them."""

    neighbors: int


def centred_ranks(X: NDArray[np.float64]) -> Float:
    """Columns as ranks about zero, ties at random; those that are sorted, a number or a date of the row, are left out.

    Of many columns some are drawn.
    """
    n = len(X)
    if X.shape[1] > _COLUMNS:
        X = X[:, np.random.default_rng(0).choice(X.shape[1], _COLUMNS, replace=False)]
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
    ranks = np.empty(columns.shape)
    ranks.ravel()[places] = np.arange(n) - (n - 1) / 2
    return ranks.T


def autocorrelation(Z: Float) -> Float:
    """Correlation of rows at every lag up to half their number, the mean over the columns of `Z`, whose means are 0."""
    n = len(Z)
    length = next_fast_len(n + n // 2, real=True)  # room for as many lags
    spectrum = rfft(Z, length, axis=0)
    sums = irfft((spectrum.real**2 + spectrum.imag**2).sum(axis=1), length)[: n // 2 + 1]
    return np.asarray(sums / (n - np.arange(len(sums))) * (n / sums[0]))


def succession(Z: Float) -> Succession | None:
    """The first lag at which rows are more alike than chance and harmlessness allow, if there is one."""
    n, found = len(Z), autocorrelation(Z)[1:]
    scatter = Z.T @ Z
    # Of rows in any order, to the first order in 1/n.
    spread = math.sqrt(np.vdot(scatter, scatter)) / np.trace(scatter)
    deviation = spread / np.sqrt(n - np.arange(1, len(found) + 1))
    lags = np.flatnonzero((found > _SURE * deviation) & (found > _ALIKE))
    return Succession(int(lags[0]) + 1, float(found[lags[0]])) if len(lags) else None


def crowding(Z: Float) -> Crowding | None:
    """Where the number of neighbors stops growing with the distance, only to go on further away; if it does."""
    n, d = Z.shape
    if d < 2:  # ranks are all as far apart
        return None
    number = min(n, _ASKED)
    asked = np.arange(number) * (n - 1) // (number - 1)
    # Ranks are whole numbers or halves between them: single precision has these sums, exactly or to a small part of the
    # distance of any two rows. What is the same for all distances from a row does not change their order.
    Z = Z.astype(np.float32)
    squares = np.vecdot(Z, Z)
    distances = (-2 * Z[asked]) @ Z.T
    distances += squares
    distances[np.arange(len(asked)), asked] = np.inf
    k = 2 ** np.arange(int(np.log2(min(_NEIGHBOURS, n * _NEAR))) + 1)
    distances.partition(k[-1] - 1, axis=1)
    nearest = np.sort(distances[:, : k[-1]], axis=1)[:, k - 1]
    logs = np.log(nearest + squares[asked, None]) / 2
    steps = np.sort(logs[:, 1:] - logs[:, :-1], axis=0)
    growth = np.maximum(steps[: round((1 - _FORGIVEN) * len(asked))].mean(axis=0), np.finfo(float).tiny)
    dimension = _steps_in_one_dimension(len(k) - 1) / growth
    further = np.maximum.accumulate(dimension[::-1])[::-1]
    dips = dimension[:-1] / further[1:]
    place = int(np.argmin(dips))
    return Crowding(int(k[place])) if dips[place] < 1 - max(_DIP, _CHANCE / np.sqrt(len(asked))) else None


@cache
def _steps_in_one_dimension(n: int) -> Float:
    """Mean steps between the logs of distances to 1, 2, 4... neighbors.

    Of a smooth density in d dimensions d times a step is minus the log of a Beta(k, k) number.
    """
    k, shares = 2 ** np.arange(n), _FORGIVEN + (1 - _FORGIVEN) * (np.arange(100) + 0.5) / 100
    return np.asarray(-np.log(betaincinv(k, k, shares[:, None])).mean(axis=0))


def decorrelation(Z: Float) -> int:
    """Rows after which the correlation of rows has fallen to a third, by their centred ranks; at most half of them.

    The mean of rows that are alike is uncertain, which takes as much from correlations about it as a row has of it.
    """
    n = len(Z)
    found = 2 * np.sin(np.pi / 6 * autocorrelation(Z))  # of ranks, as of the Gaussian that has them
    time = 0
    while True:
        lost = min(2 * time / n, 0.9)
        fallen = np.flatnonzero(found * (1 - lost) + lost < _FORGOTTEN)
        longer = int(fallen[0]) if len(fallen) else n // 2
        if longer <= time:
            return max(1, time)
        time = longer
