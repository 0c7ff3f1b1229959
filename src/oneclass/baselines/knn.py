"""KNNDetector: reject rows that are far from their nearest training rows."""

from __future__ import annotations

from typing import final

import numpy as np

from ..core.arrays import Array, blocks
from ..estimators._input import check_choice, check_integer
from ._base import Explained
from ._neighbours import Neighbours
from ._rounding import Rounded

__all__ = ["KNNDetector"]

#: Largest numbers of neighbours that the likelihood chooses among, first and last.
_FEW, _MANY = 10, 50

#: Squared distances below this share of the largest one count as coincidence: rounding alone makes such values.
_COINCIDENT = 1e-12


@final
class KNNDetector(Rounded, Explained):
    """Reject rows that are far from their nearest training rows.

    The loss is the squared distance to the k-th nearest training row (``kappa``), to the mean of the k nearest
    (``delta``), or the mean of the k squared distances (``gamma``); see [1]_.

    Parameters
    ----------
    n_neighbors : int or None, default=None
        k. None takes the k with the largest leave-one-out likelihood of the density ``k / (n V r^d)``, r the distance
        to the k-th neighbour, among those for which the fewest rows coincide with that neighbour. It is sought from 2
        to 10, and to 50 if it is above 5 or rows coincide. With k = 1 no training row, and no copy of one, could be
        rejected: it is its own nearest row.
    method : {"kappa", "delta", "gamma"}, default="kappa"
        What is measured to the k nearest rows.
    scale : bool, default=True
        Whether to z-score the features first; constant ones are centred only.
    delta : float in [0, 1), default=0.05
        False-alarm rate asked for: the share of normal rows that may be rejected. 0 accepts every training row.
    threshold : {"loo", "train", "authors"}, default="loo"
        Where the decision sits on leave-one-out losses (a row is never its own neighbour): the (1 - delta) quantile
        with the finite-sample correction; dd_tools' midpoint rule; the rule of the VAAKELM authors' released code.
    n_jobs : int or None, default=None
        Threads of the neighbour search.

    Attributes
    ----------
    offset_ : float
        Threshold on `score_samples`.
    n_neighbors_ : int
        k in use.
    rows_ : array of shape (n_samples, n_features)
        Training rows in z-scores.
    scaler_, n_features_in_, feature_names_in_
        Fitted scaling; as in scikit-learn.

    References
    ----------
    .. [1] Harmeling, Dornhege, Tax, Meinecke and Müller (2006). From outliers to prototypes: ordering data.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass.baselines import KNNDetector
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> KNNDetector().fit(X).predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    """

    def __init__(
        self,
        *,
        n_neighbors: int | None = None,
        method: str = "kappa",
        scale: bool = True,
        delta: float = 0.05,
        threshold: str = "loo",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.method = method
        self.scale = scale
        self.delta = delta
        self.threshold = threshold
        self.n_jobs = n_jobs

    def _learn(self, Z: Array) -> None:
        check_choice(self, "method", ("kappa", "delta", "gamma"))
        n = len(Z)
        if self.n_neighbors is not None and check_integer(self, "n_neighbors", 1) >= n:
            raise ValueError(
                f"{self._name}: n_neighbors must be below the number of training rows {n}, got {self.n_neighbors!r}"
            )
        self.rows_ = Z
        self._index = Neighbours(Z, n_jobs=self.n_jobs)
        if self.n_neighbors is None:
            self.n_neighbors_, self._nearest = self._choose(n - 1)
        else:
            self.n_neighbors_ = int(self.n_neighbors)
            self._nearest = self._index.of_each_other(self.n_neighbors_)[1]

    def _choose(self, most: int) -> tuple[int, Array]:
        """The likeliest k and the k nearest others of each training row."""
        for largest in (min(_FEW, most), min(_MANY, most)):
            distances, nearest = self._index.of_each_other(largest)
            k, settled = _likeliest(distances**2, self.rows_.shape[1])
            if settled:
                break
        return k, nearest[:, :k].copy()

    def _contributions(self, Z: Array) -> Array:
        return self._measure(Z, self._index.of(Z, self.n_neighbors_)[1])

    def _training_losses(self, X: Array) -> Array:
        return self._held_out_losses(X, np.ones(len(X)))

    def _held_out_losses(self, X: Array, w: Array) -> Array:
        """Each row against the others; exact but for the scaling."""
        return self._measure(self.rows_, self._nearest).sum(axis=1)

    def _measure(self, Z: Array, nearest: Array) -> Array:
        if self.method == "kappa":
            return self._beyond_rounding(Z - self.rows_[nearest[:, -1]], Z) ** 2
        parts = [self._measure_group(Z[a:b], nearest[a:b]) for a, b in blocks(len(Z), nearest.shape[1] * Z.shape[1], Z)]
        return np.concatenate(parts)

    def _measure_group(self, Z: Array, nearest: Array) -> Array:
        gaps = self._beyond_rounding(Z[:, None, :] - self.rows_[nearest], Z[:, None, :])
        return gaps.mean(axis=1) ** 2 if self.method == "delta" else (gaps**2).mean(axis=1)


def _likeliest(squared: Array, d: int) -> tuple[int, bool]:
    """The k >= 2 of the largest ``sum_i log k - d log r_ik``, and whether larger k need not be asked.

    Rows that coincide with their k-th neighbour have no likelihood: the k with the fewest of them are compared.
    """
    k = np.arange(1, squared.shape[1] + 1)
    if len(k) > 1:
        k, squared = k[1:], squared[:, 1:]
    apart = squared > _COINCIDENT * squared.max()
    logs = np.log(np.where(apart, squared, 1))
    likelihood = (apart * np.log(k) - d / 2 * logs).sum(axis=0)
    n_apart = apart.sum(axis=0)
    fewest = n_apart == n_apart.max()
    best = int(k[fewest][np.argmax(likelihood[fewest])])
    return best, 2 * best <= k[-1] and n_apart.max() == len(squared)
