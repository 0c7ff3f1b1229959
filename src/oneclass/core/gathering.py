"""Moments of scaled rows by their features, cluster by cluster and in blocks that bound the memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from . import clusters
from .arrays import Array, blocks, copy, is_host_double, namespace
from .features import FeatureMap
from .moments import Moments, Part

__all__ = ["moments_of_rows"]

#: From scaled rows to what a machine is to make of them.
Target = Callable[[Array], Array]


def moments_of_rows(
    map: FeatureMap, Z: Array, F: Array | None, target: Target, w: Array | None, centres: Array | None
) -> Moments:
    """Moments of scaled rows, whose features may be known, about the nearest of the clusters' centres."""
    if not Z.shape[0]:
        return Moments.nothing(map(Z), target(Z), 1 if centres is None else centres.shape[0])
    # One cluster after the other, and not one block after the other: as few sums of matrices, and as little memory.
    return Moments.gathered([_parts(map, Z, F, target, w, members) for members in _by_cluster(Z, centres)])


def _parts(
    map: FeatureMap, Z: Array, F: Array | None, target: Target, w: Array | None, members: Array | None
) -> Iterator[Part]:
    """Blocks of the rows at some places, or of all."""

    def some(of: Array, a: int, b: int) -> Array:
        return copy(of[a:b, ...]) if members is None else namespace(of).take(of, members[a:b], axis=0)

    n = (Z if members is None else members).shape[0]
    # Squares that BLAS adds up need no large blocks: those in a cache are quicker.
    for a, b in blocks(n, map.width, Z, for_products=not is_host_double(Z, Z)):
        rows, weights = some(Z, a, b), None if w is None else some(w, a, b)
        yield map(rows) if F is None else some(F, a, b), target(rows), weights


def _by_cluster(Z: Array, centres: Array | None) -> list[Array | None]:
    """The places of the rows of each cluster; None if all are one."""
    if centres is None:
        return [None]
    labels = clusters.assign(Z, centres)
    return [namespace(Z).nonzero(labels == p)[0] for p in range(centres.shape[0])]
