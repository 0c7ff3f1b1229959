"""Column by column, what new rows hold beside what training rows held."""

from __future__ import annotations

from collections.abc import Iterator

from .contents import Column, Held, Summary
from .markup import Element, tag
from .svg import range_pair
from .wording import between, cell, counted, listed, percent

__all__ = ["drift", "held"]

_SAID = {"no": "as before", "slightly": "slightly changed", "clearly": "changed", "flagged": "in flagged rows only"}


def drift(summary: Summary) -> Iterator[Element]:
    """The table of columns, those that changed most first."""
    columns = sorted((c for c in summary["columns"] if "training" in c), key=lambda c: -c.get("distance", -1))
    if not columns:
        yield tag("p", "The model kept nothing of the columns that it was fitted on; pass X_train to compare them.")
        return
    heads = ("Column", "Training rows", "New rows", "", "Beyond training", "Difference", "Verdict")
    named = [tag("th", name, scope="col") if name else tag("td") for name in heads]
    yield tag(
        "div",
        tag(
            "table",
            tag("caption", f"{counted(len(columns), 'column')}, those that differ most first. Middle value, and in "
                "brackets where nine in ten rows lie, as the bars show: training rows grey, new rows blue; of "
                "categories the commonest values. The difference is the largest between the shares of training rows "
                "and of new rows up to any value.", class_="quiet"),
            tag("thead", tag("tr", *named)),
            tag("tbody", *(_column(column, heads) for column in columns)),
            id="columns",
        ),
        class_="scroll",
        tabindex=0,
        role="region",
        aria_label="Table of columns",
    )  # fmt: skip
    if (left := summary["data"]["columns"] - len(columns)) > 0:
        yield tag("p", f"{left:,} more are not listed.", class_="note")


def _column(column: Column, heads: tuple[str, ...]) -> Element:
    old, new, kind = column["training"], column["new"], column["kind"]
    picture = None
    if "usual" in old and "usual" in new:
        picture = range_pair(old, new, f"{column['name']}: training rows above new rows")
    verdict = column.get("changed")
    beyond = percent(column["outside"]) if "outside" in column else ""
    if column.get("unseen"):
        beyond += f": {listed(column['unseen'])}"
    distance = percent(column["distance"]) if "distance" in column else ""
    chip = tag("span", _SAID[verdict], class_=f"chip {verdict}") if verdict else "not compared"
    cells = (held(old, kind), held(new, kind), picture, beyond, distance, chip)
    name = tag("th", column["name"], scope="row", data_head="Column")
    others = [tag("td", said, data_head=head or None) for head, said in zip(heads[1:], cells, strict=True)]
    return tag("tr", name, *others)


def held(said: Held, kind: str) -> str:
    """What a column holds, in a few words."""
    parts = []
    if "middle" in said:
        parts.append(f"{cell(said['middle'], kind, 3)} ({between(said['usual'], kind)})")
    if "values" in said:
        parts.append(", ".join(f"{value} {percent(share)}" for value, share in list(said["values"].items())[:3]))
    if said["missing"]:
        parts.append(f"{percent(said['missing'])} missing")
    return "; ".join(parts)
