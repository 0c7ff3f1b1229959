"""Reading and checking of the training rows of a fit, with their weights, groups and labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from sklearn.utils import get_tags

from ..core.arrays import Array, device, namespace, to_numpy
from ..core.groups import Groups
from ..core.typing import Labels, Name, Rows, Weights
from .checks import check_square
from .groups import read_groups, without_groups
from .independence import warn_if_dependent
from .labels import read_targets
from .reading import Header, read_weights

__all__ = ["ReadsTraining", "TrainingSet", "read_training_set"]


class ReadsTraining(Protocol):
    """An estimator that reads its own training rows."""

    def _read_training(self, X: Rows) -> tuple[Array, Header]: ...


@dataclass(frozen=True)
class TrainingSet:
    """The rows given to `fit`, with a weight for each row. Rows of weight 0 are not training rows."""

    X: Array
    w: Array
    header: Header
    groups: Groups | None = None
    grouped: bool = False  # whether the user gave groups, each row its own group included
    weighted: bool = False  # whether the user gave weights
    pairwise: bool = False  # whether X is a kernel matrix
    kept: Array | None = None  # mask of the given rows that are in X; None if all are
    outliers: Array | None = None  # rows that are labelled as outliers
    removed: float = 0.0  # normal rows that screening removed, as a ratio to the rows that stayed

    def only(self, rows: Array, *, removed: float = 0.0) -> TrainingSet:
        """The training set with weight 0 for all rows outside the mask `rows`."""
        xp = namespace(self.w)
        mask = xp.asarray(rows, dtype=self.w.dtype, device=device(self.w))
        return replace(self, w=self.w * mask, removed=removed)

    def to_learn(self, estimator: object) -> TrainingSet:
        """The rows of positive weight. A warning is raised if they depend on one another and no groups were given."""
        training, kept = self, self.w > 0
        if not bool(namespace(kept).all(kept)):
            X = self.X[kept]
            X = X.T[kept].T if self.pairwise else X
            w = self.w[kept]
            labels = None if self.groups is None else self.groups.of_rows[to_numpy(kept)]
            groups = read_groups(estimator, labels, X.shape[0], w)
            training = replace(self, X=X, w=w, groups=groups, kept=kept)
        copies = training.w if self.weighted else None
        if copies is not None and not bool(namespace(copies).all(copies == namespace(copies).round(copies))):
            # Importance, not copies: a row leaves with its whole weight.
            copies, alone = None, Groups(np.arange(training.X.shape[0]), by_row=True)
            training = training if self.grouped else replace(training, groups=alone)
        if self.pairwise:
            return training
        if not self.grouped:
            warn_if_dependent(estimator, training.X, copies)
        return replace(training, header=self.header.having_seen(training.X))


def read_training_set(
    estimator: ReadsTraining,
    given: Rows,
    y: Labels | None = None,
    *,
    sample_weight: Weights | None = None,
    groups: Labels | Name | None = None,
) -> TrainingSet:
    """Read and check the arguments of `fit`. The estimator is not changed.

    Rows that are labelled as outliers get weight 0.
    """
    name = type(estimator).__name__
    table, labels = without_groups(name, given, groups)
    X, header = estimator._read_training(table)
    pairwise = bool(get_tags(estimator).input_tags.pairwise)
    if pairwise:
        check_square(estimator, X)
    w = read_weights(estimator, sample_weight, X)
    training = TrainingSet(
        X,
        w,
        header,
        groups=read_groups(estimator, labels, X.shape[0], w),
        grouped=labels is not None,
        weighted=sample_weight is not None,
        pairwise=pairwise,
    )
    targets = read_targets(estimator, y, X.shape[0])
    if targets is not None:
        training = replace(training.only(targets), outliers=X[~targets])
    if sample_weight is not None and (learned := int(namespace(w).count_nonzero(training.w))) < 2:
        raise ValueError(
            f"{name}: sample_weight must be positive for at least two rows of the target class, got {learned}; "
            "a weight below 2.2e-16 of the largest counts as zero"
        )
    return training
