"""What the ten baselines share: reading rows, z-scores, held-out losses by folds, explanations."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.utils.validation import check_is_fitted

from ..core import threshold as rules
from ..core.arrays import Array, is_foreign, ones
from ..core.scaling import ColumnMoments, Scaler
from ..estimators._base import OneClassClassifier
from ..estimators._input import read_rows

__all__ = ["Baseline", "Explained", "count_distinct"]

_FOLDS = 5


class Baseline(OneClassClassifier):
    """A classifier on rows in z-scores: a subclass says how to learn from rows (`_learn`) and their losses (`_judge`).

    Held-out losses come from five shuffled folds unless the subclass knows a cheaper way; the scaling of the features
    is that of all rows. Everything is computed in double precision.
    """

    _rules: ClassVar = {**OneClassClassifier._rules, "train": rules.dd_tools}

    scale: bool

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the target class from its rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of the target class only.
        y : ignored
            Present for scikit-learn's sake.

        Returns
        -------
        self
            The fitted classifier.
        """
        X = self._rows_of(X, reset=True, min_rows=2)
        self._fit_and_decide(X, ones(X))
        return self

    @abstractmethod
    def _learn(self, Z: Array) -> None:
        """Learn from rows in z-scores; one row must do, since two rows make folds of one."""

    @abstractmethod
    def _judge(self, Z: Array) -> Array:
        """Loss of each row in z-scores."""

    def _fit(self, X: Array, w: Array) -> None:
        if not isinstance(self.scale, bool | np.bool_):
            raise ValueError(f"{self._name}: scale must be True or False, got {self.scale!r}")
        self.scaler_ = self._scaling(X, w)
        self._learn(self.scaler_(X))

    def _scaling(self, X: Array, w: Array) -> Scaler:
        return Scaler.of(ColumnMoments.of(X, w)) if self.scale else Scaler.identity(X)

    def _losses(self, X: Array) -> Array:
        return self._judge(self.scaler_(X))

    def _held_out_losses(self, X: Array, w: Array) -> Array:
        return self._losses_by_folds(self.scaler_(X))

    def _losses_by_folds(self, Z: Array) -> Array:
        losses = np.empty(len(Z))
        for seen, unseen in _folds(len(Z)):
            twin = self._twin()
            twin._learn(self._part(Z, seen, seen))
            losses[unseen] = twin._judge(self._part(Z, unseen, seen)) * self._size_beside(twin, Z)
        return losses

    def _size_beside(self, twin: Self, Z: Array) -> float:
        """How large this model's losses of its rows are beside those of its twin, which learnt from some of them."""
        return 1.0

    def _part(self, Z: Array, rows: Array, seen: Array) -> Array:
        """Some of the rows, as a model sees them that knows the rows `seen`."""
        return Z[rows]

    def _twin(self) -> Self:
        """An unfitted copy for the folds."""
        return clone(self)

    def _calibration(self) -> tuple[Array, Array]:
        if self._held_out is None:
            twin, X, w = self._rows  # type: ignore[misc]
            self._held_out = (twin._held_out_losses(X, w), w)
            self._rows = None
        return self._held_out

    @property
    def _name(self) -> str:
        return type(self).__name__

    def _rows_of(self, X: Any, *, reset: bool, min_rows: int = 1) -> Array:
        if is_foreign(X):
            kind = f"{type(X).__module__.split('.')[0]}.{type(X).__name__}"
            raise TypeError(f"{self._name}: X must be a NumPy array or convertible to one (a data frame), got {kind}")
        return read_rows(self, X, reset=reset, min_rows=min_rows).astype(np.float64, copy=False)

    def _read(self, X: Any) -> Array:
        check_is_fitted(self)
        return self._rows_of(X, reset=False)


class Explained(Baseline):
    """A baseline whose loss is a sum over features."""

    @abstractmethod
    def _contributions(self, Z: Array) -> Array:
        """Every feature's part of the loss, for rows in z-scores."""

    def _judge(self, Z: Array) -> Array:
        return self._contributions(Z).sum(axis=1)

    def explain(self, X: Any) -> Array:
        """Contribution of every feature to the score.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to explain.

        Returns
        -------
        array of shape (n_samples, n_features)
            One row a sample, one column a feature; a row sums to its score. The most negative feature is the most
            to blame.
        """
        return -self._contributions(self.scaler_(self._read(X)))


def count_distinct(Z: Array) -> int:
    """Number of different rows."""
    return len(np.unique(Z, axis=0))


def _folds(n: int) -> Iterator[tuple[Array, Array]]:
    """Rows seen and unseen, fold by fold; the same at every call."""
    return KFold(min(_FOLDS, n), shuffle=True, random_state=0).split(np.empty((n, 1)))
