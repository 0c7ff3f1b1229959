"""Decision values with bounds of their rounding errors, and whether these errors could change a score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Decisions", "unaffected"]

Float = NDArray[np.float64]
Bool = NDArray[np.bool_]
Index = NDArray[np.intp]

#: Decisions closer than this share of their size count as tied: bounds the digits that metrics of ranks compare, which
#: are half of those of a float (see `scorers`).
_TIED = 1e-6


class Decisions(NamedTuple):
    """Decision values of validation rows, and bounds of the rounding errors of their losses and of the threshold."""

    values: Float
    errors: Float
    threshold_error: float

    def extremes(self, targets: Bool) -> tuple[Float, Float]:
        """The decisions if every rounding error favoured the targets, and if every one favoured the outliers."""
        shift = np.where(targets, 1, -1) * (self.errors + self.threshold_error)
        return self.values + shift, self.values - shift


def unaffected(depends_on: str, candidates: Sequence[Decisions], copies: Index) -> Sequence[bool]:
    """For each candidate, whether rounding cannot change what a scorer depends on.

    `depends_on` is that of a `Scorer`. Rows with the same number in `copies` are equal, so their errors are, too.
    """
    if depends_on == "decisions":
        return [False] * len(candidates)
    values, errors = (np.stack([getattr(one, name) for one in candidates]) for name in ("values", "errors"))
    if depends_on == "signs":
        bound = errors + np.array([[one.threshold_error] for one in candidates])
        return list(np.all(np.abs(values) > bound, axis=1))
    order = np.argsort(values, axis=1)
    values, errors = (np.take_along_axis(array, order, axis=1) for array in (values, errors))
    equal = copies[order][:, 1:] == copies[order][:, :-1]
    tied = _TIED * (np.abs(values[:, 1:]) + np.abs(values).max(axis=1, keepdims=True))
    apart = values[:, 1:] - values[:, :-1] > errors[:, 1:] + errors[:, :-1] + tied
    return list(np.all(apart | equal, axis=1))
