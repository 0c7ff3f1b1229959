"""AAELM: reject rows that an autoencoder with a random hidden layer reconstructs badly."""

from __future__ import annotations

from typing import final

from ..core.typing import Device, Seed
from .hidden_layer import HiddenLayerMachine
from .kernel_machine import AutoAssociative

__all__ = ["AAELM"]


@final
class AAELM(HiddenLayerMachine, AutoAssociative):
    """Reject rows that an autoencoder with a random hidden layer reconstructs badly.

    The auto-associative variant of `OCELM`. The weights of the hidden units ``H = g(ZW + b)`` are random. Only the
    output weights are trained: ``(H'H + I/C) B = H'Z`` ([1]_). The loss of a row combines the squared error
    ``‖z - o(z)‖²`` and the machine's variance at the row (see `loss`).

    Parameters
    ----------
    {delta}
    {confidence}
    {rate_by}
    {C_of_hidden_layer}
    {n_hidden}
    {loss}
    {scale}
    {threshold_of_machine}
    {activation_of_hidden_layer}
    {device}
    {random_state_of_hidden_layer}

    Attributes
    ----------
    {offset_}
    {calibration_if_quick_}
    {model_of_hidden_layer_}
    {machine_}
    {scaler_of_hidden_layer_}
    {n_features_in_}

    References
    ----------
    .. [1] Gautam, Tiwari and Leng (2017). On the construction of extreme learning machine for online and offline
           one-class classification: an expanded toolbox.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass import AAELM
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> AAELM(delta=0.05).fit(X).predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    """

    def __init__(
        self,
        *,
        delta: float = 0.05,
        confidence: float | None = None,
        rate_by: str = "group",
        C: float = 1.0,
        n_hidden: int = 200,
        loss: str = "predictive",
        scale: str | bool = "robust",
        threshold: str = "held_out",
        activation: str = "sigmoid",
        device: Device | None = None,
        random_state: Seed = None,
    ) -> None:
        self.delta = delta
        self.confidence = confidence
        self.rate_by = rate_by
        self.C = C
        self.n_hidden = n_hidden
        self.loss = loss
        self.scale = scale
        self.threshold = threshold
        self.activation = activation
        self.device = device
        self.random_state = random_state
