"""Detection of the delimiter and the header from the first line of a text file; ambiguous lines are errors."""

from __future__ import annotations

import codecs
import csv
import re
from itertools import pairwise

from ..core.wording import parameter

__all__ = ["cells_of", "first_line", "is_number", "names_columns", "only_delimiter"]

_DELIMITERS = {",": "','", ";": "';'", "\t": "'\\t'", "|": "'|'"}


def first_line(start: bytes, name: str, *, delimiter: str | None, longest: int) -> str:
    """The first line that is not empty, from the first bytes of a file; quoted cells may hold line breaks."""
    text = codecs.getincrementaldecoder("utf-8-sig")().decode(start)
    before = re.escape(delimiter or "".join(_DELIMITERS))
    lines = re.finditer(rf'(?:(?<![^{before}\r\n])"[^"]*(?:""[^"]*)*"|[^"\r\n]+|")+', text)
    line = next((found[0] for found in lines if found[0].strip()), None)
    if line is None:
        raise ValueError(f"{name}: the file holds no rows")
    if len(line) > longest:
        raise ValueError(f"{name}: a line is longer than {longest:,} bytes")
    return line


def cells_of(line: str, delimiter: str) -> list[str]:
    """The cells of a line."""
    return next(csv.reader([line], delimiter=delimiter))


def only_delimiter(line: str, name: str) -> str:
    """The only delimiter in the line outside quotes; a comma if there is none. Several delimiters are an error."""
    bare = re.sub('"[^"]*"', "", line)
    found = [delimiter for delimiter in _DELIMITERS if delimiter in bare]
    if len(found) > 1:
        listed = " and ".join(_DELIMITERS[delimiter] for delimiter in found)
        raise ValueError(
            f"{name}: the first line holds {listed}; name the one that separates columns with {parameter('delimiter')}"
        )
    parts = bare.split()
    if not found and len(parts) > 1 and 2 * sum(map(is_number, parts)) >= len(parts):
        raise ValueError(
            f"{name}: the first line holds numbers between spaces; name what separates columns with "
            f"{parameter('delimiter')}: a space, or a comma if there is one column"
        )
    return found[0] if found else ","


def names_columns(cells: list[str], asked: list[str], name: str, *, decimal: str) -> bool:
    """Whether the cells of the first line are column names; `asked` holds the names that the user gave."""
    if asked and set(asked) <= set(cells):
        return True
    filled = [cell.strip() for cell in cells if cell.strip()]
    numbers = [cell for cell in filled if is_number(cell.replace(decimal, "."))]
    if not numbers:
        return True
    if len(numbers) < len(filled):
        raise ValueError(
            f"{name}: the first line holds words and numbers; use {parameter('header', True)} if it names the "
            f"columns, {parameter('header', False)} if it is a row"
        )
    if _counts(numbers):
        raise ValueError(
            f"{name}: the first line, {', '.join(numbers[:3])}..., might name the columns or be a row; use "
            f"{parameter('header', True)} or {parameter('header', False)}"
        )
    return False


def is_number(cell: str) -> bool:
    """Whether a cell is a number. 2020_01, which Python's `float` accepts, is not."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def _counts(cells: list[str]) -> bool:
    """Whether the cells are evenly spaced whole numbers, which pandas and spectrometers use as column names."""
    if not all(cell.isdecimal() and len(cell) < 16 for cell in cells):
        return False
    whole = [int(cell) for cell in cells]
    steps = {after - before for before, after in pairwise(whole)}
    return whole == list(range(len(whole))) or (len(whole) > 2 and len(steps) == 1 and steps != {0})
