"""The columns to blame, a card each: how they were at the fit and what flagged rows hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .contents import Column, Summary
from .markup import Element, joined, tag
from .svg import spread
from .wording import between, counted, percent

__all__ = ["cards"]

_VALUES = 6


def cards(summary: Summary) -> Element | None:
    """The cards, the most to blame first; None where no row is flagged or explained."""
    blamed = sorted((c for c in summary["columns"] if "flagged_values" in c), key=lambda c: -c["blame"])
    return tag("div", *map(_card, blamed), class_="cards") if blamed else None


def _card(column: Column) -> Element:
    said = f"{percent(column['blame'])} of the blame"
    if column["first"]:
        said += f", first reason in {counted(column['first'], 'row')}"
    return tag("article", tag("h3", column["name"]), tag("p", said, class_="note"), _picture(column), class_="card")


def _picture(column: Column) -> Element:
    old, values = column.get("training"), [value for value in column["flagged_values"] if value is not None]
    if column["kind"] == "category":
        return _categories({} if old is None else old.get("values", {}), values)
    kind, odd, numbers = column["kind"], "Flagged rows: ", [float(value) for value in values]
    odd += f"{between((min(numbers), max(numbers)), kind)}." if numbers else "missing."
    if old is None or "quantiles" not in old:
        return tag("p", odd)
    usual = f"Nine in ten training rows: {between(old['usual'], kind)}."
    picture = spread(old["quantiles"], numbers, kind, f"{column['name']}. {usual} {odd}")
    return joined(picture, tag("p", usual, tag("br"), odd))


def _categories(shares: Mapping[str, float], values: Sequence[object]) -> Element:
    """Shares of the commonest values among the training rows and among the flagged."""
    words = [str(value) for value in values]
    counts = {value: words.count(value) / max(len(words), 1) for value in dict.fromkeys(words)}
    names = sorted({*shares, *counts}, key=lambda name: -max(shares.get(name, 0), counts.get(name, 0)))[:_VALUES]
    lines = [
        tag(
            "tr",
            tag("th", name, scope="row"),
            *(_bar(share, kind) for share, kind in ((shares.get(name, 0), "old"), (counts.get(name, 0), "alarm"))),
        )
        for name in names
    ]
    head = tag("tr", tag("td"), tag("th", "training", scope="col"), tag("th", "flagged", scope="col"))
    return tag("table", tag("thead", head), tag("tbody", *lines), class_="values")


def _bar(share: float, kind: str) -> Element:
    rect = tag("rect", class_=f"bar {kind}", width=f"{100 * share:.1f}", height=8)
    return tag("td", percent(share), tag("svg", rect, viewBox="0 0 100 8", preserveAspectRatio="none", class_="share",
                                         aria_hidden="true"))  # fmt: skip
