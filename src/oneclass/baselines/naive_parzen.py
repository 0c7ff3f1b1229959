"""NaiveParzen: reject rows with a low product of the densities of their features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar, final

import numpy as np

from ..core.arrays import Array, blocks
from ..core.stored import Floats, Length, Positive, Whole
from ._base import Explained
from ._training import ExplainedModel, Training
from ._widths import SAME, TIED, likeliest_width

__all__ = ["NaiveParzen"]

#: Number of rows from which on a density is computed from bins, and number of bins in one width. The bins change the
#: width by less than 0.1 %.
_ROWS_TO_BIN, _BINS_PER_WIDTH = 1000, 16


@final
class NaiveParzen(Explained["_Densities"]):
    """Reject rows with a low product of the densities of their features.

    The loss is ``-sum_j log p_j(z_j)``, where p_j is a Gaussian Parzen density of feature j. Its width maximizes the
    leave-one-out likelihood.

    Parameters
    ----------
    {delta}
    {confidence}
    {rate_by}
    {scale}
    {threshold_of_leave_one_out}
    {hold_out_of_closed_form}

    Attributes
    ----------
    {offset_}
    {calibration_}
    widths_ : array of shape (n_features,)
        Width of the kernel of each feature, in units of the scaled feature.
    densities_ : list of n_features densities
        Parzen density of each feature.
    {scaler_and_features_}

    Notes
    -----
    The likelihood of repeated values grows without bound as the width goes to zero. The width therefore has a lower
    bound: gap / √12, where gap is the smallest difference between two different values. This is the standard deviation
    of a uniform distribution on an interval of length gap. The width of a constant feature is 1.

    From 1,000 rows on, values are grouped into bins of a sixteenth of the width, and each value is replaced by the mean
    of its bin. This changes the width by less than 0.1 %.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass.baselines import NaiveParzen
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> NaiveParzen().fit(X).predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    """

    _learns_quickly: ClassVar = True
    _published: ClassVar = ("widths", "densities")
    model_: _Densities

    def __init__(
        self,
        *,
        delta: float = 0.05,
        confidence: float | None = None,
        rate_by: str = "group",
        scale: str | bool = "zscore",
        threshold: str = "held_out",
        hold_out: str | float = "auto",
    ) -> None:
        self.delta = delta
        self.confidence = confidence
        self.rate_by = rate_by
        self.scale = scale
        self.threshold = threshold
        self.hold_out = hold_out

    def _learn(self, training: Training) -> _Densities:
        return _Densities([_Density.of(x, _likeliest_width(x)) for x in training.Z.T])

    def _held_out_losses(self, model: _Densities, training: Training) -> Array | None:
        if training.groups is not None:
            return None
        columns = zip(model.densities, training.Z.T, strict=True)
        return -np.sum([density.log_held_out(x) for density, x in columns], axis=0)


@dataclass(frozen=True)
class _Densities(ExplainedModel):
    """The densities of all features."""

    densities: Annotated[list[_Density], Length("d")]

    @property
    def widths(self) -> Array:
        return np.array([density.width for density in self.densities])

    @property
    def least(self) -> Array:
        return self._likeliest[1]

    def expected(self, Z: Array) -> Array:
        return np.broadcast_to(self._likeliest[0], Z.shape)

    @cached_property
    def _likeliest(self) -> tuple[Array, Array]:
        """The training value of highest density of each feature, and its part in the loss."""
        found = [(density.points, -density.log(density.points)) for density in self.densities]
        best = [(points[losses.argmin()], losses.min()) for points, losses in found]
        return tuple(np.array(best).T)

    def contributions(self, Z: Array) -> Array:
        return -np.stack([density.log(z) for density, z in zip(self.densities, Z.T, strict=True)], axis=1)


@dataclass(frozen=True)
class _Density:
    """A density: Gaussians of equal width at `points`, where ``points[p]`` counts ``counts[p]`` times."""

    points: Annotated[Array, Floats("_p")]
    counts: Annotated[Array, Whole("_p", low=1)]
    width: Positive
    home: Annotated[Array, Whole("_h", below="_p")]
    """Index of the point that represents each training value."""

    @classmethod
    def of(cls, x: Array, width: float) -> _Density:
        keys = x if len(x) < _ROWS_TO_BIN else np.floor(x * (_BINS_PER_WIDTH / width))
        _, home, counts = np.unique(keys, return_inverse=True, return_counts=True)
        return cls(np.bincount(home, weights=x) / counts, counts, width, home)

    def log(self, z: Array) -> Array:
        """Log density of each value."""
        sums = [peak + np.log(W.sum(axis=1)) for W, peak, _ in self._kernels(z, None)]
        return np.concatenate(sums) - self._log_norm(self.counts.sum())

    def log_held_out(self, x: Array) -> Array:
        """Log density of each training value under the others."""
        sums = [peak + np.log(W.sum(axis=1)) for W, peak, _ in self._kernels(x, self.home)]
        return np.concatenate(sums) - self._log_norm(self.counts.sum() - 1)

    def slope(self) -> float:
        """Derivative of the mean leave-one-out log likelihood with respect to the log width."""
        rows = self._kernels(self.points, np.arange(len(self.points)))
        spreads = [np.vecdot(W, squared) / W.sum(axis=1) for W, _, squared in rows]
        return float(self.counts @ np.concatenate(spreads) / self.counts.sum() / self.width**2 - 1)

    def _kernels(self, z: Array, home: Array | None) -> Iterator[tuple[Array, Array, Array]]:
        """In blocks of rows: kernel values divided by the largest in the row, its logarithm, and squared distances.

        `home` holds the points that represent the values `z`: the value itself is left out of its point.
        """
        for a, b in blocks(len(z), 16 * len(self.points), self.points):  # blocks fit into the processor's cache
            squared = z[a:b, None] - self.points
            squared *= squared
            E = squared * (-0.5 / self.width**2)
            E += np.log(self.counts)
            if home is not None:
                own = np.arange(b - a), home[a:b]
                with np.errstate(divide="ignore"):  # log(0): the point represents only this value
                    E[own] += np.log1p(-1 / self.counts[home[a:b]])
            peak = E.max(axis=1)
            if np.isneginf(peak).any():  # the squared distance overflowed
                peak = np.maximum(E, -np.finfo(float).max, out=E).max(axis=1)
            E -= peak[:, None]
            yield np.exp(E, out=E), peak, squared

    def _log_norm(self, n: float) -> float:
        return float(np.log(n * self.width * np.sqrt(2 * np.pi)))


def _likeliest_width(x: Array) -> float:
    """Width that maximizes the leave-one-out likelihood, with the lower bound for repeated values."""
    gaps, reach = np.diff(np.unique(x)), np.ptp(x)
    if reach == 0:
        return 1.0
    floor = float(gaps[gaps > SAME * reach].min() * TIED)
    start = x.std() * len(x) ** -0.2
    return likeliest_width(lambda width: _Density.of(x, width).slope(), start=start, floor=floor, reach=reach)
