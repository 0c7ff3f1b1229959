"""VAAKELM: reject rows that a low-variance kernel autoencoder reconstructs badly."""

from __future__ import annotations

from typing import final

from ..base.kernels import KernelChoice
from ..core.approximation import Approximation
from ..core.arrays import Array
from ..core.typing import Device, Seed
from .kernel_machine import AutoAssociative

__all__ = ["VAAKELM"]


@final
class VAAKELM(AutoAssociative):
    """Reject rows that a low-variance kernel autoencoder reconstructs badly.

    Solves ``(K + MK/C + lam I/C) A = X`` ([1]_). The loss of a row combines the squared error
    ``‖z - o(z)‖²`` and the machine's variance at the row (see `loss`).

    Parameters
    ----------
    {delta}
    {confidence}
    {rate_by}
    {C}
    {kernel}
    {sigma}
    {loss}
    {scale}
    {threshold_of_machine}
    {approximation}
    {known_outliers}
    {variance}
    {n_clusters_of_variance}
    {centering}
    {lam}
    {device}
    {random_state_of_features}

    Attributes
    ----------
    {offset_}
    {calibration_if_quick_}
    {model_of_kernel_}
        {factor_of_model_}
    {machine_}
    {known_}
    {scaler_and_kernel_of_machine_}
    {approximation_}
    {cluster_labels_}
    {n_features_in_}

    Notes
    -----
    The paper's machine is ``kernel="rbf", sigma="mean", scale="zscore", loss="reconstruction", threshold="train",
    centering="global"`` with C and `n_clusters` from a grid; ``variance="class"`` is the paper's other variance. The
    defaults here differ because they measured better (docs/defaults.md). ``kernel="precomputed"`` needs
    ``loss="reconstruction"``. The machine then reconstructs the kernel values between a row and the training rows,
    because it does not have the features of the row.

    References
    ----------
    .. [1] Mishra, Gautam and Tiwari (2020). Minimum variance embedded auto-associative kernel extreme learning machine
           for one-class classification.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass import VAAKELM
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> VAAKELM(delta=0.05).fit(X).predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    """

    def __init__(
        self,
        *,
        delta: float = 0.05,
        confidence: float | None = None,
        rate_by: str = "group",
        C: float | str = "auto",
        kernel: KernelChoice = "laplacian",
        sigma: float | str = "mean",
        loss: str = "predictive",
        scale: str | bool = "robust",
        threshold: str = "held_out",
        approximation: Approximation | str | None = "auto",
        known_outliers: str = "learn",
        variance: str | Array = "subclass",
        n_clusters: int = 5,
        centering: str = "own",
        lam: float = 1.0,
        device: Device | None = None,
        random_state: Seed = None,
    ) -> None:
        self.delta = delta
        self.confidence = confidence
        self.rate_by = rate_by
        self.C = C
        self.kernel = kernel
        self.sigma = sigma
        self.loss = loss
        self.scale = scale
        self.threshold = threshold
        self.approximation = approximation
        self.known_outliers = known_outliers
        self.variance = variance
        self.n_clusters = n_clusters
        self.centering = centering
        self.lam = lam
        self.device = device
        self.random_state = random_state
