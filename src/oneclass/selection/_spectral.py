"""A kernel machine at every C, score, threshold and delta from one decomposition of its training rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import is_foreign
from ..core.cholesky import cholesky, inverse_of_factored
from ..core.clusters import Splits
from ..core.likelihood import COSTS
from ..core.solve import residual_operator
from ..core.spectrum import Spectrum
from ..core.threshold import Ranks
from ..core.tridiagonal import Tridiagonal
from ..estimators._approximate import choose_approximation
from ..estimators._input import check_number, read_rows
from ..estimators._kernel_machine import KernelMachine

__all__ = ["EMBEDDING", "FREE", "SpectralPath", "serves"]

Float = NDArray[np.float64]

#: Parameters that cost next to nothing once the training rows are decomposed.
FREE = ("C", "delta", "threshold", "score")

_EPS = float(np.finfo(np.float64).eps)

#: How much rounding may be amplified before every point is fitted on its own: decisions to six digits.
_ACCURATE = 1e-6 / _EPS

#: Share of a loss below which thresholds take another one for its copy.
_ALIKE = math.sqrt(_EPS)

#: Parameters that need a decomposition of their own, of the same kernel values.
EMBEDDING = ("variance", "n_clusters", "centring", "variance_weight")


def serves(estimator: Any, X: Any) -> bool:
    """Whether the path gives what fitting the estimator would: an exact kernel machine on the host."""
    if not isinstance(estimator, KernelMachine) or estimator.device is not None or is_foreign(X):
        return False
    return choose_approximation(estimator, X if hasattr(X, "shape") else np.asarray(X)) is None


@dataclass(frozen=True)
class _Losses:
    """Losses at every C, of the training rows (ranked) and of the rows to judge, and how far off rounding may be."""

    known: list[Ranks]
    known_slack: Float  # C, rank
    rows: Float  # row, C
    row_slack: Float

    def threshold_slack(self, c: int, threshold: float) -> float:
        """How far off rounding may leave a threshold; infinite where it tells copies of a row from others."""
        losses, slack = self.known[c].losses, self.known_slack[c]
        k, n = int(np.searchsorted(losses, threshold)), len(losses)
        margin, off = _ALIKE * abs(threshold), float(slack[min(k, n - 1)])
        above = losses[k] - losses[k - 1] if 0 < k < n else math.inf
        below = losses[k - 1] - losses[k - 2] if k > 1 else math.inf
        return math.inf if above < margin + 2 * off or abs(below - margin) < 2 * off else off


class SpectralPath:
    """A machine on training rows `X`, to judge other `rows`, for several values of C at once, or for the rule of one.

    A path made from another one (`again`) shares its scaled rows and kernel values.
    """

    def __init__(self, machine: KernelMachine, X: Any, rows: Any, *, costs: Sequence[Any]) -> None:
        self.machine = machine
        X = read_rows(machine, X, reset=True, min_rows=2)
        if machine._precomputed and X.shape[0] != X.shape[1]:
            raise ValueError(f"{machine._name}: a precomputed kernel must be square at fit, got shape {X.shape}")
        machine._columns = None
        for C in costs:
            machine.C = C
            if not isinstance(C, str):
                check_number(machine, "C", 0, math.inf)
        w = np.ones(len(X), dtype=X.dtype)
        Z = machine._prepare(X, w)
        rows = machine.scaler_(read_rows(machine, rows, reset=False))
        K, row_K = machine.kernel_(Z, Z), machine.kernel_(rows, Z)
        # From here on in double precision: values of C far apart share one decomposition.
        self.Z, self.w, self.rows, self.K, self.row_K = (
            np.asarray(A, dtype=np.float64) for A in (Z, w, rows, K, row_K)
        )
        self.costs = np.array([machine.C_ if isinstance(C, str) else C for C in costs], dtype=np.float64)
        self._place = {C: c for c, C in enumerate(costs)}
        self.T, self.row_T = machine._target(self.Z), machine._target(self.rows)
        self._scaled_K = self.row_K / machine.lam
        self._splits = Splits(self.Z, self.w)
        self._rooms: dict[str, Float] = {}
        self._embed()

    def again(self, params: dict[str, Any]) -> SpectralPath:
        """The same rows and kernel with other values of parameters of the variance (`EMBEDDING`).

        It takes over this path's memory, so this one has nothing more to tell.
        """
        path = copy(self)
        for name in _WORKED_OUT:
            vars(path).pop(name, None)
        path.machine.__dict__.update(params)
        path._embed()
        return path

    def _room(self, name: str, *shape: int) -> Float:
        """Memory that paths made from one another use in turn: fresh pages would cost a fifth of the time."""
        if name not in self._rooms:
            self._rooms[name] = np.empty(shape)
        return self._rooms[name]

    def _embed(self) -> None:
        self.embedding = self.machine._embedding(self.Z, self.w, self._splits)
        self._laplacian = self.embedding.laplacian(self.w)
        self._losses: dict[tuple[Any, ...], _Losses] = {}

    def _operator(self) -> tuple[Float, Float, Float]:
        """A matrix B, by its lower triangle, and at every C a scale s and a shift t: residuals are B (s B + t I)^-1 T.

        C K A + M K A + lam A = C T makes B = M + lam K^-1 serve, with the C themselves for shifts. Where rounding would
        be amplified too much in the inverse, and for an M that has yet to be checked, B is what makes residuals of
        targets at a C amid the others. Leaves behind the `rounding` of outputs at every C, as a share of the targets.
        """
        lam, C, M = self.machine.lam, self.costs, self._laplacian
        size = float(np.trace(self.K)) / lam
        pull = float(np.max(M.d) if M.full is None else np.linalg.norm(M.full))
        if not pull * size < math.sqrt(_ACCURATE):
            raise np.linalg.LinAlgError(
                f"a variance of weight {pull:g} is too large for values of C to share a solution"
            )
        if M.full is None and self._inverse is not None:
            B = M.added_to(self._inverse, out=self._room("operator", *self.K.shape))
            # The losses of rows in the midst of others get small with C, and errors large beside them.
            spread = np.linalg.norm(B) * np.linalg.norm(self.K) / lam * np.maximum(C / lam / COSTS[-1], 1.0)
            if spread[-1] < _ACCURATE:
                self.rounding = _EPS * spread
                return B, np.ones_like(C), C
        reference = float(np.sqrt(C[0] * C[-1]))
        if not C[-1] * max(size, 1 / reference) < _ACCURATE:
            raise np.linalg.LinAlgError(f"C up to {C[-1]:g} is too large for values of C to share a solution")
        self.rounding = 16 * _EPS * np.maximum((C + pull) * size, len(self.K))
        B = residual_operator(self.K, self.machine._shrink(self.embedding, self.w, reference), ridge=lam / reference)
        return np.asarray(B), 1 - C / reference, C / reference

    @cached_property
    def _inverse(self) -> Float | None:
        """Of the kernel values, to serve every variance: the lower triangle, or None if they are close to singular."""
        try:
            inverse = inverse_of_factored(cholesky(self.K.copy()))
        except np.linalg.LinAlgError:
            return None
        return self.machine.lam * inverse if np.linalg.norm(inverse) * np.linalg.norm(self.K) < _ACCURATE else None

    @cached_property
    def _tridiagonal(self) -> tuple[Tridiagonal, Float, Float]:
        """The operator in tridiagonal form, its scales and shifts."""
        B, scales, shifts = self._operator()
        return Tridiagonal(B, memory=self._room("reflections", len(B) + 1, len(B))), scales, shifts

    @cached_property
    def spectrum(self) -> Spectrum:
        """Eigendecomposition of the whitened kernel of the training rows, by way of the operator."""
        B, scales, shifts = self._operator()
        # Eigenvalues are as good as they are at the reference, and values of C beyond it make more of them.
        self.rounding = self.rounding * max(1.0, np.max(1 - scales))
        at, U = np.linalg.eigh(B)
        at = np.clip(at, np.finfo(at.dtype).smallest_normal, None)
        values = np.clip((scales[0] - 1) / self.costs[0] + shifts[0] / self.costs[0] / at, 0, None)
        recover = (U - self._laplacian @ (U * values)) / self.machine.lam
        return Spectrum(values, U, np.sqrt(self.w), self.T, U.T @ self.T, recover)

    @cached_property
    def _damping(self) -> Float:
        """``1 / (1 + C lambda)``: a row for each eigenvalue, a column for each C."""
        return np.asarray(1 / (1 + self.costs * self.spectrum.values[:, None]))

    @cached_property
    def residuals(self) -> Float:
        """Residuals of the training rows at every C: row, C, target."""
        shape = (len(self.T), len(self.costs), self.T.shape[1])
        if "spectrum" in vars(self):  # leverages needed it
            scaled = self._damping[:, :, None] * self.spectrum.projected[:, None, :]
            return np.asarray(self.spectrum.vectors @ scaled.reshape(len(scaled), -1)).reshape(shape)
        one, scales, shifts = self._tridiagonal
        turned = np.asfortranarray(one.times(one.rotate(self.T.copy())))
        solved = self._room("residuals", *shape)
        for c, (scale, shift) in enumerate(zip(scales, shifts, strict=True)):
            solved[:, c, :] = one.solve(turned, scale=scale, shift=shift)
        return one.rotate(solved.reshape(len(solved), -1), back=True).reshape(shape)

    @cached_property
    def row_residuals(self) -> Float:
        """Residuals of the rows to judge at every C: row, C, target."""
        # Residuals E = T - K A know their weights: C K A + M K A + lam A = C T, so lam A = C E + M E - M T.
        weights = self._room("weights", *self.residuals.shape)
        for c, C in enumerate(self.costs):
            E = self.residuals[:, c, :]
            np.add(C * E, self._laplacian @ E, out=weights[:, c, :])
        base = self.row_T + self._scaled_K @ (self._laplacian @ self.T)
        found = (self._scaled_K @ weights.reshape(len(weights), -1)).reshape(len(base), *weights.shape[1:])
        return np.subtract(base[:, None, :], found, out=found)

    @cached_property
    def spare(self) -> Float:
        """One minus leverage of the training rows at every C: row, C."""
        spare = self.spectrum.vectors**2 @ self._damping
        return np.asarray(np.clip(spare, np.finfo(spare.dtype).smallest_normal, None))

    @cached_property
    def row_variance(self) -> Float:
        """The machine's uncertainty about the rows to judge at every C: row, C."""
        features = self.row_K @ self.spectrum.recover
        # k(z, z) less k(z)' (lam I + MK)^-1 M k(z), then less what the data explain.
        pulled = (self._laplacian @ self.row_K.T).T @ self.spectrum.vectors
        prior = self.machine.kernel_.diagonal(self.rows) - np.sum(features * pulled, axis=1)
        explained = features**2 @ (self._damping * self.costs)
        return np.asarray(np.clip(prior[:, None] / self.machine.lam - explained, 0, None))

    def decisions(self, params: dict[str, Any]) -> tuple[Float, Float]:
        """Decision values of the rows, for values of the free parameters, and how far off rounding may leave them."""
        machine = self.machine
        machine.__dict__.update(params)
        machine._check_decision()
        key = (machine.threshold in machine._held_out_rules, params.get("score"))
        if key not in self._losses:
            self._losses[key] = self._losses_for(held_out=key[0])
        found, c = self._losses[key], self._place[params["C"]]
        machine._mean_residual = self._mean_residuals[c]
        threshold = machine._threshold(found.known[c], self.w)
        return threshold - found.rows[:, c], found.row_slack[:, c] + found.threshold_slack(c, threshold)

    def _losses_for(self, *, held_out: bool) -> _Losses:
        machine, variance, row_variance = self.machine, None, None
        share = self.spare if held_out else 1.0  # first: residuals use its decomposition
        if machine._wants_variance:
            variance, row_variance = (1 - self.spare) / self.costs, self.row_variance
            machine.signal_ = self.costs * np.tensordot(self.residuals, self.T, ([0, 2], [0, 1])) / self.T.size
        known, slack = self._with_slack(self.residuals, variance, self.Z, self.T, share)
        rows, row_slack = self._with_slack(self.row_residuals, row_variance, self.rows, self.row_T)
        ranked = [Ranks.of(column, self.w) for column in np.ascontiguousarray(known.T)]
        # The k-th smallest loss moves no further than all of them moving up would move it.
        moved = np.sort((known + slack).T, axis=1) - np.stack([ranks.losses for ranks in ranked])
        return _Losses(ranked, moved, rows, row_slack)

    def _with_slack(
        self, residuals: Float, variance: Float | None, Z: Float, T: Float, share: Float | float = 1.0
    ) -> tuple[Float, Float]:
        """Losses of rows `Z` with targets `T`, and how much larger they would be were rounding all against them."""
        share = np.asarray(share)
        reach = np.sqrt(np.sum(T * T, axis=1)) + np.sqrt(np.max(np.sum(self.T * self.T, axis=1)))
        worst = np.abs(residuals) + (self.rounding * reach[:, None])[..., None]
        worse = variance
        if variance is not None:
            prior = self.machine.kernel_.diagonal(Z)[:, None] / self.machine.lam
            worse = (variance + self.rounding * prior + _EPS / self.costs) / share
            variance = variance / share
        losses = self.machine._loss(residuals / share[..., None], variance)
        return losses, self.machine._loss(worst / share[..., None], worse) - losses

    @cached_property
    def _mean_residuals(self) -> Float:
        return np.asarray(self.residuals.mean(axis=0))

    def log_likelihood(self, C: Any) -> float:
        """Marginal likelihood of the rows rebuilt from themselves, whatever the machine's target, a row and feature."""
        return self._rebuilding.log_marginal_likelihood(C=float(self.costs[self._place[C]])) / self.Z.size

    @cached_property
    def _rebuilding(self) -> Spectrum:
        return Spectrum.of(self.K, self.Z, self.w, self.embedding, lam=self.machine.lam)

    def complexity(self, C: Any) -> float:
        """Effective number of parameters: the sum of the training rows' leverages."""
        c = self._place[C]
        if "spectrum" in vars(self):
            return float(np.sum(1 - 1 / (1 + self.costs[c] * self.spectrum.values)))
        one, scales, shifts = self._tridiagonal
        return float(np.sum(1 - one.values / (scales[c] * one.values + shifts[c])))


#: What a path made from another one works out anew.
_WORKED_OUT = {name for name, value in vars(SpectralPath).items() if isinstance(value, cached_property)} - {"_inverse"}
