"""Losses of the machines: how far outputs are from where a normal row's would be. Larger is less normal."""

from __future__ import annotations

from .arrays import Array, namespace

__all__ = ["absolute", "squared"]


def absolute(residuals: Array) -> Array:
    """``|o - r|`` (OCKELM), for residuals of one column."""
    return namespace(residuals).abs(residuals[:, 0])


def squared(residuals: Array) -> Array:
    """``‖t - o‖²`` of each row (VOCKELM, AAKELM, VAAKELM)."""
    return namespace(residuals).sum(residuals * residuals, axis=1)
