"""SVDD: the smallest ball around the target class, in the kernel's space."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self, final

import numpy as np

from ..base.checks import check_number
from ..base.kernels import KernelChoice
from ..core.arrays import Array
from ..core.kernels import Kernel, Precomputed
from ..core.typing import Labels, Name, Rows
from ._base import Training
from ._qp import solve_box_qp
from ._svm import Description, KernelDescription, nu_svm

__all__ = ["SVDD"]


@final
class SVDD(KernelDescription["_Ball"]):
    """Reject rows outside the smallest ball around the target class, in the kernel's space.

    Solves ``min a'Ka - a'diag(K)`` with ``sum a = 1`` and ``0 <= a <= 1/(n nu)`` [1]_; labelled outliers enter with
    a negative sign and their own bound. The loss is the squared distance to the centre,
    ``k(z,z) - 2 sum_i a_i k(z,x_i) + a'Ka``.

    Parameters
    ----------
    nu : float in (0, 1] or None, default=None
        Share of the training rows that may lie outside the ball; at least one row's. None takes `delta`.
    nu_outliers : float in (0, 1] or None, default=None
        Share of the labelled outliers, if any, that may lie inside the ball; at least one row's. None takes `delta`.
    {kernel}
    {sigma_of_svm}
    {tol_of_svm}
    {scale}
    {delta_of_folds}
    {threshold_of_svm}
    {confidence}

    Attributes
    ----------
    {offset_}
    {calibration_or_none_}
    {support_}
    {support_vectors_}
    dual_coef_ : array of shape (n_support,)
        Multipliers a of the support vectors, negative for labelled outliers.
    radius_ : float
        Radius of the ball: the distance of the support vectors on it from the centre.
    {scaler_and_kernel_of_svm_}
    {n_features_in_}

    Notes
    -----
    When k(x, x) is the same for all rows and none is a labelled outlier, this is the problem of the one-class support
    vector machine and libsvm solves it; otherwise Clarabel does, from ``pip install 'oneclass[qp]'``.

    References
    ----------
    .. [1] Tax and Duin (2004). Support vector data description.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass.baselines import SVDD
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> SVDD().fit(X).predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    """

    _published: ClassVar = (*KernelDescription._published, "radius")

    def __init__(
        self,
        *,
        nu: float | None = None,
        nu_outliers: float | None = None,
        kernel: KernelChoice = "rbf",
        sigma: float | str = "mean",
        tol: float = 1e-4,
        scale: str | bool = "zscore",
        delta: float = 0.05,
        threshold: str = "held_out",
        confidence: float | None = None,
    ) -> None:
        self.nu = nu
        self.nu_outliers = nu_outliers
        self.kernel = kernel
        self.sigma = sigma
        self.tol = tol
        self.scale = scale
        self.delta = delta
        self.threshold = threshold
        self.confidence = confidence

    def fit(self, X: Rows, y: Labels | None = None, *, groups: Labels | Name | None = None) -> Self:
        """Learn the target class from its rows, and from labelled outliers if there are any.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; the n x n kernel matrix when ``kernel="precomputed"``.
        y : array-like of shape (n_samples,), optional
            Labels, of which +1 (against -1), 1 (against 0), True, "target", "normal" and "inlier" name the target
            class; other rows are outliers to leave outside of the ball. Several labels of another kind raise a warning,
            and all rows are taken for targets.
        groups : array-like of shape (n_samples,), or the name or number of a column of `X`, optional
            The group of each row, by any labels (those of outliers are not looked at): the person that visits belong
            to, the machine, the day. Rows of a group are alike, so thresholds and p-values are those of a row of a
            *new* group: five folds hold out whole groups, and each group weighs the same. A column that has the groups
            is no feature.

        Returns
        -------
        self
            The fitted classifier.
        """
        return super().fit(X, y, groups=groups)

    def _center_distance(self, X: Rows) -> Array:
        """Distance of each row from the centre of the ball, to be compared with `radius_`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to measure.

        Returns
        -------
        array of shape (n_samples,)
            Distances in the kernel's space.
        """
        return np.sqrt(np.maximum(-self.score_samples(X), 0))

    def _describe(self, kernel: Kernel, training: Training) -> _Ball:
        Z, outliers = training.Z, training.outliers
        V, signs = Z, np.ones(len(Z))
        upper = np.full(len(Z), 1 / (self._share("nu", len(Z)) * len(Z)))
        if outliers is not None:
            m = len(outliers.rows)
            V, signs = np.concatenate([Z, outliers.rows]), np.append(signs, -np.ones(m))
            upper = np.append(upper, np.full(m, 1 / (self._share("nu_outliers", m) * m)))
        diagonal = self._training_diagonal(kernel, V)
        a = self._multipliers(kernel, V, signs, upper, diagonal)
        ball = _Ball.of(kernel, V, signs * a, boundary=np.nan, center=0.0, k0=float(diagonal[0]))
        ball = replace(ball, center=float(ball.dual_coef @ ball.similarity(ball.support_vectors)))
        return replace(ball, boundary=_loss_on_the_ball(ball, V, a, upper, signs))

    def _multipliers(self, kernel: Kernel, V: Array, signs: Array, upper: Array, diagonal: Array) -> Array:
        tol = check_number(self, "tol", 0, float("inf"))
        if (signs > 0).all() and _is_constant(diagonal):
            return nu_svm(kernel, V, nu=self._share("nu", len(V)), tol=tol)[0]
        Q = signs[:, None] * kernel(V, V) * signs
        return solve_box_qp(Q, -signs * diagonal, signs, upper, caller=self._name)

    def _training_diagonal(self, kernel: Kernel, V: Array) -> Array:
        if not isinstance(kernel, Precomputed):
            return kernel.diagonal(V)
        if not _is_constant(np.diagonal(V)):
            raise ValueError(
                f"{self._name}: a precomputed kernel must have a constant diagonal, as it lacks k(z, z) of new rows;"
                f" got values from {np.diagonal(V).min():g} to {np.diagonal(V).max():g}"
            )
        return np.diagonal(V)

    def _attributes(self, model: _Ball, training: Training) -> dict[str, object]:
        fitted = super()._attributes(model, training)
        if training.outliers is not None:
            fitted["support_"] = training.outliers.numbers[model.support]
        return fitted


@dataclass(frozen=True)
class _Ball(Description):
    center: float  # its squared norm
    k0: float  # k(x, x) of a training row; of every row, where the kernel is precomputed

    @property
    def radius(self) -> float:
        return float(np.sqrt(max(self.boundary, 0)))

    def losses(self, Z: Array) -> Array:
        own = self.k0 if isinstance(self.kernel, Precomputed) else self.kernel.diagonal(Z)
        return own - 2 * self.similarity(Z) + self.center


def _loss_on_the_ball(ball: _Ball, V: Array, a: Array, upper: Array, signs: Array) -> float:
    """Loss of the support vectors between their bounds; without such, halfway between inner and outer rows."""
    free = (a > 0) & (a < upper * (1 - 1e-9))
    if free.any():
        return float(ball.losses(V[free]).mean())
    losses, inner = ball.losses(V), (a == 0) == (signs > 0)
    limits = [losses[inner].max(initial=-np.inf), losses[~inner].min(initial=np.inf)]
    return float(np.mean([limit for limit in limits if np.isfinite(limit)]))


def _is_constant(diagonal: Array) -> bool:
    return bool(np.ptp(diagonal) <= 1e-12 * np.abs(diagonal).max())
