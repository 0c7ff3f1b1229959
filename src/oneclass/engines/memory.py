"""Rows in memory, on the host or a device: chunks are slices of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from ..core.arrays import Array, blocks

__all__ = ["InMemory"]

S = TypeVar("S")


@dataclass(frozen=True)
class InMemory:
    """The engine of rows `X` with weights `w`; weights of None are ones."""

    X: Array
    w: Array | None

    #: The losses of all rows are kept: the rows are in memory anyway.
    loss_limit: ClassVar[float] = math.inf

    def total(self, step: Callable[[Array, Array | None], S], label: str) -> S:
        """Sum of what `step` makes of slices of the rows, so that no step copies them all."""
        result: S | None = None
        for a, b in blocks(self.X.shape[0], self.X.shape[1], self.X, for_products=True):
            part = step(self.X[a:b, :], None if self.w is None else self.w[a:b])
            result = part if result is None else result + part  # type: ignore[operator]
        return result  # type: ignore[return-value]
