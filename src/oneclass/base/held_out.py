"""Held-out scores and p-values of the training rows."""

from __future__ import annotations

from abc import abstractmethod

from sklearn.utils.validation import check_is_fitted

from ..core.arrays import Array, clipped, namespace
from ..core.calibration import Calibration, HeldOut
from ..core.segments import Segments
from ..core.threshold import Decision

__all__ = ["HoldsOut"]


class HoldsOut:
    """Mixin with held-out scores and p-values of the training rows."""

    decision_: Decision
    calibration_: Calibration | None

    @abstractmethod
    def _give(self, result: Array) -> Array:
        """The result in the form that the user gets."""

    @property
    def held_out_scores_(self) -> Array:
        """Score of each training row, by a model fitted without the row and without the rows of its group.

        Rows that were not training rows because of their weight or label have NaN. Fits that do not compute a held-out
        loss for each row, such as fits on chunks, do not have this attribute.
        """
        held_out = self._row_by_row("held_out_scores_")
        largest = float(namespace(held_out.losses).finfo(held_out.losses.dtype).max)
        return self._give(held_out.in_row_order(-clipped(held_out.losses, -largest, largest)))

    @property
    def held_out_p_values_(self) -> Array:
        """Conformal p-value of each training row: the rank of its held-out score among those of all other rows.

        With groups, it is the rank among the rows of other groups; with segments, among the rows of its segment.
        Because the p-values are ranks of the training rows themselves, about a share alpha of them is at most alpha,
        even if no row is anomalous. To find anomalous rows, use `screen`.
        """
        held_out = self._row_by_row("held_out_p_values_")
        segments: Segments | None = vars(self).get("segments_")
        found = held_out.p_values() if segments is None else segments.held_out_p_values(held_out)
        return self._give(held_out.in_row_order(found))

    def _row_by_row(self, attribute: str) -> HeldOut:
        check_is_fitted(self)
        held_out: HeldOut | None = vars(self).get("held_out_")  # models saved by earlier versions lack it
        if held_out is None:
            why = (
                "fits on chunks, Dask collections, streams, a sample of the rows, or rows that count as copies, keep "
                "only `calibration_`"
            )
            if self.calibration_ is None:
                why = f"a fit with threshold={self.decision_.rule!r} computes none; fit with threshold='held_out'"
            raise AttributeError(f"{type(self).__name__}: {attribute} needs the held-out loss of every row, but {why}")
        return held_out
