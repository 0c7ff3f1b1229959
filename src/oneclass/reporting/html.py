"""The summary as one HTML page, from the templates in `templates`."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, cast

from . import advice, charts, formatting
from .page_data import page_data, screening_data, ticks
from .schema import Cell, Column, ScreeningSummary, Summary

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["html_of"]

_TEMPLATES = files(__package__) / "templates"
#: Most categories in the table of a column.
_TABLE_CATEGORIES = 6


def html_of(summary: Summary | ScreeningSummary, title: str) -> str:
    """The page of a report; the templates know the keys of the summary by their names."""
    if "alarms" not in summary:
        return _page("screening.html.j2", summary, title, data_of_page=screening_data(summary))
    return _html_of_rows(cast(Summary, summary), title)


def _page(template: str, summary: Any, title: str, **more: Any) -> str:
    style, script = ((_TEMPLATES / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    policy = f"default-src 'none'; style-src {_hashed(style)}; script-src {_hashed(script)}; base-uri 'none'; "
    given = {"title": title, "style": style, "script": script, "policy": policy + "form-action 'none'"}
    return _templates().get_template(template).render(**summary, **given, **more)


def _html_of_rows(summary: Summary, title: str) -> str:
    columns, resemblance = summary["columns"], summary["resemblance"]
    contributors = sorted((c for c in columns if "listed_values" in c), key=lambda c: -c["share"])
    cards = [_card(column) for column in contributors]
    data = page_data(summary) | {"cards": [card["points"] for card in cards]}
    return _page(
        "page.html.j2",
        summary,
        title,
        data_of_page=data,
        slider=data["steps"],
        ticks=ticks(summary["scores"]),
        likeness=resemblance and advice.likeness(resemblance, summary["alarms"]),
        uncontrolled=advice.is_uncontrolled(summary["alarms"]),
        cards=cards,
        compared=sorted((c for c in columns if "training" in c), key=lambda c: -c.get("distance", -1)),
    )


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
    return found


def _hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _card(column: Column) -> dict[str, Any]:
    """A column that contributes much: its chart, and for each listed row the share, the place and the text."""
    values, shares = column["listed_values"], column["listed_shares"]
    found: dict[str, Any] = {"column": column, "chart": None, "shares": None}
    places: list[float | None] = [None] * len(values)
    texts = [formatting.cell(value, column["kind"], 3) for value in values]
    if column["kind"] in ("category", "flag"):
        old = column["training"].get("shares", {}) if "training" in column else {}
        flagged = [text for text in texts[: column["flagged"]] if text != "missing"]
        new = {text: flagged.count(text) / len(flagged) for text in flagged}
        both = sorted({**old, **new}, key=lambda name: -max(old.get(name, 0.0), new.get(name, 0.0)))
        found["shares"] = [(name, old.get(name, 0.0), new.get(name, 0.0)) for name in both[:_TABLE_CATEGORIES]]
    elif "training" in column and "quantiles" in column["training"]:
        chart = charts.distribution_chart(column["training"]["quantiles"], values, column["kind"])
        found["chart"], places = chart, chart["places"]
    found["points"] = {"shares": shares, "places": places, "texts": texts, "sort": [_number(value) for value in values]}
    return found


def _number(value: Cell) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
