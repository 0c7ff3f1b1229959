"""Comparison of the columns of new rows with those of training rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ..base.protocol import Detector
from ..core.calibration import benjamini_hochberg
from ..core.column_summary import LEVELS, ColumnSummary
from ..core.column_tests import category_difference, homogeneity, number_difference
from ..core.typing import Name, Rows
from ..tabular import plan as planned
from ..tabular.cells import Cells, read_cells
from ..tabular.codes import CategoryCode, OrdinalCode
from ..tabular.frames import as_array, columns_of
from ..tabular.plan import ColumnPlan
from .schema import Cell, Column, ColumnValues, Difference

__all__ = ["CLEAR_DISTANCE", "Distribution", "cell_values", "compare_columns", "training_columns"]

#: Difference between two distributions, as a share of the rows, from which a significant difference is called clear.
CLEAR_DISTANCE = 0.1
#: False-discovery rate among the columns that are called changed.
_FALSE_DISCOVERIES = 0.05
#: Most categories that are listed for a column.
_LISTED_CATEGORIES = 8
#: Share of flagged rows up to which a change may be attributed to them.
_MINORITY = 0.5
#: The slope between the quantiles of two levels is at most 64 times the largest value: values are divided by more.
_SLOPE_SCALE = 128.0


@dataclass(frozen=True)
class Distribution:
    """Distribution of the values of a column: quantiles of numbers or counts of categories, and missing values."""

    kind: str
    rows: int
    missing: int
    quantiles: NDArray[np.float64] | None = None
    counts: Mapping[str, int] | None = None

    @classmethod
    def of(cls, cells: Cells, kind: str | None = None) -> Self:
        """The distribution of cells; without a `kind`, words are categories."""
        rows = len(cells.gaps)
        if kind in ("category", "ordinal") or (kind is None and cells.kind == "words"):
            words = cells.as_words()
            times = np.bincount(words.codes, minlength=len(words.levels)).tolist()
            counts = {word: n for word, n in zip(words.levels, times, strict=True) if word is not None and n}
            return cls("category", rows, rows - sum(counts.values()), counts=counts)
        values = cells.measured(flags=kind == "flag")
        seen = ColumnSummary.of(values[:, None])
        kind = kind or {"time": "date"}.get(cells.kind, cells.kind)
        return cls(kind, rows, int(np.isnan(values).sum()), seen.quantiles[:, 0])

    @property
    def common(self) -> list[str]:
        """The most frequent categories."""
        counts = self.counts or {}
        return sorted(counts, key=lambda value: (-counts[value], value))[:_LISTED_CATEGORIES]

    def values(self, *also: str) -> ColumnValues:
        """The distribution as it is written into the summary: the most frequent categories, and those of `also`."""
        found: ColumnValues = {"rows": self.rows, "missing": self.missing / max(self.rows, 1)}
        if self.counts is not None:
            listed = dict.fromkeys([*self.common, *(value for value in also if value in self.counts)])
            return {**found, "shares": {value: self.counts[value] / self.rows for value in listed}}
        q = self.quantiles
        if q is None or np.isnan(q).any():
            return found
        if self.kind == "flag":
            true = float(np.mean(q > 0.5))
            return {**found, "shares": {"true": true, "false": 1.0 - true}}
        # Slopes between huge values would overflow; division by a power of two is exact.
        low, median, high = (np.interp([0.05, 0.5, 0.95], LEVELS, q / _SLOPE_SCALE) * _SLOPE_SCALE).tolist()
        ends = [float(q[0]), float(q[-1])]
        return {**found, "median": median, "central_90": [low, high], "range": ends, "quantiles": q.tolist()}


def training_columns(model: Detector, names: Sequence[Name], X_train: Rows | None) -> dict[Name, Distribution]:
    """Distributions of the training columns: of `X_train` or, without it, those that the fitted model stores."""
    plan = getattr(model, "plan_", None)
    kinds = {} if plan is None else {column.name: column.kind for column in plan.used}
    if X_train is not None:
        table = {name: as_array(column) for name, column in columns_of(X_train, "report").items()}
        if len(table) == len(names) and not any(isinstance(name, str) for name in table):
            table = dict(zip(names, table.values(), strict=True))
        return {name: Distribution.of(_cells(table[name], name), kinds.get(name)) for name in names if name in table}
    if plan is not None:
        found = {column.name: _from_plan(plan, column, j) for j, column in enumerate(plan.columns)}
        return {name: known for name, known in found.items() if known is not None}
    seen = getattr(getattr(model, "best_estimator_", model), "column_summary_", None)
    if seen is None or len(names) != len(seen.gaps):
        return {}
    return {
        name: Distribution("number", seen.rows, int(seen.gaps[j]), seen.quantiles[:, j]) for j, name in enumerate(names)
    }


def _from_plan(plan: ColumnPlan, column: planned.Column, j: int) -> Distribution | None:
    code = column.code
    if isinstance(code, CategoryCode | OrdinalCode):
        counts = {word: count for word, count in zip(code.levels, code.counts, strict=True) if count}
        missing = counts.pop(None, 0) if isinstance(code, CategoryCode) else code.total - sum(code.counts)
        return Distribution("category", code.total, missing, counts=counts)  # type: ignore[arg-type]
    if code is None or plan.seen is None:
        return None
    return Distribution(column.kind, plan.seen.rows, int(plan.seen.gaps[j]), plan.seen.quantiles[:, j])


def compare_columns(
    table: Mapping[Name, NDArray[np.generic]],
    names: Sequence[Name],
    training: Mapping[Name, Distribution],
    flagged: NDArray[np.bool_],
) -> list[Column]:
    """Each column of the new rows with its training distribution, the difference, and whether the column changed.

    A change that disappears without the `flagged` rows is attributed to them, if they are a minority.
    """
    found = []
    for name in names:
        cells, old = _cells(table[name], name), training.get(name)
        new = Distribution.of(cells, None if old is None else old.kind)
        entry: Column = {"name": name, "kind": new.kind, "new": new.values(*(() if old is None else old.common))}
        if old is not None:
            # A page compares the shares of all these categories, of which each must be known on both sides.
            seen = Distribution.of(_cells(table[name][flagged], name), "category") if old.counts is not None else new
            entry["training"] = old.values(*new.common, *(seen.counts or {}))
            if old.kind == "clock" or _goes_on(old, new):  # a difference would mean nothing
                entry["changed"] = "later"
            else:
                entry = {**entry, **_difference(old, new, cells)}
        found.append(entry)
    tested = [entry for entry in found if "p_value" in entry]
    p_values = np.array([entry["p_value"] for entry in tested])
    limit = benjamini_hochberg(p_values, q=_FALSE_DISCOVERIES) if tested else 0.0
    for entry in tested:
        entry["changed"] = "no"
        if entry["p_value"] <= limit:
            entry["changed"] = "clearly" if entry["distance"] >= CLEAR_DISTANCE else "slightly"
            if flagged.any() and flagged.mean() < _MINORITY:
                name, old = entry["name"], training[entry["name"]]
                cells = _cells(table[name][~flagged], name)
                if _difference(old, Distribution.of(cells, old.kind), cells)["p_value"] > _FALSE_DISCOVERIES:
                    entry["changed"] = "flagged"
    return found


def cell_values(column: NDArray[np.generic], entry: Column) -> list[Cell]:
    """Values of a compared column: words of a category or flag, otherwise numbers (of dates: days since 1970)."""
    cells = _cells(column, entry["name"])
    if entry["kind"] == "flag":
        return [None if x != x else "true" if x else "false" for x in cells.measured(flags=True).tolist()]
    if entry["kind"] != "category":
        return list(cells.measured().tolist())
    words = cells.as_words()
    return list(words.levels[words.codes].tolist())


def _goes_on(old: Distribution, new: Distribution) -> bool:
    """Whether a column of dates goes on: half of the new dates or more are later than all training dates."""
    if old.kind != "date" or old.quantiles is None or new.quantiles is None:
        return False
    return bool(np.median(new.quantiles) > old.quantiles[-1])


def _difference(old: Distribution, new: Distribution, cells: Cells) -> Difference:
    """Difference of the values or of the shares of missing values, whichever is larger, with its p-value."""
    if old.counts is not None and new.counts is not None:
        distance, p, unseen = category_difference(old.counts, new.counts)
        outside = sum(new.counts[value] for value in unseen) / new.rows
    else:
        values = np.sort(cells.measured(flags=new.kind == "flag"))
        distance, p, outside = _difference_of_numbers(old, values[: new.rows - new.missing])
        unseen = None
    missing = abs(old.missing / old.rows - new.missing / new.rows)
    table = [[old.missing, old.rows - old.missing], [new.missing, new.rows - new.missing]]
    p = min(1.0, 2 * min(p, homogeneity(table)))
    distance = max(distance, missing)
    if unseen is None:
        return {"distance": distance, "p_value": p, "outside": outside}
    return {"distance": distance, "p_value": p, "unseen": unseen[:_LISTED_CATEGORIES], "outside": outside}


def _difference_of_numbers(old: Distribution, values: NDArray[np.float64]) -> tuple[float, float, float]:
    """Distance of sorted new values from the training quantiles, its p-value, and the share outside their range."""
    q, n = old.quantiles, old.rows - old.missing
    if q is None or n == 0 or not len(values) or np.isnan(q).any():
        return 0.0, 1.0, 0.0
    outside = float(np.mean((values < q[0]) | (values > q[-1])))
    return *number_difference(q, n, values), outside


def _cells(column: NDArray[np.generic], name: Name) -> Cells:
    return read_cells(column, f"report: column {name!r}")
