"""Comparison of a whole batch of rows with the training rows, and a warning if most rows of a batch are outliers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array, to_numpy
from ..core.batch_verdict import BatchVerdict, ColumnChange
from ..core.batches import mid_ranks, shift_p_value, simes
from ..core.calibration import Calibration, rows_needed
from ..core.column_summary import ColumnSummary
from ..core.column_tests import number_difference
from ..core.density_ratio import density_ratio, effective_size, weighted_p_values
from ..core.segments import RowSegments
from ..core.typing import Labels, Name, Rows
from ..engines.dask import is_dask
from ..engines.threads import on_one_thread
from .checks import check_number
from .judging import Judges
from .threads import by_one_fit

__all__ = ["ComparesBatches", "column_changes"]


class ComparesBatches(Judges):
    """Mixin with the method that compares a batch with the training rows."""

    scaler_: Any

    @abstractmethod
    def score_samples(self, X: Rows) -> Array:
        """How normal each row is."""

    @abstractmethod
    def _read(self, X: Rows) -> Array:
        """Validated rows."""

    @by_one_fit
    def compare_batch(
        self,
        X: Rows,
        *,
        confidence: float = 0.95,
        tail: str | None = None,
        segments: Labels | Name | None = None,
        X_train: Rows | None = None,
    ) -> BatchVerdict:
        """Compare a batch of new rows with the training rows.

        The result has a p-value of the batch, a lower bound on the number of odd rows (rows that are not drawn from the
        distribution of the training rows), and the columns that moved.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The batch. Its rows must be independent, like the training rows.
        confidence : float in (0, 1), default=0.95
            Probability of the bounds. 1 - confidence is the false-discovery rate among the columns that moved.
        tail : {None, "pareto"}, default=None
            P-values of rows beyond every held-out loss, as in `p_value`. With None and n held-out losses, the bound on
            the number of odd rows among m rows can only be positive if about m / (n + 1) / (1 - confidence) rows are
            beyond all of them.
        segments : array-like of shape (n_samples,), or the name or number of a column of `X`, optional
            The segment of each row, as in `predict`.
        X_train : array-like, optional
            The training rows, in the order of the fit. With them, the result also has p-values for a batch with another
            mix of the same kinds of rows: held-out losses are weighted by the ratio of the densities of the batch and
            of the training rows. Needs a fit with `held_out_scores_` and without segments.

        Returns
        -------
        BatchVerdict

        Examples
        --------
        >>> import numpy as np
        >>> from oneclass import KNNDetector
        >>> rng = np.random.default_rng(0)
        >>> model = KNNDetector().fit(rng.normal(size=(300, 3)))
        >>> batch = rng.normal(size=(100, 3))
        >>> batch[:30] += 4
        >>> model.compare_batch(batch)
        BatchVerdict: the batch differs from the training rows, p=1.5e-10
        tests: odd rows 0.011, losses 2.8e-05, columns 5.1e-11
        at least 26 of 100 rows are odd, 26 of the 35 flagged (confidence 0.95)
        columns that moved: 2, 0, 1
        """
        calibration = self._calibrated()
        confidence = check_number(self, "confidence", 0, 1, value=confidence)
        if is_dask(X):
            raise ValueError(f"{self._name}: X must be in memory for compare_batch, got a Dask collection")
        rows, known = self._segmented(X, segments)
        scores = to_numpy(self._answer(rows, lambda scores: scores))
        p = to_numpy(self._p_value(rows, tail, known)).astype(float)
        offset = self._offset_for(None, known)
        shift, p_shift = shift_p_value(_ranks(-scores, calibration, known))
        found = BatchVerdict({"odd rows": simes(p), "losses": p_shift}, shift, (), p, scores < offset, confidence)
        if X_train is not None:
            found = self._reweighted(found, rows, X_train)
        return found.with_columns(self._column_changes(rows))

    def _reweighted(self, found: BatchVerdict, rows: Rows, X_train: Rows) -> BatchVerdict:
        """The verdict with p-values that are weighted by the ratio of densities."""
        if self._segments is not None:
            raise ValueError(f"{self._name}: X_train must be None after a fit with segments")
        held_out = self._row_by_row("X_train in compare_batch")
        Z, batch = (to_numpy(self.scaler_(self._read(given))).astype(float) for given in (X_train, rows))
        n = len(held_out.losses) if held_out.learnt is None else len(held_out.learnt)
        if len(Z) != n:
            raise ValueError(f"{self._name}: X_train must hold the {n} training rows, got {len(Z)} rows")
        Z = Z if held_out.learnt is None else Z[to_numpy(held_out.learnt)]
        losses = to_numpy(held_out.losses).astype(float)
        finite = np.isfinite(losses)
        known = _on_host(held_out.only(finite).calibration())
        with on_one_thread(0, Z):  # many small products
            ratio, own = density_ratio(Z, batch)
        w = ratio[finite] * to_numpy(held_out.only(finite).weights)
        w = w[np.argsort(losses[finite])]
        size, needed = effective_size(w), rows_needed(self.decision_.delta) if self.decision_.delta else 1
        p = weighted_p_values(known.limits, w, -to_numpy(self.score_samples(rows)).astype(float), own)
        return replace(found, effective_size=size, reweighted=p if size >= needed else None)

    def _column_changes(self, rows: Rows) -> Iterator[ColumnChange]:
        """The difference of each column from the training rows, if the fit stored a summary of its columns."""
        seen: ColumnSummary | None = vars(self).get("column_summary_")
        if seen is not None:
            names = vars(self).get("feature_names_in_", range(len(seen.gaps)))
            yield from column_changes(seen, to_numpy(self._read(rows)), names)


def column_changes(seen: ColumnSummary, values: NDArray[np.floating], names: Iterable[Name]) -> Iterator[ColumnChange]:
    """The difference of each column of numbers from its summary."""
    for j, name in enumerate(names):
        column = values[:, j]
        known = column[~np.isnan(column)]
        yield ColumnChange(name, *number_difference(seen.quantiles[:, j], seen.rows - int(seen.gaps[j]), known))


def _ranks(
    losses: NDArray[np.floating], pooled: Calibration, known: RowSegments | None
) -> Iterator[tuple[NDArray[np.float64], float]]:
    """The ranks of the losses among those of training rows, by segment, and the weight of these rows."""
    if known is None:
        pooled = _on_host(pooled)
        yield mid_ranks(pooled, losses), pooled.total
        return
    for k in np.unique(known.codes):
        calibration = _on_host(pooled if k < 0 else known.segments.calibrations[k])
        yield mid_ranks(calibration, losses[known.codes == k]), calibration.total


def _on_host(calibration: Calibration) -> Calibration:
    """The calibration with NumPy arrays."""
    losses, reached = to_numpy(calibration.losses), to_numpy(calibration.reached)
    return Calibration(losses, reached, calibration.total, calibration.removed)
