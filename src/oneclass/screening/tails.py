"""P-values of single values: from the tail of the held-out residuals of a column, or from the shares of its values."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

__all__ = ["NormalTail", "NumberTail", "ValueShares", "distinct_rows", "few_values", "side_ratio"]

Numbers = NDArray[np.float64]

#: Quantile levels of the absolute residuals between which the scale of their tail is read. The second pair is closer to
#: the tail: with the first alone, rows are named in half of all clean tables of joint t(3). The first ranks better.
_LEVELS = (0.80, 0.95), (0.90, 0.97)
#: For ranking, a tail is at most this many times as wide as the exponential tail between these levels, so that a tenth
#: of equal wrong values in a column does not hide itself.
_CENTRE, _MOST_HEAVY = (0.5, 0.8), 1.5
#: Logarithm of the p-value, by the scale for ranking, up to which a residual counts as that of a wrong value. The tail
#: of the column is read without it.
_WRONG = math.log(1e-3)
#: Lower bound of a scale as a share of the largest scaled value: smaller residuals are rounding.
_ROUNDING = 1e-9
#: Residuals count as normal if the ratio of these two quantiles of their size is at most `_NORMAL_RATIO`, and of their
#: distance from the median on either side at most `_SIDE_RATIO`. Both are 2.4 for a normal distribution and 3.1 for
#: t(3); the second is 3.3 for an exponential distribution. Their tail is then that of Student's t with `_FREEDOM`
#: degrees of freedom.
_RATIO_LEVELS, _NORMAL_RATIO, _SIDE_RATIO, _FREEDOM = (0.5, 0.9), 2.85, 3.1, 30
#: A column has few values if at most this many, each in two rows or more, cover this share of the rows.
_FEW, _COVERED = 8, 0.95
#: Logarithm of the p-value that a value further from all common values loses for each range of the common values.
_PER_RANGE = 3.0
#: Most rows, evenly spaced, from which the number of rows with similar predictions is estimated.
_SAMPLED = 20_000


@dataclass(frozen=True)
class NumberTail:
    """Assumption: scaled residuals of a column have a tail that falls at least exponentially.

    Values are scaled by a function that is logarithmic for large values, so that a power law has an exponential tail.
    """

    edge: float
    outside: float  # share of the residuals beyond the edge
    bulk_edge: float
    bulk_scale: float
    scale: float
    known: float  # number of independent residuals that the scale is estimated from
    ranked: Numbers

    @classmethod
    def of(cls, residuals: Numbers, *, largest: float, independent: float = 1.0) -> NumberTail:
        """Return the tail for the held-out residuals of a column.

        The larger of the scales between the two pairs of quantile levels is used, beyond the last level. `largest` is
        the largest scaled value, and `independent` the share of independent rows.
        """
        found = cls._of(np.sort(np.abs(residuals)), largest, independent)
        kept = found.ranked[found.for_ranking(found.ranked) > _WRONG]
        if len(kept) == len(found.ranked):
            return found
        return replace(cls._of(kept, largest, independent), ranked=found.ranked)

    @classmethod
    def _of(cls, ranked: Numbers, largest: float, independent: float) -> NumberTail:
        """Return the tail for sorted sizes of residuals."""
        low, high = np.quantile(ranked, np.transpose(_LEVELS))
        gaps = [math.log((1 - a) / (1 - b)) for a, b in _LEVELS]
        scales = np.maximum((high - low) / gaps, _ROUNDING * max(largest, 1.0))
        first, last = _LEVELS[-1]
        known = max(1.0, independent * len(ranked) * (last - first))
        a, b = np.quantile(ranked, _CENTRE)
        least = _MOST_HEAVY * float(b - a) / math.log((1 - _CENTRE[0]) / (1 - _CENTRE[1]))
        least = max(least, _ROUNDING * max(largest, 1.0))
        edge = min(float(high[-1]), float(b) + least * math.log((1 - _CENTRE[1]) / (1 - last)))
        return cls(float(high[-1]), 1 - last, edge, min(float(scales[0]), least), float(scales.max()), known, ranked)

    def log_p(self, residuals: Numbers) -> Numbers:
        """Return the logarithm of the p-value of residuals: by rank up to the edge, and by the tail beyond it."""
        return self._log_p(residuals, self.edge, self.scale)

    def for_ranking(self, residuals: Numbers) -> Numbers:
        """Return `log_p` with the scale of the bulk, which varies less."""
        return self._log_p(residuals, self.bulk_edge, self.bulk_scale)

    def _log_p(self, residuals: Numbers, edge: float, scale: float) -> Numbers:
        size, n = np.abs(residuals), len(self.ranked)
        ranks = np.log((n + 1 - np.searchsorted(self.ranked, size, side="left")) / (n + 1))
        further = np.maximum(size - edge, 0) / scale
        tail = math.log(self.outside) - self.known * np.log1p(further / self.known)
        return np.where(further > 0, tail, ranks)


@dataclass(frozen=True)
class NormalTail:
    """Assumption: unscaled residuals, whose bulk looks normal, have a tail not heavier than that of Student's t(30)."""

    scale: float

    @classmethod
    def of(cls, residuals: Numbers) -> NormalTail | None:
        """Return the tail of the held-out residuals of a column; None if their bulk does not look normal."""
        if normal_ratio(np.abs(residuals)) > _NORMAL_RATIO or side_ratio(residuals) > _SIDE_RATIO:
            return None
        high = float(np.quantile(np.abs(residuals), _RATIO_LEVELS[1]))
        return cls(high / float(student.isf((1 - _RATIO_LEVELS[1]) / 2, _FREEDOM))) if high > 0 else None

    def log_p(self, residuals: Numbers) -> Numbers:
        """Return the logarithm of the p-value of residuals."""
        return np.asarray(math.log(2) + student.logsf(np.abs(residuals) / self.scale, _FREEDOM))


