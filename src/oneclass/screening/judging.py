"""Judgement of the rows and cells of one table that may contain mistakes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array, device, namespace, ones, to_numpy
from ..core.calibration import benjamini_hochberg
from ..core.groups import Groups
from ..core.scaling import ColumnMoments, Scaler
from ..core.screening import p_values_by_tail, remoteness, settle
from .cells import CellEvidence, number_columns
from .copies import copied_columns
from .residuals import Shrinkage
from .rows import fit_regressions, predict_held_out
from .tails import NumberTail
from .units import Sheet, Unit, blocks_of

__all__ = ["Judgement", "Suspects", "judge"]

Mask = NDArray[np.bool_]
Numbers = NDArray[np.float64]
Index = NDArray[np.intp]

#: Lower bound of p-values, to keep logarithms finite.
_LEAST = 1e-300
#: Weights of the three p-values of a row: of its most suspicious cell, of its reconstruction and of the density of
#: other rows around it. Their inverses sum to one.
_BY_CELL, _BY_RECONSTRUCTION, _BY_DENSITY = 1.5, 12.0, 4.0
#: Rows of which the suspicious ones are left out of the densities, in several rounds; with more rows, a sample.
_SETTLED = 10_000
#: False-discovery rate of the rows that are left out of the tail of the densities.
_DENSITY_Q = 0.1
#: Quantile levels of the held-out residuals that bound the expected range of a value.
_RANGE = (0.05, 0.95)
#: Fewest rows that are listed, the largest share of the rows that the regressions of listed rows leave out, and the
#: largest number of cells listed for a row.
_LISTED, _LEFT_OUT, _CELLS = 100, 0.1, 3
#: Corrected p-value up to which a cell of a named row is named, and up to which a further value of a row is listed,
#: after others were replaced by expected ones.
_FURTHER = 0.01


@dataclass(frozen=True)
class Suspects:
    """Listed cells, the most suspicious row first: row, unit, p-value, and encoded expected values and their range.

    The p-values are those of single cells, multiplied by the number of units.
    """

    rows: Index
    units: Index
    p_values: Numbers
    expected: Numbers
    low: Numbers
    high: Numbers


@dataclass(frozen=True)
class Judgement:
    """P-values of rows, the order of suspicion, the rows named at the rate q, the listed cells, and copied columns.

    A copied column is given by its unit, the unit that it is a copy of, and the rows in which they differ.
    """

    p_values: Numbers
    suspicion: Numbers
    order: Index
    odd: Mask
    named: Mask  # of the listed cells
    suspects: Suspects
    copies: tuple[tuple[int, int, Index], ...]


def judge(
    X: Array, sheet: Sheet, *, q: float, top: int, groups: Groups | None = None, scaled: bool = True
) -> Judgement:
    """Judge the rows and cells of an encoded table, each by models that have not seen the row or its group."""
    X = namespace(X).astype(X, namespace(X).float64, copy=False)
    table = _Table.of(X, sheet, scaled)
    whole_rows = _Remoteness.of(X, groups, scaled=scaled)
    residuals, errors = predict_held_out(table.Z, table.blocks, groups=groups)
    numbers = number_columns(table.values, table.units)
    shrinkage = Shrinkage.of(table.values, residuals, numbers)
    residuals = table.values - shrinkage(table.values - residuals)
    everyone = np.arange(X.shape[0])
    table.forget_missing(residuals, everyone)
    independent = 1.0 if groups is None else groups.count / X.shape[0]
    evidence = CellEvidence.of(
        table.values,
        residuals,
        table.units,
        numbers,
        usual=whole_rows.kept,
        inverse=table.inverse,
        independent=independent,
    )
    cells = table.with_bad(evidence.log_p(table.values, residuals), everyone)
    ranked = table.with_bad(evidence.log_p(table.values, residuals, ranking=True), everyone)
    remote = whole_rows.log_p(heavy=not evidence.normal)
    # The logarithm of the loss has at most an exponential tail if the loss has the tail of a power law.
    size = np.log(np.maximum(errors, _LEAST))
    whole = np.log(np.maximum(p_values_by_tail(size, size, independent=independent), _LEAST))
    several = np.log(len(table.units))
    joint = np.minimum(cells.min(axis=1) + several + np.log(_BY_CELL), whole + np.log(_BY_RECONSTRUCTION))
    p = np.exp(np.minimum(np.minimum(joint, remote + np.log(_BY_DENSITY)), 0.0))
    suspicion = -np.minimum(ranked.min(axis=1) + several, 0) - whole
    suspicion = np.maximum(suspicion, -remote)
    order = np.argsort(-suspicion, kind="stable")
    bad = np.zeros(len(p), dtype=bool) if sheet.bad is None else sheet.bad.any(axis=1)
    odd = bad | (p <= benjamini_hochberg(np.where(bad, 1.0, p), q=q))  # bad cells do not raise the limit for other rows
    listed = order[(np.arange(len(order)) < max(top, _LISTED)) | odd[order]]
    suspects = _list_cells(table, evidence, shrinkage, residuals, cells, listed, groups)
    named = odd[suspects.rows] & (suspects.p_values <= _FURTHER)
    return Judgement(p, suspicion, order, odd, named, suspects, tuple(table.copies(numbers)))


@dataclass(frozen=True)
class _Remoteness:
    """How remote the rows are from those that are not suspected outliers, and p-values of an exponential tail.

    `kept` marks the rows that are not suspected, or some of many. Clusters of up to a tenth of the rows are suspected.
    """

    distances: Numbers
    kept: Mask
    p_values: Numbers
    independent: float

    @classmethod
    def of(cls, X: Array, groups: Groups | None, *, scaled: bool) -> _Remoteness:
        n, together = X.shape[0], None if groups is None else groups.of_rows
        independent = 1.0 if groups is None else groups.count / n
        some = np.arange(n) if n <= _SETTLED else np.sort(np.random.default_rng(0).permutation(n)[:_SETTLED])
        rows = X if n <= _SETTLED else namespace(X).take(X, namespace(X).asarray(some, device=device(X)), axis=0)
        theirs = None if together is None else np.unique(together[some], return_inverse=True)[1].reshape(-1)
        judged = partial(remoteness, rows, scaled=scaled, groups=theirs)
        settled = settle(judged, len(some), q=_DENSITY_Q, independent=independent)
        kept = np.zeros(n, dtype=bool)
        kept[some[~settled.odd]] = True
        if n <= _SETTLED:
            return cls(settled.distances, kept, settled.p_values, independent)
        distances = remoteness(X, kept, scaled=scaled, groups=together)
        return cls(distances, kept, p_values_by_tail(distances[kept], distances, independent=independent), independent)

    def log_p(self, *, heavy: bool) -> Numbers:
        """Return log p-values; if tails are `heavy`, the larger ones of a tail that is a power law.

        In a joint distribution with heavy tails, the tail of the distances is slower than where its scale is read.
        """
        found, bulk = np.log(np.maximum(self.p_values, _LEAST)), self.distances[self.kept]
        low, middle = float(bulk.min()), float(np.median(bulk))
        if not heavy or not low < middle:
            return found
        logs = np.log(np.maximum((self.distances - low) / (middle - low), 1.0))
        largest = float(logs[self.kept].max())
        tail = NumberTail.of(logs[self.kept], largest=largest, independent=self.independent)
        return np.maximum(found, tail.log_p(logs))


@dataclass(frozen=True)
class _Table:
    """The columns that vary, scaled, and the units that they belong to."""

    sheet: Sheet
    used: list[int]  # columns of the encoded table
    varying: list[int]  # units of the sheet
    units: list[Unit]  # with columns of Z
    scaler: Scaler
    X: Numbers
    Z: Array
    values: Numbers  # Z on the host

    @classmethod
    def of(cls, X: Array, sheet: Sheet, scaled: bool) -> _Table:
        xp, host = namespace(X), np.asarray(to_numpy(X))
        varying = sheet.varying(host) or [0]
        units = [sheet.units[k] for k in varying]
        used = sorted(j for unit in units for j in unit.columns)
        place = {j: i for i, j in enumerate(used)}
        inner = [unit.moved(place) for unit in units]
        rows = xp.take(X, xp.asarray(used, device=device(X)), axis=1)
        scaler = Scaler.of("robust" if scaled else "none", ColumnMoments.of(rows, ones(rows)), rows, ones(rows))
        Z = scaler(rows)
        return cls(sheet, used, varying, inner, scaler, host, Z, np.asarray(to_numpy(Z)))

    @property
    def blocks(self) -> list[tuple[int, ...]]:
        return list(blocks_of(self.units))

    def forget_missing(self, residuals: Numbers, rows: Index) -> None:
        """Set the residuals of missing cells to 0, but those of the codes that mark them as missing."""
        if self.sheet.missing is not None:
            for k, unit in zip(self.varying, self.units, strict=True):
                for j in unit.columns:
                    if j != unit.gap and not unit.category:
                        residuals[self.sheet.missing[rows, k], j] = 0.0

    def copies(self, numbers: list[int]) -> Iterator[tuple[int, int, Index]]:
        """Yield the units of columns of numbers that are copies of others, these others, and the rows that differ."""
        unit_of = {j: unit for unit in self.varying for j in self.sheet.units[unit].columns}
        for column, first, rows in copied_columns(self.X, [self.used[j] for j in numbers]):
            if unit_of[column] != unit_of[first]:
                yield unit_of[column], unit_of[first], rows

    def with_bad(self, log_p: Numbers, rows: Index) -> Numbers:
        """Return the logarithms of p-values of the cells of some rows, with the lower bound for bad cells."""
        bad = self.sheet.bad
        return log_p if bad is None else np.where(bad[rows][:, self.varying], math.log(_LEAST), log_p)

    def inverse(self, Z: Numbers) -> Numbers:
        """Return scaled values in the units of the encoded table."""
        xp = namespace(self.Z)
        return np.asarray(to_numpy(self.scaler.inverse(xp.asarray(Z, device=device(self.Z)))))


def _list_cells(
    table: _Table,
    evidence: CellEvidence,
    shrinkage: Shrinkage,
    residuals: Numbers,
    cells: Numbers,
    listed: Index,
    groups: Groups | None,
) -> Suspects:
    """List the most suspicious cell of each row, and further cells that stay suspicious once it is replaced.

    The first of the listed rows are predicted by regressions without all of them.
    """
    n = len(table.values)
    first = listed[: max(1, int(_LEFT_OUT * n))]
    fitted = np.ones(n, dtype=bool)
    fitted[first] = False
    again = fit_regressions(table.Z, table.blocks, fitted, groups=groups)
    spread = np.quantile(residuals, _RANGE, axis=0)
    found: list[list[tuple[int, float]]] = [[] for _ in listed]
    expected = np.empty((len(listed), table.values.shape[1]))
    rest = listed[len(first) :]
    for i, row in enumerate(rest, len(first)):
        unit = int(cells[row].argmin())
        found[i].append((unit, float(cells[row, unit])))
    expected[len(first) :] = table.values[rest] - residuals[rest]
    expected[: len(first)] = _cleaned(table, evidence, lambda Z: shrinkage(again.predict(Z)), first, found)
    rows = np.array([row for row, some in zip(listed, found, strict=True) for _ in some], dtype=np.intp)
    places = np.array([i for i, some in enumerate(found) for _ in some], dtype=np.intp)
    units = np.array([table.varying[unit] for some in found for unit, _ in some], dtype=np.intp)
    p = np.array([np.exp(p) for some in found for _, p in some]) * len(table.units)
    middle = expected[places]
    whole = [_encoded(table, rows, Z) for Z in (middle, middle + spread[0], middle + spread[1])]
    return Suspects(rows, units, np.minimum(p, 1.0), *whole)


def _encoded(table: _Table, rows: Index, Z: Numbers) -> Numbers:
    """Return encoded rows with all columns, of which those that vary are given."""
    full = np.array(table.X[rows], dtype=float)
    full[:, table.used] = table.inverse(Z)
    return full


def _cleaned(
    table: _Table,
    evidence: CellEvidence,
    predict: Callable[[Array], Numbers],
    rows: Index,
    found: list[list[tuple[int, float]]],
) -> Numbers:
    """Add the suspicious cells of some rows to `found`, one after the other, and return the expected values."""
    values = table.values[rows]
    cleaned, done = values.copy(), np.zeros((len(rows), len(table.units)), dtype=bool)
    several = np.log(len(table.units))
    xp = namespace(table.Z)
    for turn in range(_CELLS + 1):
        predicted = predict(xp.asarray(cleaned, device=device(table.Z)))
        if turn == _CELLS:
            break
        residuals = values - predicted
        table.forget_missing(residuals, rows)
        p = np.where(done, 0.0, table.with_bad(evidence.log_p(values, residuals, cleaned=cleaned), rows))
        worst = p.argmin(axis=1)
        least = p[np.arange(len(rows)), worst]
        for i in np.flatnonzero((least + several <= np.log(_FURTHER)) | (turn == 0)):
            unit = int(worst[i])
            found[i].append((unit, float(least[i])))
            done[i, unit] = True
            columns = list(table.units[unit].columns)
            cleaned[i, columns] = predicted[i, columns]
    return predicted
