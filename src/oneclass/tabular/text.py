"""Parsing of text cells; PyArrow, imported only if needed, parses a whole column at once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.wording import parameter
from .frames import Text

__all__ = ["CODE", "FLAGS", "NOTHING", "TIME", "comma_hint", "different", "foreign_figure", "meant"]

#: Words that mean a missing value, and words that mean true or false, in lower case.
NOTHING = frozenset(["", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "?", "-", "--", "."])
FLAGS = frozenset(["true", "false"])
TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?")
#: Codes, which are digits with a leading zero: 00123.
CODE = re.compile(r"[+-]?0\d")
#: Numbers in local formats, with thousands separators, decimal commas, currencies or units. Below: dates.
_FIGURE = re.compile(r"[+-]?\s*[$€£¥]?\s*\d+(?:[.,' \xa0]\d{3})*(?:[.,]\d+)?\s*(?P<unit>[^\d\s.,:;/-]{0,6})")
_PLAIN = re.compile(rf"{CODE.pattern}.*|[+-]?\d+(?:\.\d+)?")
_DAY = re.compile(r"(?:\d{1,2}([./-])\d{1,2}\1\d{4}|\d{4}([./])\d{1,2}\2\d{1,2})(?:[ T]\d.*)?")
_COMMA = re.compile(r"[^.,]*\d,\d[^.,]*")


def foreign_figure(words: Sequence[str]) -> str | None:
    """An example word, if at least half of the distinct words are numbers or dates in a local format; else None."""
    others = [word for word in words if not _PLAIN.fullmatch(word)]
    units = {word: figure["unit"] for word in others if (figure := _FIGURE.fullmatch(word))}
    days = [word for word in words if _DAY.fullmatch(word)]
    if units:
        commonest, _ = Counter(units.values()).most_common(1)[0]
        units = {word: unit for word, unit in units.items() if unit == commonest}
    such = max(days, [*units], key=len)
    return such[0] if 2 * len(such) >= len(words) > 0 else None


def comma_hint(words: Sequence[object]) -> str:
    """The end of a message that explains how to read decimal commas; empty if no word has one."""
    commas = any(isinstance(word, str) and _COMMA.fullmatch(word) for word in words)
    return f"; where numbers have decimal commas, read them with {parameter('decimal', ',')}" if commas else ""


def different(column: Any) -> tuple[Text, NDArray[np.intp]]:
    """The distinct cells of PyArrow text in order of first occurrence, and the index of each cell among them."""
    whole = column.combine_chunks() if hasattr(column, "chunks") else column
    coded = whole.dictionary_encode(null_encoding="encode")
    return coded.dictionary, coded.indices.to_numpy().astype(np.intp)


def meant(text: Text) -> NDArray[Any] | None:
    """PyArrow text as numbers or as times, if all cells that are not missing are such; else None.

    The rules are those for single cells. None is also returned for formats that only the parser of single cells can
    read, such as times with a time zone.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    words = pc.utf8_trim_whitespace(text)
    gaps = pc.is_in(pc.utf8_lower(words), value_set=pa.array(sorted(NOTHING), words.type))
    known = pc.if_else(gaps, pa.scalar(None, words.type), words)
    if known.null_count == len(known):
        return None
    with suppress(pa.ArrowInvalid):
        numbers = known.cast(pa.float64())
        codes = pc.match_substring_regex(
            known, rf"^(?:{CODE.pattern}|[+-]?\d{{16}})"
        )  # more digits than a float can hold
        plain = pc.all(pc.is_finite(numbers)).as_py() and not pc.any(codes).as_py()
        return np.asarray(numbers.to_numpy(zero_copy_only=False)) if plain else None
    if pc.all(pc.match_substring_regex(known, f"^(?:{TIME.pattern})$")).as_py():
        with suppress(pa.ArrowInvalid):  # such as month 13
            return np.asarray(known.cast(pa.timestamp("us")).to_numpy(zero_copy_only=False))
    return None
