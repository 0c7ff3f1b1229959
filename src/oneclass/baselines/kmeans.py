"""KMeansDetector: reject rows that are far from every cluster's mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, final

from sklearn.cluster import KMeans

from ..base.checks import check_choice, check_integer
from ..base.seeds import seeded
from ..core.arrays import Array
from ..core.stored import Count, Floats
from ..core.typing import Seed
from ._base import Explained, count_distinct
from ._neighbors import nearest
from ._rounding import Rounding
from ._training import ExplainedModel, Training

__all__ = ["KMeansDetector"]


@final
class KMeansDetector(Explained["_Clusters"]):
    """Reject rows that are far from every cluster's mean.

    The loss is the squared distance to the nearest cluster center of k-means.

    Parameters
    ----------
    {delta_of_folds}
    {confidence}
    {rate_by}
    n_clusters : int, default=5
        Number of clusters; smaller if there are fewer distinct rows.
    init : {"k-means++", "random"}, default="k-means++"
        Initial centers: rows far from each other, or random rows. ``"random"`` with ``n_init=1`` is the method of
        dd_tools.
    n_init : int, default=3
        Number of restarts. The clustering with the smallest sum of squared distances is used.
    {scale}
    {threshold_of_folds}
    {hold_out}
    {random_state_of_centers}

    Attributes
    ----------
    {offset_}
    {calibration_or_none_}
    cluster_centers_ : array of shape (n_clusters, n_features)
        Scaled centers.
    {scaler_and_features_}

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass.baselines import KMeansDetector
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> KMeansDetector(random_state=0).fit(X).predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    """

    _published: ClassVar = ("cluster_centers",)
    model_: _Clusters

    def __init__(
        self,
        *,
        delta: float = 0.05,
        confidence: float | None = None,
        rate_by: str = "group",
        n_clusters: int = 5,
        init: str = "k-means++",
        n_init: int = 3,
        scale: str | bool = "zscore",
        threshold: str = "held_out",
        hold_out: str | float = "auto",
        random_state: Seed = None,
    ) -> None:
        self.delta = delta
        self.confidence = confidence
        self.rate_by = rate_by
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.scale = scale
        self.threshold = threshold
        self.hold_out = hold_out
        self.random_state = random_state

    def _learn(self, training: Training) -> _Clusters:
        clusters = KMeans(
            min(check_integer(self, "n_clusters", 1), count_distinct(training.Z)),
            init=check_choice(self, "init", ("k-means++", "random")),
            n_init=check_integer(self, "n_init", 1),
            random_state=seeded(self.random_state),
        ).fit(training.Z)
        return _Clusters(clusters.cluster_centers_, len(training.Z), training.rounding)


@dataclass(frozen=True)
class _Clusters(ExplainedModel):
    cluster_centers: Annotated[Array, Floats("_k d")]
    n_rows: Count
    rounding: Rounding

    def expected(self, Z: Array) -> Array:
        return self.cluster_centers[nearest(Z, self.cluster_centers)]

    def contributions(self, Z: Array) -> Array:
        gaps = Z - self.expected(Z)
        # The mean of n copies of a row differs from the row by the rounding errors of a sum of n terms.
        return self.rounding.beyond(gaps, Z, roundings=self.n_rows) ** 2
