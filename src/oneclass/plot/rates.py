"""RateDisplay: the measured false-alarm rate for every requested rate."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from ..base.labels import is_target
from ..base.protocol import Detector
from ..core.calibration import Calibration, rows_needed
from ..core.threshold import Decision
from ..core.typing import Labels, Rows
from .drawing import CONFIDENCE, INSIDE, LINE, OUTSIDE, ROUNDING, Display, Float, axes, fitted, numbers, percent
from .segment import shown_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["RateDisplay"]

#: The axis of requested rates ends at this rate, or at twice the `delta` of the model if that is larger.
_LARGEST_RATE = 0.2
#: Points at which the curves are computed.
_CURVE_POINTS = 100
#: Greys of the interval for the rows drawn, and for the false-alarm rate of the model.
_ROWS_GREY, _MODEL_GREY = "#e5e5e5", "#c4c4c4"


@dataclass(repr=False)
class RateDisplay(Display):
    """Share of flagged rows for every requested false-alarm rate, with the intervals to expect.

    Parameters
    ----------
    p_values : array of shape (n_samples,)
        Conformal p-values.
    decision : Decision
        The requested false-alarm rate and the rule of the threshold.
    calibration : Calibration
        Held-out losses of the training rows.
    targets : bool array of shape (n_samples,) or None
        Which rows are targets, if known; only these are counted.

    Attributes
    ----------
    figure_, ax_ : matplotlib figure and axes
        Set by `plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass import KNNDetector
    >>> from oneclass.plot import RateDisplay
    >>> rng = np.random.default_rng(0)
    >>> model = KNNDetector(delta=0.1).fit(rng.normal(size=(199, 2)))
    >>> shown = RateDisplay.of(model, rng.normal(size=(100, 2)))
    >>> shown.delivered(0.1) < 0.2
    True
    >>> print(shown.summary)
    requested false-alarm rate: 10 %
    false-alarm rate of this model: 4.2 to 16.6 %
    alarms in 1,000 normal rows: 100, 40 to 169
    to stay below 10 %: request 5.5 %
    (with 95 % confidence)
    """

    p_values: Float
    decision: Decision
    calibration: Calibration
    targets: NDArray[np.bool_] | None = None
    figure_: Figure = field(init=False, repr=False, compare=False)
    ax_: Axes = field(init=False, repr=False, compare=False)

    @classmethod
    def of(
        cls, estimator: Detector, X: Rows, y: Labels | None = None, *, target: object = None, segment: object = None
    ) -> Self:
        """The display without a drawing; the parameters are those of `from_estimator`."""
        model = fitted(estimator)
        targets = None if y is None else is_target(y, target, caller=cls.__name__)
        shown = shown_of(model, X, segment, caller=cls.__name__)
        p_values = numbers(model.p_value(X, **shown.options))  # raises without held-out losses
        return cls(p_values, model.decision_, shown.calibration, targets)  # type: ignore[arg-type]

    @classmethod
    def from_estimator(
        cls,
        estimator: Detector,
        X: Rows,
        y: Labels | None = None,
        *,
        target: object = None,
        segment: object = None,
        ax: Axes | None = None,
    ) -> Self:
        """Score rows and draw the rates.

        Parameters
        ----------
        estimator : fitted classifier, pipeline, search or TableDetector
            Model that scores the rows; it must have held-out losses.
        X : array-like of shape (n_samples, n_features)
            Rows that the model was not fitted on.
        y : array-like of shape (n_samples,), optional
            Labels; without them, all rows are counted.
        target : label, optional
            The label of the target class, as in `oneclass.selection.is_target`.
        segment : label, optional
            Segment of all rows of `X`; needed after a fit with segments, since each has its own threshold.
        ax : matplotlib axes, optional
            Axes to draw on; new ones by default.

        Returns
        -------
        RateDisplay
        """
        return cls.of(estimator, X, y, target=target, segment=segment).plot(ax)

    def delivered(self, delta: float) -> float:
        """Share of the targets (without labels: of all rows) with a p-value of at most `delta`."""
        return float(np.mean(self._counted <= delta + ROUNDING))

    @property
    def summary(self) -> str:
        """Requested rate, false-alarm rate of this model and number of alarms to expect, with 95 % confidence."""
        delta = percent(self.decision.delta)
        if not self.decision.held_out:
            return f"requested false-alarm rate: {delta}\nthreshold={self.decision.rule!r} does not control the rate"
        known, sure = self.calibration, self.decision.confidence
        budget = self.decision.budget(known.total)
        low, high = known.false_alarm_interval(budget, CONFIDENCE)
        expected, fewest, most = known.alarms(budget, 1000, CONFIDENCE)
        lines = [
            f"requested false-alarm rate: {delta}" + ("" if sure is None else f", with {percent(sure)} confidence"),
            f"false-alarm rate of this model: {100 * low:.1f} to {100 * high:.1f} %",
            f"alarms in 1,000 normal rows: {expected:.0f}, {fewest} to {most}",
        ]
        if sure is None and self.decision.delta > 0:
            safe = known.budget(self.decision.delta, CONFIDENCE)
            rows = rows_needed(self.decision.delta, CONFIDENCE, exact=known.exact)
            remedy = f"request {100 * safe:.2g} %" if safe else f"fit on {rows} rows"
            lines.append(f"to stay below {delta}: {remedy}")
        return "\n".join([*lines, f"(with {percent(CONFIDENCE)} confidence)"])

    @property
    def _counted(self) -> Float:
        return self.p_values if self.targets is None else self.p_values[self.targets]

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the rates, and write the summary below them; return the display."""
        self.figure_, ax = axes(ax, size=(6.4, 5.5))
        self.ax_ = ax
        delta, smallest, n = self.decision.delta, self.calibration.smallest_budget, len(self._counted)
        requested = np.linspace(0, max(_LARGEST_RATE, min(1.0, 2 * delta)), _CURVE_POINTS)
        whose, what = (f"{n} rows", "flagged rows") if self.targets is None else (f"{n} targets", "false alarms")
        band = np.array([self.calibration.alarms(rate, n, CONFIDENCE)[1:] for rate in requested]) / n
        label = f"expected for {n} normal rows, {percent(CONFIDENCE)}"
        ax.fill_between(requested, *band.T, color=_ROWS_GREY, label=label)
        rates = np.array([self.calibration.false_alarm_interval(rate, CONFIDENCE) for rate in requested])
        label = f"false-alarm rate of this model, {percent(CONFIDENCE)}"
        ax.fill_between(requested, *rates.T, color=_MODEL_GREY, label=label)
        ax.plot(requested, requested, color=LINE, linewidth=1, linestyle=":", label="requested")
        ax.step(requested, [self.delivered(rate) for rate in requested], color=INSIDE, where="post", label=what)
        ax.axvline(delta, color=LINE, linestyle="--", linewidth=1)
        ax.axvspan(0, smallest, color=OUTSIDE, alpha=0.2, label="below 1/(n + 1): too few rows")
        ax.set(
            xlabel="requested false-alarm rate", ylabel=f"share of {whose} flagged", title=f"Requested rate and {what}"
        )
        ax.set(xlim=(0, requested[-1]), ylim=(0, 1.05 * max(band.max(), self.delivered(requested[-1]))))
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(lambda rate, _: percent(round(rate, 9)))
        ax.legend(
            loc="upper left", bbox_to_anchor=(-0.03, -0.12), ncols=2, frameon=False, fontsize="small",
            title=self.summary, title_fontsize="small", alignment="left",
        )  # fmt: skip
        return self
