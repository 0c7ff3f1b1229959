"""The table of the rows that a stream keeps, with the loss, trust and status of each row."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.stored import Flags, Floats, Whole

__all__ = ["Mask", "Memory", "Numbers", "Vector"]

#: An array of floats, of one or two dimensions.
Vector = NDArray[np.float64]
#: An array of truth values, one per row.
Mask = NDArray[np.bool_]
#: An array of row numbers or of indices.
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Memory:
    """A table of rows in the order of arrival. Each field is a column of the table, with one entry per row."""

    X: Annotated[Vector, Floats("_n? d")]
    Z: Annotated[Vector, Floats("_n? d")]  # rows scaled by the current plan
    number: Annotated[Numbers, Whole("_n?")]  # number of the row in the stream
    #: Time by the clock; without a clock, the sum of trust learned up to this row; NaN until the row is learned.
    time: Annotated[Vector, Floats("_n?", finite=False)]
    #: Weight with which the row is learned, before forgetting; NaN until that is decided.
    trust: Annotated[Vector, Floats("_n?", finite=False)]
    loss: Annotated[Vector, Floats("_n?")]  # loss before the row was learned, in the units of the current plan
    alarm: Annotated[Mask, Flags("_n?")]
    counted: Annotated[Mask, Flags("_n?")]  # accepted as normal: the threshold may depend on the loss of the row
    waiting: Annotated[Mask, Flags("_n?")]  # held back: neither learned nor rejected yet

    @classmethod
    def of(cls, X: Vector, Z: Vector, *, number: int, time: Vector, loss: Vector, alarm: Mask, trust: Vector) -> Memory:
        """Return a table of rows that were just scored. The first row has this number."""
        n = len(X)
        none = np.zeros(n, dtype=bool)
        return cls(X, Z, np.arange(number, number + n), time, trust, loss, alarm, none, none)

    def __len__(self) -> int:
        return len(self.number)

    def __add__(self, later: Memory) -> Memory:
        parts = ((getattr(self, field.name), getattr(later, field.name)) for field in fields(self))
        return Memory(*(np.concatenate(pair) for pair in parts))

    def __getitem__(self, which: slice | Mask | Numbers) -> Memory:
        """Return the rows that a slice, a mask or indices select."""
        return Memory(*(getattr(self, field.name)[which] for field in fields(self)))

    def where(self, mask: Mask, **values: ArrayLike) -> Memory:
        """Return the table with these values in the rows of the mask."""
        changed = {}
        for name, value in values.items():
            column = getattr(self, name).copy()
            column[mask] = value
            changed[name] = column
        return replace(self, **changed)
