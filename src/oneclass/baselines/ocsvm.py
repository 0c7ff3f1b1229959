"""OCSVM: the one-class support vector machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from ..base.checks import check_number
from ..base.kernels import KernelChoice
from ..core.arrays import Array
from ..core.kernels import Kernel
from ._base import Training
from ._svm import Description, KernelDescription, nu_svm

__all__ = ["OCSVM"]


@final
class OCSVM(KernelDescription["_Halfspace"]):
    """Reject rows on the origin's side of a hyperplane that parts the training rows from it.

    The loss is minus the decision value, ``rho - sum_i a_i k(x_i, z)``, with multipliers a_i that sum to one; libsvm's,
    through scikit-learn's `OneClassSVM`, sum to ``nu n``.

    Parameters
    ----------
    nu : float in (0, 1] or None, default=None
        Upper bound on the share of training rows on the wrong side, lower bound on that of support vectors; at least
        one row's share. None takes `delta`.
    kernel : {"rbf", "laplacian", "polynomial", "linear", "precomputed"}, kernel or callable, default="rbf"
        Similarity of two rows: a name, a kernel of the library such as ``RBF(sigma=2.0)``, or a callable ``k(X, Y)``.
    sigma : float or {"mean", "third", "rms", "median"}, default="mean"
        Bandwidth of a radial kernel given by name: a number, the mean distance between rows (the paper) or a
        third of it, the authors' released code, or the median distance.
    tol : float in (0, inf), default=1e-4
        Tolerance of the solver.
    scale : {"zscore", "robust"} or False, default="zscore"
        Whether features are z-scored first, or tamed as the machines do (``asinh`` around the median), or left as they
        are; constant ones are centred only.
    delta : float in [0, 1), default=0.05
        False-alarm rate asked for: the share of normal rows that may be rejected.
    threshold : {"held_out", "train", "authors", "boundary"}, default="held_out"
        Where the decision sits: the (1 - delta) quantile of held-out losses (five folds), which delivers the rate
        asked for; dd_tools' rule on training losses; the rule of the VAAKELM authors' released code; the machine's
        own hyperplane, a decision value of zero. Only the first has the held-out losses that p-values and other
        budgets need.
    confidence : float in (0, 1), optional
        Chance with which this very model keeps `delta`. By default it is kept on average over training sets; a model
        that is to be sure of it rejects less.

    Attributes
    ----------
    offset_ : float
        Threshold on `score_samples`.
    calibration_ : Calibration or None
        Held-out losses of the training rows, behind thresholds and p-values; None if the threshold needed none.
    support_ : array of shape (n_support,)
        Row numbers of the support vectors.
    support_vectors_ : array of shape (n_support, n_features)
        Support vectors in z-scores.
    dual_coef_ : array of shape (n_support,)
        Multipliers a of the support vectors.
    rho_ : float
        Distance of the hyperplane from the origin times the norm of its normal.
    scaler_, kernel_, sigma_
        Fitted scaling, kernel and (for radial kernels) bandwidth.
    n_features_in_, feature_names_in_
        As in scikit-learn.

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
        nu: float | None = None,
        kernel: KernelChoice = "rbf",
        sigma: float | str = "mean",
        tol: float = 1e-4,
        scale: str | bool = "zscore",
        delta: float = 0.05,
        threshold: str = "held_out",
        confidence: float | None = None,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.sigma = sigma
        self.tol = tol
        self.scale = scale
        self.delta = delta
        self.threshold = threshold
        self.confidence = confidence

    def _describe(self, kernel: Kernel, training: Training) -> _Halfspace:
        Z, tol = training.Z, check_number(self, "tol", 0, float("inf"))
        multipliers, rho = nu_svm(kernel, Z, nu=self._share("nu", len(Z)), tol=tol)
        return _Halfspace.of(kernel, Z, multipliers, boundary=0.0, rho=rho)


@dataclass(frozen=True)
class _Halfspace(Description):
    rho: float

    def losses(self, Z: Array) -> Array:
        return self.rho - self.similarity(Z)
