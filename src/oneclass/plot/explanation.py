"""ExplanationDisplay: contribution of each column to the score of a row, as bars or as a heat map."""

from __future__ import annotations

from dataclasses import dataclass, field
from textwrap import fill
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..base.explanation import Explanation
from ..base.protocol import Detector
from ..base.reason import Reason
from ..core.typing import Rows
from .drawing import INSIDE, LINE, Display, Panels, Several, axes, fitted, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["ExplanationDisplay"]

#: Most characters in a line of a column name, most lines of it, and most characters of value and expected value.
_LINE_CHARACTERS, _LINES, _VALUE_CHARACTERS = 30, 4, 60
#: The text is inside a bar that is longer than this share of the longest bar, and otherwise beside it.
_LONG_BAR = 0.55


@dataclass(repr=False)
class ExplanationDisplay(Display):
    """Explanation of one row: its main columns with value, expected value and share, or a heat map of an image.

    Parameters
    ----------
    explanation : Explanation
        Explanation of one row or more.
    row : int, default=0
        Row to draw, counted from 0.
    k : int, default=8
        Most columns to draw.
    image_shape : (int, int), optional
        Shape of the images that the rows hold. The image, the expected image and the shares are drawn instead of bars.

    Attributes
    ----------
    figure_, ax_ : matplotlib figure and axes, an array of three for images
        Set by `plot`.

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
        """Explain a row and draw the explanation.

        Parameters
        ----------
        estimator : fitted classifier, pipeline, search or TableDetector
            Model that scores the rows.
        X : array-like of shape (n_samples, n_features)
            Rows that contain the row to draw.
        row : int, default=0
            Row to draw, counted from 0.
        k : int, default=8
            Most columns to draw.
        image_shape : (int, int), optional
            Shape of the images that the rows hold.
        ax : matplotlib axes, three for images, optional
            Axes to draw on; new ones by default.

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
        """The columns that are drawn as bars, the largest share first."""
        return self.explanation.row(self.row)[: self.k]

    def plot(self, ax: Panels | None = None) -> Self:
        """Draw bars, or images; return the display."""
        return self._plot_bars(ax) if self.image_shape is None else self._plot_images(ax, self.image_shape)

    def _plot_bars(self, ax: Panels | None) -> Self:
        reasons = self.reasons
        names = [fill(str(reason.column), _LINE_CHARACTERS, max_lines=_LINES, placeholder="…") for reason in reasons]
        lines = 1 + max((name.count("\n") for name in names), default=0)
        self.figure_, bars = axes(ax, size=(7, 1.2 + (0.25 + 0.2 * lines) * len(reasons)))
        self.ax_ = bars
        shares = [reason.share for reason in reasons]
        places = np.arange(len(reasons))
        bars.barh(places, shares, color=INSIDE, alpha=0.85)
        for place, reason in zip(places, reasons, strict=True):
            inside = reason.share > _LONG_BAR * max(shares)  # keeps the text within the axes
            text = str(reason).removeprefix(f"{reason.column}=")
            text = text if len(text) <= _VALUE_CHARACTERS else f"{text[: _VALUE_CHARACTERS - 1]}…"
            bars.annotate(
                text,
                (reason.share, place),
                xytext=(-4 if inside else 4, 0),
                textcoords="offset points",
                ha="right" if inside else "left",
                va="center",
                color="white" if inside else LINE,
                fontsize="small",
            )
        bars.set_yticks(places, names, fontsize="medium" if lines == 1 else "small")
        bars.set(xlabel="share of the score", ylim=(len(reasons) - 0.4, -0.6), xlim=(0, max(shares) * 1.02))
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
        images[2].set_title("share of the score", fontsize="medium")
        bar = self.figure_.colorbar(heat, ax=images[2], shrink=0.8)
        bar.ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
        for panel in images:
            panel.set(xticks=[], yticks=[])
        return self
