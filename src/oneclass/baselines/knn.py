"""KNNDetector: reject rows that are far from their nearest training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, final

import numpy as np

from ..base.checks import check_choice, check_integer
from ..core.arrays import Array, blocks
from ..core.stored import Floats, OneOf, Size, Whole, must
from ._base import Explained
from ._neighbors import Neighbors
from ._rounding import Rounding
from ._training import ExplainedModel, Training

__all__ = ["KNNDetector"]

#: Largest number of neighbors in the first and in the second search for the k with the largest likelihood.
_FIRST_MAX_K, _LAST_MAX_K = 10, 50

#: Squared distance, relative to the largest one, up to which two rows count as equal: rounding causes such distances.
_EQUAL_ROWS = 1e-12

#: What the loss measures of the nearest rows, by name.
_METHODS = ("kappa", "delta", "gamma")


@final
class KNNDetector(Explained["_Neighborhood"]):
    """Reject rows that are far from their nearest training rows.

    The loss is a squared distance to the k nearest training rows ([1]_); see `method`.

    Parameters
    ----------
    {delta}
    {confidence}
    {rate_by}
    n_neighbors : int or None, default=None
        Number of neighbors k. None chooses the k with the largest leave-one-out likelihood of the density
        ``k / (n V r^d)``, where r is the distance to the k-th neighbor. Only those k are compared for which the fewest
        rows are equal to their k-th neighbor. The search is from 2 to 10, and up to 50 if the best k is above 5 or if
        rows are equal. k = 1 is excluded, because a training row is its own nearest row: neither the row nor a copy of
        it could be rejected.
    method : {"kappa", "delta", "gamma"}, default="kappa"
        Loss of a row. ``"kappa"`` is the squared distance to the k-th nearest row, ``"delta"`` the squared distance to
        the mean of the k nearest rows, and ``"gamma"`` the mean of the k squared distances.
    {scale}
    threshold : {"held_out", "train", "authors"}, default="held_out"
        How the threshold on the leave-one-out losses is chosen; a row is never its own neighbor. ``"held_out"`` is the
        (1 - delta) quantile with a finite-sample correction, ``"train"`` the midpoint rule of dd_tools, and
        ``"authors"`` the rule of the VAAKELM authors' released code.
    {hold_out_of_closed_form}
    n_jobs : int or None, default=None
        Number of threads for the search of neighbors.

    Attributes
    ----------
    {offset_}
    {calibration_}
    n_neighbors_ : int
        Value of k.
    {training_rows_}
    {scaler_and_features_}

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
        delta: float = 0.05,
        confidence: float | None = None,
        rate_by: str = "group",
        n_neighbors: int | None = None,
        method: str = "kappa",
        scale: str | bool = "zscore",
        threshold: str = "held_out",
        hold_out: str | float = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.delta = delta
        self.confidence = confidence
        self.rate_by = rate_by
        self.n_neighbors = n_neighbors
        self.method = method
        self.scale = scale
        self.threshold = threshold
        self.hold_out = hold_out
        self.n_jobs = n_jobs

    _learns_quickly: ClassVar = True
    _published: ClassVar = ("rows", "n_neighbors")
    model_: _Neighborhood

    def _learn(self, training: Training) -> _Neighborhood:
        method, n = check_choice(self, "method", _METHODS), len(training.Z)
        if n < 2:
            raise ValueError(
                f"{self._name}: at least two rows must be left to learn from when others are held out, got 1; give "
                "more rows, or hold_out='auto'"
            )
        if self.n_neighbors is not None and check_integer(self, "n_neighbors", 1) >= n:
            raise ValueError(
                f"{self._name}: n_neighbors must be below the number of training rows {n}, got {self.n_neighbors!r}"
            )
        index = Neighbors(training.Z, n_jobs=self.n_jobs)
        if self.n_neighbors is None:
            k, nearest = _choose(index, *training.Z.shape)
        else:
            k = int(self.n_neighbors)
            nearest = index.of_each_other(k)[1]
        return _Neighborhood(training.Z, k, method, index, nearest, training.rounding)

    def _training_losses(self, model: _Neighborhood, training: Training) -> Array:
        return model.measure(model.rows, model.nearest).sum(axis=1)

    def _held_out_losses(self, model: _Neighborhood, training: Training) -> Array | None:
        """Loss of each row without its group; None if fewer than k rows remain. The scaling includes the group."""
        groups = training.groups
        if groups is None:
            return self._training_losses(model, training)
        if groups.by_size[-1].shape[1] + model.n_neighbors > len(model.rows):
            return None
        losses = np.empty(len(model.rows))
        for whole in groups.by_size:
            rows = whole.ravel()
            nearest = model.index.of_others(rows, groups.of_rows, whole.shape[1], model.n_neighbors)
            losses[rows] = model.measure(model.rows[rows], nearest).sum(axis=1)
        return losses


