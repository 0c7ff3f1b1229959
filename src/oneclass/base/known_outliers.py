"""Which known outliers of a training set a classifier learns, and which one of them is nearest to a row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core.arrays import Array, device, namespace, to_numpy
from ..core.known import MOST_ROWS, KnownOutliers, sample_of
from ..core.row_sample import row_keys
from ..core.scaling import Scaler
from .checks import check_choice
from .explain_mixin import nearest_rows
from .nearest_known import NearestKnown
from .training_set import TrainingSet
from .warnings import LabelWarning, warn

__all__ = ["nearest_outliers", "outliers_to_learn"]


def outliers_to_learn(estimator: object, training: TrainingSet) -> TrainingSet:
    """The training set without outliers, or with at most `MOST_ROWS`: a sample that does not depend on their order."""
    found = training.outliers
    if found is None:
        return training
    ignored = check_choice(estimator, "known_outliers", ("learn", "ignore")) == "ignore"
    if ignored or not found.shape[0]:
        return replace(training, outliers=None)
    keys, known = to_numpy(row_keys(training.X, 0)), to_numpy(row_keys(found, 0))
    if same := int(np.isin(known, keys).sum()):
        warn(
            f"{type(estimator).__name__}: {same} of {len(known)} known outliers have the same values as a row of the "
            "target class; their labels contradict each other",
            LabelWarning,
        )
    return training if found.shape[0] <= MOST_ROWS else training.with_outliers(sample_of(found))


def nearest_outliers(known: KnownOutliers, scaler: Scaler, X: Array, own: Array, added: Array) -> NearestKnown:
    """The known outlier nearest to each row; `own` and `added` are both parts of its loss, as NumPy arrays."""
    xp, Z, rows = namespace(known.rows), to_numpy(scaler(X)), to_numpy(known.rows)
    numbers = nearest_rows(Z, rows, 1)[:, 0]
    near = xp.take(known.rows, xp.asarray(numbers, device=device(known.rows)), axis=0)
    decides = (added > 0) & (added > own)
    return NearestKnown(numbers + 1, decides, to_numpy(scaler.inverse(near)), np.abs(Z - rows[numbers]))
