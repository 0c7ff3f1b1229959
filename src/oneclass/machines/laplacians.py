"""Graph Laplacians over the training rows, for the parameter `variance` of VOCKELM and VAAKELM."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_array

from ..base.checks import read_scaling
from ..core.scaling import ColumnMoments, Scaler
from ..core.typing import Labels, Rows

__all__ = ["knn_laplacian", "scatter_laplacian"]

Float = NDArray[np.float64]


def knn_laplacian(
    X: Rows, n_neighbors: int = 5, *, weights: str = "heat", normalized: bool = False, scale: str | bool = "robust"
) -> Float:
    """Laplacian ``L = D - W`` of the graph that connects every row to its nearest neighbors.

    Used as `variance`, it keeps the outputs of neighboring rows close to each other: ``b'F'LFb`` is the sum, over the
    edges, of the weight of the edge times the squared difference of the two outputs.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The training rows of the machine, in the same order.
    n_neighbors : int, default=5
        Number of neighbors. An edge connects two rows if either row is among the neighbors of the other.
    weights : {"heat", "binary"}, default="heat"
        Weight of an edge. ``"heat"`` is ``exp(-‖x - y‖² / (2 s²))``, where s is the mean length of the edges;
        ``"binary"`` is 1.
    normalized : bool, default=False
        Whether to return ``D^-1/2 L D^-1/2``, whose eigenvalues are at most 2.
    scale : {"robust", "zscore"} or False, default="robust"
        How features are scaled before distances are computed; see `VAAKELM`.

    Returns
    -------
    array of shape (n, n)
        Symmetric and positive semi-definite.

    Examples
    --------
    >>> from oneclass import VAAKELM, knn_laplacian
    >>> knn_laplacian([[0.0], [1.0], [5.0]], n_neighbors=1, weights="binary")
    array([[ 1., -1.,  0.],
           [-1.,  2., -1.],
           [ 0., -1.,  1.]])
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> VAAKELM(variance=knn_laplacian(X)).fit(X).predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    """
    rows = check_array(X, dtype=np.float64, ensure_min_samples=2)
    n = len(rows)
    if isinstance(n_neighbors, bool) or not isinstance(n_neighbors, int | np.integer) or not 1 <= n_neighbors < n:
        raise ValueError(
            f"knn_laplacian: n_neighbors must be a whole number from 1 to n - 1 = {n - 1}, got {n_neighbors!r}"
        )
    if weights not in ("heat", "binary"):
        raise ValueError(f"knn_laplacian: weights must be one of 'heat', 'binary'; got {weights!r}")
    scaling, w = read_scaling("knn_laplacian", scale), np.ones(n)
    Z = Scaler.of(scaling, ColumnMoments.of(rows, w), rows, w)(rows)
    lengths, nearest = NearestNeighbors(n_neighbors=n_neighbors).fit(Z).kneighbors()
    spread = float(lengths.mean())
    W = np.zeros((n, n))
    heat = weights == "heat" and spread > 0
    np.put_along_axis(W, nearest, np.exp(-0.5 * (lengths / spread) ** 2) if heat else 1.0, axis=1)
    W = np.maximum(W, W.T)
    degrees = W.sum(axis=1)
    L = np.diag(degrees) - W
    if normalized:
        # The weights of a row that is far from all others may underflow to zero; its degree is then zero.
        root = np.sqrt(np.where(degrees > 0, degrees, 1.0))
        L /= root[:, None] * root
    return L


def scatter_laplacian(labels: Labels, *, shares: str = "one") -> Float:
    """Laplacian of the scatter within groups of rows: ``sum_p w_p (I_p - 11'/n_p)``.

    The rows of a group deviate from the mean of the group.

    Parameters
    ----------
    labels : array-like of shape (n,)
        Group of each training row, as labels of any kind. If all rows are in one group, the scatter is that of
        principal component analysis.
    shares : {"one", "size"}, default="one"
        Weight w_p of a group of n_p rows. ``"one"`` is 1, as in the within-class scatter of linear discriminant
        analysis. ``"size"`` is ``n_p / n``, as in the paper and in ``variance="subclass"``.

    Returns
    -------
    array of shape (n, n)
        Symmetric and positive semi-definite.

    Examples
    --------
    >>> from oneclass import scatter_laplacian
    >>> scatter_laplacian(["a", "a", "b"])
    array([[ 0.5, -0.5,  0. ],
           [-0.5,  0.5,  0. ],
           [ 0. ,  0. ,  0. ]])
    """
    if shares not in ("one", "size"):
        raise ValueError(f"scatter_laplacian: shares must be one of 'one', 'size'; got {shares!r}")
    given = np.asarray(labels)
    if given.ndim != 1 or not len(given):
        raise ValueError(f"scatter_laplacian: labels must be one label a row, got shape {given.shape}")
    _, group, sizes = np.unique(given, return_inverse=True, return_counts=True)
    same = group[:, None] == group
    own: Float = np.eye(len(given)) - same / sizes[group]
    return own if shares == "one" else own * (sizes[group] / len(given))
