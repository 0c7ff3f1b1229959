"""Numbers and tables in Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

__all__ = ["number", "percent", "signed", "table"]


def table(head: Sequence[str], body: Iterable[Sequence[str]], *, left: int = 1) -> str:
    """A table whose first `left` columns are text and the others numbers.

    Parameters
    ----------
    head : sequence of str
        Column names.
    body : iterable of sequence of str
        Lines.
    left : int
        How many columns are flush left.

    Returns
    -------
    str

    Examples
    --------
    >>> print(table(["method", "F1"], [["PCA", "65.2"]]))
    | method | F1 |
    |:--|--:|
    | PCA | 65.2 |
    """
    rule = "|" + "|".join([":--"] * left + ["--:"] * (len(head) - left)) + "|"
    return "\n".join([_line(head), rule, *map(_line, body)])


def number(value: float | None, digits: int = 1) -> str:
    """A number, or a dash where there is none.

    Parameters
    ----------
    value : float or None
        The number.
    digits : int
        Decimals.

    Returns
    -------
    str

    Examples
    --------
    >>> number(3.14159), number(None), number(float("nan"))
    ('3.1', '–', '–')
    """
    return "–" if value is None or math.isnan(value) else f"{value:.{digits}f}"


def percent(value: float, digits: int = 1) -> str:
    """A share in per cent, or a dash.

    Parameters
    ----------
    value : float
        A share of 1.
    digits : int
        Decimals.

    Returns
    -------
    str

    Examples
    --------
    >>> percent(0.1234)
    '12.3'
    """
    return number(100 * value, digits)


def signed(value: float | None, digits: int = 1) -> str:
    """A difference with its sign, or a dash.

    Parameters
    ----------
    value : float or None
        The difference.
    digits : int
        Decimals.

    Returns
    -------
    str

    Examples
    --------
    >>> signed(1.26), signed(-0.04), signed(None)
    ('+1.3', '0.0', '–')
    """
    if value is None or math.isnan(value):
        return "–"
    rounded = round(value, digits) + 0.0
    return f"{rounded:.{digits}f}" if rounded == 0 else f"{rounded:+.{digits}f}"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
