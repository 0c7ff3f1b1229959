"""Words that have an order: the usual scales, sizes, months and weekdays."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from typing import NamedTuple

from .calendar_words import MONTHS, WEEKDAYS, bare
from .variants import folded

__all__ = ["Scale", "scale_of"]


class Scale(NamedTuple):
    """Words in their order; on a `circle`, the first follows the last."""

    levels: tuple[str, ...]
    circle: bool = False


#: Scales, of which several words stand for one level if they are joined by a bar.
_LINES = (
    "very low,low,medium|moderate|normal,high,very high",
    "very small,small,medium,large,very large",
    "xxs,xs,s,m,l,xl,xxl,xxxl",
    "never,rarely|seldom,sometimes|occasionally,often|frequently,always",
    "strongly disagree,disagree,neutral|neither,agree,strongly agree",
    "very poor,poor,fair,good,very good,excellent",
    "very bad,bad,fair|average,good,very good",
    "none|no,mild|minor,moderate,severe|major,critical",
    "very dissatisfied,dissatisfied,neutral,satisfied,very satisfied",
    "beginner,intermediate,advanced,expert",
    "bronze,silver,gold,platinum",
)
#: Fewest different levels by which a scale is recognised, and the levels of the longest scale.
_FEWEST, _MOST = 3, 12


class _Known(NamedTuple):
    """A scale that is recognised: the words of each level, the place of each word, and what words are compared by."""

    levels: list[list[str]]
    places: dict[str, int]
    circle: bool
    key: Callable[[str], str]


@cache
def _known_scales() -> list[_Known]:
    found = []
    for lines, circle, key in ((_LINES, False, folded), (MONTHS, True, bare), (WEEKDAYS, True, bare)):
        for line in lines:
            levels = [level.split("|") for level in line.split(",")]
            places = {key(word): i for i, level in enumerate(levels) for word in level}
            found.append(_Known(levels, places, circle, key))
    return found


def scale_of(words: Collection[str]) -> Scale | None:
    """The scale that holds all the words, which keep their spelling; None if there is none, or it is ambiguous."""
    variants = {folded(word): word for word in words}
    if not _FEWEST <= len(variants) <= _MOST:
        return None
    spellings: dict[Callable[[str], str], dict[str, str]] = {
        folded: variants,
        bare: {bare(word): word for word in words},
    }
    for levels, places, circle, key in _known_scales():
        spelled = spellings[key]
        held = {places.get(word) for word in spelled}
        if None not in held and len(held) == len(spelled) >= _FEWEST:
            of_level = {places[word]: as_written for word, as_written in spelled.items()}
            return Scale(tuple(of_level.get(i, level[0]) for i, level in enumerate(levels)), circle)
    return None
