"""How a column plan is made: rules that look at the training rows, and what the user says instead."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.column_summary import ColumnSummary
from ..core.typing import Name
from ..core.wording import parameter
from .cells import Cells, is_time, read_cells
from .codes import CategoryCode, DateCode, NumberCode
from .frames import Frame, columns_of
from .plan import KINDS, Column, ColumnPlan, listed
from .text import CODE, comma_hint, foreign_figure

__all__ = ["NoColumnError", "make_plan"]

#: Values that get a column of their own: so many at most, each in such a share of the rows at least.
_SHOWN, _SHARE = 12, 0.01
#: Gaps in fewer rows than this share are rare; with such a correlation with another column they are telling.
_RARE, _TELLING = 0.05, 0.2
#: Number of rows, or of distinct values, from which on a column can be an id or count as ascending dates; and share of
#: distinct values from which on words are ids.
_PATTERN_ROWS, _DISTINCT = 20, 0.9
#: Number of digits from which on whole numbers are ids, and number of values whose digits are counted.
_DIGITS, _DIGIT_SAMPLE = 15, 100
_ID = re.compile(r"(?:^|[\W_])(?:id|uuid|guid|key|index|rowid)$|[a-z]I[Dd]$|^unnamed: 0$", re.IGNORECASE)
_DAY = 86_400_000_000
#: Largest number of cells from which correlations of gaps are computed, and of distinct words that are checked for
#: numbers and dates in a local format.
_CELLS, _WORD_SAMPLE = 4_000_000, 2_000


class NoColumnError(ValueError):
    """A table of which no column can be learnt from."""


def make_plan(
    X: Frame,
    asked: Mapping[Name, str] | None,
    *,
    owner: str,
    groups: Name | None = None,
    together: NDArray[np.int64] | None = None,
) -> ColumnPlan:
    """The plan of a table of training rows, by the group of each where it has one.

    The column called `groups`, if any, is left out.
    """
    table = columns_of(X, owner)
    asked = dict(asked or {})
    for name, kind in asked.items():
        if name not in table:
            raise ValueError(
                f"{owner}: columns must name columns of the table, but there is no {name!r} among {listed(table)}"
            )
        if kind not in KINDS:
            raise ValueError(f"{owner}: columns[{name!r}] must be one of {', '.join(map(repr, KINDS))}; got {kind!r}")
    if not table:
        shape = np.shape(X)  # type: ignore[arg-type]
        raise ValueError(f"{owner}: 0 feature(s) (shape={shape}) while a minimum of 1 is required.")
    n = max(len(column) for column in table.values())
    if n < 2:
        raise ValueError(f"{owner}: X must have at least 2 rows, got {n} (n_samples = {n})")
    read = {
        name: read_cells(column, f"{owner}: column {name!r}")
        for name, column in table.items()
        if asked.get(name) != "drop" and name != groups
    }
    _refuse_figures({name: cells for name, cells in read.items() if name not in asked}, owner)
    telling = _Telling(read)
    columns = []
    for name in table:
        if name == groups:
            columns.append(Column(name, "drop", "names the groups"))
        elif name not in read:
            columns.append(Column(name, "drop", "as asked"))
        else:
            columns.append(_column(name, read[name], asked.get(name), telling, owner, together))
    values = [np.full(n, np.nan) if name not in read else read[name].measured() for name in table]
    plan = ColumnPlan(tuple(columns), math.log(2 * n + 1), ColumnSummary.of(np.stack(values, axis=1)))
    if not plan.used:
        reasons = "; ".join(f"{column.name!r} {column.why}" for column in columns[:5])
        raise NoColumnError(f"{owner}: no column is left to learn from ({reasons})")
    return plan


def _refuse_figures(read: Mapping[Name, Cells], owner: str) -> None:
    """Numbers and dates that only people can read would be words, and each a value of its own."""
    found: dict[Name, str] = {}
    for name, cells in read.items():
        if cells.kind == "words" and cells.words is not None and not _is_called_id(name):
            words = [word for word in cells.words.levels if word is not None]
            some = words[:: 1 + len(words) // _WORD_SAMPLE]
            if words and 2 * sum(map(is_time, some)) >= len(some):
                found[name] = next(word for word in words if not is_time(word))
            elif len(words) > _SHOWN and (such := foreign_figure(some)) is not None:
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
    name: Name, cells: Cells, asked: str | None, telling: _Telling, owner: str, together: NDArray[np.int64] | None
) -> Column:
    gaps = cells.gaps
    known = int((~gaps).sum())
    if asked is None and (column := _useless(name, cells, known)):
        return column
    kind = asked or {"words": "category", "time": "date"}.get(cells.kind, "number")
    why = "as asked" if asked else ""
    if kind == "category":
        return _category(name, cells, why, owner, asked is not None, together)
    if kind == "number":
        flag = cells.kind == "flag"
        values = cells.as_numbers(flags=flag)
        if np.isnan(values).all():
            raise ValueError(f"{owner}: columns[{name!r}] cannot be 'number': the column holds none")
        gap = telling.gap(name, np.isnan(values))
        centre = float(np.nanmedian(values))
        code = NumberCode(round(centre) * 1.0 if flag else centre, gap, cells.kind == "words", flag, cells.span)
        why = why or ("true or false" if flag else "numbers") + _share(gaps)
        return Column(name, "flag" if flag else "number", why, code)
    if cells.kind != "time":
        raise ValueError(f"{owner}: columns[{name!r}] cannot be {kind!r}: times must be written as 2024-12-31 23:59")
    return _date(name, cells, kind, why, telling, asked is not None)


def _useless(name: Name, cells: Cells, known: int) -> Column | None:
    """A column that no classifier should learn from, and why."""
    if not known:
        return Column(name, "drop", "empty", noticed=True)
    n, distinct = len(cells.gaps), _distinct(cells)
    if distinct == 1 and known == n:
        always = cells.as_words().levels[0]
        return Column(name, "drop", f"constant: always {always}", always=always, noticed=True)
    if n < _PATTERN_ROWS or cells.kind in ("time", "flag"):
        return None
    named = _is_called_id(name)
    if cells.kind == "words":
        if (distinct >= _DISTINCT * known and not _mostly_numbers(cells)) or (named and distinct > _PATTERN_ROWS):
            return Column(name, "drop", f"an id or free text: {distinct} different values in {n} rows", noticed=True)
        return None
    values: Any = cells.numbers[~cells.gaps]  # type: ignore[index]
    if not np.array_equal(values, np.rint(values)):
        return None
    steps = np.diff(values)
    counts = bool(np.all(steps > 0) or np.all(steps < 0)) or (distinct == known and np.ptp(values) < 2 * known)
    if (counts and distinct == known) or (distinct > _PATTERN_ROWS and (named or _has_many_digits(values))):
        return Column(name, "drop", "an id: whole numbers that count rows or name things", noticed=True)
    return None


def _has_many_digits(values: NDArray[np.float64]) -> bool:
    """Whether whole numbers have as many digits, and not zeros, as no measurement has."""
    digits = [len(repr(value).split("e")[0].replace(".", "").strip("-0")) for value in values[:_DIGIT_SAMPLE].tolist()]
    return bool(np.median(digits) >= _DIGITS)


def _mostly_numbers(cells: Cells) -> bool:
    """Whether half of what is known, or more, are numbers, though words stand between them, other than codes."""
    numbers = ~np.isnan(cells.as_numbers())
    if cells.flags is not None:
        numbers &= np.isnan(cells.flags)
    if 2 * numbers.sum() < (~cells.gaps).sum():
        return False
    return not all(CODE.match(word or "") for word in cells.as_words().where(_no_numbers(cells)))


def _no_numbers(cells: Cells) -> NDArray[np.bool_]:
    """Where something is known that is no number."""
    return np.isnan(cells.as_numbers()) & ~cells.gaps


def _distinct(cells: Cells) -> int:
    if cells.words is not None:
        return sum(word is not None for word in cells.words.levels)
    values: Any = cells.numbers if cells.times is None else cells.times
    return len(np.unique(values[~cells.gaps]))


def _category(
    name: Name, cells: Cells, why: str, owner: str, asked: bool, together: NDArray[np.int64] | None
) -> Column:
    words = cells.as_words()
    if not asked and _mostly_numbers(cells):
        wrong = _no_numbers(cells)
        such = words.where(wrong)[0]
        raise ValueError(
            f"{owner}: column {name!r} must hold numbers or words, but holds both: {wrong.sum()} of "
            f"{(~cells.gaps).sum()} cells are no numbers, such as {such!r}{comma_hint([such])}; use "
            f"{parameter('columns', {name: 'number'})} to take those for gaps, or 'category' or 'drop'"
        )
    # Rows of a group do not vouch for one another: those of a new group will have nobody to do so.
    holders, n = words.codes, len(words.codes)
    if together is not None:
        holders, n = np.unique(np.stack([words.codes, together]), axis=1)[0], len(np.unique(together))
    counted = zip(words.levels.tolist(), np.bincount(holders).tolist(), strict=True)
    levels, counts = zip(*sorted(counted, key=lambda pair: (-pair[1], str(pair[0]))), strict=True)
    shown = max(1, sum(count >= max(_SHARE * n, 5) for count in counts[:_SHOWN]))
    distinct = len(levels) - (None in levels)
    why = why or f"{distinct} different values{_share(cells.gaps)}"
    return Column(name, "category", why, CategoryCode(levels, counts, n, shown))


def _date(name: Name, cells: Cells, kind: str, why: str, telling: _Telling, asked: bool) -> Column:
    times: Any = cells.times
    since = times[~np.isnat(times)].astype(np.int64)
    elapsed = kind == "date"
    if elapsed and not asked and len(since) >= _PATTERN_ROWS and np.all(np.diff(since) >= 0):
        # Rows in the order of time: of all that is to come, each row would be the latest ever seen.
        elapsed, kind, why = False, "clock", "rows stand in its order, and new ones will be later"
    days = since // _DAY
    weekday = len(np.unique(days % 7)) > 1 and int(np.ptp(days)) >= 7
    hour = len(np.unique(since % _DAY)) > 1
    if not (elapsed or weekday or hour):
        return Column(name, "drop", "rows stand in its order, and no weekday or hour differs", noticed=True)
    start = int(since.min())
    centre = float(np.median(since - start)) / _DAY
    gap = telling.gap(name, cells.gaps)
    return Column(name, kind, why or "times" + _share(cells.gaps), DateCode(start, centre, elapsed, weekday, hour, gap))


def _share(gaps: NDArray[np.bool_]) -> str:
    return f", {100 * gaps.mean():.2g} % missing" if gaps.any() else ""


class _Telling:
    """Whether gaps go with what the numbers of other columns are."""

    def __init__(self, read: Mapping[Name, Cells]) -> None:
        self._columns = {name: cells.measured() for name, cells in read.items() if cells.kind in ("number", "flag")}

    def gap(self, name: Name, gaps: NDArray[np.bool_]) -> float | None:
        """How rare gaps are, 0 where there are none; None for those too common to be odd and telling nothing."""
        n, missing = len(gaps), int(gaps.sum())
        if missing == 0:
            return 0.0
        if missing < _RARE * n or self._tell(name, gaps):
            return math.log((n + 0.5) / (missing + 0.5)) or 1.0
        return None

    @cached_property
    def _ranks(self) -> tuple[slice, NDArray[np.float64], NDArray[np.float64]]:
        """Standardised ranks, 0 in gaps, and where these are not; of wide tables in a part of the rows."""
        n, d = len(next(iter(self._columns.values()))), len(self._columns)
        rows = slice(None, None, -(-n * d // _CELLS))
        values = np.column_stack([column[rows] for column in self._columns.values()])
        seen = ~np.isnan(values)
        ranks = np.where(seen, np.argsort(np.argsort(values, axis=0), axis=0), 0.0)  # gaps come last
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
        found = np.abs(x @ ranks) > max(_TELLING, 4 / math.sqrt(len(x))) * spread
        others = np.array([other != name for other in self._columns])
        return bool(np.any(found & others & (count > 2) & (spread > 0)))
