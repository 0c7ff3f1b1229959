"""The additive statistics of the primal form: everything that fitting needs to know of the rows.

Counts, means and centred scatters of features F and targets T, for each cluster. They merge (+), subtract (-) and
decay, so chunks, folds, windows, devices and clusters of machines all fit by the same few lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add

from .arrays import Array, add_gram, device, mirror, namespace, ones

__all__ = ["Moments"]


@dataclass(frozen=True)
class Moments:
    """Statistics of weighted rows, one slice for each cluster; float64 whatever the features are."""

    weight: Array  # k
    f: Array  # k x m, mean features
    t: Array  # k x p, mean targets
    ff: Array  # k x m x m, scatter of the features about their mean
    ft: Array  # k x m x p, cross scatter
    tt: Array  # k, total scatter of the targets

    @classmethod
    def of(cls, F: Array, T: Array, w: Array | None) -> Moments:
        """One cluster's rows. Overwrites `F`; weights of None are ones."""
        return cls.gathered([(F, T, w)])

    @classmethod
    def gathered(cls, parts: Iterable[tuple[Array, Array, Array | None]]) -> Moments:
        """The same of rows that come part by part, at least one: features, targets and weights."""
        origin, sums = None, None
        for F, T, w in parts:
            xp = namespace(F)
            if origin is None:
                origin = _mean(F, w), _mean(T, w)
                ff = xp.zeros((F.shape[1], F.shape[1]), dtype=xp.float64, device=device(F))
            F -= origin[0]
            T = T - origin[1]
            n, roots = ones(F), ones(F)
            if w is not None:
                n, roots = w, xp.sqrt(w)
                F *= roots[:, None]
                T = T * roots[:, None]
            add_gram(ff, F)
            found = (xp.sum(xp.astype(n, xp.float64)), roots @ F, roots @ T, F.T @ T, xp.sum(T * T))
            found = tuple(xp.astype(part, xp.float64, copy=False) for part in found)
            sums = found if sums is None else tuple(map(add, sums, found))
        if origin is None or sums is None:
            raise ValueError("no rows have no mean")
        n, f, t, ft, tt = sums
        # From the mean of the first part to that of all. If it is far from there it is far from the other rows too, so
        # that the scatter about either is alike: of its digits no more are lost than the number of parts has.
        add_gram(ff, (f / xp.sqrt(n))[None, :], -1.0)
        mirror(ff)
        ft, tt = ft - f[:, None] * (t / n), tt - xp.sum(t * t) / n
        f, t = (xp.astype(mean, xp.float64, copy=False) + off / n for mean, off in zip(origin, (f, t), strict=True))
        return cls(xp.reshape(n, (1,)), f[None, :], t[None, :], ff[None, :, :], ft[None, :, :], xp.reshape(tt, (1,)))

    @classmethod
    def nothing(cls, F: Array, T: Array) -> Moments:
        """No rows at all, of as many features and targets as `F` and `T` have."""
        xp = namespace(F)
        m, p = F.shape[1], T.shape[1]
        shapes = ((1,), (1, m), (1, p), (1, m, m), (1, m, p), (1,))
        return cls(*(xp.zeros(shape, dtype=xp.float64, device=device(F)) for shape in shapes))

    @classmethod
    def stack(cls, clusters: Iterable[Moments], k: int | None = None) -> Moments:
        """Clusters side by side; if their number `k` is given, no more than one need be there at a time."""
        parts: Iterable[Moments] = list(clusters) if k is None else clusters
        stacked: dict[str, Array] = {}
        for p, part in enumerate(parts):
            for name, value in vars(part).items():
                if name not in stacked:
                    shape = (len(parts) if k is None else k, *value.shape[1:])  # type: ignore[arg-type]
                    stacked[name] = namespace(value).empty(shape, dtype=value.dtype, device=device(value))
                stacked[name][p : p + 1, ...] = value
        return cls(**stacked)

    def __add__(self, other: Moments) -> Moments:
        # Merge means, not raw sums: no cancellation when the mean is large.
        return self._combined(other, 1.0)

    def __sub__(self, other: Moments) -> Moments:
        """What was added before `other` was; exact up to rounding."""
        return self._combined(other, -1.0)

    def decay(self, rho: float) -> Moments:
        """Every row at `rho` times its weight."""
        return Moments(rho * self.weight, self.f, self.t, rho * self.ff, rho * self.ft, rho * self.tt)

    def total(self) -> Moments:
        """All clusters as one."""
        k = self.weight.shape[0]
        parts = [Moments(**{name: value[p : p + 1, ...] for name, value in vars(self).items()}) for p in range(k)]
        return reduce(add, parts)

    def _combined(self, other: Moments, sign: float) -> Moments:
        xp = namespace(self.f)
        n = self.weight + sign * other.weight
        safe = xp.where(n > 0, n, xp.ones_like(n))
        share = sign * other.weight / safe
        df, dt = other.f - self.f, other.t - self.t
        pull = self.weight * share
        f, t = self.f + share[:, None] * df, self.t + share[:, None] * dt
        scaled = pull[:, None] * df
        ff = scaled[:, :, None] * df[:, None, :]
        ff += self.ff
        ft = self.ft + sign * other.ft + scaled[:, :, None] * dt[:, None, :]
        if sign > 0:
            ff += other.ff
        else:
            ff -= other.ff
        tt = self.tt + sign * other.tt + pull * xp.sum(dt * dt, axis=1)
        return Moments(n, f, t, ff, ft, tt)

    # What the normal equations need.

    def means(self) -> tuple[Array, Array]:
        """Mean features and mean targets of all rows."""
        shares = self.weight / namespace(self.f).sum(self.weight)
        return shares @ self.f, shares @ self.t

    def second_moments(self) -> tuple[Array, Array, float]:
        """``F'WF``, ``F'WT`` and the total of ``w |t|²``."""
        xp = namespace(self.f)
        scaled = self.weight[:, None] * self.f
        FF = xp.sum(self.ff, axis=0) + scaled.T @ self.f
        FT = xp.sum(self.ft, axis=0) + scaled.T @ self.t
        return FF, FT, float(xp.sum(self.tt) + xp.sum(self.weight * xp.sum(self.t**2, axis=1)))

    def variance(self, shares: Callable[[Array], Array], *, own_mean: bool) -> Array:
        """``F'MF``: scatter inside clusters, about their own mean or the global one, each at its share."""
        xp = namespace(self.f)
        omega = shares(self.weight)
        inside = xp.reshape(omega @ xp.reshape(self.ff, (omega.shape[0], -1)), self.ff.shape[1:])
        if own_mean:
            return inside
        centred = self.f - (self.weight @ self.f) / xp.sum(self.weight)
        return inside + ((omega * self.weight)[:, None] * centred).T @ centred


def _mean(A: Array, w: Array | None) -> Array:
    """Mean of the rows."""
    xp = namespace(A)
    return xp.mean(A, axis=0) if w is None else (w @ A) / xp.astype(xp.sum(xp.astype(w, xp.float64)), A.dtype)
