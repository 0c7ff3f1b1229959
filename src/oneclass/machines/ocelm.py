"""OCELM: reject rows whose output of a random hidden layer trained on a constant is off it."""

from __future__ import annotations

from typing import ClassVar, final

from ..core.typing import Device, Seed
from .hidden_layer import HiddenLayerMachine

__all__ = ["OCELM"]


@final
class OCELM(HiddenLayerMachine):
    """Reject rows whose output of a random hidden layer trained on a constant is off it.

    The machine that `OCKELM` replaced the hidden layer of: units ``H = g(ZW + b)`` are drawn, and only their output
    weights are trained, ``(H'H + I/C) B = r H'1`` ([1]_); a row is judged by ``|o(z) - r|``.

    Parameters
    ----------
    {C_of_hidden_layer}
    {n_hidden}
    {activation_of_hidden_layer}
    {scale}
    {delta}
    {threshold_of_machine}
    {confidence}
    {r}
    {device}
    {random_state_of_hidden_layer}

    Attributes
    ----------
    {offset_}
    {calibration_or_none_}
    {model_of_hidden_layer_}
    {machine_}
    {scaler_of_hidden_layer_}
    {n_features_in_}

    Notes
    -----
    Units saturate: far from all rows the outputs are those of some direction, not zero as with a kernel, so a far row
    need not be the strangest one.

    References
    ----------
    .. [1] Leng, Qi, Miao, Zhu and Su (2015). One-class classification with extreme learning machine.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass import OCELM
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> OCELM(delta=0.05).fit(X).predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    """

    loss: ClassVar[str] = "absolute"

    def __init__(
        self,
        *,
        C: float = 1000.0,
        n_hidden: int = 200,
        activation: str = "sigmoid",
        scale: str | bool = "robust",
        delta: float = 0.05,
        threshold: str = "held_out",
        confidence: float | None = None,
        r: float = 1.0,
        device: Device | None = None,
        random_state: Seed = None,
    ) -> None:
        self.C = C
        self.n_hidden = n_hidden
        self.activation = activation
        self.scale = scale
        self.delta = delta
        self.threshold = threshold
        self.confidence = confidence
        self.r = r
        self.device = device
        self.random_state = random_state
