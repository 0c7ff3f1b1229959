"""The three passes over the rows: survey them, gather their moments, then their losses. Each result adds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..core import clusters
from ..core.arrays import Array, blocks, namespace, ones
from ..core.embedding import Scatter
from ..core.features import FeatureMap
from ..core.moments import Moments
from ..core.sample import RowSample
from ..core.scaling import ColumnMoments, Scaler
from ..core.solve import PrimalModel, TrainingRows

__all__ = ["Plan", "Survey"]


@dataclass(frozen=True)
class Survey:
    """First pass: column moments for the scaler and a sample for bandwidth, clusters and landmarks."""

    columns: ColumnMoments
    sample: RowSample
    n_rows: int

    @classmethod
    def of(cls, X: Array, w: Array | None, *, size: int, seed: int) -> Survey:
        """The survey of one chunk."""
        w = ones(X) if w is None else w
        return cls(ColumnMoments.of(X, w), RowSample.of(X, w, size=size, seed=seed), int(X.shape[0]))

    def __add__(self, other: Survey) -> Survey:
        return Survey(self.columns + other.columns, self.sample + other.sample, self.n_rows + other.n_rows)


@dataclass(frozen=True)
class Plan:
    """Second and third pass: what a chunk needs to know to become moments, and residuals."""

    scaler: Scaler
    map: FeatureMap
    target: Callable[[Array], Array]
    centres: Array | None  # of the clusters whose variance is embedded
    scatter: Scatter | None

    def moments(self, X: Array, w: Array | None) -> Moments:
        """Moments of one chunk, cluster by cluster."""
        Z = self.scaler(X)
        if self.centres is None:
            return self._cluster_moments(Z, w)
        xp = namespace(Z)
        labels = clusters.assign(Z, self.centres)
        parts = []
        for p in range(self.centres.shape[0]):
            members = xp.nonzero(labels == p)[0]
            weights = None if w is None else xp.take(w, members)
            parts.append(self._cluster_moments(xp.take(Z, members, axis=0), weights))
        return Moments.stack(parts)

    def _cluster_moments(self, Z: Array, w: Array | None) -> Moments:
        n = Z.shape[0]
        if n == 0:
            # The map of no rows has the right width on the right device.
            return Moments.nothing(self.map(Z), self.target(Z))
        total: Moments | None = None
        for a, b in blocks(n, self.map.width, Z, for_products=True):
            part = Moments.of(self.map(Z[a:b, :]), self.target(Z[a:b, :]), None if w is None else w[a:b])
            total = part if total is None else total + part
        return total  # type: ignore[return-value]

    def training_rows(self, model: PrimalModel, X: Array, w: Array | None, *, uncertainty: bool) -> TrainingRows:
        """Residuals of one chunk under the fitted model, and what leverage leaves of each row.

        Only with `uncertainty` do the rows know what lies outside the model.
        """
        xp = namespace(X)
        w = ones(X) if w is None else w
        T, residuals, spare, outside = [], [], [], []
        for a, b in blocks(X.shape[0], model.width, X):
            Z = self.scaler(X[a:b, :])
            features = model.features(Z)
            T.append(self.target(Z))
            residuals.append(T[-1] - model.outputs(features))
            h = xp.clip(w[a:b], max=1.0) * model.leverages(features)
            spare.append(xp.clip(1 - h, min=xp.finfo(h.dtype).eps))
            if uncertainty:
                outside.append(model.outside(Z, features))
        beyond = xp.concat(outside) if uncertainty else 0.0
        return TrainingRows(xp.concat(T), xp.concat(residuals), xp.concat(spare), w, beyond)
