"""A warning if training rows look dependent, and `time_blocks`, which groups the rows of a time series."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array, to_numpy
from ..core.dependence import FEWEST, centred_ranks, crowding, decorrelation, succession
from ..core.typing import Rows
from ..core.wording import parameter
from ..engines.threads import on_one_thread
from .reading import Header, read_rows
from .warnings import DependentRowsWarning, warn

__all__ = ["time_blocks", "warn_if_dependent"]

#: Upper bounds on the number of rows, counted from the first: for the check of a fit, and for the decorrelation time.
_MAX_CHECKED_ROWS, _MAX_TIMED_ROWS = 1000, 20_000

#: Upper bound on the copies of a weighted row in the check for near-duplicates.
_MAX_COPIES = 4

#: Number of independent rows in a series below which `time_blocks` warns.
_MIN_INDEPENDENT_ROWS = 8


def warn_if_dependent(estimator: object, X: Array, w: Array | None = None) -> None:
    """Warn if rows are too similar to be independent. At most the first `_MAX_CHECKED_ROWS` rows are checked.

    If weights are given, a row of weight w counts as w copies of the row.
    """
    n = X.shape[0]
    if n < FEWEST:
        return
    first = np.asarray(to_numpy(X[: min(n, _MAX_CHECKED_ROWS), :]), dtype=np.float64)
    with on_one_thread(0, first):
        found = _dependence(first, w)
    if found is not None:
        seen, remedy = found
        warn(
            f"{type(estimator).__name__}: {seen}, so that held-out losses are too small and new rows may be rejected "
            f"far more often than asked for; name the rows that belong together with {parameter('groups')}{remedy}",
            DependentRowsWarning,
        )


def _dependence(rows: NDArray[np.float64], w: Array | None) -> tuple[str, str] | None:
    """A description of the dependence between rows and a remedy, as text; None if the rows look independent."""
    Z = centred_ranks(rows)
    if not Z.shape[1]:
        return None
    if (follows := succession(Z)) is not None:
        apart = "that follow one another" if follows.lag == 1 else f"{follows.lag} rows apart"
        seen = f"rows {apart} are alike (correlation {follows.correlation:.2f})"
        remedy = (
            " (for a time series, time_blocks(X) makes such groups); if the table is merely sorted, shuffle it first"
        )
    elif (crowd := crowding(Z)) is not None:
        nearest = "the nearest row is" if crowd.neighbors == 1 else f"the {crowd.neighbors} nearest rows are"
        seen = f"rows have near-duplicates ({nearest} far closer than the next ones)"
        remedy = ""
    elif w is not None and crowding(centred_ranks(_repeated(rows, w))) is not None:
        seen = "rows that weigh 2 or more count as copies of themselves, of which one at a time is held out"
        remedy = "; one group a row, range(len(X)), holds a row out with its whole weight"
    else:
        return None
    return seen, remedy


def _repeated(rows: NDArray[np.float64], w: Array) -> NDArray[np.float64]:
    """Rows repeated by their weights, at most `_MAX_COPIES` times each and `_MAX_CHECKED_ROWS` rows in all."""
    copies = np.clip(to_numpy(w[: len(rows)]), 1, _MAX_COPIES).astype(int)
    return np.repeat(rows, copies, axis=0)[:_MAX_CHECKED_ROWS]


def time_blocks(X: Rows | int, length: int | None = None) -> NDArray[np.int64]:
    """Groups for rows in the order of time: blocks of consecutive rows, for ``fit(X, groups=...)``.

    In a time series, a row is similar to the rows just before and after it. If only that row is held out, its held-out
    loss is too small. With these groups, a row is held out with its whole block, and is scored by a model fitted on
    rows from other times.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or int
        Rows in the order of time, or their number.
    length : int, optional
        Number of rows in a block. By default it is the decorrelation time: the number of rows after which the
        autocorrelation has fallen to a third. It is the mean over the columns, computed from the ranks of at most
        20,000 rows. Longer blocks are more nearly independent, but there are fewer of them: ``delta=0.05`` needs at
        least 19 blocks.

    Returns
    -------
    array of shape (n_samples,)
        Block number of each row. There are at least two blocks, and their lengths differ by at most one row.

    Warns
    -----
    DependentRowsWarning
        If the series has fewer than eight independent rows, where their number is estimated as the number of rows
        divided by twice the decorrelation time. The false-alarm rate for rows from another time is then unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass import VAAKELM, time_blocks
    >>> time_blocks(7, length=3)
    array([0, 0, 0, 0, 1, 1, 1])
    >>> X = np.random.default_rng(0).normal(size=(309, 2))
    >>> X = np.apply_along_axis(np.convolve, 0, X, np.ones(10), "valid")  # means of ten
    >>> model = VAAKELM(delta=0.1).fit(X, groups=time_blocks(X))
    """
    if isinstance(X, int | Integral):
        n, rows = int(X), None
    else:
        rows = to_numpy(read_rows(Header("time_blocks"), X))
        n = len(rows)
    if length is None:
        length = _decorrelation(rows)
        independent = n / (2 * length)
        if independent < _MIN_INDEPENDENT_ROWS:
            warn(
                f"time_blocks: {n} rows that are alike for about {length} hold about {max(1, round(independent))} "
                "independent ones, too few to say how often rows of another time will be rejected; use a longer series",
                DependentRowsWarning,
            )
    elif not isinstance(length, Integral) or isinstance(length, bool) or length < 1:
        raise ValueError(f"time_blocks: length must be a whole number of at least 1, got {length!r}")
    if n < 2:
        raise ValueError(f"time_blocks: X must have at least 2 rows, got {n}")
    return np.arange(n, dtype=np.int64) * max(2, n // int(length)) // n


def _decorrelation(rows: NDArray[np.floating] | None) -> int:
    Z = np.empty((0, 0)) if rows is None else centred_ranks(np.asarray(rows[:_MAX_TIMED_ROWS], dtype=np.float64))
    if not Z.shape[1]:
        what = "a number of rows" if rows is None else "columns that are constant or sorted"
        raise ValueError(f"time_blocks: length must be given for {what}, got None")
    return decorrelation(Z)
