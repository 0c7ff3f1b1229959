"""RateDisplay: the false-alarm rate asked for against the one delivered."""

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
from .drawing import INSIDE, LINE, OUTSIDE, SURE, Float, axes, fitted, numbers, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["RateDisplay"]


@dataclass
class RateDisplay:
    """The share of rows rejected at every budget, beside what to expect of it.

    Parameters
    ----------
    p_values : array of shape (n_samples,)
        Conformal p-values.
    decision : Decision
        The rate that the threshold was asked for, and how it was put.
    calibration : Calibration
        Held-out losses of the training rows.
    targets : bool array of shape (n_samples,) or None
        Which rows are targets, if that is known; only these are counted.

    Attributes
    ----------
    figure_, ax_ : matplotlib figure and axes
        Once `plot` was called.

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
    asked: 10 % of normal rows
    this model's own rate: 6.2 to 14.5 %
    alarms in 1,000 normal rows: 100, from 59 to 149
    to keep 10 % surely, ask 6.5 %
    (95 % confidence)
    """

    p_values: Float
    decision: Decision
    calibration: Calibration
    targets: NDArray[np.bool_] | None = None
    figure_: Figure = field(init=False, repr=False, compare=False)
    ax_: Axes = field(init=False, repr=False, compare=False)

    @classmethod
    def of(cls, estimator: Detector, X: Rows, y: Labels | None = None, *, target: object = None) -> Self:
        """What there is to draw, without drawing it; the parameters are those of `from_estimator`."""
        model = fitted(estimator)
        targets = None if y is None else is_target(y, target, caller=cls.__name__)
        p_values = numbers(model.p_value(X))  # refused without held-out losses
        return cls(p_values, model.decision_, model.calibration_, targets)  # type: ignore[arg-type]

    @classmethod
    def from_estimator(
        cls, estimator: Detector, X: Rows, y: Labels | None = None, *, target: object = None, ax: Axes | None = None
    ) -> Self:
        """Judge rows and draw.

        Parameters
        ----------
        estimator : fitted classifier of the library, a pipeline that ends in one, or a search
            What is judged by; its fit must have held-out losses.
        X : array-like of shape (n_samples, n_features)
            Rows that the classifier was not fitted on.
        y : array-like of shape (n_samples,), optional
            Labels; without any, all rows are counted.
        target : label, optional
            The label of the target class, as in `oneclass.selection.is_target`.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        RateDisplay
        """
        return cls.of(estimator, X, y, target=target).plot(ax)

    def delivered(self, alpha: float) -> float:
        """Share of the targets (without labels, of all rows) that a budget of `alpha` rejects: p-values up to it."""
        return float(np.mean(self._counted <= alpha + 1e-12))

    @property
    def summary(self) -> str:
        """What to expect of the threshold, with 95 % confidence."""
        asked = percent(self.decision.delta)
        if not self.decision.held_out:
            return f"asked: {asked} of normal rows\nthreshold={self.decision.rule!r} promises no rate"
        known, sure = self.calibration, self.decision.confidence
        budget = self.decision.budget(known.total)
        low, high = known.false_alarm_interval(budget, SURE)
        expected, fewest, most = known.alarms(budget, 1000, SURE)
        lines = [
            f"asked: {asked} of normal rows" + ("" if sure is None else f", {percent(sure)} sure"),
            f"this model's own rate: {100 * low:.1f} to {100 * high:.1f} %",
            f"alarms in 1,000 normal rows: {expected:.0f}, from {fewest} to {most}",
        ]
        if sure is None and self.decision.delta > 0:
            surely = known.budget(self.decision.delta, SURE)
            remedy = f"ask {100 * surely:.2g} %" if surely else f"take {rows_needed(self.decision.delta, SURE)} rows"
            lines.append(f"to keep {asked} surely, {remedy}")
        return "\n".join([*lines, f"({percent(SURE)} confidence)"])

    @property
    def _counted(self) -> Float:
        return self.p_values if self.targets is None else self.p_values[self.targets]

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the rates, and below them what to expect in words; returns the display itself."""
        self.figure_, ax = axes(ax, size=(6.4, 5.5))
        self.ax_ = ax
        delta, smallest, n = self.decision.delta, self.calibration.smallest_budget, len(self._counted)
        asked = np.linspace(0, max(0.2, min(1.0, 2 * delta)), 100)
        whose, what = (f"{n} rows", "rejected") if self.targets is None else (f"{n} targets", "delivered")
        band = np.array([self.calibration.alarms(alpha, n, SURE)[1:] for alpha in asked]) / n
        ax.fill_between(asked, *band.T, color="#e5e5e5", label=f"to expect of {n} normal rows, {percent(SURE)}")
        rates = np.array([self.calibration.false_alarm_interval(alpha, SURE) for alpha in asked])
        ax.fill_between(asked, *rates.T, color="#c4c4c4", label=f"this model's own rate, {percent(SURE)}")
        ax.plot(asked, asked, color=LINE, linewidth=1, linestyle=":", label="asked")
        ax.step(asked, [self.delivered(a) for a in asked], color=INSIDE, where="post", label=what)
        ax.axvline(delta, color=LINE, linestyle="--", linewidth=1)
        ax.axvspan(0, smallest, color=OUTSIDE, alpha=0.2, label="below 1/(n + 1): cannot be promised")
        ax.set(xlabel="false-alarm rate asked for", ylabel=f"share of {whose} rejected", title=f"Asked and {what}")
        # Room for the legend above all that is drawn.
        ax.set(xlim=(0, asked[-1]), ylim=(0, 1.5 * max(band.max(), self.delivered(asked[-1]))))
        ax.legend(loc="upper left", fontsize="small", framealpha=1, edgecolor="none")
        ax.text(0, -0.17, self.summary, transform=ax.transAxes, verticalalignment="top", fontsize="small")
        return self
