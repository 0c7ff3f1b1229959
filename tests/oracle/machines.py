"""A whole machine by loops: scale, bandwidth, kernel, variance, weights, losses in and out of sample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oracle import equations, refits

__all__ = ["Fitted", "fit"]


@dataclass(frozen=True)
class Fitted:
    outputs: np.ndarray  # of the training rows
    training: np.ndarray  # losses of the training rows
    held_out: np.ndarray  # their losses when left out
    fresh: np.ndarray  # losses of fresh rows
    rebuilt: np.ndarray  # outputs of fresh rows in the user's units


def fit(machine, X, fresh, M, *, C, lam, without=None, kernel="rbf", sigma="mean", r=1.0):
    """Fit the machine of that name to rows of weight one and score new rows; ``without(i)``: M if row i is held out."""
    mean, scale = equations.scaling(X)
    X, fresh = (X - mean) / scale, (fresh - mean) / scale
    distance = equations.city_block if kernel == "laplacian" else equations.euclidean
    width = equations.bandwidth(sigma, X, distance) if isinstance(sigma, str) else sigma
    K = equations.kernel_matrix(kernel, X, X, width)
    constant = machine in ("OCKELM", "VOCKELM")
    T, targets = (np.full((len(rows), 1), r) if constant else rows for rows in (X, fresh))
    A = equations.weights(K, T, M, C=C, lam=lam)
    outputs = equations.outputs(kernel, fresh, X, A, width)
    held_out = T - refits.held_out_residuals(K, T, without or M, np.ones(len(X)), C=C, lam=lam)

    def losses(targets, outputs):
        return np.array([equations.score(machine, t, o) for t, o in zip(targets, outputs, strict=True)])

    rebuilt = outputs if constant else outputs * scale + mean
    return Fitted(K @ A, losses(T, K @ A), losses(T, held_out), losses(targets, outputs), rebuilt)
