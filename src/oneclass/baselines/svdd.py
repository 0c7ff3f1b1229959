"""SVDD: reject rows outside the smallest ball around the target class, in the feature space of the kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self, final

import numpy as np

from ..base.checks import check_number
from ..base.kernels import KernelChoice
from ..core.arrays import Array
from ..core.kernels import Kernel, Precomputed
from ..core.typing import Labels, Name, Rows
from ._qp import solve_box_qp
from ._svm import Description, KernelDescription, nu_svm, values_of
from ._training import Training

__all__ = ["SVDD"]


@final
class SVDD(KernelDescription["_Ball"]):
    """Reject rows outside the smallest ball around the target class, in the feature space of the kernel.

    Minimizes ``a'Ka - a'diag(K)`` subject to ``sum a = 1`` and ``0 <= a <= 1/(n nu)`` [1]_. Labelled outliers have
    negative signs and a bound of their own, from `nu_outliers`. The loss is the squared distance to the center,
    ``k(z,z) - 2 sum_i a_i k(z,x_i) + a'Ka``.

    Parameters
    ----------
    {delta_of_folds}
    {confidence}
    {rate_by}
    nu : float in (0, 1] or None, default=None
        Upper bound on the share of training rows outside the ball; at least the share of one row. None means `delta`.
    nu_outliers : float in (0, 1] or None, default=None
        Upper bound on the share of labelled outliers inside the ball; at least the share of one outlier. None means
        `delta`.
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
        Multipliers a of the support vectors; negative for labelled outliers.
    radius_ : float
        Radius of the ball: the distance from the center to the support vectors on the sphere.
    {scaler_and_kernel_of_svm_}
    {n_features_in_}

    Notes
    -----
    If k(x, x) is the same for all rows and no row is a labelled outlier, the problem is that of the one-class support
    vector machine, and libsvm solves it. Otherwise Clarabel solves it; install it by ``pip install 'oneclass[qp]'``.

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
    model_: _Ball

    def __init__(
        self,
        *,
        delta: float = 0.05,
        confidence: float | None = None,
        rate_by: str = "group",
        nu: float | None = None,
        nu_outliers: float | None = None,
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
        self.nu_outliers = nu_outliers
        self.kernel = kernel
        self.sigma = sigma
        self.tol = tol
        self.scale = scale
        self.threshold = threshold
        self.hold_out = hold_out

    def fit(
        self,
        X: Rows,
        y: Labels | None = None,
        *,
        groups: Labels | Name | None = None,
        segments: Labels | Name | None = None,
    ) -> Self:
        """Learn the target class from its rows, and from labelled outliers if there are any.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; the n x n kernel matrix if ``kernel="precomputed"``.
        y : array-like of shape (n_samples,), optional
            Labels. The labels +1 (against -1), 1 (against 0), True, "target", "normal" and "inlier" mark rows of the
            target class. The other rows are outliers, which the ball should exclude. If there are several other labels,
            a warning says so and all rows are treated as targets.
        groups : array-like of shape (n_samples,), or the name or number of a column of `X`, optional
            The group of each row, as labels of any kind: for example a person, a machine or a day. The groups of
            outliers are not used. Rows of a group resemble each other, so the five folds hold out whole groups, and
            each group has the same weight. Thresholds and p-values then hold for rows of *new* groups. A column with
            groups is not a feature.
        {segments}

        Returns
        -------
        self
            The fitted classifier.
        """
        return super().fit(X, y, groups=groups, segments=segments)

    def _center_distance(self, X: Rows) -> Array:
        """Distance of each row from the center of the ball, to compare with `radius_`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        array of shape (n_samples,)
            Distances in the feature space of the kernel.
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
        support = ball.support if outliers is None else outliers.numbers[ball.support]
        return replace(ball, support=support, boundary=_loss_on_the_ball(ball, V, a, upper, signs))

    def _multipliers(self, kernel: Kernel, V: Array, signs: Array, upper: Array, diagonal: Array) -> Array:
        tol = check_number(self, "tol", 0, float("inf"))
        if (signs > 0).all() and _is_constant(diagonal):
            return nu_svm(kernel, V, nu=self._share("nu", len(V)), tol=tol, caller=self._name)[0]
        Q = signs[:, None] * values_of(kernel, V, caller=self._name) * signs
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


@dataclass(frozen=True)
class _Ball(Description):
    center: float  # squared norm of the center
    k0: float  # k(x, x) of a training row; of every row, if the kernel is precomputed

    @property
    def radius(self) -> float:
        return float(np.sqrt(max(self.boundary, 0)))

    def losses(self, Z: Array) -> Array:
        own = self.k0 if isinstance(self.kernel, Precomputed) else self.kernel.diagonal(Z)
        return own - 2 * self.similarity(Z) + self.center


def _loss_on_the_ball(ball: _Ball, V: Array, a: Array, upper: Array, signs: Array) -> float:
    """Mean loss of the support vectors between their bounds; else the middle between inner and outer rows."""
    free = (a > 0) & (a < upper * (1 - 1e-9))
    if free.any():
        return float(ball.losses(V[free]).mean())
    losses, inner = ball.losses(V), (a == 0) == (signs > 0)
    limits = [losses[inner].max(initial=-np.inf), losses[~inner].min(initial=np.inf)]
    return float(np.mean([limit for limit in limits if np.isfinite(limit)]))


def _is_constant(diagonal: Array) -> bool:
    return bool(np.ptp(diagonal) <= 1e-12 * np.abs(diagonal).max())
