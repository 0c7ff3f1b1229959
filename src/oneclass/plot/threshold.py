"""ThresholdDisplay: scores with the threshold, and measured rates for every requested false-alarm rate."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from ..base.protocol import Detector
from ..core.calibration import Calibration
from ..core.threshold import Decision
from ..core.typing import Labels, Rows
from .drawing import Display, Float, Panels, Several, numbers, panels
from .rates import RateDisplay
from .scores import ScoreDisplay

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ThresholdDisplay"]


@dataclass(repr=False)
class ThresholdDisplay(Display):
    """Scores of rows with the threshold, and the share of flagged rows for every requested false-alarm rate.

    Parameters
    ----------
    scores : array of shape (n_samples,)
        Scores, larger for more normal rows.
    targets : bool array of shape (n_samples,) or None
        Which rows are targets, if known.
    p_values : array of shape (n_samples,)
        Conformal p-values.
    offset : float
        Threshold on the scores.
    decision : Decision
        The requested false-alarm rate and the rule of the threshold.
    calibration : Calibration
        Held-out losses of the training rows.

    Attributes
    ----------
    figure_, ax_ : matplotlib figure and array of its two axes
        Set by `plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass import KNNDetector
    >>> from oneclass.plot import ThresholdDisplay
    >>> rng = np.random.default_rng(0)
    >>> model = KNNDetector(delta=0.1).fit(rng.normal(size=(199, 2)))
    >>> shown = ThresholdDisplay.of(model, rng.normal(size=(100, 2)))
    >>> shown.delivered(0.1) < 0.2
    True
    """

    scores: Float
    targets: NDArray[np.bool_] | None
    p_values: Float
    offset: float
    decision: Decision
    calibration: Calibration
    figure_: Figure = field(init=False, repr=False, compare=False)
    ax_: Several = field(init=False, repr=False, compare=False)

    @classmethod
    def of(
        cls, estimator: Detector, X: Rows, y: Labels | None = None, *, target: object = None, segment: object = None
    ) -> Self:
        """The display without a drawing; the parameters are those of `from_estimator`."""
        scores = ScoreDisplay.of(estimator, X, y, target=target, segment=segment)
        rates = RateDisplay.of(estimator, X, y, target=target, segment=segment)
        return cls(scores.scores, scores.targets, rates.p_values, scores.offset, rates.decision, rates.calibration)

    @classmethod
    def from_estimator(
        cls,
        estimator: Detector,
        X: Rows,
        y: Labels | None = None,
        *,
        target: object = None,
        segment: object = None,
        ax: Panels | None = None,
    ) -> Self:
        """Score rows and draw scores and rates.

        Parameters
        ----------
        estimator : fitted classifier, pipeline, search or TableDetector
            Model that scores the rows; it must have held-out losses.
        X : array-like of shape (n_samples, n_features)
            Rows that the model was not fitted on.
        y : array-like of shape (n_samples,), optional
            Labels; without them, targets and outliers are not distinguished.
        target : label, optional
            The label of the target class, as in `oneclass.selection.is_target`.
        segment : label, optional
            Segment of all rows of `X`; needed after a fit with segments, since each has its own threshold.
        ax : two matplotlib axes, optional
            Axes to draw on; new ones by default.

        Returns
        -------
        ThresholdDisplay
        """
        return cls.of(estimator, X, y, target=target, segment=segment).plot(ax)

    @property
    def score_display(self) -> ScoreDisplay:
        """The left half: the scores."""
        return ScoreDisplay(self.scores, self.offset, self.targets, -numbers(self.calibration.losses))

    @property
    def rate_display(self) -> RateDisplay:
        """The right half: the rates."""
        return RateDisplay(self.p_values, self.decision, self.calibration, self.targets)

    @property
    def summary(self) -> str:
        """Requested rate, false-alarm rate of this model and number of alarms to expect, with 95 % confidence."""
        return self.rate_display.summary

    def delivered(self, delta: float) -> float:
        """Share of the targets (without labels: of all rows) with a p-value of at most `delta`."""
        return self.rate_display.delivered(delta)

    def plot(self, ax: Panels | None = None) -> Self:
        """Draw scores on the first axes and rates on the second; return the display."""
        self.figure_, self.ax_ = panels(ax, 1, 2, size=(11, 5.5))
        self.score_display.plot(self.ax_[0])
        self.ax_[0].set_title("Rows to the right of the threshold are flagged")
        self.rate_display.plot(self.ax_[1])
        return self
