"""The data of the page's script: positions of the slider, and the listed rows as short lists of texts."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, cast

from . import formatting
from .schema import Histogram, Reason, Row, ScreeningSummary, Step, Summary

__all__ = ["page_data", "screening_data", "ticks"]

#: Marks on the axis of the histogram of losses.
_TICKS = 5


def page_data(summary: Summary) -> dict[str, Any]:
    """What the script of the page reads."""
    names: dict[str, int] = {}
    fitted_on, rows = summary["model"]["fitted_on"], summary["rows"]
    rate = summary["alarms"].get("rate", 0.0)
    return {
        "steps": [_position(step, summary["data"]["rows"], summary["scores"], rate) for step in summary["steps"]],
        "flagged": summary["alarms"]["flagged"],
        "noun": "flagged rows",
        "measure": "share",
        "caption": "The most unusual rows come first.",
        "labels": list(rows[0]["labels"]) if rows else [],
        "rarity": formatting.rarity_heading(fitted_on),
        "explained": any(row["reasons"] for row in rows),
        "rows": [_row(row, fitted_on, names) for row in rows],
        "names": list(names),
        "groups": [group["reason"] for group in summary["groups"]],
        "flagged_by_span": (summary["times"] or {"flagged": []})["flagged"],
    }


def screening_data(summary: ScreeningSummary) -> dict[str, Any]:
    """What the script of the page of a screening reads."""
    columns = {name: str(i) for i, name in enumerate(summary["columns"])}
    names: dict[str, int] = {}
    rows = []
    for row in summary["rows"]:
        suspected = {cell["column"]: cell["value"] for cell in row["cells"]}
        labels = [formatting.cell(suspected.get(name, value)) for name, value in row["values"].items()]
        reasons, marks = [], {}
        for cell in row["cells"]:
            expected = formatting.expected_text(cast(Reason, cell))
            name = str(cell["column"])
            p = float(f"{cell['p_value']:.3g}")
            reasons.append([names.setdefault(name, len(names)), formatting.cell(cell["value"]), expected, p])
            if name in columns:
                marks[columns[name]] = expected
        p = float(f"{row['p_value']:.3g}")
        rows.append([row["row"], labels, "yes" if row["named"] else "", p, row["group"], None, reasons, marks])
    return {
        "steps": [],
        "flagged": len(rows),
        "noun": "suspicious rows",
        "measure": "p_value",
        "caption": "The most suspicious rows come first.",
        "labels": summary["columns"],
        "rarity": "Named as wrong",
        "explained": False,
        "rows": rows,
        "names": list(names),
        "groups": [group["reason"] for group in summary["groups"]],
        "flagged_by_span": [],
        "cards": [],
    }


def _row(row: Row, fitted_on: float | None, names: dict[str, int]) -> list[Any]:
    """Number, labels, rarity, p-value or score, group, span of time, and reasons."""
    reasons = [
        [
            names.setdefault(str(reason["column"]), len(names)),
            formatting.cell(reason["value"]),
            formatting.expected_text(reason),
            float(f"{reason['share']:.3g}"),
        ]
        for reason in row["reasons"]
    ]
    rare = row["score"] if row["p_value"] is None else row["p_value"]
    labels = [formatting.cell(label) for label in row["labels"].values()]
    text = formatting.rarity(row, fitted_on)
    return [row["row"], labels, text, float(f"{rare:.4g}"), row["group"], row["span"], reasons]


def _position(step: Step, rows: int, scores: Histogram, rate: float) -> dict[str, Any]:
    """What the page shows at a position of the slider."""
    return {
        "delta": formatting.percent(step["delta"]),
        "flagged": step["flagged"],
        "count": f"{step['flagged']:,}",
        "share": f"{formatting.percent(step['flagged'] / rows)} of {formatting.counted(rows, 'row')}",
        "rate": f"{formatting.percent(step['low'])} to {formatting.percent(step['high'])}",
        "expected": f"{step['expected']:,.0f}",
        "range": f"{step['fewest']:,} to {step['most']:,}",
        "bar": _first_bar(scores, step["score"]),
        "place": round(100 * _place(scores, step["score"]), 2),
        "own": step["own"],
        "rate_of_own": step["delta"] / rate if rate else 1.0,
    }


def _first_bar(scores: Histogram, score: float) -> int:
    """The first bar of the histogram beyond a threshold."""
    limit = _limit(scores, score)
    return sum((a + b) / 2 <= limit for a, b in pairwise(scores["edges"]))


def _place(scores: Histogram, score: float) -> float:
    """Place of a threshold on the axis of the histogram, from 0 to 1."""
    low, high = scores["edges"][0], scores["edges"][-1]
    return min(max((_limit(scores, score) / 2 - low / 2) / (high / 2 - low / 2), 0.0), 1.0) if high > low else 1.0


def _limit(scores: Histogram, score: float) -> float:
    if not scores["logarithmic"]:
        return -score
    return math.log10(-score) if score < 0 else scores["edges"][0]


def ticks(scores: Histogram) -> list[str]:
    """Losses at equal distances on the axis of the histogram."""
    low, high = scores["edges"][0], scores["edges"][-1]
    at = [low + (high / _TICKS - low / _TICKS) * i * _TICKS / (_TICKS - 1) for i in range(_TICKS)]
    return [formatting.number(10**x if scores["logarithmic"] else x, 2) for x in at]
