"""OCKELM: reject rows for which a kernel machine, trained to output a constant, outputs another value."""

from __future__ import annotations

from typing import ClassVar, final

from ..base.kernels import KernelChoice
from ..core.approximation import Approximation
from ..core.typing import Device, Seed
from .kernel_machine import KernelMachine

__all__ = ["OCKELM"]


@final
class OCKELM(KernelMachine):
    """Reject rows for which a kernel machine, trained to output a constant, outputs another value.

    Solves ``(K + I/C) A = r 1`` ([1]_, eq. OCKELM_betaK). The loss of a row is ``|o(z) - r|``.

    Parameters
    ----------
    {delta}
    {confidence}
    {rate_by}
    {C}
    {kernel}
    {sigma}
    {scale}
    {threshold_of_machine}
    {approximation}
    {known_outliers}
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
    {n_features_in_}

    References
    ----------
    .. [1] Leng, Qi, Miao, Zhu and Su (2015). One-class classification with extreme learning machine.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass import OCKELM
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> OCKELM(delta=0.05).fit(X).predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    """

    loss: ClassVar[str] = "absolute"

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
        self.r = r
        self.device = device
        self.random_state = random_state
