"""Reading and checking of the training rows of a fit, with their weights, groups and labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags

from ..core.arrays import Array, beside, device, namespace, ones, to_numpy
from ..core.groups import Groups
from ..core.training_keys import hashes
from ..core.typing import Labels, Name, Rows, Weights
from .checks import check_square
from .groups import is_column, read_groups, split_off
from .independence import warn_if_dependent
from .labels import read_outliers, read_targets
from .reading import Header, read_rows, read_weights
from .segments import read_segment_texts
from .warnings import ColumnWarning, LabelWarning, warn

__all__ = ["ReadsTraining", "TrainingSet", "read_known_rows", "read_training_set", "with_known_rows"]


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
    outliers: Array | None = None  # rows that are labelled as outliers, with their weights and, if any, groups
    outlier_weights: Array | None = None  # None are ones
    outlier_groups: NDArray[np.intp] | None = None  # as in `groups`; -1 for a group without normal rows
    answered: NDArray[np.bool_] | None = None  # mask of the rows that a user was asked about; they set no threshold
    segments: NDArray[np.str_] | None = None  # the text of each row's segment
    segment_column: Name | None = None  # the column that holds the segments, if it was given so
    group_column: Name | None = None  # the column that holds the groups, if it was given so
    removed: float = 0.0  # normal rows that screening removed, as a ratio to the rows that stayed

    def only(self, rows: Array, *, removed: float = 0.0) -> TrainingSet:
        """The training set with weight 0 for all rows outside the mask `rows`."""
        xp = namespace(self.w)
        mask = xp.asarray(rows, dtype=self.w.dtype, device=device(self.w))
        return replace(self, w=self.w * mask, removed=removed)

    def with_outliers(self, some: Array) -> TrainingSet:
        """The training set with some of its outliers, given by a mask or by row numbers."""
        xp, w, groups = namespace(self.X), self.outlier_weights, self.outlier_groups
        some = xp.nonzero(some)[0] if xp.isdtype(some.dtype, "bool") else some
        return replace(
            self,
            outliers=xp.take(self.outliers, some, axis=0),
            outlier_weights=None if w is None else xp.take(w, some),
            outlier_groups=None if groups is None else groups[to_numpy(some)],
        )

    def with_further_outliers(self, rows: Array) -> TrainingSet:
        """The training set with further outliers, which have weight 1 and no group of normal rows."""
        xp, known, k = namespace(self.X), self.outliers, int(rows.shape[0])
        if known is None or not known.shape[0]:
            none = None if self.groups is None else np.full(k, -1)
            return replace(self, outliers=rows, outlier_weights=None, outlier_groups=none)
        w, groups = self.outlier_weights, self.outlier_groups
        return replace(
            self,
            outliers=xp.concat([known, rows]),
            outlier_weights=None if w is None else xp.concat([w, ones(rows)]),
            outlier_groups=None if groups is None else np.concatenate([groups, np.full(k, -1)]),
        )

    def part(self, rows: Array) -> TrainingSet:
        """Some of the rows, by their numbers; all rows have positive weight."""
        kept = np.zeros(self.X.shape[0] if self.kept is None else len(self.kept), dtype=bool)
        kept[rows if self.kept is None else np.flatnonzero(self.kept)[rows]] = True
        groups = None if self.groups is None else self.groups.part(rows)
        segments = None if self.segments is None else self.segments[rows]
        return replace(self, X=self.X[rows], w=self.w[rows], groups=groups, kept=kept, segments=segments)

    def to_learn(self, estimator: object) -> TrainingSet:
        """The rows of positive weight. A warning is raised if they depend on one another and no groups were given."""
        training, kept = self, self.w > 0
        if not bool(namespace(kept).all(kept)):
            X = self.X[kept]
            X = X.T[kept].T if self.pairwise else X
            w = self.w[kept]
            labels = None if self.groups is None else self.groups.of_rows[to_numpy(kept)]
            groups, theirs = read_groups(estimator, labels, X.shape[0], w), self.outlier_groups
            if theirs is not None and labels is not None:
                known = np.unique(labels)
                place = np.minimum(np.searchsorted(known, theirs), len(known) - 1)
                theirs = np.where(known[place] == theirs, place, -1)
            segments = None if self.segments is None else self.segments[to_numpy(kept)]
            training = replace(self, X=X, w=w, groups=groups, segments=segments, kept=kept, outlier_groups=theirs)
        copies = training.w if self.weighted else None
        if copies is not None and not bool(namespace(copies).all(copies == namespace(copies).round(copies))):
            # Importance, not copies: a row leaves with its whole weight.
            copies, alone = None, Groups(np.arange(training.X.shape[0]), by_row=True)
            training = training if self.grouped else replace(training, groups=alone)
        if self.pairwise:
            return training
        keys = hashes(training.X)
        if not self.grouped:
            warn_if_dependent(estimator, training.X, copies, keys=keys)
        header = self.header.having_seen(training.X, keys)
        if header.seen is not None and bool((header.seen.quantiles[0] == header.seen.quantiles[-1]).all()):
            warn(
                f"{type(estimator).__name__}: all training rows are equal, so that every other row may be an outlier",
                ColumnWarning,
            )
        return replace(training, header=header)


def read_training_set(
    estimator: ReadsTraining,
    given: Rows,
    y: Labels | None = None,
    *,
    outliers: Rows | None = None,
    sample_weight: Weights | None = None,
    groups: Labels | Name | None = None,
    segments: Labels | Name | None = None,
) -> TrainingSet:
    """Read and check the arguments of `fit`. The estimator is not changed.

    Rows that are labelled as outliers get weight 0, and so do rows without a label.
    """
    name = type(estimator).__name__
    table, (labels, parts) = split_off(name, given, {"groups": groups, "segments": segments})
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
        segments=None if parts is None else read_segment_texts(name, parts, X.shape[0]),
        segment_column=segments if is_column(segments) else None,
        group_column=groups if is_column(groups) else None,
    )
    targets = read_targets(estimator, y, X.shape[0])
    if targets is not None:
        training = _labelled(training, targets, read_outliers(y, targets))
    if outliers is not None:
        columns = {role: of for role, of in (("groups", groups), ("segments", segments)) if is_column(of)}
        if pairwise:
            raise ValueError(f"{name}: outliers must be None for kernel values; label rows with y")
        known = read_known_rows(name, training.header, split_off(name, outliers, columns)[0])
        training = with_known_rows(name, training, known)
    if sample_weight is not None and (learned := int(namespace(w).count_nonzero(training.w))) < 2:
        raise ValueError(
            f"{name}: sample_weight must be positive for at least two rows of the target class, got {learned}; "
            "a weight below 2.2e-16 of the largest counts as zero"
        )
    return training


def _labelled(training: TrainingSet, targets: NDArray[np.bool_], outliers: NDArray[np.bool_]) -> TrainingSet:
    """The training set whose rows have these labels."""
    X, w, groups = training.X, training.w, training.groups
    places = namespace(X).asarray(np.flatnonzero(outliers), device=device(X))
    all_of_them = replace(
        training.only(targets),
        outliers=X,
        outlier_weights=w if training.weighted else None,
        outlier_groups=None if groups is None else groups.of_rows,
    ).with_outliers(places)
    weights = all_of_them.outlier_weights
    return all_of_them if weights is None else all_of_them.with_outliers(weights > 0)


def read_known_rows(name: str, header: Header, outliers: Rows) -> Array:
    """Known outliers with the columns of the header."""
    try:
        return read_rows(header, outliers)
    except ValueError as error:
        raise ValueError(f"{name}: outliers must be rows with the columns of X: {error}") from None


def with_known_rows(name: str, training: TrainingSet, rows: Array) -> TrainingSet:
    """The training set with further outliers, which have weight 1 and no group of normal rows."""
    xp, rows = namespace(training.X), beside(rows, training.X)
    k, n = int(rows.shape[0]), int(xp.count_nonzero(training.w))
    if k > n:
        warn(
            f"{name}: {k} known outliers are more than the {n} rows of the target class; if it is the other way "
            "round, exchange the two tables",
            LabelWarning,
        )
    return training.with_further_outliers(xp.astype(rows, training.X.dtype))
