"""The verbs that judge rows by the threshold or by p-values, within segments if the fit had segments."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array, device, namespace, to_numpy
from ..core.batch_verdict import ColumnChange
from ..core.calibration import Calibration, benjamini_hochberg
from ..core.pareto_tail import TAILS
from ..core.segments import RowSegments, SegmentRate, Segments, rates_by_segment
from ..core.typing import Labels, Name, Rows
from ..engines.dask import is_dask
from .alarms import is_no_chance, warn_of_alarms
from .checks import check_choice, check_number
from .groups import label_texts
from .held_out import HoldsOut
from .parameter_docs import complete_docstrings
from .rates import warn_below_smallest, warn_too_coarse
from .segments import read_segment_texts, segments_of, warn_of_few
from .threads import by_one_fit

__all__ = ["Judges", "beside", "labels_of"]


class Judges(HoldsOut):
    """Mixin with the verbs that judge rows: labels, p-values, and the false-alarm rate that they keep."""

    offset_: float

    @property
    @abstractmethod
    def _name(self) -> str:
        """Name of the class."""

    @abstractmethod
    def _check_fitted(self) -> None:
        """Raise an error before a fit."""

    @abstractmethod
    def _answer(self, X: Rows, verb: Callable[[Array], Array], *, recognise: bool = False) -> Array:
        """`verb` applied to the scores of the rows; if `recognise`, a warning is raised for training rows."""

    def _calibrated(self) -> Calibration:
        self._check_fitted()
        if self.calibration_ is None:
            raise ValueError(
                f"{self._name}: p-values and other budgets need held-out losses, which a fit with threshold="
                f"{self.decision_.rule!r} does not compute; fit with threshold='held_out'"
            )
        return self.calibration_

    @property
    def _segments(self) -> Segments | None:
        """The segments of the fit; None without segments, as in models saved by earlier versions."""
        known: Segments | None = vars(self).get("segments_")
        return known

    def _segmented(self, X: Rows, segments: Labels | Name | None) -> tuple[Rows, RowSegments | None]:
        """Rows without a column of segments, and their segments."""
        return segments_of(self, X, segments, self.calibration_)  # type: ignore[arg-type]

    @by_one_fit
    def decision_function(self, X: Rows, *, segments: Labels | Name | None = None) -> Array:
        """Score minus `offset_`: negative for outliers. With segments, score minus the threshold of the segment.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to judge.
        {segments_of_rows}

        Returns
        -------
        array of shape (n_samples,)
            Signed distance of the score from the threshold.
        """
        self._check_fitted()
        rows, known = self._segmented(X, segments)
        offset = self._offset_for(None, known)
        return self._answer(rows, lambda scores: scores - beside(offset, scores))

    @by_one_fit
    def predict(self, X: Rows, *, delta: float | None = None, segments: Labels | Name | None = None) -> Array:
        """Label each row: +1 for the target class, -1 for an outlier.

        If more than half of ten or more rows are outliers, and that has a probability of less than one in a million for
        normal rows, a `ShiftedBatchWarning` names the columns that moved. If more than half of ten or more rows are
        training rows, a `TrainingRowsWarning` is raised: the model has learned them, with their mistakes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to label.
        delta : float in [0, 1), optional
            False-alarm rate to use instead of that of the fit, without fitting again. The threshold is then the
            (1 - delta) quantile of the held-out losses, whatever `threshold` is. This needs a fit that has held-out
            losses (`calibration_` is not None).
        {segments_of_rows}

        Returns
        -------
        array of shape (n_samples,)
            Labels.
        """
        self._check_fitted()
        rows, known = self._segmented(X, segments)
        offset = self._offset_for(delta, known)
        labels = self._answer(rows, lambda scores: labels_of(scores >= beside(offset, scores)), recognise=True)
        if not is_dask(X):
            self._warn_of_alarms(rows, labels, delta, known)
        return labels

    def _warn_of_alarms(self, rows: Rows, labels: Array, delta: float | None, known: RowSegments | None) -> None:
        """Warn if so many rows are outliers that it cannot be chance; rows of one group may all be by chance."""
        calibration, held_out = self.calibration_, vars(self).get("held_out_")
        grouped = held_out is not None and held_out.groups is not None and not held_out.groups.alone
        if calibration is None or grouped or (delta is None and not self.decision_.held_out):
            return
        flagged, n = int(namespace(labels).count_nonzero(labels < 0)), int(labels.shape[0])
        used = [calibration] if known is None else [calibration, *known.calibrations.values()]
        if is_no_chance(used, self._rate_of(delta), flagged, n):
            warn_of_alarms(self._name, flagged, n, lambda: self._column_changes(rows))

    @abstractmethod
    def _column_changes(self, rows: Rows) -> Iterator[ColumnChange]:
        """The difference of each column from the training rows."""

    def _offset_for(self, delta: float | None, known: RowSegments | None = None) -> float | NDArray[np.float64]:
        """Threshold on the scores for a false-alarm rate, by default that of the fit; with segments, for each row."""
        self._check_fitted()
        if delta is not None:
            delta = check_number(self, "delta", 0, 1, value=delta, closed_low=True)
            calibration = self._calibrated()
            if known is None:
                warn_below_smallest(self._name, calibration, "delta", delta)
                return -calibration.threshold(delta)
            warn_of_few(self._name, known, delta)
        return self.offset_ if known is None else -known.thresholds(self._rate_of(delta))

    def _rate_of(self, delta: float | None) -> Callable[[float], float]:
        """The rate to request from held-out losses of a total weight: `delta` or, if it is None, that of the fit."""
        return self.decision_.budget if delta is None else lambda total: delta

    @by_one_fit
    def false_alarm_interval(
        self, *, delta: float | None = None, confidence: float = 0.95, segment: object = None
    ) -> tuple[float, float]:
        """Confidence interval for this model's false-alarm rate.

        `delta` refers to the mean over training sets; the rate of one fitted model varies around it. The interval is
        exact for rows that are split off before the fit, and an approximation for leave-one-out and folds.

        Parameters
        ----------
        delta : float in [0, 1), optional
            False-alarm rate given to `predict`; by default that of the fit.
        confidence : float in (0, 1), default=0.95
            Probability that the interval contains the rate.
        segment : label, optional
            Segment whose rate it is, if the fit had `segments`. By default it is the rate of all rows by the threshold
            for rows of no known segment.

        Returns
        -------
        (float, float)
            Lower and upper bound of the two-sided interval.
        """
        calibration = self._calibrated()
        confidence = check_number(self, "confidence", 0, 1, value=confidence)
        if delta is not None:
            delta = check_number(self, "delta", 0, 1, value=delta, closed_low=True)
        elif not self.decision_.held_out:
            raise ValueError(
                f"{self._name}: delta must be given, got None: the threshold of this fit, {self.decision_.rule!r}, "
                "does not use held-out losses, so that its false-alarm rate is unknown"
            )
        rate_of = self._rate_of(delta)
        if segment is not None:
            found = self._rate_in(segment, rate_of, confidence)
            return found.low, found.high
        return calibration.false_alarm_interval(rate_of(calibration.total), confidence)

    @by_one_fit
    def segment_rates(
        self, *, segments: Labels | None = None, delta: float | None = None, confidence: float = 0.95
    ) -> list[SegmentRate]:
        """False-alarm rate of each segment, and how often the threshold of all rows rejects its training rows.

        A rate that holds on average over all rows may be much higher in a small part of them. This is shown by
        `unsegmented`, also for labels that the fit did not have: then `rate`, `low` and `high` are those that a fit
        with these `segments` would give.

        Parameters
        ----------
        segments : array-like of shape (n_samples,), optional
            A label for each training row, in the order of the fit; by default the segments of the fit.
        delta : float in [0, 1), optional
            False-alarm rate given to `predict`; by default that of the fit.
        confidence : float in (0, 1), default=0.95
            Probability that an interval contains the rate.

        Returns
        -------
        list of SegmentRate
            One tuple for each segment, with named fields; none without segments.

        Examples
        --------
        >>> import numpy as np
        >>> from oneclass import KNNDetector
        >>> rng = np.random.default_rng(0)
        >>> site = np.repeat(["A", "B"], [360, 40])
        >>> X = rng.normal(size=(400, 2)) * np.where(site == "A", 1, 3)[:, None]
        >>> model = KNNDetector(delta=0.05).fit(X)
        >>> [(found.segment, round(found.unsegmented, 2)) for found in model.segment_rates(segments=site)]
        [('A', 0.0), ('B', 0.45)]
        >>> model = KNNDetector(delta=0.05).fit(X, segments=site)
        >>> [(found.segment, round(found.rate, 2)) for found in model.segment_rates()]
        [('A', 0.05), ('B', 0.05)]
        """
        self._check_fitted()
        known = self._segments if segments is None else self._segments_by(segments)
        if known is None:
            return []
        calibration = self._calibrated()
        confidence = check_number(self, "confidence", 0, 1, value=confidence)
        if delta is not None:
            delta = check_number(self, "delta", 0, 1, value=delta, closed_low=True)
        limit = -self.offset_ if delta is None else calibration.threshold(delta)
        return rates_by_segment(known, limit, self._rate_of(delta), confidence)

    def _segments_by(self, segments: Labels) -> Segments:
        """The segments of a fit with these labels of the training rows."""
        held_out = self._row_by_row("segment_rates")
        given = np.ones(len(held_out.losses), dtype=bool) if held_out.learnt is None else to_numpy(held_out.learnt)
        texts = read_segment_texts(self._name, segments, len(given))
        return Segments.of(held_out, texts[given], self.decision_)

    def _rate_in(self, segment: object, rate_of: Callable[[float], float], confidence: float) -> SegmentRate:
        """The rate of the segment with this label."""
        known = self._segments
        if known is None:
            raise ValueError(f"{self._name}: segment must be None, because the fit had no segments; got {segment!r}")
        text = str(label_texts(np.asarray([segment]))[0])
        for found in rates_by_segment(known, -self.offset_, rate_of, confidence):
            if found.segment == text:
                return found
        raise ValueError(f"{self._name}: segment must be one of the fit, {', '.join(known.labels)}; got {segment!r}")

    @by_one_fit
    def label_batch(
        self, X: Rows, *, q: float = 0.1, tail: str | None = None, segments: Labels | Name | None = None
    ) -> Array:
        """Label a batch of rows with a false-discovery rate of at most `q`.

        Of the rows labelled as outliers, a share of about `q` or less are normal on average. `predict` instead refers
        to the share of all *normal rows* that are labelled as outliers. The method is Benjamini and Hochberg's on the
        p-values of the rows: the label of a row depends on the whole batch.

        To label r of m rows as outliers, the method needs p-values of at most q r / m, and n held-out losses give no
        p-value below 1 / (n + 1). If no row is labelled as an outlier for this reason, a warning is raised.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The batch.
        q : float in (0, 1), default=0.1
            Upper bound on the false-discovery rate.
        tail : {None, "pareto"}, default=None
            P-values of rows beyond every held-out loss, as in `p_value`.
        {segments_of_rows}

        Returns
        -------
        array of shape (n_samples,)
            Labels: +1 for the target class, -1 for an outlier.
        """
        q = check_number(self, "q", 0, 1, value=q)
        p = self.p_value(X, tail=tail, segments=segments)
        p = np.asarray(p) if is_dask(X) else p
        limit = benjamini_hochberg(p, q=q)
        if tail is None and self._segments is None:
            warn_below_smallest(self._name, self._calibrated(), "q", q, "no row can be labelled as an outlier")
            if not limit:
                warn_too_coarse(self._name, self._calibrated(), p, q)
        return labels_of(p > limit)

    @by_one_fit
    def p_value(self, X: Rows, *, tail: str | None = None, segments: Labels | Name | None = None) -> Array:
        """Conformal p-value of each row, for the hypothesis that the row is normal.

        A share of about delta of new normal rows has a p-value of at most delta (docs/calibration.md says when this is
        exact).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to judge.
        tail : {None, "pareto"}, default=None
            P-values of rows whose loss is larger than every held-out loss. None: 1 / (n + 1), which is valid for every
            distribution. ``"pareto"``: smaller values, from a Pareto tail fitted to the largest tenth of the held-out
            losses; they include the uncertainty of the fit. They are valid for Pareto tails and for tails that fall
            faster. They are not valid if a kind of normal rows is so rare that the training rows hold almost none of
            it (docs/large_batches.md).
        {segments_of_rows}

        Returns
        -------
        array of shape (n_samples,)
            Values in (0, 1]: ``(1 + number of held-out training losses at least as large) / (n + 1)``. A p-value is at
            most delta if and only if ``predict(X, delta=delta)`` labels the row as an outlier, for delta of at least
            1 / (n + 1). For smaller delta, `predict` labels rows whose loss is larger than every held-out loss.
        """
        self._calibrated()
        rows, known = self._segmented(X, segments)
        return self._p_value(rows, tail, known)

    def _p_value(self, rows: Rows, tail: str | None, known: RowSegments | None) -> Array:
        """P-values of rows, within their segments if these are known."""
        check_choice(self, "tail", (None, *TAILS), value=tail)
        ranks = self._calibrated() if known is None else known
        return self._answer(rows, lambda scores: ranks.p_value(-scores, tail))


complete_docstrings(Judges)


def labels_of(normal: Array) -> Array:
    """+1 where true, -1 where false."""
    xp = namespace(normal)
    return 2 * xp.astype(normal, xp.int64) - 1


def beside(offset: float | NDArray[np.float64], scores: Array) -> Any:
    """A threshold, or one for each row, as an array like the scores."""
    if not isinstance(offset, np.ndarray):
        return offset
    return namespace(scores).asarray(offset, dtype=scores.dtype, device=device(scores))
