"""Columns of numbers that are copies of other columns, and the rows in which they differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.typing import Name

__all__ = ["CopiedColumn", "copied_columns"]

Numbers = NDArray[np.float64]

#: Smallest share of equal values of a column and its copy, and the number of rows, evenly spaced, that are compared
#: before all rows are.
_EQUAL, _SOME = 0.9, 1_000


class CopiedColumn(NamedTuple):
    """A column that equals another in at least nine of ten rows, and the row numbers in which they differ.

    In these rows, one of the two values is probably wrong.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass import screen
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> X = np.column_stack([X, X[:, 0]])
    >>> X[5, 0] += 2
    >>> (copy,) = screen(X).copies
    >>> print(copy)
    column 2 is a copy of column 0, but for 1 row
    >>> copy.rows
    (5,)
    """

    name: Name
    of: Name
    rows: tuple[int, ...]

    def __str__(self) -> str:
        count = len(self.rows)
        exceptions = f", but for {count:,} row{'s' if count > 1 else ''}" if count else ""
        return f"column {self.name} is a copy of column {self.of}{exceptions}"


def copied_columns(X: Numbers, columns: list[int]) -> Iterator[tuple[int, int, NDArray[np.intp]]]:
    """Yield each of some columns that is a copy of an earlier one, this earlier one, and the rows that differ."""
    some = X[:: -(-len(X) // _SOME)][:, columns]
    for k, column in enumerate(columns):
        equal = (some[:, :k] == some[:, [k]]).mean(axis=0)
        if k and equal.max() >= _EQUAL:
            first = columns[int(equal.argmax())]
            differ = np.flatnonzero(X[:, first] != X[:, column])
            if len(differ) <= (1 - _EQUAL) * len(X):
                yield column, first, differ
