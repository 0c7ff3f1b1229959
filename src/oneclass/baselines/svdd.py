"""SVDD: the smallest ball around the target class, in the kernel's space."""

from __future__ import annotations

from typing import Any, Self, final

import numpy as np
from sklearn.utils import check_consistent_length

from ..core.arrays import Array, ones
from ..core.kernels import Kernel, Precomputed, Radial
from ..estimators._input import check_number
from ..estimators._kernel_choice import is_precomputed
from ._qp import solve_box_qp
from ._svm import KernelDescription, nu_svm

__all__ = ["SVDD"]


@final
class SVDD(KernelDescription):
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
    kernel : {"rbf", "laplacian", "polynomial", "linear", "precomputed"}, kernel or callable, default="rbf"
        Similarity of two rows: a name, a kernel of the library such as ``RBF(sigma=2.0)``, or a callable ``k(X, Y)``.
    sigma : float or {"mean", "rms", "median"}, default="mean"
        Bandwidth of a radial kernel given by name: a number, the mean distance between rows (the paper), the
        authors' released code, or the median distance.
    tol : float in (0, inf), default=1e-4
        Tolerance of libsvm.
    scale : bool, default=True
        Whether to z-score the features first, by the target rows; constant ones are centred only.
    delta : float in [0, 1), default=0.05
        False-alarm rate asked for: the share of normal rows that may be rejected.
    threshold : {"loo", "train", "authors", "boundary"}, default="loo"
        Where the decision sits: the (1 - delta) quantile of held-out losses (five folds), which delivers the rate
        asked for; dd_tools' rule on training losses; the rule of the VAAKELM authors' released code; the ball's own
        radius.

    Attributes
    ----------
    offset_ : float
        Threshold on `score_samples`.
    support_ : array of shape (n_support,)
        Row numbers of the support vectors.
    support_vectors_ : array of shape (n_support, n_features)
        Support vectors in z-scores.
    dual_coef_ : array of shape (n_support,)
        Multipliers a of the support vectors, negative for labelled outliers.
    radius_ : float
        Radius of the ball: the distance of the support vectors on it from the centre.
    scaler_, kernel_, sigma_
        Fitted scaling, kernel and (for radial kernels) bandwidth.
    n_features_in_, feature_names_in_
        As in scikit-learn.

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

    def __init__(
        self,
        *,
        nu: float | None = None,
        nu_outliers: float | None = None,
        kernel: Any = "rbf",
        sigma: float | str = "mean",
        tol: float = 1e-4,
        scale: bool = True,
        delta: float = 0.05,
        threshold: str = "loo",
    ) -> None:
        self.nu = nu
        self.nu_outliers = nu_outliers
        self.kernel = kernel
        self.sigma = sigma
        self.tol = tol
        self.scale = scale
        self.delta = delta
        self.threshold = threshold

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the target class from its rows, and from labelled outliers if there are any.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; the n x n kernel matrix when ``kernel="precomputed"``.
        y : array-like of shape (n_samples,), optional
            +1 for rows of the target class, -1 for outliers. Labels of any other kind are ignored: all rows are then
            of the target class.

        Returns
        -------
        self
            The fitted classifier.
        """
        X = self._rows_of(X, reset=True, min_rows=2)
        target = self._is_target(y, X)
        self._outliers = X[~target]
        self._fit_and_decide(X[target], ones(X)[target])
        order = np.concatenate([np.flatnonzero(target), np.flatnonzero(~target)])
        self.support_ = order[self.support_]
        return self

    def center_distance(self, X: Any) -> Array:
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

    def _is_target(self, y: Any, X: Array) -> Array:
        if y is None:
            return ones(X) > 0
        check_consistent_length(X, y)
        labels = np.ravel(np.asarray(y))
        if not np.isin(labels, (-1, 1)).all():
            return ones(X) > 0
        target = labels > 0
        if target.sum() < 2:
            raise ValueError(f"{self._name}: y must mark at least two rows as targets (+1), got {int(target.sum())}")
        if not target.all() and is_precomputed(self):
            raise ValueError(f"{self._name}: labelled outliers need a kernel of rows, got kernel='precomputed'")
        return target

    def _describe(self, Z: Array) -> None:
        outliers = self.scaler_(self._outliers)
        V = np.concatenate([Z, outliers]) if len(outliers) else Z
        signs = np.repeat([1.0, -1.0], [len(Z), len(outliers)])
        upper = np.full(len(V), 1 / (self._share("nu", len(Z)) * len(Z)))
        if len(outliers):
            upper[len(Z) :] = 1 / (self._share("nu_outliers", len(outliers)) * len(outliers))
        diagonal = self._training_diagonal(V)
        a = self._multipliers(V, signs, upper, diagonal)
        self._keep(V, signs * a)
        self._k0 = float(diagonal[0])
        self._center = float(self.dual_coef_ @ self._similarity(self.support_vectors_))
        self._squared_radius = self._loss_on_the_ball(V, a, upper, signs)
        self.radius_ = float(np.sqrt(max(self._squared_radius, 0)))

    def _loss_on_the_ball(self, V: Array, a: Array, upper: Array, signs: Array) -> float:
        """Loss of the support vectors between their bounds; without such, halfway between inner and outer rows."""
        free = (a > 0) & (a < upper * (1 - 1e-9))
        if free.any():
            return float(self._judge(V[free]).mean())
        losses, inner = self._judge(V), (a == 0) == (signs > 0)
        limits = [losses[inner].max(initial=-np.inf), losses[~inner].min(initial=np.inf)]
        return float(np.mean([limit for limit in limits if np.isfinite(limit)]))

    def _multipliers(self, V: Array, signs: Array, upper: Array, diagonal: Array) -> Array:
        tol = check_number(self, "tol", 0, float("inf"))
        if len(self._outliers) == 0 and _is_constant(diagonal):
            return nu_svm(self.kernel_, V, nu=self._share("nu", len(V)), tol=tol)[0]
        Q = signs[:, None] * self.kernel_(V, V) * signs
        return solve_box_qp(Q, -signs * diagonal, signs, upper, caller=self._name)

    def _training_diagonal(self, V: Array) -> Array:
        if not isinstance(self.kernel_, Precomputed):
            return _diagonal(self.kernel_, V)
        if not _is_constant(np.diagonal(V)):
            raise ValueError(
                f"{self._name}: a precomputed kernel must have a constant diagonal, as it lacks k(z, z) of new rows;"
                f" got values from {np.diagonal(V).min():g} to {np.diagonal(V).max():g}"
            )
        return np.diagonal(V)

    def _judge(self, Z: Array) -> Array:
        own = self._k0 if isinstance(self.kernel_, Precomputed) else _diagonal(self.kernel_, Z)
        return own - 2 * self._similarity(Z) + self._center

    def _boundary(self) -> float:
        return self._squared_radius

    def _twin(self) -> Self:
        twin = super()._twin()
        twin.scaler_, twin._outliers = self.scaler_, self._outliers
        return twin


def _is_constant(diagonal: Array) -> bool:
    return bool(np.ptp(diagonal) <= 1e-12 * np.abs(diagonal).max())


def _diagonal(kernel: Kernel, Z: Array) -> Array:
    """``k(z, z)`` of each row."""
    if isinstance(kernel, Radial):
        return ones(Z)
    return np.concatenate([np.diagonal(kernel(Z[a : a + 64], Z[a : a + 64])) for a in range(0, len(Z), 64)])
