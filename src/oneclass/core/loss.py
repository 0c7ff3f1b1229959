"""Losses of the machines. A larger loss means that a row is less normal.

`residuals` are target minus output, with the targets on the last axis. `variance` is the uncertainty v(z) of the
output, and `signal` is the variance tau² of the targets, both in the Gaussian-process view of the machines.
"""

from __future__ import annotations

import numpy as np

from .arrays import Array, namespace

__all__ = ["LOSSES", "REBUILDING", "UNCERTAIN", "absolute", "contributions", "loss", "predictive", "squared"]

#: Names of the losses of the auto-associative machines.
REBUILDING = ("reconstruction", "uncertainty", "predictive")
#: Names of the losses that need the uncertainty.
UNCERTAIN = ("uncertainty", "predictive")
#: Those of all machines.
LOSSES = ("absolute", "squared", *REBUILDING)


def loss(name: str, residuals: Array, variance: Array | None, *, signal: float | Array) -> Array:
    """Return the loss with this name; `variance` may be None if the loss does not need it."""
    if name == "absolute":
        return absolute(residuals)
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


def contributions(residuals: Array, variance: Array | None, *, signal: float) -> Array:
    """Return the contribution of each feature to the reconstruction loss or, with `variance`, to the predictive loss.

    The contributions of a row sum to its loss. The uncertainty belongs to the whole row. It is divided among the
    features in proportion to their squared residuals. Equal parts would give contributions to features with normal
    values.
    """
    xp, d = namespace(residuals), residuals.shape[1]
    squares = residuals * residuals
    if variance is None:
        return squares
    total = xp.sum(squares, axis=1, keepdims=True)
    none = total == 0
    by_residuals = xp.where(none, xp.full_like(squares, 1 / d), squares / xp.where(none, xp.ones_like(total), total))
    return squares + d * signal * variance[:, None] * by_residuals
