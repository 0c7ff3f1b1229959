"""Expected value of each column, and its range, from the training rows that are nearest by the other columns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import blocks
from ..engines.threads import on_one_thread

__all__ = ["Encoding", "Expected", "current_encoding", "expected_values", "using_encoding"]

Matrix = NDArray[Any]

#: Number of nearest training rows whose median is the expected value, and of those whose values give its range.
#: Measured on twelve tables (docs/explanations.md): the range of 29 rows without both ends holds nine of ten values.
_MEDIAN_OF, _RANGE_OF = 5, 29
#: Rows of a range for each one that is left out at both of its ends: a twentieth lies beyond each end.
_ROWS_PER_CUT = 20
#: Upper bound on the training rows that are searched.
_MAX_SEARCHED_ROWS = 1000
#: Distance below which neighbors are equally near, in scaled units.
_SMALLEST = 1e-9


@dataclass(frozen=True)
class Encoding:
    """How the columns of a matrix encode those of a table.

    `of` is the number of the table's column that each column of the matrix belongs to. `indicators` marks columns that
    hold 1 for a category, or for a flag that is true, and 0 otherwise.
    """

    of: NDArray[np.intp]
    indicators: NDArray[np.bool_]

    def through(self, origins: NDArray[np.intp]) -> Self:
        """The encoding of a matrix that a preprocessing step computes; `origins` are the columns that it used."""
        return type(self)(self.of[origins], self.indicators[origins])


class Expected(NamedTuple):
    """Expected values of cells, and the ends of their ranges; for indicators, both ends are the probability of 1."""

    values: Matrix
    low: Matrix
    high: Matrix


def expected_values(Z: Matrix, known: Matrix, values: Matrix, encoding: Encoding | None = None) -> Expected:
    """Expected value of each cell: the median over the training rows that are nearest in all *other* columns.

    Columns that encode one column of a table are left out together, and have the values of one of these rows.

    `Z` and `known` are rows and training rows in scaled units, and `values` are the training rows in the units of the
    result. Distances are city-block distances, which one wrong value changes little. At most `_MAX_SEARCHED_ROWS`
    evenly spaced training rows are searched. Among equally near rows, those used are drawn with a fixed
    seed.
    """
    step = -(-len(known) // _MAX_SEARCHED_ROWS)
    known, values = known[::step], values[::step]
    (m, d), n = known.shape, len(Z)
    if encoding is None or len(encoding.of) != d:
        encoding = Encoding(np.arange(d), np.zeros(d, dtype=bool))
    of, count = np.unique(encoding.of, return_inverse=True)[1], len(np.unique(encoding.of))
    # One column of a table has no other columns to compute distances from.
    few, many = (min(_MEDIAN_OF, m), min(_RANGE_OF, m)) if count > 1 else (m, m)
    cut, columns = many // _ROWS_PER_CUT, np.arange(d)[:, None]
    found = Expected(*np.empty((3, n, d)))
    joint, flags = np.bincount(of)[of] > 1, encoding.indicators
    common = values[:, flags].mean(axis=0)
    # Equally near rows are ordered here: the table may be sorted, and selections differ between processors.
    turns = _SMALLEST * np.random.default_rng(0).permutation(m) / m
    # Training rows are on the last axis, which is contiguous: selections along it take a quarter of the time.
    for a, b in blocks(n, m * d, known):
        gaps = Z[a:b, :, None] - known.T
        np.abs(gaps, out=gaps)
        whole = gaps.sum(axis=1, keepdims=True)
        if count < d:
            gaps = _added(gaps, of, count)
        np.subtract(whole + turns, gaps, out=gaps)
        near = np.argpartition(gaps, many - 1, axis=2)[:, :, :many]
        near = np.take_along_axis(near, np.argsort(np.take_along_axis(gaps, near, axis=2), axis=2), axis=2)
        gaps = np.take_along_axis(gaps, near, axis=2) - turns[near]
        cells = values[near[:, of, :], columns]
        found.values[a:b] = np.median(cells[:, :, :few], axis=2)
        if joint.any():
            found.values[a:b, joint] = _middle(cells[:, joint, :few], of[joint], count)
        ends = np.sort(cells, axis=2)
        found.low[a:b], found.high[a:b] = ends[:, :, cut], ends[:, :, many - 1 - cut]
        if flags.any():
            # Add one row with the mean of all rows, so that no probability is 0 or 1.
            weights = _weights(gaps[:, of[flags], :], few)
            shares = ((weights * cells[:, flags, :]).sum(axis=2) + common) / (weights.sum(axis=2) + 1)
            found.low[a:b, flags] = found.high[a:b, flags] = shares
    return found


def _added(cells: Matrix, of: NDArray[np.intp], count: int) -> Matrix:
    """Sums over the columns of each column of the table. Threads of the BLAS would wait in every small product."""
    with on_one_thread(cells.shape[-1], cells):
        return np.asarray((np.arange(count)[:, None] == of).astype(float) @ cells)


def _middle(cells: Matrix, of: NDArray[np.intp], count: int) -> Matrix:
    """The cells of the neighbor that is nearest to the others, for each column of the table."""
    apart = np.abs(cells[:, :, :, None] - cells[:, :, None, :]).sum(axis=3)
    best = _added(apart, of, count).argmin(axis=2)
    return np.take_along_axis(cells, best[:, of, None], axis=2)[:, :, 0]


def _weights(gaps: Matrix, few: int) -> Matrix:
    """Weights of neighbors, which fall with the distance where some neighbors are much farther than the nearest few."""
    scale = np.maximum(gaps[:, :, :few].max(axis=2, keepdims=True), _SMALLEST)
    weights: Matrix = np.exp(1 - np.maximum(gaps / scale, 1))
    return weights


_ENCODING: ContextVar[Encoding | None] = ContextVar("encoding", default=None)


@contextmanager
def using_encoding(encoding: Encoding | None) -> Iterator[None]:
    """Explain rows of this encoding inside the `with` block."""
    token = _ENCODING.set(encoding)
    try:
        yield
    finally:
        _ENCODING.reset(token)


def current_encoding() -> Encoding | None:
    """The encoding of the `with` block; None outside of one."""
    return _ENCODING.get()
