"""Events of a stream: changes that it suspected, adopted or undid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ..core.stored import Count, OneOf
from .memory import Vector

__all__ = ["Event", "Moved", "moved"]

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


@dataclass(frozen=True)
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
