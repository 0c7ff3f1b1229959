"""Base class of the baselines: a model of scaled rows, held-out losses from folds, explanations."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Annotated, ClassVar, Generic, Self, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..base.checks import ChoiceError, check_choice, check_magnitudes, check_number, read_scaling
from ..base.classifier import OneClassClassifier
from ..base.reading import Header, read_training_rows
from ..base.training_set import TrainingSet
from ..core import threshold as rules
from ..core.arrays import Array, is_foreign, ones
from ..core.calibration import HeldOut, Judgement
from ..core.groups import Groups
from ..core.hold_out import CrossRanks, Part, fold_rows, in_row_order, split_rows
from ..core.scaling import ColumnMoments, Scaler
from ..core.stored import MAYBE, must
from ..core.threshold import Decision, Ranks
from ..core.typing import Labels, Name, Rows
from ._rounding import Rounding
from ._training import FOLDS, Cross, E, Learned, M, Outliers, Training

__all__ = ["Baseline", "Explained", "count_distinct"]

#: Share of the rows that ``hold_out="split"`` holds out.
_SPLIT_SHARE = 0.5

R = TypeVar("R")


class Baseline(OneClassClassifier, Generic[M]):
    """Classifier of scaled rows; `_learn` of a subclass learns the model.

    Held-out losses come from five folds, unless the subclass has a faster method (`_held_out_losses`) or `hold_out` is
    another way. All computation is in double precision.
    """

    _thresholds: ClassVar = {**OneClassClassifier._thresholds, "train": rules.dd_tools}
    #: Fields of the model that become attributes of the fitted classifier; their names get a final underscore.
    _published: ClassVar[tuple[str, ...]] = ()
    #: Whether every fit computes held-out losses, because learning is quick. Otherwise only rules that need them do.
    _learns_quickly: ClassVar[bool] = False
    _left_behind: ClassVar[tuple[str, ...]] = (*OneClassClassifier._left_behind, "ranks_")
    #: Values of `hold_out` that are words.
    _hold_outs: ClassVar[tuple[str, ...]] = ("auto", "split", "plus", "folds", "loo")
    #: Whether losses depend on the scale of the features.
    _minds_scale: ClassVar[bool] = True
    scale: str | bool
    hold_out: str | float
    scaler_: Scaler
    model_: M
    decision_: Decision
    ranks_: Ranks
    cross_: Annotated[Cross | None, MAYBE]

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
            resemble each other, so whole groups are held out, and each group has the same weight. Thresholds and
            p-values then hold for rows of *new* groups. A column with groups is not a feature.
        {segments}

        Returns
        -------
        self
            The fitted classifier.
        """
        return self._fit(X, y, groups=groups, segments=segments)

    def _fit_set(self, training: TrainingSet, decision: Decision) -> Self:
        return self._fit_rows(training.to_learn(self), decision, training.removed)

    def _fit_rows(self, rows: TrainingSet, decision: Decision, removed: float, *, by_row: bool = True) -> Self:
        """Learn from rows of positive weight; `removed` is the share that screening removed.

        If `by_row` is false, the rows are not those of the user, and held-out losses are only kept ranked.
        """
        self._before(rows.X)
        way = self._way(decision, pairwise=rows.pairwise)
        learnt = judged = rows
        if way == "split":
            seen, unseen = split_rows(len(rows.X), rows.groups, share=self._share_held_out, seed=self._seed)
            learnt, judged = rows.part(seen), rows.part(unseen)
        cross = None
        with self._naming():
            scaler, scaled, model = self._learn_from(learnt, of=rows)
            held_out: HeldOut | None
            if way in ("split", "fixed"):
                held_out = replace(_held_out(judged, self._judge(model, scaler, judged.X)), way="split")
                decision = replace(decision, exact=True)
            elif way == "plus":
                cross, held_out = self._cross(rows, self._partition(scaler(rows.X), rows.groups))
            else:
                parts = self._partition(len(rows.X) if rows.pairwise else scaler(rows.X), rows.groups)
                found, way = self._losses_in_place(
                    way, model, scaled, parts if decision.held_out or self._learns_quickly else None
                )
                held_out = None if found is None else replace(_held_out(rows, found), way=way)
            judgement = Judgement.of(decision, held_out, lambda: Ranks.of(self._training_losses(model, scaled), None))
        judgement = judgement.beside(removed)
        self._after(model)
        return self._keep(
            rows.header,
            self._threshold(model, judgement.ranks, decision),
            judgement.calibration,
            judgement.held_out if by_row else None,
            decision_=decision,
            training=judged,
            ranks_=judgement.ranks,
            model_=model,
            scaler_=scaler,
            cross_=cross,
            **self._attributes(model),
        )

    @property
    def _n_folds(self) -> int:
        """Number of folds."""
        return FOLDS

    @property
    def _seed(self) -> int:
        """Seed of the folds or of the split."""
        return 0

    def _way(self, decision: Decision, *, pairwise: bool) -> str:
        """Check `hold_out`, and return how rows are held out."""
        if isinstance(self.hold_out, str):
            way = check_choice(self, "hold_out", self._hold_outs)
        else:
            way = "split"
            check_number(self, "hold_out", 0, 1)
        if way == "loo" and not self._has_closed_form:
            raise ChoiceError(
                f"{self._name}: hold_out must be one of 'auto', 'split', 'plus' and 'folds', since its leave-one-out "
                "losses have no closed form; got 'loo'"
            )
        if way in ("split", "plus") and (pairwise or not decision.held_out):
            why = "kernel='precomputed'" if pairwise else f"threshold={decision.rule!r}"
            raise ChoiceError(f"{self._name}: hold_out must be 'auto', 'folds' or 'loo' with {why}, got {way!r}")
        return way

    @property
    def _has_closed_form(self) -> bool:
        return type(self)._held_out_losses is not Baseline._held_out_losses

    @property
    def _share_held_out(self) -> float:
        """Share of the rows that `hold_out` splits off."""
        return _SPLIT_SHARE if isinstance(self.hold_out, str) else self.hold_out

    def _learn_from(self, rows: TrainingSet, *, of: TrainingSet) -> tuple[Scaler, Training, M]:
        """Scale some of the rows of a training set and learn from them."""
        scaler = self._scaling(rows.X, rows.header)
        scaled = self._training(rows.X, scaler)
        zscored = read_scaling(self._name, self.scale) == "zscore" and not scaled.pairwise
        scaled = replace(scaled, groups=rows.groups, zscored=zscored, w=rows.w)
        if rows.outliers is not None:
            every = np.ones(len(of.X), dtype=bool)
            inside, given = (every if mask is None else mask for mask in (rows.kept, of.kept))
            numbers = np.concatenate([np.flatnonzero(inside), np.flatnonzero(~given)])
            scaled = replace(scaled, outliers=Outliers(self._training(rows.outliers, scaler).Z, numbers))
        return scaler, scaled, self._learn(scaled)

    def _partition(self, Z: Array | int, groups: Groups | None) -> list[Part]:
        """The rows seen and unseen of each fold, chosen by scaled rows."""
        return list(fold_rows(Z, groups, folds=self._n_folds, seed=self._seed))

    def _cross(self, rows: TrainingSet, parts: list[Part]) -> tuple[Cross, HeldOut]:
        """The models without each fold, which have scaled and learned as if these rows did not exist."""

        def learn(part: Part) -> tuple[Learned, Array]:
            scaler, _, model = self._learn_from(rows.part(part[0]), of=rows)
            return Learned(model, scaler), self._judge(model, scaler, rows.X[part[1]])

        found = self._each(learn, parts)
        losses = in_row_order(parts, [own for _, own in found])
        held_out = _held_out(rows, losses)
        w = held_out.weights
        ranks, held_out = CrossRanks.of([(losses[unseen], w[unseen]) for _, unseen in parts], held_out)
        return Cross([learned for learned, _ in found], ranks), held_out

    def _each(self, work: Callable[[Part], R], parts: Iterable[Part]) -> list[R]:
        """The result of `work` for each fold."""
        return [work(part) for part in parts]

    @abstractmethod
    def _learn(self, training: Training) -> M:
        """Learn a model from rows. A fold of two rows leaves one row to learn from."""

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
        cross = vars(self).get("cross_")  # models of earlier versions lack it
        for one in () if cross is None else cross.models:
            must(type(one.model) is type(self.model_), "cross_ must hold models of the kind of model_")
            must(one.scaler.centre.shape == (self.n_features_in_,), "cross_ must hold models of all columns")
        return {"d": self.n_features_in_}

    # Losses of the training rows.

    def _training_losses(self, model: M, training: Training) -> Array:
        """Loss of each training row under the model."""
        return model.losses(training.Z)

    def _held_out_losses(self, model: M, training: Training) -> Array | None:
        """Loss of each row under a model without the row and its group; None if that needs the folds."""
        return None

    def _losses_in_place(
        self, way: str, model: M, training: Training, parts: list[Part] | None
    ) -> tuple[Array | None, str]:
        """Held-out losses for the model of all rows: leave-one-out in closed form, or by these folds if any.

        The text says how they were held out, as in `Calibration`.
        """
        closed = way == "loo" or (way == "auto" and not (self._minds_scale and training.scales_itself))
        losses = self._held_out_losses(model, training) if closed else None
        if losses is None and way == "loo":
            raise ChoiceError(
                f"{self._name}: hold_out must be 'auto', 'split', 'plus' or 'folds' for these rows, since there are "
                "groups, or too many rows or columns for leave-one-out losses in closed form; got 'loo'"
            )
        if losses is not None or parts is None:
            return losses, ""
        return self._losses_by_folds(model, training, parts), "folds"

    def _losses_by_folds(self, model: M, training: Training, parts: list[Part]) -> Array:
        """Loss of each row under a model that learnt from the other folds."""
        training = self._knowing(model, training)

        def judge(part: Part) -> Array:
            known, other = training.fold(*part)
            twin = self._learn(known)
            return twin.losses(other.Z) * self._size_beside(model, twin, training)

        return in_row_order(parts, self._each(judge, parts))

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
        own, cross = self._judge(self.model_, self.scaler_, X), vars(self).get("cross_")
        if cross is None:
            return own
        return cross.ranks.losses(own, [self._judge(one.model, one.scaler, X) for one in cross.models])

    def _judge(self, model: M, scaler: Scaler, X: Array) -> Array:
        """Loss of rows that are not scaled."""
        return model.losses(scaler(X))

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
        expected = self.model_.expected(self.scaler_(rows))
        return None if expected is None else self.scaler_.inverse(expected)


def _held_out(rows: TrainingSet, losses: Array) -> HeldOut:
    """The held-out losses of rows."""
    return HeldOut(losses, None if bool((rows.w == 1).all()) else rows.w, rows.groups, rows.kept)


def count_distinct(Z: Array) -> int:
    """Number of distinct rows."""
    return len(np.unique(Z, axis=0))
