"""Rows in memory, on the host or a device: one chunk; the core cuts it into blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from ..core.arrays import Array

__all__ = ["InMemory"]

S = TypeVar("S")


@dataclass(frozen=True)
class InMemory:
    """The engine of rows `X` with weights `w`; weights of None are ones."""

    X: Array
    w: Array | None

    def total(self, step: Callable[[Array, Array | None], S], label: str) -> S:
        """What `step` makes of the rows."""
        return step(self.X, self.w)
