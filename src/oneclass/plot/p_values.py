"""PValueDisplay: whether the new data are like the old."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from scipy.stats import betabinom, binom, kstwobign

from ..base.protocol import Detector
from ..core.typing import Rows
from .drawing import INSIDE, LINE, SURE, Float, axes, fitted, numbers, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["PValueDisplay", "Sameness"]

#: Bars of the histogram, and the budget at which small p-values are counted.
_BINS, _SMALL = 20, 0.05


class Sameness(NamedTuple):
    """A test of whether new rows are like the old: the distance of Kolmogorov and Smirnov, and its p-value."""

    distance: float
    p_value: float


@dataclass
class PValueDisplay:
    """Histogram of p-values: flat where new rows are like the training rows, high on the left where many are strange.

    A test is stated with it, that of Kolmogorov and Smirnov for two samples: the new rows' losses and the held-out ones
    that their p-values are ranks among. It takes both as independent rows; the doubt about few held-out losses is in.

    Parameters
    ----------
    p_values : array of shape (n_samples,)
        Conformal p-values.
    n_held_out : float
        Number of held-out rows, or groups of them, that they are ranks among.

    Attributes
    ----------
    figure_, ax_ : matplotlib figure and axes
        Once `plot` was called.

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
        """What there is to draw, without drawing it; the parameters are those of `from_estimator`."""
        model = fitted(estimator)
        p_values = numbers(model.p_value(X))  # refused without held-out losses
        return cls(p_values, float(model.calibration_.total))  # type: ignore[union-attr]

    @classmethod
    def from_estimator(cls, estimator: Detector, X: Rows, *, ax: Axes | None = None) -> Self:
        """Judge rows and draw.

        Parameters
        ----------
        estimator : fitted classifier of the library, a pipeline that ends in one, or a search
            What is judged by; its fit must have held-out losses.
        X : array-like of shape (n_samples, n_features)
            New rows, which the classifier was not fitted on.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        PValueDisplay
        """
        return cls.of(estimator, X).plot(ax)

    @property
    def test(self) -> Sameness:
        """How far the new rows are from the held-out ones, and how often rows like these would be as far."""
        n, m = self.n_held_out, len(self.p_values)
        beyond = np.sort((self.p_values * (n + 1) - 1) / n)  # share of the held-out losses at least as large
        steps = np.arange(m + 1) / m
        distance = float(np.maximum(np.abs(steps[1:] - beyond), np.abs(steps[:-1] - beyond)).max())
        return Sameness(distance, float(kstwobign.sf(distance * np.sqrt(n * m / (n + m)))))

    @property
    def summary(self) -> str:
        """What the test says, in words."""
        found, small = self.test, float(np.mean(self.p_values <= _SMALL + 1e-12))
        verdict = "the new rows are not like the training rows"
        if found.p_value > 1 - SURE:
            odd = "more odd rows than chance explains, else " if self._is_more_than_chance(small) else ""
            verdict = f"{odd}no sign that the new rows differ"
        return (
            f"{verdict}: Kolmogorov-Smirnov p = {found.p_value:.2g}\n"
            f"p-values up to {_SMALL:g}: {100 * small:.1f} % of {len(self.p_values)} rows"
        )

    def _is_more_than_chance(self, small: float) -> bool:
        """Whether so large a share of small p-values is more than this model's own rate and chance lead to."""
        n, m = self.n_held_out, len(self.p_values)
        rank = np.floor(_SMALL * (n + 1) + 1e-9)
        return bool(rank > 0 and betabinom.sf(round(small * m) - 1, m, rank, n + 1 - rank) < (1 - SURE) / 2)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the histogram with the line that rows like the training rows stay near; returns the display itself."""
        self.figure_, self.ax_ = axes(ax, size=(6.4, 4.4))
        m, doubt = len(self.p_values), (1 - SURE) / 2
        low, high = binom(m, 1 / _BINS).ppf([doubt, 1 - doubt]) / m
        weights = np.full(m, 1 / m)
        edges = np.linspace(0, 1, _BINS + 1).tolist()
        # A p-value on an edge belongs to the bar below it: it is what a budget of the edge rejects.
        self.ax_.hist(
            np.maximum(self.p_values - 1e-9, 0), edges, weights=weights, color=INSIDE, alpha=0.8, label="rows"
        )
        label = f"to expect of rows like the training rows, {percent(SURE)} a bar"
        self.ax_.axhspan(low, high, color=LINE, alpha=0.2, linewidth=0, zorder=2, label=label)
        self.ax_.axhline(1 / _BINS, color=LINE, linestyle="--", linewidth=1, label="uniform")
        self.ax_.set(xlabel="p-value", ylabel="share of rows", xlim=(0, 1))
        self.ax_.set_title(self.summary, fontsize="medium", loc="left")
        self.ax_.set_ylim(0, 1.35 * max(high, self.ax_.get_ylim()[1] / 1.05))
        self.ax_.legend(frameon=False, loc="upper right", fontsize="small")
        return self
