"""Losses of the machines: how far a row is from where a normal one would be. Larger is less normal.

`residuals` are target minus output; `variance` is the machine's own uncertainty v(z) about its output, in the
Gaussian-process view of the family; `signal` is the variance tau² of the targets. Targets are the last axis.
"""

from __future__ import annotations

import numpy as np

from .arrays import Array, namespace

__all__ = ["LOSSES", "REBUILDING", "UNCERTAIN", "absolute", "contributions", "loss", "predictive", "squared"]

#: Losses of the auto-associative machines by name.
REBUILDING = ("reconstruction", "uncertainty", "predictive")
#: Those that look at the machine's uncertainty.
UNCERTAIN = ("uncertainty", "predictive")
#: Those of all machines.
LOSSES = ("absolute", "squared", *REBUILDING)


def loss(name: str, residuals: Array, variance: Array | None, *, signal: float | Array) -> Array:
    """The loss of that name; `variance` may be None where the loss does not need it."""
    if name == "absolute":
        return absolute(residuals)
    if name not in UNCERTAIN:
        return squared(residuals)
    return variance if name == "uncertainty" else predictive(residuals, variance, signal=signal)


def absolute(residuals: Array) -> Array:
    """``|o - r|`` (OCKELM), for residuals of one column."""
    return namespace(residuals).abs(residuals[..., 0])


def squared(residuals: Array) -> Array:
    """``‖t - o‖²`` of each row (VOCKELM, AAKELM, VAAKELM)."""
    if isinstance(residuals, np.ndarray):  # a third of the time
        return np.vecdot(residuals, residuals)
    return namespace(residuals).sum(residuals * residuals, axis=-1)


def predictive(residuals: Array, variance: Array, *, signal: float | Array) -> Array:
    """``‖z - o(z)‖² + d tau² v(z)``: the squared error to expect of a row, given how little is known around it."""
    return squared(residuals) + residuals.shape[-1] * signal * variance


def contributions(residuals: Array, variance: Array | None, *, signal: float) -> Array:
    """Part of each feature in the reconstruction or (with `variance`) the predictive loss; rows sum to the loss.

    What is uncertain is the whole row: it falls to the features by their residuals, which tell what leads away from the
    training rows. Even parts of it would blame features that are just as expected.
    """
    xp, d = namespace(residuals), residuals.shape[1]
    squares = residuals * residuals
    if variance is None:
        return squares
    total = xp.sum(squares, axis=1, keepdims=True)
    none = total == 0
    by_residuals = xp.where(none, xp.full_like(squares, 1 / d), squares / xp.where(none, xp.ones_like(total), total))
    return squares + d * signal * variance[:, None] * by_residuals
