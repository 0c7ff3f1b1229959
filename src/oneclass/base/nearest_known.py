"""The known outlier that each row resembles most, and whether this resemblance is why the row has a large loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..core.typing import Name

__all__ = ["NearestKnown"]

#: A row differs from a known outlier in a column if they are this far apart, in units in which a normal distribution
#: has the standard deviation 1; and most columns that are named.
_DIFFERS, _COLUMNS = 1.0, 3

Values = NDArray[Any]


@dataclass(frozen=True, eq=False)
class NearestKnown:
    """The known outlier nearest to each row.

    Attributes
    ----------
    numbers : int array of shape (n_rows,)
        Its number, counted from 1: known outliers in `y` first, then those in `outliers`, then answers.
    decides : bool array of shape (n_rows,)
        Whether the resemblance to known outliers adds more to the loss than the distance from the normal rows.
    values : array of shape (n_rows, n_columns)
        Values of the known outlier, in the user's units.
    gaps : array of shape (n_rows, n_columns)
        Distance of the row from the known outlier in each column, in scaled units.
    """

    numbers: NDArray[np.intp]
    decides: NDArray[np.bool_]
    values: Values
    gaps: NDArray[np.float64]

    def __getitem__(self, rows: Any) -> Self:
        """The same for some of the rows."""
        return replace(self, **{name: getattr(self, name)[rows] for name in ("numbers", "decides", "values", "gaps")})

    def in_columns(self, values: Callable[[Values], Values], gaps: Callable[[Values], Values]) -> Self:
        """The same in other columns, from functions that convert values and distances."""
        return replace(self, values=values(self.values), gaps=gaps(self.gaps))

    def causes(self, names: Sequence[Name]) -> list[str]:
        """For each row, "unlike the normal rows" or the known outlier that it is like, and in what they differ."""
        said = []
        for number, decides, gaps in zip(self.numbers, self.decides, self.gaps, strict=True):
            order = [j for j in np.argsort(-gaps, kind="stable")[:_COLUMNS] if gaps[j] >= _DIFFERS]
            but = f" (differs in {', '.join(str(names[j]) for j in order)})" if order else ""
            said.append(f"like known outlier {number}{but}" if decides else "unlike the normal rows")
        return said
