"""OCRF: reject rows that a random forest classifies as artificial outliers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, final

import numpy as np
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeClassifier

from ..base.checks import check_integer, check_number
from ..base.seeds import random_of
from ..core import threshold as rules
from ..core.arrays import Array, bits, blocks
from ..core.outliers import OutlierGenerator
from ..core.scaling import Scaler
from ..core.stored import Count, Flags, Floats, Jobs, Length, Whole, must
from ..core.typing import Seed
from ._slow import Slow
from ._training import Training

__all__ = ["OCRF"]


#: Smallest number of rows in a leaf, unless the threshold is half of the votes: pure leaves give too many equal losses.
_MIN_LEAF_ROWS = 5

#: Largest amount added to the vote of a leaf without targets, in proportion to its share of the rows, to avoid ties.
_TIE_BREAKER = 1e-6

#: How many half ranges of the artificial outliers a value may be away from their middle before its row is an outlier
#: whatever the trees vote. So far out even columns with Cauchy tails have normal values in one row of 1,000 n at most.
_FAR = 1e3

#: Bounds of what a user may ask for: more outliers to a row take hours or do not fit into memory, and in a wider range
#: hardly an outlier is near a row.
_MOST_OUTLIERS, _WIDEST = 1e3, 1e6


@dataclass(frozen=True)
class _Seen:
    """For each tree (rows of `by_tree`), which distinct training rows it was grown on, sorted by `keys`."""

    keys: Annotated[Array, Whole("_u", low=-(2**63))]
    rows: Annotated[Array, Floats("_u d")]
    by_tree: Annotated[Array, Flags("trees _u")]

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
    """An integer hash of each row: equal for equal rows."""
    factors = 2 * np.random.RandomState(0).randint(1 << 62, size=Z.shape[1] + 1, dtype=np.int64) + 1
    words = bits(Z) * factors[0]
    words ^= words >> 32  # round numbers differ only in a few high bits
    return words @ factors[1:]


@dataclass(frozen=True)
class _Tree:
    """A tree as arrays over its nodes, with the features that it uses and the rows on which it was grown."""

    features: Annotated[Array, Whole("_f")]
    bag: Annotated[Array, Whole("_b")]
    split: Annotated[Array, Whole("_n")]  # the feature that a node compares with its threshold
    threshold: Annotated[Array, Floats("_n")]
    #: Of each node: for values above the threshold, for others; a leaf has itself as children.
    children: Annotated[Array, Whole("_n 2", below="_n")]
    share: Annotated[Array, Floats("_n")]  # of outliers
    depth: Count

    def __check__(self) -> None:
        must(self.depth < len(self.split), f"depth must be below the number of nodes, got {self.depth}")

    @classmethod
    def of(cls, grown: Any, features: Array, bag: Array, grade: float = 0.0) -> _Tree:
        """The tree that scikit-learn has grown on these features of these rows."""
        share = grown.value[:, 0, 1]
        # Without `grade`, all rows that every tree votes out would have the same loss. A leaf without targets that
        # holds more of the sample is farther from the targets.
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
        """The share of outliers in the leaf of each row; rows must be in single precision, as in training."""
        values, first = rows.ravel(), np.arange(len(rows)) * rows.shape[1]
        children, node = self.children.ravel(), np.zeros(len(rows), dtype=int)
        for _ in range(self.depth):
            node = children[2 * node + (values[first + self.split[node]] <= self.threshold[node])]
        return self.share[node]


@final
class OCRF(Slow["_Forest"]):
    """Reject rows that a random forest classifies as artificial outliers.

    Every tree [1]_ is grown on some of the features, a bootstrap sample of the targets and a larger number of
    artificial outliers. The values of an outlier are drawn from bins of the features' histograms, where bins with fewer
    targets are more probable. The loss is the share of votes for outlier. A tree does not vote on the training rows in
    its own sample.

    Parameters
    ----------
    {delta_of_folds}
    {confidence}
    {rate_by}
    n_estimators : int, default=100
        Number of trees.
    enlargement : float in [1, 1e6], default=1.2
        Range of the outliers, as a multiple of the range of the targets (alpha in the paper).
    outlier_ratio : float in (0, 1000], default=10
        Number of outliers for each target (beta in the paper).
    max_features : int, default=10
        Number of features of a tree; all features if there are fewer. Each split considers the square root of this
        number of features.
    n_bins : int, default=50
        Number of bins in the histogram of a feature.
    min_samples_leaf : int or None, default=None
        Smallest number of rows in a leaf. 1 grows trees until leaves are pure, as in the original method. None is 1 for
        ``threshold="half"`` and 5 otherwise, because with pure leaves too many losses equal 1 for a quantile.
    {scale}
        Trees do not depend on the scale of a feature, except that they hold values in single precision.
    threshold : {"held_out", "oob", "half", "train", "authors"}, default="held_out"
        How the threshold on the out-of-bag losses is chosen. ``"held_out"`` and ``"oob"`` are the (1 - delta) quantile,
        which gives the requested false-alarm rate. ``"half"`` is half of the votes, as in the original method.
        ``"train"`` is the rule of dd_tools, ``"authors"`` the rule of the VAAKELM authors' released code.
    {hold_out_of_closed_form}
    n_jobs : int or None, default=None
        Number of threads that grow and evaluate trees. The forest does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of features, samples, outliers and splits. None gives the same result at every fit.

    Attributes
    ----------
    {offset_}
    {calibration_}
    generator_ : OutlierGenerator
        Histograms from which the outliers are drawn.
    trees_ : list of n_estimators trees
        Trees as arrays over their nodes. `features` are the features of a tree, and `bag` are the row numbers of its
        bootstrap sample.
    {training_rows_}
    {scaler_and_features_}

    Notes
    -----
    A split is the best one among the features it considers, as in scikit-learn's trees. The C++ program of the method's
    authors chooses splits differently. A fit takes time in proportion to ``n_estimators * outlier_ratio * n log n``.

    The vote of a tree is the share of outliers in the leaf, which is 0 or 1 if leaves are pure. All trees vote on a
    training row that is in the samples of all trees. Rows that all trees vote out would have equal losses, and none of
    them could be rejected if `delta` is smaller than their share: 3 to 5 % of the held-out targets of a thin ring with
    60 trees. Except with ``threshold="half"``, a leaf without targets therefore adds up to 1e-6 to its vote, in
    proportion to its share of the tree's sample. This ranks such rows only roughly; with about 500 trees, they
    are fewer.

    Trees that do not look at a column do not see how far away its value is: with twelve columns one value of 1e12 was
    accepted in 99 % of the rows. So a row with a value more than 1,000 times as far from the middle as outliers were
    drawn gets a loss above all votes.

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
    model_: _Forest
    _instead: ClassVar = "fewer trees (n_estimators), fewer outliers (outlier_ratio) or KNNDetector"

    def __init__(
        self,
        *,
        delta: float = 0.05,
        confidence: float | None = None,
        rate_by: str = "group",
        n_estimators: int = 100,
        enlargement: float = 1.2,
        outlier_ratio: float = 10,
        max_features: int = 10,
        n_bins: int = 50,
        min_samples_leaf: int | None = None,
        scale: str | bool = "zscore",
        threshold: str = "held_out",
        hold_out: str | float = "auto",
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.delta = delta
        self.confidence = confidence
        self.rate_by = rate_by
        self.n_estimators = n_estimators
        self.enlargement = enlargement
        self.outlier_ratio = outlier_ratio
        self.max_features = max_features
        self.n_bins = n_bins
        self.min_samples_leaf = min_samples_leaf
        self.scale = scale
        self.threshold = threshold
        self.hold_out = hold_out
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _seconds(self, n: int, d: int) -> float:
        rows = n * (1 + check_number(self, "outlier_ratio", 0, _MOST_OUTLIERS, closed_high=True))
        features = min(check_integer(self, "max_features", 1), d)
        return float(check_integer(self, "n_estimators", 1) * 8e-8 * features**0.5 * rows * np.log2(rows))

    def _learn(self, training: Training) -> _Forest:
        Z, enlargement = training.Z, check_number(self, "enlargement", 1, _WIDEST, closed_low=True, closed_high=True)
        check_number(self, "outlier_ratio", 0, _MOST_OUTLIERS, closed_high=True)
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
        return 1 if self.threshold == "half" else _MIN_LEAF_ROWS

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
        grade = 0.0 if self.threshold == "half" else _TIE_BREAKER
        return _Tree.of(model.fit(rows, is_outlier).tree_, features, bag, grade)

    def _judge(self, model: _Forest, scaler: Scaler, X: Array) -> Array:
        low, high = scaler.inverse(model.generator.edges.T[[0, -1]]) / 2
        with np.errstate(over="ignore"):
            far = (np.abs(X / 2 - (low + high) / 2) > _FAR * (high - low) / 2).any(axis=1)
        return np.where(far, 1 + 2 * _TIE_BREAKER, super()._judge(model, scaler, X))

    def _held_out_losses(self, model: _Forest, training: Training) -> Array | None:
        """Out-of-bag losses: a tree never votes on a row in its own sample, so these are the losses of the model."""
        return model.losses(training.Z) if training.groups is None else None


@dataclass(frozen=True)
class _Forest:
    generator: OutlierGenerator
    trees: Annotated[list[_Tree], Length("trees")]
    rows: Annotated[Array, Floats("_n d")]
    seen: _Seen
    n_jobs: Jobs | None

    def __check__(self) -> None:
        n, d = self.rows.shape
        for tree in self.trees:
            inside = max(tree.features.max(), tree.split.max()) < d and tree.bag.max() < n
            must(bool(inside), f"trees must name features below {d} and rows below {n}")
        must(self.n_jobs != 0, "n_jobs must not be 0")

    @property
    def kept(self) -> Array:
        return self.rows

    def losses(self, Z: Array) -> Array:
        parts = blocks(len(Z), 4 * len(self.trees), Z, for_products=True)
        return np.concatenate([self._vote(Z[a:b]) for a, b in parts])

    def _vote(self, Z: Array) -> Array:
        largest = np.finfo(np.float32).max  # trees only compare values, in single precision
        rows = np.clip(Z, -largest, largest).astype(np.float32)
        votes = _threads(self.n_jobs)(delayed(tree.votes)(rows) for tree in self.trees)
        allowed = ~self.seen(Z)
        allowed |= ~allowed.any(axis=0)  # a row in the samples of all trees: all vote
        return (allowed * votes).sum(axis=0) / allowed.sum(axis=0)


def _threads(n_jobs: int | None) -> Parallel:
    return Parallel(n_jobs=n_jobs, prefer="threads", return_as="list")
