"""Parzen: reject rows where the target class has a low density."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, final

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.covariance import ledoit_wolf

from ..base.checks import check_choice
from ..core.arrays import Array, blocks
from ..core.stored import Floats, Positive, must
from ._slow import Slow
from ._training import Training
from ._widths import SAME, TIED, likeliest_width

__all__ = ["Parzen"]

#: Largest number of rows whose leave-one-out likelihood chooses the width; they are spread over all rows.
_WIDTH_ROWS = 1000


@final
class Parzen(Slow["_Mixture"]):
    """Reject rows where the target class has a low density.

    The loss is ``-log p(z)``, where p is a Parzen density [1]_: the mean of Gaussians of equal width at the training
    rows. The width maximizes the leave-one-out likelihood of the rows [2]_.

    Parameters
    ----------
    {delta}
    {confidence}
    {rate_by}
    bandwidth : {"shared", "full"}, default="shared"
        Covariance of the Gaussians, up to the factor width². ``"shared"`` is the identity: one width for all features.
        ``"full"`` is the Ledoit-Wolf estimate of the covariance of the training rows, which also exists for collinear
        features and for few rows.
    {scale}
    {threshold_of_leave_one_out}
    {hold_out_of_closed_form}

    Attributes
    ----------
    {offset_}
    {calibration_}
    width_ : float
        Standard deviation of the Gaussians, in units of the scaled features or, with ``bandwidth="full"``, of the
        estimated covariance.
    {scaler_and_features_}

    Notes
    -----
    The likelihood of repeated rows grows without bound as the width goes to zero. The width therefore has a lower
    bound: distance / √12, where distance is the smallest between two different rows. This is the standard deviation of
    a uniform distribution on an interval of that length. If there are more than 1,000 rows, the likelihood of 1,000 of
    them, under the density of all rows, chooses the width.

    References
    ----------
    .. [1] Parzen (1962). On estimation of a probability density function and mode.
    .. [2] Duin (1976). On the choice of smoothing parameters for Parzen estimators of probability density functions.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass.baselines import Parzen
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> Parzen().fit(X).predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    """

    _learns_quickly: ClassVar = True
    _published: ClassVar = ("width",)
    model_: _Mixture
    _instead: ClassVar = "NaiveParzen, or VAAKELM(approximation='auto')"

    def __init__(
        self,
        *,
        delta: float = 0.05,
        confidence: float | None = None,
        rate_by: str = "group",
        bandwidth: str = "shared",
        scale: str | bool = "zscore",
        threshold: str = "held_out",
        hold_out: str | float = "auto",
    ) -> None:
        self.delta = delta
        self.confidence = confidence
        self.rate_by = rate_by
        self.bandwidth = bandwidth
        self.scale = scale
        self.threshold = threshold
        self.hold_out = hold_out

    def _seconds(self, n: int, d: int) -> float:
        return (6e-9 + 3e-10 * d) * n * (n + 15 * min(n, _WIDTH_ROWS))

    def _learn(self, training: Training) -> _Mixture:
        full = check_choice(self, "bandwidth", ("shared", "full")) == "full"
        whitening = _whitening(training.Z) if full else None
        U = training.Z if whitening is None else training.Z @ whitening
        return _Mixture(U, _likeliest(U), whitening)

    def _held_out_losses(self, model: _Mixture, training: Training) -> Array | None:
        return model.losses_held_out() if training.groups is None else None


@dataclass(frozen=True)
class _Mixture:
    """Gaussians of equal width at `rows`, which are in the coordinates after `whitening`."""

    rows: Annotated[Array, Floats("_n d")]
    width: Positive
    whitening: Annotated[Array, Floats("d d")] | None

    def __check__(self) -> None:
        R = self.whitening
        must(R is None or bool(np.linalg.cond(R) < 1 / np.finfo(float).eps), "whitening must be invertible")

    @property
    def kept(self) -> Array:
        return self.rows if self.whitening is None else np.linalg.solve(self.whitening.T, self.rows.T).T

    def losses(self, Z: Array) -> Array:
        U = Z if self.whitening is None else Z @ self.whitening
        return self.log_norm - self._log_sums(U, None)

    def losses_held_out(self) -> Array:
        """Loss of each row under the Gaussians of the others."""
        n = len(self.rows)
        return self.log_norm + np.log1p(-1 / n) - self._log_sums(self.rows, np.arange(n))

    def slope(self, judges: Array) -> float:
        """Derivative of the leave-one-out log likelihood with respect to the log width, mean over rows `judges`."""
        spreads = [np.vecdot(W, squared) / W.sum(axis=1) for W, _, squared in self._kernels(self.rows[judges], judges)]
        return float(np.concatenate(spreads).mean() / self.width**2 - self.rows.shape[1])

    def _log_sums(self, U: Array, own: Array | None) -> Array:
        return np.concatenate([peak + np.log(W.sum(axis=1)) for W, peak, _ in self._kernels(U, own)])

    def _kernels(self, U: Array, own: Array | None) -> Iterator[tuple[Array, Array, Array]]:
        """In blocks of rows: kernel values divided by the largest in the row, its logarithm, and squared distances.

        `own` are the row numbers of `U` in the model: a row is left out of its own density.
        """
        for a, b in blocks(len(U), 4 * len(self.rows), self.rows):
            squared = cdist(U[a:b], self.rows, "sqeuclidean")
            E = squared * (-0.5 / self.width**2)
            if own is not None:
                E[np.arange(b - a), own[a:b]] = -np.inf
                squared[np.arange(b - a), own[a:b]] = 0
            peak = E.max(axis=1)
            if np.isneginf(peak).any():  # the squared distance overflowed
                peak = np.maximum(E, -np.finfo(float).max, out=E).max(axis=1)
            E -= peak[:, None]
            yield np.exp(E, out=E), peak, squared

    @property
    def log_norm(self) -> float:
        """Logarithm of the divisor that normalizes the sum of the Gaussians."""
        n, d = self.rows.shape
        stretch = 0.0 if self.whitening is None else float(np.linalg.slogdet(self.whitening)[1])
        return float(np.log(n) + d * np.log(self.width * np.sqrt(2 * np.pi)) - stretch)


def _whitening(Z: Array) -> Array:
    """The matrix that transforms the covariance of the rows to the identity; the identity if all rows are equal."""
    if len(Z) < 2 or not np.ptp(Z, axis=0).any():
        return np.eye(Z.shape[1])
    return np.linalg.inv(np.linalg.cholesky(ledoit_wolf(Z)[0])).T


def _likeliest(U: Array) -> float:
    """Width that maximizes the leave-one-out likelihood, with the lower bound for repeated rows."""
    n, d = U.shape
    # Choose rows that are evenly spread in sorted order, so that the order of the table does not matter.
    m = min(n, _WIDTH_ROWS)
    judges = np.lexsort(U.T[::-1])[((np.arange(m) + 0.5) * n / m).astype(int)]
    reach = float(np.linalg.norm(np.ptp(U, axis=0)))
    if reach == 0:
        return 1.0
    distances = (cdist(U[judges[a:b]], U) for a, b in blocks(len(judges), 4 * n, U))
    least = min(part[part > SAME * reach].min(initial=reach) for part in distances)
    start = float(U.std(axis=0).mean()) * n ** (-1 / (d + 4))
    return likeliest_width(
        lambda width: _Mixture(U, width, None).slope(judges),
        start=start,
        floor=float(least) * TIED,
        reach=reach,
    )
