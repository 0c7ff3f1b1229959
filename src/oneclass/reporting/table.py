"""The flagged rows as a table that sorts, filters and follows the slider."""

from __future__ import annotations

from collections.abc import Iterator

from ..core.typing import Name
from .contents import Cell, Row, Said, Summary
from .markup import Element, joined, tag
from .wording import cell, percent

__all__ = ["strangeness", "strangeness_of", "table"]

Entry = tuple[object, object]  # what to sort by, and what is shown

_WHY = ("Column", "Value", "Expected", "Share", "Also")


def table(summary: Summary) -> Iterator[Element]:
    """What to filter by, and the table; rows that the threshold does not flag wait in it for the slider."""
    rows, flagged = summary["rows"], summary["budget"]["flagged"]
    if not rows:
        yield tag("p", "No row is flagged, whatever the setting.")
        return
    drawn = _Rows(summary)
    search = tag("input", type="search", id="filter", placeholder="a column, a value, a row", autocomplete="off")
    shown = f"{min(flagged, len(rows)):,} of {flagged:,} flagged rows shown"
    yield tag("div", tag("label", "Filter ", search), tag("p", shown, id="shown", role="status"), class_="tools")
    yield tag(
        "div",
        tag(
            "table",
            tag("caption", "The most unusual first. Each heading sorts.", class_="quiet"),
            tag("thead", tag("tr", *drawn.heads())),
            tag("tbody", *(drawn.row(rank, hidden=rank >= flagged) for rank in range(len(rows)))),
            id="flagged",
        ),
        class_="scroll",
        tabindex=0,
        role="region",
        aria_label="Table of flagged rows",
    )
    if not drawn.explained and summary["explained"]:
        yield tag("p", f"Reasons are not known: {summary['explained']}", class_="note")


def strangeness(learnt_from: float | None) -> str:
    """What is said of how unusual a row is, where so many rows were held out."""
    return "Score" if learnt_from is None else "Normal rows as unusual"


def strangeness_of(row: Row, learnt_from: float | None) -> str:
    """How many normal rows are as unusual as the row or, where none was held out, its score."""
    p = row["p_value"]
    if p is None or learnt_from is None:
        return cell(row["score"])
    if p * (learnt_from + 1) < 1.5:
        return f"none of {learnt_from:,.0f}"
    return f"1 in {1 / p:,.0f}" if p < 0.3 else percent(p)


class _Rows:
    """The rows of a summary as rows of a table."""

    def __init__(self, summary: Summary) -> None:
        self._rows, self._learnt_from = summary["rows"], summary["model"]["learnt_from"]
        self._categories = {column["name"] for column in summary["columns"] if column["kind"] == "category"}
        shares = [reason["share"] for row in self._rows for reason in row["reasons"]]
        self._most = max(shares, default=1.0)
        named = ["Row", *self._rows[0]["labels"]]
        self._heads = [*named, strangeness(self._learnt_from), *(_WHY if shares else ())]
        self._sorted_by, self.explained = len(named), bool(shares)

    def heads(self) -> Iterator[Element]:
        """The first row."""
        for i, name in enumerate(self._heads):
            if i == self._sorted_by + len(_WHY):
                yield tag("th", name, scope="col")
            else:
                order = "ascending" if i == self._sorted_by else "none"
                yield tag("th", tag("button", name, type="button", data_sort=i), scope="col", aria_sort=order)

    def row(self, rank: int, *, hidden: bool) -> Element:
        row = self._rows[rank]
        cells: list[Entry] = [(row["row"], f"{row['row']:,}")]
        cells += [(label, cell(label)) for label in row["labels"].values()]
        cells += [(rank, strangeness_of(row, self._learnt_from)), *self._why(row["reasons"])]
        drawn = [
            tag(
                "td" if i else "th",
                shown,
                scope=None if i else "row",
                data_head=head,
                data_key="" if key is None else key,
            )
            for i, (head, (key, shown)) in enumerate(zip(self._heads, cells, strict=False))
        ]
        return tag("tr", *drawn, data_rank=rank, hidden=hidden)

    def _why(self, reasons: list[Said]) -> list[Entry]:
        if not reasons:
            return [("", "")] * len(_WHY)
        first, *others = reasons
        column, value, expected, share = first["column"], first["value"], first["expected"], first["share"]
        shown = "" if expected is None else cell(expected)
        return [
            (column, column),
            (value, self._said(column, value)),
            (expected, shown),
            (share, self._share(share)),
            ("", joined(*map(self._also, others))),
        ]

    def _said(self, column: Name, value: Cell) -> str:
        return cell(value if value is None or column not in self._categories else str(value))

    def _share(self, share: float) -> Element:
        bars = (("empty", 1.0), ("bar alarm", share / self._most))
        drawn = [tag("rect", class_=name, width=f"{100 * part:.0f}", height=10) for name, part in bars]
        options = {"viewBox": "0 0 100 10", "preserveAspectRatio": "none", "class_": "share", "aria_hidden": "true"}
        return joined(percent(share), tag("svg", *drawn, **options))

    def _also(self, reason: Said) -> Element:
        expected = "" if reason["expected"] is None else f", expected {cell(reason['expected'])}"
        said = f"{reason['column']}: {self._said(reason['column'], reason['value'])}{expected} "
        return tag("span", said, tag("small", f"({percent(reason['share'])})"))
