"""Recognition of the notation of a column from its distinct cells, or by the kind that the user gives it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from ..core.typing import Name
from ..core.wording import parameter
from .notation import Days, Durations, Figures, Notation, TimesOfDay, parted

__all__ = ["NOTATIONS", "Recognised", "notation_of", "unread_day"]

#: Kinds that say how the text of a column is read.
NOTATIONS = ("thousands", "decimal_comma", "currency", "percent", "duration")
#: Currencies, before or after an amount, in lower case.
_CURRENCIES = frozenset((
    "$", "€", "£", "¥", "₹", "₽", "₺", "₩", "₪", "₫", "฿", "zł", "kč", "ft", "lei", "kr", "rs", "r$", "us$", "a$", "c$",
    "fr", "sfr", "usd", "eur", "gbp", "jpy", "chf", "sek", "nok", "dkk", "pln", "czk", "huf", "inr", "cny", "rmb",
    "cad", "aud", "nzd", "zar", "brl", "mxn", "try", "rub", "sgd", "hkd", "krw", "ils",
))  # fmt: skip
#: Share of the distinct cells that a notation must read.
_MIN_SHARE = 0.9
#: Up to this many distinct values with a unit, such as sizes in kg, are categories if they repeat.
_MAX_SIZES = 12
_BARE = re.compile(r"\d+")
_POINTED = re.compile(r"[1-9]\d{0,2}\.\d{3}")
#: Formats of days that differ in their order, and of the times that may follow them.
_ORDERS = (("%d", "%m", "%Y"), ("%m", "%d", "%Y"), ("%Y", "%m", "%d"), ("%d", "%m", "%y"), ("%m", "%d", "%y"))
_DAYS = tuple(mark.join(order) for mark, order in product("./-", _ORDERS))
#: Formats of days with the name of the month.
_NAMED_DAYS = (
    "%d %b %Y", "%d. %b %Y", "%d de %b de %Y", "%d de %b %Y", "%d-%b-%Y", "%d-%b-%y", "%d/%b/%Y", "%b %d, %Y",
    "%b %d %Y",
)  # fmt: skip
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p", ", %H:%M", "T%H:%M:%S")
_DAY_LIKE = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{2,4}")
_NAMED_DAY_LIKE = re.compile(
    r"\d{1,2}(?:\.|er|[º°])?[ /-](?:de )?[^\W\d_]{3,}\.?(?: de)?[ /-]\d{2,4}|[^\W\d_]{3,}\.? \d{1,2},? \d{4}"
)
#: Words on which a format is tried first.
_FIRST = 10


@dataclass(frozen=True)
class Recognised:
    """A notation with the evidence for it."""

    notation: Notation
    why: str


def notation_of(
    cells: Sequence[object], rows: int, *, asked: str | None, date_format: str | None, owner: str, name: Name
) -> Recognised | None:
    """The notation of a column with these distinct cells, none of which is missing; None if it needs none.

    `asked` is the kind that the user gives the column, and `rows` the number of its cells that are not missing. An
    error asks for a kind if the cells can be read in two ways.
    """
    words = [cell.strip() for cell in cells if isinstance(cell, str)]
    if asked == "duration":
        return Recognised(Durations(), "durations")
    if asked in (None, "clock", "date"):
        if date_format is not None and _reads(Days(date_format), cells):
            return Recognised(Days(date_format), f"dates in the format {date_format}")
        if _reads(TimesOfDay(), cells):
            return Recognised(TimesOfDay(), "times of day; 'duration' if they are lengths")
        if found := _days(words, len(cells), f"{owner}: column {name!r}"):
            return found
    if asked in (None, "number", *NOTATIONS) and (figures := _figures(words, len(cells), rows, asked, owner, name)):
        return figures
    if asked is None and words and _reads(Durations(), cells):
        return Recognised(Durations(), "durations")
    return None


def _reads(notation: Notation, cells: Sequence[object]) -> bool:
    """Whether the notation reads nearly all of the cells."""
    first = cells[:_FIRST]
    if not any(notation.read(_bare(cell)) is not None for cell in first):
        return False
    return sum(notation.read(_bare(cell)) is not None for cell in cells) >= _MIN_SHARE * len(cells)


def _bare(cell: object) -> object:
    return cell.strip() if isinstance(cell, str) else cell


def _days(words: Sequence[str], n: int, label: str) -> Recognised | None:
    """The format of dates that reads most words. Two formats that read all of them differently are an error."""
    numbered, named = (any(map(like.match, words[:_FIRST])) for like in (_DAY_LIKE, _NAMED_DAY_LIKE))
    likely_days = (_DAYS if numbered else ()) + (_NAMED_DAYS if named else ())  # Python takes long to compile formats
    tried = [Days(day + time) for day in likely_days for time in _TIMES]
    likely = [form for form in tried if any(form.read(word) is not None for word in words[:_FIRST])]
    read = {form: sum(form.read(word) is not None for word in words) for form in likely}
    best = max(read.values(), default=0)
    if best < _MIN_SHARE * n:
        return None
    fits = [form for form in likely if read[form] == best]
    if len(fits) > 1 and "." not in fits[0].format:  # with points, days come first
        word = next((word for word in words if len({form.read(word) for form in fits} - {None}) > 1), None)
        if word is not None:
            listed = " or ".join(parameter("date_format", form.format) for form in fits[:2])
            days = " or ".join(f"{form.read(word)!s:.10}" for form in fits[:2])
            raise ValueError(f"{label} holds {word!r}, which may be {days}: use {listed}")
    shown = f"{words[0]!r} is {fits[0].read(words[0])!s:.10}"
    return Recognised(fits[0], f"dates as {fits[0].format}: {shown}")


def unread_day(words: Sequence[str]) -> str | None:
    """The first word, if the words look like dates with names of months; else None."""
    return words[0] if words and all(map(_NAMED_DAY_LIKE.match, words[:_FIRST])) else None


def _figures(words: Sequence[str], n: int, rows: int, asked: str | None, owner: str, name: Name) -> Recognised | None:
    """The notation of numbers; None if they are plain or no numbers."""
    parts = {word: part for word in words if (part := parted(word)) is not None}
    units = Counter(unit for _, unit, _ in parts.values() if unit)
    unit = next((unit for unit, count in units.most_common(1) if 2 * count > len(parts)), "")
    parts = {word: part for word, part in parts.items() if part[1] in ("", unit)}
    if not parts or (asked is None and len(parts) + n - len(words) < _MIN_SHARE * n):
        return None
    money = unit in _CURRENCIES
    if unit and not money and unit != "%" and asked is None:
        named = sum(word[0].isalpha() for word in parts)  # such as C12, a code
        if named or (n <= _MAX_SIZES and 2 * n <= rows):
            return None
    figures = {figure: word for word, (_, _, figure) in parts.items()}
    decimal, thousands = _separators([*figures], asked, money, owner, name)
    notation = Figures(decimal, thousands, unit)
    plain = Figures()
    if all(plain.read(word) is not None and not _is_account(word) for word in parts) and notation == plain:
        return None
    shown = max(parts, key=lambda word: (notation.read(word) is not None, len(parts[word][2])))
    value = notation.read(shown)
    where = " in percent" if unit == "%" else f" in {unit}" if unit else ""
    return Recognised(notation, f"numbers{where}: {shown!r} is {value:.10g}" if value is not None else "numbers")


def _is_account(word: str) -> bool:
    """Whether Python cannot read the sign of a figure."""
    return word[:1] in ("(", "\u2212") or word[-1:] in ("-", "\u2212")


def _separators(figures: Sequence[str], asked: str | None, money: bool, owner: str, name: Name) -> tuple[str, str]:
    """The decimal mark and the separator of thousands by which most figures are numbers."""
    forms = [Figures(*pair) for pair in
             ((".", ""), (",", "."), (".", ","), (".", "'"), (",", "'"), (".", " "), (",", " "))]  # fmt: skip
    read = {form: sum(form.number(figure) is not None for figure in figures) for form in forms}
    fits = [form for form in forms if read[form] == max(read.values())]
    bare = [figure for figure in figures if _BARE.fullmatch(figure)]
    short = bool(bare) and all(len(figure) <= 3 for figure in bare)
    if asked == "decimal_comma":
        return ",", next((form.thousands for form in fits if form.decimal == "," and form.thousands), ".")
    if Figures() in fits:
        # Points are decimal, unless no number format writes such figures: 1.080 has a zero too many beside 528.
        marked = [figure for figure in figures if "." in figure]
        grouped = bool(marked) and all(map(_POINTED.fullmatch, marked))
        if grouped and (asked == "thousands" or (short and any(figure.endswith("0") for figure in marked))):
            return ",", "."
        return ".", ""
    comma, point = Figures(",", "."), Figures(".", ",")
    if not {comma, point} <= {*fits}:
        return fits[0].decimal, fits[0].thousands
    if asked in ("thousands", "currency") or money or short:  # amounts of money have two decimals
        return ".", ","
    such = next(figure for figure in figures if "," in figure)
    ways = " or ".join(parameter("columns", {name: kind}) for kind in ("thousands", "decimal_comma"))
    raise ValueError(
        f"{owner}: column {name!r} holds {such!r}, which may be {point.number(such):g} or {comma.number(such):g}: "
        f"use {ways}"
    )
