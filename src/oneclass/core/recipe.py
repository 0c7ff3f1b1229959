"""The choices that define a machine, as one value. Choices that depend on the training rows are names of rules."""

from __future__ import annotations

from dataclasses import dataclass

from . import clusters
from .arrays import Array, ones
from .embedding import Embedding, NoVariance, Scatter, UserLaplacian, WithinVariance
from .kernels import Kernel
from .loss import UNCERTAIN

__all__ = ["Recipe", "Variance"]


@dataclass(frozen=True)
class Variance:
    """The variance that the machine penalises: a scatter inside clusters of rows."""

    scatter: Scatter
    n_clusters: int | None = None  # None means one cluster of all rows

    def centres(self, Z: Array, w: Array) -> Array | None:
        """Return the centres of the clusters; None if there is only one cluster."""
        return None if self.n_clusters is None else clusters.kmeans(Z, w, self.n_clusters)


@dataclass(frozen=True)
class Recipe:
    """Target, embedding, loss, kernel, C, lam and scaling of a machine."""

    kernel: Kernel  # the bandwidth of a radial kernel may be the name of a rule
    C: float | str
    lam: float
    loss: str
    constant: float | None  # the target of every row; None means that the target is the row itself
    variance: Variance | UserLaplacian | None
    scaling: str

    @property
    def needs_variance(self) -> bool:
        """Whether the loss needs the uncertainty."""
        return self.loss in UNCERTAIN

    @property
    def scatter(self) -> Scatter | None:
        """The scatter for fits from moments, if any; a user's Laplacian is possible in exact fits only."""
        return self.variance.scatter if isinstance(self.variance, Variance) else None

    def target(self, Z: Array) -> Array:
        """Return T, the targets of scaled rows."""
        return Z if self.constant is None else self.constant * ones(Z)[:, None]

    def embedding(self, Z: Array, w: Array, splits: clusters.Splits | None = None) -> tuple[Embedding, Array | None]:
        """Return the embedding for scaled rows, and the cluster of each row if there are clusters.

        `splits` of the rows can be reused for several numbers of clusters.
        """
        if self.variance is None:
            return NoVariance(), None
        if isinstance(self.variance, UserLaplacian):
            return self.variance, None
        if self.variance.n_clusters is None:
            return WithinVariance(ones(Z)[:, None], self.variance.scatter), None
        seeds = (splits or clusters.Splits(Z, w)).seeds(self.variance.n_clusters)
        centres, labels = clusters.lloyd(Z, w, seeds)
        membership = clusters.one_hot(labels, centres.shape[0], Z)
        present = w @ membership > 0
        return WithinVariance(membership.T[present].T, self.variance.scatter), labels
