"""DriftDisplay: losses and alarm rates over time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binom

from ..base.protocol import Detector
from ..core.typing import Rows
from .drawing import (
    CONFIDENCE,
    INSIDE,
    LINE,
    OUTSIDE,
    PALE,
    Display,
    Float,
    Panels,
    Several,
    fitted,
    needs_log_scale,
    numbers,
    panels,
    percent,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..stream import Verdict

__all__ = ["DriftDisplay"]

#: Default number of windows, and smallest default size of a window.
_WINDOWS, _WINDOW_ROWS = 50, 20
#: Line styles of the kinds of events.
_STYLES = {"change": "-", "mode": "-.", "wider": ":", "shift": "--", "strange": (0, (1, 2)), "forgotten": (0, (5, 5))}


@dataclass(repr=False)
class DriftDisplay(Display):
    """Losses and alarm rates over time, with the events of a stream.

    Parameters
    ----------
    scores : array of shape (n_samples,)
        Scores in the order of time.
    alarms : bool array of shape (n_samples,)
        Which rows were flagged.
    delta : float
        Requested false-alarm rate.
    time : array of shape (n_samples,)
        Time of each row: its number, or any time that matplotlib can draw.
    window : int
        Rows of each window.
    events : tuple of (time, kind)
        Events that a stream reported.
    expected : (float, float) or None
        95 % interval for the alarm rate of a window of normal rows; None: that of independent rows at rate `delta`.

    Attributes
    ----------
    figure_, ax_ : matplotlib figure and array of its two axes
        Set by `plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass import Stream
    >>> from oneclass.plot import DriftDisplay
    >>> rng = np.random.default_rng(0)
    >>> stream = Stream(window=300).fit(rng.normal(size=(300, 2)))
    >>> verdicts = [stream.watch(rng.normal(size=(50, 2)) + 0.1 * t) for t in range(8)]
    >>> shown = DriftDisplay.from_verdicts(verdicts, delta=stream.delta, window=50, draw=False)
    >>> len(shown.rates)
    8
    """

    scores: Float
    alarms: np.ndarray[Any, Any]
    delta: float
    time: np.ndarray[Any, Any]
    window: int
    events: tuple[tuple[Any, str], ...] = ()
    expected: tuple[float, float] | None = None
    figure_: Figure = field(init=False, repr=False, compare=False)
    ax_: Several = field(init=False, repr=False, compare=False)

    @classmethod
    def of(cls, estimator: Detector, X: Rows, *, time: ArrayLike | None = None, window: int | None = None) -> Self:
        """The display without a drawing; the parameters are those of `from_estimator`."""
        model = fitted(estimator)
        scores, alarms = numbers(model.score_samples(X)), numbers(model.predict(X)) < 0
        window, known = _window(window, len(scores)), model.calibration_
        expected = None
        if known is not None and model.decision_.held_out:
            fewest, most = known.alarms(model.decision_.budget(known.total), window, CONFIDENCE)[1:]
            expected = (fewest / window, most / window)
        when = np.arange(len(scores)) if time is None else np.asarray(time)
        return cls(scores, alarms, float(model.decision_.delta), when, window, (), expected)

    @classmethod
    def from_estimator(
        cls,
        estimator: Detector,
        X: Rows,
        *,
        time: ArrayLike | None = None,
        window: int | None = None,
        ax: Panels | None = None,
    ) -> Self:
        """Score rows in the order of time with a fitted model, which is not updated, and draw.

        Parameters
        ----------
        estimator : fitted classifier, pipeline, search or TableDetector
            Model that scores the rows.
        X : array-like of shape (n_samples, n_features)
            Rows in the order of time.
        time : array-like of shape (n_samples,), optional
            Time of each row, in ascending order; by default the number of the row.
        window : int, optional
            Rows of each window; by default a fiftieth of the rows, but at least 20.
        ax : two matplotlib axes, optional
            Axes to draw on; new ones by default.

        Returns
        -------
        DriftDisplay
        """
        return cls.of(estimator, X, time=time, window=window).plot(ax)

    @classmethod
    def from_verdicts(
        cls,
        verdicts: Iterable[Verdict],
        *,
        delta: float,
        window: int | None = None,
        ax: Panels | None = None,
        draw: bool = True,
    ) -> Self:
        """Draw the scores and labels that a `Stream` gave to rows before it learned from them, and its events.

        Parameters
        ----------
        verdicts : iterable of Verdict
            Results of `Stream.watch`, in the order of time.
        delta : float
            Requested false-alarm rate: the `delta` of the stream.
        window : int, optional
            Rows of each window; by default a fiftieth of the rows, but at least 20.
        ax : two matplotlib axes, optional
            Axes to draw on; new ones by default.
        draw : bool, default=True
            Whether to draw the display.

        Returns
        -------
        DriftDisplay
        """
        results = list(verdicts)
        if not results:
            raise ValueError("DriftDisplay: verdicts must hold at least one Verdict, got none")
        scores, labels, rows = (
            np.concatenate([getattr(v, name) for v in results]) for name in ("scores", "labels", "rows")
        )
        events = tuple((event.row, event.kind) for verdict in results for event in verdict.events)
        shown = cls(numbers(scores), labels < 0, delta, rows, _window(window, len(scores)), events)
        return shown.plot(ax) if draw else shown

    @property
    def _blocks(self) -> list[slice]:
        n = len(self.scores)
        return [slice(a, a + self.window) for a in range(0, max(n - self.window, 0) + 1, self.window)]

    @property
    def rates(self) -> Float:
        """Share of alarms in each window; rows after the last full window are not counted."""
        return np.array([np.mean(self.alarms[block]) for block in self._blocks])

    @property
    def times(self) -> NDArray[np.generic]:
        """Time of the last row of each window."""
        return self.time[[min(block.stop, len(self.time)) - 1 for block in self._blocks]]

    @property
    def losses(self) -> Float:
        """Quantiles of the loss (minus the score) in each window, at 5 %, 50 % and 95 %: an array with three rows."""
        return np.stack([np.quantile(-self.scores[block], [0.05, 0.5, 0.95]) for block in self._blocks], axis=1)

    def plot(self, ax: Panels | None = None) -> Self:
        """Draw losses on the first axes and alarm rates on the second; return the display."""
        self.figure_, self.ax_ = panels(ax, 2, 1, size=(10, 5.5))
        when, (low, middle, high) = self.times, self.losses
        top, bottom = self.ax_.ravel()
        top.fill_between(when, low, high, color=INSIDE, alpha=0.25, linewidth=0, label="5 to 95 % of the rows")
        top.plot(when, middle, color=INSIDE, label="median")
        if needs_log_scale(self.losses, np.median(middle)):
            top.set_yscale("log")
        top.set(ylabel="loss (minus score)", title=f"Windows of {self.window} rows")
        tails = [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]
        fewest, most = self.expected or binom(self.window, self.delta).ppf(tails) / self.window
        bottom.axhspan(fewest, most, color=PALE, label=f"expected for {self.window} normal rows, {percent(CONFIDENCE)}")
        bottom.axhline(self.delta, color=LINE, linestyle=":", label="requested rate")
        bottom.plot(when, self.rates, color=OUTSIDE, marker=".", label="alarms")
        bottom.set(xlabel="time" if not np.issubdtype(self.time.dtype, np.integer) else "row", ylabel="alarm rate")
        bottom.set_ylim(0, None)
        for panel in (top, bottom):
            self._mark_events(panel, named=panel is bottom)
            panel.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
        return self

    def _mark_events(self, panel: Axes, *, named: bool) -> None:
        for kind in dict.fromkeys(kind for _, kind in self.events):
            times = [time for time, of in self.events if of == kind]
            label = f"event: {kind}" if named else None
            for time in times:
                panel.axvline(time, color=LINE, linewidth=1, linestyle=_STYLES.get(kind, "-"), label=label)
                label = None


def _window(window: int | None, n: int) -> int:
    return max(_WINDOW_ROWS, n // _WINDOWS) if window is None else int(window)
