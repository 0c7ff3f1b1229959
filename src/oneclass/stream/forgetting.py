"""Weights of rows by age (half-life, window or none), and the transfer of moments to a new plan.

A plan is the scaling, bandwidth, landmarks and clusters of a machine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from ..core import clusters
from ..core.kernels import is_radial
from ..core.moments import Moments
from ..core.plan import Plan
from ..core.stored import Positive
from .memory import Mask, Numbers, Vector

__all__ = ["Forgetting", "carried"]

#: Smallest number of rows that a stream with a half-life keeps. No recorded measurement.
_MIN_KEPT_ROWS = 1024
#: Largest number of rows that a stream without a window of rows keeps. The moments represent the others. No recorded
#: measurement.
_MAX_KEPT = 4096
#: Number of half-lives for which a row is kept. After 4 half-lives its weight is 1/16. No recorded measurement.
_KEPT_HALF_LIVES = 4
#: Smallest factor of a weight, that of 40 half-lives. Without it, the rows before a long pause have no weight, and no
#: system can be solved before two rows follow.
_MIN_FACTOR = 1e-12
#: Number of learned rows, without forgetting, after which the losses of new rows no longer decrease noticeably. No
#: recorded measurement.
_SETTLED_ROWS = 20_000.0
#: Ridge, in units of the trace, that keeps the regression of new features on old ones solvable. No recorded
#: measurement.
_RIDGE = 1e-12


@dataclass(frozen=True)
class Forgetting:
    """Weights of rows by age.

    With a clock, age is time. Without a clock, age is the number of rows learned since, so that rows which are not
    learned do not age the others.
    """

    half_life: Positive | None = None
    window: Positive | None = None
    clock: bool = False

    def weights(self, age: Vector) -> Vector:
        """Return the factor by which the weight of a row of each age is multiplied."""
        if self.half_life is None:
            return np.ones(len(age))
        with np.errstate(over="ignore"):
            return np.maximum(0.5 ** (age / self.half_life), _MIN_FACTOR)

    def inside(self, age: Vector) -> Mask:
        """Return which ages are within the window."""
        return np.ones(len(age), dtype=bool) if self.window is None else age < self.window

    @property
    def span(self) -> float:
        """Age after which a row has little influence: the window, 4 half-lives, or 20,000 without forgetting."""
        if self.window is not None:
            return self.window
        return _SETTLED_ROWS if self.half_life is None else _KEPT_HALF_LIVES * self.half_life

    @property
    def size(self) -> float:
        """Largest number of learned rows that a stream keeps.

        This is twice the window, if the window is in rows: rows are learned with weights of at most one, so that a
        window of weight 1,000 may hold more than 1,000 rows.
        """
        if self.window is not None:
            return np.inf if self.clock else 2 * self.window
        if self.half_life is None or self.clock:
            return _MAX_KEPT
        return min(max(_MIN_KEPT_ROWS, _KEPT_HALF_LIVES * self.half_life), _MAX_KEPT)


def carried(old: Moments, before: Plan, after: Plan, X: Vector, w: Vector) -> tuple[Moments, float]:
    """Return moments of rows that are not kept, in the features of a new plan, and the share of unexplained variance.

    Each new feature is regressed on all old features, over rows that are kept. Each new target is regressed on the same
    target under the old plan. The moments are transformed by these regressions. The residual variances of the new
    features are added to the diagonal of their covariance.

    The share is the part of the new features' variance that the regression does not explain. It is zero if the new
    features are linear combinations of the old ones.

    The feature vectors of a radial kernel have a norm of at most one. Far from the kept rows, the regression may give a
    larger norm, and the features are then scaled down. Otherwise the norm would grow with each new plan, until the
    systems could no longer be solved.

    Parameters
    ----------
    old : Moments
        Moments of rows that are not kept, under the plan `before`.
    before, after : Plan
        The old plan and the new plan.
    X : array of shape (n, d)
        Rows that are kept.
    w : array of shape (n,)
        Weights of these rows.
    """
    longest = 1.0 if is_radial(after.kernel) else math.inf
    total = float(np.sum(w))
    root = np.sqrt(w / total)[:, None]
    Z, new_Z = before.scaler(X), after.scaler(X)
    F, G = before.features(Z), after.features(new_Z)
    T, U = before.recipe.target(Z), after.recipe.target(new_Z)
    f, g, t, u = (w @ A / total for A in (F, G, T, U))
    F, G, T, U = (root * (A - mean) for A, mean in ((F, f), (G, g), (T, t), (U, u)))
    gram = F.T @ F
    gram[np.diag_indices_from(gram)] += _RIDGE * np.trace(gram) + np.finfo(float).tiny
    R = np.linalg.solve(gram, F.T @ G)
    left = np.sum((G - F @ R) ** 2, axis=0)
    spread = np.sum(T * T, axis=0)
    # A target without variance keeps its value: its slope is one.
    slope = np.where(spread > 0, np.sum(T * U, axis=0) / np.where(spread > 0, spread, 1.0), 1.0)
    stretch = float(np.sum(U * U) / np.sum(spread)) if np.any(spread > 0) else 1.0

    def moved(p: int) -> Moments:
        weight = old.weight[p : p + 1]
        ff = R.T @ old.ff[p] @ R
        ff[np.diag_indices_from(ff)] += weight * left
        to_f, to_t = g + (old.f[p] - f) @ R, u + (old.t[p] - t) * slope
        ft = (R.T @ old.ft[p]) * slope
        length = float(np.trace(ff) + weight[0] * (to_f @ to_f))
        shorter = math.sqrt(longest * weight[0] / length) if length > longest * weight[0] > 0 else 1.0
        to_f, ff, ft = shorter * to_f, shorter**2 * ff, shorter * ft
        return Moments(weight, to_f[None], to_t[None], ff[None], ft[None], stretch * old.tt[p : p + 1])

    unexplained = float(np.sum(left)) / max(float(np.sum(G * G)), np.finfo(float).tiny)
    if after.centres is None:
        return reduce(add, (moved(p) for p in range(len(old.weight)))), unexplained
    successor = _cluster_successors(before, after, Z, new_Z)
    nothing = after.moments(X[:0], None)
    slots = [Moments(*(part[c : c + 1] for part in vars(nothing).values())) for c in range(len(after.centres))]
    for p in range(len(old.weight)):
        slots[successor[p]] = slots[successor[p]] + moved(p)
    return Moments.stack(slots), unexplained


def _cluster_successors(before: Plan, after: Plan, Z: Vector, new_Z: Vector) -> Numbers:
    """Return, for each old cluster, the new cluster that contains most of its rows."""
    k = 1 if after.centres is None else len(after.centres)
    old = np.zeros(len(Z), dtype=int) if before.centres is None else clusters.assign(Z, before.centres)
    counts = np.zeros((1 if before.centres is None else len(before.centres), k))
    np.add.at(counts, (old, clusters.assign(new_Z, after.centres)), 1)
    return np.asarray(np.argmax(counts, axis=1))
