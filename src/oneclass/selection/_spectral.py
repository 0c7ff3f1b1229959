"""A kernel machine at every C, score, threshold and delta from one decomposition of its training rows."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import is_foreign
from ..core.clusters import Splits
from ..core.solve import residual_operator
from ..core.spectrum import Spectrum
from ..core.threshold import Ranks
from ..core.tridiagonal import Tridiagonal
from ..estimators._approximate import choose_approximation
from ..estimators._input import read_rows
from ..estimators._kernel_machine import KernelMachine

__all__ = ["EMBEDDING", "FREE", "SpectralPath", "serves"]

Float = NDArray[np.float64]

#: Parameters that cost next to nothing once the training rows are decomposed.
FREE = ("C", "delta", "threshold", "score")

#: How much rounding may be amplified before every point is fitted on its own: decisions to six digits.
_ACCURATE = 1e-6 / np.finfo(np.float64).eps

#: Parameters that need a decomposition of their own, of the same kernel values.
EMBEDDING = ("variance", "n_clusters", "centring", "variance_weight")


def serves(estimator: Any, X: Any) -> bool:
    """Whether the path gives what fitting the estimator would: an exact kernel machine on the host."""
    exact = isinstance(estimator, KernelMachine) and estimator.device is None and not is_foreign(X)
    return exact and choose_approximation(estimator, X) is None


class SpectralPath:
    """A machine on training rows `X`, to judge other `rows`, for several values of C at once.

    A path made from another one (`again`) shares its scaled rows and kernel values.
    """

    def __init__(self, machine: KernelMachine, X: Any, rows: Any, *, costs: Sequence[float]) -> None:
        self.machine = machine
        X = read_rows(machine, X, reset=True, min_rows=2)
        if machine._precomputed and X.shape[0] != X.shape[1]:
            raise ValueError(f"{machine._name}: a precomputed kernel must be square at fit, got shape {X.shape}")
        machine._columns = None
        machine.C = costs[0]
        w = np.ones(len(X), dtype=X.dtype)
        Z = machine._prepare(X, w)
        rows = machine.scaler_(read_rows(machine, rows, reset=False))
        K, row_K = machine.kernel_(Z, Z), machine.kernel_(rows, Z)
        # From here on in double precision: values of C far apart share one decomposition.
        self.Z, self.w, self.rows, self.K, self.row_K = (
            np.asarray(A, dtype=np.float64) for A in (Z, w, rows, K, row_K)
        )
        self.costs = np.asarray(costs, dtype=np.float64)
        self.T, self.row_T = machine._target(self.Z), machine._target(self.rows)
        self._scaled_K = self.row_K / machine.lam
        self._splits = Splits(self.Z, self.w)
        self._embed()

    def again(self, params: dict[str, Any]) -> SpectralPath:
        """The same rows and kernel with other values of parameters of the variance (`EMBEDDING`)."""
        path = copy(self)
        for name in _WORKED_OUT:
            vars(path).pop(name, None)
        path.machine.__dict__.update(params)
        path._embed()
        return path

    def _embed(self) -> None:
        self.embedding = self.machine._embedding(self.Z, self.w, self._splits)
        self._losses: dict[tuple[Any, ...], tuple[Ranks, Float, Float]] = {}

    def _operator(self) -> Float:
        """What makes residuals of targets at the reference C; its lower triangle.

        With eigenvalues e it has, at r times that C, the same eigenvectors and the eigenvalues e / ((1 - r) e + r).
        """
        lam, C = self.machine.lam, self._reference
        amplified = max(self.costs[-1] / lam * float(np.trace(self.K)), self.costs[-1] / C)
        if not amplified < _ACCURATE:
            raise np.linalg.LinAlgError(f"C up to {self.costs[-1]:g} is too large for values of C to share a solution")
        return np.asarray(residual_operator(self.K, self.machine._shrink(self.embedding, self.w, C), ridge=lam / C))

    @property
    def _reference(self) -> float:
        """Between the values of C, so that rounding at none of them is far from rounding here."""
        return float(np.sqrt(self.costs[0] * self.costs[-1]))

    @cached_property
    def _tridiagonal(self) -> Tridiagonal:
        return Tridiagonal(self._operator())

    @cached_property
    def spectrum(self) -> Spectrum:
        """Eigendecomposition of the whitened kernel of the training rows, by way of the operator."""
        damped, U = np.linalg.eigh(self._operator())
        damped = np.clip(damped, np.finfo(damped.dtype).smallest_normal, 1)
        values = (1 - damped) / (self._reference * damped)
        recover = (U - self.embedding.apply(U * values, self.w)) / self.machine.lam
        return Spectrum(values, U, np.sqrt(self.w), self.T, U.T @ self.T, recover)

    @cached_property
    def _damping(self) -> Float:
        """``1 / (1 + C lambda)``: a row for each eigenvalue, a column for each C."""
        return np.asarray(1 / (1 + self.costs * self.spectrum.values[:, None]))

    @cached_property
    def residuals(self) -> Float:
        """Residuals of the training rows at every C: a row each, C by C a column for each target."""
        if "spectrum" in vars(self):  # leverages needed it
            scaled = self._damping[:, :, None] * self.spectrum.projected[:, None, :]
            return np.asarray(self.spectrum.vectors @ scaled.reshape(len(scaled), -1))
        one, d = self._tridiagonal, self.T.shape[1]
        turned = np.asfortranarray(one.times(one.rotate(self.T.copy())))
        solved = np.empty((len(turned), len(self.costs) * d), dtype=turned.dtype)
        for c, ratio in enumerate(self.costs / self._reference):
            solved[:, c * d : (c + 1) * d] = one.solve(turned, scale=1 - ratio, shift=ratio)
        return one.rotate(solved, back=True)

    @cached_property
    def row_residuals(self) -> Float:
        """Residuals of the rows to judge at every C, in the same columns."""
        # Residuals E = T - K A know their weights: C K A + M K A + lam A = C T, so lam A = C E + M E - M T.
        weights = np.repeat(self.costs, self.T.shape[1]) * self.residuals
        weights += self.embedding.apply(self.residuals, self.w)
        base = self.row_T + self._scaled_K @ self.embedding.apply(self.T, self.w)
        found = self._scaled_K @ weights
        by_cost = found.reshape(len(base), len(self.costs), -1)
        np.subtract(base[:, None, :], by_cost, out=by_cost)
        return np.asarray(found)

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
        pulled = self.embedding.apply(self.row_K.T, self.w).T @ self.spectrum.vectors
        prior = self.machine.kernel_.diagonal(self.rows) - np.sum(features * pulled, axis=1)
        explained = features**2 @ (self._damping * self.costs)
        return np.asarray(np.clip(prior[:, None] / self.machine.lam - explained, 0, None))

    def decisions(self, params: dict[str, Any]) -> Float:
        """Decision values of the rows, for values of the free parameters."""
        machine = self.machine
        machine.__dict__.update(params)
        machine._check_decision()
        key = (params["C"], machine.threshold in machine._held_out_rules, params.get("score"))
        if key not in self._losses:
            self._losses[key] = self._losses_at(key[0], key[1])
        known, losses, machine._mean_residual = self._losses[key]
        return np.asarray(machine._threshold(known, self.w) - losses)

    def _losses_at(self, C: float, held_out: bool) -> tuple[Ranks, Float, Float]:
        """Ranked losses of the training rows, held out or not; of the rows to judge; the former's mean residual."""
        c, d = int(np.flatnonzero(self.costs == C)[0]), self.T.shape[1]
        columns = slice(c * d, (c + 1) * d)
        machine, wants = self.machine, self.machine._wants_variance
        spare = self.spare[:, c] if held_out or wants else self.w  # first: residuals use its decomposition
        share = spare if held_out else self.w
        residuals = self.residuals[:, columns]
        if wants:
            machine.signal_ = C * float(np.sum(self.T * residuals)) / self.T.size
        known = machine._loss(residuals / share[:, None], (1 - spare) / share / C if wants else None)
        losses = machine._loss(self.row_residuals[:, columns], self.row_variance[:, c] if wants else None)
        return Ranks.of(known, self.w), losses, self._mean_residuals[columns]

    @cached_property
    def _mean_residuals(self) -> Float:
        return np.asarray(self.residuals.mean(axis=0))

    def log_likelihood(self, C: float) -> float:
        """Marginal likelihood of the rows rebuilt from themselves, whatever the machine's target, a row and feature."""
        return self._rebuilding.log_marginal_likelihood(C=C) / self.Z.size

    @cached_property
    def _rebuilding(self) -> Spectrum:
        return Spectrum.of(self.K, self.Z, self.w, self.embedding, lam=self.machine.lam)

    def complexity(self, C: float) -> float:
        """Effective number of parameters: the sum of the training rows' leverages."""
        if "spectrum" in vars(self):
            return float(np.sum(1 - 1 / (1 + C * self.spectrum.values)))
        damped, ratio = self._tridiagonal.values, C / self._reference
        return float(np.sum(1 - damped / ((1 - ratio) * damped + ratio)))


_WORKED_OUT = tuple(name for name, value in vars(SpectralPath).items() if isinstance(value, cached_property))
