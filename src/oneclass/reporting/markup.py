"""Elements of HTML and SVG: whatever is put into one is text, unless it is an element itself."""

from __future__ import annotations

from html import escape

__all__ = ["Element", "joined", "tag"]

_VOID = frozenset(["br", "circle", "col", "input", "line", "path", "rect"])


class Element(str):
    """Markup that is complete and safe."""

    __slots__ = ()


def joined(*parts: object) -> Element:
    """Elements, and text to escape, one after the other; None is nothing."""
    return Element(
        "".join(part if isinstance(part, Element) else escape(str(part)) for part in parts if part is not None)
    )


def tag(name: str, /, *children: object, **attributes: object) -> Element:
    """An element. Attributes may end in an underscore; others in them are hyphens; None and False leave one out.

    Examples
    --------
    >>> tag("p", "1 < 2", class_="note", hidden=True)
    '<p class="note" hidden>1 &lt; 2</p>'
    """
    said = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{escape(str(value))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    end = "/>" if name in ("circle", "line", "path", "rect") else ">"
    return Element(f"<{name}{said}{end}" if name in _VOID else f"<{name}{said}>{joined(*children)}</{name}>")
