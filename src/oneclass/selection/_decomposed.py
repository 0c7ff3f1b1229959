"""The machines of one variance, at every C, from one decomposition."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import blocks
from ..core.cholesky import cholesky, inverse_of_factored
from ..core.embedding import Embedding, WithinVariance
from ..core.groups import Groups
from ..core.kernels import Kernel
from ..core.leave_out import Embedded, leave, leave_one_by_one, leave_own_cluster
from ..core.likelihood import COSTS
from ..core.loss import loss
from ..core.recipe import Recipe
from ..core.solve import residual_operator
from ..core.spectrum import Spectrum
from ..core.threshold import Ranks
from ..core.tridiagonal import Tridiagonal
from ._judged import Judged
from ._points import Refusal

__all__ = ["Decomposed", "Shared"]

Float = NDArray[np.float64]

_EPS = float(np.finfo(np.float64).eps)

#: How much rounding may be amplified before every point is fitted on its own: decisions to six digits.
_ACCURATE = 1e-6 / _EPS

#: What a handful of roundings can change a number by, as a share of it.
_UNIT = 16 * _EPS


@dataclass(frozen=True)
class Shared:
    """What machines of every variance have in common: scaled rows, kernel values, targets and the values of C.

    With `leverages`, of use for held-out losses and uncertainty, the kernel matrix is decomposed; without, a cheaper
    form of it does.
    """

    Z: Float
    w: Float
    rows: Float  # to judge
    K: Float
    K_rows: Float
    T: Float
    T_rows: Float
    kernel: Kernel
    lam: float
    costs: Float
    leverages: bool
    groups: Groups | None

    @cached_property
    def scaled_K(self) -> Float:
        """Kernel values of the rows to judge, over lam."""
        return self.K_rows / self.lam

    @cached_property
    def inverse(self) -> Float | None:
        """Of the kernel values, to serve every variance: the lower triangle, or None if they are close to singular."""
        try:
            inverse = inverse_of_factored(cholesky(self.K.copy()))
        except np.linalg.LinAlgError:
            return None
        return self.lam * inverse if np.linalg.norm(inverse) * np.linalg.norm(self.K) < _ACCURATE else None


class Costs(NamedTuple):
    """How a matrix B makes residuals at every C: B (s B + t I)^-1 T, with a scale s and a shift t."""

    scales: Float
    shifts: Float
    rounding: Float  # of outputs, as a share of the targets


class Decomposed:
    """Losses and sizes of the machines that share an embedding.

    Those made one after the other may work in the same `memory`, where fresh pages would cost a fifth of the time; an
    earlier one has nothing more to tell then.
    """

    def __init__(self, shared: Shared, embedding: Embedding, memory: dict[str, Float]) -> None:
        self._on, self._embedding, self._memory = shared, embedding, memory
        self._laplacian = embedding.laplacian(shared.w)
        self._judged: dict[tuple[bool, str], Judged] = {}

    def _room(self, name: str, *shape: int) -> Float:
        if name not in self._memory:
            self._memory[name] = np.empty(shape)
        return self._memory[name]

    def _operator(self) -> tuple[Float, Costs]:
        """The matrix B of `Costs`, by its lower triangle.

        C K A + M K A + lam A = C T makes B = M + lam K^-1 serve, with the C themselves for shifts. Where rounding would
        be amplified too much in the inverse, and for an M that has yet to be checked, B is what makes residuals of
        targets at a C amid the others.
        """
        lam, C, M = self._on.lam, self._on.costs, self._laplacian
        size = float(np.trace(self._on.K)) / lam
        pull = float(np.max(M.d) if M.full is None else np.linalg.norm(M.full))
        if not pull * size < math.sqrt(_ACCURATE):
            raise Refusal(f"a variance of weight {pull:g} is too large for values of C to share a solution")
        strained = 1 + pull / C  # fits, too: they shrink by M / C
        if M.full is None and self._on.inverse is not None:
            B = M.added_to(self._on.inverse, out=self._room("operator", *self._on.K.shape))
            # The losses of rows in the midst of others get small with C, and errors large beside them.
            spread = np.linalg.norm(B) * np.linalg.norm(self._on.K) / lam * np.maximum(C / lam / COSTS[-1], 1.0)
            if spread[-1] < _ACCURATE:
                return B, Costs(np.ones_like(C), C, _EPS * spread * strained)
        reference = float(np.sqrt(C[0] * C[-1]))
        if not C[-1] * max(size, 1 / reference) < _ACCURATE:
            raise Refusal(f"C up to {C[-1]:g} is too large for values of C to share a solution")
        rounding = _UNIT * np.maximum((C + pull) * size, len(self._on.K)) * strained
        B = residual_operator(self._on.K, self._embedding.shrink(self._on.w, C=reference), ridge=lam / reference)
        return np.asarray(B), Costs(1 - C / reference, C / reference, rounding)

    @cached_property
    def _tridiagonal(self) -> tuple[Tridiagonal, Costs]:
        """The operator in tridiagonal form."""
        B, costs = self._operator()
        return Tridiagonal(B, memory=self._room("reflections", len(B) + 1, len(B))), costs

    @cached_property
    def _spectrum(self) -> tuple[Float, Float, Float]:
        """Eigenvalues and eigenvectors of the training rows' whitened kernel, by way of the operator, and rounding."""
        B, (scales, shifts, rounding) = self._operator()
        at, U = np.linalg.eigh(B)
        at = np.clip(at, np.finfo(at.dtype).smallest_normal, None)
        values = np.clip((scales[0] - 1) / self._on.costs[0] + shifts[0] / self._on.costs[0] / at, 0, None)
        # Eigenvalues are as good as they are at the reference, and values of C beyond it make more of them.
        return values, U, rounding * max(1.0, np.max(1 - scales))

    @property
    def _rounding(self) -> Float:
        """Of outputs at every C, as a share of the targets."""
        return self._spectrum[2] if self._on.leverages else self._tridiagonal[1].rounding

    @cached_property
    def _projected(self) -> Float:
        """The targets in the basis of the eigenvectors."""
        return np.asarray(self._spectrum[1].T @ self._on.T)

    @cached_property
    def _damping(self) -> Float:
        """``1 / (1 + C lambda)``: a row for each eigenvalue, a column for each C."""
        return np.asarray(1 / (1 + self._on.costs * self._spectrum[0][:, None]))

    @cached_property
    def _residuals(self) -> Float:
        """Residuals of the training rows at every C: row, C, target."""
        shape = (len(self._on.T), len(self._on.costs), self._on.T.shape[1])
        if self._on.leverages:
            scaled, found = self._room("scaled", *shape), self._room("residuals", *shape)
            np.multiply(self._damping[:, :, None], self._projected[:, None, :], out=scaled)
            np.matmul(self._spectrum[1], scaled.reshape(len(scaled), -1), out=found.reshape(len(found), -1))
            return found
        one, (scales, shifts, _) = self._tridiagonal
        turned = np.asfortranarray(one.times(one.rotate(self._on.T.copy())))
        solved = self._room("residuals", *shape)
        for c, (scale, shift) in enumerate(zip(scales, shifts, strict=True)):
            solved[:, c, :] = one.solve(turned, scale=scale, shift=shift)
        return np.asarray(one.rotate(solved.reshape(len(solved), -1), back=True)).reshape(shape)

    @cached_property
    def _row_residuals(self) -> Float:
        """Residuals of the rows to judge at every C: row, C, target."""
        # Residuals E = T - K A know their weights: C K A + M K A + lam A = C T, so lam A = C E + M E - M T.
        E = self._residuals
        weights = np.multiply(self._on.costs[:, None], E, out=self._room("weights", *E.shape))
        weights += (self._laplacian @ E.reshape(len(E), -1)).reshape(E.shape)
        base = self._on.T_rows + self._on.scaled_K @ (self._laplacian @ self._on.T)
        found = (self._on.scaled_K @ weights.reshape(len(weights), -1)).reshape(len(base), *weights.shape[1:])
        return np.asarray(np.subtract(base[:, None, :], found, out=found))

    @cached_property
    def _spare(self) -> Float:
        """One minus leverage of the training rows at every C: row, C."""
        spare = self._spectrum[1] ** 2 @ self._damping
        return np.asarray(np.clip(spare, np.finfo(spare.dtype).smallest_normal, None))

    @cached_property
    def _row_variance(self) -> Float:
        """The machine's uncertainty about the rows to judge at every C: row, C."""
        values, U, _ = self._spectrum
        # With (lam I + MK)^-1 U = (U - M U Lambda) / lam: k(z, z) less k(z)' (lam I + MK)^-1 M k(z), then less what the
        # data explain.
        pulled = (self._laplacian @ self._on.K_rows.T).T @ U
        features = self._on.scaled_K @ U - pulled * (values / self._on.lam)
        prior = self._on.kernel.diagonal(self._on.rows) - np.vecdot(features, pulled)
        explained = features**2 @ (self._damping * self._on.costs)
        return np.asarray(np.clip(prior[:, None] / self._on.lam - explained, 0, None))

    @cached_property
    def _held_out(self) -> tuple[Float, Float, Float]:
        """Residuals (row, C, target) and leverages (row, C) of the training rows under machines without them.

        And the share of them, or of the worst of their group, that leverage leaves.
        """
        if self._on.groups is not None:
            return self._held_out_groups(self._on.groups)
        E, spare = self._residuals, self._spare
        if not isinstance(self._embedding, WithinVariance):
            return E / spare[..., None], (1 - spare) / spare, spare
        scatter, members, V = self._embedding.scatter, self._embedding.membership, self._embedding.columns(self._on.w)
        if scatter.own_mean:
            U, Q, sizes = self._spectrum[1], 1 - self._damping, self._on.w @ members  # Q by its eigenvalues
            turned = U.T @ V
            VF = (V.T @ self._on.T)[:, None, :] - (V.T @ E.reshape(len(E), -1)).reshape(V.shape[1], *E.shape[1:])
            shares, size = (members @ scatter.shares(sizes))[:, None] / self._on.costs, (members @ sizes)[:, None]
            across, inside = (U * (members @ turned.T)) @ Q, members @ (turned.T**2 @ Q)
            apart = self._room("apart", *E.shape)
            np.matmul(members, (VF / sizes[:, None, None]).reshape(len(VF), -1), out=apart.reshape(len(E), -1))
            np.subtract(self._on.T[:, None, :], apart, out=apart)
            return (*leave_own_cluster(E, spare, self._on.w[:, None], shares, size, across, inside, apart), spare)
        residuals, leverages = np.empty_like(E), np.empty_like(spare)
        for c in range(len(self._on.costs)):
            found = leave_one_by_one(self._left(self._embedding, c), self._on.T, E[:, c, :], spare[:, c], self._on.w)
            residuals[:, c, :], leverages[:, c] = found
        return residuals, leverages, spare

    def _held_out_groups(self, groups: Groups) -> tuple[Float, Float, Float]:
        n, U = len(self._on.T), self._spectrum[1]
        residuals = np.empty_like(self._residuals)
        leverages, share = np.empty((2, n, len(self._on.costs)))
        for c in range(len(self._on.costs)):
            embedded = self._left(self._embedding, c) if isinstance(self._embedding, WithinVariance) else None
            for whole in groups.by_size:
                for a, b in blocks(len(whole), n * whole.shape[1], U, for_products=True):
                    places = whole[a:b]
                    E = (U[places] * self._damping[:, c]) @ U[places].transpose(0, 2, 1)
                    Q = np.eye(places.shape[1]) - E
                    given = (self._on.w[places], E, Q, self._on.T[places], self._residuals[places, c, :])
                    residuals[places, c, :], leverages[places, c] = leave(embedded, places, *given)
                    share[places, c] = np.linalg.eigvalsh(E)[:, :1]
        return residuals, leverages, np.clip(share, np.finfo(share.dtype).smallest_normal, None)

    def _left(self, embedding: WithinVariance, c: int) -> Embedded:
        """The scatter that rows leave, at the C of this number."""
        membership, V = embedding.membership, embedding.columns(self._on.w)
        QV = self._spectrum[1] @ ((1 - self._damping[:, c, None]) * (self._spectrum[1].T @ V))
        known = (self._on.w @ membership, membership, QV, V.T @ QV, V.T @ (self._on.T - self._residuals[:, c, :]))
        return Embedded(embedding.scatter, float(self._on.costs[c]), *known)

    def judged(self, recipe: Recipe, *, held_out: bool) -> Judged:
        """Losses of the recipe's kind at every C."""
        key = held_out, recipe.loss
        if key not in self._judged:
            self._judged[key] = self._judge(recipe, held_out=held_out)
        return self._judged[key]

    def _judge(self, recipe: Recipe, *, held_out: bool) -> Judged:
        costs, residuals, variance, row_variance = self._on.costs, self._residuals, None, None
        signal, share = np.ones_like(costs), np.ones_like(costs)
        if recipe.needs_variance:
            variance, row_variance = (1 - self._spare) / costs, self._row_variance
            signal = costs * (np.vecdot(self._projected, self._projected) @ self._damping) / self._on.T.size
        if held_out:
            residuals, leverages, share = self._held_out
            variance = leverages / costs if recipe.needs_variance else None
        known, slack = self._with_slack(recipe, signal, residuals, variance, self._on.Z, self._on.T, share)
        given = self._row_residuals, row_variance, self._on.rows, self._on.T_rows
        rows, row_slack = self._with_slack(recipe, signal, *given)
        # The k-th smallest loss moves no further than all of them moving up would move it.
        if held_out and self._on.groups is not None:
            w = self._on.groups.weights(self._on.w)
            heavy, worst = ([Ranks.of(losses, w) for losses in of] for of in (known, known + slack))
            pairs = zip(heavy, worst, strict=True)
            return Judged(
                heavy, np.stack([_at_same_rank(high, low) - low.losses for low, high in pairs]), rows, row_slack
            )
        ranked, reached = np.sort(known, axis=1), np.cumsum(self._on.w)
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
        reach = np.sqrt(np.vecdot(T, T)) + np.sqrt(np.max(np.vecdot(self._on.T, self._on.T)))
        # Losses see no more of residuals than their length, which is that of one residual.
        length = np.sqrt(np.vecdot(residuals, residuals))
        longest = length + self._rounding * reach[:, None] / share
        worse = variance
        if variance is not None:
            prior = self._on.kernel.diagonal(Z)[:, None] / self._on.lam
            worse = variance + (self._rounding * prior + len(self._on.K) * _UNIT / self._on.costs) / share
        losses, worst = (
            np.ascontiguousarray(loss(recipe.loss, size[..., None], of, signal=d * signal).T)
            for size, of in ((length, variance), (longest, worse))
        )
        return losses, worst - losses

    @cached_property
    def mean_residuals(self) -> Float:
        """Mean residuals of the training rows: C, target."""
        return np.asarray(self._residuals.mean(axis=0))

    def log_likelihood(self, c: int) -> float:
        """Marginal likelihood of the rows rebuilt from themselves, whatever the machine's target, a row and feature."""
        return self._rebuilding.log_marginal_likelihood(C=float(self._on.costs[c])) / self._on.Z.size

    @cached_property
    def _rebuilding(self) -> Spectrum:
        return Spectrum.of(self._on.K, self._on.Z, self._on.w, self._embedding, lam=self._on.lam)

    def complexity(self, c: int) -> float:
        """Effective number of parameters: the sum of the training rows' leverages."""
        if self._on.leverages:
            return float(np.sum(1 - 1 / (1 + self._on.costs[c] * self._spectrum[0])))
        one, (scales, shifts, _) = self._tridiagonal
        return float(np.sum(1 - one.values / (scales[c] * one.values + shifts[c])))


def _at_same_rank(losses: Ranks, others: Ranks) -> Float:
    """The loss at every rank that others have."""
    places = np.searchsorted(losses.reached, others.reached * (1 - _UNIT))
    return np.asarray(losses.losses[np.minimum(places, len(losses.losses) - 1)])
