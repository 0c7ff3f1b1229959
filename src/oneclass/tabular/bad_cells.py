"""Cells of new rows that are not of their columns, such as words in a column of numbers, and what becomes of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.warnings import ColumnWarning, warn
from ..core.typing import Name
from ..io.messages import listed
from .cells import Words
from .text import comma_hint

__all__ = ["ALARMS", "BAD_CELLS", "GAPS", "LARGEST_LOSS", "BadCells", "BadColumn", "Tally", "with_alarms"]

#: The loss of a row that has a bad cell: that of rows whose loss overflows.
LARGEST_LOSS = float(np.finfo(np.float64).max)

#: Values of the parameter `bad_cells`: the row is an outlier, the cell is missing, or the table is refused.
BAD_CELLS = ("alarm", "gap", "refuse")

#: What a warning says of bad cells whose rows are outliers, and of those that are taken for missing values.
ALARMS = "rows are outliers because a cell is not a value of its column"
GAPS = "cells are treated as missing values"


@dataclass(frozen=True)
class BadColumn:
    """Mask of the bad cells of a column, all its cells as words, and what they must hold."""

    mask: NDArray[np.bool_]
    words: Words
    wanted: str

    def values(self) -> list[str | None]:
        """The distinct bad cells."""
        return self.words.where(self.mask)


@dataclass(frozen=True)
class BadCells:
    """The bad cells of a table of `n` rows, by column."""

    n: int
    columns: Mapping[Name, BadColumn]

    def __bool__(self) -> bool:
        return bool(self.columns)

    @cached_property
    def rows(self) -> NDArray[np.bool_]:
        """Mask of the rows that have a bad cell."""
        masks = [column.mask for column in self.columns.values()]
        return np.any(masks, axis=0) if masks else np.zeros(self.n, dtype=np.bool_)

    def warn(self, owner: str, what: str) -> None:
        """Raise a warning that counts the bad cells, if there are any."""
        tally = Tally()
        tally.add(self)
        tally.warn(owner, what)

    def refuse(self, owner: str, before: int | None) -> None:
        """Raise an error about the first column that has bad cells; `before` rows preceded the table."""
        for name, column in self.columns.items():
            found = column.values()
            told = before is not None and self.n > 1  # the number of a single row is known to the user
            row = f", first in row {(before or 0) + int(column.mask.argmax()) + 1}" if told else ""
            raise ValueError(
                f"{owner}: column {name!r} must hold {column.wanted} in every cell, as at the fit, but holds "
                f"{listed(found)}{row}{comma_hint(found)}"
            )


class Tally:
    """Counts of the bad cells of tables that are read one after the other; `rows` is the number of rows so far."""

    def __init__(self) -> None:
        self._found: dict[Name, dict[str, Any]] = {}
        self.rows = 0

    def add(self, bad: BadCells) -> None:
        """Count the bad cells of the next table."""
        for name, column in bad.columns.items():
            first = self.rows + int(column.mask.argmax()) + 1
            known = self._found.setdefault(name, {"count": 0, "first": first, "values": {}, "wanted": column.wanted})
            known["count"] += int(column.mask.sum())
            known["values"] |= dict.fromkeys(column.values())
        self.rows += bad.n

    def warn(self, owner: str, what: str) -> None:
        """Raise one warning with the counts, if there are any; `what` says what becomes of the rows or cells."""
        if self._found:
            said = "; ".join(
                f"column {name!r}: {known['count']} not {known['wanted']}: {listed(known['values'])}"
                + (f", first in row {known['first']}" if self.rows > 1 else "")  # the user knows the number of one row
                + comma_hint([*known["values"]])
                for name, known in self._found.items()
            )
            warn(f"{owner}: {what}: {said}", ColumnWarning)


def with_alarms(name: str, found: Any, bad: BadCells, model: Any, options: Mapping[str, object]) -> Any:
    """Scores, labels or p-values in which the rows with bad cells are as anomalous as a row can be."""
    worst: Any = -LARGEST_LOSS
    if name == "segment":
        return found
    if name in ("label", "predict"):
        worst = -1
    elif name == "p_value":
        worst = model.calibration_.p_value(np.array([LARGEST_LOSS]), options.get("tail"))[0]
    return np.where(bad.rows, worst, found)
