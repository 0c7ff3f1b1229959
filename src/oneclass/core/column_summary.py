"""A summary of the training columns, with a few quantiles of each, for comparison with new rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from numpy.typing import NDArray

from .arrays import Array, device, namespace, to_numpy
from .stored import Count, Floats, Whole

__all__ = ["LEVELS", "ColumnSummary"]

#: Levels of the quantiles that are stored.
LEVELS = np.linspace(0, 1, 33)

#: Largest number of rows that the quantiles are computed from; more rows hardly improve 33 quantiles.
_QUANTILE_ROWS = 4096


@dataclass(frozen=True)
class ColumnSummary:
    """Quantiles of the known values of each column at `LEVELS`, and the number of missing values of each column.

    Examples
    --------
    >>> import numpy as np
    >>> seen = ColumnSummary.of(np.arange(65.0)[:, None])
    >>> seen.rows, seen.quantiles[[0, 16, 32], 0].tolist()
    (65, [0.0, 32.0, 64.0])
    """

    rows: Count
    quantiles: Annotated[NDArray[np.float64], Floats(f"{len(LEVELS)} features", finite=False)]
    gaps: Annotated[NDArray[np.int64], Whole("features")]

    @classmethod
    def of(cls, X: Array) -> Self:
        """Return the summary of rows, or of a sample of many rows; NaN is a missing value.

        The quantiles of a column without known values are NaN.
        """
        if X.shape[0] > _QUANTILE_ROWS:
            chosen = np.sort(np.random.default_rng(0).choice(X.shape[0], _QUANTILE_ROWS, replace=False))
            xp = namespace(X)
            X = xp.take(X, xp.asarray(chosen, device=device(X)), axis=0)
        ranked = np.sort(to_numpy(X).astype(float, copy=False), axis=0)  # missing values are sorted last
        known = np.count_nonzero(~np.isnan(ranked), axis=0)
        place = LEVELS[:, None] * np.maximum(known - 1, 0)
        below = np.floor(place).astype(np.intp)
        low, high = (ranked[at, np.arange(ranked.shape[1])] for at in (below, np.ceil(place).astype(np.intp)))
        part = place - below
        return cls(len(ranked), low * (1 - part) + high * part, (len(ranked) - known).astype(np.int64))
