"""OCRF: a random forest of targets against artificial outliers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeClassifier

from ..base.checks import check_integer, check_number
from ..base.seeds import random_of
from ..core import threshold as rules
from ..core.arrays import Array, bits, blocks
from ..core.outliers import OutlierGenerator
from ..core.typing import Seed
from ._base import Training
from ._slow import Slow

__all__ = ["OCRF"]


#: Rows in a leaf when losses need grades, and what the whole sample in a leaf without targets adds to its vote.
_GRADED_LEAF, _GRADE = 5, 1e-6


@dataclass(frozen=True)
class _Seen:
    """Which trees (rows of `by_tree`) were grown on which of the distinct training rows, which are sorted by `keys`."""

    keys: Array
    rows: Array
    by_tree: Array

    @classmethod
    def of(cls, Z: Array, bags: list[Array]) -> _Seen:
        rows, number = np.unique(Z, axis=0, return_inverse=True)
        by_tree = np.zeros((len(bags), len(rows)), dtype=bool)
        for row, bag in zip(by_tree, bags, strict=True):
            row[number.ravel()[bag]] = True
        keys = _keys(rows)
        order = keys.argsort()
        return cls(keys[order], rows[order], by_tree[:, order])

    def __call__(self, Z: Array) -> Array:
        """Whether each tree (row of the result) was grown on each row of `Z` (column)."""
        place = np.minimum(np.searchsorted(self.keys, _keys(Z)), len(self.keys) - 1)
        return self.by_tree[:, place] & (self.rows[place] == Z).all(axis=1)


def _keys(Z: Array) -> Array:
    """A whole number for each row, the same for equal rows and hardly ever for others."""
    factors = 2 * np.random.RandomState(0).randint(1 << 62, size=Z.shape[1] + 1, dtype=np.int64) + 1
    words = bits(Z) * factors[0]
    words ^= words >> 32  # simple numbers differ in few bits, all of them high
    return words @ factors[1:]


@dataclass(frozen=True)
class _Tree:
    """A grown tree as arrays over its nodes, the features it looks at and the rows it was grown on."""

    features: Array
    bag: Array
    split: Array  # the feature that a node compares with its threshold
    threshold: Array
    children: Array  # two a node: for values above the threshold, and for the others; a leaf's are itself
    share: Array  # of outliers
    depth: int

    @classmethod
    def of(cls, grown: Any, features: Array, bag: Array, grade: float = 0.0) -> _Tree:
        """The tree that scikit-learn has grown on these features of these rows."""
        share = grown.value[:, 0, 1]
        # Rows that all trees vote out would tie, and tie with held-out rows: the more of the sample, the further off.
        share = share + grade * (share == 1) * grown.weighted_n_node_samples / grown.weighted_n_node_samples[0]
        leaf, own = grown.children_left < 0, np.arange(grown.node_count)
        children = np.stack([grown.children_right, grown.children_left], axis=1)
        return cls(
            features=features,
            bag=bag,
            split=features[np.where(leaf, 0, grown.feature)],
            threshold=grown.threshold.copy(),
            children=np.where(leaf[:, None], own[:, None], children),
            share=share,
            depth=int(grown.max_depth),
        )

    def votes(self, rows: Array) -> Array:
        """For each row, in single precision as trees are grown, the share of outliers in its leaf."""
        values, first = rows.ravel(), np.arange(len(rows)) * rows.shape[1]
        children, node = self.children.ravel(), np.zeros(len(rows), dtype=int)
        for _ in range(self.depth):
            node = children[2 * node + (values[first + self.split[node]] <= self.threshold[node])]
        return self.share[node]


@final
class OCRF(Slow["_Forest"]):
    """Reject rows that trees, grown on targets and artificial outliers, vote out.

    Every tree [1]_ draws some features, a bootstrap sample of the targets and many times as many outliers: a value lies
    in a bin of the feature's histogram with a chance that falls with the targets in it. The loss is the share of the
    votes for outlier; a tree has no vote on a row that was in its own sample.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    enlargement : float in [1, inf), default=1.2
        Range in which outliers are drawn, as a multiple of the targets' (alpha in the paper).
    outlier_ratio : float in (0, inf), default=10
        Outliers drawn for each target (beta in the paper).
    max_features : int, default=10
        Features that a tree looks at, or all of them if there are fewer; each split looks at the square root of them.
    n_bins : int, default=50
        Bins of a feature's histogram.
    min_samples_leaf : int or None, default=None
        Rows in a leaf at least. 1 grows trees to the end, which is the original method; None does so for
        ``threshold="half"`` and takes 5 otherwise, since pure leaves leave too many losses tied at 1 for a quantile.
    {scale}
        Trees do not depend on the scale of a feature, except that they hold values in single precision.
    {delta_of_folds}
    threshold : {"held_out", "oob", "half", "train", "authors"}, default="held_out"
        Where the decision sits on out-of-bag losses: the (1 - delta) quantile, under either name, which delivers the
        rate asked for; half of the votes, the original method; dd_tools' rule; the rule of the VAAKELM authors'
        released code.
    {confidence}
    n_jobs : int or None, default=None
        Threads that grow and ask trees. The forest does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of features, samples, outliers and splits; None draws the same every time.

    Attributes
    ----------
    {offset_}
    {calibration_}
    generator_ : OutlierGenerator
        Histograms from which outliers are drawn.
    trees_ : list of n_estimators trees
        Each as arrays over its nodes, with the `features` that it looks at and its `bag`, the row numbers of its
        bootstrap sample.
    {training_rows_}
    {scaler_and_features_}

    Notes
    -----
    A split is the best one over the features it looks at, as in scikit-learn's trees; this is a deviation from the
    authors' own C++ program. Fitting takes time in proportion to ``n_estimators * outlier_ratio * n log n``.

    A tree's vote is the share of outliers in the leaf, 0 or 1 where leaves are pure. Rows that every tree has seen are
    judged by all. Except with ``threshold="half"``, a leaf without targets adds up to a millionth to its vote, by its
    share of the tree's sample: else the rows that all trees vote out, among them 3 to 5 % of held-out targets where
    these are thin and trees few (a ring, 60 trees), would tie, and none could be rejected for a smaller `delta`. Among
    them losses are a rough guide; it takes some 500 trees to have fewer.

    References
    ----------
    .. [1] Désir, Bernard, Petitjean and Heutte (2013). One class random forests.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass.baselines import OCRF
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> OCRF(random_state=0).fit(X).predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    """

    _thresholds: ClassVar = {**Slow._thresholds, "oob": rules.conformal, "half": lambda ranks, *, delta: 0.5}
    _held_out_thresholds: ClassVar = ("held_out", "oob")
    _minds_scale: ClassVar = False
    _published: ClassVar = ("generator", "trees", "rows")
    _instead: ClassVar = "fewer trees (n_estimators), fewer outliers (outlier_ratio) or KNNDetector"

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        enlargement: float = 1.2,
        outlier_ratio: float = 10,
        max_features: int = 10,
        n_bins: int = 50,
        min_samples_leaf: int | None = None,
        scale: str | bool = "zscore",
        delta: float = 0.05,
        threshold: str = "held_out",
        confidence: float | None = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.enlargement = enlargement
        self.outlier_ratio = outlier_ratio
        self.max_features = max_features
        self.n_bins = n_bins
        self.min_samples_leaf = min_samples_leaf
        self.scale = scale
        self.delta = delta
        self.threshold = threshold
        self.confidence = confidence
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _seconds(self, n: int, d: int) -> float:
        rows = n * (1 + check_number(self, "outlier_ratio", 0, np.inf))
        features = min(check_integer(self, "max_features", 1), d)
        return float(check_integer(self, "n_estimators", 1) * 8e-8 * features**0.5 * rows * np.log2(rows))

    def _learn(self, training: Training) -> _Forest:
        Z, enlargement = training.Z, check_number(self, "enlargement", 1, np.inf, closed_low=True)
        check_number(self, "outlier_ratio", 0, np.inf)
        check_integer(self, "max_features", 1)
        generator = OutlierGenerator.of(Z, enlargement=enlargement, n_bins=check_integer(self, "n_bins", 2))
        random = random_of(self.random_state)
        seeds = random.randint(np.iinfo(np.int32).max, size=check_integer(self, "n_estimators", 1))
        grow = delayed(self._grow)
        trees = _threads(self.n_jobs)(grow(Z, generator, self._leaf(), seed) for seed in seeds)
        return _Forest(generator, trees, Z, _Seen.of(Z, [tree.bag for tree in trees]), self.n_jobs)

    def _leaf(self) -> int:
        if self.min_samples_leaf is not None:
            return check_integer(self, "min_samples_leaf", 1)
        return 1 if self.threshold == "half" else _GRADED_LEAF

    def _grow(self, Z: Array, generator: OutlierGenerator, leaf: int, seed: int) -> _Tree:
        random = np.random.RandomState(seed)
        n, d = Z.shape
        features = random.choice(d, min(self.max_features, d), replace=False)
        bag = random.randint(n, size=n)
        outliers = generator.draw(max(1, round(self.outlier_ratio * n)), features, random)
        rows = np.concatenate([Z[np.ix_(bag, features)], outliers])
        is_outlier = np.repeat([False, True], [n, len(outliers)])
        model = DecisionTreeClassifier(
            criterion="entropy", max_features="sqrt", min_samples_leaf=leaf, random_state=random
        )
        grade = 0.0 if self.threshold == "half" else _GRADE
        return _Tree.of(model.fit(rows, is_outlier).tree_, features, bag, grade)

    def _held_out_losses(self, model: _Forest, training: Training) -> Array | None:
        """Votes of the trees that did not see the row, which are the only ones it ever gets."""
        return model.losses(training.Z) if training.groups is None else None


@dataclass(frozen=True)
class _Forest:
    generator: OutlierGenerator
    trees: list[_Tree]
    rows: Array
    seen: _Seen
    n_jobs: int | None

    @property
    def kept(self) -> Array:
        return self.rows

    def losses(self, Z: Array) -> Array:
        parts = blocks(len(Z), 4 * len(self.trees), Z, for_products=True)
        return np.concatenate([self._vote(Z[a:b]) for a, b in parts])

    def _vote(self, Z: Array) -> Array:
        largest = np.finfo(np.float32).max  # trees are in single precision, and only compare
        rows = np.clip(Z, -largest, largest).astype(np.float32)
        votes = _threads(self.n_jobs)(delayed(tree.votes)(rows) for tree in self.trees)
        allowed = ~self.seen(Z)
        allowed |= ~allowed.any(axis=0)  # seen by all trees: then all vote
        return (allowed * votes).sum(axis=0) / allowed.sum(axis=0)


def _threads(n_jobs: int | None) -> Parallel:
    return Parallel(n_jobs=n_jobs, prefer="threads", return_as="list")
