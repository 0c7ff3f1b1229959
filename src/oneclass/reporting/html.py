"""The summary as one HTML page: styles, script and numbers inside, nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Iterator
from importlib.resources import files
from itertools import pairwise
from string import Template
from typing import Any

from .advice import likeness, unpromised
from .cards import cards
from .contents import Step, Summary
from .drift import drift
from .markup import Element, joined, tag
from .svg import bars
from .table import table
from .wording import counted, percent

__all__ = ["html_of"]


def html_of(summary: Summary, title: str) -> str:
    """The page."""
    style, script = (_part(name) for name in ("page.css", "page.js"))
    data = json.dumps({"steps": [_step(step, summary) for step in summary["steps"]]})
    return Template(_part("page.html")).substitute(
        policy=f"default-src 'none'; style-src {_hashed(style)}; script-src {_hashed(script)}; base-uri 'none'; "
        "form-action 'none'",
        title=joined(title),
        body=joined(*_body(summary, title)),
        style=style,
        script=script,
        # No text of it can end the element that it stands in.
        data=data.replace("<", "\\u003c"),
    )


def _part(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _section(name: str, title: str, *children: object, note: str | None = None) -> Element:
    head = joined(tag("h2", title, id=f"{name}-title"), tag("p", note, class_="note") if note else None)
    return tag("section", head, *children, id=name, aria_labelledby=f"{name}-title")


def _body(summary: Summary, title: str) -> Iterator[Element]:
    yield _head(summary, title)
    yield tag("main", *_sections(summary), id="main")
    yield tag("footer", f"Made on {summary['made']} with oneclass {summary['version']}. "
              "This file holds values of single rows: treat it as you treat the table.")  # fmt: skip


def _sections(summary: Summary) -> Iterator[Element]:
    yield _section("short", "In short", tag("ul", *(tag("li", words) for words in summary["words"])))
    yield _section("next", "What to do next", tag("ol", *(tag("li", words) for words in summary["advice"])))
    yield _section("alarms", "How many alarms", *_alarms(summary))
    yield _section("rows", "Flagged rows", *table(summary))
    if blamed := cards(summary):
        note = "The columns that say most about why rows are flagged: how they were spread at the fit (grey; the bar "
        note += "below holds nine in ten rows), and what flagged rows hold (lines)."
        yield _section("blame", "Columns to blame", blamed, note=note)
    yield _section("drift", "New rows beside the training rows", *_likeness(summary), *drift(summary))
    yield _section("model", "About the model", *_model(summary))


def _head(summary: Summary, title: str) -> Element:
    budget, alike = summary["budget"], summary["resemblance"]
    flagged, rows = budget["flagged"], summary["data"]["rows"]
    tiles = [_tile(f"{flagged:,}", f"of {counted(rows, 'row')} flagged", "alarm" if flagged else "")]
    if expected := budget.get("if_all_normal"):
        usual = f"{expected['fewest']:,} to {expected['most']:,}"
        tiles.append(_tile(usual, "would be flagged if all rows were normal"))
    tiles.append(_tile(percent(budget["asked"]), "false alarms were asked for"))
    if alike is not None:
        said = {"like": "Alike", "odd": "Mostly alike", "slightly": "Slightly off", "unlike": "Unlike"}
        how = said[likeness(alike, budget)]
        tiles.append(_tile(how, "are the new rows and the training rows", "alarm" if how == "Unlike" else ""))
    links = [("short", "In short"), ("next", "Next"), ("alarms", "Alarms"), ("rows", "Rows"), ("drift", "Changes")]
    return tag(
        "header",
        tag("a", "Skip to the flagged rows", href="#rows", class_="skip"),
        tag("h1", title),
        tag("dl", *tiles, class_="tiles"),
        tag("nav", *(tag("a", said, href=f"#{place}") for place, said in links), aria_label="Sections"),
    )


def _tile(value: str, said: str, kind: str = "") -> Element:
    return tag("div", tag("dt", said), tag("dd", value), class_=f"tile {kind}".strip())


def _step(step: Step, summary: Summary) -> dict[str, Any]:
    """What the page shows at a step of the slider."""
    share = step["flagged"] / summary["data"]["rows"]
    return {
        "alpha": percent(step["alpha"]),
        "flagged": step["flagged"],
        "count": f"{step['flagged']:,}",
        "share": f"{percent(share)} of {counted(summary['data']['rows'], 'row')}",
        "rate": f"{percent(step['low'])} to {percent(step['high'])}",
        "expected": f"{step['expected']:,.0f}",
        "range": f"{step['fewest']:,} to {step['most']:,}",
        "bar": _first_bar(summary, step["score"]),
        "own": step["own"],
    }


def _first_bar(summary: Summary, score: float) -> int:
    """The first bar of the scores beyond a threshold."""
    edges = summary["scores"]["edges"]
    limit = (math.log10(-score) if score < 0 else edges[0]) if summary["scores"]["logarithmic"] else -score
    return sum((a + b) / 2 <= limit for a, b in pairwise(edges))


def _alarms(summary: Summary) -> Iterator[Element]:
    budget, steps = summary["budget"], summary["steps"]
    if not steps:
        yield tag("p", "This model was fitted without held-out losses: its threshold cannot be moved, and no rate of "
                  "false alarms is known. Fit with threshold='held_out' for both.")  # fmt: skip
        return
    at = next(i for i, step in enumerate(steps) if step["own"])
    shown = _step(steps[at], summary)
    yield tag(
        "div",
        tag("label", "Share of normal rows that may be flagged: ", tag("output", shown["alpha"], id="alpha"),
            for_="budget"),
        tag("input", type="range", id="budget", min=0, max=len(steps) - 1, value=at, step=1,
            aria_valuetext=shown["alpha"], autocomplete="off"),
        tag("button", "Back to the model's own setting", type="button", id="own", disabled=True),
        class_="slider",
    )  # fmt: skip
    facts = [
        ("Flagged here", "count", "share"),
        ("Alarms to expect in 1,000 normal rows", "expected", "range"),
        ("This model's own rate of false alarms", "rate", None),
    ]
    yield tag(
        "dl",
        *(
            tag(
                "div",
                tag("dt", said),
                tag("dd", tag("span", shown[main], data_step=main), class_="big"),
                tag("dd", tag("span", shown[more], data_step=more)) if more else tag("dd", "with 95 % confidence"),
                class_="fact",
            )
            for said, main, more in facts
        ),
        class_="facts",
        id="facts",
        aria_live="polite",
    )
    logarithmic = " (on a logarithmic scale)" if summary["scores"]["logarithmic"] else ""
    yield tag(
        "figure",
        bars(summary["scores"]["counts"], "Histogram of how unusual the rows are", marked=shown["bar"], name="scores"),
        tag("figcaption", f"Rows from the most usual, left, to the most unusual, right{logarithmic}; "
            "those beyond the threshold are in colour."),
    )  # fmt: skip
    if unpromised(budget):
        yield tag("p", f"The model's own setting, by the rule {budget['rule']!r}, promises no rate; the one shown is "
                  "what it comes to on held-out rows.", class_="note")  # fmt: skip


def _likeness(summary: Summary) -> Iterator[Element]:
    alike = summary["resemblance"]
    if alike is None:
        return
    counts, n = alike["histogram"], summary["data"]["rows"]
    said = {
        "like": "The new rows are as normal as the training rows: nothing speaks against it.",
        "odd": "Apart from odd rows at the unusual end, the new rows are as normal as the training rows.",
        "slightly": "The new rows differ a little from the training rows; with so many rows even that is certain.",
        "unlike": "The new rows are not like the training rows.",
    }[likeness(alike, summary["budget"])]
    yield tag("p", tag("strong", said), f" Largest difference: {percent(alike['distance'])} of the rows; chance of one "
              f"as large between rows of one kind: {chance(alike['p_value'])}.")  # fmt: skip
    yield tag(
        "figure",
        bars(counts, "Histogram of the p-values of the new rows", marked=-1, level=n / len(counts), name="p-values"),
        tag("figcaption", "Rows by their rank among normal rows, the most unusual twentieth first. Rows like those of "
            "the fit fill all bars to the line."),
    )  # fmt: skip


def chance(p: float) -> str:
    """A p-value in words."""
    return "less than 1 in 10,000" if p < 1e-4 else f"{p:.2g}"


def _model(summary: Summary) -> Iterator[Element]:
    model, data, explained = summary["model"], summary["data"], summary["explained"]
    facts = [("Classifier", f"{model['name']}: {model['is']}"), ("Settings", tag("code", model["parameters"]))]
    if model["learnt_from"] is not None:
        facts.append(("Learnt from", counted(model["learnt_from"], "group" if model["grouped"] else "row")))
    facts.append(("Threshold", f"rule {summary['budget']['rule']!r}, asked {percent(summary['budget']['asked'])}"))
    if explained:
        facts.append(("Reasons", explained))
    if data["left_out"]:
        left = "; ".join(f"{column['name']} ({column['why']})" for column in data["left_out"])
        facts.append(("Columns left out", left))
    yield tag("dl", *(tag("div", tag("dt", name), tag("dd", said)) for name, said in facts), class_="plain")
    yield tag("details", tag("summary", "What the numbers mean"), *_meaning(summary))


def _meaning(summary: Summary) -> Iterator[Element]:
    budget, rule = summary["budget"], repr(summary["budget"]["rule"])
    scored = "The model has learnt from normal rows only. It gives every row a score, and flags rows that are beyond "
    kept = ("a threshold. The threshold is put so that, of fresh rows like the training rows, no more than the share "
            "asked for is flagged, on average over training sets.")  # fmt: skip
    unkept = f"a threshold, which the rule {rule} puts without a look at held-out rows: it promises no rate."
    interval = (" The interval says between which rates this very model flags normal rows. Two numbers with “to” "
                "between them hold with 95 % confidence.")  # fmt: skip
    odds = "“1 in 200” means that one in 200 normal rows is at least this unusual. "
    yield tag("p", scored, unkept if unpromised(budget) else kept, interval if "interval" in budget else "")
    yield tag("p", "" if summary["model"]["learnt_from"] is None else odds, "A flagged row is not wrong: it is worth a "
              "look. All this holds while new normal rows come from where the training rows came from; the section on "
              "changes says whether they seem to.")  # fmt: skip
