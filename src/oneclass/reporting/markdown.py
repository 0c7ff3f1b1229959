"""The summary as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .formatting import CHANGES, cell, expected_text, percent, rarity, rarity_heading, segment_line, values_text
from .schema import Row, Summary

__all__ = ["markdown_of"]

#: Most rows, columns and groups that are listed.
_LISTED_ROWS, _LISTED_COLUMNS, _LISTED_GROUPS = 20, 30, 10


def markdown_of(summary: Summary, title: str) -> str:
    """The text."""
    return "\n".join(_lines(summary, title)) + "\n"


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
    if groups := [group for group in summary["groups"] if group["rows"]][:_LISTED_GROUPS]:
        alike = [(group["reason"], f"{group['rows']:,}", group["values"], group["expected"]) for group in groups]
        names = ("main reason", "flagged rows", "values", "expected")
        yield from ("", "## Groups of like alarms", "", *_table(names, alike))
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
