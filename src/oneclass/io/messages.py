"""Text from files, prepared for error messages."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice

__all__ = ["listed", "one_line", "printable"]

#: Most names in a list.
_NAMED = 5


def listed(names: Collection[object]) -> str:
    """The first names of columns or values as text, and the number of the others."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join("missing" if name is None else repr(name) for name in islice(names, _NAMED)) + more


def one_line(text: object, longest: int = 300) -> str:
    """The beginning of a text on one line, its control characters escaped."""
    line = printable(" ".join(str(text).split())[: longest + 1])
    return line if len(line) <= longest else f"{line[:longest]}..."


def printable(text: str) -> str:
    """The text with its control characters escaped."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
