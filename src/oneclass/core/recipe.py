"""The choices that define a machine, as one value. Choices that depend on the training rows are names of rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from . import clusters
from .arrays import Array, ones
from .data_choices import BANDWIDTH_RULES, COST_RULES
from .embedding import Embedding, NoVariance, Scatter, UserLaplacian, WithinVariance
from .kernels import Kernel
from .loss import LOSSES, UNCERTAIN
from .scaling import SCALINGS
from .stored import OneOf, Positive, Within, must

__all__ = ["Recipe", "Variance"]


@dataclass(frozen=True)
class Variance:
    """The variance that the machine penalises: a scatter inside clusters of rows."""

    scatter: Scatter
    n_clusters: Annotated[int, Within(1, 2**31)] | None = None  # None means one cluster of all rows

    def centres(self, Z: Array, w: Array) -> Array | None:
        """Return the centres of the clusters; None if there is only one cluster."""
        return None if self.n_clusters is None else clusters.kmeans(Z, w, self.n_clusters)


@dataclass(frozen=True)
class Recipe:
    """Target, embedding, loss, kernel, C, lam and scaling of a machine."""

    kernel: Kernel  # the bandwidth of a radial kernel may be the name of a rule
    C: Positive | str
    lam: Positive
    loss: Annotated[str, OneOf(*LOSSES)]
    constant: float | None  # the target of every row; None means that the target is the row itself
    variance: Variance | UserLaplacian | None
    scaling: Annotated[str, OneOf(*SCALINGS)]

    def __check__(self) -> None:
        sigma = getattr(self.kernel, "sigma", None)
        for name, rule, rules in (("C", self.C, COST_RULES), ("sigma", sigma, BANDWIDTH_RULES)):
            must(not isinstance(rule, str) or rule in rules, f"{name} must be a number or one of {rules}")

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
