"""ExplanationDisplay: why a row is strange, as bars or as a heat map."""

from __future__ import annotations

from dataclasses import dataclass, field
from textwrap import fill
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..base.explanation import Explanation, Reason
from ..base.protocol import Detector
from ..core.typing import Rows
from .drawing import INSIDE, LINE, Panels, Several, axes, fitted, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["ExplanationDisplay"]

#: Letters of a line of a column's name, lines of it, and letters of value and expected value, at most.
_WIDE, _LINES, _LONG = 30, 4, 60


@dataclass
class ExplanationDisplay:
    """Why one row is strange: its worst columns with value, expected value and share; of an image, a heat map.

    Parameters
    ----------
    explanation : Explanation
        Of one row or more.
    row : int, default=0
        The row to draw, counted from 0.
    k : int, default=8
        Columns to draw, at most.
    image_shape : (int, int), optional
        Rows are images of this shape: the image, the expected one and the shares are drawn instead of bars.

    Attributes
    ----------
    figure_, ax_ : matplotlib figure and axes, an array of three for images
        Once `plot` was called.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass import VAAKELM
    >>> from oneclass.plot import ExplanationDisplay
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> shown = ExplanationDisplay(VAAKELM().fit(X).explain([[0.0, 9.0, 0.5]]))
    >>> shown.reasons[0].column
    1
    """

    explanation: Explanation
    row: int = 0
    k: int = 8
    image_shape: tuple[int, int] | None = None
    figure_: Figure = field(init=False, repr=False, compare=False)
    ax_: Axes | Several = field(init=False, repr=False, compare=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Detector,
        X: Rows,
        *,
        row: int = 0,
        k: int = 8,
        image_shape: tuple[int, int] | None = None,
        ax: Panels | None = None,
    ) -> Self:
        """Explain a row and draw.

        Parameters
        ----------
        estimator : fitted classifier of the library, a pipeline that ends in one, a search or a table detector
            What is judged by.
        X : array-like of shape (n_samples, n_features)
            Rows.
        row : int, default=0
            The one to draw, counted from 0.
        k : int, default=8
            Columns to draw, at most.
        image_shape : (int, int), optional
            Rows are images of this shape.
        ax : matplotlib axes, three for images, optional
            Where to draw.

        Returns
        -------
        ExplanationDisplay
        """
        rows: Any = X
        one = rows.iloc[[row]] if hasattr(rows, "iloc") else rows[row : row + 1 or None]
        found = fitted(estimator).explain(one)
        return cls(found, 0, k, image_shape).plot(ax)

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The columns that are drawn as bars, the worst first."""
        return self.explanation.row(self.row)[: self.k]

    def plot(self, ax: Panels | None = None) -> Self:
        """Draw; returns the display itself."""
        return self._plot_bars(ax) if self.image_shape is None else self._plot_images(ax, self.image_shape)

    def _plot_bars(self, ax: Panels | None) -> Self:
        reasons = self.reasons
        names = [fill(str(reason.column), _WIDE, max_lines=_LINES, placeholder="…") for reason in reasons]
        lines = 1 + max((name.count("\n") for name in names), default=0)
        self.figure_, bars = axes(ax, size=(7, 1.2 + (0.25 + 0.2 * lines) * len(reasons)))
        self.ax_ = bars
        shares = [reason.share for reason in reasons]
        places = np.arange(len(reasons))
        bars.barh(places, shares, color=INSIDE, alpha=0.85)
        for place, reason in zip(places, reasons, strict=True):
            # After the bar where it is short, else inside: words never leave the axes.
            inside = reason.share > 0.55 * max(shares)
            said = str(reason).removeprefix(f"{reason.column}=")
            said = said if len(said) <= _LONG else f"{said[: _LONG - 1]}…"
            bars.annotate(
                said,
                (reason.share, place),
                xytext=(-4 if inside else 4, 0),
                textcoords="offset points",
                ha="right" if inside else "left",
                va="center",
                color="white" if inside else LINE,
                fontsize="small",
            )
        bars.set_yticks(places, names, fontsize="medium" if lines == 1 else "small")
        bars.set(xlabel="share of the blame", ylim=(len(reasons) - 0.4, -0.6), xlim=(0, max(shares) * 1.02))
        bars.set_title(f"Row {self.explanation.index[self.row]}: value (expected value)", fontsize="medium", loc="left")
        bars.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
        return self

    def _plot_images(self, ax: Panels | None, shape: tuple[int, int]) -> Self:
        self.figure_, images = panels(ax, 1, 3, size=(8, 3))
        self.ax_ = images
        found = self.explanation
        value, expected = (x[self.row].astype(float).reshape(shape) for x in (found.values, found.expected))
        low, high = float(value.min()), float(value.max())
        for place, (image, title) in enumerate([(value, "image"), (expected, "expected")]):
            images[place].imshow(image, cmap="gray_r", vmin=low, vmax=high)
            images[place].set_title(title, fontsize="medium")
        heat = images[2].imshow(found.shares[self.row].reshape(shape), cmap="cividis", vmin=0)
        images[2].set_title("share of the blame", fontsize="medium")
        bar = self.figure_.colorbar(heat, ax=images[2], shrink=0.8)
        bar.ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
        for panel in images:
            panel.set(xticks=[], yticks=[])
        return self
