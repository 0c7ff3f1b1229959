"""Thresholds on losses, and conformal p-values. A row is accepted when its loss is at most the threshold.

Row i counts ``w[i]`` times, so n is the total weight and ranks are ranks among copies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from .arrays import Array, namespace

__all__ = ["Ranks", "authors", "conformal", "conformal_p_value", "dd_tools", "paper", "smallest_budget"]

#: Slack that keeps products such as 0.05 * 100 from falling short of the integer they stand for.
_SLACK = 1e-9


@dataclass(frozen=True)
class Ranks:
    """Losses in ascending order, and the weight up to each. Every rule takes them in place of the losses."""

    losses: Array
    reached: Array
    total: float

    @classmethod
    def of(cls, losses: Array | Self, w: Array) -> Self:
        """Rank losses, unless that is done."""
        if isinstance(losses, cls):
            return losses
        xp = namespace(losses)
        order = xp.argsort(losses)
        return cls(xp.take(losses, order), xp.cumulative_sum(xp.take(w, order)), _total(w))

    def place(self, rank: float) -> int:
        """Where the loss of that rank stands."""
        short = int(namespace(self.reached).count_nonzero(self.reached < rank * (1 - _SLACK)))
        return min(short, self.losses.shape[0] - 1)

    def just_above(self, rank: float) -> float:
        """The limit of the loss of that rank."""
        return float(self.limits[self.place(rank)])

    @cached_property
    def limits(self) -> Array:
        """Halfway from each loss to the next larger one: on a loss itself, labels would depend on rounding.

        A margin makes copies of a row, whose losses differ by rounding, one value; it is all that the largest is given.
        """
        s = self.losses
        xp = namespace(s)
        margin = math.sqrt(float(xp.finfo(s.dtype).eps)) * xp.maximum(xp.abs(s), s - s[0])
        above = xp.searchsorted(s, s + margin, side="right")
        following = xp.take(s, xp.clip(above, max=s.shape[0] - 1))
        known = (above < s.shape[0]) & xp.isfinite(following)
        return xp.where(known, s + (xp.where(known, following, s) - s) / 2, s + margin)


def conformal(losses: Array | Ranks, w: Array, *, delta: float) -> float:
    """Threshold with P(reject a fresh normal row) <= delta: rank ceil((n + 1)(1 - delta)) of held-out losses.

    A budget below 1 / (n + 1), zero included, gives the largest loss: no row seen so far is rejected.
    """
    ranks = Ranks.of(losses, w)
    return ranks.just_above(ranks.total + 1 - math.floor((ranks.total + 1) * delta + _SLACK))


def paper(losses: Array | Ranks, w: Array, *, delta: float) -> float:
    """The paper's rule, s_dec(floor(delta n)) (model_thresh); floor(delta n) = 0 means the largest loss."""
    ranks = Ranks.of(losses, w)
    return ranks.just_above(ranks.total + 1 - max(1, math.floor(delta * ranks.total + _SLACK)))


def dd_tools(losses: Array | Ranks, w: Array, *, delta: float) -> float:
    """Midpoint of the k-th and the (k + 1)-th smallest loss, k = round((1 - delta) n), halves upwards."""
    ranks = Ranks.of(losses, w)
    return ranks.just_above(max(1, math.floor((1 - delta) * ranks.total + 0.5 + _SLACK)))


def authors(losses: Array | Ranks, w: Array, *, delta: float) -> float:
    """The released code: the ceil(n (1 - delta))-th smallest loss, itself rejected."""
    ranks = Ranks.of(losses, w)
    s = ranks.losses[ranks.place(ranks.total - math.floor(delta * ranks.total + _SLACK))]
    # "Strictly below s" is "at most the float before s".
    return _before(float(s), ranks.losses)


def smallest_budget(w: Array) -> float:
    """The smallest false-alarm rate that n rows can promise, 1 / (n + 1)."""
    return 1 / (_total(w) + 1)


def conformal_p_value(losses: Array, held_out: Array | Ranks, w: Array) -> Array:
    """(1 + #{i: limit of held-out loss i >= loss}) / (n + 1): uniform or larger for a fresh normal row.

    The limits are those of the thresholds, so that the p-value is at most delta where `conformal` at delta rejects, and
    nowhere else.
    """
    xp = namespace(losses)
    ranks = Ranks.of(held_out, w)
    reached = xp.concat([xp.zeros_like(ranks.reached[:1]), ranks.reached])
    below = xp.take(reached, xp.searchsorted(ranks.limits, losses, side="left"))
    return (1 + (reached[-1] - below)) / (1 + reached[-1])


def _total(w: Array) -> float:
    n = float(namespace(w).sum(w))
    return float(round(n)) if abs(n - round(n)) < _SLACK * max(1.0, n) else n


def _before(value: float, like: Array) -> float:
    kind = np.float32 if namespace(like).finfo(like.dtype).bits == 32 else np.float64
    return float(np.nextafter(kind(value), kind(-math.inf)))
