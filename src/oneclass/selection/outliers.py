"""Outliers made up around the targets, to tune on when there are no real ones."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..base.seeds import random_of
from ..core.outliers import OutlierGenerator
from ..core.typing import Rows, Seed

__all__ = ["OUTLIERS", "generate_outliers"]

Float = NDArray[np.float64]

#: How far beyond the targets outliers reach, in each direction.
_REACH = 1.1


def _whiten(X: Float) -> tuple[Float, Callable[[Float], Float]]:
    """Targets on the principal axes that vary, in units of their deviation, and the way back."""
    mean = X.mean(axis=0)
    _, deviations, axes = np.linalg.svd((X - mean) / math.sqrt(max(1, len(X) - 1)), full_matrices=False)
    kept = deviations > 1e-10 * max(deviations[0], 1e-300)
    axes, deviations = axes[kept], deviations[kept]
    return (X - mean) @ (axes / deviations[:, None]).T, lambda Z: Z * deviations @ axes + mean


def _ball(X: Float, n: int, random: np.random.RandomState) -> Float:
    """Uniform in the ball around the whitened targets that just holds them, made a little larger."""
    Z, back = _whiten(X)
    d = Z.shape[1]
    directions = random.standard_normal((n, d))
    directions /= np.sqrt(np.sum(directions**2, axis=1, keepdims=True))
    radius = _REACH * math.sqrt(float(np.max(np.sum(Z**2, axis=1))))
    return back(directions * radius * random.uniform(size=(n, 1)) ** (1 / d))


def _box(X: Float, n: int, random: np.random.RandomState) -> Float:
    """Uniform in the box of the features' ranges, made a little larger."""
    low, high = X.min(axis=0), X.max(axis=0)
    middle, half = (low + high) / 2, np.where(high > low, high - low, 1.0) / 2
    return np.asarray(random.uniform(middle - _REACH * half, middle + _REACH * half, size=(n, X.shape[1])))


def _gaussian(X: Float, n: int, random: np.random.RandomState) -> Float:
    """A Gaussian about the targets' mean with twice their deviation on every principal axis."""
    Z, back = _whiten(X)
    return back(2 * random.standard_normal((n, Z.shape[1])))


def _histogram(X: Float, n: int, random: np.random.RandomState) -> Float:
    """The one-class random forest's: every feature by itself, where targets are rare."""
    made = OutlierGenerator.of(X, enlargement=1.2, n_bins=50)
    return np.asarray(made.draw(n, np.arange(X.shape[1]), random))


#: Ways to make up outliers, by name.
OUTLIERS: dict[str, Callable[[Float, int, np.random.RandomState], Float]] = {
    "ball": _ball,
    "box": _box,
    "gaussian": _gaussian,
    "histogram": _histogram,
}


def generate_outliers(X: Rows, n: int, *, kind: str = "ball", random_state: Seed = 0) -> Float:
    """Rows around the targets that stand for outliers.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Targets.
    n : int
        Number of outliers.
    kind : {"ball", "box", "gaussian", "histogram"}, default="ball"
        Uniform in a ball around the targets (on their principal axes); uniform in the box of their ranges; a Gaussian
        twice as wide as they are; or the complement of each feature's histogram, as the one-class random forest does.
    random_state : int, RandomState instance or None, default=0
        Seed of the draw.

    Returns
    -------
    array of shape (n, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> generate_outliers(X, 5, kind="box").shape
    (5, 3)
    """
    rows = np.asarray(X, dtype=float)
    if kind not in OUTLIERS:
        listed = ", ".join(repr(name) for name in OUTLIERS)
        raise ValueError(f"generate_outliers: kind must be one of {listed}; got {kind!r}")
    if rows.ndim != 2:
        raise ValueError(f"generate_outliers: X must have two dimensions (rows, features), got {rows.ndim}")
    return OUTLIERS[kind](rows, n, random_of(random_state))
