"""A kernel machine at every C, loss, rule and delta from one decomposition of its training rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import blocks
from ..core.cholesky import cholesky, inverse_of_factored
from ..core.clusters import Splits
from ..core.embedding import WithinVariance
from ..core.groups import Groups
from ..core.leaving import Embedded, leave, leave_one_by_one, leave_own_cluster
from ..core.likelihood import COSTS
from ..core.loss import loss
from ..core.machine import put_threshold
from ..core.plan import Plan
from ..core.recipe import Recipe
from ..core.scaling import ColumnMoments, Scaler
from ..core.solve import residual_operator
from ..core.spectrum import Spectrum
from ..core.threshold import Ranks
from ..core.tridiagonal import Tridiagonal
from ._judged import Decisions, Judged
from ._points import Family, Point, Refusal

__all__ = ["SpectralPath"]

Float = NDArray[np.float64]

_EPS = float(np.finfo(np.float64).eps)

#: How much rounding may be amplified before every point is fitted on its own: decisions to six digits.
_ACCURATE = 1e-6 / _EPS

#: What a handful of roundings can change a number by, as a share of it.
_UNIT = 16 * _EPS


class SpectralPath:
    """A machine on training rows `X`, to judge other `rows`, for several values of C at once, or for the rule of one.

    With `leverages`, of use for held-out losses and uncertainty, it decomposes the kernel matrix; without, a cheaper
    form of it does. A path made from another one (`again`) shares its scaled rows and kernel values.
    """

    numerics = "one decomposition"

    def __init__(
        self,
        recipe: Recipe,
        X: Float,
        rows: Float,
        *,
        costs: Sequence[float | str],
        leverages: bool,
        groups: Groups | None = None,
    ) -> None:
        w = np.ones(len(X), dtype=X.dtype)
        columns = ColumnMoments.of(X, w)
        if columns.out_of_range(recipe.scaling) is not None:
            raise Refusal("a column cannot be squared")
        scaler = Scaler.of(recipe.scaling, columns, X, w)
        Z, rows = scaler(X), scaler(rows)
        plan = Plan.of(recipe, scaler, Z, w, total=columns.weight)
        K, row_K = plan.kernel(Z, Z), plan.kernel(rows, Z)
        # From here on in double precision: values of C far apart share one decomposition.
        self.Z, self.w, self.rows, self.K, self.row_K = (
            np.asarray(A, dtype=np.float64) for A in (Z, w, rows, K, row_K)
        )
        self._kernel, self._lam, self._leverages, self._groups = plan.kernel, recipe.lam, leverages, groups
        self.costs = np.array([plan.C if isinstance(C, str) else C for C in costs], dtype=np.float64)
        self._place = {C: c for c, C in enumerate(costs)}
        self.T, self.row_T = recipe.target(self.Z), recipe.target(self.rows)
        self._scaled_K = self.row_K / recipe.lam
        self._splits = Splits(self.Z, self.w)
        self._rooms: dict[str, Float] = {}
        self._embed(recipe)

    @classmethod
    def of(cls, family: Family, X: Float, rows: Float, groups: Groups | None = None) -> SpectralPath:
        """The path of a family."""
        points = family.points.values()
        leverages = any(point.decision.held_out or point.recipe.needs_variance for point in points)
        costs = {point.recipe.C for point in points}
        ordered = list(costs) if len(costs) == 1 else sorted(float(C) for C in costs)
        return cls(family.first, X, rows, costs=ordered, leverages=leverages, groups=groups)

    def again(self, recipe: Recipe) -> SpectralPath:
        """The same rows and kernel with the variance of another recipe.

        It takes over this path's memory, so this one has nothing more to tell.
        """
        path = copy(self)
        for name in _WORKED_OUT:
            vars(path).pop(name, None)
        path._embed(recipe)
        return path

    def _room(self, name: str, *shape: int) -> Float:
        """Memory that paths made from one another use in turn: fresh pages would cost a fifth of the time."""
        if name not in self._rooms:
            self._rooms[name] = np.empty(shape)
        return self._rooms[name]

    def _embed(self, recipe: Recipe) -> None:
        self.embedding = recipe.embedding(self.Z, self.w, self._splits)[0]
        self._laplacian = self.embedding.laplacian(self.w)
        self._losses: dict[tuple[Any, ...], Judged] = {}

    def _operator(self) -> tuple[Float, Float, Float]:
        """A matrix B, by its lower triangle, and at every C a scale s and a shift t: residuals are B (s B + t I)^-1 T.

        C K A + M K A + lam A = C T makes B = M + lam K^-1 serve, with the C themselves for shifts. Where rounding would
        be amplified too much in the inverse, and for an M that has yet to be checked, B is what makes residuals of
        targets at a C amid the others. Leaves behind the `rounding` of outputs at every C, as a share of the targets.
        """
        lam, C, M = self._lam, self.costs, self._laplacian
        size = float(np.trace(self.K)) / lam
        pull = float(np.max(M.d) if M.full is None else np.linalg.norm(M.full))
        if not pull * size < math.sqrt(_ACCURATE):
            raise Refusal(f"a variance of weight {pull:g} is too large for values of C to share a solution")
        strained = 1 + pull / C  # fits, too: they shrink by M / C
        if M.full is None and self._inverse is not None:
            B = M.added_to(self._inverse, out=self._room("operator", *self.K.shape))
            # The losses of rows in the midst of others get small with C, and errors large beside them.
            spread = np.linalg.norm(B) * np.linalg.norm(self.K) / lam * np.maximum(C / lam / COSTS[-1], 1.0)
            if spread[-1] < _ACCURATE:
                self.rounding = _EPS * spread * strained
                return B, np.ones_like(C), C
        reference = float(np.sqrt(C[0] * C[-1]))
        if not C[-1] * max(size, 1 / reference) < _ACCURATE:
            raise Refusal(f"C up to {C[-1]:g} is too large for values of C to share a solution")
        self.rounding = _UNIT * np.maximum((C + pull) * size, len(self.K)) * strained
        B = residual_operator(self.K, self.embedding.shrink(self.w, C=reference), ridge=lam / reference)
        return np.asarray(B), 1 - C / reference, C / reference

    @cached_property
    def _inverse(self) -> Float | None:
        """Of the kernel values, to serve every variance: the lower triangle, or None if they are close to singular."""
        try:
            inverse = inverse_of_factored(cholesky(self.K.copy()))
        except np.linalg.LinAlgError:
            return None
        return self._lam * inverse if np.linalg.norm(inverse) * np.linalg.norm(self.K) < _ACCURATE else None

    @cached_property
    def _tridiagonal(self) -> tuple[Tridiagonal, Float, Float]:
        """The operator in tridiagonal form, its scales and shifts."""
        B, scales, shifts = self._operator()
        return Tridiagonal(B, memory=self._room("reflections", len(B) + 1, len(B))), scales, shifts

    @cached_property
    def _spectrum(self) -> tuple[Float, Float]:
        """Eigenvalues and eigenvectors of the whitened kernel of the training rows, by way of the operator."""
        B, scales, shifts = self._operator()
        # Eigenvalues are as good as they are at the reference, and values of C beyond it make more of them.
        self.rounding = self.rounding * max(1.0, np.max(1 - scales))
        at, U = np.linalg.eigh(B)
        at = np.clip(at, np.finfo(at.dtype).smallest_normal, None)
        return np.clip((scales[0] - 1) / self.costs[0] + shifts[0] / self.costs[0] / at, 0, None), U

    @cached_property
    def _projected(self) -> Float:
        """The targets in the basis of the eigenvectors."""
        return np.asarray(self._spectrum[1].T @ self.T)

    @cached_property
    def _damping(self) -> Float:
        """``1 / (1 + C lambda)``: a row for each eigenvalue, a column for each C."""
        return np.asarray(1 / (1 + self.costs * self._spectrum[0][:, None]))

    @cached_property
    def residuals(self) -> Float:
        """Residuals of the training rows at every C: row, C, target."""
        shape = (len(self.T), len(self.costs), self.T.shape[1])
        if self._leverages:
            scaled, found = self._room("scaled", *shape), self._room("residuals", *shape)
            np.multiply(self._damping[:, :, None], self._projected[:, None, :], out=scaled)
            np.matmul(self._spectrum[1], scaled.reshape(len(scaled), -1), out=found.reshape(len(found), -1))
            return found
        one, scales, shifts = self._tridiagonal
        turned = np.asfortranarray(one.times(one.rotate(self.T.copy())))
        solved = self._room("residuals", *shape)
        for c, (scale, shift) in enumerate(zip(scales, shifts, strict=True)):
            solved[:, c, :] = one.solve(turned, scale=scale, shift=shift)
        return np.asarray(one.rotate(solved.reshape(len(solved), -1), back=True)).reshape(shape)

    @cached_property
    def row_residuals(self) -> Float:
        """Residuals of the rows to judge at every C: row, C, target."""
        # Residuals E = T - K A know their weights: C K A + M K A + lam A = C T, so lam A = C E + M E - M T.
        E = self.residuals
        weights = np.multiply(self.costs[:, None], E, out=self._room("weights", *E.shape))
        weights += (self._laplacian @ E.reshape(len(E), -1)).reshape(E.shape)
        base = self.row_T + self._scaled_K @ (self._laplacian @ self.T)
        found = (self._scaled_K @ weights.reshape(len(weights), -1)).reshape(len(base), *weights.shape[1:])
        return np.asarray(np.subtract(base[:, None, :], found, out=found))

    @cached_property
    def spare(self) -> Float:
        """One minus leverage of the training rows at every C: row, C."""
        spare = self._spectrum[1] ** 2 @ self._damping
        return np.asarray(np.clip(spare, np.finfo(spare.dtype).smallest_normal, None))

    @cached_property
    def row_variance(self) -> Float:
        """The machine's uncertainty about the rows to judge at every C: row, C."""
        values, U = self._spectrum
        # With (lam I + MK)^-1 U = (U - M U Lambda) / lam: k(z, z) less k(z)' (lam I + MK)^-1 M k(z), then less what the
        # data explain.
        pulled = (self._laplacian @ self.row_K.T).T @ U
        features = self._scaled_K @ U - pulled * (values / self._lam)
        prior = self._kernel.diagonal(self.rows) - np.vecdot(features, pulled)
        explained = features**2 @ (self._damping * self.costs)
        return np.asarray(np.clip(prior[:, None] / self._lam - explained, 0, None))

    @cached_property
    def held_out(self) -> tuple[Float, Float, Float]:
        """Residuals (row, C, target) and leverages (row, C) of the training rows under machines without them.

        And the share of them, or of the worst of their group, that leverage leaves.
        """
        if self._groups is not None:
            return self._held_out_groups(self._groups)
        E, spare = self.residuals, self.spare
        if not isinstance(self.embedding, WithinVariance):
            return E / spare[..., None], (1 - spare) / spare, spare
        scatter, members, V = self.embedding.scatter, self.embedding.membership, self.embedding.columns(self.w)
        if scatter.own_mean:
            U, Q, sizes = self._spectrum[1], 1 - self._damping, self.w @ members  # Q by its eigenvalues
            turned = U.T @ V
            VF = (V.T @ self.T)[:, None, :] - (V.T @ E.reshape(len(E), -1)).reshape(V.shape[1], *E.shape[1:])
            shares, size = (members @ scatter.shares(sizes))[:, None] / self.costs, (members @ sizes)[:, None]
            across, inside = (U * (members @ turned.T)) @ Q, members @ (turned.T**2 @ Q)
            apart = self._room("apart", *E.shape)
            np.matmul(members, (VF / sizes[:, None, None]).reshape(len(VF), -1), out=apart.reshape(len(E), -1))
            np.subtract(self.T[:, None, :], apart, out=apart)
            return (*leave_own_cluster(E, spare, self.w[:, None], shares, size, across, inside, apart), spare)
        residuals, leverages = np.empty_like(E), np.empty_like(spare)
        for c in range(len(self.costs)):
            found = leave_one_by_one(self._embedded(self.embedding, c), self.T, E[:, c, :], spare[:, c], self.w)
            residuals[:, c, :], leverages[:, c] = found
        return residuals, leverages, spare

    def _held_out_groups(self, groups: Groups) -> tuple[Float, Float, Float]:
        n, U = len(self.T), self._spectrum[1]
        residuals = np.empty_like(self.residuals)
        leverages, share = np.empty((2, n, len(self.costs)))
        for c in range(len(self.costs)):
            embedded = self._embedded(self.embedding, c) if isinstance(self.embedding, WithinVariance) else None
            for whole in groups.by_size:
                for a, b in blocks(len(whole), n * whole.shape[1], U, for_products=True):
                    places = whole[a:b]
                    E = (U[places] * self._damping[:, c]) @ U[places].transpose(0, 2, 1)
                    Q = np.eye(places.shape[1]) - E
                    given = (self.w[places], E, Q, self.T[places], self.residuals[places, c, :])
                    residuals[places, c, :], leverages[places, c] = leave(embedded, places, *given)
                    share[places, c] = np.linalg.eigvalsh(E)[:, :1]
        return residuals, leverages, np.clip(share, np.finfo(share.dtype).smallest_normal, None)

    def _embedded(self, embedding: WithinVariance, c: int) -> Embedded:
        """The scatter that rows leave, at the C of this number."""
        membership, V = embedding.membership, embedding.columns(self.w)
        QV = self._spectrum[1] @ ((1 - self._damping[:, c, None]) * (self._spectrum[1].T @ V))
        known = (self.w @ membership, membership, QV, V.T @ QV, V.T @ (self.T - self.residuals[:, c, :]))
        return Embedded(embedding.scatter, float(self.costs[c]), *known)

    @cached_property
    def copies(self) -> NDArray[np.intp]:
        """A number for each row to judge, the same for copies of a row."""
        return np.unique(self.rows, axis=0, return_inverse=True)[1].reshape(-1)

    def decisions(self, point: Point) -> Decisions:
        """Decision values of the rows to judge."""
        recipe, decision = point.recipe, point.decision
        key = (decision.held_out, recipe.loss)
        if key not in self._losses:
            self._losses[key] = self._losses_for(recipe, held_out=decision.held_out)
        found, c = self._losses[key], self._place[recipe.C]
        mean_residual = self._mean_residuals[c] if decision.rule == "mean" else None
        threshold = put_threshold(decision, found.known[c], recipe=recipe, mean_residual=mean_residual)
        slack = found.threshold_slack(c, threshold)
        return Decisions(threshold - found.rows[c], found.row_slack[c], slack)

    def _losses_for(self, recipe: Recipe, *, held_out: bool) -> Judged:
        variance, row_variance, signal, share = None, None, np.ones_like(self.costs), np.ones_like(self.costs)
        residuals = self.residuals
        if recipe.needs_variance:
            variance, row_variance = (1 - self.spare) / self.costs, self.row_variance
            signal = self.costs * (np.vecdot(self._projected, self._projected) @ self._damping) / self.T.size
        if held_out:
            residuals, leverages, share = self.held_out
            variance = leverages / self.costs if recipe.needs_variance else None
        known, slack = self._with_slack(recipe, signal, residuals, variance, self.Z, self.T, share)
        rows, row_slack = self._with_slack(recipe, signal, self.row_residuals, row_variance, self.rows, self.row_T)
        # The k-th smallest loss moves no further than all of them moving up would move it.
        if held_out and self._groups is not None:
            w = self._groups.weights(self.w)
            heavy, worst = ([Ranks.of(losses, w) for losses in of] for of in (known, known + slack))
            pairs = zip(heavy, worst, strict=True)
            return Judged(
                heavy, np.stack([_at_same_rank(high, low) - low.losses for low, high in pairs]), rows, row_slack
            )
        ranked, reached = np.sort(known, axis=1), np.cumsum(self.w)
        moved = np.sort(known + slack, axis=1) - ranked
        return Judged([Ranks(losses, reached, len(reached)) for losses in ranked], moved, rows, row_slack)

    def _with_slack(
        self,
        recipe: Recipe,
        signal: Float,
        residuals: Float,
        variance: Float | None,
        Z: Float,
        T: Float,
        share: Float | float = 1.0,
    ) -> tuple[Float, Float]:
        """Losses (C, row) of rows `Z` with targets `T`, and how much larger they would be were rounding against them.

        Rounding is that of the solution, over the `share` that leverage leaves of a row.
        """
        share, d = np.asarray(share), residuals.shape[-1]
        reach = np.sqrt(np.vecdot(T, T)) + np.sqrt(np.max(np.vecdot(self.T, self.T)))
        # Losses see no more of residuals than their length, which is that of one residual.
        length = np.sqrt(np.vecdot(residuals, residuals))
        longest = length + self.rounding * reach[:, None] / share
        worse = variance
        if variance is not None:
            prior = self._kernel.diagonal(Z)[:, None] / self._lam
            worse = variance + (self.rounding * prior + len(self.K) * _UNIT / self.costs) / share
        losses, worst = (
            np.ascontiguousarray(loss(recipe.loss, size[..., None], of, signal=d * signal).T)
            for size, of in ((length, variance), (longest, worse))
        )
        return losses, worst - losses

    @cached_property
    def _mean_residuals(self) -> Float:
        return np.asarray(self.residuals.mean(axis=0))

    def log_likelihood(self, C: float | str) -> float:
        """Marginal likelihood of the rows rebuilt from themselves, whatever the machine's target, a row and feature."""
        return self._rebuilding.log_marginal_likelihood(C=float(self.costs[self._place[C]])) / self.Z.size

    @cached_property
    def _rebuilding(self) -> Spectrum:
        return Spectrum.of(self.K, self.Z, self.w, self.embedding, lam=self._lam)

    def complexity(self, point: Point) -> float:
        """Effective number of parameters: the sum of the training rows' leverages."""
        c = self._place[point.recipe.C]
        if self._leverages:
            return float(np.sum(1 - 1 / (1 + self.costs[c] * self._spectrum[0])))
        one, scales, shifts = self._tridiagonal
        return float(np.sum(1 - one.values / (scales[c] * one.values + shifts[c])))


def _at_same_rank(losses: Ranks, others: Ranks) -> Float:
    """The loss at every rank that others have."""
    places = np.searchsorted(losses.reached, others.reached * (1 - _UNIT))
    return np.asarray(losses.losses[np.minimum(places, len(losses.losses) - 1)])


#: What a path made from another one works out anew: all but what does not see the variance.
_WORKED_OUT = {name for name, value in vars(SpectralPath).items() if isinstance(value, cached_property)}
_WORKED_OUT -= {"_inverse", "copies"}
