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
from ._base import Training
from ._slow import Slow
from ._widths import SAME, TIED, likeliest_width

__all__ = ["Parzen"]

#: Rows, spread over all of them, by which the width is judged when there are more.
_JUDGES = 1000


@final
class Parzen(Slow["_Mixture"]):
    """Reject rows where the target class has a low density.

    The loss is ``-log p(z)``, p a Parzen density [1]_: the mean of Gaussians at the training rows, all of the one width
    under which the rows are likeliest, each left out of its own density [2]_.

    Parameters
    ----------
    bandwidth : {"shared", "full"}, default="shared"
        Shape of the Gaussians: a ball, one width for all features; or the ellipsoid of the rows' covariance (as Ledoit
        and Wolf shrink it, so that collinear features and few rows have one), times one width.
    scale : {"zscore", "robust"} or False, default="zscore"
        Whether features are z-scored first, or tamed as the machines do (``asinh`` around the median), or left as they
        are; constant ones are centred only.
    delta : float in [0, 1), default=0.05
        False-alarm rate asked for: the share of normal rows that may be rejected. 0 accepts every training row.
    threshold : {"held_out", "train", "authors"}, default="held_out"
        Where the decision sits: the (1 - delta) quantile of leave-one-out losses, which delivers the rate asked for;
        dd_tools' rule on training losses; the rule of the VAAKELM authors' released code.
    confidence : float in (0, 1), optional
        Chance with which this very model keeps `delta`. By default it is kept on average over training sets; a model
        that is to be sure of it rejects less.

    Attributes
    ----------
    offset_ : float
        Threshold on `score_samples`.
    calibration_ : Calibration
        Held-out losses of the training rows, behind thresholds and p-values.
    width_ : float
        Standard deviation of the Gaussians, in z-scores or, with ``bandwidth="full"``, in units of the ellipsoid.
    scaler_, n_features_in_, feature_names_in_
        Fitted scaling; as in scikit-learn.

    Notes
    -----
    Repeated rows would drive the width to zero: it is at least the smallest distance between two different rows over
    √12, the deviation inside the interval that a recorded value stands for. From 1,000 rows on the width is judged by
    1,000 of them, against all.

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
        bandwidth: str = "shared",
        scale: str | bool = "zscore",
        delta: float = 0.05,
        threshold: str = "held_out",
        confidence: float | None = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.scale = scale
        self.delta = delta
        self.threshold = threshold
        self.confidence = confidence

    def _seconds(self, n: int, d: int) -> float:
        return (6e-9 + 3e-10 * d) * n * (n + 15 * min(n, _JUDGES))

    def _learn(self, training: Training) -> _Mixture:
        full = check_choice(self, "bandwidth", ("shared", "full")) == "full"
        whitening = _whitening(training.Z) if full else None
        U = training.Z if whitening is None else training.Z @ whitening
        return _Mixture(U, _likeliest(U), whitening)

    def _held_out_losses(self, model: _Mixture, training: Training) -> Array | None:
        return model.losses_held_out() if training.groups is None else None


@dataclass(frozen=True)
class _Mixture:
    """Gaussians of one width at `rows`, in coordinates that `whitening` leads to."""

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
        """Derivative of the leave-one-out log likelihood of a row by the log width, mean over the `judges`."""
        spreads = [np.vecdot(W, squared) / W.sum(axis=1) for W, _, squared in self._kernels(self.rows[judges], judges)]
        return float(np.concatenate(spreads).mean() / self.width**2 - self.rows.shape[1])

    def _log_sums(self, U: Array, own: Array | None) -> Array:
        return np.concatenate([peak + np.log(W.sum(axis=1)) for W, peak, _ in self._kernels(U, own)])

    def _kernels(self, U: Array, own: Array | None) -> Iterator[tuple[Array, Array, Array]]:
        """Kernel values over the largest in their row, the log of that one, squared distances; in blocks of rows.

        `own` are the numbers of the rows among those of the model, which leave them out.
        """
        for a, b in blocks(len(U), 4 * len(self.rows), self.rows):
            squared = cdist(U[a:b], self.rows, "sqeuclidean")
            E = squared * (-0.5 / self.width**2)
            if own is not None:
                E[np.arange(b - a), own[a:b]] = -np.inf
                squared[np.arange(b - a), own[a:b]] = 0
            peak = E.max(axis=1)
            if np.isneginf(peak).any():  # squares of far values overflow
                peak = np.maximum(E, -np.finfo(float).max, out=E).max(axis=1)
            E -= peak[:, None]
            yield np.exp(E, out=E), peak, squared

    @property
    def log_norm(self) -> float:
        """Log of what the sum of the Gaussians is divided by."""
        n, d = self.rows.shape
        stretch = 0.0 if self.whitening is None else float(np.linalg.slogdet(self.whitening)[1])
        return float(np.log(n) + d * np.log(self.width * np.sqrt(2 * np.pi)) - stretch)


def _whitening(Z: Array) -> Array:
    """The matrix that gives rows a covariance of one; rows that are all alike are left as they are."""
    if len(Z) < 2 or not np.ptp(Z, axis=0).any():
        return np.eye(Z.shape[1])
    return np.linalg.inv(np.linalg.cholesky(ledoit_wolf(Z)[0])).T


def _likeliest(U: Array) -> float:
    """Width of the largest leave-one-out likelihood, at least the one that ties ask for."""
    n, d = U.shape
    # Spread along the order of the rows' values: their order in the table has no say.
    m = min(n, _JUDGES)
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
