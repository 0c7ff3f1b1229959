"""Held-out losses of training rows that are landmarks: such a row leaves as a training row and as a landmark.

If the row stayed a landmark, its held-out loss would be smaller than the loss of any new row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .arrays import Array, device, namespace, to_numpy
from .block import Block
from .features import NystromMap
from .leave_landmarks_out import Landmarks
from .machine import Machine
from .plan import Survey
from .primal import PrimalModel
from .row_sample import row_keys
from .solve import TrainingRows

__all__ = ["OwnLandmarks", "measured"]

#: Largest ratio of landmarks to training rows at which landmarks are not removed: their losses hardly change a
#: threshold.
_NEGLIGIBLE_LANDMARK_SHARE = 0.02
#: Number of sampled rows whose held-out values give the measures of a loss. They estimate the rank of a quantile with a
#: standard error of one percentage point.
_MEASURED_ROWS = 2048


@dataclass(frozen=True)
class OwnLandmarks:
    """The landmarks of a model that are training rows without copies, by the sorted keys of these rows."""

    keys: NDArray[np.int64]
    seed: int
    landmarks: Landmarks

    @classmethod
    def of(cls, machine: Machine, survey: Survey, candidates: int) -> OwnLandmarks | None:
        """Return the landmarks of a machine, or None if it is not necessary to remove them.

        None if the model has no landmarks, if they are all rows or a negligible share of them, or if all of them are
        rows with copies. The landmarks were chosen among the first `candidates` rows of the sample.
        """
        sample, model = survey.sample, machine.model
        if not isinstance(model, PrimalModel) or not isinstance(model.map, NystromMap):
            return None
        # A row with copies stays: its copies explain it as well as before. If all rows are landmarks, or if the other
        # landmarks span the same functions, removing one landmark changes nothing.
        if not _NEGLIGIBLE_LANDMARK_SHARE * survey.columns.weight < model.map.width <= model.width:
            return None
        rows = machine.plan.nearest(sample.rows[: min(candidates, sample.rows.shape[0]), :])
        chosen = np.flatnonzero(to_numpy(sample.weights)[rows] <= 1)
        if not len(chosen) or len(rows) == sample.rows.shape[0]:
            return None
        keys, owners = np.unique(to_numpy(sample.keys)[rows[chosen]], return_inverse=True)
        every = len(chosen) == len(rows)
        own = Landmarks.of(model, owners) if every else Landmarks.of(model, _filled(owners, chosen, rows), chosen)
        return None if own is None else cls(keys, sample.seed, own)

    def without(self, machine: Machine, X: Array, rows: TrainingRows, F: Array | None) -> TrainingRows:
        """Return the rows with held-out values; for a row that is a landmark, by the machine without that landmark.

        `F` are the features of the rows, if they are known.
        """
        xp = namespace(X)
        keys = to_numpy(row_keys(X, self.seed))
        owners = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        mine = np.flatnonzero(self.keys[owners] == keys)
        if not len(mine) or not isinstance(machine.model, PrimalModel):
            return rows
        others = np.setdiff1d(np.arange(len(keys)), mine)
        here, there = (xp.asarray(places, device=device(X)) for places in (mine, others))
        model, plan, own = machine.model, machine.plan, rows.at(here)
        Z = plan.scaler(xp.take(X, here, axis=0))
        features = model.features(Z) if F is None else xp.take(F, here, axis=0)
        Q = own.leverages()[:, None, None]
        alone = plan.left_by_groups(model, self.landmarks, own, Z, features, Q, owners[mine])
        back = xp.argsort(xp.concat([here, there]))
        given = (rows.held_out_residuals(), rows.left_leverages())
        assert alone.left is not None
        left = (xp.concat([a, xp.take(b, there, axis=0)]) for a, b in zip(alone.left, given, strict=True))
        residuals, leverages = (xp.take(of, back, axis=0) for of in left)
        return replace(rows, left=(residuals, leverages))


def measured(machine: Machine, survey: Survey, candidates: int, all_rows: Block | None, *, grouped: bool) -> Machine:
    """Return the machine with the measures of its loss, from held-out values of training rows, if the loss needs them.

    These are all rows, if they are few, or sampled rows. The landmarks were chosen among the first `candidates` rows of
    the sample. If the fit is `grouped`, single rows are held out all the same, with the variance term as it is.
    """
    model, sample = machine.model, survey.sample
    if machine.plan.recipe.loss != "either" or not isinstance(model, PrimalModel):
        return machine
    if all_rows is None or survey.n_rows > _MEASURED_ROWS:
        n = min(_MEASURED_ROWS, sample.rows.shape[0])
        X, w = sample.rows[:n, :], sample.weights[:n]
    else:
        X, w = all_rows.X, all_rows.w
    rows = machine.plan.training_rows(model, X, w)
    if grouped:
        return machine.measured(replace(rows, left=None))
    owned = OwnLandmarks.of(machine, survey, candidates)
    return machine.measured(rows if owned is None else owned.without(machine, X, rows, None))


def _filled(owners: NDArray[np.int64], chosen: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the owner of every landmark: `owners` for those chosen, -1 for the others."""
    filled = np.full(len(rows), -1)
    filled[chosen] = owners
    return filled
