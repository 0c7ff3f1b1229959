"""PCADetector: reject rows that are far from the plane of the principal components."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Annotated, ClassVar, final

import numpy as np
from sklearn.decomposition import PCA

from ..base.checks import check_integer, check_number
from ..core.arrays import Array
from ..core.stored import Floats
from ._base import Explained
from ._rounding import UNIT, Rounding
from ._training import ExplainedModel, Training

__all__ = ["PCADetector"]


#: Largest cost n d³ of leave-one-out losses.
_LEAVE_ONE_OUT_COST = 1e9
#: Largest number of rows for leave-one-out losses. With more rows, folds take a seventh of the time and move
#: thresholds by only 0.1 %.
_LEAVE_ONE_OUT_ROWS = 2_000
#: Largest number of values in the scatter matrices that are decomposed at once.
_SCATTER_VALUES = 1 << 22


@final
class PCADetector(Explained["_Plane"]):
    """Reject rows that are far from the plane of the principal components.

    The loss is ``‖(I - P)(z - mean)‖²``, where P projects on the principal components in use. A row far away along the
    plane is normal. With ``scale="robust"``, rows with huge values in several columns may be near the plane: ``asinh``
    makes such values nearly the same.

    Parameters
    ----------
    {delta}
    {confidence}
    {rate_by}
    n_components : float in (0, 1) or int, default=0.9
        Share of the variance that the components explain, or number of components. At least one direction is always
        left out, because otherwise the loss of every row would be zero; if `n_components` is a share, constant features
        do not count for this. The loss of a single feature is therefore its squared distance from the mean.
    {scale}
    {threshold_of_leave_one_out}
    {hold_out_of_closed_form}

    Attributes
    ----------
    {offset_}
    {calibration_}
    components_ : array of shape (n_components, n_features)
        Principal directions in use.
    mean_ : array of shape (n_features,)
        Mean of the scaled training rows.
    n_components_ : int
        Number of components in use.
    {scaler_and_features_}

    Notes
    -----
    Held-out losses are leave-one-out losses, equal to those of a new fit without the row. They come from the
    eigenvectors of the scatter matrices without each row. With more than 2,000 rows, or if n d³ is above 1e9, they are
    the losses of five folds instead.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass.baselines import PCADetector
    >>> t = np.random.default_rng(0).normal(size=(200, 1))
    >>> X = np.hstack([t, t]) + 0.1 * np.random.default_rng(1).normal(size=(200, 2))
    >>> PCADetector(n_components=1).fit(X).predict([[2.0, 2.0], [2.0, -2.0]])
    array([ 1, -1])
    """

    _learns_quickly: ClassVar = True
    _published: ClassVar = ("components", "mean", "n_components")
    model_: _Plane

    def __init__(
        self,
        *,
        delta: float = 0.05,
        confidence: float | None = None,
        rate_by: str = "group",
        n_components: float = 0.9,
        scale: str | bool = "zscore",
        threshold: str = "held_out",
        hold_out: str | float = "auto",
    ) -> None:
        self.delta = delta
        self.confidence = confidence
        self.rate_by = rate_by
        self.n_components = n_components
        self.scale = scale
        self.threshold = threshold
        self.hold_out = hold_out

    def _learn(self, training: Training) -> _Plane:
        Z, rounding = training.Z, training.rounding
        origin = Z.mean(axis=0)  # centering twice removes the rounding error of the mean
        with np.errstate(invalid="ignore", divide="ignore"):  # equal rows have no variance
            found = PCA(self._wanted(Z), svd_solver="full").fit(Z - origin)
        noise = np.finfo(float).eps * len(Z) * found.singular_values_.max(initial=0)
        noise += np.sqrt(len(Z)) * np.abs(found.components_) @ rounding(np.zeros(Z.shape[1]))
        kept = np.flatnonzero(found.singular_values_ > noise)[: self._most(Z.shape[1], np.ptp(Z, axis=0), rounding)]
        mean, spreads = origin + found.mean_, found.singular_values_[kept] / np.sqrt(len(Z))
        return _Plane(found.components_[kept], mean, spreads, Z[_size(Z - mean).argmax()], rounding)

    def _wanted(self, Z: Array) -> float:
        n, d = Z.shape
        if not isinstance(self.n_components, numbers.Integral):
            share = check_number(self, "n_components", 0, 1)
            return share if np.ptp(Z, axis=0).any() else 0
        if check_integer(self, "n_components", 0) >= d:
            raise ValueError(f"{self._name}: n_components must be below n_features = {d}, got {self.n_components!r}")
        return min(self.n_components, n)

    def _most(self, d: int, ranges: Array, rounding: Rounding) -> Array:
        """Largest number of components for features with these ranges (last axis)."""
        if isinstance(self.n_components, numbers.Integral):
            return np.full(ranges.shape[:-1], d - 1)
        return np.maximum(np.sum(ranges > 2 * rounding(np.zeros(d)), axis=-1) - 1, 0)

    def _held_out_losses(self, model: _Plane, training: Training) -> Array | None:
        n, d = training.Z.shape
        if training.groups is not None or n < 3 or n > _LEAVE_ONE_OUT_ROWS or n * d**3 > _LEAVE_ONE_OUT_COST:
            return None
        centered = training.Z - model.mean
        scatter = centered.T @ centered
        most = self._most(d, _ranges_of_others(training.Z), training.rounding)
        losses = np.empty(n)
        for rows in np.array_split(np.arange(n), -(-n * d**2 // _SCATTER_VALUES)):
            away = centered[rows] * (n / (n - 1))  # difference from the mean of the other rows
            values, vectors = np.linalg.eigh(scatter - away[:, :, None] * centered[rows][:, None, :])
            coordinates = np.einsum("ij,ijk->ik", away, vectors)[:, ::-1]
            losses[rows] = np.sum(coordinates**2, axis=1, where=~self._kept(values[:, ::-1], n - 1, most[rows]))
        return losses

    def _kept(self, values: Array, n: int, most: Array) -> Array:
        """Which directions `_learn` would use, at most `most`, for descending eigenvalues of scatters of n rows."""
        d = values.shape[1]
        values = np.clip(values, 0, None)
        solid = values > np.finfo(float).eps * n * values[:, :1]  # smaller eigenvalues are rounding errors
        if isinstance(self.n_components, numbers.Integral):
            count = np.full((len(values), 1), min(self.n_components, n))
        else:
            total = np.maximum(values.sum(axis=1, keepdims=True), np.finfo(float).tiny)
            count = 1 + np.sum(np.cumsum(values, axis=1) / total <= self.n_components, axis=1, keepdims=True)
        return solid & (np.arange(d) < np.minimum(count, most[:, None]))


def _ranges_of_others(Z: Array) -> Array:
    """For each row, the ranges of the features over all other rows; for at least three rows."""
    low, next_low, next_high, high = np.partition(Z, (0, 1, -2, -1), axis=0)[[0, 1, -2, -1]]
    return np.where(high == Z, next_high, high) - np.where(low == Z, next_low, low)


@dataclass(frozen=True)
class _Plane(ExplainedModel):
    components: Annotated[Array, Floats("_k? d")]
    mean: Annotated[Array, Floats("d")]
    spreads: Annotated[Array, Floats("_k?")]  # standard deviations of the training rows along the components
    farthest: Annotated[Array, Floats("d")]  # the training row farthest from the mean
    rounding: Rounding

    @property
    def n_components(self) -> int:
        return len(self.components)

    def contributions(self, Z: Array) -> Array:
        centered = Z - self.mean
        coordinates = centered @ self.components.T
        residuals = centered - coordinates @ self.components
        # The directions have errors from the rounding of the training rows, which grow with the distance from the mean.
        spreads = _size(coordinates / self.spreads)
        rounding = self.rounding_off_the_plane(Z) + spreads * self.rounding_off_the_plane(self.farthest)
        return np.where(np.abs(residuals) > rounding, residuals, 0) ** 2

    def expected(self, Z: Array) -> Array:
        return self.mean + (Z - self.mean) @ self.components.T @ self.components

    def rounding_off_the_plane(self, Z: Array) -> Array:
        """Bound on the rounding error of residuals, from the rows and from their projection."""
        rounding, directions = self.rounding(Z), np.abs(self.components)
        return rounding + rounding @ directions.T @ directions + UNIT * _size(Z - self.mean)


def _size(rows: Array) -> Array:
    """An upper bound on the norm of each row, as a column; computed without squares, which could overflow."""
    return np.sqrt(rows.shape[-1]) * np.abs(rows).max(axis=-1, keepdims=True, initial=0)
