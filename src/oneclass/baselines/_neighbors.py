"""Nearest rows by differences: which row is nearest depends neither on where the origin is nor on other rows asked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from ..core.arrays import Array, blocks
from ..core.stored import Floats, Jobs
from ._rounding import UNIT

__all__ = ["Neighbors", "nearest"]

#: Features up to which a k-d tree leaves out most rows; with more of them matrix products are quicker.
LOW = 8

#: Rows up to which all distances by differences are quicker than threads are called together.
_FEW = 2000

#: Error of a squared distance, relative to it, up to which a matrix product may choose.
_CLOSE = 1e-9


@dataclass(frozen=True)
class Neighbors:
    """The rows that are nearest to others: by a k-d tree or, with many features, by all distances or matrix products.

    Products lose the distance between rows that are much nearer to each other than to the origin, so that the nearest
    row would be one at random: such rows are left to the tree.
    """

    rows: Annotated[Array, Floats("n d")]
    n_jobs: Jobs | None = None

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self.rows)

    @cached_property
    def _origin(self) -> Array:
        return self.rows.mean(axis=0)

    @cached_property
    def _products(self) -> NearestNeighbors:
        return NearestNeighbors(algorithm="brute", n_jobs=self.n_jobs).fit(self.rows - self._origin)

    def of(self, Z: Array, k: int) -> tuple[Array, Array]:
        """Distances and numbers of the k nearest rows of each row of `Z`, in ascending order."""
        if self.rows.shape[1] <= LOW:
            return self._by_tree(Z, k)
        if len(self.rows) <= _FEW:
            return self._by_differences(Z, k)
        centred = Z - self._origin
        numbers = self._products.kneighbors(centred, k, return_distance=False)
        distances = self._measure(Z, numbers)
        order = distances.argsort(axis=1)
        distances, numbers = np.take_along_axis(distances, order, 1), np.take_along_axis(numbers, order, 1)
        lengths, last = np.linalg.norm(centred, axis=1), distances[:, -1]
        # A row that is nearer than the last is no longer than this, and the product's error is that of both squares.
        doubtful = UNIT * (lengths**2 + (lengths + last) ** 2) > _CLOSE * last**2
        doubtful &= last > 0
        if doubtful.any():
            distances[doubtful], numbers[doubtful] = self._by_tree(Z[doubtful], k)
        return distances, numbers

    def of_each_other(self, k: int) -> tuple[Array, Array]:
        """The same of the rows themselves, none its own neighbor."""
        distances, numbers = self.of(self.rows, k + 1)
        own = numbers == np.arange(len(self.rows))[:, None]
        own[~own.any(axis=1), -1] = True  # lost among its copies, one of which stands for it
        shape = len(self.rows), k
        return distances[~own].reshape(shape), numbers[~own].reshape(shape)

    def of_others(self, rows: Array, groups: Array, size: int, k: int) -> Array:
        """Numbers of the k nearest rows of other groups of some of the rows, whose groups are of this size."""
        found = []
        for a, b in blocks(len(rows), 4 * (size + k), self.rows):
            numbers = self.of(self.rows[rows[a:b]], size + k)[1]
            own = groups[numbers] == groups[rows[a:b], None]
            found.append(np.take_along_axis(numbers, np.argsort(own, axis=1, kind="stable")[:, :k], 1))
        return np.concatenate(found)

    def _by_differences(self, Z: Array, k: int) -> tuple[Array, Array]:
        distances, numbers = np.empty((len(Z), k)), np.empty((len(Z), k), dtype=int)
        for a, b in blocks(len(Z), 2 * len(self.rows), Z):
            D = cdist(Z[a:b], self.rows)
            near = np.argpartition(D, k - 1, axis=1)[:, :k] if k < D.shape[1] else np.argsort(D, axis=1)
            found = np.take_along_axis(D, near, 1)
            order = found.argsort(axis=1, kind="stable")
            distances[a:b] = np.take_along_axis(found, order, 1)
            numbers[a:b] = np.take_along_axis(near, order, 1)
        return distances, numbers

    def _by_tree(self, Z: Array, k: int) -> tuple[Array, Array]:
        distances, numbers = self._tree.query(Z, np.arange(1, k + 1), workers=self.n_jobs or 1)
        return distances, np.minimum(numbers, len(self.rows) - 1)  # none was found at a distance that overflows

    def _measure(self, Z: Array, numbers: Array) -> Array:
        distances = np.empty(numbers.shape)
        for a, b in blocks(len(Z), numbers.shape[1] * Z.shape[1], Z):
            distances[a:b] = np.linalg.norm(Z[a:b, None, :] - self.rows[numbers[a:b]], axis=2)
        return distances


def nearest(Z: Array, centers: Array) -> Array:
    """Number of the nearest of a few centres, for each row."""
    parts = [cdist(Z[a:b], centers, "sqeuclidean").argmin(axis=1) for a, b in blocks(len(Z), len(centers), Z)]
    return np.concatenate(parts)
