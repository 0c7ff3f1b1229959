"""Groups of dependent rows: the group of each row, row weights by group, and folds of whole groups."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from .arrays import Array, device, namespace, to_numpy
from .stored import Whole, must

__all__ = ["GroupCounts", "Groups", "OneGroupError"]

#: Largest number of folds, for training sets that are too large to hold out each group by itself.
_GROUP_FOLDS = 5


class OneGroupError(ValueError):
    """All rows are in one group, so that no group can be held out."""


@dataclass(frozen=True)
class Groups:
    """The group number of each row; the numbers are 0, 1, ... without gaps."""

    of_rows: Annotated[NDArray[np.intp], Whole("r", below="r")]
    by_row: bool = False  # whether rows count by their weights; otherwise every group has the same weight

    def __check__(self) -> None:
        must(bool(np.bincount(self.of_rows).all()), "of_rows must hold every number up to the largest")

    @cached_property
    def by_size(self) -> list[NDArray[np.intp]]:
        """Row indices of the groups, one matrix (groups x size) for each group size."""
        order = np.argsort(self.of_rows, kind="stable")
        sizes = np.bincount(self.of_rows)
        starts = np.cumsum(sizes) - sizes
        distinct = np.unique(sizes)
        return [order[starts[sizes == size][:, None] + np.arange(size)] for size in distinct]

    @property
    def count(self) -> int:
        """Number of groups."""
        return int(self.of_rows.max()) + 1

    def part(self, rows: NDArray[np.intp]) -> Groups:
        """Return the groups of some of the rows."""
        return Groups(np.unique(self.of_rows[rows], return_inverse=True)[1].reshape(-1), self.by_row)

    @property
    def alone(self) -> bool:
        """Whether each row is a group of its own."""
        return self.count == len(self.of_rows)

    def weights(self, w: Array) -> Array:
        """Return row weights, in double precision, that add up to the (effective) number of groups.

        Every group has the total weight one or, with `by_row`, a weight in proportion to its rows. The effective
        number of groups with weights W is then (sum W)² / sum W² (Kish).
        """
        xp = namespace(w)
        shares = np.bincount(self.of_rows, weights=to_numpy(w))
        if self.by_row:
            return xp.astype(w, xp.float64) * float(shares.sum() / (shares @ shares))
        return xp.astype(w, xp.float64) / xp.asarray(shares[self.of_rows], dtype=xp.float64, device=device(w))


@dataclass(frozen=True)
class GroupCounts:
    """Row counts of at most `size` groups, those with the smallest keys, in key order; two of these can be added.

    Keys are hashes. The groups kept are therefore a sample that depends on the set of groups only. For these groups
    every row is counted.
    """

    size: int
    keys: NDArray[np.int64]
    counts: NDArray[np.int64]
    by_row: bool = False  # as in `Groups`

    @classmethod
    def of(cls, keys: NDArray[np.int64], *, size: int) -> GroupCounts:
        """Return the counts for one chunk of rows, from the group key of each row."""
        return cls(size, keys, np.ones(len(keys), dtype=np.int64))._merged()

    def __add__(self, other: GroupCounts) -> GroupCounts:
        keys, counts = np.concatenate([self.keys, other.keys]), np.concatenate([self.counts, other.counts])
        return GroupCounts(self.size, keys, counts, self.by_row)._merged()

    def _merged(self) -> GroupCounts:
        keys, places = np.unique(self.keys, return_inverse=True)
        counts = np.bincount(places, self.counts).astype(np.int64)
        return GroupCounts(self.size, keys[: self.size], counts[: self.size], self.by_row)

    def refuse_one(self) -> None:
        """Raise `OneGroupError` if there is only one group."""
        if len(self.keys) < 2:
            raise OneGroupError(f"groups must be at least two, since one is held out; got {len(self.keys)}")

    @property
    def alone(self) -> bool:
        """Whether each of the groups kept has exactly one row."""
        return bool(np.all(self.counts == 1))

    @property
    def folds(self) -> int:
        """Number of folds."""
        return min(_GROUP_FOLDS, len(self.keys))

    def fold_of(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the fold of each row: the rank of its group's key, modulo the number of folds.

        If there are more groups than `size`, the key itself takes the place of its rank.
        """
        return (np.searchsorted(self.keys, keys) if len(self.keys) < self.size else keys) % self.folds

    def weights(self, keys: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return row weights that add up to the (effective) number of groups, as those of `Groups`.

        Rows of groups that are not kept have weight zero.
        """
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        counts = self.counts.astype(np.float64)
        of_groups = np.full(len(counts), counts.sum() / (counts @ counts)) if self.by_row else 1 / counts
        return np.where(self.keys[places] == keys, of_groups[places], 0.0)
