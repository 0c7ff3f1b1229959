"""Pictures of a fitted classifier: scores, threshold, and the false-alarm rate asked for against the one delivered.

Needs matplotlib, the extra ``plot``; it is imported when something is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import PrecisionRecallDisplay, RocCurveDisplay
from sklearn.utils.validation import check_is_fitted

from .selection.labels import is_target

__all__ = ["ThresholdDisplay", "precision_recall_display", "roc_display"]

Float = NDArray[np.float64]

_INSIDE, _OUTSIDE, _LINE = "#4c72b0", "#dd8452", "#333333"


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('oneclass.plot needs matplotlib: pip install "oneclass[plot]"') from error
    return plt


@dataclass
class ThresholdDisplay:
    """Scores of rows with the threshold, and the share of normal rows rejected at every budget.

    Parameters
    ----------
    scores : array of shape (n_samples,)
        Scores, larger for more normal rows.
    targets : bool array of shape (n_samples,)
        Which rows are targets.
    p_values : array of shape (n_samples,)
        Conformal p-values.
    offset, delta : float
        Threshold on the scores, and the false-alarm rate that it was asked for.
    smallest : float
        The smallest rate that the training rows can promise.

    Attributes
    ----------
    figure_, ax_ : matplotlib figure and array of its two axes
        Once `plot` was called.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass import AAKELM
    >>> from oneclass.plot import ThresholdDisplay
    >>> rng = np.random.default_rng(0)
    >>> model = AAKELM(delta=0.1).fit(rng.normal(size=(200, 2)))
    >>> shown = ThresholdDisplay.of(model, rng.normal(size=(100, 2)))
    >>> shown.delivered(0.1) < 0.2
    True
    """

    scores: Float
    targets: NDArray[np.bool_]
    p_values: Float
    offset: float
    delta: float
    smallest: float
    figure_: Any = field(default=None, repr=False)
    ax_: Any = field(default=None, repr=False)

    @classmethod
    def of(cls, estimator: Any, X: Any, y: Any = None, *, target: Any = None) -> Self:
        """What there is to draw, without drawing it; the parameters are those of `from_estimator`."""
        check_is_fitted(estimator)
        scores = np.asarray(estimator.score_samples(X), dtype=float)
        targets = np.ones(len(scores), dtype=bool) if y is None else is_target(y, target, caller=cls.__name__)
        best = getattr(estimator, "best_estimator_", estimator)
        p_values = np.asarray(estimator.p_value(X), dtype=float)
        return cls(scores, targets, p_values, float(best.offset_), float(best.delta), best.calibration_.smallest_budget)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any = None, *, target: Any = None, ax: Any = None) -> Self:
        """Judge rows and draw.

        Parameters
        ----------
        estimator : fitted classifier of the library, or a fitted search
            What is judged by.
        X : array-like of shape (n_samples, n_features)
            Rows that the classifier was not fitted on.
        y : array-like of shape (n_samples,), optional
            Labels; none are all targets.
        target : label, optional
            The label of the target class, as in `oneclass.selection.is_target`.
        ax : two matplotlib axes, optional
            Where to draw.

        Returns
        -------
        ThresholdDisplay
        """
        return cls.of(estimator, X, y, target=target).plot(ax)

    def delivered(self, alpha: float) -> float:
        """Share of the targets with a p-value of at most `alpha`: what a budget of `alpha` rejects."""
        return float(np.mean(self.p_values[self.targets] <= alpha + 1e-12))

    def plot(self, ax: Any = None) -> Self:
        """Draw scores on the first axes and rates on the second; returns the display itself."""
        if ax is None:
            _, ax = _pyplot().subplots(1, 2, figsize=(10, 4), layout="constrained")
        self.ax_ = np.asarray(ax)
        self.figure_ = self.ax_[0].figure
        self._draw_scores(self.ax_[0])
        self._draw_rates(self.ax_[1])
        return self

    def _draw_scores(self, ax: Any) -> None:
        losses, limit = self._visible_losses()
        edges = np.histogram_bin_edges(losses, bins=40)
        ax.hist(losses[self.targets], bins=edges, color=_INSIDE, alpha=0.75, label="targets")
        if not self.targets.all():
            ax.hist(losses[~self.targets], bins=edges, color=_OUTSIDE, alpha=0.6, label="outliers")
        ax.axvline(limit, color=_LINE, linestyle="--", label=f"threshold, delta = {self.delta:g}")
        ax.set(xlabel=self._label, ylabel="rows", title="Strange rows are to the right of the threshold")
        ax.legend(frameon=False)

    @property
    def _label(self) -> str:
        return "log10 of minus score" if self._logarithmic else "minus score"

    @property
    def _logarithmic(self) -> bool:
        losses = -self.scores
        return bool(losses.min() > 0 and -self.offset > 0 and losses.max() > 20 * np.median(losses))

    def _visible_losses(self) -> tuple[Float, float]:
        """Losses and threshold, as logarithms where a few large ones would hide the others."""
        losses, limit = -self.scores, -self.offset
        return (np.log10(losses), float(np.log10(limit))) if self._logarithmic else (losses, limit)

    def _draw_rates(self, ax: Any) -> None:
        asked = np.linspace(0, max(0.2, min(1.0, 2 * self.delta)), 200)
        n = int(self.targets.sum())
        band = 2 * np.sqrt(asked * (1 - asked) / n)
        ax.fill_between(asked, np.clip(asked - band, 0, 1), asked + band, color="#cccccc", label="two sigma")
        ax.plot(asked, asked, color=_LINE, linewidth=1, linestyle=":", label="asked")
        ax.step(asked, [self.delivered(a) for a in asked], color=_INSIDE, where="post", label="delivered")
        ax.axvline(self.delta, color=_LINE, linestyle="--", linewidth=1)
        ax.axvspan(0, self.smallest, color=_OUTSIDE, alpha=0.15, label="below 1/(n + 1)")
        ax.set(
            xlabel="false-alarm rate asked for", ylabel=f"share of {n} targets rejected", title="Asked and delivered"
        )
        ax.set(xlim=(0, asked[-1]), ylim=(0, None))
        ax.legend(frameon=False, loc="upper left")


def roc_display(estimator: Any, X: Any, y: Any, *, target: Any = None, **options: Any) -> RocCurveDisplay:
    """scikit-learn's ROC curve of a fitted detector, targets as the positive class.

    Parameters
    ----------
    estimator : fitted detector
        Anything with `decision_function`.
    X : array-like of shape (n_samples, n_features)
        Rows of both classes.
    y : array-like of shape (n_samples,)
        Labels.
    target : label, optional
        The label of the target class, as in `oneclass.selection.is_target`.
    **options
        Passed on to ``RocCurveDisplay.from_predictions``.

    Returns
    -------
    RocCurveDisplay

    Examples
    --------
    >>> roc_display(model, X_test, y_test)  # doctest: +SKIP
    """
    _pyplot()
    options.setdefault("name", type(estimator).__name__)
    return RocCurveDisplay.from_predictions(is_target(y, target), _decisions(estimator, X), **options)


def precision_recall_display(
    estimator: Any, X: Any, y: Any, *, target: Any = None, **options: Any
) -> PrecisionRecallDisplay:
    """scikit-learn's precision-recall curve of a fitted detector, outliers as the class to find.

    Parameters
    ----------
    estimator : fitted detector
        Anything with `decision_function`.
    X : array-like of shape (n_samples, n_features)
        Rows of both classes.
    y : array-like of shape (n_samples,)
        Labels.
    target : label, optional
        The label of the target class, as in `oneclass.selection.is_target`.
    **options
        Passed on to ``PrecisionRecallDisplay.from_predictions``.

    Returns
    -------
    PrecisionRecallDisplay

    Examples
    --------
    >>> precision_recall_display(model, X_test, y_test)  # doctest: +SKIP
    """
    _pyplot()
    options.setdefault("name", type(estimator).__name__)
    return PrecisionRecallDisplay.from_predictions(~is_target(y, target), -_decisions(estimator, X), **options)


def _decisions(estimator: Any, X: Any) -> Float:
    return np.asarray(estimator.decision_function(X), dtype=float)
