"""Choose parameters by validation folds: the first of the best means, and all that are equal to it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["CHOICES", "CS", "DELTAS", "KS", "best"]

Float = NDArray[np.float64]
Index = tuple[int, ...]

#: The paper's grid.
CS = tuple(2.0**e for e in range(-5, 6))
KS = tuple(range(1, 11))
DELTAS = (0.01, 0.05, 0.10)

#: Name of a choice -> which of `DELTAS` are searched: all, or one.
CHOICES = {
    "best": np.ones(len(DELTAS), dtype=bool),
    **{f"delta={delta:g}": np.equal(DELTAS, delta) for delta in DELTAS},
}


def best(folds: Sequence[Float]) -> tuple[list[Index], float]:
    """Grid points with the highest mean over the folds, and that mean.

    Points are in the release's order: the first axis (C) varies fastest, the last (delta) slowest. A point that accepts
    nothing in some fold has no mean and is not chosen. If no point has a mean, all are.

    Parameters
    ----------
    folds : sequence of arrays of the same shape
        Validation score of every grid point in every fold.

    Returns
    -------
    tuple
        Indices of the best grid points, and their mean.

    Examples
    --------
    >>> import numpy as np
    >>> best([np.array([[0.2, 0.5], [0.5, np.nan]])])
    ([(1, 0), (0, 1)], 0.5)
    """
    mean = np.mean(np.stack(folds), axis=0)
    if np.isnan(mean).all():
        mean = np.zeros_like(mean)
    top = float(np.nanmax(mean))
    level = mean.T - top
    ties = np.argwhere(level >= -1e-12)[:, ::-1]
    return [tuple(int(i) for i in tie) for tie in ties], top
