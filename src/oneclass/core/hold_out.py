"""Ways to hold out training rows: folds, a split, and the losses of new rows that give them the ranks of CV+."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from .arrays import Array
from .calibration import Calibration, HeldOut
from .groups import Groups
from .row_sample import row_keys
from .stored import Length
from .threshold import Ranks

__all__ = ["CrossRanks", "Part", "fold_rows", "in_row_order", "split_rows"]

#: Row numbers of the rows that a model learns from, and of those that it does not see.
Part = tuple[NDArray[np.intp], NDArray[np.intp]]

#: Values are rounded to so many parts of a unit before they are hashed: rounding errors must not change the folds.
_PARTS = 2.0**20
#: Values beyond this size, in units of the scaling, are equal to the hash.
_LARGEST = 2.0**40
#: Smallest distance of two held-out losses under CV+, in rounding margins.
_MARGINS = 4.0


def fold_rows(Z: Array | int, groups: Groups | None, *, folds: int, seed: int = 0) -> Iterator[Part]:
    """Yield the rows seen and unseen of each fold; every row is unseen once, and groups stay together.

    Folds are of equal size, up to one row or group. Rows are put into the order of a hash of their scaled values `Z`,
    and then into random folds, so that folds do not depend on the order of the rows. With a number of rows in place of
    `Z`, the order is that of the rows.
    """
    if groups is not None:
        fold = _random_folds(groups.count, folds, seed)[groups.of_rows]
    elif isinstance(Z, int):
        fold = _random_folds(Z, folds, seed)
    else:
        words = np.round(np.clip(Z, -_LARGEST, _LARGEST) * _PARTS) + 0.0  # without -0.0
        fold = np.empty(len(Z), dtype=np.intp)
        fold[np.argsort(row_keys(words, 0), kind="stable")] = _random_folds(len(Z), folds, seed)
    for k in range(int(fold.max()) + 1):
        yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


def split_rows(n: int, groups: Groups | None, *, share: float, seed: int = 0) -> Part:
    """Return the rows to learn from, and a random share of the rows, or of the groups, that is held out."""
    count = n if groups is None else groups.count
    held_out = min(max(1, round(share * count)), count - 1)
    unseen = np.zeros(count, dtype=bool)
    unseen[np.random.RandomState(seed).permutation(count)[:held_out]] = True
    rows = unseen if groups is None else unseen[groups.of_rows]
    return np.flatnonzero(~rows), np.flatnonzero(rows)


def in_row_order(parts: list[Part], losses: list[Array]) -> Array:
    """Return the losses of the unseen rows of each fold as losses of all rows."""
    found = np.empty(sum(len(unseen) for _, unseen in parts))
    for (_, unseen), own in zip(parts, losses, strict=True):
        found[unseen] = own
    return found


def _random_folds(n: int, folds: int, seed: int) -> NDArray[np.intp]:
    fold: NDArray[np.intp] = np.random.RandomState(seed).permutation(n) % min(folds, n)
    return fold


@dataclass(frozen=True)
class CrossRanks:
    """The ranks of new rows under CV+: a row is compared with the rows of a fold by the model without that fold.

    The p-value of a row x, with the loss s_k of the model without fold k, is

        (1 + sum_k #{i in fold k: s_k(x_i) >= s_k(x)}) / (n + 1).

    `folds` are the losses of each fold. `calibration` holds all of them, at least a few rounding margins apart.
    """

    folds: Annotated[list[Ranks], Length("folds")]
    calibration: Calibration

    @classmethod
    def of(cls, folds: list[tuple[Array, Array | None]], held_out: HeldOut) -> tuple[CrossRanks, HeldOut]:
        """Return the ranks for the losses and weights of each fold, and the held-out losses of all rows, apart."""
        apart = HeldOut(_apart(held_out.losses), held_out.w, held_out.groups, held_out.learnt, way="plus")
        return cls([Ranks.of(losses, w) for losses, w in folds], apart.calibration()), apart

    def losses(self, own: Array, by_fold: list[Array]) -> Array:
        """Return a loss for each row with the rank of CV+ in `calibration`, and as near to the loss `own` as possible.

        Rows of the same rank keep the order of `own`. `by_fold` are the losses by the model without each fold.
        """
        known = self.calibration
        below = sum(_weight_below(ranks, losses) for ranks, losses in zip(self.folds, by_fold, strict=True))
        # Weights of groups are fractions: the rank is then rounded down, to the larger p-value.
        place = np.searchsorted(np.concatenate([[0.0], known.reached]), below * (1 + 1e-12) + 1e-12, side="right") - 1
        s, margins = known.losses, known.limits - known.losses
        low = np.concatenate([[-np.inf], s + 2 * margins])[place]
        high = np.concatenate([s, [np.inf]])[place]
        above_low, below_high = np.concatenate([[0.0], margins])[place], np.concatenate([margins, [0.0]])[place]
        largest = np.finfo(float).max
        own = np.clip(own, -largest, largest)
        middle, width = float(np.median(s)), float(s[-1] / 2 - s[0] / 2) or 1.0
        with np.errstate(over="ignore"):
            away = np.clip((own / 2 - middle / 2) / width, -1e6, 1e6)
        order = 0.5 + 0.5 * away / (1 + np.abs(away))  # from 0 to 1, increasing with `own`
        return np.minimum(np.maximum(own, low + order * above_low), high - (1 - order) * below_high)


def _weight_below(ranks: Ranks, losses: Array) -> Array:
    """Weight of the losses of a fold that are smaller than each loss."""
    reached = np.concatenate([[0.0], ranks.reached])
    return reached[np.searchsorted(ranks.limits, losses, side="left")]


def _apart(losses: Array) -> Array:
    """Losses moved up until no two are equal: the loss of a new row can lie between any two."""
    order = np.argsort(losses, kind="stable")
    s = losses[order].astype(np.float64)
    finite = s[np.isfinite(s)]
    if not len(finite):
        return losses
    unit = np.finfo(np.float64).eps ** (2 / 3) * _MARGINS
    size = float(np.median(np.abs(finite))) or float(np.abs(finite).max()) or 1.0
    first = float(finite[0])
    for i in range(1, len(finite)):
        gap = unit * max(size, abs(s[i - 1]), s[i - 1] / 2 - first / 2 + abs(s[i - 1] / 2 - first / 2))
        if not s[i] >= s[i - 1] + gap and math.isfinite(s[i]):
            s[i] = s[i - 1] + gap
    moved = np.empty_like(s)
    moved[order] = s
    return moved
