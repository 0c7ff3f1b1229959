"""The columns of a table as units that are judged: each with its columns of the encoded matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.typing import Name

__all__ = ["Sheet", "Unit", "blocks_of", "current_sheet", "sheet_of_matrix", "using_sheet"]

#: Upper bound on the regressions of one pass. With more units, some are left out of the kernel together.
_REGRESSIONS = 64


@dataclass(frozen=True)
class Unit:
    """A column of a table, and its columns of the encoded matrix; the codes of a category are judged jointly.

    `gap` is the encoded column that marks missing values, if there is one.
    """

    name: Name
    columns: tuple[int, ...]
    category: bool = False
    gap: int | None = None

    def moved(self, place: Mapping[int, int]) -> Unit:
        """Return the unit with other numbers for its columns."""
        gap = None if self.gap is None else place[self.gap]
        return Unit(self.name, tuple(place[j] for j in self.columns), self.category, gap)


@dataclass(frozen=True)
class Sheet:
    """How an encoded matrix belongs to a table.

    `values` returns the cells of some rows, and `restore` the cells that encoded rows stand for, both with one column
    for each unit. `missing` marks missing cells (rows x units); None if there are none. `bad` marks those of them that
    hold something that is no value of their column, such as ``#REF!`` among numbers; these cells are wrong.
    """

    units: tuple[Unit, ...]
    values: Callable[[NDArray[np.intp]], NDArray[Any]]
    restore: Callable[[NDArray[np.float64]], NDArray[Any]]
    missing: NDArray[np.bool_] | None = None
    bad: NDArray[np.bool_] | None = None

    def through(self, of: NDArray[np.intp], restore: Callable[[NDArray[np.float64]], NDArray[Any]]) -> Sheet:
        """Return the sheet of rows that a preprocessing step computes from the encoded rows.

        `of` holds the encoded column that each computed column comes from; `restore` inverts the step.
        """
        units = []
        for unit in self.units:
            places = np.flatnonzero(np.isin(of, unit.columns))
            gap = None if unit.gap is None else next(iter(np.flatnonzero(of == unit.gap).tolist()), None)
            category = unit.category or len(places) > len(unit.columns)
            units.append(Unit(unit.name, tuple(places.tolist()), category, gap))
        return Sheet(tuple(units), self.values, lambda Z: self.restore(restore(Z)), self.missing, self.bad)

    def varying(self, X: NDArray[np.floating]) -> list[int]:
        """Return the numbers of the units that are not constant in the encoded rows, or have bad cells."""
        varies = X.max(axis=0) > X.min(axis=0)
        bad = set() if self.bad is None else set(np.flatnonzero(self.bad.any(axis=0)).tolist())
        return [k for k, unit in enumerate(self.units) if k in bad or varies[list(unit.columns)].any()]


def sheet_of_matrix(X: NDArray[np.floating], names: Sequence[Name]) -> Sheet:
    """Return the sheet of a matrix of numbers."""
    units = tuple(Unit(name, (j,)) for j, name in enumerate(names))
    return Sheet(units, lambda rows: X[rows], lambda Z: Z)


def blocks_of(units: Sequence[Unit]) -> Iterator[tuple[int, ...]]:
    """Yield the columns that each regression leaves out of the kernel: those of one unit, or of some of many units."""
    count = min(len(units), _REGRESSIONS)
    for k in range(count):
        yield tuple(j for unit in units[k::count] for j in unit.columns)


_SHEET: ContextVar[Sheet | None] = ContextVar("sheet", default=None)


@contextmanager
def using_sheet(sheet: Sheet | None) -> Iterator[None]:
    """Judge the cells of this sheet in screens inside the `with` block; with None, those of the matrix itself."""
    token = _SHEET.set(sheet)
    try:
        yield
    finally:
        _SHEET.reset(token)


def current_sheet() -> Sheet | None:
    """Return the sheet of the `with` block; None outside of one."""
    return _SHEET.get()
