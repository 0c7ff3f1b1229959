"""The protocol of engines, which sum the results of a function over all chunks of the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from ..core.block import Block

__all__ = ["Engine"]

S = TypeVar("S")


class Engine(Protocol):
    """An object that gives the core access to rows in memory, in chunks or on a cluster."""

    @property
    def loss_limit(self) -> float:
        """Upper bound on the number of losses that are kept individually."""
        ...

    def total(self, step: Callable[[Block], S], label: str) -> S:
        """Sum of the results of `step` over all blocks of rows."""
        ...
