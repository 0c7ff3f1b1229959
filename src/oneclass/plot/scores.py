"""ScoreDisplay: distribution of the scores, with the threshold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ..base.labels import is_target
from ..base.protocol import Detector
from ..core.bins import bin_edges, drawable
from ..core.typing import Labels, Rows
from .drawing import INSIDE, LINE, OUTSIDE, Display, Float, axes, fitted, needs_log_scale, numbers, percent
from .segment import shown_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["ScoreDisplay"]

#: Bars of a histogram.
_SCORE_BINS = 40


@dataclass(repr=False)
class ScoreDisplay(Display):
    """Distribution of the scores of rows and of the held-out scores of training rows, with the threshold.

    Parameters
    ----------
    scores : array of shape (n_samples,)
        Scores, larger for more normal rows.
    offset : float
        Threshold on the scores.
    targets : bool array of shape (n_samples,) or None
        Which rows are targets, if known.
    held_out : array or None
        Held-out scores of the training rows, if the model has any.

    Attributes
    ----------
    figure_, ax_ : matplotlib figure and axes
        Set by `plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass import KNNDetector
    >>> from oneclass.plot import ScoreDisplay
    >>> X = np.random.default_rng(0).normal(size=(199, 2))
    >>> ScoreDisplay.of(KNNDetector().fit(X), [[0.0, 0.0], [9.0, 9.0]]).rejected
    0.5
    """

    scores: Float
    offset: float
    targets: NDArray[np.bool_] | None = None
    held_out: Float | None = None
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
        held_out = None if shown.calibration is None else -numbers(shown.calibration.losses)
        return cls(numbers(model.score_samples(X)), shown.offset, targets, held_out)

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
        """Score rows and draw the scores.

        Parameters
        ----------
        estimator : fitted classifier, pipeline, search or TableDetector
            Model that scores the rows.
        X : array-like of shape (n_samples, n_features)
            Rows that the model was not fitted on.
        y : array-like of shape (n_samples,), optional
            Labels; without them, targets and outliers are not distinguished.
        target : label, optional
            The label of the target class, as in `oneclass.selection.is_target`.
        segment : label, optional
            Segment of all rows of `X`; needed after a fit with segments, since each has its own threshold.
        ax : matplotlib axes, optional
            Axes to draw on; new ones by default.

        Returns
        -------
        ScoreDisplay
        """
        return cls.of(estimator, X, y, target=target, segment=segment).plot(ax)

    @property
    def rejected(self) -> float:
        """Share of the rows that are flagged."""
        return float(np.mean(self.scores < self.offset))

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw a histogram of the losses (minus the scores); return the display."""
        self.figure_, self.ax_ = axes(ax, size=(6.4, 4.2))
        losses, limit, held_out = self.visible()
        edges = bin_edges(losses if held_out is None else np.concatenate([losses, held_out]), _SCORE_BINS)
        inside = np.ones(len(losses), dtype=bool) if self.targets is None else self.targets
        self._draw(losses[inside], edges, "rows" if self.targets is None else "targets", color=INSIDE, alpha=0.7)
        if not inside.all():
            self._draw(losses[~inside], edges, "outliers", color=OUTSIDE, alpha=0.6)
        if held_out is not None:
            self._draw(held_out, edges, "held-out training rows", histtype="step", color=LINE, linewidth=1.2)
        self.ax_.axvline(limit, color=LINE, linestyle="--", label="threshold")
        label = "log10 of the loss" if self._logarithmic else "loss (minus score)"
        self.ax_.set(xlabel=f"{label}, larger for more unusual rows", ylabel="share of rows")
        self.ax_.yaxis.set_major_formatter(lambda share, _: percent(round(share, 9)))
        self.ax_.legend(loc="upper left", bbox_to_anchor=(-0.03, -0.12), ncols=2, frameon=False, fontsize="small")
        return self

    def _draw(self, losses: Float, edges: Float, what: str, **style: Any) -> None:
        if len(losses):
            weights = np.full(len(losses), 1 / len(losses))
            self.ax_.hist(losses, bins=edges.tolist(), weights=weights, label=what, **style)

    @property
    def _logarithmic(self) -> bool:
        losses = -self.scores
        known = losses if self.held_out is None else -self.held_out
        return min(-self.offset, known.min()) > 0 and needs_log_scale(losses, np.median(known))

    def visible(self) -> tuple[Float, float, Float | None]:
        """Losses, threshold and held-out losses as drawn: as logarithms if a few large losses would hide the others."""
        losses, limit, held_out = -self.scores, -self.offset, None if self.held_out is None else -self.held_out
        if not self._logarithmic:
            return drawable(losses), float(drawable([limit])[0]), None if held_out is None else drawable(held_out)
        return np.log10(losses), float(np.log10(limit)), None if held_out is None else np.log10(held_out)
