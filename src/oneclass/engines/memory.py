"""The engine for rows in memory, on the host or a device; its chunks are slices of the rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import ClassVar, TypeVar

from ..core.arrays import Array, blocks, namespace, on_host
from ..core.block import Block
from .threads import cores, on_one_thread, spread

__all__ = ["InMemory"]

S = TypeVar("S")

#: Number of rows in a slice of host rows: the smallest one, the one from which on the overhead does not matter, and the
#: largest one, which bounds the memory of a step.
_SHORTEST_SLICE, _EFFICIENT_SLICE, _LONGEST_SLICE = 2_048, 8_192, 131_072


@dataclass(frozen=True)
class InMemory:
    """Engine for rows `X` with weights `w`, which are ones if None.

    If the features `F` of the rows are stored, steps get these too.
    """

    X: Array
    w: Array | None
    F: Array | None = None

    #: The losses of all rows are kept, because the rows are in memory as well.
    loss_limit: ClassVar[float] = math.inf

    def total(self, step: Callable[[Block], S], label: str) -> S:
        """Sum of the results of `step` over slices of the rows, so that no step copies all rows."""
        return reduce(add, self._parts(lambda a, b: step(self._block(a, b))))

    def with_features(self, features: Callable[[Array], Array]) -> InMemory:
        """A copy of the engine that stores the features of all rows."""
        parts = list(self._parts(lambda a, b: features(self.X[a:b, :])))
        return replace(self, F=parts[0] if len(parts) == 1 else namespace(self.X).concat(parts))

    def _block(self, a: int, b: int) -> Block:
        w, F = self.w, self.F
        return Block(self.X[a:b, :], None if w is None else w[a:b], F=None if F is None else F[a:b, :])

    def slices(self) -> list[tuple[int, int]]:
        """First row and end of each slice."""
        n = self.X.shape[0]
        at_most = _slice_rows(n, cores()) if on_host(self.X) else None
        return list(blocks(n, self.X.shape[1], self.X, for_products=True, at_most=at_most))

    def _parts(self, step: Callable[[int, int], S]) -> Iterator[S]:
        slices = self.slices()
        if len(slices) > 1:
            yield from spread(lambda ab: step(*ab), slices, self.X)
            return
        with on_one_thread(self.X.shape[0], self.X):
            yield step(0, self.X.shape[0])


def _slice_rows(n: int, workers: int) -> int:
    """Number of rows in a slice: small enough to keep all cores busy, large enough that sums of slices cost little."""
    if workers == 1:
        return _LONGEST_SLICE
    return min(max(_SHORTEST_SLICE, min(_EFFICIENT_SLICE, -(-n // workers)), -(-n // (4 * workers))), _LONGEST_SLICE)
