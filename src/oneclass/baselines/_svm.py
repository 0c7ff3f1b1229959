"""What the two support vector machines share: kernels, libsvm, support vectors, the machine's own boundary."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.svm import OneClassSVM

from ..core.arrays import Array, blocks, ones
from ..core.kernels import RBF, Kernel, Precomputed, Radial
from ..core.scaling import Scaler
from ..estimators._input import check_number
from ..estimators._kernel_choice import choose_kernel, is_precomputed
from ._patience import SQUARED_FOLDS, Slow

__all__ = ["KernelDescription", "nu_svm"]


class KernelDescription(Slow):
    """A description of the target class by the multipliers of some of its rows, the support vectors."""

    _rules: ClassVar = {**Slow._rules, "boundary": lambda losses, w, *, delta: np.nan}  # see `_threshold`

    _instead: ClassVar = "VAAKELM(approximation='auto'), or fewer rows"

    kernel: Any
    sigma: float | str
    nu: float | None
    tol: float

    @abstractmethod
    def _describe(self, Z: Array) -> None:
        """Find the multipliers for rows in z-scores (kernel values, when those are precomputed) and `_keep` them."""

    @abstractmethod
    def _boundary(self) -> float:
        """Loss on the boundary that the machine itself draws."""

    def _seconds(self, n: int, d: int) -> float:
        solution = (4e-8 + 4e-9 * d) * self._share("nu", n) * n**2
        bandwidth = (5e-9 + 1e-10 * d) * n**2 if isinstance(self.sigma, str) else 0.0
        return solution * (SQUARED_FOLDS if self._is_held_out else 1) + bandwidth

    def _scaling(self, X: Array, w: Array) -> Scaler:
        if not is_precomputed(self):
            return super()._scaling(X, w)
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"{self._name}: a precomputed kernel must be square at fit, got shape {X.shape}")
        return Scaler.identity(X)

    def _learn(self, Z: Array) -> None:
        self.kernel_ = choose_kernel(self, Z, ones(Z))
        if isinstance(self.kernel_, Radial):
            self.sigma_ = float(self.kernel_.sigma)
        self._describe(Z)

    def _share(self, parameter: str, n: int) -> float:
        """The bound ``1 / (n C)`` on the share of rows on the wrong side: `delta` unless given, at least one row's."""
        given = getattr(self, parameter) is not None
        return max(check_number(self, parameter, 0, 1, closed_high=True) if given else self.delta, 1 / n)

    def _keep(self, Z: Array, multipliers: Array) -> None:
        self.support_ = np.flatnonzero(multipliers)
        self.dual_coef_ = multipliers[self.support_]
        self.support_vectors_ = Z[self.support_]

    def _similarity(self, Z: Array) -> Array:
        """``sum_i a_i k(x_i, z)``."""
        if isinstance(self.kernel_, Precomputed):
            return Z[:, self.support_] @ self.dual_coef_
        V = self.support_vectors_
        return np.concatenate([self.kernel_(Z[a:b], V) @ self.dual_coef_ for a, b in blocks(len(Z), len(V), Z)])

    def _threshold(self, losses: Array, w: Array) -> float:
        return self._boundary() if self.threshold == "boundary" else super()._threshold(losses, w)

    # Folds keep the kernel of all rows, its bandwidth included.

    def _twin(self) -> Self:
        return clone(self) if is_precomputed(self) else clone(self).set_params(kernel=self.kernel_)

    def _part(self, Z: Array, rows: Array, seen: Array) -> Array:
        return Z[np.ix_(rows, seen)] if is_precomputed(self) else Z[rows]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self)
        return tags


def nu_svm(kernel: Kernel, Z: Array, *, nu: float, tol: float) -> tuple[Array, float]:
    """Multipliers that sum to one, each at most ``1 / (nu n)``, and rho of libsvm's one-class machine."""
    if nu >= 1:  # all rows at the bound: libsvm has no rho then
        multipliers = np.full(len(Z), 1 / len(Z))
        return multipliers, max(float((kernel(Z[a:b], Z) @ multipliers).max()) for a, b in blocks(len(Z), len(Z), Z))
    if isinstance(kernel, RBF):
        machine = OneClassSVM(kernel="rbf", gamma=0.5 / float(kernel.sigma) ** 2, nu=nu, tol=tol).fit(Z)
    else:
        machine = OneClassSVM(kernel="precomputed", nu=nu, tol=tol).fit(kernel(Z, Z))
    total = nu * len(Z)
    multipliers = np.zeros(len(Z))
    multipliers[machine.support_] = machine.dual_coef_[0] / total
    return multipliers, float(machine.offset_[0]) / total
