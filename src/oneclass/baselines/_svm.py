"""Base classes of OCSVM and SVDD: kernels, libsvm, support vectors, the boundary from the optimization."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import OneClassSVM

from ..base.checks import LARGEST_FACTOR, check_number, read_scaling
from ..base.kernels import KernelChoice, is_precomputed, read_kernel
from ..base.rates import decision_of
from ..base.reading import Header
from ..base.training_set import TrainingSet
from ..base.warnings import ignoring, warn
from ..core.arrays import Array, blocks, ones
from ..core.data_choices import choose_kernel
from ..core.kernels import RBF, Kernel, Precomputed, Settled, is_radial
from ..core.scaling import Scaler
from ..core.stored import Extended, Floats, Whole, must
from ..core.threshold import Decision, Ranks
from ._slow import SQUARED_FOLDS, Slow
from ._training import Training

if TYPE_CHECKING:
    from sklearn.utils import Tags

__all__ = ["Description", "KernelDescription", "nu_svm", "values_of"]


#: Iterations of libsvm, for each row of so many at least: five times what tol=1e-8 took on rows of five kinds.
_ITERATIONS, _FEWEST_COUNTED_ROWS = 100, 100


@dataclass(frozen=True)
class Description(ABC):
    """Support vectors: rows with nonzero multipliers (`dual_coef`). `support` are their row numbers."""

    kernel: Annotated[Kernel, Settled()]
    support: Annotated[Array, Whole("_s")]
    support_vectors: Annotated[Array, Floats("_s d")]
    dual_coef: Annotated[Array, Floats("_s")]
    boundary: Extended  # loss on the boundary from the optimization

    def __check__(self) -> None:
        must(bool((self.dual_coef > 0).any()), "dual_coef must be above 0 for a support vector")
        d = self.support_vectors.shape[1]
        inside = not isinstance(self.kernel, Precomputed) or int(self.support.max()) < d
        must(inside, f"support of a precomputed kernel must be below {d}")

    @classmethod
    def of(cls, kernel: Kernel, V: Array, multipliers: Array, **more: Any) -> Self:
        """The description with the rows of nonzero multipliers as support vectors."""
        support = np.flatnonzero(multipliers)
        return cls(kernel, support, V[support], multipliers[support], **more)

    @abstractmethod
    def losses(self, Z: Array) -> Array:
        """Loss of each scaled row."""

    @property
    def kept(self) -> Array | None:
        """Support vectors of the target class."""
        return None if isinstance(self.kernel, Precomputed) else self.support_vectors[self.dual_coef > 0]

    def similarity(self, Z: Array) -> Array:
        """``sum_i a_i k(x_i, z)``."""
        if isinstance(self.kernel, Precomputed):
            return Z[:, self.support] @ self.dual_coef
        V = self.support_vectors
        return np.concatenate([self.kernel(Z[a:b], V) @ self.dual_coef for a, b in blocks(len(Z), len(V), Z)])


D = TypeVar("D", bound=Description)


class KernelDescription(Slow[D]):
    """Baseline that describes the target class by support vectors."""

    _thresholds: ClassVar = {**Slow._thresholds, "boundary": lambda ranks, *, delta: np.nan}  # see `_threshold`
    _published: ClassVar[tuple[str, ...]] = ("support", "support_vectors", "dual_coef", "kernel")
    _instead: ClassVar = "VAAKELM(approximation='auto'), or fewer rows"

    kernel: KernelChoice
    sigma: float | str
    nu: float | None
    tol: float

    @abstractmethod
    def _describe(self, kernel: Kernel, training: Training) -> D:
        """Find the multipliers of the training rows."""

    def _seconds(self, n: int, d: int) -> float:
        solution = (4e-8 + 4e-9 * d) * self._share("nu", n) * n**2
        bandwidth = (5e-9 + 1e-10 * d) * n**2 if isinstance(self.sigma, str) else 0.0
        return solution * (SQUARED_FOLDS if decision_of(self).held_out else 1) + bandwidth

    def _scaling(self, X: Array, header: Header) -> Scaler:
        if not is_precomputed(self):
            return super()._scaling(X, header)
        read_scaling(self._name, self.scale)
        return Scaler.identity(X)

    def _fit_set(self, training: TrainingSet, decision: Decision) -> Self:
        if training.outliers is not None and training.pairwise:
            raise ValueError(f"{self._name}: labelled outliers need a kernel of rows, got kernel='precomputed'")
        return super()._fit_set(training, decision)

    def _training(self, X: Array, scaler: Scaler) -> Training:
        return replace(super()._training(X, scaler), pairwise=is_precomputed(self))

    def _learn(self, training: Training) -> D:
        kernel = training.kernel or choose_kernel(read_kernel(self), training.Z, ones(training.Z))
        return self._describe(kernel, training)

    def _knowing(self, model: D, training: Training) -> Training:
        return replace(training, kernel=model.kernel)

    def _share(self, parameter: str, n: int) -> float:
        """Bound ``1 / (n C)`` on the share of rows beyond the boundary: the parameter or `delta`, at least 1 / n."""
        given = getattr(self, parameter) is not None
        return max(check_number(self, parameter, 0, 1, closed_high=True) if given else self.delta, 1 / n)

    def _threshold(self, model: D, ranks: Ranks, decision: Decision) -> float:
        return model.boundary if decision.rule == "boundary" else super()._threshold(model, ranks, decision)

    def _attributes(self, model: D) -> dict[str, object]:
        bandwidth = {"sigma_": float(model.kernel.sigma)} if is_radial(model.kernel) else {}
        return super()._attributes(model) | bandwidth

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self)
        return tags


def values_of(kernel: Kernel, rows: Array, *, caller: str) -> Array:
    """Kernel values among rows, refused where a solver could not compute with them."""
    with np.errstate(over="ignore", invalid="ignore"):
        K = kernel(rows, rows)
    largest = np.abs(K).max()
    if not largest <= LARGEST_FACTOR:
        raise ValueError(f"{caller}: kernel must have values of at most {LARGEST_FACTOR:g} in size, got {largest:g}")
    return K


def nu_svm(kernel: Kernel, Z: Array, *, nu: float, tol: float, caller: str) -> tuple[Array, float]:
    """Multipliers, which sum to 1 and are at most ``1 / (nu n)``, and rho of libsvm's one-class SVM."""
    if nu >= 1:  # all rows are at the bound, where libsvm gives no rho
        multipliers = np.full(len(Z), 1 / len(Z))
        return multipliers, max(float((kernel(Z[a:b], Z) @ multipliers).max()) for a, b in blocks(len(Z), len(Z), Z))
    # Within its tolerance, the solution of libsvm depends on the order of the rows: sort them.
    order = np.arange(len(Z)) if isinstance(kernel, Precomputed) else np.lexsort(Z.T[::-1])
    rows, radial = Z[order], isinstance(kernel, RBF)
    options: dict[str, Any] = {"gamma": 0.5 / float(kernel.sigma) ** 2} if isinstance(kernel, RBF) else {}
    machine = OneClassSVM(
        kernel="rbf" if radial else "precomputed",
        nu=nu,
        tol=tol,
        max_iter=_ITERATIONS * max(len(Z), _FEWEST_COUNTED_ROWS),
        **options,
    )
    machine.random_state = 0  # libsvm does not use it; without it, scikit-learn draws from NumPy's global generator
    with ignoring(ConvergenceWarning):
        values = rows if radial else values_of(kernel, rows, caller=caller)
        try:
            machine.fit(values)
        except ValueError as error:
            raise ValueError(f"{caller}: libsvm found no solution; kernel values may be too large ({error})") from None
    if machine.fit_status_:
        warn(
            f"{caller}: the solver did not reach tol={tol:g} within {_ITERATIONS} iterations a row; raise tol",
            ConvergenceWarning,
        )
    total = nu * len(Z)
    multipliers = np.zeros(len(Z))
    multipliers[order[machine.support_]] = machine.dual_coef_[0] / total
    return multipliers, float(machine.offset_[0]) / total
