"""Euclidean minimum spanning trees: building, longest paths, distance to the edges."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, dijkstra, minimum_spanning_tree

from ..core.arrays import Array, blocks

__all__ = ["distance_to_segments", "on_longest_paths", "spanning_tree"]


def spanning_tree(V: Array) -> tuple[Array, Array]:
    """Edges (pairs of row numbers) and their lengths of the minimum spanning tree of distinct rows.

    Borůvka's rounds: join every part to the nearest row outside it until one part is left.
    """
    n = len(V)
    edges, part = np.empty((0, 2), dtype=int), np.arange(n)
    while part.any():
        edges = np.unique(np.concatenate([edges, _joins(V, part)]), axis=0)
        part = connected_components(_graph(edges, np.ones(len(edges)), n), directed=False)[1]
    lengths = np.linalg.norm(V[edges[:, 0]] - V[edges[:, 1]], axis=1)
    # Equal lengths may have closed a cycle; the tree of the edges found has none.
    tree = minimum_spanning_tree(_graph(edges, lengths, n)).tocoo()
    return np.stack([tree.row, tree.col], axis=1), tree.data


def _joins(V: Array, part: Array) -> Array:
    """The shortest edge that leaves each part, smaller row number first."""
    centred = V - V.mean(axis=0)
    norms = np.vecdot(centred, centred)
    nearest, gap = np.empty(len(V), dtype=int), np.empty(len(V))
    for a, b in blocks(len(V), len(V), V):
        D = centred[a:b] @ (-2 * centred.T)
        D += norms
        D[part[a:b, None] == part] = np.inf
        nearest[a:b] = D.argmin(axis=1)
        gap[a:b] = D.min(axis=1) + norms[a:b]
    order = np.lexsort((gap, part))
    leaving = order[np.unique(part[order], return_index=True)[1]]
    return np.sort(np.stack([leaving, nearest[leaving]], axis=1), axis=1)


def on_longest_paths(edges: Array, lengths: Array, n_paths: int) -> Array:
    """Whether each edge of a tree lies on one of its `n_paths` longest paths, which run from leaf to leaf."""
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

    The farthest leaf from any leaf is an end of the longest path of all. The longest paths from that end are long ones
    already; a leaf whose farthest leaf is nearer than the last of `n_paths` such ends none.
    """
    first = leaves[dijkstra(tree, directed=False, indices=leaves[0])[leaves].argmax()]
    from_first = dijkstra(tree, directed=False, indices=first)[leaves]
    from_last = dijkstra(tree, directed=False, indices=leaves[from_first.argmax()])[leaves]
    if n_paths >= len(leaves):
        return leaves
    shortest = np.sort(from_first)[-n_paths]
    return leaves[np.maximum(from_first, from_last) >= shortest * (1 - 1e-9)]


def distance_to_segments(Z: Array, A: Array, B: Array) -> Array:
    """Distance of each row of `Z` to the nearest of the segments from ``A[e]`` to ``B[e]``."""
    origin = A.mean(axis=0)  # distances do not see a shift, rounding does
    Z, A, B = Z - origin, A - origin, B - origin
    direction = B - A
    squared_length = np.vecdot(direction, direction)
    safe = np.where(squared_length > 0, squared_length, 1)
    start, norms = np.vecdot(A, direction), np.vecdot(A, A)
    nearest = np.empty(len(Z), dtype=int)
    for a, b in blocks(len(Z), 2 * len(A), Z):
        along = Z[a:b] @ direction.T
        along -= start
        t = along / safe
        np.clip(t, 0, 1, out=t)
        # ‖z - a - t e‖² without ‖z‖², which is the same for all segments.
        along *= -2
        along += t * squared_length
        along *= t
        along += norms
        along -= 2 * (Z[a:b] @ A.T)
        nearest[a:b] = along.argmin(axis=1)
    return _distance_to_own_segment(Z, A[nearest], direction[nearest], safe[nearest])


def _distance_to_own_segment(Z: Array, A: Array, direction: Array, squared_length: Array) -> Array:
    """From differences, free of the rounding that only the choice of the nearest segment may bear."""
    t = np.clip(np.vecdot(Z - A, direction) / squared_length, 0, 1)
    return np.linalg.norm(Z - A - t[:, None] * direction, axis=1)


def _graph(edges: Array, weights: Array, n: int) -> coo_array:
    return coo_array((weights, (edges[:, 0], edges[:, 1])), shape=(n, n))
