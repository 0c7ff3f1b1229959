"""Markdown tables, and their places in the docs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def markdown(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def write_between_markers(page: Path, name: str, text: str) -> None:
    """Replace the text between ``<!-- name -->`` and ``<!-- /name -->`` on the page."""
    before, rest = page.read_text().split(f"<!-- {name} -->\n", 1)
    _, after = rest.split(f"<!-- /{name} -->", 1)
    page.write_text(f"{before}<!-- {name} -->\n{text}\n<!-- /{name} -->{after}")
