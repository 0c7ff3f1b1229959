"""MapDisplay: normal and flagged rows in two dimensions."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import KernelPCA
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from ..base.protocol import Detector
from ..base.segments import without_labels
from ..core.arrays import to_numpy
from ..core.typing import Rows
from .drawing import INSIDE, OUTSIDE, Display, Float, axes, fitted, numbers, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["MapDisplay"]

#: Most rows that the components are computed from: the time of kernel PCA grows with the cube of their number.
_MAP_ROWS = 1000
#: If the trace of the centred kernel matrix is less than this share of that of the matrix, it is a rounding error.
_TRACE_ROUNDING = 1e-12


@dataclass(repr=False)
class MapDisplay(Display):
    """Normal and flagged rows on the first two principal components of the normal rows.

    Parameters
    ----------
    places : array of shape (n_samples, 2)
        Coordinates of each row.
    flagged : bool array of shape (n_samples,)
        Which rows are flagged.
    variance : (float, float)
        Shares of the variance of the normal rows, in the feature space of the kernel, along the components.

    Attributes
    ----------
    figure_, ax_ : matplotlib figure and axes
        Set by `plot`.

    Notes
    -----
    The components are those of scikit-learn's ``KernelPCA``, fitted on the rows that are not flagged, after the steps
    of a pipeline and the scaling of the classifier. ``kernel="linear"`` is ordinary PCA and preserves large distances.
    A local kernel such as ``"rbf"`` separates clusters better, but draws all rows that are far from the others near one
    point.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass import KNNDetector
    >>> from oneclass.plot import MapDisplay
    >>> X = np.random.default_rng(0).normal(size=(199, 5))
    >>> shown = MapDisplay.of(KNNDetector().fit(X), np.vstack([X[:50], [9.0] * 5]))
    >>> bool(np.linalg.norm(shown.places, axis=1).argmax() == 50), bool(shown.flagged[50])
    (True, True)
    """

    places: Float
    flagged: NDArray[np.bool_]
    variance: tuple[float, float]
    figure_: Figure = field(init=False, repr=False, compare=False)
    ax_: Axes = field(init=False, repr=False, compare=False)

    @classmethod
    def of(cls, estimator: Detector, X: Rows, *, kernel: str = "linear", **options: Any) -> Self:
        """The display without a drawing; the parameters are those of `from_estimator`."""
        model = fitted(estimator)
        flagged = numbers(model.predict(X)) < 0
        Z = _prepared(model, X)
        normal = Z[~flagged] if (~flagged).sum() > 1 else Z
        some = normal[:: -(-len(normal) // _MAP_ROWS)]
        known = KernelPCA(2, kernel=kernel, **options)
        shape = {
            "gamma": 1 / Z.shape[1] if known.gamma is None else known.gamma,
            "degree": known.degree,
            "coef0": known.coef0,
        }
        K = pairwise_kernels(some, metric=kernel, filter_params=True, **shape)
        # The variance is the trace of the centred kernel matrix, the sum of all its eigenvalues.
        total = np.trace(K) - K.sum() / len(K)
        if total <= _TRACE_ROUNDING * np.trace(K):  # one row, or equal rows
            return cls(np.zeros((len(Z), 2)), flagged, (0.0, 0.0))
        places = known.fit(some).transform(Z)
        places = np.pad(places, ((0, 0), (0, 2 - places.shape[1])))  # a single column has a single component
        first, second = [*(known.eigenvalues_ / total).tolist(), 0.0][:2]
        return cls(places, flagged, (first, second))

    @classmethod
    def from_estimator(
        cls, estimator: Detector, X: Rows, *, kernel: str = "linear", ax: Axes | None = None, **options: Any
    ) -> Self:
        """Score rows, project them and draw them.

        Parameters
        ----------
        estimator : fitted classifier, pipeline, search or TableDetector
            Model that scores the rows.
        X : array-like of shape (n_samples, n_features)
            Rows to draw.
        kernel : str, default="linear"
            Kernel of the principal components.
        ax : matplotlib axes, optional
            Axes to draw on; new ones by default.
        **options
            Passed on to ``KernelPCA``, such as ``gamma=``.

        Returns
        -------
        MapDisplay
        """
        return cls.of(estimator, X, kernel=kernel, **options).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw normal rows as points and flagged rows as crosses; return the display."""
        self.figure_, self.ax_ = axes(ax, size=(6, 5))
        points = partial(self.ax_.scatter, c=INSIDE, s=14, alpha=0.5, linewidths=0)
        crosses = partial(self.ax_.scatter, c=OUTSIDE, s=28, marker="x", linewidths=1.3)
        for which, what, draw in ((~self.flagged, "normal", points), (self.flagged, "flagged", crosses)):
            if which.any():
                draw(*self.places[which].T, label=f"{what} ({which.sum()} rows)")
        first, second = (f"component, {percent(round(share, 2))} of the variance" for share in self.variance)
        self.ax_.set(xlabel=f"first {first}", ylabel=f"second {second}")
        self.ax_.legend(frameon=False)
        return self


def _prepared(model: Any, X: Rows) -> Float:
    """Rows as the classifier receives them, after the steps of a pipeline, and scaled."""
    if hasattr(model, "best_estimator_"):
        return _prepared(model.best_estimator_, X)
    if isinstance(model, Pipeline):
        return _prepared(model.steps[-1][1], model[:-1].transform(X) if len(model.steps) > 1 else X)
    if hasattr(model, "plan_"):
        return _prepared(model.estimator_, model.encode(X))
    if hasattr(model, "scaler_"):
        scaler, rows = model.scaler_, numbers(without_labels(model, X))
        return numbers(replace(scaler, centre=to_numpy(scaler.centre), scale=to_numpy(scaler.scale))(rows))
    return numbers(StandardScaler().fit_transform(numbers(X)))
