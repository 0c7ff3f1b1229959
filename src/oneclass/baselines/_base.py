"""Base class of the baselines: a model of scaled rows, held-out losses from folds, explanations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np
from sklearn.model_selection import GroupKFold, KFold
from sklearn.utils.validation import check_is_fitted

from ..base.checks import check_magnitudes, check_number, read_scaling
from ..base.classifier import OneClassClassifier
from ..base.reading import Header, read_training_rows
from ..base.training_set import TrainingSet
from ..core import threshold as rules
from ..core.arrays import Array, is_foreign, ones
from ..core.calibration import HeldOut, Judgement
from ..core.groups import Groups
from ..core.kernels import Kernel
from ..core.scaling import ColumnMoments, Scaler
from ..core.threshold import Decision, Ranks
from ..core.typing import Labels, Name, Rows
from ._rounding import Rounding

__all__ = ["Baseline", "E", "Explained", "ExplainedModel", "M", "Model", "Outliers", "Training", "count_distinct"]

#: Number of folds for held-out losses.
_FOLDS = 5

#: Share of a column's sum of squares from which on a row has much influence on its own z-score.
_INFLUENTIAL_PART = 0.1

#: Share of rows with such an influence above which held-out rows must be scaled without themselves.
_INFLUENTIAL_ROWS = 0.01


class Model(Protocol):
    """The result of learning from rows, as a frozen value."""

    def losses(self, Z: Array) -> Array:
        """Loss of each scaled row."""
        ...


M = TypeVar("M", bound=Model)


class ExplainedModel(ABC):
    """A model whose loss is a sum over features."""

    @abstractmethod
    def contributions(self, Z: Array) -> Array:
        """The part of each feature in the loss, for scaled rows."""

    @abstractmethod
    def expected(self, Z: Array) -> Array:
        """Expected value of each feature, scaled."""

    @property
    def least(self) -> Array | float:
        """Smallest possible part of each feature."""
        return 0.0

    def losses(self, Z: Array) -> Array:
        """Loss of each scaled row."""
        return self.contributions(Z).sum(axis=1)


E = TypeVar("E", bound=ExplainedModel)


@dataclass(frozen=True)
class Outliers:
    """Rows labelled as outliers, and the numbers of all rows in the user's data: first targets, then outliers."""

    rows: Array
    numbers: Array


@dataclass(frozen=True)
class Training:
    """Scaled training rows, and other inputs of a classifier."""

    Z: Array
    rounding: Rounding
    pairwise: bool = False  # whether the rows hold kernel values: one column for each training row
    kernel: Kernel | None = None  # the kernel, if it is known already
    outliers: Outliers | None = None
    groups: Groups | None = None  # groups of rows that are held out together
    zscored: bool = False

    def part(self, rows: Array, seen: Array) -> Training:
        """Some of the rows, as input of a model that learnt from the rows `seen`."""
        if self.pairwise:
            return replace(self, Z=self.Z[np.ix_(rows, seen)])
        return replace(self, Z=self.Z[rows])

    def fold(self, seen: Array, unseen: Array) -> tuple[Training, Training]:
        """Training rows and held-out rows of a fold, z-scored with the training rows of the fold."""
        known, other = self.part(seen, seen), self.part(unseen, seen)
        if not self.zscored:
            return known, other
        w = ones(known.Z)
        scaler = Scaler.of("zscore", ColumnMoments.of(known.Z, w), known.Z, w)
        return replace(known, Z=scaler(known.Z)), replace(other, Z=scaler(other.Z))

    @property
    def scales_itself(self) -> bool:
        """Whether too many rows have much influence on their own z-scores (or there are more columns than rows)."""
        n, d = self.Z.shape
        if not self.zscored or n < 2 * _FOLDS:  # too few rows to tell
            return False
        return d > n or float(np.mean((self.Z**2).max(axis=1) / (n - 1) > _INFLUENTIAL_PART)) > _INFLUENTIAL_ROWS


