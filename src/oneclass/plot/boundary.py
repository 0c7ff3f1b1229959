"""BoundaryDisplay: the region of normal rows, over two columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.protocol import Detector
from ..core.bins import LARGEST_DRAWN, drawable
from ..core.typing import Name, Rows
from .drawing import INSIDE, LINE, OUTSIDE, Display, Float, axes, fitted, numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["BoundaryDisplay"]

#: P-values at which the shade changes, and the shades between them.
_LEVELS = (0.0, 0.01, 0.05, 0.2, 1.0)
_SHADES = ("#ffffff", "#dbe9f4", "#a9cce3", "#6aaed6")
#: Margin of the grid around the rows, as a share of their range.
_GRID_MARGIN = 0.25


@dataclass(repr=False)
class BoundaryDisplay(Display):
    """The threshold of a classifier over two columns, and its p-values if it has held-out losses.

    Parameters
    ----------
    x, y : arrays of shape (resolution,)
        Coordinates of the grid.
    decision : array of shape (resolution, resolution)
        Decision values, negative for outliers; one row for each value of `y`.
    p_values : array of shape (resolution, resolution) or None
        Conformal p-values.
    points : array of shape (n_samples, 2)
        Rows to draw.
    flagged : bool array of shape (n_samples,)
        Which of these rows are flagged.
    names : (str, str)
        Names of the columns.

    Attributes
    ----------
    figure_, ax_ : matplotlib figure and axes
        Set by `plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass import VAAKELM
    >>> from oneclass.plot import BoundaryDisplay
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> shown = BoundaryDisplay.of(VAAKELM().fit(X), X, resolution=20)
    >>> bool(shown.decision[10, 10] > 0), bool(shown.decision[0, 0] < 0)
    (True, True)
    """

    x: Float
    y: Float
    decision: Float
    p_values: Float | None
    points: Float
    flagged: NDArray[np.bool_]
    names: tuple[str, str]
    figure_: Figure = field(init=False, repr=False, compare=False)
    ax_: Axes = field(init=False, repr=False, compare=False)

    @classmethod
    def of(cls, estimator: Detector, X: Rows, *, columns: tuple[Name, Name] = (0, 1), resolution: int = 100) -> Self:
        """The display without a drawing; the parameters are those of `from_estimator`."""
        model, table = fitted(estimator), _table(X)
        positions = _positions(table, columns)
        points = drawable(np.stack([numbers(_column(table, j)) for j in positions], axis=1))
        reach = np.ptp(points, axis=0)
        low, high = points.min(axis=0) - _GRID_MARGIN * reach, points.max(axis=0) + _GRID_MARGIN * reach
        x, y = (np.linspace(a, b, resolution) for a, b in zip(low, high, strict=True))
        grid = _grid_rows(table, positions, *(axis.ravel() for axis in np.meshgrid(x, y)))
        shape = (resolution, resolution)
        decision = numbers(model.decision_function(grid)).reshape(shape)
        p_values = None if model.calibration_ is None else numbers(model.p_value(grid)).reshape(shape)
        given = list(getattr(table, "columns", ()))
        names = tuple(str(given[j]) if given else f"column {j}" for j in positions)
        return cls(x, y, decision, p_values, points, numbers(model.decision_function(X)) < 0, (names[0], names[1]))

    @classmethod
    def from_estimator(
        cls,
        estimator: Detector,
        X: Rows,
        *,
        columns: tuple[Name, Name] = (0, 1),
        resolution: int = 100,
        ax: Axes | None = None,
    ) -> Self:
        """Score a grid and draw it.

        Parameters
        ----------
        estimator : fitted classifier, pipeline, search or TableDetector
            Model that scores the rows.
        X : array-like of shape (n_samples, n_features)
            Rows to draw; the grid extends a quarter of their range beyond them. On the grid, all other columns have
            their median or most frequent value. The rows themselves are scored with their own values.
        columns : two column names or positions, default=(0, 1)
            The two columns, which must hold numbers. Whole numbers are positions unless both are column names.
        resolution : int, default=100
            Grid points along each column.
        ax : matplotlib axes, optional
            Axes to draw on; new ones by default.

        Returns
        -------
        BoundaryDisplay
        """
        return cls.of(estimator, X, columns=columns, resolution=resolution).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw p-values as shades, the threshold as a line, and the rows; return the display."""
        self.figure_, self.ax_ = axes(ax, size=(6.4, 5))
        if self.p_values is not None:
            filled = self.ax_.contourf(self.x, self.y, self.p_values, levels=_LEVELS, colors=_SHADES)
            self.figure_.colorbar(filled, ax=self.ax_, label="p-value", ticks=_LEVELS)
        self.ax_.contour(self.x, self.y, self.decision, levels=[0.0], colors=LINE, linewidths=1.8)
        self.ax_.plot([], [], color=LINE, linewidth=1.8, label="threshold")
        points = partial(self.ax_.scatter, c=INSIDE, s=12, linewidths=0)
        crosses = partial(self.ax_.scatter, c=OUTSIDE, s=26, marker="x", linewidths=1.3)
        for which, what, draw in ((~self.flagged, "normal", points), (self.flagged, "flagged", crosses)):
            if which.any():
                draw(*self.points[which].T, label=what)
        self.ax_.set(xlabel=self.names[0], ylabel=self.names[1])
        self.ax_.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False, fontsize="small")
        return self


def _table(X: Any) -> Any:
    """A pandas frame for any data frame, otherwise an array of numbers."""
    if hasattr(X, "to_pandas"):
        return X.to_pandas()
    return X if hasattr(X, "iloc") else numbers(X)


def _positions(X: Any, columns: tuple[Name, Name]) -> list[int]:
    """Positions of the columns; whole numbers are positions unless both are column names."""
    if X.shape[1] < 2:
        raise ValueError(f"BoundaryDisplay: X must have at least two columns, got {X.shape[1]}")
    names = list(getattr(X, "columns", ()))
    named = all(column in names for column in columns)
    return [int(column) if isinstance(column, int | np.integer) and not named else names.index(column)
            for column in columns]  # fmt: skip


def _column(X: Any, j: int) -> ArrayLike:
    column: ArrayLike = X.iloc[:, j] if hasattr(X, "iloc") else X[:, j]
    return column


def _grid_rows(X: Any, positions: list[int], first: Float, second: Float) -> Rows:
    """Rows that vary in two columns; all other columns have their median or most frequent value."""
    if not hasattr(X, "iloc"):
        rows = np.tile(np.median(drawable(X), axis=0), (len(first), 1))
        rows[:, positions[0]], rows[:, positions[1]] = first, second
        return rows
    import pandas as pd

    columns = {j: _typical(X.iloc[:, j]) for j in range(X.shape[1])}
    columns[positions[0]], columns[positions[1]] = first, second
    table: Rows = pd.DataFrame(columns, index=range(len(first))).set_axis(X.columns, axis=1)
    return table


def _typical(column: Any) -> object:
    """Median or most frequent value of a column; None if all values are missing."""
    if column.dtype.kind in "iuf":
        return column.clip(-LARGEST_DRAWN, LARGEST_DRAWN).median()
    return next(iter(column.mode()), None)
