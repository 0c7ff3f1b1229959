"""A kernel machine at every C, score, threshold and delta from one eigendecomposition of its training rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import cholesky, is_foreign, solve_lower
from ..core.embedding import Embedding, NoVariance, WithinVariance
from ..core.spectrum import Spectrum
from ..estimators._approximate import choose_approximation
from ..estimators._input import read_rows
from ..estimators._kernel_machine import KernelMachine

__all__ = ["FREE", "SpectralPath", "serves"]

Float = NDArray[np.float64]

#: Parameters that cost next to nothing once the training rows are decomposed.
FREE = ("C", "delta", "threshold", "score")


def serves(estimator: Any, X: Any) -> bool:
    """Whether the path gives what fitting the estimator would: an exact kernel machine on the host."""
    exact = isinstance(estimator, KernelMachine) and estimator.device is None and not is_foreign(X)
    return exact and choose_approximation(estimator, X) is None


class SpectralPath:
    """A machine on training rows `X`, to judge other `rows`, for several values of C at once."""

    def __init__(self, machine: KernelMachine, X: Any, rows: Any, *, costs: Sequence[float]) -> None:
        self.machine = machine
        X = read_rows(machine, X, reset=True, min_rows=2)
        if machine._precomputed and X.shape[0] != X.shape[1]:
            raise ValueError(f"{machine._name}: a precomputed kernel must be square at fit, got shape {X.shape}")
        machine._columns = None
        self.w = np.ones(len(X), dtype=X.dtype)
        machine.C = costs[0]
        self.Z = machine._prepare(X, self.w)
        self.rows = machine.scaler_(read_rows(machine, rows, reset=False))
        self.costs = np.asarray(costs, dtype=X.dtype)
        self.embedding = machine._embedding(self.Z, self.w)
        self.T = machine._target(self.Z)
        self._losses: dict[tuple[Any, ...], tuple[Float, Float]] = {}

    @cached_property
    def _root(self) -> _Root | None:
        return _Root.of(self.embedding, self.w)

    @cached_property
    def spectrum(self) -> Spectrum:
        """Eigendecomposition of the whitened kernel of the training rows."""
        K = self.machine.kernel_(self.Z, self.Z)
        lam = self.machine.lam
        if self._root is None:
            return Spectrum.of(K, self.T, self.w, self.embedding, lam=lam)
        values, U = np.linalg.eigh(self._root.whiten(K, lam))
        values = np.clip(values, 0, None)
        recover = (U - self._root(self._root(U * values))) / lam
        return Spectrum(values, U, np.sqrt(self.w), self.T, U.T @ self.T, recover)

    @cached_property
    def _damping(self) -> Float:
        """``1 / (1 + C lambda)``: a row for each eigenvalue, a column for each C."""
        return np.asarray(1 / (1 + self.costs * self.spectrum.values[:, None]))

    @cached_property
    def residuals(self) -> Float:
        """Residuals of the training rows at every C: C first, then row and target."""
        return self._products(self.spectrum.vectors, self._damping)

    @cached_property
    def spare(self) -> Float:
        """One minus leverage of the training rows at every C: C first, then row."""
        spare = (self.spectrum.vectors**2 @ self._damping).T
        return np.asarray(np.clip(spare, np.finfo(spare.dtype).smallest_normal, None))

    @cached_property
    def _kernel_rows(self) -> Float:
        return np.asarray(self.machine.kernel_(self.rows, self.Z))

    @cached_property
    def _features(self) -> Float:
        """The rows to judge, in spectral coordinates."""
        return np.asarray(self._kernel_rows @ self.spectrum.recover)

    @cached_property
    def row_residuals(self) -> Float:
        """Residuals of the rows to judge at every C."""
        return self.machine._target(self.rows) - self._products(self._features, self._damping * self.costs)

    @cached_property
    def row_variance(self) -> Float:
        """The machine's uncertainty about the rows to judge at every C: C first, then row."""
        prior = self.machine.kernel_.diagonal(self.rows) - self._whitened_part()
        explained = self._features**2 @ (self._damping * self.costs)
        return np.asarray(np.clip(prior / self.machine.lam - explained.T, 0, None))

    def _whitened_part(self) -> Float | float:
        """``k(z)' (lam I + MK)^-1 M k(z)`` of each row to judge."""
        if isinstance(self.embedding, NoVariance):
            return 0.0
        k = self._kernel_rows
        Mk = self._root(self._root(k.T)) if self._root is not None else self.embedding.laplacian(self.w) @ k.T
        return np.asarray(np.sum(self._features * (Mk.T @ self.spectrum.vectors), axis=1))

    def _products(self, features: Float, scales: Float) -> Float:
        """``features @ diag(scale) @ projected`` for every column of `scales`: C first, then row and target."""
        weights = scales.T[:, :, None] * self.spectrum.projected
        c, n, d = weights.shape
        flat = features @ np.moveaxis(weights, 0, 1).reshape(n, c * d)
        return np.moveaxis(flat.reshape(-1, c, d), 1, 0)

    def decisions(self, params: dict[str, Any]) -> Float:
        """Decision values of the rows, for values of the free parameters."""
        machine = self.machine
        for name, value in params.items():
            setattr(machine, name, value)
        machine._check_decision()
        c = int(np.flatnonzero(self.costs == machine.C)[0])
        key = (c, machine.threshold in machine._held_out_rules, vars(machine).get("score"))
        if key not in self._losses:
            self._losses[key] = self._losses_at(*key[:2])
        known, losses = self._losses[key]
        machine._mean_residual = self.residuals[c].mean(axis=0)
        return np.asarray(machine._threshold(known, self.w) - losses)

    def _losses_at(self, c: int, held_out: bool) -> tuple[Float, Float]:
        """Losses of the training rows, held out or not, and of the rows to judge."""
        machine, residuals, spare = self.machine, self.residuals[c], self.spare[c]
        C = machine.C_ = float(self.costs[c])
        machine.signal_ = C * float(np.sum(self.T * residuals)) / self.T.size
        share = spare if held_out else np.ones_like(spare)
        wants = machine._wants_variance
        known = machine._loss(residuals / share[:, None], (1 - spare) / share / C if wants else None)
        return known, machine._loss(self.row_residuals[c], self.row_variance[c] if wants else None)

    def log_likelihood(self, C: float) -> float:
        """Marginal likelihood of the rows rebuilt from themselves, whatever the machine's target, a row and feature."""
        one = self.spectrum
        rebuilt = replace(one, T=self.Z, projected=one.vectors.T @ (one.roots[:, None] * self.Z))
        return rebuilt.log_marginal_likelihood(C=C) / self.Z.size

    def complexity(self, C: float) -> float:
        """Effective number of parameters: the sum of the training rows' leverages."""
        return float(np.sum(1 - self._damping[:, self.costs == C]))


class _Root:
    """The symmetric H with ``H H = M`` of a variance about the clusters' own means, applied in linear time."""

    def __init__(self, membership: Float, omega: Float) -> None:
        self.membership = membership
        self.means = (membership / membership.sum(axis=0)).T
        self.scale = np.sqrt(omega)[:, None]

    @classmethod
    def of(cls, embedding: Embedding, w: Float) -> _Root | None:
        if not isinstance(embedding, WithinVariance) or not embedding.scatter.own_mean:
            return None
        membership = embedding.membership
        return cls(membership, membership @ embedding.scatter.shares(w @ membership))

    def __call__(self, B: Float) -> Float:
        return np.asarray(self.scale * (B - self.membership @ (self.means @ B)))

    def whiten(self, K: Float, lam: float) -> Float:
        """``K (lam I + MK)^-1`` as ``(K - K H (lam I + H K H)^-1 H K) / lam``."""
        HK = self(K)
        system = self(np.ascontiguousarray(HK.T))
        system[np.diag_indices_from(system)] += lam
        half = solve_lower(cholesky(system), HK)
        return np.asarray((K - half.T @ half) / lam)
