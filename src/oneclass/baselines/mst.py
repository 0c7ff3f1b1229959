"""MSTDetector: reject rows that are far from the minimum spanning tree of the training rows."""

from __future__ import annotations

from typing import ClassVar, final

import numpy as np

from ..core.arrays import Array
from ..estimators._input import check_integer
from ._neighbours import LOW
from ._patience import Slow
from ._rounding import Rounded
from ._tree import Segments, on_longest_paths, spanning_tree

__all__ = ["MSTDetector"]


@final
class MSTDetector(Slow, Rounded):
    """Reject rows that are far from the minimum spanning tree of the training rows.

    The target class lives around the rows and around the straight lines between neighbours [1]_: the loss is the
    distance to the nearest edge of the tree, ends included.

    Parameters
    ----------
    n_paths : int, default=0
        Keep only the edges on this many longest paths of the tree; 0 keeps the whole tree.
    scale : bool, default=True
        Whether to z-score the features first; constant ones are centred only.
    delta : float in [0, 1), default=0.05
        False-alarm rate asked for: the share of normal rows that may be rejected. 0 accepts every training row.
    threshold : {"loo", "train", "authors"}, default="loo"
        Where the decision sits: the (1 - delta) quantile of held-out losses (five folds), which delivers the rate
        asked for; dd_tools' rule, the (1 - delta) quantile of the lengths of the edges; the rule of the VAAKELM
        authors' released code, on the lengths of the edges too, since no training row is away from its own tree.

    Attributes
    ----------
    offset_ : float
        Threshold on `score_samples`.
    vertices_ : array of shape (n_vertices, n_features)
        Distinct training rows in z-scores.
    edges_ : array of shape (n_edges, 2)
        Vertices at the ends of the edges kept; a vertex without any has an edge to itself.
    lengths_ : array of shape (n_samples - 1,)
        Lengths of all edges of the tree, those of length zero between equal rows included, in ascending order.
    scaler_, n_features_in_, feature_names_in_
        Fitted scaling; as in scikit-learn.

    Notes
    -----
    No training row is away from its own tree. So that strays among them can be rejected, ``threshold="loo"`` leaves out
    of the whole tree the rows with no edge as short as the (1 - delta) quantile of the lengths; the held-out trees do
    so too. A row that was given more than once is no stray. ``threshold="train"`` keeps every row, as dd_tools does.

    References
    ----------
    .. [1] Juszczak, Tax, Pękalska and Duin (2009). Minimum spanning tree based one-class classifier.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass.baselines import MSTDetector
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> MSTDetector().fit(X).predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    """

    _instead: ClassVar = "KNNDetector, or fewer rows"

    def __init__(self, *, n_paths: int = 0, scale: bool = True, delta: float = 0.05, threshold: str = "loo") -> None:
        self.n_paths = n_paths
        self.scale = scale
        self.delta = delta
        self.threshold = threshold

    def _seconds(self, n: int, d: int) -> float:
        by_products, by_trees = 3e-8 * n**2, 5e-5 * n * 1.5**d
        return by_products if d > LOW else min(by_products, by_trees)

    def _learn(self, Z: Array) -> None:
        n_paths = check_integer(self, "n_paths", 0)
        self.vertices_, copies = np.unique(Z, axis=0, return_counts=True)
        if len(copies) == 1:  # an edge from the one row to itself
            self.edges_, self.lengths_ = np.zeros((1, 2), dtype=int), np.zeros(len(Z) - 1)
        else:
            self.edges_, lengths = spanning_tree(self.vertices_)
            self.lengths_ = np.concatenate([np.zeros(len(Z) - len(copies)), np.sort(lengths)])
            if n_paths:
                self.edges_ = self.edges_[on_longest_paths(self.edges_, lengths, n_paths)]
            elif self.threshold == "loo":
                self.edges_ = self._without_strays(lengths, copies)
        self._segments = Segments(*self.vertices_[self.edges_.T])

    def _without_strays(self, lengths: Array, copies: Array) -> Array:
        """The edges between rows that both have an edge of usual length; copies have one of length zero."""
        near = copies > 1
        near[self.edges_[lengths <= self._usual_length()]] = True
        kept = self.edges_[near[self.edges_].all(axis=1)]
        alone = np.setdiff1d(np.flatnonzero(near), kept)  # copies among strays: an edge to themselves
        return np.concatenate([kept, np.stack([alone, alone], axis=1)])

    def _judge(self, Z: Array) -> Array:
        return np.linalg.norm(self._beyond_rounding(self._segments.gaps(Z), Z), axis=1)

    def _threshold(self, losses: Array, w: Array) -> float:
        if self.threshold == "train":
            return self._usual_length()
        if self.threshold == "authors":
            return super()._threshold(self.lengths_, np.ones(len(self.lengths_)))
        return super()._threshold(losses, w)

    def _usual_length(self) -> float:
        """The (1 - delta) quantile of the lengths of the edges."""
        entry = int(np.floor(len(self.lengths_) * (1 - self.delta) + 0.5))
        return float(self.lengths_[max(entry, 1) - 1])
