"""OCELM: reject rows for which a random hidden layer, trained to output a constant, outputs another value."""

from __future__ import annotations

from typing import ClassVar, final

from ..base.checks import ChoiceError
from ..base.warnings import FewRowsWarning, warn
from ..core.typing import Device, Seed
from .hidden_layer import HiddenLayerMachine

__all__ = ["OCELM"]

#: Fewest rows for each hidden unit for a `confidence`. With 20 columns and 1, 2 and 4 rows to a unit, the rate of one
#: model varied 4.4, 2.2 and 1.0 times as much as the Beta distribution of its rate says (25 fits of normal rows).
_ROWS_OF_A_UNIT = 4
#: Rows for each hidden unit between which the equations are nearly singular, and the mean rate is too high: 8 to 28 %
#: for 10 % asked, and 6 to 14 % outside (50 and 200 units, 10 to 200 columns, means of 25 fits of normal rows).
_SINGULAR = (0.7, 1.15)


@final
class OCELM(HiddenLayerMachine):
    """Reject rows for which a random hidden layer, trained to output a constant, outputs another value.

    The predecessor of `OCKELM`, which has a kernel instead of the hidden layer. The weights of the hidden units
    ``H = g(ZW + b)`` are random. Only the output weights are trained: ``(H'H + I/C) B = r H'1`` ([1]_). The loss of a
    row is ``|o(z) - r|``.

    Parameters
    ----------
    {delta}
    {confidence}
    {rate_by}
    {C_of_hidden_layer}
    {n_hidden}
    {scale}
    {threshold_of_machine}
    {activation_of_hidden_layer}
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
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> OCELM(delta=0.05).fit(X).predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    """

    loss: ClassVar[str] = "absolute"

    def __init__(
        self,
        *,
        delta: float = 0.05,
        confidence: float | None = None,
        rate_by: str = "group",
        C: float = 1000.0,
        n_hidden: int = 200,
        scale: str | bool = "robust",
        threshold: str = "held_out",
        activation: str = "sigmoid",
        r: float = 1.0,
        device: Device | None = None,
        random_state: Seed = None,
    ) -> None:
        self.delta = delta
        self.confidence = confidence
        self.rate_by = rate_by
        self.C = C
        self.n_hidden = n_hidden
        self.scale = scale
        self.threshold = threshold
        self.activation = activation
        self.r = r
        self.device = device
        self.random_state = random_state

    def _is_unstable(self, n: float) -> bool:
        return n < _ROWS_OF_A_UNIT * self.n_hidden

    def _check_count(self, n: int) -> None:
        super()._check_count(n)
        if self.confidence is not None and self._is_unstable(n):
            raise ChoiceError(
                f"{self._name}: confidence must be None for fewer than {_ROWS_OF_A_UNIT} n_hidden = "
                f"{_ROWS_OF_A_UNIT * self.n_hidden} rows, whose leave-one-out losses are unstable (n={n}), got "
                f"{self.confidence!r}; use fewer hidden units, or give confidence to Calibrated(OCELM(), "
                "hold_out='split')"
            )
        low, high = (share * self.n_hidden for share in _SINGULAR)
        if self.threshold == "held_out" and low <= n <= high:
            warn(
                f"{self._name}: n={n} rows are about as many as n_hidden={self.n_hidden}, so that the false-alarm rate "
                "may be twice delta; use at most half as many hidden units, or Calibrated(OCELM())",
                FewRowsWarning,
            )