def normal_ratio(sizes: Numbers) -> float:
    """Return the ratio of two quantiles of the sizes of residuals; infinity if the lower one is 0."""
    low, high = np.quantile(sizes, _RATIO_LEVELS)
    return float(high / low) if low > 0 else math.inf


def side_ratio(residuals: Numbers) -> float:
    """Return the larger of `normal_ratio` of the residuals above and of those below the median."""
    apart = residuals - np.median(residuals)
    return max(normal_ratio(side) if len(side) else math.inf for side in (apart[apart > 0], -apart[apart < 0]))


def distinct_rows(rows: Numbers) -> Numbers:
    """Return the distinct rows of a matrix; sorting their projections takes a tenth of the time of sorting rows."""
    projected = rows @ np.random.default_rng(0).normal(size=rows.shape[1])
    return np.unique(rows[np.unique(projected, return_index=True)[1]], axis=0)


def few_values(values: Numbers) -> Numbers | None:
    """Return the common values of a column (both as matrices of one column) that has few; None if it has many."""
    levels, counts = np.unique(values, return_counts=True)
    common = counts > 1
    few = 0 < common.sum() <= _FEW and counts[common].sum() >= _COVERED * len(values)
    return levels[common][:, None] if few else None


@dataclass(frozen=True)
class ValueShares:
    """Shares of the values of a column among rows with similar predictions; no tail is assumed.

    The p-value of a value is its share among the rows whose predictions are at most as close to this value. A value
    that is not among the levels has the share of all such values, and less if it is far from all levels.
    """

    levels: Numbers
    #: For each level, the sorted closeness to it of predictions of some rows, and of all predictions of its own rows.
    every: tuple[Numbers, ...]
    own: tuple[Numbers, ...]
    sampled: float  # share of the rows in `every`
    other: float

    @classmethod
    def of(cls, values: Numbers, residuals: Numbers, levels: Numbers) -> ValueShares:
        """Return the shares of the levels (levels x codes) in a column (rows x codes)."""
        predicted, n = values - residuals, len(values)
        some = predicted[:: -(-n // _SAMPLED)]
        every = tuple(np.sort(_closeness(some, level)) for level in levels)
        own = tuple(np.sort(_closeness(predicted[(values == level).all(axis=1)], level)) for level in levels)
        other = 1 + n - sum(map(len, own))
        return cls(levels, every, own, len(some) / n, other / (1 + n))

    def log_p(self, values: Numbers, residuals: Numbers) -> Numbers:
        """Return the logarithm of the share of each row's value."""
        predicted, found = values - residuals, np.full(len(values), math.nan)
        for level, every, own in zip(self.levels, self.every, self.own, strict=True):
            rows = (values == level).all(axis=1)
            near = _closeness(predicted[rows], level) + _ROUNDING
            count, total = (np.searchsorted(known, near, side="right") for known in (own, every))
            found[rows] = np.log(np.minimum((1 + count) / (1 + total / self.sampled), 1.0))
        rest = np.isnan(found)
        if rest.any():
            apart = np.min([np.abs(values[rest] - level).max(axis=1) for level in self.levels], axis=0)
            wide = float((self.levels.max(axis=0) - self.levels.min(axis=0)).max())
            found[rest] = math.log(self.other) - (_PER_RANGE * apart / wide if wide else 0 * apart)
        return found


def _closeness(predicted: Numbers, level: Numbers) -> Numbers:
    return np.asarray(-np.linalg.norm(predicted - level, axis=1))
