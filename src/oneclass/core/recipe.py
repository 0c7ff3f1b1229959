"""The choices that make a machine, as one value; what they leave to the rows is a rule by name."""

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
    """The variance to keep small: a scatter inside clusters of rows."""

    scatter: Scatter
    n_clusters: Annotated[int, Within(1, 2**31)] | None = None  # None is one cluster, the class

    def centres(self, Z: Array, w: Array) -> Array | None:
        """Centres of the clusters; None is one cluster."""
        return None if self.n_clusters is None else clusters.kmeans(Z, w, self.n_clusters)


@dataclass(frozen=True)
class Recipe:
    """Target, embedding, loss, kernel, C, lam and scaling of a machine."""

    kernel: Kernel  # a radial one may name the rule of its bandwidth
    C: Positive | str
    lam: Positive
    loss: Annotated[str, OneOf(*LOSSES)]
    constant: float | None  # the target of every row; None rebuilds the row itself
    variance: Variance | UserLaplacian | None
    scaling: Annotated[str, OneOf(*SCALINGS)]

    def __check__(self) -> None:
        sigma = getattr(self.kernel, "sigma", None)
        for name, rule, rules in (("C", self.C, COST_RULES), ("sigma", sigma, BANDWIDTH_RULES)):
            must(not isinstance(rule, str) or rule in rules, f"{name} must be a number or one of {rules}")

    @property
    def needs_variance(self) -> bool:
        """Whether the loss looks at the machine's uncertainty."""
        return self.loss in UNCERTAIN

    @property
    def scatter(self) -> Scatter | None:
        """The scatter that moments must tell, if any; a Laplacian of the user's is for exact fits alone."""
        return self.variance.scatter if isinstance(self.variance, Variance) else None

    def target(self, Z: Array) -> Array:
        """T: what the outputs of rows in z-scores should be."""
        return Z if self.constant is None else self.constant * ones(Z)[:, None]

    def embedding(self, Z: Array, w: Array, splits: clusters.Splits | None = None) -> tuple[Embedding, Array | None]:
        """The matrix M for rows in z-scores, and the cluster of each where there are clusters.

        Several numbers of clusters may share the `splits` of the rows.
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
