"""Construction of a column plan: rules that use the training rows, and the kinds given by the user."""

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
_DAY = 86_400_000_000
#: Upper bounds on the cells used for the correlations of missing values, and on the distinct words whose format is
#: checked.
_MAX_CELLS, _MAX_CHECKED_WORDS = 4_000_000, 2_000


class NoColumnError(ValueError):
    """A table without a usable column."""


def make_plan(
    X: Frame,
    asked: Mapping[Name, str] | None,
    *,
    owner: str,
    groups: Name | None = None,
    together: NDArray[np.int64] | None = None,
) -> ColumnPlan:
    """The column plan for a table of training rows.

    `asked` holds the kinds given by the user. `together` holds the group of each row, if there are groups. The column
    called `groups` is dropped.
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
    name: Name, cells: Cells, asked: str | None, telling: _Telling, owner: str, together: NDArray[np.int64] | None
) -> Column:
    gaps = cells.gaps
    known = int((~gaps).sum())
    if asked is None and (column := _useless(name, cells, known)):
        return column
    # The days of new rows are later than those of all training rows, in whatever order the training rows are.
    kind = asked or {"words": "category", "time": "clock"}.get(cells.kind, "number")
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
    return _date(name, cells, kind, why, telling)


def _useless(name: Name, cells: Cells, known: int) -> Column | None:
    """A dropped column with the reason, if it is empty, constant or an id; else None."""
    if not known:
        return Column(name, "drop", "empty", noticed=True)
    n, distinct = len(cells.gaps), _distinct(cells)
    if distinct == 1 and known == n:
        always = cells.as_words().levels[0]
        return Column(name, "drop", f"constant: always {always}", always=always, noticed=True)
    if n < _MIN_ID_ROWS or cells.kind in ("time", "flag"):
        return None
    named = _is_called_id(name)
    if cells.kind == "words":
        if (distinct >= _MIN_ID_SHARE * known and not _mostly_numbers(cells)) or (named and distinct > _MIN_ID_ROWS):
            return Column(name, "drop", f"an id or free text: {distinct} different values in {n} rows", noticed=True)
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
    # Count groups, not rows: the rows of a new group come from no training group, so their values must not look common.
    holders, n = words.codes, len(words.codes)
    if together is not None:
        holders, n = np.unique(np.stack([words.codes, together]), axis=1)[0], len(np.unique(together))
    counted = zip(words.levels.tolist(), np.bincount(holders).tolist(), strict=True)
    levels, counts = zip(*sorted(counted, key=lambda pair: (-pair[1], str(pair[0]))), strict=True)
    shown = max(1, sum(count >= max(_MIN_INDICATOR_SHARE * n, 5) for count in counts[:_MAX_INDICATORS]))
    distinct = len(levels) - (None in levels)
    why = why or f"{distinct} different values{_share(cells.gaps)}"
    return Column(name, "category", why, CategoryCode(levels, counts, n, shown))


def _date(name: Name, cells: Cells, kind: str, why: str, telling: _Telling) -> Column:
    times: Any = cells.times
    since = times[~np.isnat(times)].astype(np.int64)
    elapsed, days = kind == "date", since // _DAY
    weekday = len(np.unique(days % 7)) > 1 and int(np.ptp(days)) >= 7
    hour = len(np.unique(since % _DAY)) > 1
    if not (elapsed or weekday or hour):
        return Column(name, "drop", "times that differ in days only, which new rows go beyond", noticed=True)
    start = int(since.min())
    centre = float(np.median(since - start)) / _DAY
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
