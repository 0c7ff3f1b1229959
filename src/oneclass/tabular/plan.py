"""The column plan: a frozen, readable account of what every column of a table was taken for, and the way there."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import islice
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from ..base.column_origins import folded
from ..base.warnings import ColumnWarning, warn
from ..core.column_summary import ColumnSummary
from ..core.stored import APART, OneOf, must
from ..io.messages import printable
from .cells import Cells, read_cells
from .codes import CategoryCode, DateCode, NumberCode
from .frames import Frame, Table, Values, columns_of
from .text import comma_hint

__all__ = ["KINDS", "Column", "ColumnPlan", "listed"]

Matrix = NDArray[np.float64]

#: What a column can be said to be.
KINDS = ("number", "category", "date", "clock", "drop")
_NAMED = 5


@dataclass(frozen=True)
class Column:
    """One column of a table: what it was taken for, why, and the code that it has.

    Attributes
    ----------
    name : str or int
        Its name, or its place in a table without names.
    kind : str
        ``number``, ``flag``, ``category``, ``date``, ``clock`` or ``drop``.
    why : str
        The reason, in words.
    code : NumberCode, CategoryCode, DateCode or None
        How it becomes numbers.
    always : str or None
        The only value of a column that was left out for having no other.
    noticed : bool
        Whether it was left out unasked.
    """

    name: str | int
    kind: Annotated[str, OneOf(*KINDS, "flag")]
    why: str
    code: NumberCode | CategoryCode | DateCode | None = None
    always: str | None = None
    noticed: bool = False

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of what is made of it."""
        return () if self.code is None else tuple(f"{self.name} {part}".strip() for part in self.code.parts)


@dataclass(frozen=True, repr=False)
class ColumnPlan:
    """What every column of a table was taken for; printing it shows that as a table.

    Attributes
    ----------
    columns : tuple of Column
        In the order of the table.
    new_gap : float
        What the last made column holds for each gap where training rows had none: how rare that is.
    seen : ColumnSummary or None
        Quantiles of each column that holds numbers or, in days since 1970, times.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass import TableDetector
    >>> table = np.array([[float(i % 7), "ab"[i % 2]] for i in range(40)], dtype=object)
    >>> table = np.random.default_rng(0).permutation(table)
    >>> TableDetector().fit(table).plan_
    column  taken for  because             made of it
    0       number     numbers             0
    1       category   2 different values  1 is b, 1 rarity
    Overrule with columns={name: 'number' | 'category' | 'date' | 'clock' | 'drop'}.
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
        """Columns that become numbers."""
        return tuple(column for column in self.columns if column.code is not None)

    @property
    def made(self) -> tuple[str, ...]:
        """Names of what is made of the table."""
        named = [part for column in self.used for part in column.parts]
        return (*named, "new gaps") if self._watched else tuple(named)

    @property
    def _watched(self) -> tuple[int, ...]:
        """Places, among the used columns, of those whose gaps have no column of their own but would be news."""
        return tuple(i for i, column in enumerate(self.used) if _is_watched(column))

    def __repr__(self) -> str:
        return f"{self.table()}\nOverrule with columns={{name: {' | '.join(map(repr, KINDS))}}}."

    def table(self) -> str:
        """Every column, what it was taken for, why, and what is made of it, as text."""
        rows = [("column", "taken for", "because", "made of it")]
        for column in self.columns:
            parts = column.parts
            shown = ", ".join(parts[:4]) + f", ... ({len(parts)})" * (len(parts) > 4)
            rows.append((str(column.name), column.kind, column.why, shown))
        widths = [max(len(row[j]) for row in rows) for j in range(3)]
        lines = ("  ".join([*(row[j].ljust(widths[j]) for j in range(3)), row[3]]).rstrip() for row in rows)
        return "\n".join(map(printable, lines))

    def encode(self, X: Frame, *, owner: str = "ColumnPlan", training: bool = False, before: int | None = 0) -> Matrix:
        """The table as a matrix of numbers, one column for each of `made`; `before` it came so many rows, if known."""
        table = columns_of(X, owner)
        if not training:
            self._compare(table, owner)
        parts, fresh = [], []
        for column in self.used:
            cells = self._cells(column, table[column.name], owner, training, before)
            parts.append(column.code.encode(cells))  # type: ignore[union-attr]
            if _is_watched(column):
                fresh.append(column.code.gaps(cells))  # type: ignore[union-attr]
        if fresh:
            parts.append(self.new_gap * np.sum(fresh, axis=0, dtype=float)[:, None])
        return np.concatenate(parts, axis=1)

    def _cells(self, column: Column, values: Values, owner: str, training: bool, before: int | None = None) -> Cells:
        cells = read_cells(values, f"{owner}: column {column.name!r}")
        code = column.code
        if isinstance(code, CategoryCode):
            if not training and (unknown := code.unknown(cells)):
                warn(
                    f"{owner}: column {column.name!r} holds values that no training row has: {listed(unknown)}",
                    ColumnWarning,
                )
            return cells
        if code is None or getattr(code, "lenient", False):
            return cells
        wrong = code.gaps(cells) & ~cells.gaps
        if wrong.any():
            wanted = "a time" if isinstance(code, DateCode) else "a number"
            found = cells.as_words().where(wrong)
            told = before is not None and len(wrong) > 1  # a single row is one that was asked for
            row = f", first in row {(before or 0) + int(wrong.argmax()) + 1}" if told else ""
            raise ValueError(
                f"{owner}: column {column.name!r} must hold {wanted} in every cell, as at the fit, but holds "
                f"{listed(found)}{row}{comma_hint(found)}"
            )
        return cells

    def _compare(self, table: Table, owner: str) -> None:
        """Say what differs from the table of the fit."""
        names = {column.name for column in self.columns}
        needed = [column.name for column in self.used]
        used = set(needed)
        if not any(isinstance(name, str) for name in (*names, *table)) and len(table) != len(names):
            # Without names there is no telling which column is new.
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

    def fold(self, shares: Matrix, X: Frame, *, owner: str) -> Matrix:
        """Shares of made columns as shares of the table's; a row has the same sum."""
        used = self.used
        origin = np.concatenate([np.full(len(column.parts), i) for i, column in enumerate(used)])
        total = folded(shares[:, : len(origin)], origin, len(used))
        if watched := self._watched:
            table = columns_of(X, owner)
            fresh = np.zeros(total.shape)
            for i in watched:
                cells = self._cells(used[i], table[used[i].name], owner, True)
                fresh[:, i] = used[i].code.gaps(cells)  # type: ignore[union-attr]
            count = fresh.sum(axis=1, keepdims=True)
            total += shares[:, -1:] * np.where(count > 0, fresh / np.maximum(count, 1), 1 / len(used))
        place = [i for i, column in enumerate(self.columns) if column.code is not None]
        out = np.zeros((len(shares), len(self.columns)))
        out[:, place] = total
        return out

    def restore(self, Z: Matrix) -> NDArray[np.object_]:
        """What numbers of the made columns stand for, in the table's columns; None in columns that were left out."""
        out, start = np.full((len(Z), len(self.columns)), None, dtype=object), 0
        for i, column in enumerate(self.columns):
            if column.code is not None:
                width = len(column.code.parts)
                out[:, i] = column.code.restore(Z[:, start : start + width])
                start += width
        return out


def _is_watched(column: Column) -> bool:
    return isinstance(column.code, NumberCode | DateCode) and column.code.gap == 0


def listed(names: Collection[object]) -> str:
    """The first few names, and how many there are more."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join("missing" if name is None else repr(name) for name in islice(names, _NAMED)) + more
