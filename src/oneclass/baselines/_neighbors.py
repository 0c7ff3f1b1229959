"""Nearest neighbors, found so that they depend neither on the origin of the data nor on the other rows of a query."""

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

#: Largest number of features for a k-d tree. With more features, a tree visits most rows and
#: matrix products are faster.
LOW = 8

#: Largest number of rows for which computing all differences is faster than starting threads for matrix products.
_ROWS_BY_DIFFERENCES = 2000

#: Largest relative rounding error of a squared distance with which a matrix product may choose the neighbors.
_PRODUCT_ERROR = 1e-9


@dataclass(frozen=True)
class Neighbors:
    """Search for nearest rows: by a k-d tree or, with many features, by all differences or by matrix products.

    Matrix products lose precision for rows that are much nearer to each other than to the origin. For these rows, the
    tree searches instead.
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
        if len(self.rows) <= _ROWS_BY_DIFFERENCES:
            return self._by_differences(Z, k)
        centered = Z - self._origin
        numbers = self._products.kneighbors(centered, k, return_distance=False)
        distances = self._measure(Z, numbers)
        order = distances.argsort(axis=1)
        distances, numbers = np.take_along_axis(distances, order, 1), np.take_along_axis(numbers, order, 1)
        lengths, last = np.linalg.norm(centered, axis=1), distances[:, -1]
        # A row nearer than the last neighbor has at most the norm `lengths + last`. The product's rounding error is
        # proportional to both squared norms.
        doubtful = UNIT * (lengths**2 + (lengths + last) ** 2) > _PRODUCT_ERROR * last**2
        doubtful &= last > 0
        if doubtful.any():
            distances[doubtful], numbers[doubtful] = self._by_tree(Z[doubtful], k)
        return distances, numbers

    def of_each_other(self, k: int) -> tuple[Array, Array]:
        """Distances and numbers of the k nearest other rows of each row of the index."""
        distances, numbers = self.of(self.rows, k + 1)
        own = numbers == np.arange(len(self.rows))[:, None]
        own[~own.any(axis=1), -1] = True  # the row is missing among many copies of it: leave out one of them
        shape = len(self.rows), k
        return distances[~own].reshape(shape), numbers[~own].reshape(shape)

    def of_others(self, rows: Array, groups: Array, size: int, k: int) -> Array:
        """Numbers of the k nearest rows of other groups, for `rows` whose groups all have `size` rows."""
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
        return distances, np.minimum(numbers, len(self.rows) - 1)  # the tree finds no row if the distance overflows

    def _measure(self, Z: Array, numbers: Array) -> Array:
        distances = np.empty(numbers.shape)
        for a, b in blocks(len(Z), numbers.shape[1] * Z.shape[1], Z):
            distances[a:b] = np.linalg.norm(Z[a:b, None, :] - self.rows[numbers[a:b]], axis=2)
        return distances


def nearest(Z: Array, centers: Array) -> Array:
    """Number of the nearest center, for each row; for few centers."""
    parts = [cdist(Z[a:b], centers, "sqeuclidean").argmin(axis=1) for a, b in blocks(len(Z), len(centers), Z)]
    return np.concatenate(parts)
