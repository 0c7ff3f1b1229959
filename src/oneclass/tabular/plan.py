"""The column plan: an immutable description of how each column of a table is encoded as numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray

from ..base.column_origins import folded
from ..base.warnings import ColumnWarning, warn
from ..core.column_summary import ColumnSummary
from ..core.notebook import InNotebook
from ..core.stored import APART, OneOf, must
from ..core.typing import Name
from ..core.wording import parameter
from ..io.messages import listed, printable
from .bad_cells import BadCells, BadColumn
from .cells import Cells, read_cells
from .codes import CategoryCode, DateCode, NumberCode, OrdinalCode
from .frames import Frame, Table, Values, columns_of
from .notation import Notation

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["KINDS", "Column", "ColumnPlan"]

Matrix = NDArray[np.float64]

#: Kinds that the parameter `columns` accepts.
KINDS = ("number", "category", "ordinal", "date", "clock", "drop")
_FEWEST_BEYOND = 5  # lower bound on the rows outside the range of training days that a warning mentions


@dataclass(frozen=True)
class Column:
    """One column of a table: its kind, the reason for the kind, and its encoding.

    Attributes
    ----------
    name : str or int
        Name of the column, or its number in a table without names.
    kind : str
        ``number``, ``flag``, ``category``, ``ordinal``, ``date``, ``clock`` or ``drop``.
    why : str
        The reason for the kind, as text.
    code : NumberCode, CategoryCode, OrdinalCode, DateCode or None
        The encoding; None for a dropped column.
    always : str or None
        The only value of a column that was dropped because it is constant.
    noticed : bool
        Whether the plan dropped the column, and not the user. Such columns are named in a warning.
    notation : Figures, Durations, TimesOfDay, Days or None
        How the text of the column is read as numbers or times, if it is not read as everywhere else.
    """

    name: str | int
    kind: Annotated[str, OneOf(*KINDS, "flag")]
    why: str
    code: NumberCode | CategoryCode | OrdinalCode | DateCode | None = None
    always: str | None = None
    noticed: bool = False
    notation: Notation | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the encoded columns."""
        return () if self.code is None else tuple(f"{self.name} {part}".strip() for part in self.code.parts)


