"""The verbs of a stream for tables: `TableDetector(Stream())` scores rows over time, and learns from them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.delegation import Delegates, if_wrapped_has
from ..core.typing import Labels, Rows
from .bad_cells import ALARMS, GAPS, BadCells
from .cells import Cells
from .plan import ColumnPlan
from .preparing import prepared

if TYPE_CHECKING:
    from ..core.typing import Name
    from ..stream import Event, Verdict

__all__ = ["StreamsTables"]


class StreamsTables(Delegates):
    """Base class with the verbs of a stream, which exist if the wrapped estimator is a stream.

    A subclass implements `_read`, `_keep` and `_unfitted`, and has the parameter `bad_cells`.
    """

    plan_: ColumnPlan
    bad_cells: str

    def _read(self, X: Rows, before: int | None = 0) -> tuple[dict[Name, Cells], BadCells]:
        raise NotImplementedError

    def _keep(self, plan: ColumnPlan, detector: Any) -> Self:
        raise NotImplementedError

    def _unfitted(self) -> Any:
        raise NotImplementedError

    @if_wrapped_has("watch")
    def watch(self, X: Rows, y: Labels | None = None, *, time: ArrayLike | None = None) -> Verdict:
        """Score the rows of a table, learn from them as `Stream.watch` does, and return the scores.

        The first call plans the columns, so give it as many rows as `fit` would get. Rows with bad cells are alarms and
        are not learned, unless `bad_cells` says otherwise.

        Parameters
        ----------
        X : table
            Rows in the order of arrival, normal rows and anomalies.
        y, time
            As in `Stream.watch`.

        Returns
        -------
        Verdict
            As from `Stream.watch`; the columns of its events are named as in ``plan_.made``.
        """
        if not hasattr(self, "plan_"):
            plan, rows, _ = prepared(self, X, None)  # type: ignore[arg-type]
            stream = self._unfitted()
            verdict: Verdict = stream.watch(rows, y, time=time)
            self._keep(plan, stream)
            return replace(verdict, events=self._named(verdict.events))
        stream = self._wrapped()
        read, bad = self._read(X, stream.n_seen_)
        alarms = bad.rows if self.bad_cells == "alarm" else np.zeros(bad.n, dtype=np.bool_)
        bad.warn(type(self).__name__, ALARMS if self.bad_cells == "alarm" else GAPS)
        verdict = stream.watch(self.plan_.coded(read), _told(y, alarms), time=time)
        return replace(verdict, labels=np.where(alarms, -1, verdict.labels), events=self._named(verdict.events))

    @if_wrapped_has("partial_fit")
    def partial_fit(self, X: Rows, y: Labels | None = None, *, time: ArrayLike | None = None) -> Self:
        """Score the rows of a table, then learn from them, as `watch` does.

        Parameters
        ----------
        X : table
            Rows in the order of arrival.
        y, time
            As in `Stream.partial_fit`.

        Returns
        -------
        self
            The detector.
        """
        self.watch(X, y, time=time)
        return self

    @if_wrapped_has("tell")
    def tell(self, rows: ArrayLike, normal: ArrayLike = True) -> Self:
        """Label earlier rows as normal or not, as `Stream.tell` does."""
        self._check_fitted()
        self._wrapped().tell(rows, normal)
        return self

    @if_wrapped_has("forget")
    def forget(self, event: Event) -> Self:
        """Undo the learning of the rows that an event adopted, as `Stream.forget` does."""
        self._check_fitted()
        known = {one.number: one for one in self._wrapped().events_}
        self._wrapped().forget(known.get(getattr(event, "number", None), event))
        return self

    @property
    def n_seen_(self) -> int:
        """Number of rows that the stream has seen."""
        seen: int = self._wrapped().n_seen_
        return seen

    @property
    def events_(self) -> tuple[Event, ...]:
        """The latest events of the stream, whose columns are named as in ``plan_.made``."""
        return self._named(self._wrapped().events_)

    def _named(self, events: tuple[Event, ...]) -> tuple[Event, ...]:
        made: tuple[Any, ...] = self.plan_.made
        return tuple(
            replace(event, columns=tuple(replace(moved, column=made[moved.column]) for moved in event.columns))
            for event in events
        )


def _told(y: Labels | None, alarms: NDArray[np.bool_]) -> Any:
    """The labels for the stream, by which rows with bad cells are anomalies."""
    if not alarms.any():
        return y
    return np.where(alarms, -1, np.zeros(len(alarms), dtype=int) if y is None else np.asarray(y))
