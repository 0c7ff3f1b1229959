"""How results look: one line as `repr`, a few lines in `print`, and a small table in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["ROWS", "InNotebook", "table"]

#: Most rows of a table in a notebook.
ROWS = 10


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[object]], *, total: int) -> str:
    """HTML of a table with a title; the last line tells how many of the `total` rows are not shown.

    Parameters
    ----------
    title : str
        Text above the table.
    head : sequence of str
        Names of the columns.
    rows : iterable of sequences
        Cells of the rows that are shown, as values or text.
    total : int
        Number of all rows.

    Returns
    -------
    str

    Examples
    --------
    >>> table("Two", ["x"], [["<b>"]], total=2)
    '<p>Two</p><table><tr><th>x</th></tr><tr><td>&lt;b&gt;</td></tr></table><p>1 more</p>'
    """
    lines = [*rows]
    cells = "".join(f"<tr>{''.join(f'<td>{_said(cell)}</td>' for cell in line)}</tr>" for line in lines)
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    more = f"<p>{total - len(lines):,} more</p>" if total > len(lines) else ""
    return f"<p>{escape(title)}</p><table><tr>{names}</tr>{cells}</table>{more}"


def _said(cell: object) -> str:
    return escape(f"{cell:.4g}" if isinstance(cell, float) else str(cell))


class InNotebook:
    """A result with `repr` of one line and a table for notebooks, both from `_title` and `_table`."""

    @property
    def _title(self) -> str:
        """The contents in a few words."""
        raise NotImplementedError

    def _table(self) -> tuple[Sequence[str], Iterable[Sequence[object]], int]:
        """Names of columns, the first `ROWS` rows, and the number of all rows."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._title})"

    def _repr_html_(self) -> str:
        head, rows, total = self._table()
        return table(repr(self), head, rows, total=total)
