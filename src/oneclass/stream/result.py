"""What a stream says of rows, and the rows that came before it could say anything."""

from __future__ import annotations

from dataclasses import dataclass

from .events import Event
from .memory import Numbers, Vector

__all__ = ["Opening", "Verdict"]


@dataclass(frozen=True)
class Verdict:
    """What a stream said of rows before it learned them.

    Parameters
    ----------
    rows : array of shape (n,)
        Numbers of the rows in the stream, by which labels may be told later.
    scores : array of shape (n,)
        How normal each was; larger is more normal.
    labels : array of shape (n,)
        +1 for normal rows, -1 for alarms.
    events : tuple of Event
        What happened to the world meanwhile.
    """

    rows: Numbers
    scores: Vector
    labels: Numbers
    events: tuple[Event, ...]


@dataclass(frozen=True)
class Opening:
    """Rows that came before there were enough to begin."""

    X: Vector
    time: Vector
    told: Vector