@dataclass(frozen=True, repr=False)
class ColumnPlan(InNotebook):
    """How each column of a table is encoded; printing a plan shows it as a table.

    Attributes
    ----------
    columns : tuple of Column
        The columns, in the order of the table.
    new_gap : float
        Value that the last encoded column holds for each missing value in a column without missing training values.
    seen : ColumnSummary or None
        Quantiles of each column that holds numbers or, in days since 1970, times.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass import TableDetector
    >>> table = np.array([[float(i % 7), "ab"[i % 2]] for i in range(40)], dtype=object)
    >>> table = np.random.default_rng(0).permutation(table)
    >>> print(TableDetector().fit(table).plan_)
    column  taken for  because             made of it
    0       number     numbers             0
    1       category   2 different values  1 is b, 1 rarity
    To change a kind: columns={name: kind}.
    Kinds: number, category, ordinal, date, clock, drop.
    """

    columns: tuple[Column, ...]
    new_gap: float
    seen: Annotated[ColumnSummary | None, APART] = None  # which files of earlier versions do not have

    def __check__(self) -> None:
        names = {column.name for column in self.columns}
        must(len(names) == len(self.columns), "columns must have different names")
        must(bool(self.used), "columns must become numbers")

    @property
    def used(self) -> tuple[Column, ...]:
        """Columns that are encoded, which are those not dropped."""
        return tuple(column for column in self.columns if column.code is not None)

    @property
    def made(self) -> tuple[str, ...]:
        """Names of all encoded columns."""
        named = [part for column in self.used for part in column.parts]
        return (*named, "new gaps") if self._watched else tuple(named)

    @property
    def _watched(self) -> tuple[int, ...]:
        """Indices, among the used columns, of number and date columns without missing training values."""
        return tuple(i for i, column in enumerate(self.used) if _is_watched(column))

    @property
    def _title(self) -> str:
        kinds = Counter(column.kind for column in self.columns)
        return f"{len(self.columns)} columns: {', '.join(f'{n} {kind}' for kind, n in kinds.items())}"

    def _table(self) -> tuple[list[str], list[list[object]], int]:
        rows: list[list[object]] = [
            [column.name, column.kind, column.why, ", ".join(column.parts)] for column in self.columns
        ]
        return ["column", "taken for", "because", "made of it"], rows, len(rows)

    def to_frame(self) -> pd.DataFrame:
        """The plan as a pandas data frame.

        Returns
        -------
        DataFrame
            Columns ``column``, ``kind``, ``why`` and ``parts``, the names of the encoded columns.
        """
        import pandas as pd

        rows = [(column.name, column.kind, column.why, column.parts) for column in self.columns]
        return pd.DataFrame(rows, columns=["column", "kind", "why", "parts"])

    def __str__(self) -> str:
        return f"{self.table()}\nTo change a kind: columns={{name: kind}}.\nKinds: {', '.join(KINDS)}."

    def table(self) -> str:
        """The plan as text: each column with its kind, the reason and the encoded columns."""
        rows = [("column", "taken for", "because", "made of it")]
        for column in self.columns:
            parts = column.parts
            shown = ", ".join(parts[:4]) + f", ... ({len(parts)})" * (len(parts) > 4)
            rows.append((str(column.name), column.kind, column.why, shown))
        widths = [max(len(row[j]) for row in rows) for j in range(3)]
        lines = ("  ".join([*(row[j].ljust(widths[j]) for j in range(3)), row[3]]).rstrip() for row in rows)
        return "\n".join(map(printable, lines))

    def encode(self, X: Frame, *, owner: str = "ColumnPlan", training: bool = False, before: int | None = 0) -> Matrix:
        """The table as a matrix with one column for each of `made`; a cell that is not of its column is an error.

        `before` is the number of rows that preceded the table, for row numbers in messages; None if unknown.
        """
        read = self.read(X, owner=owner, training=training)
        self.bad(read).refuse(owner, before)
        return self.coded(read)

    def read(self, X: Frame, *, owner: str, training: bool = False) -> dict[Name, Cells]:
        """The parsed cells of each used column, in the order of `used`."""
        table, read = columns_of(X, owner), {}
        if not training:
            self._compare(table, owner)
        for column in self.used:
            cells = read[column.name] = self._cells(column, table[column.name], owner, training)
            if not training:
                self._warn_of_later_days(column, cells, owner)
        return read

    def bad(self, read: Mapping[Name, Cells]) -> BadCells:
        """The parsed cells that are neither missing nor values of their columns."""
        found = {}
        for column in self.used:
            cells = read[column.name]
            if (wrong := _wrong(column, cells)) is not None and wrong.any():
                found[column.name] = BadColumn(wrong, cells.as_words(), _wanted_in(column))
        return BadCells(len(next(iter(read.values()))), found)

    def coded(self, read: Mapping[Name, Cells]) -> Matrix:
        """The parsed cells as a matrix with one column for each of `made`; bad cells count as missing values."""
        parts, fresh = [], []
        for column in self.used:
            cells = read[column.name]
            parts.append(column.code.encode(cells))  # type: ignore[union-attr]
            if _is_watched(column):
                fresh.append(column.code.gaps(cells))  # type: ignore[union-attr]
        if fresh:
            parts.append(self.new_gap * np.sum(fresh, axis=0, dtype=float)[:, None])
        return np.concatenate(parts, axis=1)

    def plain(self, table: Table) -> Table:
        """The table with plain numbers and times in columns of another notation, and one spelling of categories."""
        found = dict(table)
        for column in self.used:
            merged = isinstance(column.code, CategoryCode) and column.code.merged
            if column.name in table and (merged or column.notation is not None):
                cells = self._cells(column, table[column.name], "ColumnPlan", True)
                found[column.name] = _plain(cells) if column.notation is not None else column.code.spelled(cells)  # type: ignore[union-attr]
        return found

    def _cells(self, column: Column, values: Values, owner: str, training: bool) -> Cells:
        cells = read_cells(values, f"{owner}: column {column.name!r}", column.notation)
        code = column.code
        if isinstance(code, CategoryCode) and not training and (unknown := code.unknown(cells)):
            warn(
                f"{owner}: column {column.name!r} holds values that no training row has: {listed(unknown)}",
                ColumnWarning,
            )
        return cells

    def _warn_of_later_days(self, column: Column, cells: Cells, owner: str) -> None:
        """Warn if most of several rows have days outside the range of the training rows."""
        code = column.code
        if not (isinstance(code, DateCode) and code.elapsed and self.seen is not None):
            return
        first, last = self.seen.quantiles[[0, -1], self.columns.index(column)]
        days = cells.measured() if cells.times is not None else np.empty(0)
        beyond = np.count_nonzero((days < first) | (days > last))
        if beyond >= _FEWEST_BEYOND and 2 * beyond > len(days):
            shown = np.array([first, last]).astype("datetime64[D]")
            warn(
                f"{owner}: most rows lie outside the training range of column {column.name!r}, {shown[0]} to "
                f"{shown[1]}, and may be outliers only for this reason; fit with newer rows, or with "
                f"{parameter('columns', {column.name: 'clock'})} to leave the days out",
                ColumnWarning,
            )

    def _compare(self, table: Table, owner: str) -> None:
        """Warn about columns that differ from those of the training table; missing columns are an error."""
        names = {column.name for column in self.columns}
        needed = [column.name for column in self.used]
        used = set(needed)
        if not any(isinstance(name, str) for name in (*names, *table)) and len(table) != len(names):
            # Without names, it is unknown which column is new.
            raise ValueError(
                f"{owner}: X has {len(table)} features, but {owner} is expecting {len(names)} features as input"
            )
        if lacking := [name for name in needed if name not in table]:
            raise ValueError(f"{owner}: the table must have the columns of the fit, but lacks {listed(lacking)}")
        if extra := [name for name in table if name not in names]:
            warn(f"{owner}: columns that the training table lacks are left out: {listed(extra)}", ColumnWarning)
        if [name for name in table if name in used] != needed:
            warn(f"{owner}: columns are in another order than at the fit; they are matched by name", ColumnWarning)
        for column in self.columns:
            if column.always is not None and column.name in table:
                cells = read_cells(table[column.name], f"{owner}: column {column.name!r}")
                if others := [word for word in cells.as_words().levels if word != column.always]:
                    warn(
                        f"{owner}: column {column.name!r} was {column.always} in every training row and is left "
                        f"out, but now holds {listed(others)}",
                        ColumnWarning,
                    )

    def fold(self, shares: Matrix, read: Mapping[Name, Cells]) -> Matrix:
        """Shares of the encoded columns of parsed cells, summed by column of the table; a row's sum is unchanged."""
        used = self.used
        origin = np.concatenate([np.full(len(column.parts), i) for i, column in enumerate(used)])
        total = folded(shares[:, : len(origin)], origin, len(used))
        if watched := self._watched:
            fresh = np.zeros(total.shape)
            for i in watched:
                fresh[:, i] = used[i].code.gaps(read[used[i].name])  # type: ignore[union-attr]
            count = fresh.sum(axis=1, keepdims=True)
            total += shares[:, -1:] * np.where(count > 0, fresh / np.maximum(count, 1), 1 / len(used))
        place = [i for i, column in enumerate(self.columns) if column.code is not None]
        out = np.zeros((len(shares), len(self.columns)))
        out[:, place] = total
        return out

    def restore(self, Z: Matrix) -> NDArray[np.object_]:
        """Encoded rows as cell values in the columns of the table; None in dropped columns."""
        out, start = np.full((len(Z), len(self.columns)), None, dtype=object), 0
        for i, column in enumerate(self.columns):
            if column.code is not None:
                width = len(column.code.parts)
                out[:, i] = column.code.restore(Z[:, start : start + width])
                start += width
        return out


def _is_watched(column: Column) -> bool:
    return isinstance(column.code, NumberCode | OrdinalCode | DateCode) and column.code.gap == 0


def _wrong(column: Column, cells: Cells) -> NDArray[np.bool_] | None:
    """Mask of the cells that are neither missing nor of the column; None if any cell may be in it."""
    if column.code is None or isinstance(column.code, CategoryCode) or getattr(column.code, "lenient", False):
        return None
    return column.code.gaps(cells) & ~cells.gaps


def _wanted_in(column: Column) -> str:
    """What the cells of a column must hold."""
    if isinstance(column.code, OrdinalCode):
        return f"one of {listed(column.code.levels)}"
    return "a time" if isinstance(column.code, DateCode) else "a number"


def _plain(cells: Cells) -> NDArray[np.generic]:
    return cells.as_times() if cells.times is not None else cells.as_numbers()
