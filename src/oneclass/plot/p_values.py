"""PValueDisplay: whether new rows resemble the training rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from scipy.stats import betabinom, binom, kstwobign

from ..base.protocol import Detector
from ..core.typing import Rows
from .drawing import CONFIDENCE, INSIDE, LINE, ROUNDING, Display, Float, axes, fitted, numbers, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["PValueDisplay", "TwoSampleTest"]

#: Bars of the histogram, and the largest p-value that is counted as small.
_P_VALUE_BINS, _SMALL = 20, 0.05


class TwoSampleTest(NamedTuple):
    """Kolmogorov-Smirnov test for two samples: the distance between their distributions, and its p-value."""

    distance: float
    p_value: float


@dataclass(repr=False)
class PValueDisplay(Display):
    """Histogram of p-values: flat if the new rows resemble the training rows, high on the left if many are unusual.

    The title states the result of a Kolmogorov-Smirnov test between the losses of the new rows and the held-out losses.
    The test assumes independent rows. It accounts for the number of held-out losses.

    Parameters
    ----------
    p_values : array of shape (n_samples,)
        Conformal p-values.
    n_held_out : float
        Number of held-out rows, or of groups of them, behind the p-values.

    Attributes
    ----------
    figure_, ax_ : matplotlib figure and axes
        Set by `plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass import KNNDetector
    >>> from oneclass.plot import PValueDisplay
    >>> rng = np.random.default_rng(0)
    >>> model = KNNDetector().fit(rng.normal(size=(199, 2)))
    >>> bool(PValueDisplay.of(model, rng.normal(size=(100, 2))).test.p_value > 0.05)
    True
    >>> bool(PValueDisplay.of(model, 3 + rng.normal(size=(100, 2))).test.p_value < 1e-6)
    True
    """

    p_values: Float
    n_held_out: float
    figure_: Figure = field(init=False, repr=False, compare=False)
    ax_: Axes = field(init=False, repr=False, compare=False)

    @classmethod
    def of(cls, estimator: Detector, X: Rows) -> Self:
        """The display without a drawing; the parameters are those of `from_estimator`."""
        model = fitted(estimator)
        p_values = numbers(model.p_value(X))  # raises without held-out losses
        return cls(p_values, float(model.calibration_.total))  # type: ignore[union-attr]

    @classmethod
    def from_estimator(cls, estimator: Detector, X: Rows, *, ax: Axes | None = None) -> Self:
        """Score rows and draw their p-values.

        Parameters
        ----------
        estimator : fitted classifier, pipeline, search or TableDetector
            Model that scores the rows; it must have held-out losses.
        X : array-like of shape (n_samples, n_features)
            New rows, which the model was not fitted on.
        ax : matplotlib axes, optional
            Axes to draw on; new ones by default.

        Returns
        -------
        PValueDisplay
        """
        return cls.of(estimator, X).plot(ax)

    @property
    def test(self) -> TwoSampleTest:
        """Kolmogorov-Smirnov test between the losses of the new rows and the held-out losses."""
        n, m = self.n_held_out, len(self.p_values)
        beyond = np.sort((self.p_values * (n + 1) - 1) / n)  # share of held-out losses that are at least as large
        steps = np.arange(m + 1) / m
        distance = float(np.maximum(np.abs(steps[1:] - beyond), np.abs(steps[:-1] - beyond)).max())
        return TwoSampleTest(distance, float(kstwobign.sf(distance * np.sqrt(n * m / (n + m)))))

    @property
    def summary(self) -> str:
        """Result of the test as a sentence, and the share of small p-values."""
        found, small = self.test, float(np.mean(self.p_values <= _SMALL + ROUNDING))
        conclusion = "the new rows differ from the training rows"
        if found.p_value > 1 - CONFIDENCE:
            conclusion = "no difference between new rows and training rows was found"
            if self._exceeds_chance(small):
                conclusion = "more unusual rows than expected, otherwise no difference was found"
        return (
            f"{conclusion}\nKolmogorov-Smirnov test: p = {found.p_value:.2g}; "
            f"p-values up to {_SMALL:g}: {100 * small:.1f} % of {len(self.p_values)} rows"
        )

    def _exceeds_chance(self, small: float) -> bool:
        """Whether the share of small p-values is larger than the false-alarm rate of this model and chance explain."""
        n, m = self.n_held_out, len(self.p_values)
        rank = np.floor(_SMALL * (n + 1) + ROUNDING)
        return bool(rank > 0 and betabinom.sf(round(small * m) - 1, m, rank, n + 1 - rank) < (1 - CONFIDENCE) / 2)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the histogram, and the heights to expect if new rows resemble the training rows; return the display."""
        self.figure_, self.ax_ = axes(ax, size=(6.4, 4.4))
        m, tail = len(self.p_values), (1 - CONFIDENCE) / 2
        low, high = binom(m, 1 / _P_VALUE_BINS).ppf([tail, 1 - tail]) / m
        weights = np.full(m, 1 / m)
        edges = np.linspace(0, 1, _P_VALUE_BINS + 1).tolist()
        # A p-value on an edge belongs to the bar on its left: a false-alarm rate of this value flags the row.
        self.ax_.hist(
            np.maximum(self.p_values - ROUNDING, 0), edges, weights=weights, color=INSIDE, alpha=0.8, label="rows"
        )
        label = f"{percent(CONFIDENCE)} interval for rows like the training rows"
        self.ax_.axhspan(low, high, color=LINE, alpha=0.2, linewidth=0, zorder=2, label=label)
        self.ax_.axhline(1 / _P_VALUE_BINS, color=LINE, linestyle="--", linewidth=1, label="uniform")
        self.ax_.set(xlabel="p-value", ylabel="share of rows", xlim=(0, 1))
        self.ax_.set_title(self.summary, fontsize="medium", loc="left")
        self.ax_.yaxis.set_major_formatter(lambda share, _: percent(round(100 * share) / 100))
        self.ax_.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=3, fontsize="small")
        return self
