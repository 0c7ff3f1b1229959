"""The result of scoring rows with a stream, and the rows that a stream collects before it starts."""

from __future__ import annotations

from dataclasses import dataclass

from .events import Event
from .memory import Numbers, Vector

__all__ = ["Opening", "Verdict"]


@dataclass(frozen=True)
class Verdict:
    """The scores and labels of rows before a stream learned them.

    Parameters
    ----------
    rows : array of shape (n,)
        Numbers of the rows in the stream, for labels that arrive later (`Stream.tell`).
    scores : array of shape (n,)
        Score of each row; larger is more normal.
    labels : array of shape (n,)
        +1 for normal rows, -1 for alarms.
    events : tuple of Event
        Events during this call, such as changes that the stream adopted.
    """

    rows: Numbers
    scores: Vector
    labels: Numbers
    events: tuple[Event, ...]


@dataclass(frozen=True)
class Opening:
    """Rows that a stream collects until there are enough to start."""

    X: Vector
    time: Vector
    told: Vector  # 1 if labelled as normal, 0 if labelled as an anomaly, NaN without a label
