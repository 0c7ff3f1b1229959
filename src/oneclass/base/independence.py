"""What fits say of rows that do not look independent of one another, and blocks of time for rows in its order."""

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

#: Largest number of rows that a fit checks for dependence, and from which a decorrelation time is computed. The first
#: rows are used, because their order is that of the data.
_CHECKED_ROWS, _DECORRELATION_ROWS = 1000, 20_000

#: Copies of a row that are enough to see that it has some.
_COPIES = 4

#: Number of independent rows below which `time_blocks` warns that the false-alarm rate at other times is unknown.
_INDEPENDENT_ROWS = 8


def warn_if_dependent(estimator: object, X: Array, w: Array | None = None) -> None:
    """Say so if some of the rows, of which a bounded number is looked at, are too close to be independent.

    A row of weight w is w copies of itself, where weights are given.
    """
    n = X.shape[0]
    if n < FEWEST:
        return
    first = np.asarray(to_numpy(X[: min(n, _CHECKED_ROWS), :]), dtype=np.float64)
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
    """What is seen of rows that depend on one another, and what may be done about it."""
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
    """So many rows, one after the other with as many copies as tell that there are some."""
    copies = np.clip(to_numpy(w[: len(rows)]), 1, _COPIES).astype(int)
    return np.repeat(rows, copies, axis=0)[:_CHECKED_ROWS]


def time_blocks(X: Rows | int, length: int | None = None) -> NDArray[np.int64]:
    """Groups for rows in the order of time: blocks of rows that follow one another, for ``fit(X, groups=...)``.

    A row is like those just before and after it, so that it is held out in vain while these stay. Held out with its
    block it is judged by rows from other times.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or int
        Rows in the order of time, or their number.
    length : int, optional
        Rows of a block. By default the rows' decorrelation time, the number of rows after which their correlation has
        fallen to a third: the mean over the columns, of ranks and so free of tails, read from at most 20,000 rows.
        Longer blocks are safer and leave fewer of them: a budget of 5 % needs 19.

    Returns
    -------
    array of shape (n_samples,)
        Number of the block of each row; blocks differ by one row in length at most, and there are at least two.

    Warns
    -----
    DependentRowsWarning
        If the rows hold fewer than eight independent ones (their number over twice the decorrelation time): no
        threshold can promise anything of rows from another time then.

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
        if independent < _INDEPENDENT_ROWS:
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
    Z = np.empty((0, 0)) if rows is None else centred_ranks(np.asarray(rows[:_DECORRELATION_ROWS], dtype=np.float64))
    if not Z.shape[1]:
        what = "a number of rows" if rows is None else "columns that are constant or sorted"
        raise ValueError(f"time_blocks: length must be given for {what}, got None")
    return decorrelation(Z)
