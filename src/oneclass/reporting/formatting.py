"""Numbers, cells and lists as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .schema import Cell, ColumnValues, Reason, Row, Segment

__all__ = [
    "CHANGES",
    "cell",
    "counted",
    "expected_text",
    "listed",
    "number",
    "percent",
    "range_text",
    "rarity",
    "rarity_heading",
    "segment_line",
    "values_text",
]

#: What is shown for the values of `Column.changed`.
CHANGES = {
    "no": "no change",
    "slightly": "slightly changed",
    "clearly": "changed",
    "flagged": "in flagged rows only",
    "later": "later than in training",
}

#: Most names in a list, most characters of a text, and most categories in the description of a column.
_NAMES, _CHARACTERS, _DESCRIBED_CATEGORIES = 5, 80, 3
#: Smallest percentage, other than 0, that is written as a number.
_SMALLEST_PERCENT = 0.01
#: Range of the numbers that are written without an exponent.
_WITHOUT_EXPONENT = (1e-3, 1e9)
#: P-values below this are written as "1 in 200", others as a percentage.
_ONE_IN = 0.3
_MINUTES_PER_DAY = 24 * 60


def counted(n: float, noun: str) -> str:
    """A number with its noun: ``1 row``, ``1,200 rows``."""
    return f"{n:,.10g} {noun}{'' if n == 1 else 's'}"


def percent(share: float) -> str:
    """A share as a percentage with at most three digits."""
    value = 100 * share
    if 0 < value < _SMALLEST_PERCENT:
        return f"<\N{NO-BREAK SPACE}{_SMALLEST_PERCENT}\N{NO-BREAK SPACE}%"
    digits = ".0f" if value >= 99.95 or value == 0 else ".2g" if value < 10 else ".3g"
    return f"{value:{digits}}\N{NO-BREAK SPACE}%"


def number(value: float, digits: int = 4) -> str:
    """A number with so many significant digits, or all digits of its integer part; thousands are separated."""
    low, high = _WITHOUT_EXPONENT
    if value == 0 or low <= abs(value) < high:
        return f"{value:,.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"
    return f"{value:.3g}"


def cell(value: Cell, kind: str = "number", digits: int = 4) -> str:
    """The value of a cell; a number of days since 1970, in a column of dates or clock times, as a date."""
    if value is None:
        return "missing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if kind == "flag" and not isinstance(value, str):
        return "true" if value > 0.5 else "false"
    if isinstance(value, str):
        text = value
        return text if len(text) <= _CHARACTERS else text[: _CHARACTERS - 1] + "…"
    if kind == "clock" and 0 <= value < 1:  # times of day are times on the first day of 1970
        return str(np.datetime64(round(value * _MINUTES_PER_DAY), "m"))[-5:]
    if kind in ("date", "clock"):
        return str(np.datetime64(int(value * _MINUTES_PER_DAY), "m").astype("datetime64[D]"))
    return str(value) if isinstance(value, int) and abs(value) < 1e6 else number(value, digits)


def expected_text(reason: Reason) -> str:
    """What was expected instead of a value: a range of numbers, a category with its probability, or a value."""
    low, high, expected = reason["low"], reason["high"], reason["expected"]
    if low is not None and high is not None:
        return range_text((low, high), "number") if cell(low, digits=3) != cell(high, digits=3) else cell(low)
    if expected is None:
        return ""
    chance = reason.get("probability")
    return cell(expected) if chance is None else f"{cell(expected)} ({percent(chance)})"


def range_text(ends: Sequence[Any], kind: str) -> str:
    """The two ends of a range with three digits: ``0.5 to 12``."""
    low, high = (cell(value, kind, 3) for value in ends)
    return f"{low} to {high}"


def listed(names: Sequence[object], *, most: int = _NAMES) -> str:
    """The first names, separated by commas and a final ``and``."""
    shown = [str(name) for name in names[:most]]
    if len(names) > most:
        return ", ".join(shown) + f" and {len(names) - most} more"
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + f" and {shown[-1]}"


def values_text(values: ColumnValues, kind: str) -> str:
    """Median and central 90 % of the values of a column, or its most frequent categories, and its missing values."""
    parts = []
    if "median" in values:
        parts.append(f"{cell(values['median'], kind, 3)} ({range_text(values['central_90'], kind)})")
    if "shares" in values:
        common = list(values["shares"].items())[:_DESCRIBED_CATEGORIES]
        parts.append(", ".join(f"{value} {percent(share)}" for value, share in common))
    if values["missing"]:
        parts.append(f"{percent(values['missing'])} missing")
    return "; ".join(parts)


def rarity_heading(fitted_on: float | None) -> str:
    """Heading of the column that `rarity` fills."""
    return "Score" if fitted_on is None else "Normal rows at least this unusual"


def rarity(row: Row, fitted_on: float | None) -> str:
    """How many normal rows are at least as unusual as the row; its score if there are no held-out losses."""
    p = row["p_value"]
    if p is None or fitted_on is None:
        return cell(row["score"])
    if p * (fitted_on + 1) < 1.5:  # the smallest p-value is 1 / (n + 1), the next one at least 2 / (n + 1)
        return f"none of {fitted_on:,.0f}"
    return f"1 in {1 / p:,.0f}" if p < _ONE_IN else percent(p)


def segment_line(segment: Segment) -> tuple[str, ...]:
    """The cells of a segment in the table of segments."""
    rate, unsegmented, interval = segment["rate"], segment["unsegmented"], segment["interval"] or [0.0, 1.0]
    return (
        segment["segment"],
        f"{segment['rows']:,}",
        f"{segment['flagged']:,}",
        f"{segment['fitted_on']:,.10g}",
        "unknown" if rate is None else f"{percent(rate)} ({percent(interval[0])} to {percent(interval[1])})",
        "unknown" if unsegmented is None else percent(unsegmented),
    )
