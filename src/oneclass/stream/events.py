"""Events of a stream: changes that it suspected, adopted or undid."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated

import numpy as np

from ..core.notebook import ROWS, InNotebook
from ..core.stored import Count, OneOf
from .memory import Vector

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Event", "Events", "Moved", "moved"]

#: Largest number of columns that an event names. No recorded measurement.
_MAX_COLUMNS = 5
#: Smallest change of a median, in standard deviations of the column, at which an event names it. No recorded
#: measurement.
_MIN_CHANGE = 0.5
#: Interquartile range of a normal distribution, in standard deviations.
_NORMAL_IQR = 1.349


@dataclass(frozen=True)
class Moved:
    """A column whose median changed: its position, and the medians before and after.

    In events of a table, `column` is the name of the encoded column.
    """

    column: Count
    before: float
    after: float


@dataclass(frozen=True, repr=False)
class Event:
    """A change in the data of a stream that the stream suspected, adopted or undid.

    Parameters
    ----------
    number : int
        Number of the event, from 0.
    row : int
        Number of rows that the stream had seen when the event happened.
    time : float
        Time up to which the stream had processed rows, by its clock; without a clock, the number of learned rows.
    kind : str
        ``"strange"``: more than half of the rows of a stretch are alarms, and they are held back. ``"change"``: new
        rows that replaced the earlier data were learned, possibly provisionally (`Patience.trial`). ``"mode"``: a new
        kind of rows besides the earlier data was learned. ``"wider"``: scattered rows around the earlier data were
        learned. ``"shift"``: the test for change rejected. ``"forgotten"``: the learning of a change, mode or wider
        rows was undone.
    rows : tuple of int
        Numbers of the rows that the event is about.
    evidence : float
        Strength of the evidence. Without a trial: the number of rows beyond the share that anomalies may have
        (`Patience`). With a trial: the logarithm of the likelihood ratio of a change to a burst. For ``"shift"``: the
        logarithm of the value of the test martingale, or 0 with another detector.
    columns : tuple of Moved
        Columns whose medians changed most, with the largest change first.
    """

    number: Count
    row: Count
    time: float
    kind: Annotated[str, OneOf("strange", "change", "mode", "wider", "shift", "forgotten")]
    rows: tuple[Count, ...]
    evidence: float
    columns: tuple[Moved, ...] = ()

    def __repr__(self) -> str:
        where = f", columns {', '.join(f'{change.column}' for change in self.columns)}" if self.columns else ""
        return f"Event({self.kind} at row {self.row}, {len(self.rows)} rows{where})"


class Events(tuple[Event, ...], InNotebook):
    """Events in the order in which they happened: a tuple with a table for notebooks."""

    __slots__ = ()

    @property
    def _title(self) -> str:
        return f"{len(self)} events" + (f", the last a {self[-1].kind} at row {self[-1].row}" if self else "")

    def __repr__(self) -> str:
        return InNotebook.__repr__(self)

    def _table(self) -> tuple[list[str], list[list[object]], int]:
        rows: list[list[object]] = [
            [event.row, event.kind, len(event.rows), ", ".join(f"{change.column}" for change in event.columns)]
            for event in self[-ROWS:]
        ]
        return ["at row", "kind", "rows", "columns"], rows, len(self)

    def to_frame(self) -> pd.DataFrame:
        """The events as a pandas data frame; its columns are the fields of `Event`."""
        import pandas as pd

        names = [field.name for field in fields(Event)]
        return pd.DataFrame([[getattr(event, name) for name in names] for event in self], columns=names)


def moved(before: Vector, after: Vector) -> tuple[Moved, ...]:
    """Return the columns whose medians differ most between the rows `before` and the rows `after`."""
    if not len(before) or not len(after):
        return ()
    low, old, high = np.quantile(before, [0.25, 0.5, 0.75], axis=0)
    new = np.median(after, axis=0)
    # The smallest float as a spread: in a column that was constant, any other value is a change.
    spread = np.where(high > low, (high - low) / _NORMAL_IQR, np.finfo(float).tiny)
    with np.errstate(over="ignore"):
        far = np.abs(new - old) / spread
    order = np.argsort(-far, kind="stable")[:_MAX_COLUMNS]
    return tuple(Moved(int(j), float(old[j]), float(new[j])) for j in order if far[j] > _MIN_CHANGE)
