"""OCKELM: reject rows whose output of a kernel machine trained on a constant is off it."""

from __future__ import annotations

from typing import ClassVar, final

from ..base.kernels import KernelChoice
from ..core.approximation import Approximation
from ..core.typing import Device, Seed
from .kernel_machine import KernelMachine

__all__ = ["OCKELM"]


@final
class OCKELM(KernelMachine):
    """Reject rows whose output of a kernel machine trained on a constant is off it.

    Solves ``(K + I/C) A = r 1`` ([1]_, eq. OCKELM_betaK); a row is judged by ``|o(z) - r|``.

    Parameters
    ----------
    C : float or {"auto", "likelihood"}, default=1.0
        Weight of the training error; larger fits the rows more closely. ``"auto"`` is one for every 64 rows, from 8
        to 32. ``"likelihood"`` takes the value from 2^-5 to 2^5 under which the rows are likeliest; it is nearly always
        the largest.
    kernel : {"rbf", "laplacian", "polynomial", "linear", "precomputed"}, kernel or callable, default="laplacian"
        Similarity of two rows: a name, a kernel of the library such as ``RBF(sigma=2.0)``, or a callable ``k(X, Y)``.
    sigma : float or {"local", "likelihood", "mean", "third", "rms", "median"}, default="third"
        Bandwidth of a radial kernel given by name: a number; the bandwidth under which the rows are likeliest to
        rebuild themselves (judged by 500 of them when there are more), with ``"local"`` among those of at most five
        distances between nearest neighbors or half the mean distance; the mean distance between rows (the paper), or
        a third of it; the authors' released code; or the median distance.
    scale : {"robust", "zscore"} or False, default="robust"
        How features are made comparable: ``asinh((x - median) / s)`` with s the distance of the outer deciles in
        deviations of a normal distribution, so that no row moves the scale of others and far values are tamed; as
        z-scores (the paper); or not at all. Constant features are centred only.
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
    approximation : "auto", None, Nystrom or Fourier, default="auto"
        ``"auto"`` fits exactly up to 2,000 rows (30,000 on a GPU) if there is memory for it, and by ``Nystrom(1000)``
        beyond, wherever the rows are. None fits all rows in memory exactly, in time n³ and memory n²; for chunks and
        Dask collections it is ``"auto"``. ``Nystrom(m)`` and ``Fourier(m)`` fit any number of rows in time n m² and
        memory m², beside the losses that are kept: a few numbers for each row in memory, and for each of at most a
        million of chunks and Dask collections.
    device : str or device, default=None
        Where to compute, for rows given as NumPy arrays or tables: for example ``"cuda"`` (needs PyTorch). Arrays of
        PyTorch or CuPy are computed where they are.
    random_state : int, RandomState instance or None, default=None
        Seed of landmarks and random features; None draws the same every time. An exact fit draws nothing.

    Attributes
    ----------
    offset_ : float
        Threshold on `score_samples`.
    calibration_ : Calibration or None
        Held-out losses of the training rows, behind thresholds and p-values; None if the threshold needed none.
    model_ : fitted model
        Of an exact fit, scaled training rows (``model_.rows``) and output weights A (``model_.weights``); of an
        approximated one, the feature map (``model_.map``) and the weights of the features.
    machine_ : Machine
        The whole fit as one frozen value: recipe, scaling, kernel, model.
    scaler_, kernel_, sigma_, C_, signal_
        Fitted scaling, kernel, (for radial kernels) bandwidth, C in use and variance of the targets.
    approximation_ : None, Nystrom or Fourier
        How the machine was fitted.
    n_features_in_, feature_names_in_
        As in scikit-learn.

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
        C: float | str = 1.0,
        kernel: KernelChoice = "laplacian",
        sigma: float | str = "third",
        scale: str | bool = "robust",
        delta: float = 0.05,
        threshold: str = "held_out",
        confidence: float | None = None,
        r: float = 1.0,
        approximation: Approximation | str | None = "auto",
        device: Device | None = None,
        random_state: Seed = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.sigma = sigma
        self.scale = scale
        self.delta = delta
        self.threshold = threshold
        self.confidence = confidence
        self.r = r
        self.approximation = approximation
        self.device = device
        self.random_state = random_state
