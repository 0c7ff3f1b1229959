"""The summary as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .contents import Row, Summary
from .drift import held
from .table import strangeness, strangeness_of
from .wording import cell, percent

__all__ = ["markdown_of"]

_ROWS, _COLUMNS = 20, 30


def markdown_of(summary: Summary, title: str) -> str:
    """The text."""
    return "\n".join(_lines(summary, title)) + "\n"


def _lines(summary: Summary, title: str) -> Iterator[str]:
    budget, model = summary["budget"], summary["model"]
    yield from (f"# {_text(title)}", "", *(f"- {_text(words)}" for words in summary["words"]))
    yield from ("", "## What to do next", "", *(f"{i}. {_text(said)}" for i, said in enumerate(summary["advice"], 1)))
    if "interval" in budget:
        alarms, (low, high) = budget["in_1000"], budget["interval"]
        facts = [
            ("asked", percent(budget["asked"])),
            ("flagged here", f"{budget['flagged']:,} ({percent(budget['flagged_share'])})"),
            ("this model's own rate of false alarms", f"{percent(low)} to {percent(high)}"),
            ("alarms in 1,000 normal rows", f"{alarms['expected']:.0f}, {alarms['fewest']} to {alarms['most']}"),
        ]
        yield from ("", "## How many alarms", "", *_table(("", "with 95 % confidence"), facts))
    if summary["rows"] and budget["flagged"]:
        strange = strangeness(model["learnt_from"]).lower()
        shown = [_row(row, model["learnt_from"]) for row in summary["rows"][:_ROWS] if row["flagged"]]
        yield from ("", "## Flagged rows", "", *_table(("row", strange, "why"), shown))
        if budget["flagged"] > len(shown):
            yield from ("", f"and {budget['flagged'] - len(shown):,} more.")
    if compared := [column for column in summary["columns"] if "changed" in column]:
        worst = sorted(compared, key=lambda column: -column["distance"])[:_COLUMNS]
        lines = [
            (c["name"], held(c["training"], c["kind"]), held(c["new"], c["kind"]), percent(c["distance"]), c["changed"])
            for c in worst
        ]
        heads = ("column", "training rows", "new rows", "difference", "changed")
        yield from ("", "## New rows beside the training rows", "", *_table(heads, lines))
    yield from ("", f"{_text(model['name'])}: {_text(model['is'])} Made on {summary['made']}.")


def _row(row: Row, learnt_from: float | None) -> tuple[str, str, str]:
    said = []
    for reason in row["reasons"]:
        expected = "" if reason["expected"] is None else f" (expected {cell(reason['expected'])})"
        said.append(f"{reason['column']} = {cell(reason['value'])}{expected}, {percent(reason['share'])}")
    name = ", ".join([str(row["row"]), *map(str, row["labels"].values())])
    return name, strangeness_of(row, learnt_from), "; ".join(said)


def _table(heads: Sequence[str], lines: Sequence[Sequence[object]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    for line in lines:
        yield f"| {' | '.join(_text(said) for said in line)} |"


def _text(said: object) -> str:
    """Text that Markdown takes for nothing else."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", " ".join(str(said).split()))
