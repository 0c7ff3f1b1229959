"""How a stream forgets: by halves, by a window, or not at all; and how its moments follow a new plan."""

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

#: Rows that are kept at least and at most where moments hold the rest, and half-lives after which a row is not needed.
_FEWEST, _MOST, _HALVES = 1024, 4096, 4
#: Number of rows after which the losses of a stream that forgets nothing do not fall any more.
_CONVERGED_ROWS = 20_000.0


@dataclass(frozen=True)
class Forgetting:
    """Weights by age. Without a clock, age is counted in rows learned: what is not learned ages nothing."""

    half_life: Positive | None = None
    window: Positive | None = None
    clock: bool = False

    def weights(self, age: Vector) -> Vector:
        """What forgetting leaves of rows of this age."""
        return np.ones(len(age)) if self.half_life is None else 0.5 ** (age / self.half_life)

    def inside(self, age: Vector) -> Mask:
        """Which rows of this age are not beyond the window."""
        return np.ones(len(age), dtype=bool) if self.window is None else age < self.window

    @property
    def span(self) -> float:
        """Age at which a row counts next to nothing; where nothing is forgotten, at which it is one of very many."""
        if self.window is not None:
            return self.window
        return _CONVERGED_ROWS if self.half_life is None else _HALVES * self.half_life

    @property
    def size(self) -> float:
        """Rows to keep: twice a window of rows, for rows that are learned at small weights are more than they count."""
        if self.window is not None:
            return np.inf if self.clock else 2 * self.window
        if self.half_life is None or self.clock:
            return _MOST
        return min(max(_FEWEST, _HALVES * self.half_life), _MOST)


def carried(old: Moments, before: Plan, after: Plan, X: Vector, w: Vector) -> tuple[Moments, float]:
    """Moments of rows that are gone, in the features and targets of another plan, and the share that it leaves open.

    Each new feature is regressed on all old ones over rows that are at hand, each new target on its old self. The
    moments follow these lines exactly; what they leave unexplained of the features is added as scatter without
    correlations. The share is that of the new features' variance which is not explained: zero when they lie in the span
    of the old.

    Features of a radial kernel are no longer than one: where lines drawn by the rows at hand make them longer, far from
    these rows, they are shortened. Else they would grow with every plan, until nothing could be solved.
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
    gram[np.diag_indices_from(gram)] += 1e-12 * np.trace(gram) + np.finfo(float).tiny
    R = np.linalg.solve(gram, F.T @ G)
    left = np.sum((G - F @ R) ** 2, axis=0)
    spread = np.sum(T * T, axis=0)
    # A target that does not vary stays as it is.
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
    home = _homes(before, after, Z, new_Z)
    nothing = after.moments(X[:0], None)
    slots = [Moments(*(part[c : c + 1] for part in vars(nothing).values())) for c in range(len(after.centres))]
    for p in range(len(old.weight)):
        slots[home[p]] = slots[home[p]] + moved(p)
    return Moments.stack(slots), unexplained


def _homes(before: Plan, after: Plan, Z: Vector, new_Z: Vector) -> Numbers:
    """The new cluster that holds most rows of each old one."""
    k = 1 if after.centres is None else len(after.centres)
    old = np.zeros(len(Z), dtype=int) if before.centres is None else clusters.assign(Z, before.centres)
    counts = np.zeros((1 if before.centres is None else len(before.centres), k))
    np.add.at(counts, (old, clusters.assign(new_Z, after.centres)), 1)
    return np.asarray(np.argmax(counts, axis=1))
