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
from ._base import Explained, ExplainedModel, Training, count_distinct
from ._neighbors import nearest
from ._rounding import Rounding

__all__ = ["KMeansDetector"]


@final
class KMeansDetector(Explained["_Clusters"]):
    """Reject rows that are far from every cluster's mean.

    The loss is the squared distance to the nearest of the k-means centres.

    Parameters
    ----------
    n_clusters : int, default=5
        Number of centres (fewer if there are fewer distinct rows).
    init : {"k-means++", "random"}, default="k-means++"
        First centres: spread out, or rows drawn at random, which with ``n_init=1`` is dd_tools' way.
    n_init : int, default=3
        Restarts; the tightest clustering is kept.
    scale : {"zscore", "robust"} or False, default="zscore"
        Whether features are z-scored first, or tamed as the machines do (``asinh`` around the median), or left as they
        are; constant ones are centred only.
    delta : float in [0, 1), default=0.05
        False-alarm rate asked for: the share of normal rows that may be rejected.
    threshold : {"held_out", "train", "authors"}, default="held_out"
        Where the decision sits: the (1 - delta) quantile of held-out losses (five folds), which delivers the rate
        asked for; dd_tools' rule on training losses; the rule of the VAAKELM authors' released code. Only the
        first has the held-out losses that p-values and other budgets need.
    confidence : float in (0, 1), optional
        Chance with which this very model keeps `delta`. By default it is kept on average over training sets; a model
        that is to be sure of it rejects less.
    random_state : int, RandomState instance or None, default=None
        Seed of the first centres; None draws the same every time.

    Attributes
    ----------
    offset_ : float
        Threshold on `score_samples`.
    calibration_ : Calibration or None
        Held-out losses of the training rows, behind thresholds and p-values; None if the threshold needed none.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Centres in z-scores.
    scaler_, n_features_in_, feature_names_in_
        Fitted scaling; as in scikit-learn.

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
        n_clusters: int = 5,
        init: str = "k-means++",
        n_init: int = 3,
        scale: str | bool = "zscore",
        delta: float = 0.05,
        threshold: str = "held_out",
        confidence: float | None = None,
        random_state: Seed = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.scale = scale
        self.delta = delta
        self.threshold = threshold
        self.confidence = confidence
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
        # The mean of copies of a row is the row but for the roundings of the sum, one for each.
        return self.rounding.beyond(gaps, Z, roundings=self.n_rows) ** 2
