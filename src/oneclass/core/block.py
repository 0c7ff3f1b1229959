"""A block of rows with their weights, group keys and features, which engines pass to the core."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .arrays import Array

__all__ = ["Block"]


@dataclass(frozen=True)
class Block:
    """Rows in memory, with their weights, group keys and features."""

    X: Array
    w: Array | None = None  # None means ones
    keys: NDArray[np.int64] | None = None  # key of each row's group, if the rows have groups
    F: Array | None = None  # features, if they are already computed

    @property
    def group_keys(self) -> NDArray[np.int64]:
        """The key of each row's group."""
        if self.keys is None:
            raise ValueError("the rows have no groups")
        return self.keys
