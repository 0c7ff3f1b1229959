"""AAELM: reject rows that an autoencoder with a random hidden layer cannot rebuild."""

from __future__ import annotations

from typing import final

from ..core.typing import Device, Seed
from .hidden_layer import HiddenLayerMachine
from .kernel_machine import AutoAssociative

__all__ = ["AAELM"]


@final
class AAELM(HiddenLayerMachine, AutoAssociative):
    """Reject rows that an autoencoder with a random hidden layer cannot rebuild.

    The auto-associative twin of `OCELM`: units ``H = g(ZW + b)`` are drawn, and only their output weights are trained,
    ``(H'H + I/C) B = H'Z`` ([1]_); a row is judged by ``‖z - o(z)‖²`` and by how little is
    known around it (`loss`).

    Parameters
    ----------
    C : float, default=1.0
        Weight of the training error; larger fits the rows more closely. The original is 1e8.
    n_hidden : int, default=200
        Number of hidden units. Time grows with its square and the number of rows.
    activation : {"sigmoid", "tanh"}, default="sigmoid"
        What a unit makes of its input.
    loss : {"reconstruction", "uncertainty", "predictive"}, default="predictive"
        What makes a row strange: it is rebuilt badly (the original); the machine knows little around it; or both, the
        squared error to expect of it.
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
        Held-out losses of the training rows, behind thresholds and p-values; None if the threshold needed none
        and they would have cost time (docs/calibration.md).
    model_ : fitted model
        Weights and biases of the hidden layer (``model_.map``) and the output weights B (``model_.weights``).
    machine_ : Machine
        The whole fit as one frozen value: recipe, scaling, model.
    scaler_, C_, signal_
        Fitted scaling, C in use and variance of the targets.
    n_features_in_, feature_names_in_
        As in scikit-learn.

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
        C: float = 1.0,
        n_hidden: int = 200,
        activation: str = "sigmoid",
        loss: str = "predictive",
        scale: str | bool = "robust",
        delta: float = 0.05,
        threshold: str = "held_out",
        confidence: float | None = None,
        device: Device | None = None,
        random_state: Seed = None,
    ) -> None:
        self.C = C
        self.n_hidden = n_hidden
        self.activation = activation
        self.loss = loss
        self.scale = scale
        self.delta = delta
        self.threshold = threshold
        self.confidence = confidence
        self.device = device
        self.random_state = random_state
