"""Losses that one decomposition gives at every C, and what rounding may leave of decisions on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.threshold import Ranks

__all__ = ["SETTLED", "Decisions", "Judged"]

Float = NDArray[np.float64]
Index = NDArray[np.intp]


@dataclass(frozen=True)
class Judged:
    """Losses at every C, of the training rows (ranked) and of the rows to judge, and how far off rounding may be."""

    known: list[Ranks]
    known_slack: Float  # C, rank
    rows: Float  # C, row
    row_slack: Float

    def threshold_slack(self, c: int, threshold: float) -> float:
        """How far off rounding may leave a threshold: no further than the loss that it sits on."""
        k = int(self.known[c].losses.searchsorted(threshold))
        return float(self.known_slack[c][max(k - 1, 0)])


class Decisions(NamedTuple):
    """Decision values of the rows to judge, and how far off rounding may leave their losses and the threshold."""

    values: Float
    slack: Float
    threshold_slack: float

    def extremes(self, targets: NDArray[np.bool_]) -> tuple[Float, Float]:
        """The decisions were rounding all in favour of `targets`, and all against them."""
        favour = np.where(targets, 1, -1) * (self.slack + self.threshold_slack)
        return self.values + favour, self.values - favour


def _settled_signs(found: Sequence[Decisions], copies: Index) -> list[bool]:
    """Of each point, whether rounding leaves all rows on their side of the threshold."""
    values, slack = np.stack([one.values for one in found]), np.stack([one.slack for one in found])
    moved = slack + np.array([[one.threshold_slack] for one in found])
    return list(np.all(np.abs(values) > moved, axis=1))


def _settled_ranks(found: Sequence[Decisions], copies: Index) -> list[bool]:
    """Of each point, whether rounding leaves the rows in their order: all but copies are further apart."""
    values, slack = np.stack([one.values for one in found]), np.stack([one.slack for one in found])
    order = np.argsort(values, axis=1)
    values, slack = (np.take_along_axis(of, order, axis=1) for of in (values, slack))
    same = copies[order][:, 1:] == copies[order][:, :-1]
    # Metrics of ranks see half of the digits.
    digits = 1e-6 * (np.abs(values[:, 1:]) + np.abs(values).max(axis=1, keepdims=True))
    apart = values[:, 1:] - values[:, :-1] > slack[:, 1:] + slack[:, :-1] + digits
    return list(np.all(apart | same, axis=1))


#: By what a metric sees of decisions: of each point, whether that is beyond the doubt of rounding. Copies among the
#: rows, which have the same number, are rounded alike.
SETTLED: dict[str, Callable[[Sequence[Decisions], Index], list[bool]]] = {
    "signs": _settled_signs,
    "ranks": _settled_ranks,
    "decisions": lambda found, copies: [False] * len(found),
}
