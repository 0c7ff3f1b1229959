"""KMeansDetector: reject rows that are far from every cluster's mean."""

from __future__ import annotations

from typing import Any, final

from sklearn.cluster import KMeans

from ..core.arrays import Array
from ..estimators._input import check_choice, check_integer
from ._base import Explained, count_distinct
from ._neighbours import nearest
from ._rounding import Rounded

__all__ = ["KMeansDetector"]


@final
class KMeansDetector(Rounded, Explained):
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
    scale : bool, default=True
        Whether to z-score the features first; constant ones are centred only.
    delta : float in [0, 1), default=0.05
        False-alarm rate asked for: the share of normal rows that may be rejected.
    threshold : {"loo", "train", "authors"}, default="loo"
        Where the decision sits: the (1 - delta) quantile of held-out losses (five folds), which delivers the rate
        asked for; dd_tools' rule on training losses; the rule of the VAAKELM authors' released code.
    random_state : int, RandomState instance or None, default=None
        Seed of the first centres.

    Attributes
    ----------
    offset_ : float
        Threshold on `score_samples`.
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

    def __init__(
        self,
        *,
        n_clusters: int = 5,
        init: str = "k-means++",
        n_init: int = 3,
        scale: bool = True,
        delta: float = 0.05,
        threshold: str = "loo",
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.scale = scale
        self.delta = delta
        self.threshold = threshold
        self.random_state = random_state

    def _learn(self, Z: Array) -> None:
        clusters = KMeans(
            min(check_integer(self, "n_clusters", 1), count_distinct(Z)),
            init=check_choice(self, "init", ("k-means++", "random")),
            n_init=check_integer(self, "n_init", 1),
            random_state=self.random_state,
        ).fit(Z)
        self.cluster_centers_ = clusters.cluster_centers_
        self._summands = len(Z)

    def _contributions(self, Z: Array) -> Array:
        gaps = Z - self.cluster_centers_[nearest(Z, self.cluster_centers_)]
        # The mean of copies of a row is the row but for the roundings of the sum, one for each.
        return self._beyond_rounding(gaps, Z, roundings=self._summands) ** 2
