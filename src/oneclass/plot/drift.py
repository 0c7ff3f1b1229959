"""DriftDisplay: scores and alarms over time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binom

from ..base.protocol import Detector
from ..core.typing import Rows
from .drawing import INSIDE, LINE, OUTSIDE, PALE, SURE, Float, Panels, Several, fitted, numbers, panels, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..stream.result import Verdict

__all__ = ["DriftDisplay"]

#: Points along the time, unless told otherwise, and the fewest rows behind one.
_POINTS, _FEWEST = 50, 20
#: Kinds of events in the order of their line styles.
_STYLES = {"change": "-", "mode": "-.", "wider": ":", "shift": "--", "strange": (0, (1, 2)), "forgotten": (0, (5, 5))}


@dataclass
class DriftDisplay:
    """How scores move and how many rows alarm, over time; of a stream its events too.

    Parameters
    ----------
    scores : array of shape (n_samples,)
        Scores in the order of time.
    alarms : bool array of shape (n_samples,)
        Which rows were rejected.
    asked : float
        The share of normal rows that may be.
    time : array of shape (n_samples,)
        When each row came: its number, or any time that can be drawn.
    window : int
        Rows behind each point.
    events : tuple of (time, kind)
        What a stream told of.
    expected : (float, float) or None
        Between which rates a window of normal rows alarms, 95 %; None takes independent rows at the rate asked for.

    Attributes
    ----------
    figure_, ax_ : matplotlib figure and array of its two axes
        Once `plot` was called.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass import Stream
    >>> from oneclass.plot import DriftDisplay
    >>> rng = np.random.default_rng(0)
    >>> stream = Stream(window=300).fit(rng.normal(size=(300, 2)))
    >>> verdicts = [stream.watch(rng.normal(size=(50, 2)) + 0.1 * t) for t in range(8)]
    >>> shown = DriftDisplay.from_verdicts(verdicts, asked=stream.delta, window=50, draw=False)
    >>> len(shown.rates)
    8
    """

    scores: Float
    alarms: np.ndarray[Any, Any]
    asked: float
    time: np.ndarray[Any, Any]
    window: int
    events: tuple[tuple[Any, str], ...] = ()
    expected: tuple[float, float] | None = None
    figure_: Figure = field(init=False, repr=False, compare=False)
    ax_: Several = field(init=False, repr=False, compare=False)

    @classmethod
    def of(cls, estimator: Detector, X: Rows, *, time: ArrayLike | None = None, window: int | None = None) -> Self:
        """What there is to draw, without drawing it; the parameters are those of `from_estimator`."""
        model = fitted(estimator)
        scores, alarms = numbers(model.score_samples(X)), numbers(model.predict(X)) < 0
        window, known = _window(window, len(scores)), model.calibration_
        expected = None
        if known is not None and model.decision_.held_out:
            fewest, most = known.alarms(model.decision_.budget(known.total), window, SURE)[1:]
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
        """Judge rows that came one after the other, by a classifier that learns no more, and draw.

        Parameters
        ----------
        estimator : fitted classifier of the library, a pipeline that ends in one, a search or a table detector
            What is judged by.
        X : array-like of shape (n_samples, n_features)
            Rows in the order of time.
        time : array-like of shape (n_samples,), optional
            When each row came, in ascending order; else their numbers.
        window : int, optional
            Rows behind each point; a fiftieth of them unless given, and at least 20.
        ax : two matplotlib axes, optional
            Where to draw.

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
        asked: float,
        window: int | None = None,
        ax: Panels | None = None,
        draw: bool = True,
    ) -> Self:
        """Draw what a `Stream` said of rows before it learned them, and its events.

        Parameters
        ----------
        verdicts : iterable of Verdict
            What `Stream.watch` returned, in order.
        asked : float
            The share of normal rows that may alarm: the stream's `delta`.
        window : int, optional
            Rows behind each point; a fiftieth of them unless given, and at least 20.
        ax : two matplotlib axes, optional
            Where to draw.
        draw : bool, default=True
            Whether to draw.

        Returns
        -------
        DriftDisplay
        """
        told = list(verdicts)
        if not told:
            raise ValueError("DriftDisplay: verdicts must hold at least one Verdict, got none")
        scores, labels, rows = (
            np.concatenate([getattr(v, name) for v in told]) for name in ("scores", "labels", "rows")
        )
        events = tuple((event.row, event.kind) for verdict in told for event in verdict.events)
        shown = cls(numbers(scores), labels < 0, asked, rows, _window(window, len(scores)), events)
        return shown.plot(ax) if draw else shown

    @property
    def _blocks(self) -> list[slice]:
        n = len(self.scores)
        return [slice(a, a + self.window) for a in range(0, max(n - self.window, 0) + 1, self.window)]

    @property
    def rates(self) -> Float:
        """Share of alarms in each window; rows at the end that fill none are not counted."""
        return np.array([np.mean(self.alarms[block]) for block in self._blocks])

    @property
    def times(self) -> NDArray[np.generic]:
        """The time of the last row of each window."""
        return self.time[[min(block.stop, len(self.time)) - 1 for block in self._blocks]]

    @property
    def losses(self) -> Float:
        """Minus the score of the 5 %, 50 % and 95 % most normal row of each window: an array with three rows."""
        return np.stack([np.quantile(-self.scores[block], [0.05, 0.5, 0.95]) for block in self._blocks], axis=1)

    def plot(self, ax: Panels | None = None) -> Self:
        """Draw losses on the first axes and alarm rates on the second; returns the display itself."""
        self.figure_, self.ax_ = panels(ax, 2, 1, size=(10, 5.5))
        when, (low, middle, high) = self.times, self.losses
        top, bottom = self.ax_.ravel()
        top.fill_between(when, low, high, color=INSIDE, alpha=0.25, linewidth=0, label="5 to 95 % of the rows")
        top.plot(when, middle, color=INSIDE, label="median")
        if low.min() > 0 and high.max() > 20 * np.median(middle):
            top.set_yscale("log")
        top.set(ylabel="minus score", title=f"Windows of {self.window} rows")
        fewest, most = (
            self.expected or binom(self.window, self.asked).ppf([(1 - SURE) / 2, (1 + SURE) / 2]) / self.window
        )
        bottom.axhspan(fewest, most, color=PALE, label=f"to expect of {self.window} normal rows, {percent(SURE)}")
        bottom.axhline(self.asked, color=LINE, linestyle=":", label="asked")
        bottom.plot(when, self.rates, color=OUTSIDE, marker=".", label="alarms")
        bottom.set(xlabel="time" if not np.issubdtype(self.time.dtype, np.integer) else "row", ylabel="share of alarms")
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
    return max(_FEWEST, n // _POINTS) if window is None else int(window)