class Baseline(OneClassClassifier, Generic[M]):
    """Classifier of scaled rows; `_learn` of a subclass learns the model.

    Held-out losses come from five shuffled folds, each scaled with its own training rows. A subclass may have a faster
    method, which is used unless too many rows influence their own scaling. All computation is in double precision.
    """

    _thresholds: ClassVar = {**OneClassClassifier._thresholds, "train": rules.dd_tools}
    #: Fields of the model that become attributes of the fitted classifier; their names get a final underscore.
    _published: ClassVar[tuple[str, ...]] = ()
    #: Whether every fit computes held-out losses, because learning is quick. Otherwise only rules that need them do.
    _learns_quickly: ClassVar[bool] = False
    _left_behind: ClassVar[tuple[str, ...]] = (*OneClassClassifier._left_behind, "ranks_")
    #: Whether losses depend on the scale of the features.
    _minds_scale: ClassVar[bool] = True

    scale: str | bool
    scaler_: Scaler
    model_: M
    decision_: Decision
    ranks_: Ranks

    def fit(
        self,
        X: Rows,
        y: Labels | None = None,
        *,
        groups: Labels | Name | None = None,
        segments: Labels | Name | None = None,
    ) -> Self:
        """Learn the target class from its rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of the target class only.
        {y}
        groups : array-like of shape (n_samples,), or the name or number of a column of `X`, optional
            The group of each row, as labels of any kind: for example a person, a machine or a day. Rows of a group
            resemble each other, so the five folds hold out whole groups, and each group has the same weight. Thresholds
            and p-values then hold for rows of *new* groups. A column with groups is not a feature.
        {segments}

        Returns
        -------
        self
            The fitted classifier.
        """
        return self._fit(X, y, groups=groups, segments=segments)

    def _fit_set(self, training: TrainingSet, decision: Decision) -> Self:
        rows = training.to_learn(self)
        self._before(rows.X)
        scaler = self._scaling(rows.X, rows.header)
        scaled = self._training(rows.X, scaler)
        zscored = read_scaling(self._name, self.scale) == "zscore" and not scaled.pairwise
        scaled = replace(scaled, groups=rows.groups, zscored=zscored)
        if training.outliers is not None:
            targets = training.w > 0
            numbers = np.concatenate([np.flatnonzero(targets), np.flatnonzero(~targets)])
            scaled = replace(scaled, outliers=Outliers(scaler(training.outliers), numbers))
        with self._naming():
            model = self._learn(scaled)
            losses = None if self._minds_scale and scaled.scales_itself else self._held_out_losses(model, scaled)
            if losses is None and (decision.held_out or self._learns_quickly):
                losses = self._losses_by_folds(model, scaled)
            held_out = None if losses is None else HeldOut(losses, None, rows.groups, rows.kept)
            judgement = Judgement.of(decision, held_out, lambda: Ranks.of(self._training_losses(model, scaled), None))
        judgement = judgement.beside(training.removed)
        self._after(model)
        return self._keep(
            rows.header,
            self._threshold(model, judgement.ranks, decision),
            judgement.calibration,
            judgement.held_out,
            decision_=decision,
            training=rows,
            ranks_=judgement.ranks,
            model_=model,
            scaler_=scaler,
            **self._attributes(model),
        )

    @abstractmethod
    def _learn(self, training: Training) -> M:
        """Learn a model from rows. One row must suffice, because the folds of two rows have one training row."""

    def _scaling(self, X: Array, header: Header) -> Scaler:
        scaling, w = read_scaling(self._name, self.scale), ones(X)
        columns = ColumnMoments.of(X, w)
        check_magnitudes(self, columns, header.names, scaling=scaling)
        return Scaler.of(scaling, columns, X, w)

    def _training(self, X: Array, scaler: Scaler) -> Training:
        return Training(scaler(X), Rounding.of(X, scaler))

    def _before(self, X: Array) -> None:
        """Give warnings before a fit."""

    def _after(self, model: M) -> None:
        """Give warnings after a fit."""

    def _attributes(self, model: M) -> dict[str, object]:
        return {f"{name}_": getattr(model, name) for name in self._published}

    def __derived__(self) -> dict[str, object]:
        return self._attributes(self.model_) if "model_" in vars(self) else {}

    def __check__(self) -> dict[str, int]:
        super().__check__()
        return {"d": self.n_features_in_}

    # Losses of the training rows.

    def _training_losses(self, model: M, training: Training) -> Array:
        """Loss of each training row under the model."""
        return model.losses(training.Z)

    def _held_out_losses(self, model: M, training: Training) -> Array | None:
        """Loss of each row under a model without the row and its group; None if that needs the folds."""
        return None

    def _losses_by_folds(self, model: M, training: Training) -> Array:
        """Loss of each row under a model that learnt from the other folds."""
        training = self._knowing(model, training)
        losses = np.empty(len(training.Z))
        for seen, unseen in _folds(len(losses), training.groups):
            known, other = training.fold(seen, unseen)
            twin = self._learn(known)
            losses[unseen] = twin.losses(other.Z) * self._size_beside(model, twin, training)
        return losses

    def _knowing(self, model: M, training: Training) -> Training:
        """The training rows, with choices of the model of all rows that the folds use too."""
        return training

    def _size_beside(self, model: M, twin: M, training: Training) -> float:
        """Factor by which losses of a fold's model (`twin`) are multiplied to match those of the model."""
        return 1.0

    def _threshold(self, model: M, ranks: Ranks, decision: Decision) -> float:
        """The threshold that the rule of the decision puts on these losses."""
        return float(self._thresholds[decision.rule](ranks, delta=decision.budget(ranks.total)))

    # Scores of new rows.

    def _offset_at(self, delta: float) -> float:
        """The threshold on `score_samples` for another `delta`, without a new fit.

        Parameters
        ----------
        delta : float in [0, 1)
            Requested false-alarm rate.

        Returns
        -------
        float
            The value of `offset_` after a fit with this `delta`, if the model itself does not depend on `delta`.
        """
        check_is_fitted(self)
        delta = check_number(self, "delta", 0, 1, value=delta, closed_low=True)
        return -self._threshold(self.model_, self.ranks_, replace(self.decision_, delta=delta))

    def _losses(self, X: Array) -> Array:
        return self.model_.losses(self.scaler_(X))

    def _kept_rows(self) -> Array | None:
        return getattr(self.model_, "kept", None)

    def _read_training(self, X: Rows) -> tuple[Array, Header]:
        self._refuse_foreign(X)
        rows, header = read_training_rows(self, X)
        return rows.astype(np.float64, copy=False), header

    def _read(self, X: Rows) -> Array:
        self._refuse_foreign(X)
        return super()._read(X).astype(np.float64, copy=False)

    def _refuse_foreign(self, X: Rows) -> None:
        if is_foreign(X):
            kind = f"{type(X).__module__.split('.')[0]}.{type(X).__name__}"
            raise TypeError(f"{self._name}: X must be a NumPy array or convertible to one (a data frame), got {kind}")


class Explained(Baseline[E]):
    """A baseline whose loss is a sum over features."""

    def _parts(self, rows: Array) -> Array | None:
        return self.model_.contributions(self.scaler_(rows))

    def _least_parts(self) -> Array | float:
        return self.model_.least

    def _expected(self, rows: Array) -> Array | None:
        return self.scaler_.inverse(self.model_.expected(self.scaler_(rows)))


def count_distinct(Z: Array) -> int:
    """Number of distinct rows."""
    return len(np.unique(Z, axis=0))


def _folds(n: int, groups: Groups | None = None) -> Iterator[tuple[Array, Array]]:
    """Training rows and held-out rows of each fold; the same at every call."""
    if groups is None:
        yield from KFold(min(_FOLDS, n), shuffle=True, random_state=0).split(np.empty((n, 1)))
    else:
        folds = GroupKFold(min(_FOLDS, groups.count), shuffle=True, random_state=0)
        yield from folds.split(np.empty((n, 1)), groups=groups.of_rows)
