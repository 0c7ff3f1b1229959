"""The summary as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import cast

from .formatting import CHANGES, cell, expected_text, percent, rarity, rarity_heading, segment_line, values_text
from .schema import AlarmGroup, Row, ScreeningSummary, Summary

__all__ = ["markdown_of"]

#: Most rows, columns and groups that are listed.
_LISTED_ROWS, _LISTED_COLUMNS, _LISTED_GROUPS = 20, 30, 10


def markdown_of(summary: Summary | ScreeningSummary, title: str) -> str:
    """The text."""
    if "alarms" not in summary:
        return "\n".join(_lines_of_screening(summary, title)) + "\n"
    return "\n".join(_lines(cast(Summary, summary), title)) + "\n"


def _lines_of_screening(summary: ScreeningSummary, title: str) -> Iterator[str]:
    verdict = summary["verdict"]
    yield from (f"# {_text(title)}", "", f"**{_text(verdict['sentence'])}**", "", _text(verdict["certainty"]))
    advice = (f"{i}. {_text(sentence)}" for i, sentence in enumerate(summary["advice"], 1))
    yield from ("", "## What to do next", "", *advice, *_groups(summary["groups"], "Groups of like mistakes"))
    cells = [
        (row["row"], entry["column"], cell(entry["value"]), expected_text(entry), "yes" if entry["named"] else "")  # type: ignore[arg-type]
        for row in summary["rows"][:_LISTED_ROWS]
        for entry in row["cells"]
    ]
    heads = ("row", "column", "value", "expected", "named as wrong")
    yield from ("", "## Suspicious cells", "", *_table(heads, cells))
    yield from ("", f"Made on {summary['made']}.")


def _lines(summary: Summary, title: str) -> Iterator[str]:
    alarms, model = summary["alarms"], summary["model"]
    yield from (f"# {_text(title)}", "", f"**{_text(summary['verdict']['sentence'])}**", "")
    yield from (
        _text(summary["verdict"]["certainty"]),
        "",
        *(f"- {_text(sentence)}" for sentence in summary["findings"]),
    )
    advice = (f"{i}. {_text(sentence)}" for i, sentence in enumerate(summary["advice"], 1))
    yield from ("", "## What to do next", "", *advice)
    if "interval" in alarms:
        found = alarms["in_1000"]
        facts = [
            ("requested false-alarm rate", percent(alarms["delta"]), ""),
            ("flagged rows", f"{alarms['flagged']:,} ({percent(alarms['flagged_share'])})", ""),
            ("false-alarm rate of this model", "", " to ".join(map(percent, alarms["interval"]))),
            ("alarms in 1,000 normal rows", f"{found['expected']:.0f}", f"{found['fewest']:,} to {found['most']:,}"),
        ]
        yield from ("", "## Number of alarms", "", *_table(("", "value", "95 % confidence interval"), facts))
    yield from _groups(summary["groups"], "Groups of like alarms")
    if segments := summary["segments"]:
        columns = ("segment", "new rows", "flagged", "training rows", "false-alarm rate", "with one threshold for all")
        yield from ("", "## Segments", "", *_table(columns, [segment_line(segment) for segment in segments]))
    if summary["rows"] and alarms["flagged"]:
        rare = rarity_heading(model["fitted_on"]).lower()
        shown = [_row(row, model["fitted_on"]) for row in summary["rows"][:_LISTED_ROWS] if row["flagged"]]
        yield from ("", "## Flagged rows", "", *_table(("row", rare, "reasons"), shown))
        if alarms["flagged"] > len(shown):
            yield from ("", f"and {alarms['flagged'] - len(shown):,} more.")
    if compared := [column for column in summary["columns"] if "distance" in column]:
        largest = sorted(compared, key=lambda column: -column["distance"])[:_LISTED_COLUMNS]
        lines = [
            (
                c["name"],
                values_text(c["training"], c["kind"]),
                values_text(c["new"], c["kind"]),
                percent(c["distance"]),
                CHANGES[c["changed"]],
            )
            for c in largest
        ]
        heads = ("column", "training rows", "new rows", "difference", "change")
        yield from ("", "## New rows compared with the training rows", "", *_table(heads, lines))
    yield from ("", f"{_text(model['name'])}: {_text(model['description'])} Made on {summary['made']}.")


def _groups(groups: Sequence[AlarmGroup], title: str) -> Iterator[str]:
    if some := [group for group in groups if group["rows"]][:_LISTED_GROUPS]:
        alike = [(group["reason"], f"{group['rows']:,}", group["values"], group["expected"]) for group in some]
        yield from ("", f"## {title}", "", *_table(("main reason", "rows", "values", "expected"), alike))


def _row(row: Row, fitted_on: float | None) -> tuple[str, str, str]:
    reasons = []
    for reason in row["reasons"]:
        expected = f" (expected {usual})" if (usual := expected_text(reason)) else ""
        reasons.append(f"{reason['column']} = {cell(reason['value'])}{expected}, {percent(reason['share'])}")
    name = ", ".join([str(row["row"]), *map(str, row["labels"].values())])
    return name, rarity(row, fitted_on), "; ".join(reasons)


def _table(heads: Sequence[str], lines: Sequence[Sequence[object]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    for line in lines:
        yield f"| {' | '.join(_text(cell) for cell in line)} |"


def _text(value: object) -> str:
    """Text with the characters escaped that Markdown would interpret."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", " ".join(str(value).split()))
