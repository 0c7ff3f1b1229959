"""OCELM: reject rows for which a random hidden layer, trained to output a constant, outputs another value."""

from __future__ import annotations

from typing import ClassVar, final

from ..core.typing import Device, Seed
from .hidden_layer import HiddenLayerMachine

__all__ = ["OCELM"]


@final
class OCELM(HiddenLayerMachine):
    """Reject rows for which a random hidden layer, trained to output a constant, outputs another value.

    The predecessor of `OCKELM`, which has a kernel instead of the hidden layer. The weights of the hidden units
    ``H = g(ZW + b)`` are random. Only the output weights are trained: ``(H'H + I/C) B = r H'1`` ([1]_). The loss of a
    row is ``|o(z) - r|``.

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
    Hidden units saturate. Far from all training rows, the output depends on the direction only; it is not zero, as with
    a kernel. A row that is farther away therefore need not have a larger loss.

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
