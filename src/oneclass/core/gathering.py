"""Moments of the features of scaled rows for each cluster, computed in blocks that bound the memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from . import clusters
from .arrays import Array, blocks, copy, is_host_double, namespace
from .features import FeatureMap
from .moments import Moments, Part

__all__ = ["moments_of_rows", "parts_of_rows"]

#: A function from scaled rows to the targets of a machine.
Target = Callable[[Array], Array]


def moments_of_rows(
    map: FeatureMap, Z: Array, F: Array | None, target: Target, w: Array | None, centres: Array | None
) -> Moments:
    """Return the moments of scaled rows for each cluster; a row is in the cluster with the nearest of the `centres`.

    `F` are the features of the rows, if they are known.
    """
    if not Z.shape[0]:
        return Moments.nothing(map(Z), target(Z), 1 if centres is None else centres.shape[0])
    return Moments.gathered(parts_of_rows(map, Z, F, target, w, centres))


def parts_of_rows(
    map: FeatureMap, Z: Array, F: Array | None, target: Target, w: Array | None, centres: Array | None
) -> list[Iterator[Part]]:
    """Return the rows of each cluster in blocks: as arguments of `Moments.gathered` and `Moments.exchanged`."""
    # Cluster by cluster, not block by block: this needs fewer matrix sums and less memory.
    return [_parts(map, Z, F, target, w, members) for members in _by_cluster(Z, centres)]


def _parts(
    map: FeatureMap, Z: Array, F: Array | None, target: Target, w: Array | None, members: Array | None
) -> Iterator[Part]:
    """Yield blocks of the rows with the indices `members`, or of all rows."""

    def some(of: Array, a: int, b: int) -> Array:
        return copy(of[a:b, ...]) if members is None else namespace(of).take(of, members[a:b], axis=0)

    n = (Z if members is None else members).shape[0]
    # `add_gram` calls BLAS on host rows in float64, and blocks that fit the cache are faster for it.
    for a, b in blocks(n, map.width, Z, for_products=not is_host_double(Z, Z)):
        rows, weights = some(Z, a, b), None if w is None else some(w, a, b)
        yield map(rows) if F is None else some(F, a, b), target(rows), weights


def _by_cluster(Z: Array, centres: Array | None) -> list[Array | None]:
    """Return the indices of the rows of each cluster; None instead of the indices of all rows."""
    if centres is None:
        return [None]
    labels = clusters.assign(Z, centres)
    return [namespace(Z).nonzero(labels == p)[0] for p in range(centres.shape[0])]
