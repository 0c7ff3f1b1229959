"""What columns looked like at the fit: a few quantiles of each, so that new rows can be held against them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from numpy.typing import NDArray

from .arrays import Array, device, namespace, to_numpy
from .stored import Count, Floats, Whole

__all__ = ["LEVELS", "ColumnSummary"]

#: Shares of the rows whose quantiles are kept.
LEVELS = np.linspace(0, 1, 33)

#: Largest number of rows from which the quantiles are computed; more rows hardly improve them.
_QUANTILE_ROWS = 4096


@dataclass(frozen=True)
class ColumnSummary:
    """Quantiles of the known values of each column, those of `LEVELS`, and how many of the rows had a gap there.

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
        """The columns of rows in which NaN is a gap; of a sample, where they are many. A column of gaps has NaN."""
        if X.shape[0] > _QUANTILE_ROWS:
            chosen = np.sort(np.random.default_rng(0).choice(X.shape[0], _QUANTILE_ROWS, replace=False))
            xp = namespace(X)
            X = xp.take(X, xp.asarray(chosen, device=device(X)), axis=0)
        ranked = np.sort(to_numpy(X).astype(float, copy=False), axis=0)  # gaps come last
        known = np.count_nonzero(~np.isnan(ranked), axis=0)
        place = LEVELS[:, None] * np.maximum(known - 1, 0)
        below = np.floor(place).astype(np.intp)
        low, high = (ranked[at, np.arange(ranked.shape[1])] for at in (below, np.ceil(place).astype(np.intp)))
        part = place - below
        return cls(len(ranked), low * (1 - part) + high * part, (len(ranked) - known).astype(np.int64))
