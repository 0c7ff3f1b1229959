"""VOCKELM: reject rows for which a low-variance kernel machine, trained to output a constant, outputs another value."""

from __future__ import annotations

from typing import ClassVar, final

from ..base.kernels import KernelChoice
from ..core import threshold as rules
from ..core.approximation import Approximation
from ..core.arrays import Array
from ..core.typing import Device, Seed
from .kernel_machine import KernelMachine

__all__ = ["VOCKELM"]


@final
class VOCKELM(KernelMachine):
    """Reject rows for which a low-variance kernel machine, trained to output a constant, outputs another value.

    Solves ``(K + MK/C + lam I/C) A = r 1`` ([1]_, eq. VOCKELM_betaK). The loss of a row is ``(o(z) - r)²``.

    Parameters
    ----------
    {delta}
        With ``threshold="mean"``, `delta` is not a rate but a tolerance: see there.
    {confidence}
    {rate_by}
    {C}
    {kernel}
    {sigma}
    {scale}
    threshold : {"held_out", "train", "authors", "mean"}, default="held_out"
        How the threshold is chosen. ``"held_out"`` is the (1 - delta) quantile of the leave-one-out losses, which gives
        the requested false-alarm rate. ``"train"`` is the rule of the VAAKELM paper on the training losses,
        ``"authors"`` the rule of its authors' released code. ``"mean"`` is the paper's rule for this machine:
        `delta` times the mean output for training rows (VOCKELM_thresh).
    {approximation}
    {known_outliers}
    {variance}
    {n_clusters_of_variance}
    {centering}
    {lam}
    {r}
    {device}
    {random_state_of_features}

    Attributes
    ----------
    {offset_}
    {calibration_or_none_}
    {model_of_kernel_}
    {machine_}
    {known_}
    {scaler_and_kernel_of_machine_}
    {approximation_}
    {cluster_labels_}
    {n_features_in_}

    Notes
    -----
    The paper's machine is ``kernel="rbf", sigma="mean", scale="zscore", threshold="mean", centering="global"`` with C
    and `n_clusters` from a grid; ``variance="class"`` is the paper's other variance.

    References
    ----------
    .. [1] Mygdalis, Iosifidis, Tefas and Pitas (2016). One class classification applied in facial image analysis.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass import VOCKELM
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> VOCKELM(delta=0.05).fit(X).predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    """

    loss: ClassVar[str] = "squared"
    _thresholds: ClassVar = {**KernelMachine._thresholds, "mean": rules.paper}  # this rule uses the mean output

    def __init__(
        self,
        *,
        delta: float = 0.05,
        confidence: float | None = None,
        rate_by: str = "group",
        C: float | str = 1.0,
        kernel: KernelChoice = "laplacian",
        sigma: float | str = "third",
        scale: str | bool = "robust",
        threshold: str = "held_out",
        approximation: Approximation | str | None = "auto",
        known_outliers: str = "learn",
        variance: str | Array = "subclass",
        n_clusters: int = 5,
        centering: str = "own",
        lam: float = 1.0,
        r: float = 1.0,
        device: Device | None = None,
        random_state: Seed = None,
    ) -> None:
        self.delta = delta
        self.confidence = confidence
        self.rate_by = rate_by
        self.C = C
        self.kernel = kernel
        self.sigma = sigma
        self.scale = scale
        self.threshold = threshold
        self.approximation = approximation
        self.known_outliers = known_outliers
        self.variance = variance
        self.n_clusters = n_clusters
        self.centering = centering
        self.lam = lam
        self.r = r
        self.device = device
        self.random_state = random_state
