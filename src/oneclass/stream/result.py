"""The result of scoring rows with a stream, and the rows that a stream collects before it starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..core.notebook import ROWS, InNotebook
from .events import Event
from .memory import Numbers, Vector

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Opening", "Verdict"]


@dataclass(frozen=True, repr=False)
class Verdict(InNotebook):
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

    @property
    def _title(self) -> str:
        alarms = int((self.labels < 0).sum())
        return f"{len(self.rows)} rows, {alarms} alarms, {len(self.events)} events"

    def _table(self) -> tuple[list[str], list[list[object]], int]:
        alarms = np.flatnonzero(self.labels < 0)
        rows: list[list[object]] = [[int(self.rows[i]), float(self.scores[i])] for i in alarms[:ROWS]]
        return ["alarm in row", "score"], rows, len(alarms)

    def to_frame(self) -> pd.DataFrame:
        """The rows as a pandas data frame with the columns ``row``, ``score`` and ``label``."""
        import pandas as pd

        return pd.DataFrame({"row": self.rows, "score": self.scores, "label": self.labels})


@dataclass(frozen=True)
class Opening:
    """Rows that a stream collects until there are enough to start."""

    X: Vector
    time: Vector
    told: Vector  # 1 if labelled as normal, 0 if labelled as an anomaly, NaN without a label
