"""What an engine does: sum what a function makes of every chunk, wherever the chunks are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from ..core.block import Block

__all__ = ["Engine"]

S = TypeVar("S")


class Engine(Protocol):
    """A way for rows to reach the core."""

    @property
    def loss_limit(self) -> float:
        """Losses that are kept one by one."""
        ...

    def total(self, step: Callable[[Block], S], label: str) -> S:
        """Sum of what `step` makes of every block of rows."""
        ...
