"""Explanations in the columns of a table, from explanations in the columns that encode them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..base.expected import Encoding
from ..base.explanation import Explanation, shares_among
from ..core.typing import Name
from .bad_cells import LARGEST_LOSS
from .cells import Cells
from .codes import CategoryCode, DateCode, NumberCode
from .frames import Table, as_array
from .notation import Durations
from .plan import Column, ColumnPlan

__all__ = ["encoding_of", "in_columns"]

Objects = NDArray[np.object_]
Matrix = NDArray[np.float64]


def encoding_of(plan: ColumnPlan) -> Encoding:
    """How the columns of the encoded matrix belong to those of the table."""
    of, indicators = [], []
    for k, column in enumerate(plan.used):
        parts = len(column.parts)
        of += [k] * parts
        if isinstance(column.code, CategoryCode):
            indicators += [True] * (parts - 1) + [False]
        else:
            indicators += [_is_flag(column), *[False] * (parts - 1)]
    more = len(plan.made) - len(of)  # the column that marks missing values where no training row had one
    return Encoding(np.array([*of, *range(len(of), len(of) + more)]), np.array(indicators + [False] * more))


def in_columns(
    found: Explanation,
    plan: ColumnPlan,
    table: Table,
    read: Mapping[Name, Cells],
    rows: Matrix,
    bad: Mapping[Name, NDArray[np.bool_]],
    index: NDArray[np.generic],
) -> Explanation:
    """The explanation of encoded rows in the columns of the table; cells marked in `bad` have the largest loss."""
    names = tuple(column.name for column in plan.columns)
    n = len(rows)
    values, expected = np.full((n, len(names)), None, dtype=object), plan.restore(found.expected)
    low, high = (np.full(values.shape, None, dtype=object) for _ in range(2))
    chances = np.full((2, *values.shape), np.nan)
    own, start = plan.restore(rows), 0
    for j, column in enumerate(plan.columns):
        name, code = column.name, column.code
        values[:, j] = list(as_array(table[name])) if name in table else None  # a list, so that times stay times
        if code is None:
            continue
        places = slice(start, start + len(column.parts))
        start = places.stop
        ends = None if found.low is None or found.high is None else (found.low[:, places], found.high[:, places])
        cells = read[name]
        if isinstance(code, CategoryCode):
            if ends is not None:
                expected[:, j], *chances[:, :, j] = code.likelihoods(ends[0][:, :-1], cells)
            words = cells.as_words()
            _take_equal(expected, values, j, words.levels[words.codes] == expected[:, j])  # "1.0" is the category 1
        elif isinstance(code, DateCode):  # only parts of a date are expected, such as the weekday, which it may have
            _take_equal(expected, values, j, own[:, j] == expected[:, j])
        elif _is_flag(column):
            flags = cells.as_numbers(flags=True)
            if ends is not None:
                true = ends[0][:, 0]
                expected[:, j] = true > 0.5
                chances[:, :, j] = (
                    np.maximum(true, 1 - true),
                    np.where(np.isnan(flags), 0, np.where(flags, true, 1 - true)),
                )
            _take_equal(expected, values, j, flags == expected[:, j].astype(float))  # "TRUE" is the flag True
        elif isinstance(code, NumberCode):
            if ends is not None:
                low[:, j], high[:, j] = (end[:, 0].tolist() for end in ends)
            _show_durations(values, j, column, cells)
    parts = plan.fold(found.parts, read)
    for name, mask in bad.items():
        parts[mask, names.index(name)] = LARGEST_LOSS
    near = found.neighbors
    if near is not None:
        near = plan.restore(near.reshape(-1, near.shape[-1])).reshape(*near.shape[:-1], len(names))
    return replace(
        found,
        values=values,
        expected=expected,
        low=low,
        high=high,
        probability=chances[0],
        value_probability=chances[1],
        shares=shares_among([column.code is not None for column in plan.columns], parts),
        parts=parts,
        names=names,
        index=index,
        neighbors=near,
        known=found.known and found.known.in_columns(plan.restore, lambda gaps: plan.fold(gaps, read)),
    )


def _is_flag(column: Column) -> bool:
    return isinstance(column.code, NumberCode) and column.code.flag


def _take_equal(expected: Objects, values: Objects, j: int, same: NDArray[np.bool_]) -> None:
    """Write the cell as the user has it in place of an expected value that means the same."""
    expected[same, j] = values[same, j]


def _show_durations(values: Objects, j: int, column: Column, cells: Cells) -> None:
    """Make durations of the cells of such a column, so that the expected value is printed with its unit."""
    if getattr(column.code, "span", False):
        values[cells.gaps, j] = np.timedelta64("NaT", "s")
    if isinstance(column.notation, Durations):
        seconds = cells.as_numbers()
        known = ~np.isnan(seconds)
        values[known, j] = [*(seconds[known] * 1e6).round().astype("timedelta64[us]")]