@dataclass(frozen=True)
class _Neighborhood(ExplainedModel):
    """Training rows, and the distances from other rows to the `n_neighbors` nearest of them."""

    rows: Annotated[Array, Floats("n d")]
    n_neighbors: Annotated[int, Size("_k")]
    method: Annotated[str, OneOf(*_METHODS)]
    index: Neighbors
    nearest: Annotated[Array, Whole("n _k", below="n")]  # numbers of the nearest other rows of each training row
    rounding: Rounding

    def __check__(self) -> None:
        must(self.n_neighbors < len(self.rows), "n_neighbors must be below the number of rows")

    @property
    def kept(self) -> Array:
        return self.rows

    def contributions(self, Z: Array) -> Array:
        return self.measure(Z, self.index.of(Z, self.n_neighbors)[1])

    def measure(self, Z: Array, nearest: Array) -> Array:
        """The part of each feature in the squared distance between each row and its `nearest` training rows."""
        if self.method == "kappa":
            return self.rounding.beyond(Z - self.rows[nearest[:, -1]], Z) ** 2
        parts = [self._measure_group(Z[a:b], nearest[a:b]) for a, b in blocks(len(Z), nearest.shape[1] * Z.shape[1], Z)]
        return np.concatenate(parts)

    def _measure_group(self, Z: Array, nearest: Array) -> Array:
        gaps = self.rounding.beyond(Z[:, None, :] - self.rows[nearest], Z[:, None, :])
        return gaps.mean(axis=1) ** 2 if self.method == "delta" else (gaps**2).mean(axis=1)


def _choose(index: Neighbors, n: int, d: int) -> tuple[int, Array]:
    """The k of largest likelihood, and the k nearest other rows of each training row."""
    for largest in (min(_FIRST_MAX_K, n - 1), min(_LAST_MAX_K, n - 1)):
        distances, nearest = index.of_each_other(largest)
        k, settled = _likeliest(distances**2, d)
        if settled:
            break
    return k, nearest[:, :k].copy()


def _likeliest(squared: Array, d: int) -> tuple[int, bool]:
    """The k >= 2 with the largest ``sum_i log k - d log r_ik``, and whether a search among larger k is unnecessary.

    A row that is equal to its k-th neighbor has no likelihood. Only the k for which such rows are fewest are compared.
    """
    k = np.arange(1, squared.shape[1] + 1)
    if len(k) > 1:
        k, squared = k[1:], squared[:, 1:]
    apart = squared > _EQUAL_ROWS * squared.max()
    logs = np.log(np.where(apart, squared, 1))
    likelihood = (apart * np.log(k) - d / 2 * logs).sum(axis=0)
    n_apart = apart.sum(axis=0)
    fewest = n_apart == n_apart.max()
    best = int(k[fewest][np.argmax(likelihood[fewest])])
    return best, 2 * best <= k[-1] and n_apart.max() == len(squared)
