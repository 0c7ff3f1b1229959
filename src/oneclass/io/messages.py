"""Text from files, prepared for error messages."""

from __future__ import annotations

__all__ = ["one_line", "printable"]


def one_line(text: object, longest: int = 300) -> str:
    """The beginning of a text on one line, its control characters escaped."""
    line = printable(" ".join(str(text).split())[: longest + 1])
    return line if len(line) <= longest else f"{line[:longest]}..."


def printable(text: str) -> str:
    """The text with its control characters escaped."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
