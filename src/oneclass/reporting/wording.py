"""Numbers and lists in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .contents import Cell

__all__ = ["between", "cell", "counted", "listed", "number", "percent"]

#: Names of a list, and letters of a text, that are shown.
_NAMED, _LONG = 5, 80


def between(ends: Sequence[float], kind: str) -> str:
    """Two ends in three digits."""
    low, high = (cell(value, kind, 3) for value in ends)
    return f"{low} to {high}"


def counted(n: float, what: str) -> str:
    """A number of things: ``1 row``, ``1,200 rows``."""
    return f"{n:,.10g} {what}{'' if n == 1 else 's'}"


def percent(share: float) -> str:
    """A share in per cent, three digits at most."""
    value = 100 * share
    if 0 < value < 0.01:
        return "<\N{NO-BREAK SPACE}0.01\N{NO-BREAK SPACE}%"
    digits = ".0f" if value >= 99.95 or value == 0 else ".2g" if value < 10 else ".3g"
    return f"{value:{digits}}\N{NO-BREAK SPACE}%"


def number(value: float, digits: int = 4) -> str:
    """A number in a few digits, or in all those before the point; thousands parted."""
    if value == 0 or 1e-3 <= abs(value) < 1e9:
        return f"{value:,.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"
    return f"{value:.3g}"


def cell(value: Cell, kind: str = "number", digits: int = 4) -> str:
    """What a cell holds; days since 1970 of a ``date`` or a ``clock`` as a day."""
    if value is None:
        return "missing"
    if isinstance(value, bool | str):
        text = str(value)
        return text if len(text) <= _LONG else text[: _LONG - 1] + "…"
    if kind in ("date", "clock"):
        return str(np.datetime64(int(value * 1440), "m").astype("datetime64[D]"))
    return str(value) if isinstance(value, int) and abs(value) < 1e6 else number(value, digits)


def listed(names: Sequence[object]) -> str:
    """Names with commas and an ``and``, a few of them."""
    shown = [str(name) for name in names[:_NAMED]]
    if len(names) > _NAMED:
        return ", ".join(shown) + f" and {len(names) - _NAMED} more"
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + f" and {shown[-1]}"
