"""What users hand in, before it is read: rows, labels, weights, columns, seeds, devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import torch

__all__ = ["Device", "Labels", "Name", "Rows", "Seed", "Shaped", "Weights"]


class Shaped(Protocol):
    """An array of any library, a data frame or a Dask collection: all that these share."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and, where it has any, columns."""
        ...


#: A table of rows, which only a reader may look into.
Rows: TypeAlias = Shaped | Sequence[object]
#: One label a row: of classes, of groups, of what an expert says.
Labels: TypeAlias = Shaped | Sequence[object]
#: One weight a row.
Weights: TypeAlias = Shaped | Sequence[float]
#: A column of a table, by its name or its number.
Name: TypeAlias = str | int
#: What scikit-learn draws by.
Seed: TypeAlias = int | np.random.RandomState | None
#: Where PyTorch is to compute.
Device: TypeAlias = "str | torch.device"
