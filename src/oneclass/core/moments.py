"""Additive statistics of the training rows from which the primal form is fitted.

These are the weights, means and centred scatters of features F and targets T, for each cluster. They can be added,
subtracted and decayed, so that fits from chunks, folds, windows and several devices use the same code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Annotated, TypeAlias

from .arrays import Array, add_gram, device, mirror, namespace
from .stored import Floats

__all__ = ["Moments", "Part"]

#: Features of some rows (may be overwritten), their targets, and their weights (None means ones).
Part: TypeAlias = tuple[Array, Array, Array | None]


@dataclass(frozen=True)
class Moments:
    """Statistics of weighted rows, one slice for each cluster, always in float64."""

    weight: Annotated[Array, Floats("k")]
    f: Annotated[Array, Floats("k m")]  # mean features
    t: Annotated[Array, Floats("k t")]  # mean targets
    ff: Annotated[Array, Floats("k m m")]  # scatter of the features about their mean
    ft: Annotated[Array, Floats("k m t")]  # cross scatter
    tt: Annotated[Array, Floats("k")]  # total scatter of the targets

    @classmethod
    def of(cls, F: Array, T: Array, w: Array | None) -> Moments:
        """Return the moments of at least one row, all in one cluster. Overwrites `F`; weights of None mean ones."""
        return cls.gathered([[(F, T, w)]])

    @classmethod
    def gathered(cls, clusters: Sequence[Iterable[Part]]) -> Moments:
        """Return the moments of clusters whose rows arrive in parts; at least one cluster must have rows."""
        total: Moments | None = None
        for p, parts in enumerate(clusters):
            origin, count = None, 0
            for F, T, w in parts:
                total = total or cls.nothing(F, T, len(clusters))
                origin = origin or (_mean(F, w), _mean(T, w))
                F -= origin[0]
                total._add(p, F, T - origin[1], w)
                count += 1
            if total is not None and origin is not None:
                total._move(p, *origin, parted=count > 1)
        if total is None:
            raise ValueError("moments need at least one row, got none")
        return total

    @classmethod
    def nothing(cls, F: Array, T: Array, k: int = 1) -> Moments:
        """Return the moments of `k` clusters without rows, for the numbers of columns of `F` and `T`."""
        xp = namespace(F)
        m, p = F.shape[1], T.shape[1]
        shapes = ((k,), (k, m), (k, p), (k, m, m), (k, m, p), (k,))
        return cls(*(xp.zeros(shape, dtype=xp.float64, device=device(F)) for shape in shapes))

    def exchanged(self, arriving: Sequence[Iterable[Part]], leaving: Sequence[Iterable[Part]]) -> Moments:
        """Return the moments with the rows that arrive and without those that leave, each given as blocks per cluster.

        This is ``self + arriving - leaving`` in fewer passes over the scatters.
        """
        xp = namespace(self.f)
        weight, ff, ft, tt = (xp.asarray(of, copy=True) for of in (self.weight, self.ff, self.ft, self.tt))
        total = Moments(weight, xp.zeros_like(self.f), xp.zeros_like(self.t), ff, ft, tt)
        for p, both in enumerate(zip(arriving, leaving, strict=True)):
            for sign, parts in zip((1.0, -1.0), both, strict=True):
                for F, T, w in parts:
                    F -= self.f[p, :]
                    total._add(p, F, T - self.t[p, :], w, sign)
            total._move(p, self.f[p, :], self.t[p, :], parted=bool(weight[p] > 0))
        return total

    def _add(self, p: int, F: Array, T: Array, w: Array | None, sign: float = 1.0) -> None:
        """Add sums over rows to those of cluster `p`; for host rows, only the scatter's upper half. Overwrites `F`."""
        xp = namespace(F)
        if w is None:
            n, f, t = float(F.shape[0]), xp.sum(F, axis=0), xp.sum(T, axis=0)
        else:
            roots = xp.sqrt(w)
            F *= roots[:, None]
            T = T * roots[:, None]
            n, f, t = xp.sum(xp.astype(w, xp.float64)), roots @ F, roots @ T
        add_gram(self.ff[p, ...], F, sign)
        self.weight[p] += sign * n
        for total, more in ((self.f, f), (self.t, t), (self.ft, F.T @ T), (self.tt, xp.sum(T * T))):
            total[p, ...] += sign * xp.astype(more, xp.float64, copy=False)

    def _move(self, p: int, f: Array, t: Array, *, parted: bool) -> None:
        """Convert sums about the origin (f, t) to moments about the mean of all rows of cluster `p`.

        The origin is the mean of the cluster's first part; with several parts (`parted`) it is not the mean of all. If
        the origin is far from this mean, many rows are far from it too, and the scatters about both have a similar
        size. The subtraction therefore loses few digits: about as many as the number of parts has.
        """
        xp = namespace(f)
        f, t = xp.astype(f, xp.float64, copy=False), xp.astype(t, xp.float64, copy=False)
        if parted:
            n = self.weight[p]
            off_f, off_t = self.f[p, :] / n, self.t[p, :] / n
            add_gram(self.ff[p, ...], (xp.sqrt(n) * off_f)[None, :], -1.0)
            self.ft[p, ...] -= (n * off_f)[:, None] * off_t
            self.tt[p] -= n * xp.sum(off_t * off_t)
            f, t = f + off_f, t + off_t
        mirror(self.ff[p, ...])
        self.f[p, :], self.t[p, :] = f, t

    @classmethod
    def stack(cls, clusters: Sequence[Moments]) -> Moments:
        """Return the moments of several clusters as one value."""
        xp = namespace(clusters[0].f)
        return cls(**{name: xp.concat([getattr(part, name) for part in clusters]) for name in vars(clusters[0])})

    def __add__(self, other: Moments) -> Moments:
        # Merge means, not raw sums: no cancellation when the mean is large.
        return self._combined(other, 1.0)

    def __sub__(self, other: Moments) -> Moments:
        """Return the moments before `other` was added, exact up to rounding."""
        return self._combined(other, -1.0)

    def decay(self, rho: float) -> Moments:
        """Return the moments with every row weight multiplied by `rho`."""
        return Moments(rho * self.weight, self.f, self.t, rho * self.ff, rho * self.ft, rho * self.tt)

    def total(self) -> Moments:
        """Return the moments of all clusters merged into one."""
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

    # Terms of the normal equations.

    def means(self) -> tuple[Array, Array]:
        """Return the mean features and the mean targets of all rows."""
        shares = self.weight / namespace(self.f).sum(self.weight)
        return shares @ self.f, shares @ self.t

    def second_moments(self) -> tuple[Array, Array, float]:
        """Return ``F'WF``, ``F'WT`` and the sum of ``w |t|²``."""
        xp = namespace(self.f)
        scaled = self.weight[:, None] * self.f
        FF = xp.sum(self.ff, axis=0)
        for p in range(self.weight.shape[0]):  # a matrix product is slow for the outer product of two vectors
            FF += scaled[p, :, None] * self.f[p, :]
        FT = xp.sum(self.ft, axis=0) + scaled.T @ self.t
        return FF, FT, float(xp.sum(self.tt) + xp.sum(self.weight * xp.sum(self.t**2, axis=1)))

    def variance(self, shares: Callable[[Array], Array], *, own_mean: bool) -> Array:
        """Return ``F'MF``: the scatter inside clusters, about own or global means, weighted by the clusters' shares."""
        xp = namespace(self.f)
        omega = shares(self.weight)
        inside = xp.reshape(omega @ xp.reshape(self.ff, (omega.shape[0], -1)), self.ff.shape[1:])
        if own_mean:
            return inside
        centred = self.f - (self.weight @ self.f) / xp.sum(self.weight)
        return inside + ((omega * self.weight)[:, None] * centred).T @ centred


def _mean(A: Array, w: Array | None) -> Array:
    """Return the weighted mean of the rows."""
    xp = namespace(A)
    return xp.mean(A, axis=0) if w is None else (w @ A) / xp.astype(xp.sum(xp.astype(w, xp.float64)), A.dtype)
