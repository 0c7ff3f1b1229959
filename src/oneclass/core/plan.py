"""What the rows decide for a recipe, and the three passes over them: survey, moments, losses. Each result adds."""

from __future__ import annotations

from dataclasses import dataclass

from . import clusters
from .arrays import Array, blocks, namespace, ones
from .choosing import choose_cost, choose_kernel
from .features import FeatureMap
from .kernels import Kernel
from .leaving import leave_one_by_one
from .moments import Moments
from .recipe import Recipe
from .sample import RowSample
from .scaling import ColumnMoments, Scaler
from .solve import PrimalModel, TrainingRows

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
    """Scaling, kernel and C for a recipe and, for fits by moments, the feature map and the clusters' centres."""

    recipe: Recipe
    scaler: Scaler
    kernel: Kernel
    C: float
    map: FeatureMap | None = None
    centres: Array | None = None  # of the clusters whose variance is embedded

    @classmethod
    def of(cls, recipe: Recipe, columns: ColumnMoments, X: Array, w: Array) -> Plan:
        """Choose by all rows' `columns`, and by the rows `X` themselves or a sample of them."""
        scaler = Scaler.of(columns) if recipe.scale else Scaler.identity(X)
        Z = scaler(X)
        kernel = choose_kernel(recipe.kernel, Z, w, lam=recipe.lam)
        return cls(recipe, scaler, kernel, choose_cost(recipe.C, kernel, Z, w, lam=recipe.lam))

    @property
    def ridge(self) -> float:
        """``lam / C``."""
        return self.recipe.lam / self.C

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
        features, target = self.features, self.recipe.target
        n = Z.shape[0]
        if n == 0:
            # The map of no rows has the right width on the right device.
            return Moments.nothing(features(Z), target(Z))
        total: Moments | None = None
        for a, b in blocks(n, features.width, Z, for_products=True):
            part = Moments.of(features(Z[a:b, :]), target(Z[a:b, :]), None if w is None else w[a:b])
            total = part if total is None else total + part
        return total  # type: ignore[return-value]

    @property
    def features(self) -> FeatureMap:
        """The map of a fit by moments."""
        if self.map is None:
            raise ValueError("an exact fit has no feature map")
        return self.map

    def training_rows(self, model: PrimalModel, X: Array, w: Array | None) -> TrainingRows:
        """Residuals of one chunk under the fitted model, and what leverage leaves of each row.

        Only where the loss needs the machine's uncertainty do the rows know what lies outside the model.
        """
        xp = namespace(X)
        w = ones(X) if w is None else w
        T, residuals, spare, outside, left = [], [], [], [], []
        for a, b in blocks(X.shape[0], model.width, X):
            Z = self.scaler(X[a:b, :])
            features, unit = model.features(Z), xp.clip(w[a:b], max=1.0)
            T.append(self.recipe.target(Z))
            residuals.append(T[-1] - model.outputs(features))
            h = unit * model.leverages(features)
            spare.append(xp.clip(1 - h, min=xp.finfo(h.dtype).eps))
            if self.recipe.needs_variance:
                outside.append(model.outside(Z, features))
            if model.columns is not None:
                embedded = model.columns.seen_by(features, self._members(Z))
                left.append(leave_one_by_one(embedded, T[-1], residuals[-1], spare[-1], unit))
        beyond = xp.concat(outside) if outside else 0.0
        held = (xp.concat([e for e, _ in left]), xp.concat([v for _, v in left])) if left else None
        return TrainingRows(xp.concat(T), xp.concat(residuals), xp.concat(spare), w, beyond, held)

    def _members(self, Z: Array) -> Array:
        """Which cluster each row is in, one-hot."""
        if self.centres is None:
            return ones(Z)[:, None]
        return clusters.one_hot(clusters.assign(Z, self.centres), self.centres.shape[0], Z)
