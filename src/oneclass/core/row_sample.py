"""A uniform sample of distinct rows that does not depend on the order of the rows or on the chunks they arrive in.

Every row has a key: a hash of its values and a seed. The sample consists of the rows with the smallest keys, each with
the total weight of its copies. Samples of several chunks can be added.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .arrays import Array, bits, device, namespace, to_numpy

__all__ = ["SHARED", "RowSample", "mixed", "row_keys"]

#: The key for a row that several groups share. No group has it.
SHARED = np.iinfo(np.int64).min

# Odd multipliers of splitmix64 and of Fibonacci hashing, as signed 64-bit numbers.
_MIX = (-0x40A7B892E31B1A47, -0x6B2FB644ECCEEE15, -0x61C8864680B583EB)


@dataclass(frozen=True)
class RowSample:
    """At most `size` distinct rows with the smallest keys, in key order, and the total weight of their copies.

    If rows belong to groups, `groups` holds the key of each row's group, or `SHARED` if several groups contain the row.
    """

    size: int
    seed: int
    keys: Array
    rows: Array
    weights: Array
    groups: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, X: Array, w: Array, groups: NDArray[np.int64] | None = None, *, size: int, seed: int) -> RowSample:
        """Return the sample of one chunk of rows."""
        return cls(size, seed, row_keys(X, seed), X, w, groups)._merged()

    def __add__(self, other: RowSample) -> RowSample:
        xp = namespace(self.rows)
        pairs = ((self.keys, other.keys), (self.rows, other.rows), (self.weights, other.weights))
        keys, rows, weights = (xp.concat(pair) for pair in pairs)
        groups = None
        if self.groups is not None and other.groups is not None:
            groups = np.concatenate([self.groups, other.groups])
        return RowSample(self.size, self.seed, keys, rows, weights, groups)._merged()

    def _merged(self) -> RowSample:
        """Return the sample sorted by key, with copies of a row merged and only the smallest keys kept."""
        xp = namespace(self.rows)
        order = xp.argsort(self.keys, stable=True)
        keys = xp.take(self.keys, order)
        last = xp.concat([keys[1:] != keys[:-1], xp.ones(1, dtype=xp.bool, device=device(keys))])
        ends = xp.nonzero(last)[0]
        ends = ends[: min(self.size, ends.shape[0])]
        given = xp.astype(xp.take(self.weights, order), xp.float64)
        reached = xp.take(xp.cumulative_sum(given), ends)
        weights = reached - xp.concat([xp.zeros_like(reached[:1]), reached[:-1]])
        # A small weight may be lost to rounding in a sum with large ones.
        weights = xp.maximum(weights, xp.take(given, ends))
        kept = xp.take(order, ends)
        rows, weights = xp.take(self.rows, kept, axis=0), xp.astype(weights, self.weights.dtype)
        groups = None if self.groups is None else _common(self.groups[to_numpy(order)], to_numpy(ends))
        return RowSample(self.size, self.seed, xp.take(keys, ends), rows, weights, groups)


def _common(groups: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the common group of each run of copies, or `SHARED`; `ends` are the last indices of the runs."""
    if not len(ends):
        return groups[:0]
    starts, groups = np.concatenate([[0], ends[:-1] + 1]), groups[: ends[-1] + 1]
    low, high = np.minimum.reduceat(groups, starts), np.maximum.reduceat(groups, starts)
    return np.where(low == high, low, SHARED)


def row_keys(X: Array, seed: int) -> Array:
    """Return a 64-bit hash of each row: equal for equal rows, and practically independent for different rows."""
    words = bits(X)
    key = words[:, 0] * 0 + (seed + 1) * _MIX[2] % (1 << 62)
    for j in range(words.shape[1]):
        key = mixed(key, words[:, j])
    return key


def mixed(key: Array, word: Array) -> Array:
    """Return 64-bit keys with one more word hashed into each."""
    key = (key ^ word) * _MIX[0]
    key = (key ^ (key >> 29)) * _MIX[1]
    return key ^ (key >> 32)
