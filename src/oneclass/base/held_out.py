"""The training rows, each judged by a model that did not see it."""

from __future__ import annotations

from abc import abstractmethod

from sklearn.utils.validation import check_is_fitted

from ..core.arrays import Array, clipped, namespace
from ..core.calibration import Calibration, HeldOut
from ..core.threshold import Decision

__all__ = ["HoldsOut"]


class HoldsOut:
    """Scores and p-values of the training rows, for a classifier that keeps what it held out."""

    decision_: Decision
    calibration_: Calibration | None

    @abstractmethod
    def _give(self, result: Array) -> Array:
        """The result as the user is to see it."""

    @property
    def held_out_scores_(self) -> Array:
        """Score of each training row, in their order, by a model that saw neither it nor, if given, its group.

        NaN for rows that nothing was learnt from, by their weight or label. Fits that do not judge every row, one by
        one and in memory, have none.
        """
        held_out = self._row_by_row("held_out_scores_")
        largest = float(namespace(held_out.losses).finfo(held_out.losses.dtype).max)
        return self._give(held_out.in_row_order(-clipped(held_out.losses, -largest, largest)))

    @property
    def held_out_p_values_(self) -> Array:
        """Conformal p-value of each training row: the rank of its held-out score among those of all others.

        With groups, among those of other groups. They are the ranks of the rows themselves, so a share alpha of them
        is at most alpha whatever the rows are; `screen` says which rows are odd.
        """
        held_out = self._row_by_row("held_out_p_values_")
        return self._give(held_out.in_row_order(held_out.p_values()))

    def _row_by_row(self, attribute: str) -> HeldOut:
        check_is_fitted(self)
        held_out: HeldOut | None = vars(self).get("held_out_")  # which files of earlier versions do not have
        if held_out is None:
            why = "chunks, Dask collections, streams and fits that judge a sample of the rows keep `calibration_` alone"
            if self.calibration_ is None:
                why = f"a fit with threshold={self.decision_.rule!r} judges none; fit with threshold='held_out'"
            raise AttributeError(f"{type(self).__name__}: {attribute} needs the held-out loss of every row, but {why}")
        return held_out
