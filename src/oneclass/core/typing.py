"""Types of user input before validation: rows, labels, weights, columns, seeds and devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import torch

__all__ = ["Device", "Labels", "Name", "Rows", "Seed", "Shaped", "Weights"]


class Shaped(Protocol):
    """An object with a shape: an array of any library, a data frame or a Dask collection."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of rows and, for tables, number of columns."""
        ...


#: A table of rows that is not yet validated.
Rows: TypeAlias = Shaped | Sequence[object]
#: One label for each row: its class, its group, or an expert's label.
Labels: TypeAlias = Shaped | Sequence[object]
#: One weight for each row.
Weights: TypeAlias = Shaped | Sequence[float]
#: A column of a table: its name or its index.
Name: TypeAlias = str | int
#: A random state as in scikit-learn.
Seed: TypeAlias = int | np.random.RandomState | None
#: A PyTorch device.
Device: TypeAlias = "str | torch.device"
