r"""The released MATLAB code's kernel machines, with every C and k from one eigendecomposition of the kernel matrix.

The release solves :math:`(K + (1/C) S K + I/C) A = T` with :math:`S = vv' + 10^{-8} I` of rank one (v is the first
kernel column minus the nearest k-means centre of all columns). :math:`D = (I + (C + 10^{-8}) K)^{-1}` is diagonal in
the eigenbasis of K, and the Sherman-Morrison formula gives the weights of every (C, k) by products of vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .twister_kmeans import twister_kmeans

__all__ = ["ReleasedMachine", "accepted", "zscore"]

Float = NDArray[np.float64]

#: The release adds this to the diagonal of the scatter matrix.
JITTER = 1e-8


def zscore(train: Float, rows: Float) -> tuple[Float, Float]:
    """Z-scores with the mean and (n - 1) deviation of the training columns; a deviation of exactly 0 is not used.

    Columns are summed from the first row to the last. This order matters: a constant column may have a deviation of
    1e-17 from rounding. The release divides by it, so any other value in this column becomes a huge number.

    Parameters
    ----------
    train, rows : array of shape (n, d), (m, d)
        Training rows and other rows.

    Returns
    -------
    tuple of two arrays
        Z-scores of both.

    Examples
    --------
    >>> import numpy as np
    >>> zscore(np.array([[0.0], [2.0]]), np.array([[3.0]]))[1].round(3)
    array([[1.414]])
    """
    n = len(train)
    mean = np.cumsum(train, axis=0)[-1] / n
    deviation = np.sqrt(np.cumsum((train - mean) ** 2, axis=0)[-1] / (n - 1))
    deviation[deviation == 0] = 1.0
    return (train - mean) / deviation, (rows - mean) / deviation


@dataclass(frozen=True)
class ReleasedMachine:
    """OCKELM and AAKELM (without clusters), VOCKELM and VAAKELM (with clusters) as released, for z-scored rows."""

    train: Float
    autoassociative: bool
    bandwidth: float
    values: Float
    vectors: Float
    scatter: Float  # v in the eigenbasis, a row per number of clusters; without clusters a row of zeros
    jitter: float

    @classmethod
    def fit(cls, train: Float, *, autoassociative: bool, clusters: Sequence[int]) -> ReleasedMachine:
        """Decompose the kernel matrix and find the rank-one scatter for every number of clusters."""
        squares = _squared_distances(train, train)
        bandwidth = float(squares.mean())
        K = np.exp(-(squares + squares.T) / (2 * bandwidth))
        values, vectors = np.linalg.eigh(K)
        v = np.stack([_deviation(K, k) for k in clusters]) if clusters else np.zeros((1, len(K)))
        return cls(train, autoassociative, bandwidth, values, vectors, v @ vectors, JITTER if clusters else 0.0)

    def losses(self, rows: Float, Cs: Sequence[float]) -> Float:
        """Squared residuals of `rows`, of shape (len(Cs), numbers of clusters, m)."""
        features = np.exp(-_squared_distances(rows, self.train) / self.bandwidth) @ self.vectors
        T, targets = self._targets(self.train), self._targets(rows)
        out = np.empty((len(Cs), len(self.scatter), len(rows)))
        for i, C in enumerate(Cs):
            damping = 1 / (1 + (C + self.jitter) * self.values)
            weights = C * damping[:, None] * (self.vectors.T @ T)
            residuals = targets - features @ weights
            squares = (residuals**2).sum(axis=1)
            for j, v in enumerate(self.scatter):
                w = self.values * v
                # The rank-one scatter changes every residual along one direction.
                along = (w @ weights) / (1 + w @ (damping * v))
                step = features @ (damping * v)
                out[i, j] = squares + step * (2 * (residuals @ along) + step * (along @ along))
        return out

    def _targets(self, rows: Float) -> Float:
        return rows if self.autoassociative else np.ones((len(rows), 1))


def accepted(training_losses: Float, losses: Float, deltas: Sequence[float]) -> NDArray[np.bool_]:
    """Decisions by the release's rule: accept a loss strictly below the ceil(n (1 - delta))-th training loss.

    Parameters
    ----------
    training_losses, losses : array of shape (..., n), (..., m)
        Losses of training rows and of other rows, for the same parameters.
    deltas : sequence of float
        Values of delta.

    Returns
    -------
    bool array of shape (..., len(deltas), m)

    Examples
    --------
    >>> import numpy as np
    >>> accepted(np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.5, 3.0]), [0.25])
    array([[ True, False]])
    """
    ranked = np.sort(training_losses, axis=-1)
    n = ranked.shape[-1]
    thresholds = [ranked[..., int(np.ceil(n * (1 - delta))) - 1] for delta in deltas]
    return losses[..., None, :] < np.stack(thresholds, axis=-1)[..., None]


def _squared_distances(a: Float, b: Float) -> Float:
    return np.asarray((a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1)[None, :] - 2 * a @ b.T)


def _deviation(K: Float, k: int) -> Float:
    """First kernel column minus the nearest of k centres of all columns: the only deviation that the release uses."""
    centres = twister_kmeans(K, k) if k > 1 else K.mean(axis=0)[None, :]
    gaps = K[0] - centres
    nearest: Float = gaps[(gaps**2).sum(axis=1).argmin()]
    return nearest
