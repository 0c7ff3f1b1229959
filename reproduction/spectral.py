"""The kernel machines' whole grid from one eigendecomposition per embedding: every C cheap, every delta free."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oneclass.core import clusters, threshold
from oneclass.core.bandwidth import bandwidth
from oneclass.core.embedding import Embedding, NoVariance, WithinVariance
from oneclass.core.kernels import RBF
from oneclass.core.scaling import ColumnMoments, Scaler
from oneclass.core.spectrum import Spectrum

from .selection import CS, DELTAS, KS
from .splitting import Fold

__all__ = ["axes", "decisions"]

Float = NDArray[np.float64]
Bool = NDArray[np.bool_]


def axes(method: str) -> dict[str, tuple[Any, ...]]:
    """Parameters of a kernel machine and their values, in the order of the axes of `decisions`.

    Parameters
    ----------
    method : str
        Name of a kernel machine.

    Returns
    -------
    dict of str to tuple

    Examples
    --------
    >>> list(axes("AAKELM")), list(axes("VAAKELM"))
    (['C', 'delta'], ['C', 'n_clusters', 'delta'])
    """
    return {"C": CS, **({"n_clusters": KS} if method.startswith("V") else {}), "delta": DELTAS}


def decisions(fold: Fold, method: str) -> Bool:
    """Decisions of the paper's machine on the rows of a fold, for every point of its grid.

    The same as fitting the estimator at every point with the settings that `METHODS` fixes for it.

    Parameters
    ----------
    fold : Fold
        Targets to train on and rows to judge.
    method : str
        Name of a kernel machine.

    Returns
    -------
    bool array
        Of the grid's shape, then one axis over the rows.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(30, 2))
    >>> decisions(Fold(rows[:20], rows[20:], np.ones(10, dtype=int)), "OCKELM").shape
    (11, 3, 10)
    """
    w = np.ones(len(fold.train))
    scaler = Scaler.of(ColumnMoments.of(fold.train, w))
    train, rows = scaler(fold.train), scaler(fold.rows)
    kernel = RBF(bandwidth("mean", RBF(), train, w))
    K, K_rows = kernel(train, train), kernel(rows, train)
    rebuild = method.endswith("AAKELM")
    T, targets = (train, rows) if rebuild else (np.ones((len(train), 1)), np.ones((len(rows), 1)))
    grid = []
    for embedding in _embeddings(train, w) if method.startswith("V") else [NoVariance()]:
        spectrum = Spectrum.of(K, T, w, embedding, lam=1.0)
        grid.append([_decide(spectrum, K_rows, targets, C, mean_rule=method == "VOCKELM") for C in CS])
    out = np.swapaxes(np.array(grid), 0, 1)
    return out if method.startswith("V") else out[:, 0]


def _embeddings(train: Float, w: Float) -> Iterator[Embedding]:
    for k in KS:
        centres = clusters.kmeans(train, w, k)
        membership = clusters.one_hot(clusters.assign(train, centres), centres.shape[0], train)
        yield WithinVariance(membership[:, membership.sum(axis=0) > 0])


def _decide(spectrum: Spectrum, K_rows: Float, targets: Float, C: float, *, mean_rule: bool) -> Bool:
    """Decisions for one C and every delta."""
    known = spectrum.rows(C=C).residuals
    losses = ((targets - K_rows @ spectrum.weights(C=C)) ** 2).sum(axis=1)
    w = np.ones(len(known))
    if mean_rule:
        level = abs(float(1 - known.mean()))
        limits = [delta * level for delta in DELTAS]
    else:
        squares = (known**2).sum(axis=1)
        limits = [threshold.paper(squares, w, delta=delta) for delta in DELTAS]
    accepted: Bool = losses <= np.array(limits)[:, None]
    return accepted
