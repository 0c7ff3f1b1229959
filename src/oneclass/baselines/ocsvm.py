"""OCSVM: the one-class support vector machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from ..base.checks import check_number
from ..base.kernels import KernelChoice
from ..core.arrays import Array
from ..core.kernels import Kernel
from ._svm import Description, KernelDescription, nu_svm
from ._training import Training

__all__ = ["OCSVM"]


@final
class OCSVM(KernelDescription["_Halfspace"]):
    """Reject rows on the origin's side of a hyperplane that separates the training rows from the origin.

    The loss is ``rho - sum_i a_i k(x_i, z)``, the negative of the decision value ([1]_). The multipliers a_i sum to 1;
    those of libsvm and of scikit-learn's `OneClassSVM` sum to ``nu n``.

    Parameters
    ----------
    {delta_of_folds}
    {confidence}
    {rate_by}
    nu : float in (0, 1] or None, default=None
        Upper bound on the share of training rows on the origin's side, and lower bound on the share of support vectors;
        at least the share of one row. None means `delta`.
    {kernel}
    {sigma_of_svm}
    {tol_of_svm}
    {scale}
    {threshold_of_svm}
    {hold_out}

    Attributes
    ----------
    {offset_}
    {calibration_or_none_}
    {support_}
    {support_vectors_}
    dual_coef_ : array of shape (n_support,)
        Multipliers a of the support vectors.
    rho_ : float
        Distance of the hyperplane from the origin, times the norm of its normal vector.
    {scaler_and_kernel_of_svm_}
    {n_features_in_}

    References
    ----------
    .. [1] Schölkopf, Platt, Shawe-Taylor, Smola and Williamson (2001). Estimating the support of a high-dimensional
           distribution.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass.baselines import OCSVM
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> OCSVM().fit(X).predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    """

    _published: ClassVar = (*KernelDescription._published, "rho")
    model_: _Halfspace

    def __init__(
        self,
        *,
        delta: float = 0.05,
        confidence: float | None = None,
        rate_by: str = "group",
        nu: float | None = None,
        kernel: KernelChoice = "rbf",
        sigma: float | str = "mean",
        tol: float = 1e-4,
        scale: str | bool = "zscore",
        threshold: str = "held_out",
        hold_out: str | float = "auto",
    ) -> None:
        self.delta = delta
        self.confidence = confidence
        self.rate_by = rate_by
        self.nu = nu
        self.kernel = kernel
        self.sigma = sigma
        self.tol = tol
        self.scale = scale
        self.threshold = threshold
        self.hold_out = hold_out

    def _describe(self, kernel: Kernel, training: Training) -> _Halfspace:
        Z, tol = training.Z, check_number(self, "tol", 0, float("inf"))
        multipliers, rho = nu_svm(kernel, Z, nu=self._share("nu", len(Z)), tol=tol, caller=self._name)
        return _Halfspace.of(kernel, Z, multipliers, boundary=0.0, rho=rho)


@dataclass(frozen=True)
class _Halfspace(Description):
    rho: float

    def losses(self, Z: Array) -> Array:
        return self.rho - self.similarity(Z)
