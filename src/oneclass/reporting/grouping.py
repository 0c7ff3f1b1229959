"""Groups of alarms with the same main reason, and alarms over time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.typing import Name
from ..tabular.cells import Cells
from .formatting import cell, listed
from .schema import AlarmGroup, Row, Times

__all__ = ["groups_of", "times_of"]

#: Kinds of columns whose values are compared as words.
_WORDS = ("category", "ordinal", "flag")
#: Most expected categories that are listed for a group.
_EXPECTED = 3
#: Most spans of time, and the fewest rows of a span on average.
_SPANS, _ROWS_PER_SPAN = 40, 5


def groups_of(rows: Sequence[Row], kinds: Mapping[Name, str]) -> tuple[list[AlarmGroup], list[int | None]]:
    """Groups of the listed rows, the largest number of flagged rows first, and the number of the group of each row."""
    found: dict[tuple[str, Name], list[int]] = {}
    for i, row in enumerate(rows):
        if row["reasons"]:
            reason = row["reasons"][0]
            key = _text(reason, kinds.get(reason["column"], "")), reason["column"]
            found.setdefault(key, []).append(i)
    order = sorted(found, key=lambda key: (-sum(rows[i]["flagged"] for i in found[key]), found[key][0]))
    places: list[int | None] = [None] * len(rows)
    groups: list[AlarmGroup] = []
    for number, (text, column) in enumerate(order):
        members = found[text, column]
        for i in members:
            places[i] = number
        reasons: list[Any] = [rows[i]["reasons"][0] for i in members if rows[i]["flagged"]]
        kind, count = kinds.get(column, ""), len(reasons)
        values = _range([reason["value"] for reason in reasons], kind)
        expected = _range([reason["low"] for reason in reasons] + [reason["high"] for reason in reasons], kind)
        usual = Counter(cell(reason["expected"]) for reason in reasons if reason["expected"] is not None)
        if usual and (kind in _WORDS or (len(usual) == 1 and not expected)):
            expected = listed([word for word, _ in usual.most_common()], most=_EXPECTED)
        groups.append({"reason": text, "column": column, "rows": count, "values": values, "expected": expected})
    return groups, places


def _text(reason: Any, kind: str) -> str:
    """The main reason of a row, as text that rows with a like reason share."""
    column, value, expected = (reason[name] for name in ("column", "value", "expected"))
    if value is None:
        return f"{column} missing"
    if kind in _WORDS or isinstance(value, str | bool):
        return f"{column} unusual" if kind in ("date", "clock") else f"{column} = {cell(value)}"
    low, high = (expected if reason[end] is None else reason[end] for end in ("low", "high"))
    if any(end is None or isinstance(end, str | bool) for end in (low, high)) or low <= value <= high:
        return f"{column} unusual"
    return f"{column} {'too high' if value > high else 'too low'}"


def _range(values: Sequence[Any], kind: str) -> str:
    """The smallest and the largest number; empty if there is none."""
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    if not numbers or kind in _WORDS:
        return ""
    low, high = cell(min(numbers), kind, 3), cell(max(numbers), kind, 3)
    return low if low == high else f"{low} to {high}"


def times_of(
    columns: Mapping[Name, Cells], flagged: NDArray[np.bool_], rate: float | None
) -> tuple[Times | None, NDArray[np.intp] | None]:
    """Rows and flagged rows over the time of the first column of times, and the span of each row (-1 if unknown)."""
    for name, cells in columns.items():
        times = cells.as_times() if cells.kind == "time" else np.empty(0, dtype="datetime64[us]")
        known = ~np.isnat(times)
        if known.sum() < 2 * _ROWS_PER_SPAN or times[known].min() == times[known].max():
            continue
        micros = times.astype("datetime64[us]").astype(np.int64)
        low, high = int(micros[known].min()), int(micros[known].max())
        count = int(np.clip(known.sum() // _ROWS_PER_SPAN, 2, _SPANS))
        edges = np.linspace(low, high, count + 1)
        spans = np.clip(np.searchsorted(edges, micros, side="right") - 1, 0, count - 1)
        spans[~known] = -1
        rows = np.bincount(spans[known], minlength=count)
        stamps = edges.astype(np.int64).astype("datetime64[us]")
        step = "D" if high - low > count * 86_400_000_000 else "m"
        return {
            "column": str(name),
            "edges": [str(stamp.astype(f"datetime64[{step}]")).replace("T", " ") for stamp in stamps],
            "rows": rows.tolist(),
            "flagged": np.bincount(spans[known & flagged], minlength=count).tolist(),
            "expected": None if rate is None else (rate * rows).tolist(),
        }, spans
    return None, None
