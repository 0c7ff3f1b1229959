"""What a baseline learns from, and what it learns: rows, models and the models of folds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Annotated, Any, Protocol, TypeVar

import numpy as np

from ..core.arrays import Array, ones
from ..core.groups import Groups
from ..core.hold_out import CrossRanks
from ..core.kernels import Kernel
from ..core.scaling import ColumnMoments, Scaler
from ..core.stored import Length
from ._rounding import Rounding

__all__ = ["FOLDS", "Cross", "E", "ExplainedModel", "Learned", "M", "Model", "Outliers", "Training"]

#: Number of folds for held-out losses.
FOLDS = 5

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

    def expected(self, Z: Array) -> Array | None:
        """Expected value of each feature, scaled; None if those of the kept training rows are better."""
        return None

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
    w: Array | None = None  # weights of the rows

    def part(self, rows: Array, seen: Array) -> Training:
        """Some of the rows, as input of a model that learnt from the rows `seen`."""
        w = None if self.w is None else self.w[rows]
        return replace(self, Z=self.Z[np.ix_(rows, seen)] if self.pairwise else self.Z[rows], w=w)

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
        if not self.zscored or n < 2 * FOLDS:  # too few rows to tell
            return False
        return d > n or float(np.mean((self.Z**2).max(axis=1) / (n - 1) > _INFLUENTIAL_PART)) > _INFLUENTIAL_ROWS


@dataclass(frozen=True)
class Learned:
    """A model, with the scaling of the rows that it learned from."""

    model: Any  # of the class of the classifier's other models
    scaler: Scaler


@dataclass(frozen=True)
class Cross:
    """The models without each fold, and the ranks of CV+ among their held-out losses."""

    models: Annotated[list[Learned], Length("folds")]
    ranks: CrossRanks
