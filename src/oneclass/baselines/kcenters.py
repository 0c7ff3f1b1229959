"""KCentersDetector: cover the training rows with a few small balls and reject rows far from their centers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, final

import numpy as np
from scipy.spatial.distance import cdist

from ..base.checks import check_integer
from ..base.rates import decision_of
from ..base.seeds import random_of
from ..core.arrays import Array
from ..core.stored import Floats
from ..core.typing import Seed
from ._base import Explained
from ._neighbors import nearest
from ._rounding import Rounding
from ._slow import FOLDS, Slow
from ._training import ExplainedModel, Training

__all__ = ["KCentersDetector"]

#: Largest number of rounds of a restart. No round increases the radius, and few are needed.
_MAX_ROUNDS = 100


@final
class KCentersDetector(Slow["_Balls"], Explained["_Balls"]):
    """Cover the training rows with a few small balls and reject rows far from their centers.

    Centers are training rows. Each restart assigns rows to their nearest center. It then moves each center to the row
    of its cluster with the smallest distance to the farthest row of the cluster. This is repeated until no center
    moves. The restart with the smallest radius is used. The loss is the squared distance to the nearest center.

    Parameters
    ----------
    {delta_of_folds}
    {confidence}
    {rate_by}
    n_centers : int, default=5
        Number of centers; smaller if there are fewer distinct rows.
    n_init : int, default=25
        Number of restarts with random centers.
    {scale}
    {threshold_of_folds}
    {hold_out}
    {random_state_of_centers}

    Attributes
    ----------
    {offset_}
    {calibration_or_none_}
    cluster_centers_ : array of shape (n_centers, n_features)
        Scaled centers.
    radius_ : float
        Largest distance from a training row to its center, in units of the scaled features.
    {scaler_and_features_}

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass.baselines import KCentersDetector
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> KCentersDetector(random_state=0).fit(X).predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    """

    _instead: ClassVar = "KMeansDetector, or a smaller n_init"
    _published: ClassVar = ("cluster_centers", "radius")
    model_: _Balls

    def __init__(
        self,
        *,
        delta: float = 0.05,
        confidence: float | None = None,
        rate_by: str = "group",
        n_centers: int = 5,
        n_init: int = 25,
        scale: str | bool = "zscore",
        threshold: str = "held_out",
        hold_out: str | float = "auto",
        random_state: Seed = None,
    ) -> None:
        self.delta = delta
        self.confidence = confidence
        self.rate_by = rate_by
        self.n_centers = n_centers
        self.n_init = n_init
        self.scale = scale
        self.threshold = threshold
        self.hold_out = hold_out
        self.random_state = random_state

    def _seconds(self, n: int, d: int) -> float:
        n_init, n_centers = check_integer(self, "n_init", 1), check_integer(self, "n_centers", 1)
        return n * n_init * (2.5e-6 + 2e-8 * d * n_centers) * (FOLDS if decision_of(self).held_out else 1)

    def _learn(self, training: Training) -> _Balls:
        rows = np.unique(training.Z, axis=0)  # copies change no radius
        k = min(check_integer(self, "n_centers", 1), len(rows))
        random = random_of(self.random_state)
        starts = [random.choice(len(rows), k, replace=False) for _ in range(check_integer(self, "n_init", 1))]
        settled = (_settle(rows, rows[start]) for start in starts)
        squared, centers = min(settled, key=lambda restart: restart[0])
        return _Balls(centers, float(np.sqrt(squared)), training.rounding)

    def _size_beside(self, model: _Balls, twin: _Balls, training: Training) -> float:
        # The radius depends on single rows: a center near an outlier is far from all other rows, in some folds but not
        # in others. Without this factor, delta=0.1 gave a false-alarm rate of 13 % on handwritten digits, and of up to
        # 80 % in one fit.
        own, other = np.median(model.losses(training.Z)), np.median(twin.losses(training.Z))
        return float(own / other) if own > 0 and other > 0 else 1.0


@dataclass(frozen=True)
class _Balls(ExplainedModel):
    cluster_centers: Annotated[Array, Floats("_k d")]
    radius: float
    rounding: Rounding

    @property
    def kept(self) -> Array:
        return self.cluster_centers

    def expected(self, Z: Array) -> Array:
        return self.cluster_centers[nearest(Z, self.cluster_centers)]

    def contributions(self, Z: Array) -> Array:
        return self.rounding.beyond(Z - self.expected(Z), Z) ** 2


def _settle(rows: Array, centers: Array) -> tuple[float, Array]:
    """Move the centers until none moves; the squared radius, and the centers."""
    for _ in range(_MAX_ROUNDS):
        labels = nearest(rows, centers)
        moved = np.stack([_center(rows[labels == c]) for c in range(len(centers))])
        if np.array_equal(moved, centers):
            break
        centers = moved
    return float(cdist(rows, centers, "sqeuclidean").min(axis=1).max()), centers


def _center(group: Array) -> Array:
    """The row with the smallest distance to the row that is farthest from it.

    The distance between two rows is a lower bound on the distance from each to its farthest row. The search computes
    the exact value for the row with the smallest bound, and improves the bounds by the distances from its farthest row,
    until the smallest bound is exact.
    """
    bound, measured = np.zeros(len(group)), np.zeros(len(group), dtype=bool)
    while not measured[i := int(bound.argmin())]:
        squared = cdist(group, group[i : i + 1], "sqeuclidean")[:, 0]
        far = int(squared.argmax())
        np.maximum(bound, squared, out=bound)
        np.maximum(bound, cdist(group, group[far : far + 1], "sqeuclidean")[:, 0], out=bound)
        bound[i], measured[i] = squared[far], True
    return group[i]
