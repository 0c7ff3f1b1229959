"""The choices made from the training rows, and three passes over the rows: survey, moments and losses.

The results of each pass for chunks of rows can be added.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from . import clusters
from .arrays import Array, blocks, device, namespace, on_host, ones, to_numpy
from .block import Block
from .cholesky import solve_lower
from .data_choices import choose_cost, choose_kernel
from .features import FeatureMap, NystromMap
from .gathering import moments_of_rows, parts_of_rows
from .groups import GroupCounts, Groups
from .kernels import Kernel, Settled, diagonal
from .leave_landmarks_out import Landmarks
from .leave_out import leave, leave_one_by_one
from .loss import Measures
from .moments import Moments
from .primal import PrimalModel
from .recipe import Recipe
from .row_sample import RowSample, row_keys
from .scaling import ColumnMoments, Scaler
from .solve import TrainingRows
from .stored import Floats, Positive

__all__ = ["CostError", "Plan", "Survey"]

#: Most host rows held out in one block: large enough for fast triangular products, small enough for the cache.
_MOST_AT_ONCE = 1024
#: Most groups kept for the threshold when rows arrive in chunks. They estimate a false-alarm rate of 5 % with a
#: standard error of 0.12 percentage points.
_MOST_GROUPS = 32_768

#: Lower bound of ``C k(x, x) / lam`` for losses that are a constant minus a term proportional to C, in units of
#: eps^(2/3), the rounding that thresholds allow for. Below it the measured false-alarm rate is less than delta.
_LEAST_UNIT_COST = 2.0
#: The same bound for a model with a variance term, in units of eps. The loss does not become constant for a small C,
#: but the linear system loses digits.
_LEAST_UNIT_COST_WITH_VARIANCE = 16.0
#: Upper bound of ``C k(x, x) / lam`` for the uncertainty of a Nystrom model, in units of 1 / eps. C multiplies the
#: rounding of the variance outside the landmarks; at ten times the bound measured false-alarm rates are twice delta.
_MOST_UNIT_COST = 0.01


class CostError(ValueError):
    """C is so small or so large that rounding dominates the differences between losses."""


@dataclass(frozen=True)
class Survey:
    """First pass: column moments for the scaler, and a sample of rows for bandwidth, clusters and landmarks."""

    columns: ColumnMoments
    sample: RowSample
    n_rows: int
    groups: GroupCounts | None = None

    @classmethod
    def of(cls, block: Block, *, size: int, seed: int) -> Survey:
        """Return the survey of one block of rows."""
        X, w = block.X, ones(block.X) if block.w is None else block.w
        groups = None if block.keys is None else GroupCounts.of(block.keys, size=_MOST_GROUPS)
        sample = RowSample.of(X, w, block.keys, size=size, seed=seed)
        return cls(ColumnMoments.of(X, w), sample, int(X.shape[0]), groups)

    def __add__(self, other: Survey) -> Survey:
        groups = None if self.groups is None or other.groups is None else self.groups + other.groups
        return Survey(self.columns + other.columns, self.sample + other.sample, self.n_rows + other.n_rows, groups)


@dataclass(frozen=True)
class Plan:
    """Scaling, kernel and C chosen for a recipe and, for fits from moments, the feature map and cluster centres."""

    recipe: Recipe
    scaler: Scaler
    kernel: Annotated[Kernel, Settled()]
    C: Positive
    map: FeatureMap | None = None
    centres: Annotated[Array, Floats("k d")] | None = None  # of the clusters whose variance is embedded
    measures: Measures | None = None  # of the loss ``either``, once the machine is solved

    @classmethod
    def of(cls, recipe: Recipe, scaler: Scaler, Z: Array, w: Array, *, total: float) -> Plan:
        """Choose kernel and C from the scaled rows `Z`, or a sample of them; `total` is the weight of all rows."""
        kernel = choose_kernel(recipe.kernel, Z, w, lam=recipe.lam)
        return cls(recipe, scaler, kernel, choose_cost(recipe.C, kernel, Z, w, lam=recipe.lam, total=total)).checked(Z)

    def checked(self, Z: Array) -> Plan:
        """Return the plan itself; raise `CostError` if C is too small or too large for the precision of `Z`."""
        recipe, numbers = self.recipe, namespace(Z).finfo(Z.dtype)
        least, most, eps = 0.0, math.inf, float(numbers.eps)
        if recipe.constant is not None or (recipe.loss == "uncertainty" and recipe.variance is None):
            least = _LEAST_UNIT_COST * eps ** (2 / 3)
        elif recipe.loss == "uncertainty":
            least = _LEAST_UNIT_COST_WITH_VARIANCE * eps
        if recipe.needs_variance and isinstance(self.map, NystromMap):
            most = _MOST_UNIT_COST / eps
        if least == 0 and math.isinf(most):
            return self
        unit = float(namespace(Z).mean(diagonal(self.kernel, Z))) / recipe.lam
        if not least <= self.C * unit <= most and unit > 0:
            side, bound = ("least", least) if self.C * unit < least else ("most", most)
            raise CostError(
                f"C must be at {side} {bound / unit:.2g}, or losses are made of rounding in {numbers.bits}-bit "
                f"precision; got {self.C:g}"
            )
        return self

    @property
    def ridge(self) -> float:
        """``lam / C``."""
        return self.recipe.lam / self.C

    def block_moments(self, block: Block) -> Moments:
        """Return the moments of one block of rows."""
        return self.moments(block.X, block.w, block.F)

    def moments(self, X: Array, w: Array | None, F: Array | None = None) -> Moments:
        """Return the moments of one chunk of rows for each cluster; `F` are the features, if they are known."""
        return self.moments_of(self.scaler(X), F, w)

    def moments_of(self, Z: Array, F: Array | None, w: Array | None) -> Moments:
        """Return the moments of scaled rows for each cluster."""
        return moments_of_rows(self.features, Z, F, self.recipe.target, w, self.centres)

    def exchanged(
        self, moments: Moments, arriving: tuple[Array, Array | None, Array], leaving: tuple[Array, Array | None, Array]
    ) -> Moments:
        """Return the moments after scaled rows arrived and others left, each with features if known, and weights."""
        both = [
            parts_of_rows(self.features, Z, F, self.recipe.target, w, self.centres) for Z, F, w in (arriving, leaving)
        ]
        return moments.exchanged(*both)

    @property
    def features(self) -> FeatureMap:
        """The feature map of a fit from moments."""
        if self.map is None:
            raise ValueError("an exact fit has no feature map")
        return self.map

    def training_rows(self, model: PrimalModel, X: Array, w: Array | None, F: Array | None = None) -> TrainingRows:
        """Return residuals and leverages of one chunk of training rows; `F` are the features, if they are known.

        The variance outside the features is computed only if the loss needs the uncertainty.
        """
        xp = namespace(X)
        w = ones(X) if w is None else w
        T, residuals, leverage, spare, outside, left = [], [], [], [], [], []
        at_most = _MOST_AT_ONCE if on_host(X) else None
        for a, b in blocks(X.shape[0], model.width, X, for_products=on_host(X), at_most=at_most):
            Z = self.scaler(X[a:b, :])
            features = model.features(Z) if F is None else F[a:b, :]
            unit = xp.clip(w[a:b], max=1.0)
            T.append(self.recipe.target(Z))
            outputs, across = model.read_off(features)
            residuals.append(T[-1] - outputs)
            found, beyond = model.judged(Z, features, beyond=self.recipe.needs_variance)
            leverage.append(found)
            spare.append(xp.clip(1 - unit * found, min=xp.finfo(found.dtype).eps))
            outside.append(beyond)
            if model.columns is not None:
                embedded = model.columns.seen_by(across, self._members(Z))
                left.append(leave_one_by_one(embedded, T[-1], residuals[-1], found, spare[-1], unit))
        beyond = xp.concat(outside) if self.recipe.needs_variance else 0.0
        held = (xp.concat([e for e, _ in left]), xp.concat([v for _, v in left])) if left else None
        T, residuals, leverage, spare = (xp.concat(of) for of in (T, residuals, leverage, spare))
        return TrainingRows(T, residuals, w, leverage, spare, beyond, held)

    def training_groups(self, model: PrimalModel, X: Array, w: Array | None, groups: Groups) -> TrainingRows:
        """Return the same for all rows, each held out with its group and the landmarks of the group."""
        xp = namespace(X)
        w = ones(X) if w is None else w
        landmarks = Landmarks.of(model, self._owners(X, groups))
        order, parts = [], []
        for whole in groups.by_size:
            for a, b in blocks(whole.shape[0], model.width * whole.shape[1], X):
                flat = xp.reshape(xp.asarray(whole[a:b], device=device(X)), (-1,))
                order.append(flat)
                given = (xp.take(X, flat, axis=0), xp.take(w, flat), groups.of_rows[whole[a:b, 0]])
                parts.append(self.group_rows(model, landmarks, *given))
        back = xp.argsort(xp.concat(order))

        def together(arrays: list[Array]) -> Array:
            return xp.take(xp.concat(arrays), back, axis=0)

        names = ("T", "residuals", "leverage", "spare")
        T, residuals, leverage, spare = (together([getattr(part, name) for part in parts]) for name in names)
        outside = together([part.outside for part in parts]) if self.recipe.needs_variance else 0.0
        lefts = [part.left for part in parts if part.left is not None]
        left = together([e for e, _ in lefts]), together([v for _, v in lefts])
        return TrainingRows(T, residuals, w, leverage, spare, outside, left)

    def nearest(self, X: Array) -> NDArray[np.int64]:
        """Return the index of the row nearest to each landmark: the landmark itself, unless it is a k-means centre."""
        if not isinstance(self.map, NystromMap):
            return np.zeros(0, dtype=np.int64)
        return to_numpy(clusters.assign(self.map.landmarks, self.scaler(X)))

    def _owners(self, X: Array, groups: Groups) -> NDArray[np.int64]:
        """Return the group that each landmark is removed with; -1 if several groups contain its row: it then stays."""
        keys = to_numpy(row_keys(X, 0))
        order = np.argsort(keys)  # of equally near rows the first is taken: make it independent of row order
        rows = order[self.nearest(namespace(X).take(X, namespace(X).asarray(order, device=device(X)), axis=0))]
        known, places = np.unique(keys[rows], return_inverse=True)
        low, high = np.full(len(known), groups.count), np.full(len(known), -1)
        alike = np.flatnonzero(np.isin(keys, known))
        found = np.searchsorted(known, keys[alike])
        np.minimum.at(low, found, groups.of_rows[alike])
        np.maximum.at(high, found, groups.of_rows[alike])
        return np.where(low == high, low, -1)[places]

    def group_rows(
        self, model: PrimalModel, landmarks: Landmarks | None, X: Array, w: Array, numbers: NDArray[np.int64]
    ) -> TrainingRows:
        """Return the held-out rows of the groups with these numbers; groups have one size and are contiguous in `X`."""
        xp = namespace(X)
        Z = self.scaler(X)
        features, T = model.features(Z), self.recipe.target(Z)
        half = xp.reshape(solve_lower(model.factored, features.T).T, (len(numbers), X.shape[0] // len(numbers), -1))
        Q = half @ xp.matrix_transpose(half)
        leverage = xp.reshape(xp.linalg.diagonal(Q), (-1,))
        spare = xp.clip(1 - xp.clip(w, max=1.0) * leverage, min=xp.finfo(X.dtype).eps)
        outside = model.outside(Z, features) if self.recipe.needs_variance else 0.0
        rows = TrainingRows(T, T - model.outputs(features), w, leverage, spare, outside)
        return self.left_by_groups(model, landmarks, rows, Z, features, Q, numbers)

    def left_by_groups(
        self,
        model: PrimalModel,
        landmarks: Landmarks | None,
        rows: TrainingRows,
        Z: Array,
        features: Array,
        Q: Array,
        numbers: NDArray[np.int64],
    ) -> TrainingRows:
        """Return training rows held out with their groups, from covariances `Q` (groups x size x size)."""
        xp = namespace(Z)
        groups, size = Q.shape[:2]
        T, residuals, left = rows.T, rows.residuals, xp.reshape(rows.w, (groups, size))
        embedded = (
            None if model.columns is None else model.columns.seen_by(features @ model.columns.PV, self._members(Z))
        )
        shaped, apart = (xp.reshape(A, (groups, size, -1)) for A in (T, residuals))
        lost = landmarks and landmarks.withdrawn(numbers, xp.reshape(features, (groups, size, -1)))
        if lost:
            Q, apart = Q - lost.explained, apart + lost.known
            embedded = embedded and lost.embedded(embedded)
        E = xp.eye(size, dtype=Z.dtype, device=device(Z)) - Q * left[:, None, :]
        places = xp.reshape(xp.arange(groups * size, device=device(Z)), (groups, size))
        held = leave(embedded, places, left, E, Q, shaped, apart)
        unknown = held[1] + lost.beyond if lost else held[1]
        return replace(rows, left=(xp.reshape(held[0], (groups * size, -1)), xp.reshape(unknown, (-1,))))

    def _members(self, Z: Array) -> Array:
        """Return the cluster of each row, one-hot."""
        if self.centres is None:
            return ones(Z)[:, None]
        return clusters.one_hot(clusters.assign(Z, self.centres), self.centres.shape[0], Z)
