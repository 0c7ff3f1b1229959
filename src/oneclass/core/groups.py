"""Rows that belong together: which row is in which group, how much each group weighs, and folds of whole groups."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from .arrays import Array, device, namespace, to_numpy
from .stored import Whole, must

__all__ = ["GroupCounts", "Groups", "OneGroupError"]

#: Folds of rows that are too many to leave out group by group.
_FOLDS = 5


class OneGroupError(ValueError):
    """All rows are of one group, so that none can be held out."""


@dataclass(frozen=True)
class Groups:
    """The number of the group of each row, from 0 on, every number taken."""

    of_rows: Annotated[NDArray[np.intp], Whole("r", below="r")]

    def __check__(self) -> None:
        must(bool(np.bincount(self.of_rows).all()), "of_rows must hold every number up to the largest")

    @cached_property
    def by_size(self) -> list[NDArray[np.intp]]:
        """Rows of the groups, one matrix (groups x size) for each size."""
        order = np.argsort(self.of_rows, kind="stable")
        sizes = np.bincount(self.of_rows)
        starts = np.cumsum(sizes) - sizes
        distinct = np.unique(sizes)
        return [order[starts[sizes == size][:, None] + np.arange(size)] for size in distinct]

    @property
    def count(self) -> int:
        """Number of groups."""
        return int(self.of_rows.max()) + 1

    def weights(self, w: Array) -> Array:
        """Row weights under which every group weighs one, in double precision."""
        xp = namespace(w)
        shares = np.bincount(self.of_rows, weights=to_numpy(w))
        return xp.astype(w, xp.float64) / xp.asarray(shares[self.of_rows], dtype=xp.float64, device=device(w))


@dataclass(frozen=True)
class GroupCounts:
    """Numbers of rows of the groups with the smallest keys, at most `size` of them, in key order; two of them add.

    Keys are hashes, so that the groups kept are a sample that depends on the set of groups alone; of each of these,
    every row is counted.
    """

    size: int
    keys: NDArray[np.int64]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, keys: NDArray[np.int64], *, size: int) -> GroupCounts:
        """The groups of one chunk of rows."""
        return cls(size, keys, np.ones(len(keys), dtype=np.int64))._merged()

    def __add__(self, other: GroupCounts) -> GroupCounts:
        keys, counts = np.concatenate([self.keys, other.keys]), np.concatenate([self.counts, other.counts])
        return GroupCounts(self.size, keys, counts)._merged()

    def _merged(self) -> GroupCounts:
        keys, places = np.unique(self.keys, return_inverse=True)
        counts = np.bincount(places, self.counts).astype(np.int64)
        return GroupCounts(self.size, keys[: self.size], counts[: self.size])

    def refuse_one(self) -> None:
        """Refuse a single group, beside which none could be held out."""
        if len(self.keys) < 2:
            raise OneGroupError(f"groups must be at least two, since one is held out; got {len(self.keys)}")

    @property
    def alone(self) -> bool:
        """Whether every row is a group of its own, as far as is known."""
        return bool(np.all(self.counts == 1))

    @property
    def folds(self) -> int:
        """Number of folds."""
        return min(_FOLDS, len(self.keys))

    def fold_of(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Fold of each row: groups go round in the order of their keys or, if not all are known, by their keys."""
        return (np.searchsorted(self.keys, keys) if len(self.keys) < self.size else keys) % self.folds

    def weights(self, keys: NDArray[np.int64]) -> NDArray[np.float64]:
        """Row weights under which every group that is kept weighs one, and others nothing."""
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[places] == keys, 1 / self.counts[places], 0.0)
