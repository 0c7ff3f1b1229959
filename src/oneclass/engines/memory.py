"""Rows in memory, on the host or a device: chunks are slices of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import ClassVar, TypeVar

from ..core.arrays import Array, blocks, on_host
from .threads import on_one_thread, spread

__all__ = ["InMemory"]

S = TypeVar("S")

#: Rows of a slice of host rows.
_SHORTEST, _LONGEST = 4_096, 131_072


@dataclass(frozen=True)
class InMemory:
    """The engine of rows `X` with weights `w`; weights of None are ones."""

    X: Array
    w: Array | None

    #: The losses of all rows are kept: the rows are in memory anyway.
    loss_limit: ClassVar[float] = math.inf

    def total(self, step: Callable[[Array, Array | None], S], label: str) -> S:
        """Sum of what `step` makes of slices of the rows, so that no step copies them all."""
        n = self.X.shape[0]
        # Enough slices for the cores to share, each long enough for its sums to be worth adding up.
        at_most = min(max(_SHORTEST, -(-n // 8)), _LONGEST) if on_host(self.X) else None
        slices = list(blocks(n, self.X.shape[1], self.X, for_products=True, at_most=at_most))
        if len(slices) == 1:
            with on_one_thread(n, self.X):
                return step(self.X, self.w)
        return reduce(add, spread(lambda ab: self._part(step, *ab), slices, self.X))

    def _part(self, step: Callable[[Array, Array | None], S], a: int, b: int) -> S:
        return step(self.X[a:b, :], None if self.w is None else self.w[a:b])
