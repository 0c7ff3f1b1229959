"""What the columns of a table say about the dependence of its rows: clocks, and values that repeat like an id."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.independence import column_hints
from ..core.dependence import FEWEST, centred_ranks
from ..core.repeats import FEWEST_ROWS, FEWEST_VALUES, likeness
from ..core.typing import Rows
from .cells import read_cells
from .codes import CategoryCode, DateCode
from .frames import Values, columns_of, rows_of
from .plan import Column, ColumnPlan

__all__ = ["hints_of", "segment_candidates"]

#: Smallest correlation of the other columns within the values of a column that is named as a candidate for groups. On
#: the 17 public tables of the reproduction, it names the maker of cars and the class of cardiotocograms.
_ALIKE = 0.25
#: Most values of a column that is offered for segments.
_MOST_SEGMENTS = 8
#: Most rows that are examined, and most columns that are named.
_ROWS, _NAMED = 4_000, 3


def hints_of(X: Rows, plan: ColumnPlan, rows: NDArray[np.float64], groups: Any = None) -> AbstractContextManager[None]:
    """The context for a fit to the encoded rows of a table, in which its columns inform the check for dependence."""
    origin = np.repeat(np.arange(len(plan.used)), [len(column.parts) for column in plan.used])
    origin = np.append(origin, np.full(rows.shape[1] - len(origin), -1))
    clock = np.array([isinstance(column.code, DateCode) for column in plan.used] + [False])
    if len(rows) > _ROWS:
        X, rows = rows_of(X, np.arange(_ROWS)), rows[:_ROWS]
    named = "" if groups is not None or len(rows) < FEWEST else _named(X, plan, rows, origin, clock[origin])
    return column_hints(clock[origin], named)


def segment_candidates(plan: ColumnPlan, delta: float) -> list[str]:
    """Names of the categories with few values, each in so many training rows that it can keep the rate `delta` alone.

    Rates by value are not looked at: segments must be chosen before the scores are known.
    """
    return [
        str(column.name)
        for column in plan.used
        if isinstance(column.code, CategoryCode)
        and 1 < len(column.code.levels) <= _MOST_SEGMENTS
        and None not in column.code.levels
        and min(column.code.counts) + 1 >= 1 / max(delta, 1e-9)
    ]


def _named(
    X: Rows, plan: ColumnPlan, rows: NDArray[np.float64], origin: NDArray[np.intp], clocks: NDArray[np.bool_]
) -> str:
    """The columns within whose values the others are alike, as text."""
    table, found = columns_of(X, "hints"), {}
    places = {column.name: i for i, column in enumerate(plan.used)}
    for column in plan.columns:
        codes = _values_of(column, table[column.name]) if column.name in table else None
        others = ~clocks & (origin != places.get(column.name, -2))
        if codes is not None and others.any():
            alike = likeness(codes, centred_ranks(rows[:, others]), ordered=column.kind == "number")
            if alike >= _ALIKE:
                found[str(column.name)] = alike
    best = sorted(found, key=lambda name: -found[name])[:_NAMED]
    if not best:
        return ""
    shown = ", ".join(f"{name!r} ({found[name]:.2f})" for name in best)
    return f"rows with the same value of {shown} are alike (correlation within the value)"


def _values_of(column: Column, cells: Values) -> NDArray[np.intp] | None:
    """The number of each cell's value, for words and whole numbers that repeat; None for other columns."""
    if column.kind not in ("number", "category", "drop"):
        return None
    read = read_cells(cells, f"column {column.name!r}")
    if column.kind == "number":
        values = read.as_numbers(flags=False)
        if not (np.isfinite(values).all() and (values == np.floor(values)).all()):
            return None
        levels, codes = np.unique(values, return_inverse=True)
    else:
        words = read.as_words()
        levels, codes = np.unique(words.codes, return_inverse=True)
    few = len(levels) < FEWEST_VALUES or len(codes) < FEWEST_ROWS * len(levels)
    return None if few else np.asarray(codes, dtype=np.intp)
