"""The function `screen`, and the columns of a table as units of a screen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..base.checks import check_integer, check_number
from ..base.groups import read_groups
from ..core.typing import Labels, Name, Rows
from ..screening import Screening, Sheet, Unit, judge
from .codes import CategoryCode
from .frames import as_array, columns_of
from .plan import ColumnPlan
from .preparing import prepared

__all__ = ["screen", "sheet_of"]


@dataclass(frozen=True)
class _Screen:
    """Owner of the messages about a table that is screened."""

    columns: Mapping[Name, str] | None
    estimator: None = None
    date_format: None = None
    merge_variants: bool = False
    bad_cells: str = "alarm"


_Screen.__name__ = "screen"


def screen(
    X: Rows,
    *,
    q: float = 0.1,
    top: int = 100,
    columns: Mapping[Name, str] | None = None,
    groups: Labels | Name | None = None,
) -> Screening:
    """Find odd rows and wrong cells in a table that may contain mistakes, and the values expected in these cells.

    Every value is predicted from the other columns of its row, and every row is compared with the other rows, by models
    that have not seen the row. The result is a ranking of all rows. The first rows are named at the false-discovery
    rate `q`, under assumptions (docs/dirty_measured.md).

    Parameters
    ----------
    X : frame of pandas, polars or PyArrow, or array
        The table, with numbers, words, dates and missing values. Most rows must be free of mistakes.
    q : float in (0, 1), default=0.1
        False-discovery rate: upper bound on the mean share of normal rows among the named rows.
    top : int, default=100
        Smallest number of rows whose suspicious cells are listed, with expected values.
    columns : dict, optional
        The kind of some columns, as in `TableDetector`.
    groups : column name or array-like of shape (n_samples,), optional
        The group of each row. A row is judged by rows of other groups.

    Returns
    -------
    Screening
        Rows and cells in order of suspicion.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> height = rng.normal(175, 8, 300).round()
    >>> table = pd.DataFrame({"height": height, "weight": (height - 100 + rng.normal(0, 4, 300)).round()})
    >>> table.loc[16, "weight"] *= 10
    >>> found = screen(table)
    >>> found.cells[0].row, found.cells[0].column, found.cells[0].named
    (16, 'weight', True)
    """
    owner = _Screen(columns)
    q, top = check_number(owner, "q", 0, 1, value=q), check_integer(owner, "top", 1, value=top)
    plan, rows, labels = prepared(owner, X, groups)
    together = None if labels is None else read_groups(owner, labels, len(rows))
    sheet = sheet_of(plan, X, owner="screen")
    return Screening.of(judge(rows, sheet, q=q, top=top, groups=together), sheet)


def sheet_of(plan: ColumnPlan, X: Rows, *, owner: str, bad_cells: bool = True) -> Sheet:
    """The columns of an encoded table as units of a screen.

    With `bad_cells`, cells that hold no value of their column are wrong cells; otherwise they are missing values.
    """
    table, units, start = columns_of(X, owner), [], 0
    read = plan.read(X, owner=owner, training=True)
    found = plan.bad(read)
    missing = np.zeros((found.n, len(plan.used)), dtype=bool)
    bad = missing.copy()
    for k, column in enumerate(plan.used):
        code, places = column.code, tuple(range(start, start + len(column.parts)))
        category = isinstance(code, CategoryCode)
        gap = places[-1] if not isinstance(code, CategoryCode) and getattr(code, "gap", None) else None
        units.append(Unit(column.name, places, category, gap))
        if not isinstance(code, CategoryCode) and code is not None:
            missing[:, k] = code.gaps(read[column.name])
        if bad_cells and column.name in found.columns:
            bad[:, k] = found.columns[column.name].mask
        start += len(places)
    kept = [plan.columns.index(column) for column in plan.used]

    def values(rows: NDArray[np.intp]) -> NDArray[np.object_]:
        found = np.empty((len(rows), len(units)), dtype=object)
        for k, column in enumerate(plan.used):
            found[:, k] = list(as_array(table[column.name].take(rows)))
        return found

    def restore(Z: NDArray[np.float64]) -> NDArray[np.object_]:
        return plan.restore(Z)[:, kept]

    return Sheet(tuple(units), values, restore, missing if missing.any() else None, bad if bad.any() else None)
