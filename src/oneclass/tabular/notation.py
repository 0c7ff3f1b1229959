"""Notations of cells: frozen values that read the text of a column as numbers or times.

A notation is chosen once, from the training rows, and stored in the plan. It reads each cell by itself, so that a cell
has the same value alone and in any table.
"""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, TypeAlias

import numpy as np

from ..core.stored import OneOf, must
from ..core.wording import seconds_of
from .calendar_words import with_month_numbers
from .text import CODE
from .variants import folded

__all__ = ["Days", "Durations", "Figures", "Notation", "TimesOfDay", "parted"]

#: Characters that separate groups of three digits where a space is used, and where an apostrophe is used.
_SPACES, _QUOTES = " \u00a0\u2009\u202f", "'\u2019"
_SEPARATORS = {"": "", ",": ",", ".": ".", " ": _SPACES, "'": _QUOTES}
#: A figure with its signs and the text before and after it. A bracket or a minus at the end is a sign, as in accounts.
_PARTS = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>[+\-\u2212]?)\s*(?P<before>[^\d\s.,+\-\u2212()'][^\d\s,+\-\u2212()']{{0,3}})?\s*"
    rf"(?P<late>[+\-\u2212]?)\s*(?P<figure>[.,]?\d(?:[\d.,{_SPACES}{_QUOTES}]*\d)?[.,]?(?:[eE][+-]?\d+)?)"
    r"\s*(?P<after>[^\d\s.,:;()+\-\u2212'][^\d\s,:;()+\-\u2212']{0,7})?\s*(?P<trail>[\-\u2212]?)(?P<close>\))?"
)
_TIME = re.compile(r"(?P<h>\d{1,2}):(?P<m>[0-5]\d)(?::(?P<s>[0-5]\d(?:\.\d+)?))?(?:\s?(?P<half>[AaPp])\.?[Mm]\.?)?")
_LENGTH = re.compile(r"(?P<sign>-?)(?P<h>\d{1,6}):(?P<m>[0-5]\d)(?::(?P<s>[0-5]\d(?:\.\d+)?))?")
#: The first day of a month, as in "1er mars" and "1º de marzo".
_FIRST_OF_MONTH = re.compile(r"^1(?:er|[º°])(?= )")
#: Seconds in the units of durations, by their names.
_UNITS = {
    "d": 86400, "day": 86400, "days": 86400, "h": 3600, "hr": 3600, "hrs": 3600, "hour": 3600, "hours": 3600,
    "m": 60, "min": 60, "mins": 60, "minute": 60, "minutes": 60, "s": 1, "sec": 1, "secs": 1, "second": 1,
    "seconds": 1, "ms": 0.001,
}  # fmt: skip
_AMOUNT = re.compile(rf"\s*(\d+(?:\.\d+)?)\s*({'|'.join(sorted(_UNITS, key=len, reverse=True))})\b\.?,?(?:\s*and\b)?")


def parted(word: str) -> tuple[bool, str, str] | None:
    """Whether a figure is negative, its unit in lower case, and its digits with separators; None for other text."""
    found = _PARTS.fullmatch(word)
    if found is None or bool(found["open"]) != bool(found["close"]):
        return None
    signs = [sign for sign in (found["sign"], found["late"], found["trail"], found["open"]) if sign]
    if len(signs) > 1 or (found["before"] and found["after"]):
        return None
    unit = folded(found["before"] or found["after"] or "").removesuffix(".")
    return bool(signs) and signs != ["+"], unit, found["figure"]


