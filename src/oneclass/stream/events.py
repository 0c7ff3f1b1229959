"""What a stream tells about itself: changes that were suspected, adopted or taken back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ..core.stored import Count, OneOf
from .memory import Vector

__all__ = ["Event", "Moved", "moved"]

#: Columns that an event names, and how far a median must go, in units of the column's spread, to be named.
_NAMED, _FAR = 5, 0.5


@dataclass(frozen=True)
class Moved:
    """A column, by position, whose median moved."""

    column: Count
    before: float
    after: float


@dataclass(frozen=True)
class Event:
    """Something that happened to the world of a stream.

    Parameters
    ----------
    number : int
        Of the event, from 0.
    row : int
        Rows that the stream had seen when it happened.
    time : float
        The time of the last of them, by the stream's clock.
    kind : str
        ``"strange"``: most rows of a stretch are alarms, and wait. ``"change"``: a world that replaced the old one was
        adopted, maybe on trial. ``"mode"``: a kind of rows beside the old ones was adopted. ``"wider"``: scattered rows
        around the old ones were adopted. ``"shift"``: the test of change rejected. ``"forgotten"``: an adoption was
        taken back.
    rows : tuple of int
        Numbers of the rows that it is about.
    evidence : float
        Rows in excess of what anomalies may take (`Patience`), the logarithm of the odds of a trial, or that of the
        test's wealth.
    columns : tuple of Moved
        Columns that moved most, the first the farthest.
    """

    number: Count
    row: Count
    time: float
    kind: Annotated[str, OneOf("strange", "change", "mode", "wider", "shift", "forgotten")]
    rows: tuple[Count, ...]
    evidence: float
    columns: tuple[Moved, ...] = ()


def moved(before: Vector, after: Vector) -> tuple[Moved, ...]:
    """The columns whose median moved most from some rows to others."""
    if not len(before) or not len(after):
        return ()
    low, old, high = np.quantile(before, [0.25, 0.5, 0.75], axis=0)
    new = np.median(after, axis=0)
    # A column that was constant moves as soon as it is another.
    spread = np.where(high > low, (high - low) / 1.349, np.finfo(float).tiny)
    with np.errstate(over="ignore"):
        far = np.abs(new - old) / spread
    order = np.argsort(-far, kind="stable")[:_NAMED]
    return tuple(Moved(int(j), float(old[j]), float(new[j])) for j in order if far[j] > _FAR)
