"""A kernel machine at every C, score, threshold and delta from one eigendecomposition of its training rows."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
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

__all__ = ["EMBEDDING", "FREE", "SpectralPath", "serves"]

Float = NDArray[np.float64]

#: Parameters that cost next to nothing once the training rows are decomposed.
FREE = ("C", "delta", "threshold", "score")

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
        self.w = np.ones(len(X), dtype=X.dtype)
        machine.C = costs[0]
        self.Z = machine._prepare(X, self.w)
        self.rows = machine.scaler_(read_rows(machine, rows, reset=False))
        self.costs = np.asarray(costs, dtype=np.float64)
        self.T, self.row_T = machine._target(self.Z), machine._target(self.rows)
        self.K, self.row_K = machine.kernel_(self.Z, self.Z), machine.kernel_(self.rows, self.Z)
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
        self.embedding = self.machine._embedding(self.Z, self.w)
        self._losses: dict[tuple[Any, ...], tuple[Float, Float, Float]] = {}

    @cached_property
    def _root(self) -> _Root | None:
        return _Root.of(self.embedding, self.w)

    @cached_property
    def spectrum(self) -> Spectrum:
        """Eigendecomposition of the whitened kernel of the training rows."""
        K, lam = self.K, self.machine.lam
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
    def _features(self) -> Float:
        """The rows to judge, in spectral coordinates."""
        return np.asarray(self.row_K @ self.spectrum.recover)

    @cached_property
    def row_residuals(self) -> Float:
        """Residuals of the rows to judge at every C."""
        return self.row_T - self._products(self._features, self._damping * self.costs)

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
        k = self.row_K
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
        machine.__dict__.update(params)
        machine._check_decision()
        key = (params["C"], machine.threshold in machine._held_out_rules, params.get("score"))
        if key not in self._losses:
            self._losses[key] = self._losses_at(key[0], key[1])
        known, losses, machine._mean_residual = self._losses[key]
        return np.asarray(machine._threshold(known, self.w) - losses)

    def _losses_at(self, C: float, held_out: bool) -> tuple[Float, Float, Float]:
        """Losses of the training rows, held out or not, of the rows to judge, and the training rows' mean residual."""
        c = int(np.flatnonzero(self.costs == C)[0])
        machine, residuals, spare = self.machine, self.residuals[c], self.spare[c]
        machine.C_ = C
        machine.signal_ = C * float(np.sum(self.T * residuals)) / self.T.size
        wants = machine._wants_variance
        share = spare if held_out else np.ones_like(spare)
        known = machine._loss(residuals / share[:, None], (1 - spare) / share / C if wants else None)
        losses = machine._loss(self.row_residuals[c], self.row_variance[c] if wants else None)
        return known, losses, residuals.mean(axis=0)

    def log_likelihood(self, C: float) -> float:
        """Marginal likelihood of the rows rebuilt from themselves, whatever the machine's target, a row and feature."""
        one = self.spectrum
        rebuilt = replace(one, T=self.Z, projected=one.vectors.T @ (one.roots[:, None] * self.Z))
        return rebuilt.log_marginal_likelihood(C=C) / self.Z.size

    @cached_property
    def complexity(self) -> dict[float, float]:
        """Effective number of parameters at every C: the sum of the training rows' leverages."""
        return dict(zip(self.costs.tolist(), np.sum(1 - self._damping, axis=0).tolist(), strict=True))


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


_WORKED_OUT = tuple(name for name, value in vars(SpectralPath).items() if isinstance(value, cached_property))
