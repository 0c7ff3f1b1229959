"""Groups of rows that users name: persons, machines, days."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.groups import Groups

__all__ = ["read_groups"]


def read_groups(estimator: Any, groups: Any, n_rows: int) -> Groups | None:
    """Groups of `n_rows` rows by any labels; None when there are none, or when every row is a group of its own."""
    if groups is None:
        return None
    name = type(estimator).__name__
    labels = np.asarray(groups)
    if labels.shape != (n_rows,):
        raise ValueError(f"{name}: groups must be one label a row, of shape ({n_rows},), got {labels.shape}")
    missing = labels != labels if labels.dtype.kind == "f" else np.array([label is None for label in labels])
    if np.any(missing):
        raise ValueError(
            f"{name}: groups must name the group of every row, but {int(missing.sum())} labels are missing"
        )
    numbers = np.unique(labels.astype(str) if labels.dtype == object else labels, return_inverse=True)[1]
    found = Groups(np.asarray(numbers).reshape(-1))
    if found.count < 2:
        raise ValueError(f"{name}: groups must be at least two, since one is held out; got {found.count}")
    return None if found.count == n_rows else found
