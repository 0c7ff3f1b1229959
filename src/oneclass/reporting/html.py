"""The summary as one HTML page, from the templates in `templates`."""

from __future__ import annotations

import base64
import hashlib
import math
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from . import advice, charts, formatting
from .schema import Column, Histogram, Step, Summary

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["html_of"]

_TEMPLATES = files(__package__) / "templates"
#: Most categories in the table of a column.
_TABLE_CATEGORIES = 6


def html_of(summary: Summary, title: str) -> str:
    """The page; the templates know the keys of the summary by their names."""
    style, script = ((_TEMPLATES / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    columns, resemblance = summary["columns"], summary["resemblance"]
    return _templates().get_template("page.html.j2").render(
        **summary,
        title=title,
        style=style,
        script=script,
        policy=f"default-src 'none'; style-src {_hashed(style)}; script-src {_hashed(script)}; base-uri 'none'; "
        "form-action 'none'",
        slider=[_position(step, summary["data"]["rows"], summary["scores"]) for step in summary["steps"]],
        likeness=resemblance and advice.likeness(resemblance, summary["alarms"]),
        uncontrolled=advice.is_uncontrolled(summary["alarms"]),
        largest_share=max((reason["share"] for row in summary["rows"] for reason in row["reasons"]), default=None),
        contributors=sorted((c for c in columns if "flagged_values" in c), key=lambda c: -c["share"]),
        compared=sorted((c for c in columns if "training" in c), key=lambda c: -c.get("distance", -1)),
    )  # fmt: skip


@cache
def _templates() -> Environment:
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
    except ImportError as error:
        raise ImportError("an HTML report needs Jinja2: pip install 'oneclass[report]'") from error
    loader = FunctionLoader(lambda name: (_TEMPLATES / name).read_text(encoding="utf-8"))
    found = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, loader=loader)
    for module in (formatting, charts):
        found.globals |= {name: getattr(module, name) for name in module.__all__}
    found.globals["category_shares"] = _category_shares
    return found


def _hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _position(step: Step, rows: int, scores: Histogram) -> dict[str, Any]:
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
        "own": step["own"],
    }


def _first_bar(scores: Histogram, score: float) -> int:
    """The first bar of the histogram beyond a threshold."""
    edges = scores["edges"]
    limit = (math.log10(-score) if score < 0 else edges[0]) if scores["logarithmic"] else -score
    return sum((a + b) / 2 <= limit for a, b in pairwise(edges))


def _category_shares(column: Column) -> list[tuple[str, float, float]]:
    """The most frequent categories, with their shares among the training rows and among the flagged rows."""
    flagged = [str(value) for value in column["flagged_values"] if value is not None]
    old = column["training"].get("shares", {}) if "training" in column else {}
    new = {value: flagged.count(value) / len(flagged) for value in flagged}
    found = [(name, old.get(name, 0.0), new.get(name, 0.0)) for name in {**old, **new}]
    return sorted(found, key=lambda shares: -max(shares[1:]))[:_TABLE_CATEGORIES]
