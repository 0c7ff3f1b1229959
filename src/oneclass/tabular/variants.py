"""Spellings of one category that differ in upper and lower case or in spaces."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

__all__ = ["folded", "variants_of"]


def folded(word: str) -> str:
    """The word in lower case, with single spaces and composed accents: equal for all its variants.

    >>> folded("New  York ") == folded("new york")
    True
    """
    return " ".join(unicodedata.normalize("NFC", word).casefold().split())


def variants_of(words: Iterable[str | None]) -> list[tuple[str, ...]]:
    """Sets of different words that differ in case or spaces only, each in the order of `words`; None is ignored.

    >>> variants_of(["Bonn", "Graz", "bonn", "BONN", None])
    [('Bonn', 'bonn', 'BONN')]
    """
    found: dict[str, dict[str, None]] = {}
    for word in words:
        if word is not None:
            found.setdefault(folded(word), {})[word] = None
    return [tuple(spellings) for spellings in found.values() if len(spellings) > 1]
