"""Rows that belong together: which row is in which group, and how much each group weighs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .arrays import Array, device, namespace, to_numpy

__all__ = ["Groups"]


@dataclass(frozen=True)
class Groups:
    """The number of the group of each row, from 0 on, every number taken."""

    of_rows: np.ndarray[Any, Any]

    @cached_property
    def by_size(self) -> list[np.ndarray[Any, Any]]:
        """Rows of the groups, one matrix (groups x size) for each size."""
        order = np.argsort(self.of_rows, kind="stable")
        sizes = np.bincount(self.of_rows)
        starts = np.cumsum(sizes) - sizes
        distinct = np.unique(sizes)
        return [order[starts[sizes == size][:, None] + np.arange(size)] for size in distinct]

    @property
    def count(self) -> int:
        """Number of groups."""
        return int(self.of_rows.max()) + 1

    def weights(self, w: Array) -> Array:
        """Row weights under which every group weighs one."""
        xp = namespace(w)
        shares = np.bincount(self.of_rows, weights=to_numpy(w))
        return w / xp.asarray(shares[self.of_rows], dtype=w.dtype, device=device(w))
