"""MSTDetector: reject rows that are far from the minimum spanning tree of the training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from ..base.checks import check_integer
from ..core.arrays import Array
from ..core.threshold import Decision, Ranks
from ._base import Explained, ExplainedModel, Training
from ._neighbors import LOW
from ._rounding import Rounding
from ._slow import Slow
from ._tree import Segments, on_longest_paths, spanning_tree

__all__ = ["MSTDetector"]


@final
class MSTDetector(Slow["_Tree"], Explained["_Tree"]):
    """Reject rows that are far from the minimum spanning tree of the training rows.

    The target class lives around the rows and around the straight lines between neighbors [1]_: the loss is the
    distance to the nearest edge of the tree, ends included.

    Parameters
    ----------
    n_paths : int, default=0
        Keep only the edges on this many longest paths of the tree; 0 keeps the whole tree.
    {scale}
    {delta}
    threshold : {"held_out", "train", "authors"}, default="held_out"
        Where the decision sits: the (1 - delta) quantile of held-out losses (five folds), which delivers the rate
        asked for; dd_tools' rule, the (1 - delta) quantile of the lengths of the edges; the rule of the VAAKELM
        authors' released code, on the lengths of the edges too, since no training row is away from its own tree. Only
        the first has the held-out losses that p-values and other budgets need.
    {confidence}

    Attributes
    ----------
    {offset_}
    {calibration_or_none_}
    vertices_ : array of shape (n_vertices, n_features)
        Distinct training rows in z-scores.
    edges_ : array of shape (n_edges, 2)
        Vertices at the ends of the edges kept; a vertex without any has an edge to itself.
    lengths_ : array of shape (n_samples - 1,)
        Lengths of all edges of the tree, those of length zero between equal rows included, in ascending order.
    {scaler_and_features_}

    Notes
    -----
    The distance of a training row to its own tree is 0. To be able to reject isolated training rows,
    ``threshold="held_out"`` removes from the tree the rows without an edge as short as the (1 - delta) quantile of the
    edge lengths; the held-out trees do the same. A row that was given more than once is not
    isolated. ``threshold="train"`` keeps every row, as dd_tools does.

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
    _published: ClassVar = ("vertices", "edges", "lengths")

    def __init__(
        self,
        *,
        n_paths: int = 0,
        scale: str | bool = "zscore",
        delta: float = 0.05,
        threshold: str = "held_out",
        confidence: float | None = None,
    ) -> None:
        self.n_paths = n_paths
        self.scale = scale
        self.delta = delta
        self.threshold = threshold
        self.confidence = confidence

    def _seconds(self, n: int, d: int) -> float:
        by_products, by_trees = 3e-8 * n**2, 5e-5 * n * 1.5**d
        return by_products if d > LOW else min(by_products, by_trees)

    def _learn(self, training: Training) -> _Tree:
        Z, n_paths = training.Z, check_integer(self, "n_paths", 0)
        vertices, copies = np.unique(Z, axis=0, return_counts=True)
        if len(copies) == 1:  # an edge from the one row to itself
            edges, lengths = np.zeros((1, 2), dtype=int), np.zeros(len(Z) - 1)
        else:
            edges, own = spanning_tree(vertices)
            lengths = np.concatenate([np.zeros(len(Z) - len(copies)), np.sort(own)])
            if n_paths:
                edges = edges[on_longest_paths(edges, own, n_paths)]
            elif self.threshold == "held_out":
                edges = _without_strays(edges, own <= _usual_length(lengths, self.delta), copies)
        return _Tree(vertices, edges, lengths, Segments(*vertices[edges.T]), training.rounding)

    def _threshold(self, model: _Tree, ranks: Ranks, decision: Decision) -> float:
        if decision.rule == "train":
            return _usual_length(model.lengths, decision.delta)
        if decision.rule == "authors":
            ranks = Ranks.of(model.lengths, np.ones(len(model.lengths)))
        return super()._threshold(model, ranks, decision)


def _usual_length(lengths: Array, delta: float) -> float:
    """The (1 - delta) quantile of the lengths of the edges."""
    entry = int(np.floor(len(lengths) * (1 - delta) + 0.5))
    return float(lengths[max(entry, 1) - 1])


@dataclass(frozen=True)
class _Tree(ExplainedModel):
    vertices: Array
    edges: Array
    lengths: Array
    segments: Segments
    rounding: Rounding

    @property
    def kept(self) -> Array:
        return self.vertices

    def losses(self, Z: Array) -> Array:
        return np.linalg.norm(self._gaps(Z), axis=1)

    def contributions(self, Z: Array) -> Array:
        """The squared distance is a sum over features; these parts of the distance itself are as large beside it."""
        gaps = self._gaps(Z)
        return gaps**2 / np.maximum(np.linalg.norm(gaps, axis=1, keepdims=True), np.finfo(float).tiny)

    def expected(self, Z: Array) -> Array:
        return Z - self._gaps(Z)

    def _gaps(self, Z: Array) -> Array:
        return self.rounding.beyond(self.segments.gaps(Z), Z)


def _without_strays(edges: Array, usual: Array, copies: Array) -> Array:
    """The edges between rows that both have an edge of `usual` length; copies have one of length zero."""
    near = copies > 1
    near[edges[usual]] = True
    kept = edges[near[edges].all(axis=1)]
    alone = np.setdiff1d(np.flatnonzero(near), kept)  # copies among strays: an edge to themselves
    return np.concatenate([kept, np.stack([alone, alone], axis=1)])
