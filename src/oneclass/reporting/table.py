"""The flagged rows as a table that sorts, filters and follows the slider."""

from __future__ import annotations

from collections.abc import Iterator

from ..core.given import Name
from .contents import Cell, Said, Summary
from .markup import Element, joined, tag
from .wording import cell, percent

__all__ = ["odds", "table"]

Entry = tuple[object, object]  # what to sort by, and what is shown

_STRANGE = "Normal rows as unusual"
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
            tag("thead", tag("tr", *map(_head, drawn.heads, range(len(drawn.heads))))),
            tag("tbody", *(drawn.row(rank, hidden=rank >= flagged) for rank in range(len(rows)))),
            id="flagged",
        ),
        class_="scroll",
        tabindex=0,
        role="region",
        aria_label="Table of flagged rows",
    )
    if _WHY[0] not in drawn.heads and summary["explained"]:
        yield tag("p", f"Reasons are not known: {summary['explained']}", class_="note")


def _head(name: str, i: int) -> Element:
    if name == _WHY[-1]:
        return tag("th", name, scope="col")
    order = "ascending" if name == _STRANGE else "none"
    return tag("th", tag("button", name, type="button", data_sort=i), scope="col", aria_sort=order)


def odds(p: float | None, learnt_from: float | None) -> str:
    """How many normal rows are as unusual as a row."""
    if p is None or learnt_from is None:
        return ""
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
        self.heads = ["Row", *self._rows[0]["labels"], _STRANGE, *(_WHY if shares else ())]

    def row(self, rank: int, *, hidden: bool) -> Element:
        row = self._rows[rank]
        strange = odds(row["p_value"], self._learnt_from) or cell(row["score"])
        cells: list[Entry] = [(row["row"], f"{row['row']:,}")]
        cells += [(label, cell(label)) for label in row["labels"].values()]
        cells += [(rank, strange), *self._why(row["reasons"])]
        drawn = [
            tag(
                "td" if i else "th",
                shown,
                scope=None if i else "row",
                data_head=head,
                data_key="" if key is None else key,
            )
            for i, (head, (key, shown)) in enumerate(zip(self.heads, cells, strict=False))
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
