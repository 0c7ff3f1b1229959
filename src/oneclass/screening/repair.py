"""Repair of a table: suspicious cells replaced by expected values or by gaps, and a log of every change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from .result import SuspectCell

__all__ = ["repaired"]


def repaired(X: Any, cells: Sequence[SuspectCell], by: str) -> tuple[Any, pd.DataFrame]:
    """Return a copy of an array or a pandas frame in which cells are replaced, and the log of the changes.

    Cells without an expected value, or whose column cannot hold it, are replaced by gaps.
    """
    import pandas as pd

    frame = pd.DataFrame(np.asarray(X)) if not hasattr(X, "iloc") else X.copy()
    changes = []
    for cell in cells:
        new = _value(frame[cell.column], cell.expected) if by == "expected" else None
        changes.append({"row": cell.row, "column": cell.column, "old": cell.value, "new": new})
    for column in dict.fromkeys(change["column"] for change in changes):
        found = [change for change in changes if change["column"] == column]
        frame[column] = _replaced(frame[column], {change["row"]: change["new"] for change in found})
    log = pd.DataFrame(changes, columns=["row", "column", "old", "new"])
    return (frame if hasattr(X, "iloc") else frame.to_numpy()), log


def _value(column: pd.Series[Any], expected: object) -> object:
    """The expected value in the type of a column; None if the column cannot hold it."""
    kind = column.dtype.kind
    if kind == "M" or expected is None:  # of a time, only parts such as the weekday are expected
        return None
    if kind in "iu":
        return round(float(expected))  # type: ignore[arg-type]
    if kind not in "fb" and isinstance(expected, float) and column.map(lambda cell: isinstance(cell, str)).mean() > 0.5:
        return f"{expected:.6g}"  # a number among text
    return expected


def _replaced(column: pd.Series[Any], new: dict[int, object]) -> pd.Series[Any]:
    """A copy of a column with new values, by row number; a column of a type without gaps becomes one of objects."""
    gaps = any(value is None for value in new.values())
    if column.dtype.kind in "iub" and gaps:
        column = column.astype(float if column.dtype.kind in "iu" else object)
    column = column.copy()
    if column.dtype.kind not in "iufbM":
        column = column.astype(object)
    for row, value in new.items():
        column.iloc[row] = value
    return column
