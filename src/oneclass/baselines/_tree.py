"""Euclidean minimum spanning trees: construction, longest paths, distances to the nearest edge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, dijkstra, minimum_spanning_tree
from scipy.spatial import cKDTree

from ..core.arrays import Array, blocks
from ..core.stored import Floats, must
from ._neighbors import LOW, Neighbors
from ._rounding import UNIT

__all__ = ["Segments", "on_longest_paths", "spanning_tree"]

#: Number of nearest neighbors of each row that are computed first. Few rows need more of them to find their edges.
_LISTED_NEIGHBORS = 10

#: Number of nearest midpoints of segments in the first search for the nearest segment, and factor by which the next
#: searches increase it.
_MIDPOINTS = 4


def spanning_tree(V: Array) -> tuple[Array, Array]:
    """Edges (pairs of row numbers) of the minimum spanning tree, and their lengths; for at least two distinct rows.

    Borůvka's algorithm: each round connects every component except the largest to the nearest row outside it, until
    one component is left.
    """
    n = len(V)
    listed = Neighbors(V).of_each_other(min(_LISTED_NEIGHBORS, n - 1))
    edges, part = np.empty((0, 2), dtype=int), np.arange(n)
    while part.any():
        edges = np.unique(np.concatenate([edges, _joins(V, part, *listed)]), axis=0)
        part = connected_components(_graph(edges, np.ones(len(edges)), n), directed=False)[1]
    # SciPy takes a length of zero for a missing edge, so prevent underflow.
    lengths = np.maximum(np.linalg.norm(V[edges[:, 0]] - V[edges[:, 1]], axis=1), np.finfo(float).tiny)
    # Edges of equal length may form a cycle; the spanning tree of these edges has none.
    tree = minimum_spanning_tree(_graph(edges, lengths, n)).tocoo()
    return np.stack([tree.row, tree.col], axis=1), tree.data


def _joins(V: Array, part: Array, distances: Array, listed: Array) -> Array:
    """The shortest edge that leaves each component except the largest, with the smaller row number first."""
    outside = part[listed] != part[:, None]
    found, first = outside.any(axis=1), outside.argmax(axis=1)[:, None]
    gap = np.where(found, np.take_along_axis(distances, first, 1)[:, 0], np.inf)
    nearest = np.take_along_axis(listed, first, 1)[:, 0]
    size = np.bincount(part)
    shortest = np.full(len(size), np.inf)
    np.minimum.at(shortest, part, gap)
    # Rows that are not in a row's list of neighbors are farther away than those in it.
    unsettled = ~found & (distances[:, -1] < shortest[part]) & (part != size.argmax())
    for side in _sides(part):
        rows, others = np.flatnonzero(unsettled & side), np.flatnonzero(~side)
        if len(rows):
            distance, number = (x[:, 0] for x in Neighbors(V[others]).of(V[rows], 1))
            nearer = distance < gap[rows]
            gap[rows[nearer]], nearest[rows[nearer]] = distance[nearer], others[number[nearer]]
    order = np.lexsort((gap, part))
    leaving = order[np.unique(part[order], return_index=True)[1]]
    leaving = leaving[part[leaving] != size.argmax()]
    return np.sort(np.stack([leaving, nearest[leaving]], axis=1), axis=1)


def _sides(part: Array) -> Iterator[Array]:
    """Masks of rows by each binary digit of their component; different components differ in a digit."""
    for digit in range(int(part.max()).bit_length()):
        side = (part >> digit & 1).astype(bool)
        yield side
        yield ~side


def on_longest_paths(edges: Array, lengths: Array, n_paths: int) -> Array:
    """Whether each edge lies on one of the `n_paths` longest paths between leaves of the tree."""
    n = edges.max() + 1
    tree = _graph(edges, lengths, n)
    leaves = _far_leaves(tree, np.flatnonzero(np.bincount(edges.ravel(), minlength=n) == 1), n_paths)
    D = dijkstra(tree, directed=False, indices=leaves)
    pairs = np.triu_indices(len(leaves), k=1)
    ends = D[:, leaves][pairs]
    longest = np.argsort(-ends, kind="stable")[:n_paths]
    on_path = np.zeros(len(edges), dtype=bool)
    for start, stop, length in zip(pairs[0][longest], pairs[1][longest], ends[longest], strict=True):
        visited = D[start] + D[stop] <= length * (1 + 1e-9)
        on_path |= visited[edges].all(axis=1)
    return on_path


def _far_leaves(tree: coo_array, leaves: Array, n_paths: int) -> Array:
    """The leaves at which one of the longest paths can end.

    The leaf that is farthest from any given leaf is an end of the longest path. The `n_paths` longest paths from there
    give a lower bound on the lengths sought. A leaf whose farthest leaf is nearer than this bound ends none of them.
    """
    first = leaves[dijkstra(tree, directed=False, indices=leaves[0])[leaves].argmax()]
    from_first = dijkstra(tree, directed=False, indices=first)[leaves]
    from_last = dijkstra(tree, directed=False, indices=leaves[from_first.argmax()])[leaves]
    if n_paths >= len(leaves):
        return leaves
    shortest = np.sort(from_first)[-n_paths]
    return leaves[np.maximum(from_first, from_last) >= shortest * (1 - 1e-9)]


@dataclass(frozen=True)
class Segments:
    """The segments from ``A[e]`` to ``B[e]``, and differences between rows and the nearest segment."""

    A: Annotated[Array, Floats("_s d")]
    B: Annotated[Array, Floats("_s d")]

    def __check__(self) -> None:
        with np.errstate(over="ignore"):
            must(bool(np.isfinite(self._squared_length).all()), "segments must have lengths that can be squared")

    @cached_property
    def _direction(self) -> Array:
        return self.B - self.A

    @cached_property
    def _squared_length(self) -> Array:
        return np.vecdot(self._direction, self._direction)

    @cached_property
    def _classes(self) -> list[tuple[Array, float, cKDTree]]:
        return list(self._by_length()) if self.A.shape[1] <= LOW else []

    def gaps(self, Z: Array) -> Array:
        """Difference between each row and the nearest point on the segments."""
        return self._gaps(Z, self._nearest_by_trees(Z) if self._classes else self._nearest_by_products(Z))

    def _gaps(self, Z: Array, e: Array) -> Array:
        """Difference between row i and the nearest point on segment ``e[i]``."""
        gaps = Z - self.A[e]
        direction, squared_length = self._direction[e], self._squared_length[e]
        t = np.vecdot(gaps, direction) / np.where(squared_length > 0, squared_length, 1)
        return gaps - np.clip(t, 0, 1)[..., None] * direction

    def _squared(self, Z: Array, e: Array) -> Array:
        gaps = self._gaps(Z, e)
        return np.vecdot(gaps, gaps)

    # Few features: search midpoints in ascending order of distance. The distance to a segment is at least the distance
    # to its midpoint minus half its length.

    def _by_length(self) -> Iterator[tuple[Array, float, cKDTree]]:
        """For each class of similar length, shortest first: segments, largest half length, tree of midpoints."""
        A, B, lengths = self.A, self.B, np.sqrt(self._squared_length)
        usual = np.median(lengths)
        size = np.ceil(np.log2(np.maximum(lengths / usual, 1))) if usual > 0 else np.zeros(len(lengths))
        # Bound on the rounding error of midpoints.
        slack = 2 * UNIT * np.abs([A, B]).max() * np.sqrt(A.shape[1])
        for s in np.unique(size):
            members = np.flatnonzero(size == s)
            yield members, lengths[members].max() / 2 + slack, cKDTree((A[members] + B[members]) / 2)

    def _nearest_by_trees(self, Z: Array) -> Array:
        nearest, squared = np.zeros(len(Z), dtype=int), np.full(len(Z), np.inf)
        for members, half, middles in self._classes:
            rows, k = np.arange(len(Z)), min(_MIDPOINTS, len(members))
            while len(rows):
                farthest = np.empty(len(rows))
                for a, b in blocks(len(rows), 2 * k * Z.shape[1], Z):
                    here = rows[a:b]
                    distances, found = middles.query(Z[here], np.arange(1, k + 1))
                    farthest[a:b] = distances[:, -1]
                    e = members[
                        np.minimum(found, len(members) - 1)
                    ]  # the tree finds no midpoint if the distance overflows
                    those = self._squared(Z[here, None, :], e)
                    best = those.argmin(axis=1)[:, None]
                    least = np.take_along_axis(those, best, 1)[:, 0]
                    nearer = least < squared[here]
                    squared[here[nearer]] = least[nearer]
                    nearest[here[nearer]] = np.take_along_axis(e, best, 1)[nearer, 0]
                if k == len(members):
                    break
                rows = rows[farthest - half < np.sqrt(squared[rows])]
                k = min(_MIDPOINTS * k, len(members))
        return nearest

    # Many features: matrix products give lower bounds on all distances; exact differences decide among the few nearest.

    def _nearest_by_products(self, Z: Array) -> Array:
        origin = self.A.mean(axis=0)  # a shift does not change distances, but reduces rounding errors
        centered, A = Z - origin, self.A - origin
        start, own = np.vecdot(A, self._direction), np.vecdot(centered, centered)
        safe = np.where(self._squared_length > 0, self._squared_length, 1)
        norms = np.vecdot(A, A)
        norms -= UNIT * Z.shape[1] * (norms + self._squared_length)
        nearest = np.empty(len(Z), dtype=int)
        for a, b in blocks(len(Z), 2 * len(A), Z):
            bound = centered[a:b] @ self._direction.T
            bound -= start
            t = bound / safe
            np.clip(t, 0, 1, out=t)
            # A lower bound of ‖z - a - t e‖² - ‖z‖²; ‖z‖² is the same for all segments.
            bound *= -2
            bound += t * self._squared_length
            bound *= t
            bound += norms
            bound -= 2 * (centered[a:b] @ A.T)
            enough = self._squared(Z[a:b], bound.argmin(axis=1)) - own[a:b] * (1 - UNIT * Z.shape[1])
            rows, e = np.nonzero(~(bound > enough[:, None]))
            few = blocks(len(rows), Z.shape[1], Z)
            squared = np.concatenate([self._squared(Z[a:b][rows[i:j]], e[i:j]) for i, j in few])
            order = np.lexsort((squared, rows))
            nearest[a:b] = e[order[np.searchsorted(rows[order], np.arange(b - a))]]
        return nearest


def _graph(edges: Array, weights: Array, n: int) -> coo_array:
    ends = edges.astype(np.int32)  # the only type of row numbers that csgraph of SciPy below 1.17 takes
    return coo_array((weights, (ends[:, 0], ends[:, 1])), shape=(n, n))
