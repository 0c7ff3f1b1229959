"""The rows that a stream still holds, and what became of each."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.stored import Flags, Floats, Whole

__all__ = ["Mask", "Memory", "Numbers", "Vector"]

#: Numbers, of rows and of their columns; whether; and places, or numbers of rows.
Vector = NDArray[np.float64]
Mask = NDArray[np.bool_]
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Memory:
    """Rows in the order of their coming; columns of this table are arrays with one entry a row."""

    X: Annotated[Vector, Floats("_n? d")]
    Z: Annotated[Vector, Floats("_n? d")]  # the rows as the plan in force scales them
    number: Annotated[Numbers, Whole("_n?")]  # of the row in the stream
    #: By the clock, or by what had been learned when it came; NaN of a row that is not learned yet.
    time: Annotated[Vector, Floats("_n?", finite=False)]
    #: Weight at which it is learned, before any forgetting; NaN of a row for which that is not decided.
    trust: Annotated[Vector, Floats("_n?", finite=False)]
    loss: Annotated[Vector, Floats("_n?")]  # before it was learned, in the units of the plan in force
    alarm: Annotated[Mask, Flags("_n?")]
    counted: Annotated[Mask, Flags("_n?")]  # believed normal: its loss is among those that the threshold is put on
    waiting: Annotated[Mask, Flags("_n?")]  # strange, and not decided on

    @classmethod
    def of(cls, X: Vector, Z: Vector, *, number: int, time: Vector, loss: Vector, alarm: Mask, trust: Vector) -> Memory:
        """Rows that have just been judged, the first of them with this number."""
        n = len(X)
        none = np.zeros(n, dtype=bool)
        return cls(X, Z, np.arange(number, number + n), time, trust, loss, alarm, none, none)

    def __len__(self) -> int:
        return len(self.number)

    def __add__(self, later: Memory) -> Memory:
        parts = ((getattr(self, field.name), getattr(later, field.name)) for field in fields(self))
        return Memory(*(np.concatenate(pair) for pair in parts))

    def __getitem__(self, which: slice | Mask | Numbers) -> Memory:
        """The rows that a mask, a slice or places name."""
        return Memory(*(getattr(self, field.name)[which] for field in fields(self)))

    def where(self, mask: Mask, **values: ArrayLike) -> Memory:
        """The same rows, with other values for those of the mask."""
        changed = {}
        for name, value in values.items():
            column = getattr(self, name).copy()
            column[mask] = value
            changed[name] = column
        return replace(self, **changed)
