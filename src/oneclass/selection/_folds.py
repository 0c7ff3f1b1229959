"""Folds of a search: training rows are targets, validation rows are targets and outliers."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from ..base.warnings import DependentRowsWarning, warn
from ..core.typing import Rows
from .splits import OneClassGroupKFold, OneClassKFold

__all__ = ["Fold", "make_folds", "taken"]

_NAME = "OneClassSearchCV"

Index = NDArray[np.intp]


class Fold(NamedTuple):
    """Training rows (targets), validation rows with labels (+1 target, -1 outlier), and groups of the training rows."""

    train: Rows
    rows: Rows
    y: NDArray[np.int64]
    groups: NDArray[np.generic] | None = None


def make_folds(
    X: Rows, targets: NDArray[np.bool_], groups: NDArray[np.generic] | None, cv: Any, *, pairwise: bool
) -> list[Fold]:
    """The folds of rows by the `cv` of a search; if `pairwise`, X is a kernel matrix."""
    y = np.where(targets, 1, -1)
    splits = [(train[targets[train]], test) for train, test in _splits(X, y, groups, cv)]
    if not splits:
        raise ValueError(f"{_NAME}: cv must give at least one fold, got none; an iterator gives its folds once")
    for k, (train, test) in enumerate(splits):
        if not len(train) or not targets[test].any():
            raise ValueError(
                f"{_NAME}: every fold of cv must have targets on both sides, but fold {k} trains on {len(train)} and "
                f"validates on {targets[test].sum()}"
            )
    if groups is not None and any(np.isin(groups[test], groups[train]).any() for train, test in splits):
        warn(
            f"{_NAME}: cv={cv!r} has rows of one group on both sides of a fold, so that scores are better than those "
            "of a new group would be; use a number of folds, or OneClassGroupKFold",
            DependentRowsWarning,
        )
    folds = []
    for train, test in splits:
        columns = train if pairwise else None
        known = None if groups is None else groups[train]
        folds.append(Fold(taken(X, train, columns), taken(X, test, columns), y[test], known))
    return folds


def _splits(
    X: Rows, y: NDArray[np.int64], groups: NDArray[np.generic] | None, cv: Any
) -> Iterable[tuple[Index, Index]]:
    """Row numbers of training and validation rows, for each fold."""
    cv = 5 if cv is None else cv
    if isinstance(cv, bool | np.bool_ | str) or not (isinstance(cv, Integral | Iterable) or hasattr(cv, "split")):
        raise ValueError(f"{_NAME}: cv must be a whole number, a splitter or pairs of row numbers; got {cv!r}")
    if isinstance(cv, Integral):
        cv = OneClassKFold(int(cv)) if groups is None else OneClassGroupKFold(int(cv))
    if not hasattr(cv, "split"):
        return [(np.asarray(train), np.asarray(test)) for train, test in cv]
    if getattr(cv, "target", None) is not None:  # y is +1 and -1 here
        cv = clone(cv).set_params(target=None)
    splits: Iterable[tuple[Index, Index]] = cv.split(X, y, groups)
    return splits


def taken(X: Rows, rows: Index, columns: Index | None) -> Rows:
    """Some rows and, of a kernel matrix, some columns."""
    part: Rows = _safe_indexing(X, rows)
    return part if columns is None else _safe_indexing(part, columns, axis=1)
