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

from .contract.labels import is_target
from .contract.pipeline import with_verbs
from .core.calibration import Calibration, rows_needed
from .core.threshold import Decision

__all__ = ["ThresholdDisplay", "precision_recall_display", "roc_display"]

Float = NDArray[np.float64]

_INSIDE, _OUTSIDE, _LINE = "#4c72b0", "#dd8452", "#333333"

#: Confidence of all that is said and drawn.
_SURE = 0.95


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('oneclass.plot needs matplotlib: pip install "oneclass[plot]"') from error
    return plt


@dataclass
class ThresholdDisplay:
    """Scores of rows with the threshold, and the share of rows rejected at every budget beside what to expect of it.

    Parameters
    ----------
    scores : array of shape (n_samples,)
        Scores, larger for more normal rows.
    targets : bool array of shape (n_samples,) or None
        Which rows are targets, if that is known.
    p_values : array of shape (n_samples,)
        Conformal p-values.
    offset : float
        Threshold on the scores.
    decision : Decision
        The rate that the threshold was asked for, and how it was put.
    calibration : Calibration
        Held-out losses of the training rows.

    Attributes
    ----------
    figure_, ax_ : matplotlib figure and array of its two axes
        Once `plot` was called.

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
    >>> print(shown.summary)
    asked: 10 % of normal rows
    this model's own rate: 6.2 to 14.5 %
    alarms in 1,000 normal rows: 100, from 59 to 149
    to keep 10 % surely, ask 6.5 %
    (95 % confidence)
    """

    scores: Float
    targets: NDArray[np.bool_] | None
    p_values: Float
    offset: float
    decision: Decision
    calibration: Calibration
    figure_: Any = field(default=None, repr=False)
    ax_: Any = field(default=None, repr=False)

    @classmethod
    def of(cls, estimator: Any, X: Any, y: Any = None, *, target: Any = None) -> Self:
        """What there is to draw, without drawing it; the parameters are those of `from_estimator`."""
        check_is_fitted(estimator)
        model = with_verbs(estimator)
        scores, p_values = (np.asarray(verb(X), dtype=float) for verb in (model.score_samples, model.p_value))
        targets = None if y is None else is_target(y, target, caller=cls.__name__)
        return cls(scores, targets, p_values, float(model.offset_), model.decision_, model.calibration_)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any = None, *, target: Any = None, ax: Any = None) -> Self:
        """Judge rows and draw.

        Parameters
        ----------
        estimator : fitted classifier of the library, a pipeline that ends in one, or a search
            What is judged by.
        X : array-like of shape (n_samples, n_features)
            Rows that the classifier was not fitted on.
        y : array-like of shape (n_samples,), optional
            Labels; without any, nothing is said of which rows are targets.
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
        """Share of the targets (without labels, of all rows) that a budget of `alpha` rejects: p-values up to it."""
        return float(np.mean(self._counted <= alpha + 1e-12))

    @property
    def summary(self) -> str:
        """What to expect of the threshold, with 95 % confidence."""
        asked = f"{100 * self.decision.delta:g} %"
        if not self.decision.held_out:
            return f"asked: {asked} of normal rows\nthreshold={self.decision.rule!r} promises no rate"
        known, sure = self.calibration, self.decision.confidence
        budget = self.decision.budget(known.total)
        low, high = known.interval(budget, _SURE)
        expected, fewest, most = known.alarms(budget, 1000, _SURE)
        lines = [
            f"asked: {asked} of normal rows" + ("" if sure is None else f", {100 * sure:g} % sure"),
            f"this model's own rate: {100 * low:.1f} to {100 * high:.1f} %",
            f"alarms in 1,000 normal rows: {expected:.0f}, from {fewest} to {most}",
        ]
        if sure is None and self.decision.delta > 0:
            surely = known.budget(self.decision.delta, _SURE)
            remedy = f"ask {100 * surely:.2g} %" if surely else f"take {rows_needed(self.decision.delta, _SURE)} rows"
            lines.append(f"to keep {asked} surely, {remedy}")
        return "\n".join([*lines, f"({100 * _SURE:g} % confidence)"])

    def plot(self, ax: Any = None) -> Self:
        """Draw scores on the first axes and rates on the second; returns the display itself."""
        if ax is None:
            _, ax = _pyplot().subplots(1, 2, figsize=(11, 5.5), layout="constrained")
        self.ax_ = np.asarray(ax)
        self.figure_ = self.ax_[0].figure
        self._draw_scores(self.ax_[0])
        self._draw_rates(self.ax_[1])
        return self

    def _draw_scores(self, ax: Any) -> None:
        losses, limit = self._visible_losses()
        edges = np.histogram_bin_edges(losses, bins=40)
        known = self.targets is not None
        inside = self.targets if self.targets is not None else np.ones(len(losses), dtype=bool)
        ax.hist(losses[inside], bins=edges, color=_INSIDE, alpha=0.75, label="targets" if known else "rows")
        if not inside.all():
            ax.hist(losses[~inside], bins=edges, color=_OUTSIDE, alpha=0.6, label="outliers")
        ax.axvline(limit, color=_LINE, linestyle="--", label=f"threshold, delta = {self.decision.delta:g}")
        ax.set(xlabel=self._label, ylabel="rows", title="Strange rows are to the right of the threshold")
        ax.legend(frameon=False)

    @property
    def _counted(self) -> Float:
        return self.p_values if self.targets is None else self.p_values[self.targets]

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
        delta, smallest, n = self.decision.delta, self.calibration.smallest_budget, len(self._counted)
        asked = np.linspace(0, max(0.2, min(1.0, 2 * delta)), 100)
        whose, what = (f"{n} rows", "rejected") if self.targets is None else (f"{n} targets", "delivered")
        numbers = np.array([self.calibration.alarms(alpha, n, _SURE)[1:] for alpha in asked]) / n
        ax.fill_between(asked, *numbers.T, color="#dddddd", label=f"to expect of {n} normal rows, {100 * _SURE:g} %")
        rates = np.array([self.calibration.interval(alpha, _SURE) for alpha in asked])
        ax.fill_between(asked, *rates.T, color="#bbbbbb", label=f"this model's own rate, {100 * _SURE:g} %")
        ax.plot(asked, asked, color=_LINE, linewidth=1, linestyle=":", label="asked")
        ax.step(asked, [self.delivered(a) for a in asked], color=_INSIDE, where="post", label=what)
        ax.axvline(delta, color=_LINE, linestyle="--", linewidth=1)
        ax.axvspan(0, smallest, color=_OUTSIDE, alpha=0.15, label="below 1/(n + 1)")
        ax.set(xlabel="false-alarm rate asked for", ylabel=f"share of {whose} rejected", title=f"Asked and {what}")
        ax.set(xlim=(0, asked[-1]), ylim=(0, None))
        ax.legend(frameon=False, loc="upper left", fontsize="small")
        ax.text(0, -0.17, self.summary, transform=ax.transAxes, verticalalignment="top", fontsize="small")


def roc_display(estimator: Any, X: Any, y: Any, *, target: Any = None, **options: Any) -> RocCurveDisplay:
    """scikit-learn's ROC curve of a fitted detector, outliers as the class to find: false positives are false alarms.

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
    options = {"name": type(estimator).__name__, "pos_label": "outlier"} | options
    return RocCurveDisplay.from_predictions(*_outliers_first(estimator, X, y, target), **options)


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
    options = {"name": type(estimator).__name__, "pos_label": "outlier"} | options
    return PrecisionRecallDisplay.from_predictions(*_outliers_first(estimator, X, y, target), **options)


def _outliers_first(estimator: Any, X: Any, y: Any, target: Any) -> tuple[NDArray[Any], Float]:
    """Labels, and values that are larger for stranger rows."""
    labels = np.where(is_target(y, target), "target", "outlier")
    return labels, -np.asarray(estimator.decision_function(X), dtype=float)