@dataclass(frozen=True)
class Figures:
    """Numbers with separators between thousands, a decimal mark, or a unit such as a currency or a percent sign.

    Attributes
    ----------
    decimal : str
        The decimal mark.
    thousands : str
        The separator of thousands; empty if there is none.
    unit : str
        The unit in lower case; empty if there is none. A number without it has the same unit, except for percent.
    """

    decimal: Annotated[str, OneOf(".", ",")] = "."
    thousands: Annotated[str, OneOf(*_SEPARATORS)] = ""
    unit: str = ""

    def __check__(self) -> None:
        must(self.decimal != self.thousands, "decimal and thousands must be different marks")

    @cached_property
    def _form(self) -> re.Pattern[str]:
        point, between = re.escape(self.decimal), _SEPARATORS[self.thousands]
        whole = rf"[1-9]\d{{0,2}}(?:([{re.escape(between)}])\d{{3}}(?:\1\d{{3}})*)|\d+" if between else r"\d+"
        return re.compile(rf"(?:(?:{whole})(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+)?")

    def number(self, figure: str) -> float | None:
        """The number that digits with separators stand for; None if they break the rules or are a code."""
        if not self._form.fullmatch(figure) or CODE.match(figure):
            return None
        for mark in _SEPARATORS[self.thousands]:
            figure = figure.replace(mark, "")
        found = float(figure.replace(self.decimal, "."))
        return found if abs(found) < np.inf else None

    def read(self, cell: object) -> float | None:
        """The number in a cell; None if there is none."""
        if not isinstance(cell, str):
            return _plain_number(cell)
        parts = parted(cell)
        if parts is None or (number := self.number(parts[2])) is None:
            return None
        negative, unit, _ = parts
        if unit != self.unit and (unit or (self.unit == "%" and number)):
            return None
        return -number if negative else number


@dataclass(frozen=True)
class Durations:
    """Durations as text: ``1:02:03``, ``26:30`` (hours and minutes), ``90 min`` or ``2 h 30 min``."""

    def read(self, cell: object) -> float | None:
        """The seconds in a cell; None if it is no duration."""
        if (seconds := seconds_of(cell)) is not None:
            return None if np.isnan(seconds) else seconds
        if not isinstance(cell, str):
            return None
        if found := _LENGTH.fullmatch(cell):
            seconds = 3600 * int(found["h"]) + 60 * int(found["m"]) + float(found["s"] or 0)
            return -seconds if found["sign"] else seconds
        total, place = 0.0, 0
        while found := _AMOUNT.match(cell, place):
            total, place = total + float(found[1]) * _UNITS[found[2]], found.end()
        return total if place and not cell[place:].strip() else None


@dataclass(frozen=True)
class TimesOfDay:
    """Times of day, as text (``23:38``, ``11:38 PM``) or of Python; they are read as times on 1 January 1970."""

    def read(self, cell: object) -> np.datetime64 | None:
        """The time in a cell; None if there is none."""
        seconds = seconds_of(cell) if isinstance(cell, datetime.time) else None
        if isinstance(cell, str) and (found := _TIME.fullmatch(cell)):
            hour = int(found["h"])
            if found["half"]:
                if not 1 <= hour <= 12:
                    return None
                hour = hour % 12 + 12 * (found["half"] in "pP")
            seconds = 3600 * hour + 60 * int(found["m"]) + float(found["s"] or 0) if hour < 24 else None
        return None if seconds is None else np.datetime64(round(seconds * 1e6), "us")


@dataclass(frozen=True)
class Days:
    """Dates and times in a format of Python's `strptime`, such as ``%d.%m.%Y``.

    The names of months (``%b`` or ``%B``) may be those of any language in `calendar_words`.
    """

    format: str

    @cached_property
    def _numbered(self) -> str | None:
        """The format with numbers of months instead of names; None if it has no names of months."""
        found, names = re.subn(r"%[bB]\.?", "%m", self.format)
        return found if names else None

    def read(self, cell: object) -> np.datetime64 | None:
        """The time in a cell; None if there is none."""
        if isinstance(cell, np.datetime64):
            found: np.datetime64 = cell.astype("datetime64[us]")
            return found
        if isinstance(cell, datetime.date):
            return np.datetime64(cell.replace(tzinfo=None) if isinstance(cell, datetime.datetime) else cell, "us")
        number = _plain_number(cell)  # such as 20241231
        text = cell if isinstance(cell, str) else f"{number:.0f}" if number is not None else ""
        form = self.format
        if self._numbered is not None:
            form, text = self._numbered, _FIRST_OF_MONTH.sub("1", with_month_numbers(text))
        try:
            return np.datetime64(datetime.datetime.strptime(text, form).replace(tzinfo=None), "us")
        except ValueError:
            return None


Notation: TypeAlias = Figures | Durations | TimesOfDay | Days


def _plain_number(cell: object) -> float | None:
    """A cell that is a number, not text, as a float; None for flags, infinity and other cells."""
    if isinstance(cell, bool | np.bool_ | np.timedelta64) or not isinstance(cell, int | float | np.number):
        return None
    try:
        number = float(cell)
    except (OverflowError, TypeError):
        return None
    return number if abs(number) < np.inf else None
