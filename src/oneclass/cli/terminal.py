"""Text for people: tables, numbers and colours that suit a terminal, and a pipe."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import IO

import click

from ..io.messages import printable

__all__ = ["CLEAR", "drawn", "number", "prose", "styled", "width_of"]

#: Goes to the start of the line and clears it: a note then replaces a progress line.
CLEAR = "\r\x1b[K"
#: Characters between two columns, and the fewest characters of the last column that are worth showing.
_GAP, _FEWEST_CHARACTERS = 2, 16


def width_of(stream: IO[str] | None = None) -> int | None:
    """The number of characters in a line of the terminal; None for a pipe or a file, where no text is cut."""
    return shutil.get_terminal_size().columns if _is_terminal(stream or sys.stdout) else None


def styled(text: str, stream: IO[str] | None = None, **style: str | bool) -> str:
    """The text in a colour or in bold, on a terminal and if NO_COLOR is not set (no-color.org)."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not _is_terminal(stream or sys.stdout)
    return text if plain else click.style(text, **style)  # type: ignore[arg-type]


def number(value: object) -> str:
    """A value as text: floating numbers with four digits, sequences of them with commas."""
    if isinstance(value, float):
        return f"{value:.4g}"
    return ", ".join(map(number, value)) if isinstance(value, list | tuple) else str(value)


def prose(text: str, stream: IO[str] | None = None) -> str:
    """A sentence, with line breaks between words on a terminal."""
    width = width_of(stream)
    if width is None:
        return text
    return textwrap.fill(text, max(width, 2 * _FEWEST_CHARACTERS), subsequent_indent="  ", break_on_hyphens=False)


def drawn(head: Sequence[str], rows: Iterable[Sequence[object]], *, right: Sequence[int] = ()) -> str:
    """A table as text, no wider than the terminal: its last columns are cut, or left out if little room is left.

    The columns whose places are in `right` are aligned to the right.
    """
    cells = [[*head], *([printable(number(cell)) for cell in row] for row in rows)]
    widths = _fitted([max(map(len, column)) for column in zip(*cells, strict=True)], width_of())
    lines = [
        (" " * _GAP)
        .join(
            _cut(cell, width).rjust(width) if place in right else _cut(cell, width).ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=False))
        )
        .rstrip()
        for row in cells
    ]
    return "\n".join([styled(lines[0], bold=True), *lines[1:]])


def _is_terminal(stream: IO[str]) -> bool:
    return stream.isatty()


def _fitted(widths: list[int], room: int | None) -> list[int]:
    """Widths of the columns that are shown in a line of `room` characters."""
    if room is None:
        return widths
    left = room - sum(widths[:-1]) - _GAP * (len(widths) - 1)
    if left >= min(widths[-1], _FEWEST_CHARACTERS):
        return [*widths[:-1], min(widths[-1], left)]
    return [room] if len(widths) == 1 else _fitted(widths[:-1], room)


def _cut(cell: str, width: int) -> str:
    return cell if len(cell) <= width else cell[: max(width - 3, 0)] + "..."
