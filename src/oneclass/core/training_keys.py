"""Hashes of training rows, by which training rows are recognised in a later batch."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from .arrays import Array, bits, device, namespace, to_numpy
from .row_sample import mixed
from .stored import Share, Whole

__all__ = ["TrainingKeys", "hashes", "looked_up"]

#: Most keys that are kept, and most rows of a batch that are looked up.
_KEYS, _LOOKED_UP = 4096, 4096
#: Rows whose keys are computed at a time, so that the temporary arrays stay in the processor's cache.
_BLOCK = 4096
#: Fewest different rows of a batch that are judged as a batch.
_FEWEST_ROWS = 10
#: Probability that most rows of a batch are equal to training rows only because rows repeat.
_LEVEL = 1e-6


@dataclass(frozen=True)
class TrainingKeys:
    """64-bit hashes of the training rows, or of those with the smallest hashes if there are more than 4,096.

    `repeated` is the share of the training rows that are equal to another one: an estimate of the share of new rows
    that are equal to a training row by chance.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> keys = TrainingKeys.of(hashes(X[:40]))
    >>> keys.are_most_of(X[:10]), keys.are_most_of(X[20:]), keys.are_most_of(X[:9])
    (True, False, False)
    """

    keys: Annotated[NDArray[np.int64], Whole("keys", low=-sys.maxsize - 1)]
    complete: bool
    repeated: Share

    @classmethod
    def of(cls, keys: NDArray[np.int64]) -> Self:
        """Return the keys of training rows from their `hashes`; their order does not matter."""
        complete = len(keys) <= _KEYS
        keys, copies = np.unique(keys if complete else np.partition(keys, _KEYS)[:_KEYS], return_counts=True)
        return cls(keys, complete, float(copies[copies > 1].sum() / copies.sum()))

    def are_most_of(self, X: Array) -> bool:
        """Return whether most rows of a batch are training rows; of a large batch, some evenly spaced rows tell.

        Equal rows of the batch count once, and fewer than ten different rows are no batch.
        """
        if X.shape[0] < _FEWEST_ROWS:
            return False
        found = np.unique(_hashes(X[:: _step(X.shape[0]), :]))
        found = found if self.complete else found[found <= self.keys[-1]]
        known, n = int(np.isin(found, self.keys, assume_unique=True).sum()), len(found)
        if n < _FEWEST_ROWS or 2 * known <= n:
            return False
        by_chance = max(self.repeated, 1 / len(self.keys))
        return bool(binom.sf(known - 1, n, by_chance) <= _LEVEL)


def looked_up(n: int) -> NDArray[np.intp]:
    """Return the numbers of the rows, of a batch of `n`, that are looked up."""
    return np.arange(0, n, _step(n))


def _step(n: int) -> int:
    return max(1, -(-n // _LOOKED_UP))


def hashes(X: Array) -> NDArray[np.int64]:
    """Return a 64-bit hash of each row."""
    n = X.shape[0]
    return np.concatenate([_hashes(X[at : min(at + _BLOCK, n), :]) for at in range(0, n, _BLOCK)])


def _hashes(X: Array) -> NDArray[np.int64]:
    """The same for all columns at once: with 1,000 columns, `row_keys` takes ten times as long."""
    xp, words = namespace(X), bits(X)
    factors = _factors(X.shape[1])
    # The low bits of most numbers are 0, and those of a product depend on low bits only.
    words = (words ^ (words >> 32)) * xp.asarray(factors, device=device(X))
    return to_numpy(mixed(xp.sum(words, axis=1), xp.zeros(1, dtype=xp.int64, device=device(X))))


@cache
def _factors(d: int) -> NDArray[np.int64]:
    """Odd factors, one for each column."""
    return np.random.default_rng(0).integers(1 << 62, size=d) * 2 + 1
