"""What engines hand to the core: some of the rows, and what is known of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .arrays import Array

__all__ = ["Block"]


@dataclass(frozen=True)
class Block:
    """Rows that are together in memory, and what is known of each of them."""

    X: Array
    w: Array | None = None  # None are ones
    keys: NDArray[np.int64] | None = None  # of the groups, where rows belong to some
    F: Array | None = None  # features, where these were worked out before

    @property
    def group_keys(self) -> NDArray[np.int64]:
        """The keys of the groups of the rows."""
        if self.keys is None:
            raise ValueError("the rows have no groups")
        return self.keys
