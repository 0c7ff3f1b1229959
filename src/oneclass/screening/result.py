"""The result of a screen: rows and cells of a table in order of suspicion, and what stands out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.calibration import benjamini_hochberg
from ..core.notebook import ROWS, InNotebook
from ..core.typing import Name
from ..core.wording import said
from .copies import CopiedColumn
from .judging import Judgement
from .repair import repaired
from .units import Sheet

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Screening", "SuspectCell"]

#: False-discovery rate of the rows that stand out, in the summary. Rows are named at the rate `q` of the user.
_STANDS_OUT = 0.1
#: Columns of the data frame of suspicious cells, in the order of the fields of `SuspectCell`.
_COLUMNS = ("row", "column", "value", "expected", "low", "high", "p_value", "named")
#: Lines that `repr` shows.
_LINES = 10


class SuspectCell(NamedTuple):
    """A cell that may hold a mistake: its value, and the value expected from the other columns of its row.

    `expected` is None if it equals the value. `low` and `high` bound the range that holds nine of ten values, for
    numbers. `p_value` is the probability of a value that is at least as odd in one of the row's columns. `named` tells
    whether the row is named at the rate `q` and the p-value is at most 0.01.

    Examples
    --------
    >>> from oneclass import SuspectCell
    >>> print(SuspectCell(16, "weight", 200.0, 68.1, 61.0, 75.2, 1e-6, True))
    weight=200 (expected 61 to 75.2)
    """

    row: int
    column: Name
    value: Any
    expected: Any
    low: Any
    high: Any
    p_value: float
    named: bool

    @property
    def expectation(self) -> str:
        """The expected value or range as text; empty if the expected value equals the value."""
        if isinstance(self.low, float) and isinstance(self.high, float):
            low, high = said(self.low, 4), said(self.high, 4)
            return low if low == high else f"{low} to {high}"
        return "" if self.expected is None else said(self.expected, 4)

    def __str__(self) -> str:
        found = f"{self.column}={said(self.value)}"
        return f"{found} (expected {self.expectation})" if self.expectation else found


@dataclass(frozen=True, repr=False)
class Screening(InNotebook):
    """Result of a screen: rows and cells of a table in order of suspicion.

    Attributes
    ----------
    odd : bool array of shape (n_samples,)
        The rows named at the rate `q`: on average, at most a share q of them are normal, under the assumptions that
        docs/dirty_measured.md states.
    p_values : array of shape (n_samples,)
        Estimated probability that a normal row is at least as odd.
    scores : array of shape (n_samples,)
        Minus the suspicion of each row; larger means more normal.
    order : int array of shape (n_samples,)
        Row numbers, the most suspicious row first.
    mistakes : array of shape (n_samples,)
        Estimated number of mistakes among the first k rows of `order`, for k = 1, 2, ...
    cells : tuple of SuspectCell
        The suspicious cells of the first rows of `order`.
    copies : tuple of CopiedColumn
        Columns of numbers that equal another column in at least nine of ten rows, and the rows in which they differ.
    classifier : classifier or None
        The classifier whose `screen` was called, fitted on the rows that are not named.

    Examples
    --------
    >>> import numpy as np, oneclass
    >>> X = np.random.default_rng(0).normal(size=(300, 1)) + 0.1 * np.random.default_rng(1).normal(size=(300, 4))
    >>> X[7, 2] += 5
    >>> found = oneclass.screen(X)
    >>> found.cells[0].row, found.cells[0].column
    (7, 2)
    """

    odd: NDArray[np.bool_]
    p_values: NDArray[np.float64]
    scores: NDArray[np.float64]
    order: NDArray[np.intp]
    mistakes: NDArray[np.float64]
    cells: tuple[SuspectCell, ...]
    copies: tuple[CopiedColumn, ...] = ()
    classifier: Any = None

    @classmethod
    def of(cls, judged: Judgement, sheet: Sheet) -> Screening:
        """Return the result of a judgement, in the columns of the sheet."""
        n, found = len(judged.p_values), judged.suspects
        ranked = np.sort(judged.p_values)
        count = np.arange(1, n + 1)
        mistakes = np.maximum.accumulate(np.maximum(count - n * ranked, 0.0))
        at = np.arange(len(found.rows)), found.units
        values = sheet.values(found.rows)[at]
        expected, low, high = (sheet.restore(Z)[at] for Z in (found.expected, found.low, found.high))
        cells = []
        for i, (row, unit) in enumerate(zip(found.rows.tolist(), found.units, strict=True)):
            value, usual, a, b, p = values[i], expected[i], low[i], high[i], float(found.p_values[i])
            told = None if _same(value, usual) else _plain(usual)
            bounds = (_plain(a), _plain(b)) if _is_number(a) else (None, None)
            name = sheet.units[unit].name
            cells.append(SuspectCell(row, name, _plain(value), told, bounds[0], bounds[1], p, bool(judged.named[i])))
        name_of = [unit.name for unit in sheet.units]
        copies = (CopiedColumn(name_of[a], name_of[b], tuple(rows.tolist())) for a, b, rows in judged.copies)
        told = mistakes, tuple(cells), tuple(copies)
        return cls(judged.odd, judged.p_values, -judged.suspicion, judged.order, *told)

    @property
    def stands_out(self) -> int:
        """Estimated number of rows that stand out from the others."""
        n, ranked = len(self.p_values), np.sort(self.p_values)
        k = int(np.count_nonzero(ranked <= benjamini_hochberg(self.p_values, q=_STANDS_OUT)))
        return max(round(k - n * ranked[k - 1]) if k else 0, int(self.odd.sum()))

    @property
    def summary(self) -> str:
        """How many rows stand out, in which column most of them do, and which columns are copies of others."""
        return "; ".join([self._standing_out, *map(str, self.copies)])

    @property
    def _standing_out(self) -> str:
        count = self.stands_out
        if not count:
            return f"nothing stands out among {len(self.odd):,} rows"
        first = {cell.row: cell.column for cell in reversed(self.cells)}
        columns = Counter(first[row] for row in self.order[:count].tolist() if row in first)
        ((column, most),) = columns.most_common(1)
        where = f", most in column {column}" if 2 * most > count else ""
        rows = f"about {count:,} rows stand" if count > 1 else "about 1 row stands"
        return f"{rows} out of {len(self.odd):,}{where}; {int(self.odd.sum()):,} named"

    @property
    def _title(self) -> str:
        return self.summary

    def _table(self) -> tuple[list[str], list[list[object]], int]:
        rows: list[list[object]] = [
            [cell.row, cell.column, said(cell.value), cell.expectation, "named" if cell.named else ""]
            for cell in self.cells[:ROWS]
        ]
        return ["row", "column", "value", "expected", ""], rows, len(self.cells)

    def __str__(self) -> str:
        lines = [f"  row {cell.row}: {cell}{' *' if cell.named else ''}" for cell in self.cells[:_LINES]]
        return "\n".join([f"Screening: {self.summary}", *lines])

    def to_frame(self, top: int | None = None) -> pd.DataFrame:
        """The suspicious cells as a pandas data frame, the most suspicious row first.

        Parameters
        ----------
        top : int, optional
            Number of cells; by default all that are listed.

        Returns
        -------
        DataFrame
            Columns ``row``, ``column``, ``value``, ``expected``, ``low``, ``high``, ``p_value``, ``named``, and
            ``mistakes``: the estimated number of mistakes among the rows listed so far.
        """
        import pandas as pd

        frame = pd.DataFrame(list(self.cells[:top]), columns=list(_COLUMNS))
        place = np.empty(len(self.order), dtype=np.intp)
        place[self.order] = np.arange(len(self.order))
        return frame.assign(mistakes=self.mistakes[place[frame["row"].to_numpy(dtype=np.intp)]])

    def repair(self, X: Any, *, by: str = "expected", top: int | None = None) -> tuple[Any, pd.DataFrame]:
        """A copy of the table in which suspicious cells are replaced, and a log of every change.

        Parameters
        ----------
        X : pandas frame or array
            The table that was screened.
        by : {"expected", "gap"}, default="expected"
            What replaces a cell: the expected value, or a missing value. Cells whose expected value is unknown, or is
            a time, become missing values.
        top : int, optional
            Number of cells to replace, the first in order of suspicion; by default, all that are named.

        Returns
        -------
        (table, DataFrame)
            The repaired copy, and the log with columns ``row``, ``column``, ``old`` and ``new``.

        Examples
        --------
        >>> import numpy as np
        >>> from oneclass import screen
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(300, 1)) + 0.1 * rng.normal(size=(300, 4))
        >>> X[7, 2] += 5
        >>> repaired, log = screen(X).repair(X)
        >>> int(log["row"][0]), int(log["column"][0]), bool(abs(repaired[7, 2] - X[7, 1]) < 0.5)
        (7, 2, True)
        """
        if by not in ("expected", "gap"):
            raise ValueError(f"Screening: by must be 'expected' or 'gap', got {by!r}")
        if X.shape[0] != len(self.odd):
            raise ValueError(f"Screening: X must be the table that was screened, of {len(self.odd)} rows")
        cells = self.cells[:top] if top is not None else [cell for cell in self.cells if cell.named]
        return repaired(X, cells, by)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_)


def _plain(value: object) -> Any:
    return value.item() if isinstance(value, np.generic) and value.dtype.kind in "biufUS" else value


def _same(value: object, expected: object) -> bool:
    """Whether a cell holds the expected value; the text of a number equals the number."""
    if isinstance(expected, bool | np.bool_):
        return str(value).strip().casefold() in (str(bool(expected)).casefold(), str(int(expected)))
    try:
        return float(value) == float(expected)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return str(value) == str(expected)
