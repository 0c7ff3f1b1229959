"""MSTDetector: reject rows that are far from the minimum spanning tree of the training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, final

import numpy as np

from ..base.checks import check_integer
from ..core.arrays import Array
from ..core.stored import Floats, Whole
from ..core.threshold import Decision, Ranks
from ._base import Explained
from ._neighbors import LOW
from ._rounding import Rounding
from ._slow import Slow
from ._training import ExplainedModel, Training
from ._tree import Segments, on_longest_paths, spanning_tree

__all__ = ["MSTDetector"]


@final
class MSTDetector(Slow["_Tree"], Explained["_Tree"]):
    """Reject rows that are far from the minimum spanning tree of the training rows.

    The target class is assumed to lie near the training rows and the straight lines between neighbors [1]_. The loss is
    the distance to the nearest point on the edges of the tree.

    Parameters
    ----------
    {delta}
    {confidence}
    {rate_by}
    n_paths : int, default=0
        If positive, only the edges on the `n_paths` longest paths of the tree are used; 0 uses the whole tree.
    {scale}
    threshold : {"held_out", "train", "authors"}, default="held_out"
        How the threshold is chosen. ``"held_out"`` is the (1 - delta) quantile of the held-out losses of five folds,
        which gives the requested false-alarm rate. ``"train"`` is the rule of dd_tools, the (1 - delta) quantile of the
        lengths of the edges. ``"authors"`` is the rule of the VAAKELM authors' released code, applied to the lengths of
        the edges, because the losses of the training rows are zero. Only ``"held_out"`` computes the held-out losses
        that p-values and other values of `delta` need.
    {hold_out}

    Attributes
    ----------
    {offset_}
    {calibration_or_none_}
    vertices_ : array of shape (n_vertices, n_features)
        Distinct training rows, scaled.
    edges_ : array of shape (n_edges, 2)
        Numbers of the two vertices of each edge in use. A vertex without other edges may have an edge to itself.
    lengths_ : array of shape (n_samples - 1,)
        Lengths of all edges of the tree in ascending order, including zeros for edges between equal rows.
    {scaler_and_features_}

    Notes
    -----
    The distance from a training row to the tree is 0. With ``threshold="held_out"``, isolated rows are removed from the
    tree, so that they can be rejected. A row is isolated if all of its edges are longer than the (1 - delta) quantile
    of the edge lengths, and no other row is equal to it. The trees of the folds are treated in the same way.
    ``threshold="train"`` uses every row, as dd_tools does.

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
    model_: _Tree

    def __init__(
        self,
        *,
        delta: float = 0.05,
        confidence: float | None = None,
        rate_by: str = "group",
        n_paths: int = 0,
        scale: str | bool = "zscore",
        threshold: str = "held_out",
        hold_out: str | float = "auto",
    ) -> None:
        self.delta = delta
        self.confidence = confidence
        self.rate_by = rate_by
        self.n_paths = n_paths
        self.scale = scale
        self.threshold = threshold
        self.hold_out = hold_out

    def _seconds(self, n: int, d: int) -> float:
        by_products = 3e-8 * n**2
        return by_products if d > LOW else min(by_products, 5e-5 * n * 1.5**d)

    def _learn(self, training: Training) -> _Tree:
        Z, n_paths = training.Z, check_integer(self, "n_paths", 0)
        vertices, copies = np.unique(Z, axis=0, return_counts=True)
        if len(copies) == 1:  # an edge from the only row to itself
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
    vertices: Annotated[Array, Floats("_v d")]
    edges: Annotated[Array, Whole("_s 2", below="_v")]
    lengths: Annotated[Array, Floats("_l")]
    segments: Segments
    rounding: Rounding

    @property
    def kept(self) -> Array:
        return self.vertices

    def losses(self, Z: Array) -> Array:
        return np.linalg.norm(self._gaps(Z), axis=1)

    def contributions(self, Z: Array) -> Array:
        """The part of each feature in the distance, in proportion to its part in the squared distance."""
        gaps = self._gaps(Z)
        return gaps**2 / np.maximum(np.linalg.norm(gaps, axis=1, keepdims=True), np.finfo(float).tiny)

    def _gaps(self, Z: Array) -> Array:
        return self.rounding.beyond(self.segments.gaps(Z), Z)


def _without_strays(edges: Array, usual: Array, copies: Array) -> Array:
    """The edges between rows that both have an edge of `usual` length, or copies."""
    near = copies > 1
    near[edges[usual]] = True
    kept = edges[near[edges].all(axis=1)]
    alone = np.setdiff1d(
        np.flatnonzero(near), kept
    )  # rows with copies but without such edges get an edge to themselves
    return np.concatenate([kept, np.stack([alone, alone], axis=1)])
