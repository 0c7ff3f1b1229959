"""A stream as a river anomaly detector, with one row at a time, as a dict. Needs ``pip install 'oneclass[river]'``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from river.base import AnomalyDetector
from sklearn.base import clone

from ..base.warnings import ColumnWarning, warn
from .estimator import Stream

__all__ = ["RiverStream"]


class RiverStream(AnomalyDetector):
    """A `Stream` with the methods of a river anomaly detector, for river's pipelines and progressive evaluation.

    Parameters
    ----------
    stream : Stream, optional
        A stream with the parameters to use; None means ``Stream()``. The detector uses a copy of it. The copy learns
        rows in blocks of its parameter `every`.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass import Stream
    >>> from oneclass.stream.river import RiverStream
    >>> detector = RiverStream(Stream(window=500))
    >>> for a, b in np.random.default_rng(0).normal(size=(300, 2)):
    ...     detector.learn_one({"a": a, "b": b})
    >>> detector.score_one({"a": 9.0, "b": 9.0}) > 0.9 > 0.5 > detector.score_one({"a": 0.0, "b": 0.0})
    True
    """

    def __init__(self, stream: Stream | None = None) -> None:
        self.stream = stream
        self._stream = Stream() if stream is None else clone(stream)  # the parameter itself must not change
        self._columns: tuple[Any, ...] = ()
        self._ignored: set[Any] = set()

    def learn_one(self, x: dict[Any, float]) -> None:
        """Score a row, and learn from it as `Stream.partial_fit` does.

        Parameters
        ----------
        x : dict
            Value of each column, in any order. The first row defines the columns. If a later row has no value for a
            column, its usual value (median) is used. A column that is new in a later row is ignored, with a
            `ColumnWarning` at its first value.
        """
        self._columns = self._columns or tuple(sorted(x, key=repr))
        new = [column for column in x if column not in self._columns and column not in self._ignored]
        if new:
            self._ignored.update(new)
            warn(f"RiverStream: x has columns that the first row did not have, which are ignored: {new}", ColumnWarning)
        self._stream.partial_fit(self._row(x))

    def score_one(self, x: dict[Any, float]) -> float:
        """Return the anomaly score ``loss / (loss + threshold)``, which is above 0.5 for an alarm.

        Parameters
        ----------
        x : dict
            Value of each column, as in `learn_one`.

        Returns
        -------
        float
            A score from 0 to 1; zero until the stream has enough rows to start.
        """
        if not self._stream.__sklearn_is_fitted__():
            return 0.0
        loss, threshold = -float(self._stream.score_samples(self._row(x))[0]), -float(self._stream.offset_)
        # The sum of two large numbers may overflow, but the sum of their halves does not.
        return (loss / 2) / (loss / 2 + threshold / 2) if loss > 0 else 0.0

    def _row(self, x: dict[Any, float]) -> NDArray[np.float64]:
        """Return a table of one row, with usual values in place of those that are missing."""
        row = np.array([[x.get(column, np.nan) for column in self._columns]], dtype=float)
        return np.where(np.isnan(row), self._usual(), row) if np.any(np.isnan(row)) else row

    def _usual(self) -> NDArray[np.float64]:
        """Return the median of each column, by the scaling of the machine or the rows before it; 0 before all rows."""
        if self._stream.__sklearn_is_fitted__():
            return np.asarray(self._stream.scaler_.centre)
        opening = getattr(self._stream, "state_", None)
        return np.zeros(len(self._columns)) if opening is None else np.asarray(np.median(opening.X, axis=0))
