"""What the baselines share: a model learnt from rows in z-scores, held-out losses by folds, explanations."""

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

_FOLDS = 5

#: Part of a column's sum of squares by which a row shrinks its own z-score, and share of rows that may.
_GOOD_PART, _FEW = 0.1, 0.01


class Model(Protocol):
    """What was learnt from rows: a frozen value."""

    def losses(self, Z: Array) -> Array:
        """Loss of each row in z-scores."""
        ...


M = TypeVar("M", bound=Model)


class ExplainedModel(ABC):
    """A model whose loss is a sum over features."""

    @abstractmethod
    def contributions(self, Z: Array) -> Array:
        """Every feature's part of the loss, for rows in z-scores."""

    @abstractmethod
    def expected(self, Z: Array) -> Array:
        """What would have been normal, in z-scores."""

    @property
    def least(self) -> Array | float:
        """The least that every feature's part can be."""
        return 0.0

    def losses(self, Z: Array) -> Array:
        """Loss of each row in z-scores."""
        return self.contributions(Z).sum(axis=1)


E = TypeVar("E", bound=ExplainedModel)


@dataclass(frozen=True)
class Outliers:
    """Rows labelled as outliers, and the user's numbers of all rows: those of the targets first, then of these."""

    rows: Array
    numbers: Array


@dataclass(frozen=True)
class Training:
    """Rows to learn from, in z-scores, and all else that a classifier may look at."""

    Z: Array
    rounding: Rounding
    pairwise: bool = False  # whether the rows are kernel values, a column for each of them
    kernel: Kernel | None = None  # to use, where that is known already
    outliers: Outliers | None = None
    groups: Groups | None = None  # of rows that are to be held out together
    zscored: bool = False

    def part(self, rows: Array, seen: Array) -> Training:
        """Some of the rows, as a model sees them that knows the rows `seen`."""
        if self.pairwise:
            return replace(self, Z=self.Z[np.ix_(rows, seen)])
        return replace(self, Z=self.Z[rows])

    def fold(self, seen: Array, unseen: Array) -> tuple[Training, Training]:
        """Rows that a model sees and rows that it does not, z-scored by those that it sees."""
        known, other = self.part(seen, seen), self.part(unseen, seen)
        if not self.zscored:
            return known, other
        w = ones(known.Z)
        scaler = Scaler.of("zscore", ColumnMoments.of(known.Z, w), known.Z, w)
        return replace(known, Z=scaler(known.Z)), replace(other, Z=scaler(other.Z))

    @property
    def scales_itself(self) -> bool:
        """Whether more than a few rows are a good part of the deviation that they are divided by, or a part of many."""
        n, d = self.Z.shape
        if not self.zscored or n < 2 * _FOLDS:  # so few promise nothing
            return False
        return d > n or float(np.mean((self.Z**2).max(axis=1) / (n - 1) > _GOOD_PART)) > _FEW


