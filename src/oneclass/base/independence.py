"""A warning if training rows look dependent, and `time_blocks`, which groups the rows of a time series."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array, to_numpy
from ..core.dependence import FEWEST, centred_ranks, crowding, decorrelation, succession
from ..core.repeats import copied_rows
from ..core.training_keys import hashes
from ..core.typing import Rows
from ..core.wording import parameter
from ..engines.threads import on_one_thread
from .reading import Header, read_rows
from .warnings import DependentRowsWarning, warn

__all__ = ["column_hints", "time_blocks", "warn_if_dependent"]

#: Upper bounds on the number of rows, counted from the first: for the correlation of successive rows in the check of a
#: fit, for copies and near-duplicates there, and for the decorrelation time.
_MAX_FOLLOWED_ROWS, _MAX_CHECKED_ROWS, _MAX_TIMED_ROWS = 1000, 4_000, 20_000

#: Upper bound on the copies of a weighted row in the check for near-duplicates.
_MAX_COPIES = 4

#: Number of independent rows in a series below which `time_blocks` warns.
_MIN_INDEPENDENT_ROWS = 8


#: What a table says about the columns that it becomes: a mask of those that follow the clock, and, as text, the columns
#: whose values seem to name groups.
_HINTS: ContextVar[tuple[NDArray[np.bool_], str] | None] = ContextVar("hints", default=None)


@contextmanager
def column_hints(clocks: NDArray[np.bool_], named: str) -> Iterator[None]:
    """Leave clocks out of the check of fits in this context, and warn of columns that seem to name groups."""
    token = _HINTS.set((clocks, named))
    try:
        yield
    finally:
        _HINTS.reset(token)


def warn_if_dependent(
    estimator: object, X: Array, w: Array | None = None, *, keys: NDArray[np.int64] | None = None
) -> None:
    """Warn if rows are too similar to be independent. At most the first `_MAX_CHECKED_ROWS` rows are checked.

    If weights are given, a row of weight w counts as w copies of the row. `keys` are the hashes of the rows, if they
    are known.
    """
    n = X.shape[0]
    if n < FEWEST:
        return
    first = np.asarray(to_numpy(X[: min(n, _MAX_CHECKED_ROWS), :]), dtype=np.float64)
    hints = _HINTS.get()
    if hints is not None and len(hints[0]) == first.shape[1]:
        if hints[1]:
            _warn(estimator, hints[1], "")
            return
        first, keys = first[:, ~hints[0]], None
    with on_one_thread(0, first):
        found = _dependence(first, w, hashes(first) if keys is None else keys[: len(first)])
    if found is not None:
        _warn(estimator, *found)


def _warn(estimator: object, seen: str, remedy: str) -> None:
    warn(
        f"{type(estimator).__name__}: {seen}, so that held-out losses are too small and new rows may be rejected "
        f"far more often than asked for; name the rows that belong together with {parameter('groups')}{remedy}",
        DependentRowsWarning,
    )


def _dependence(rows: NDArray[np.float64], w: Array | None, keys: NDArray[np.int64]) -> tuple[str, str] | None:
    """A description of the dependence between rows and a remedy, as text; None if the rows look independent."""
    Z = centred_ranks(rows[:_MAX_FOLLOWED_ROWS])
    if not Z.shape[1]:
        return None
    independent = "; range(len(X)) as groups says that the rows are independent"
    if (follows := succession(Z)) is not None:
        apart = "that follow one another" if follows.lag == 1 else f"{follows.lag} rows apart"
        seen = f"rows {apart} are alike (correlation {follows.correlation:.2f})"
        return seen, f" (for a time series, time_blocks(X) makes such groups){independent}"
    first, times = np.unique(keys, return_index=True, return_counts=True)[1:]
    if share := copied_rows(times):
        seen = f"{share:.0%} of the rows are exact copies of others, more than independent rows would be"
        return seen, ", or drop the copies, if rows were entered twice"
    Z = Z if len(first) == len(Z) else centred_ranks(rows[np.sort(first)])
    if len(Z) >= FEWEST and (crowd := crowding(Z)) is not None:
        nearest = "the nearest row is" if crowd.neighbors == 1 else f"the {crowd.neighbors} nearest rows are"
        return f"rows have near-duplicates ({nearest} far closer than the next ones)", independent
    if w is not None and crowding(centred_ranks(_repeated(rows, w))) is not None:
        seen = "rows that weigh 2 or more count as copies of themselves, of which one at a time is held out"
        return seen, "; one group a row, range(len(X)), holds a row out with its whole weight"
    return None


def _repeated(rows: NDArray[np.float64], w: Array) -> NDArray[np.float64]:
    """Rows repeated by their weights, at most `_MAX_COPIES` times each and `_MAX_FOLLOWED_ROWS` rows in all."""
    copies = np.clip(to_numpy(w[: len(rows)]), 1, _MAX_COPIES).astype(int)
    return np.repeat(rows, copies, axis=0)[:_MAX_FOLLOWED_ROWS]


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
