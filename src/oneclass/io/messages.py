"""Text from files, prepared for error messages."""

from __future__ import annotations

__all__ = ["one_line"]


def one_line(text: object, longest: int = 300) -> str:
    """The beginning of a text on one line, its control characters escaped."""
    line = " ".join(str(text).split())
    if len(line) > longest:
        line = f"{line[:longest]}..."
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in line)
