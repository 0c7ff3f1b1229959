"""Columns of new rows beside those of training rows: what each held and holds, and how far that is apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2_contingency, kstwobign

from ..base.protocol import Detector
from ..core.calibration import benjamini_hochberg
from ..core.column_summary import LEVELS, ColumnSummary
from ..core.typing import Name, Rows
from ..tabular import plan as planned
from ..tabular.cells import Cells, read_cells
from ..tabular.codes import CategoryCode
from ..tabular.frames import as_array, columns_of
from ..tabular.plan import ColumnPlan
from .contents import Cell, Column, Difference, Held

__all__ = ["Known", "compared", "known_columns", "values_of"]

#: False-discovery rate of the columns that are called changed, and the distance from which on that is called clear.
_DOUBT, _CLEAR = 0.05, 0.1
#: Values of a category that are listed.
_LISTED = 8


@dataclass(frozen=True)
class Known:
    """A column at the fit: rows, gaps among them, and quantiles of its numbers or counts of its values."""

    kind: str
    rows: int
    gaps: int
    quantiles: NDArray[np.float64] | None = None
    counts: Mapping[str, int] | None = None

    @classmethod
    def of(cls, cells: Cells, kind: str | None = None) -> Self:
        """What cells hold; as a category, if they are to be one or hold words."""
        rows = len(cells.gaps)
        if kind == "category" or (kind is None and cells.kind == "words"):
            words = cells.as_words()
            times = np.bincount(words.codes, minlength=len(words.levels)).tolist()
            counts = {word: n for word, n in zip(words.levels, times, strict=True) if word is not None and n}
            return cls("category", rows, rows - sum(counts.values()), counts=counts)
        values = cells.measured()
        seen = ColumnSummary.of(values[:, None])
        kind = kind or {"time": "date"}.get(cells.kind, cells.kind)
        return cls(kind, rows, int(np.isnan(values).sum()), seen.quantiles[:, 0])

    @property
    def said(self) -> Held:
        """The column in numbers that can be read: its middle, where nine in ten rows lie, and the ends."""
        found: Held = {"rows": self.rows, "missing": self.gaps / max(self.rows, 1)}
        if self.counts is not None:
            common = sorted(self.counts.items(), key=lambda pair: (-pair[1], pair[0]))[:_LISTED]
            return {**found, "values": {value: count / self.rows for value, count in common}}
        q = self.quantiles
        if q is None or np.isnan(q).any():
            return found
        low, middle, high = np.interp([0.05, 0.5, 0.95], LEVELS, q).tolist()
        ends = [float(q[0]), float(q[-1])]
        return {**found, "middle": middle, "usual": [low, high], "range": ends, "quantiles": q.tolist()}


def known_columns(model: Detector, names: Sequence[Name], X_train: Rows | None) -> dict[Name, Known]:
    """What is known of the columns at the fit: by the training rows, by the plan of a table, by the classifier."""
    plan = getattr(model, "plan_", None)
    kinds = {} if plan is None else {column.name: column.kind for column in plan.used}
    if X_train is not None:
        table = {name: as_array(column) for name, column in columns_of(X_train, "report").items()}
        if len(table) == len(names) and not any(isinstance(name, str) for name in table):
            table = dict(zip(names, table.values(), strict=True))
        return {name: Known.of(_cells(table[name], name), kinds.get(name)) for name in names if name in table}
    if plan is not None:
        return {column.name: known for j, column in enumerate(plan.columns) if (known := _planned(plan, column, j))}
    seen = getattr(getattr(model, "best_estimator_", model), "column_summary_", None)
    if seen is None or len(names) != len(seen.gaps):
        return {}
    return {name: Known("number", seen.rows, int(seen.gaps[j]), seen.quantiles[:, j]) for j, name in enumerate(names)}


def _planned(plan: ColumnPlan, column: planned.Column, j: int) -> Known | None:
    code = column.code
    if isinstance(code, CategoryCode):
        counts = dict(zip(code.levels, code.counts, strict=True))
        gaps = counts.pop(None, 0)
        return Known("category", code.total, gaps, counts=counts)  # type: ignore[arg-type]
    if code is None or plan.seen is None:
        return None
    return Known(column.kind, plan.seen.rows, int(plan.seen.gaps[j]), plan.seen.quantiles[:, j])


def compared(
    table: Mapping[Name, NDArray[np.generic]],
    names: Sequence[Name],
    known: Mapping[Name, Known],
    flagged: NDArray[np.bool_],
) -> list[Column]:
    """A dict for each column: what it held and holds, the distance, its p-value, and whether the column has changed.

    It has not where that is due to the `flagged` rows alone, as long as they are the fewer.
    """
    found = []
    for name in names:
        cells, old = _cells(table[name], name), known.get(name)
        new = Known.of(cells, None if old is None else old.kind)
        entry: Column = {"name": name, "kind": new.kind, "new": new.said}
        if old is not None:
            entry["training"] = old.said
            if old.kind != "clock":  # time goes on, and says nothing
                entry = {**entry, **_apart(old, new, cells)}
        found.append(entry)
    tested = [entry for entry in found if "p_value" in entry]
    limit = benjamini_hochberg(np.array([entry["p_value"] for entry in tested]), q=_DOUBT) if tested else 0.0
    for entry in tested:
        entry["changed"] = "no"
        if entry["p_value"] <= limit:
            entry["changed"] = "clearly" if entry["distance"] >= _CLEAR else "slightly"
            if flagged.any() and flagged.mean() < 0.5:
                name, old = entry["name"], known[entry["name"]]
                cells = _cells(table[name][~flagged], name)
                if _apart(old, Known.of(cells, old.kind), cells)["p_value"] > _DOUBT:
                    entry["changed"] = "flagged"
    return found


def values_of(column: NDArray[np.generic], entry: Column) -> list[Cell]:
    """Cells of a column that was compared: its words, its numbers, or days since 1970."""
    cells = _cells(column, entry["name"])
    if entry["kind"] != "category":
        return list(cells.measured().tolist())
    words = cells.as_words()
    return list(words.levels[words.codes].tolist())


def _apart(old: Known, new: Known, cells: Cells) -> Difference:
    """How far the known values are apart, and the gaps; what is new about the values."""
    if old.counts is not None and new.counts is not None:
        distance, p, fresh = _values_apart(old.counts, new.counts)
        outside = sum(new.counts[value] for value in fresh) / new.rows
    else:
        values = np.sort(cells.measured())
        distance, p, outside = _numbers_apart(old, values[: new.rows - new.gaps])
        fresh = None
    gaps = abs(old.gaps / old.rows - new.gaps / new.rows)
    table = [[old.gaps, old.rows - old.gaps], [new.gaps, new.rows - new.gaps]]
    p = min(1.0, 2 * min(p, _homogeneous(np.array(table))))
    distance = max(distance, gaps)
    if fresh is None:
        return {"distance": distance, "p_value": p, "outside": outside}
    return {"distance": distance, "p_value": p, "unseen": fresh[:_LISTED], "outside": outside}


def _numbers_apart(old: Known, values: NDArray[np.float64]) -> tuple[float, float, float]:
    """Distance of ranked new values from quantiles, its p-value, and the share of them beyond the ends.

    A quantile of the training rows is one of the new rows, too, where their share below it is no more, and their share
    up to it no less, than its level; the distance is the most that is lacking to that.
    """
    q, n, m = old.quantiles, old.rows - old.gaps, len(values)
    if q is None or n == 0 or m == 0 or np.isnan(q).any():
        return 0.0, 1.0, 0.0
    below, upto = (np.searchsorted(values, q, side=side) / m for side in ("left", "right"))
    distance = float(np.maximum(below - LEVELS, LEVELS - upto).max(initial=0.0))
    p = float(kstwobign.sf(distance * np.sqrt(n * m / (n + m))))
    return distance, p, float(below[0] + 1 - upto[-1])


def _values_apart(old: Mapping[str, int], new: Mapping[str, int]) -> tuple[float, float, list[str]]:
    """Half the sum of the differences of the shares, its p-value by a chi-square test, and values never seen."""
    fresh = [value for value in new if value not in old]
    counts = np.array([[counted.get(value, 0) for value in (*old, *fresh)] for counted in (old, new)], dtype=float)
    totals = counts.sum(axis=1, keepdims=True)
    if not totals.all():
        return 0.0, 1.0, fresh
    distance = float(np.abs(np.diff(counts / totals, axis=0)).sum() / 2)
    # Values too rare for the test are one.
    rare = (counts.sum(axis=0) * totals / totals.sum()).min(axis=0) < 5
    return distance, _homogeneous(np.column_stack([counts[:, ~rare], counts[:, rare].sum(axis=1)])), fresh


def _homogeneous(counts: NDArray[np.integer] | NDArray[np.floating]) -> float:
    """P-value of two rows of counts having the same shares."""
    counts = counts[:, counts.sum(axis=0) > 0]
    return float(chi2_contingency(counts).pvalue) if counts.shape[1] > 1 else 1.0


def _cells(column: NDArray[np.generic], name: Name) -> Cells:
    return read_cells(column, f"report: column {name!r}")
