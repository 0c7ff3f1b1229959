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
    C : float, default=1000.0
        Weight of the training error; larger fits the rows more closely. The original is 1e8.
    n_hidden : int, default=200
        Number of hidden units. Time grows with its square and the number of rows.
    activation : {"sigmoid", "tanh"}, default="sigmoid"
        What a unit makes of its input.
    scale : {"robust", "zscore"} or False, default="robust"
        How features are made comparable: ``asinh((x - median) / s)`` with s the distance of the outer deciles in
        deviations of a normal distribution, so that no row moves the scale of others and far values are tamed; as
        z-scores; or not at all. Constant features are centred only.
    delta : float in [0, 1), default=0.05
        False-alarm rate asked for: the share of normal rows that may be rejected. 0 accepts every training row.
    threshold : {"held_out", "train", "authors"}, default="held_out"
        Where the decision sits: the (1 - delta) quantile of leave-one-out scores, which delivers the rate asked for;
        the paper's rule on training scores; the authors' released rule.
    confidence : float in (0, 1), optional
        Chance with which this very model keeps `delta`. By default it is kept on average over training sets; a model
        that is to be sure of it rejects less.
    r : float, default=1.0
        Output that normal rows should have; not 0.
    device : str or device, default=None
        Where to compute, for rows given as NumPy arrays or tables: for example ``"cuda"`` (needs PyTorch). Arrays of
        PyTorch or CuPy are computed where they are.
    random_state : int, RandomState instance or None, default=None
        Seed of the hidden units; None draws the same every time.

    Attributes
    ----------
    offset_ : float
        Threshold on `score_samples`.
    calibration_ : Calibration or None
        Held-out losses of the training rows, behind thresholds and p-values; None if the threshold needed none.
    model_ : fitted model
        Weights and biases of the hidden layer (``model_.map``) and the output weights B (``model_.weights``).
    machine_ : Machine
        The whole fit as one frozen value: recipe, scaling, model.
    scaler_, C_, signal_
        Fitted scaling, C in use and variance of the targets.
    n_features_in_, feature_names_in_
        As in scikit-learn.

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