class Baseline(OneClassClassifier, Generic[M]):
    """A classifier on rows in z-scores: a subclass says how a model is learnt from rows (`_learn`).

    Held-out losses come from five shuffled folds, z-scored by the rows that their model sees, unless the subclass knows
    a cheaper way and no row has much of a say in its own scaling. Everything is computed in double precision.
    """

    _thresholds: ClassVar = {**OneClassClassifier._thresholds, "train": rules.dd_tools}
    #: Fields of the model that are attributes of the fitted classifier, with an underscore after them.
    _published: ClassVar[tuple[str, ...]] = ()
    #: Whether a model is learnt so quickly that every fit affords those of folds; else one whose threshold needs them.
    _learns_quickly: ClassVar[bool] = False
    _left_behind: ClassVar[tuple[str, ...]] = (*OneClassClassifier._left_behind, "ranks_")
    #: Whether losses change with the scale of a feature.
    _minds_scale: ClassVar[bool] = True

    scale: str | bool
    scaler_: Scaler
    model_: M
    decision_: Decision
    ranks_: Ranks

    def fit(self, X: Rows, y: Labels | None = None, *, groups: Labels | Name | None = None) -> Self:
        """Learn the target class from its rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of the target class only.
        {y}
        groups : array-like of shape (n_samples,), or the name or number of a column of `X`, optional
            The group of each row, by any labels: the person that visits belong to, the machine, the day. Rows of a
            group are alike, so thresholds and p-values are those of a row of a *new* group: five folds hold out whole
            groups, and each group weighs the same. A column that has the groups is no feature.

        Returns
        -------
        self
            The fitted classifier.
        """
        return self._fit(X, y, groups=groups)

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
            ranks_=judgement.ranks,
            model_=model,
            scaler_=scaler,
            **self._attributes(model, scaled),
        )

    @abstractmethod
    def _learn(self, training: Training) -> M:
        """What rows teach; one row must do, since two rows make folds of one."""

    def _scaling(self, X: Array, header: Header) -> Scaler:
        scaling, w = read_scaling(self._name, self.scale), ones(X)
        columns = ColumnMoments.of(X, w)
        check_magnitudes(self, columns, header.names, scaling=scaling)
        return Scaler.of(scaling, columns, X, w)

    def _training(self, X: Array, scaler: Scaler) -> Training:
        return Training(scaler(X), Rounding.of(X, scaler))

    def _before(self, X: Array) -> None:
        """Say what there is to say before a fit."""

    def _after(self, model: M) -> None:
        """Say what there is to say after it."""

    def _attributes(self, model: M, training: Training) -> dict[str, object]:
        return {f"{name}_": getattr(model, name) for name in self._published}

    # Losses of the training rows.

    def _training_losses(self, model: M, training: Training) -> Array:
        """Loss of each training row under the model."""
        return model.losses(training.Z)

    def _held_out_losses(self, model: M, training: Training) -> Array | None:
        """Loss of each row by a model that saw neither it nor its group; None where that takes learning others."""
        return None

    def _losses_by_folds(self, model: M, training: Training) -> Array:
        """The same by models that did not see the row's fold."""
        training = self._knowing(model, training)
        losses = np.empty(len(training.Z))
        for seen, unseen in _folds(len(losses), training.groups):
            known, other = training.fold(seen, unseen)
            twin = self._learn(known)
            losses[unseen] = twin.losses(other.Z) * self._size_beside(model, twin, training)
        return losses

    def _knowing(self, model: M, training: Training) -> Training:
        """What folds take over from the model of all rows."""
        return training

    def _size_beside(self, model: M, twin: M, training: Training) -> float:
        """How large the model's losses of its rows are beside those of a twin, which learnt from some of them."""
        return 1.0

    def _threshold(self, model: M, ranks: Ranks, decision: Decision) -> float:
        """Put the threshold on these losses, held-out or training ones as the rule asks."""
        return float(self._thresholds[decision.rule](ranks, delta=decision.budget(ranks.total)))

    # Answers.

    def _offset_at(self, delta: float) -> float:
        """The threshold on `score_samples` that the rule of the fit puts for another `delta`, without fitting again.

        Parameters
        ----------
        delta : float in [0, 1)
            False-alarm rate asked for.

        Returns
        -------
        float
            What `offset_` would be, where `delta` has no other part in the fit.
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
    """Number of different rows."""
    return len(np.unique(Z, axis=0))


def _folds(n: int, groups: Groups | None = None) -> Iterator[tuple[Array, Array]]:
    """Rows seen and unseen, fold by fold; the same at every call."""
    if groups is None:
        yield from KFold(min(_FOLDS, n), shuffle=True, random_state=0).split(np.empty((n, 1)))
    else:
        folds = GroupKFold(min(_FOLDS, groups.count), shuffle=True, random_state=0)
        yield from folds.split(np.empty((n, 1)), groups=groups.of_rows)
