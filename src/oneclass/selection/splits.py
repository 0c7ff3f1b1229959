"""Folds for one-class data: training rows are targets, validation rows are held-out targets and outliers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from numbers import Integral
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import GroupKFold
from sklearn.utils.validation import _num_samples

from ..base.labels import is_target
from ..base.seeds import random_of
from ..core.typing import Labels, Rows, Seed

__all__ = ["OneClassGroupKFold", "OneClassKFold", "RepeatedOneClassKFold", "Splitter"]

Index = NDArray[np.intp]


class Splitter(Protocol):
    """A splitter as in scikit-learn."""

    def split(self, X: Rows, y: Labels | None = None, groups: Labels | None = None) -> Iterable[tuple[Index, Index]]:
        """Row numbers of training and validation rows, for each fold."""
        ...


class _OneClassSplitter(BaseEstimator):
    """Base class of the splitters: reads labels and checks the number of folds."""

    n_splits: int
    target: object

    def get_n_splits(self, X: Rows | None = None, y: Labels | None = None, groups: Labels | None = None) -> int:
        """Number of folds. The arguments are ignored; scikit-learn passes them."""
        return int(self.n_splits)

    def _targets(self, X: Rows, y: Labels | None) -> NDArray[np.bool_]:
        name = type(self).__name__
        targets = np.ones(_num_samples(X), dtype=bool) if y is None else is_target(y, self.target, caller=name)
        whole = isinstance(self.n_splits, Integral) and not isinstance(self.n_splits, bool)
        if not whole or self.n_splits < 2 or targets.sum() < self.n_splits:
            raise ValueError(
                f"{name}: n_splits must be a whole number from 2 to the number of targets, {targets.sum()} of "
                f"n_samples={len(targets)}; got {self.n_splits!r}"
            )
        return targets


class OneClassKFold(_OneClassSplitter):
    """K folds of targets; each fold is validated with its share of the outliers.

    Each row is a validation row of one fold. Outliers are never training rows.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    shuffle : bool, default=True
        Whether to shuffle the rows first, since files are often sorted.
    random_state : int, RandomState instance or None, default=0
        Seed of the shuffle. The default gives the same folds each time.
    target : label, optional
        The label of the target class, as in `is_target`.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([1, 1, 1, 1, -1, -1])
    >>> for train, test in OneClassKFold(2, shuffle=False).split(y, y):
    ...     print(train, test)
    [2 3] [0 1 4]
    [0 1] [2 3 5]
    """

    def __init__(
        self, n_splits: int = 5, *, shuffle: bool = True, random_state: Seed = 0, target: object = None
    ) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state
        self.target = target

    def split(self, X: Rows, y: Labels | None = None, groups: Labels | None = None) -> Iterator[tuple[Index, Index]]:
        """Row numbers of training rows (targets) and of validation rows (targets and outliers), for each fold.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, of which only the number matters.
        y : array-like of shape (n_samples,), optional
            Labels; without labels all rows are targets.
        groups : ignored
            scikit-learn passes groups.

        Yields
        ------
        train, test : arrays of int
            Row numbers, ascending.
        """
        targets = self._targets(X, y)
        random = random_of(self.random_state)
        held = zip(self._parts(targets, random), self._parts(~targets, random), strict=True)
        for inside, outside in held:
            test = np.sort(np.concatenate([inside, outside]))
            yield np.setdiff1d(np.flatnonzero(targets), inside), test

    def _parts(self, chosen: NDArray[np.bool_], random: np.random.RandomState) -> list[Index]:
        rows = np.flatnonzero(chosen)
        return np.array_split(random.permutation(rows) if self.shuffle else rows, self.n_splits)


class RepeatedOneClassKFold(_OneClassSplitter):
    """`OneClassKFold` repeated, with another shuffle each time.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds in each repetition.
    n_repeats : int, default=10
        Number of repetitions.
    random_state : int, RandomState instance or None, default=0
        Seed of the shuffles.
    target : label, optional
        The label of the target class, as in `is_target`.

    Examples
    --------
    >>> RepeatedOneClassKFold(n_splits=5, n_repeats=3).get_n_splits()
    15
    """

    def __init__(
        self, n_splits: int = 5, *, n_repeats: int = 10, random_state: Seed = 0, target: object = None
    ) -> None:
        self.n_splits = n_splits
        self.n_repeats = n_repeats
        self.random_state = random_state
        self.target = target

    def get_n_splits(self, X: Rows | None = None, y: Labels | None = None, groups: Labels | None = None) -> int:
        """Number of folds of all repetitions. The arguments are ignored; scikit-learn passes them."""
        return int(self.n_splits * self.n_repeats)

    def split(self, X: Rows, y: Labels | None = None, groups: Labels | None = None) -> Iterator[tuple[Index, Index]]:
        """Row numbers as in `OneClassKFold.split`, one repetition after the other."""
        random = random_of(self.random_state)
        for _ in range(self.n_repeats):
            folds = OneClassKFold(self.n_splits, random_state=random, target=self.target)
            yield from folds.split(X, y, groups)


class OneClassGroupKFold(_OneClassSplitter):
    """K folds of targets in which no group (a person, a recording) has training and validation rows.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    target : label, optional
        The label of the target class, as in `is_target`.

    Examples
    --------
    >>> import numpy as np
    >>> y, people = np.array([1, 1, 1, 1, -1, -1]), np.array([7, 7, 8, 8, 7, 9])
    >>> for train, test in OneClassGroupKFold(2).split(y, y, people):
    ...     print(people[train], people[test])
    [7 7] [8 8 9]
    [8 8] [7 7 7]
    """

    #: Metadata routing passes groups without a request, as it does to scikit-learn's splitters of groups.
    __metadata_request__split: ClassVar = {"groups": True}

    def __init__(self, n_splits: int = 5, *, target: object = None) -> None:
        self.n_splits = n_splits
        self.target = target

    def split(self, X: Rows, y: Labels | None = None, groups: Labels | None = None) -> Iterator[tuple[Index, Index]]:
        """Row numbers of training rows (targets) and of validation rows (targets and outliers), for each fold.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, of which only the number matters.
        y : array-like of shape (n_samples,), optional
            Labels; without labels all rows are targets.
        groups : array-like of shape (n_samples,)
            The group of each row.

        Yields
        ------
        train, test : arrays of int
            Row numbers, ascending.
        """
        if groups is None:
            raise ValueError("OneClassGroupKFold: groups must be given, a value for each row; got None")
        targets, members = self._targets(X, y), np.asarray(groups)
        rows = np.flatnonzero(targets)
        known = len(np.unique(members[rows]))
        if known < self.n_splits:
            raise ValueError(
                f"OneClassGroupKFold: n_splits must be at most the number of groups of targets {known}, "
                f"got {self.n_splits!r}"
            )
        fold = self._folds_of(targets, members)
        for k in range(self.n_splits):
            yield np.flatnonzero(targets & (fold != k)), np.flatnonzero(fold == k)

    def _folds_of(self, targets: NDArray[np.bool_], members: NDArray[np.generic]) -> Index:
        """Fold of each row: targets are divided evenly, and groups without targets are assigned in turn."""
        fold = np.full(len(members), -1, dtype=np.intp)
        rows = np.flatnonzero(targets)
        for k, (_, held) in enumerate(GroupKFold(self.n_splits).split(rows, groups=members[rows])):
            fold[np.isin(members, members[rows[held]])] = k
        alone = fold < 0
        fold[alone] = np.unique(members[alone], return_inverse=True)[1] % self.n_splits
        return fold
