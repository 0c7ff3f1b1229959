"""VOCKELM: reject rows whose output of a low-variance kernel machine trained on a constant is off it."""

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
    """Reject rows whose output of a low-variance kernel machine trained on a constant is off it.

    Solves ``(K + MK/C + lam I/C) A = r 1`` ([1]_, eq. VOCKELM_betaK); a row is judged by ``(o(z) - r)²``.

    Parameters
    ----------
    C : float or {"auto", "likelihood"}, default=1.0
        Weight of the training error; larger fits the rows more closely. ``"auto"`` is one for every 64 rows, from 8
        to 32. ``"likelihood"`` takes the value from 2^-5 to 2^5 under which the rows are likeliest; it is nearly always
        the largest.
    lam : float, default=1.0
        Weight of the norm of the output weights. The variance term has weight 1/C and the norm lam/C: to weigh the
        variance w times as much, use ``C / w`` and ``lam / w``.
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
        False-alarm rate asked for: the share of normal rows that may be rejected. 0 accepts every training row
        (but not with ``threshold="mean"``, where it is a tolerance).
    threshold : {"held_out", "train", "authors", "mean"}, default="held_out"
        Where the decision sits: the (1 - delta) quantile of leave-one-out scores, which delivers the rate asked for;
        the paper's rule on training scores; the authors' released rule; or delta times the mean training
        output (VOCKELM_thresh).
    confidence : float in (0, 1), optional
        Chance with which this very model keeps `delta`. By default it is kept on average over training sets; a model
        that is to be sure of it rejects less.
    variance : {"subclass", "class", "none"} or matrix of shape (n, n), default="subclass"
        Variance to keep small: inside clusters of rows, inside the class, none, or any symmetric positive
        semi-definite Laplacian over the training rows (`knn_laplacian`, `scatter_laplacian`).
    n_clusters : int, default=5
        Clusters of the ``subclass`` variance (fewer if there are fewer distinct rows). The clustering is
        deterministic and does not depend on the order of rows.
    centering : {"own", "global"}, default="own"
        Mean from which a cluster's rows deviate: their own cluster's, the usual scatter; or that of all rows, which is
        what the paper prints (model_SV).
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
    cluster_labels_ : array of shape (n_samples,)
        Cluster of each training row, for the ``subclass`` variance.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The paper's machine is ``kernel="rbf", sigma="mean", scale="zscore", threshold="mean", centering="global"`` with C
    and `n_clusters` from a grid (or ``variance="class"``, its other variance).

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
    _thresholds: ClassVar = {**KernelMachine._thresholds, "mean": rules.paper}  # which looks at the mean output instead

    def __init__(
        self,
        *,
        C: float | str = 1.0,
        lam: float = 1.0,
        kernel: KernelChoice = "laplacian",
        sigma: float | str = "third",
        scale: str | bool = "robust",
        delta: float = 0.05,
        threshold: str = "held_out",
        confidence: float | None = None,
        variance: str | Array = "subclass",
        n_clusters: int = 5,
        centering: str = "own",
        r: float = 1.0,
        approximation: Approximation | str | None = "auto",
        device: Device | None = None,
        random_state: Seed = None,
    ) -> None:
        self.C = C
        self.lam = lam
        self.kernel = kernel
        self.sigma = sigma
        self.scale = scale
        self.delta = delta
        self.threshold = threshold
        self.confidence = confidence
        self.variance = variance
        self.n_clusters = n_clusters
        self.centering = centering
        self.r = r
        self.approximation = approximation
        self.device = device
        self.random_state = random_state
