"""A sample of distinct rows that depends on the set of rows alone: mergeable, and blind to order and to chunks.

Every row has a key, a hash of its values and a seed. The sample is the rows with the smallest keys, each with the total
weight of its copies: a uniform sample of the distinct rows, the same however they were cut up and in whatever order.
"""

from __future__ import annotations

from dataclasses import dataclass

from .arrays import Array, bits, device, namespace

__all__ = ["RowSample"]

# Odd multipliers of splitmix64 and of Fibonacci hashing, as signed 64-bit numbers.
_MIX = (-0x40A7B892E31B1A47, -0x6B2FB644ECCEEE15, -0x61C8864680B583EB)


@dataclass(frozen=True)
class RowSample:
    """At most `size` distinct rows with the smallest keys, in key order, and the weight of their copies."""

    size: int
    seed: int
    keys: Array
    rows: Array
    weights: Array

    @classmethod
    def of(cls, X: Array, w: Array, *, size: int, seed: int) -> RowSample:
        """The sample of one chunk of rows."""
        return cls(size, seed, _keys(X, seed), X, w)._merged()

    def __add__(self, other: RowSample) -> RowSample:
        xp = namespace(self.rows)
        pairs = ((self.keys, other.keys), (self.rows, other.rows), (self.weights, other.weights))
        keys, rows, weights = (xp.concat(pair) for pair in pairs)
        return RowSample(self.size, self.seed, keys, rows, weights)._merged()

    def _merged(self) -> RowSample:
        """Sort by key, make copies of a row one, keep the first."""
        xp = namespace(self.rows)
        order = xp.argsort(self.keys, stable=True)
        keys = xp.take(self.keys, order)
        last = xp.concat([keys[1:] != keys[:-1], xp.ones(1, dtype=xp.bool, device=device(keys))])
        ends = xp.nonzero(last)[0]
        ends = ends[: min(self.size, ends.shape[0])]
        reached = xp.cumulative_sum(xp.astype(xp.take(self.weights, order), xp.float64))
        reached = xp.take(reached, ends)
        weights = reached - xp.concat([xp.zeros_like(reached[:1]), reached[:-1]])
        kept = xp.take(order, ends)
        rows = xp.take(self.rows, kept, axis=0)
        return RowSample(self.size, self.seed, xp.take(keys, ends), rows, xp.astype(weights, self.weights.dtype))


def _keys(X: Array, seed: int) -> Array:
    """A 64-bit hash of each row: equal rows have equal keys, other rows as good as independent ones."""
    words = bits(X)
    key = words[:, 0] * 0 + (seed + 1) * _MIX[2] % (1 << 62)
    for j in range(words.shape[1]):
        key = (key ^ words[:, j]) * _MIX[0]
        key = (key ^ (key >> 29)) * _MIX[1]
        key = key ^ (key >> 32)
    return key
