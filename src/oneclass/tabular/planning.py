"""Construction of a column plan: rules that use the training rows, and the kinds given by the user."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..base.warnings import ColumnWarning, warn
from ..core.column_summary import ColumnSummary
from ..core.typing import Name
from ..core.wording import parameter
from ..io.messages import listed
from .bad_cells import BAD_CELLS
from .cells import DAY, Cells, Words, distinct_cells, is_missing, is_time, read_cells
from .codes import CategoryCode, DateCode, NumberCode, OrdinalCode
from .frames import Frame, Values, columns_of
from .notation import Notation
from .plan import KINDS, Column, ColumnPlan
from .recognising import NOTATIONS, notation_of, unread_day
from .scales import Scale, scale_of
from .text import CODE, comma_hint, foreign_figure
from .variants import folded, variants_of

__all__ = ["Asked", "NoColumnError", "make_plan"]

#: What the user may ask of a column: a kind, or an order of words.
Kind: TypeAlias = str | Sequence[str]

#: Values of a category that get an indicator: upper bound on their number, and lower bound on their share of the rows.
_MAX_INDICATORS, _MIN_INDICATOR_SHARE = 12, 0.01
#: Missing values are rare below this share of the rows. They are informative above this correlation with another
#: column.
_RARE_SHARE, _MIN_CORRELATION = 0.05, 0.2
#: Lower bound on the rows for which a column may be recognized as an id. Lower bound on the share of distinct values
#: for which a text column is one.
_MIN_ID_ROWS, _MIN_ID_SHARE = 20, 0.9
#: Lower bound on the median digits for which whole numbers are ids, and upper bound on the numbers that are checked.
_MIN_ID_DIGITS, _MAX_CHECKED_NUMBERS = 15, 100
_ID = re.compile(r"(?:^|[\W_])(?:id|uuid|guid|key|index|rowid)$|[a-z]I[Dd]$|^unnamed: 0$", re.IGNORECASE)
#: Upper bounds on the cells used for the correlations of missing values, and on the distinct words whose format is
#: checked.
_MAX_CELLS, _MAX_CHECKED_WORDS = 4_000_000, 2_000


class NoColumnError(ValueError):
    """A table without a usable column."""


@dataclass(frozen=True)
class Asked:
    """What the user decides about the columns: the parameters of `TableDetector`."""

    columns: Mapping[Name, Kind] | None = None
    date_format: str | None = None
    merge_variants: bool = False
    bad_cells: str = "alarm"

    def kinds(self, table: Mapping[Name, Values], owner: str) -> dict[Name, Kind]:
        """The kinds of columns, checked against the table."""
        if self.columns is not None and not isinstance(self.columns, Mapping):
            raise TypeError(
                f"{owner}: columns must be a dict from names to kinds, such as {{'zip': 'category'}}, got "
                f"{self.columns!r}; to use some columns only, pass X[names]"
            )
        if self.bad_cells not in BAD_CELLS:
            raise ValueError(
                f"{owner}: bad_cells must be one of {', '.join(map(repr, BAD_CELLS))}, got {self.bad_cells!r}"
            )
        asked = dict(self.columns or {})
        for name, kind in asked.items():
            if name not in table:
                raise ValueError(
                    f"{owner}: columns must name columns of the table, but there is no {name!r} among {listed(table)}"
                )
            if not isinstance(kind, str):
                levels = [*map(str, kind)]
                if len(levels) < 2 or len({*map(folded, levels)}) < len(levels):
                    raise ValueError(f"{owner}: columns[{name!r}] must list different words in order, got {kind!r}")
            elif kind not in (*KINDS, *NOTATIONS):
                known = ", ".join(map(repr, (*KINDS, *NOTATIONS)))
                raise ValueError(
                    f"{owner}: columns[{name!r}] must be one of {known}, or a list of words in order; got {kind!r}"
                )
        return asked


@dataclass(frozen=True)
class _Read:
    """A column that was read: its cells, and the notation that was recognised, with the evidence."""

    cells: Cells
    notation: Notation | None = None
    why: str = ""


def make_plan(
    X: Frame,
    asked: Asked | None = None,
    *,
    owner: str,
    groups: Name | None = None,
    segments: Name | None = None,
    together: NDArray[np.int64] | None = None,
) -> ColumnPlan:
    """The column plan for a table of training rows.

    `together` holds the group of each row, if there are groups. The columns called `groups` and `segments` are
    dropped.
    """
    table, asked = columns_of(X, owner), asked or Asked()
    kinds = asked.kinds(table, owner)
    if not table:
        shape = np.shape(X)  # type: ignore[arg-type]
        raise ValueError(f"{owner}: 0 feature(s) (shape={shape}) while a minimum of 1 is required.")
    n = max(len(column) for column in table.values())
    if n < 2:
        raise ValueError(f"{owner}: X must have at least 2 rows, got {n} (n_samples = {n})")
    found = {
        name: _read(name, column, kinds.get(name), asked, owner)
        for name, column in table.items()
        if kinds.get(name) != "drop" and name not in (groups, segments)
    }
    read = {name: column.cells for name, column in found.items()}
    _refuse_figures({name: cells for name, cells in read.items() if name not in kinds}, owner)
    telling = _Telling(read)
    columns = []
    for name in table:
        if name in (groups, segments):
            role = "groups" if name == groups else "segments"
            columns.append(Column(name, "drop", f"names the {role}"))
        elif name not in read:
            columns.append(Column(name, "drop", "as asked"))
        else:
            columns.append(_column(name, found[name], kinds.get(name), telling, asked, owner, together))
    _warn_of_variants(columns, owner)
    values = [np.full(n, np.nan) if name not in read else read[name].measured() for name in table]
    plan = ColumnPlan(tuple(columns), math.log(2 * n + 1), ColumnSummary.of(np.stack(values, axis=1)))
    if not plan.used:
        reasons = "; ".join(f"{column.name!r} {column.why}" for column in columns[:5])
        raise NoColumnError(f"{owner}: no column is left to learn from ({reasons})")
    return plan


def _read(name: Name, column: Values, kind: Kind | None, asked: Asked, owner: str) -> _Read:
    """The cells of a column, by the notation that it is written in."""
    label = f"{owner}: column {name!r}"
    cells = read_cells(column, label)
    plainly = isinstance(column, np.ndarray) and column.dtype.kind in "biufmM"
    if (plainly and not (asked.date_format and kind in ("date", "clock"))) or cells.kind == "time":
        return _Read(cells)
    if kind in ("category", "ordinal") or not isinstance(kind, str | None) or (kind is None and _is_called_id(name)):
        return _Read(cells)
    distinct, _ = distinct_cells(column, label)
    some = [cell for cell in distinct[:: 1 + len(distinct) // _MAX_CHECKED_WORDS] if not is_missing(cell)]
    rows = int((~cells.gaps).sum())
    recognised = notation_of(
        some, rows, asked=kind, date_format=asked.date_format, owner=owner, name=name
    ) if some else None  # fmt: skip
    if recognised is None:
        return _Read(cells)
    noted = read_cells(column, label, recognised.notation)
    return _Read(
        _without_few_words(name, noted, kind, asked, owner), recognised.notation, recognised.why + _share(cells.gaps)
    )


def _without_few_words(name: Name, cells: Cells, kind: Kind | None, asked: Asked, owner: str) -> Cells:
    """Cells of numbers or times in which few words are missing values, with a warning; other cells unchanged."""
    is_time = cells.times is not None
    if cells.kind != "words" or (not is_time and (cells.numbers is None or cells.flags is not None)):
        return cells
    wrong = (np.isnat(cells.as_times()) if is_time else np.isnan(cells.as_numbers())) & ~cells.gaps
    found, known = cells.as_words().where(wrong), (~cells.gaps).sum()
    if kind is None and (asked.bad_cells == "refuse" or wrong.sum() >= _RARE_SHARE * known):
        return cells
    if all(CODE.match(word or "") for word in found):  # 00123 among numbers: codes
        return cells
    wanted = "times" if is_time else "numbers"
    warn(
        f"{owner}: column {name!r} holds {wanted} but for {wrong.sum()} of {known} cells, which are treated as missing "
        f"values: {listed(found)}{comma_hint(found)}",
        ColumnWarning,
    )
    return replace(cells, kind="time" if is_time else "number")


def _warn_of_variants(columns: Sequence[Column], owner: str) -> None:
    """Warn about categories that differ in case or spaces only and are not merged."""
    found = {
        column.name: variants
        for column in columns
        if isinstance(column.code, CategoryCode) and not column.code.merged
        and (variants := variants_of(column.code.levels))
    }  # fmt: skip
    if found:
        said = "; ".join(f"{name!r} holds {listed(variants[0])}" for name, variants in [*found.items()][:5])
        warn(
            f"{owner}: values that differ in case or spaces only are different categories: {said}; to merge them, use "
            f"{parameter('merge_variants', True)}",
            ColumnWarning,
        )


def _refuse_figures(read: Mapping[Name, Cells], owner: str) -> None:
    """Raise ValueError for text columns of numbers or dates in local formats, which would be read as categories."""
    found: dict[Name, str] = {}
    for name, cells in read.items():
        if cells.kind == "words" and cells.words is not None and not _is_called_id(name):
            words = [word for word in cells.words.levels if word is not None]
            some = words[:: 1 + len(words) // _MAX_CHECKED_WORDS]
            if words and 2 * sum(map(is_time, some)) >= len(some):
                found[name] = next(word for word in words if not is_time(word))
            elif len(words) > _MAX_INDICATORS and (such := foreign_figure(some)) is not None:
                found[name] = such
    if found:
        said = ", ".join(f"{name!r} holds {such!r}" for name, such in [*found.items()][:5])
        more = f", and {len(found) - 5} more do so" if len(found) > 5 else ""
        raise ValueError(
            f"{owner}: numbers must be written as 1234.5 and dates as 2024-12-31, but column {said}{more}"
            f"{comma_hint([*found.values()])}; or use {parameter('columns', {next(iter(found)): 'category'})} or 'drop'"
        )


def _is_called_id(name: Name) -> bool:
    return isinstance(name, str) and _ID.search(name) is not None


def _column(
    name: Name,
    read: _Read,
    kind: Kind | None,
    telling: _Telling,
    asked: Asked,
    owner: str,
    together: NDArray[np.int64] | None,
) -> Column:
    cells = read.cells
    known = int((~cells.gaps).sum())
    why = "as asked" if kind is not None else ""
    if kind == "ordinal" or not isinstance(kind, str | None):
        return _ordinal(name, cells, None if isinstance(kind, str) else kind, why, telling, owner)
    if kind is None and (column := _useless(name, cells, known, read.notation is not None)):
        return column
    if kind is None and cells.kind == "words" and cells.words is not None:
        if scale_of([word for word in cells.words.levels if word is not None]):
            return _ordinal(name, cells, None, why, telling, owner)
        cells = _without_few_words(name, cells, None, asked, owner)
    # The days of new rows are usually later than those of all training rows, for every order of the training rows.
    kind = kind or {"words": "category", "time": "clock"}.get(cells.kind, "number")
    if kind == "category":
        return _category(name, cells, why, owner, why != "", together, asked.merge_variants)
    if kind == "number" or kind in NOTATIONS:
        flag = cells.kind == "flag"
        values = cells.as_numbers(flags=flag)
        if np.isnan(values).all():
            raise ValueError(f"{owner}: columns[{name!r}] cannot be {kind!r}: the column holds none")
        gap = telling.gap(name, np.isnan(values))
        centre = float(np.nanmedian(values))
        # Where the user asks for numbers among words, words of new rows are missing values, too.
        lenient = why != "" and read.notation is None and cells.kind == "words"
        code = NumberCode(round(centre) * 1.0 if flag else centre, gap, lenient, flag, cells.span)
        why = why or ("true or false" if flag else "numbers") + _share(np.isnan(values))
        return Column(name, "flag" if flag else "number", read.why or why, code, notation=read.notation)
    if cells.kind != "time":
        raise ValueError(f"{owner}: columns[{name!r}] cannot be {kind!r}: times must be written as 2024-12-31 23:59")
    column = _date(name, cells, kind, read.why or why, telling)
    return replace(column, notation=read.notation)


def _ordinal(name: Name, cells: Cells, levels: Sequence[str] | None, why: str, telling: _Telling, owner: str) -> Column:
    """A column of words in an order: the given `levels`, or those of a known scale."""
    words = cells.as_words()
    held = [word for word in words.levels if word is not None]
    scale = scale_of(held) if levels is None else Scale(tuple(map(str, levels)))
    if scale is None:
        raise ValueError(
            f"{owner}: columns[{name!r}] cannot be 'ordinal', because the order of {listed(held)} is not known: give "
            f"the words in order, as in {parameter('columns', {name: held[:3]})}"
        )
    known = {*map(folded, scale.levels)}
    if others := [word for word in held if folded(word) not in known]:
        raise ValueError(f"{owner}: columns[{name!r}] must list all words of the column, but lacks {listed(others)}")
    code = OrdinalCode(scale.levels, (0,) * len(scale.levels), len(cells), 0.0, scale.circle)
    ranks = code.ranks(cells)
    counts = np.bincount(ranks[~np.isnan(ranks)].astype(int), minlength=len(scale.levels))
    if not counts.any():
        raise ValueError(f"{owner}: columns[{name!r}] cannot be 'ordinal': the column is empty")
    gap = telling.gap(name, np.isnan(ranks))
    code = replace(code, counts=tuple(counts.tolist()), centre=float(np.nanmedian(ranks)), gap=gap)
    order = (
        "a circle" if scale.circle else " < ".join(level for level, n in zip(scale.levels, counts, strict=True) if n)
    )
    return Column(name, "ordinal", (why or f"words in order: {order}") + _share(cells.gaps), code)


def _useless(name: Name, cells: Cells, known: int, noted: bool) -> Column | None:
    """A dropped column with the reason, if it is empty, constant or an id; else None."""
    if not known:
        return Column(name, "drop", "empty", noticed=True)
    n, distinct = len(cells.gaps), _distinct(cells)
    if distinct == 1 and known == n:
        always = cells.as_words().levels[0]
        return Column(name, "drop", f"constant: always {always}", always=always, noticed=True)
    if n < _MIN_ID_ROWS or noted or cells.kind in ("time", "flag"):
        return None
    named = _is_called_id(name)
    if cells.kind == "words":
        if (distinct >= _MIN_ID_SHARE * known and not _mostly_numbers(cells)) or (named and distinct > _MIN_ID_ROWS):
            day = unread_day([word for word in cells.as_words().levels if word is not None])
            what = f"an id or free text: {distinct} different values in {n} rows"
            what = what if day is None else f"text such as {day!r}: if these are dates, write months as numbers"
            return Column(name, "drop", what, noticed=True)
        return None
    values: Any = cells.numbers[~cells.gaps]  # type: ignore[index]
    if not np.array_equal(values, np.rint(values)):
        return None
    steps = np.diff(values)
    counts = bool(np.all(steps > 0) or np.all(steps < 0)) or (distinct == known and np.ptp(values) < 2 * known)
    if (counts and distinct == known) or (distinct > _MIN_ID_ROWS and (named or _has_many_digits(values))):
        return Column(name, "drop", "an id: whole numbers that count rows or name things", noticed=True)
    return None


def _has_many_digits(values: NDArray[np.float64]) -> bool:
    """Whether whole numbers have more significant digits than a measurement has."""
    digits = [
        len(repr(value).split("e")[0].replace(".", "").strip("-0")) for value in values[:_MAX_CHECKED_NUMBERS].tolist()
    ]
    return bool(np.median(digits) >= _MIN_ID_DIGITS)


def _mostly_numbers(cells: Cells) -> bool:
    """Whether at least half of the cells are numbers, and some of the others are words but not codes."""
    numbers = ~np.isnan(cells.as_numbers())
    if cells.flags is not None:
        numbers &= np.isnan(cells.flags)
    if 2 * numbers.sum() < (~cells.gaps).sum():
        return False
    return not all(CODE.match(word or "") for word in cells.as_words().where(_no_numbers(cells)))


def _no_numbers(cells: Cells) -> NDArray[np.bool_]:
    """Mask of the cells that are neither numbers nor missing."""
    return np.isnan(cells.as_numbers()) & ~cells.gaps


def _distinct(cells: Cells) -> int:
    if cells.words is not None:
        return sum(word is not None for word in cells.words.levels)
    values: Any = cells.numbers if cells.times is None else cells.times
    return len(np.unique(values[~cells.gaps]))


def _category(
    name: Name,
    cells: Cells,
    why: str,
    owner: str,
    asked: bool,
    together: NDArray[np.int64] | None,
    merged: bool,
) -> Column:
    words = _merged(cells.as_words()) if merged else cells.as_words()
    if not asked and _mostly_numbers(cells):
        wrong = _no_numbers(cells)
        such = words.where(wrong)[0]
        raise ValueError(
            f"{owner}: column {name!r} must hold numbers or words, but holds both: {wrong.sum()} of "
            f"{(~cells.gaps).sum()} cells are no numbers, such as {such!r}{comma_hint([such])}; use "
            f"{parameter('columns', {name: 'number'})} to treat those as missing, or 'category' or 'drop'"
        )
    # Count groups, not rows: the rows of a new group come from no training group, so their values must not look common.
    holders, n = words.codes, len(words.codes)
    if together is not None:
        holders, n = np.unique(np.stack([words.codes, together]), axis=1)[0], len(np.unique(together))
    counted = zip(words.levels.tolist(), np.bincount(holders).tolist(), strict=True)
    levels, counts = zip(*sorted(counted, key=lambda pair: (-pair[1], str(pair[0]))), strict=True)
    shown = max(1, sum(count >= max(_MIN_INDICATOR_SHARE * n, 5) for count in counts[:_MAX_INDICATORS]))
    distinct = len(levels) - (None in levels)
    why = why or f"{distinct} different values{_share(cells.gaps)}"
    return Column(name, "category", why, CategoryCode(levels, counts, n, shown, merged))


def _merged(words: Words) -> Words:
    """The words with one spelling, the most frequent one, for those that differ in case or spaces only."""
    counts = np.bincount(words.codes, minlength=len(words.levels))
    order = np.argsort(-counts, kind="stable")
    keys = [None if word is None else folded(word) for word in words.levels]
    place = {keys[i]: int(i) for i in order[::-1]}  # the most frequent one comes last
    to = np.array([place[key] for key in keys], dtype=np.intp)
    kept, codes = np.unique(to[words.codes], return_inverse=True)
    return Words(words.levels[kept], codes.reshape(-1))


def _date(name: Name, cells: Cells, kind: str, why: str, telling: _Telling) -> Column:
    times: Any = cells.times
    since = times[~np.isnat(times)].astype(np.int64)
    elapsed, days = kind == "date", since // DAY
    weekday = len(np.unique(days % 7)) > 1 and int(np.ptp(days)) >= 7
    hour = len(np.unique(since % DAY)) > 1
    if not (elapsed or weekday or hour):
        return Column(name, "drop", "times that differ in days only, which new rows go beyond", noticed=True)
    start = int(since.min())
    centre = float(np.median(since - start)) / DAY
    gap = telling.gap(name, cells.gaps)
    why = why or "times; 'date' adds the days" + _share(cells.gaps)
    return Column(name, kind, why, DateCode(start, centre, elapsed, weekday, hour, gap))


def _share(gaps: NDArray[np.bool_]) -> str:
    return f", {100 * gaps.mean():.2g} % missing" if gaps.any() else ""


class _Telling:
    """Correlations between missing values in one column and the numbers in other columns."""

    def __init__(self, read: Mapping[Name, Cells]) -> None:
        self._columns = {name: cells.measured() for name, cells in read.items() if cells.kind in ("number", "flag")}

    def gap(self, name: Name, gaps: NDArray[np.bool_]) -> float | None:
        """Minus the log share of missing values; 0 if there are none; None if they are common and uninformative."""
        n, missing = len(gaps), int(gaps.sum())
        if missing == 0:
            return 0.0
        if missing < _RARE_SHARE * n or self._tell(name, gaps):
            return math.log((n + 0.5) / (missing + 0.5)) or 1.0
        return None

    @cached_property
    def _ranks(self) -> tuple[slice, NDArray[np.float64], NDArray[np.float64]]:
        """A slice of the rows, their standardised ranks (0 if missing), and 1 for each value that is not missing.

        For large tables, the slice holds a part of the rows.
        """
        n, d = len(next(iter(self._columns.values()))), len(self._columns)
        rows = slice(None, None, -(-n * d // _MAX_CELLS))
        values = np.column_stack([column[rows] for column in self._columns.values()])
        seen = ~np.isnan(values)
        ranks = np.where(seen, np.argsort(np.argsort(values, axis=0), axis=0), 0.0)  # NaN is sorted last
        count = np.maximum(seen.sum(axis=0), 1)
        ranks = np.where(seen, ranks - ranks.sum(axis=0) / count, 0.0)
        spread = np.sqrt((ranks * ranks).sum(axis=0) / count)
        return rows, ranks / np.where(spread > 0, spread, 1.0), seen.astype(float)

    def _tell(self, name: Name, gaps: NDArray[np.bool_]) -> bool:
        if not self._columns:
            return False
        rows, ranks, seen = self._ranks
        x, count = gaps[rows].astype(float), seen.sum(axis=0)
        share = x @ seen / np.maximum(count, 1)
        spread = np.sqrt(share * (1 - share)) * count
        found = np.abs(x @ ranks) > max(_MIN_CORRELATION, 4 / math.sqrt(len(x))) * spread
        others = np.array([other != name for other in self._columns])
        return bool(np.any(found & others & (count > 2) & (spread > 0)))
