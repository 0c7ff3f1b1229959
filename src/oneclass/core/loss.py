"""Losses of the machines. A larger loss means that a row is less normal.

`residuals` are target minus output, with the targets on the last axis. `variance` is the uncertainty v(z) of the
output, and `signal` is the variance tau² of the targets, both in the Gaussian-process view of the machines.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from .arrays import Array, namespace
from .stored import Floats, Positive
from .threshold import Ranks

__all__ = [
    "LOSSES",
    "REBUILDING",
    "UNCERTAIN",
    "Measures",
    "absolute",
    "contributions",
    "either",
    "loss",
    "predictive",
    "squared",
]

#: Names of the losses of the auto-associative machines.
REBUILDING = ("reconstruction", "uncertainty", "predictive", "either")
#: Names of the losses that need the uncertainty.
UNCERTAIN = ("uncertainty", "predictive", "either")
#: Those of all machines.
LOSSES = ("absolute", "squared", *REBUILDING)

#: What is added to the mean square of each column in the loss ``either``, in units of the mean over the columns.
#: Without it, a column that is reconstructed almost exactly would dominate. Measured on KEEL (docs/defaults.md):
#: constants of 0.0001 to 0.01 in scaled units give the same AUROC within 0.0004, and depend on the units.
_LEAST_SQUARE = 0.1
#: Shares of the held-out rows below two values of a measure: the centre of the measure, and the end of its spread.
_CENTRE, _END = 0.5, 0.9
#: Smallest spread of the logarithm of a measure. Smaller ones are those of rounding, or of rows with many copies.
_LEAST_SPREAD = 1e-3


@dataclass(frozen=True)
class Measures:
    """Usual values of the two measures of the loss ``either``, from held-out rows, by which they are compared."""

    squares: Annotated[Array, Floats("t", above=0)]  # mean squared residual of each column, plus a floor
    error: Positive  # median of the squared error that is weighted by `squares`
    variance: Positive  # median of the uncertainty
    power: Positive  # spread of the logarithm of the error over that of the uncertainty

    @classmethod
    def of(cls, residuals: Array, variance: Array, w: Array) -> Measures:
        """Return the measures of held-out rows, row i counted ``w[i]`` times."""
        xp = namespace(residuals)
        mean = (w @ (residuals * residuals)) / xp.sum(w)
        squares = mean + _LEAST_SQUARE * xp.mean(mean) + xp.finfo(mean.dtype).smallest_normal ** 0.5
        error, spread = _centre_and_spread(_weighted(residuals, squares), w)
        middle, other = _centre_and_spread(variance, w)
        return cls(squares, error, middle, spread / other)


def _centre_and_spread(values: Array, w: Array) -> tuple[float, float]:
    """Return the median of positive values, and the distance of their 90 % quantile from it on a log scale."""
    ranks = Ranks.of(values, w)
    middle, high = (float(ranks.losses[ranks.place(share * ranks.total)]) for share in (_CENTRE, _END))
    middle = middle or high or 1.0
    return middle, max(math.log(max(high, middle) / middle), _LEAST_SPREAD)


def loss(
    name: str,
    residuals: Array,
    variance: Array | None,
    *,
    signal: float | Array,
    measures: Measures | None = None,
) -> Array:
    """Return the loss with this name; `variance` and `measures` may be None if the loss does not need them."""
    if name == "absolute":
        return absolute(residuals)
    if measures is not None:
        return either(residuals, variance, measures)
    if name not in UNCERTAIN:
        return squared(residuals)
    return variance if name == "uncertainty" else predictive(residuals, variance, signal=signal)


def absolute(residuals: Array) -> Array:
    """Return ``|o - r|`` (OCKELM), for residuals with one column."""
    return namespace(residuals).abs(residuals[..., 0])


def squared(residuals: Array) -> Array:
    """Return ``‖t - o‖²`` for each row (VOCKELM, AAKELM, VAAKELM)."""
    if isinstance(residuals, np.ndarray):  # a third of the time
        return np.vecdot(residuals, residuals)
    return namespace(residuals).sum(residuals * residuals, axis=-1)


def predictive(residuals: Array, variance: Array, *, signal: float | Array) -> Array:
    """Return ``‖z - o(z)‖² + d tau² v(z)``: the squared error plus the predictive variance at the row."""
    return squared(residuals) + residuals.shape[-1] * signal * variance


def either(residuals: Array, variance: Array, measures: Measures) -> Array:
    """Return ``max(e / e0, (v / v0)^p)``: the squared error over its median or, if larger, the uncertainty over its.

    In the error, the square of each column is divided by the column's held-out mean square. The power gives both
    measures the same spread on a log scale.
    """
    xp = namespace(residuals)
    uncertain = (variance / measures.variance) ** measures.power
    return xp.maximum(_weighted(residuals, measures.squares) / measures.error, uncertain)


def _weighted(residuals: Array, squares: Array) -> Array:
    """Return the squared error of each row, with the square of each column divided by `squares`."""
    return squared(residuals / squares**0.5)


def contributions(residuals: Array, losses: Array, *, squares: Array | None = None) -> Array:
    """Return the contribution of each feature to the loss of each row, in proportion to its squared residual.

    The contributions of a row sum to its loss. The uncertainty belongs to the whole row, so it is divided like the
    squared error. Equal parts would give contributions to features with normal values. The loss ``either`` divides the
    squared residuals by `squares`.
    """
    xp, d = namespace(residuals), residuals.shape[1]
    terms = residuals * residuals if squares is None else residuals * residuals / squares
    total = xp.sum(terms, axis=1, keepdims=True)
    none = total == 0
    shares = xp.where(none, xp.full_like(terms, 1 / d), terms / xp.where(none, xp.ones_like(total), total))
    return losses[:, None] * shares
