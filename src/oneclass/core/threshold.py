"""Thresholds on losses, and conformal p-values. A row is accepted when its loss is at most the threshold.

Row i counts ``w[i]`` times, so n is the total weight and ranks are ranks among copies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
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

    def at(self, rank: float) -> tuple[float, float | None, float]:
        """The loss of that rank, the next larger one, and the margin below which losses are equal.

        The margin makes copies of a row, whose losses differ by rounding, one value; the next loss is None after the
        last.
        """
        s = self.losses
        xp = namespace(s)
        short = int(xp.count_nonzero(self.reached < rank * (1 - _SLACK)))
        value = float(s[min(short, s.shape[0] - 1)])
        margin = math.sqrt(float(xp.finfo(s.dtype).eps)) * max(abs(value), value - float(s[0]))
        above = int(xp.count_nonzero(s <= value + margin))
        return value, float(s[above]) if above < s.shape[0] else None, margin

    def just_above(self, rank: float) -> float:
        """Halfway from the loss of that rank to the next one: on a loss itself, labels would depend on rounding."""
        value, following, margin = self.at(rank)
        if following is None or not math.isfinite(following):
            return value + margin
        return value + (following - value) / 2


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
    s = ranks.at(ranks.total - math.floor(delta * ranks.total + _SLACK))[0]
    # "Strictly below s" is "at most the float before s".
    return _before(s, ranks.losses)


def smallest_budget(w: Array) -> float:
    """The smallest false-alarm rate that n rows can promise, 1 / (n + 1)."""
    return 1 / (_total(w) + 1)


def conformal_p_value(losses: Array, held_out: Array, w: Array) -> Array:
    """(1 + #{i: held-out loss i >= loss}) / (n + 1): uniform or larger for a fresh normal row."""
    xp = namespace(losses)
    order = xp.argsort(held_out)
    reached = xp.concat([xp.zeros_like(w[:1]), xp.cumulative_sum(xp.take(w, order))])
    below = xp.take(reached, xp.searchsorted(xp.take(held_out, order), losses, side="left"))
    return (1 + (reached[-1] - below)) / (1 + reached[-1])


def _total(w: Array) -> float:
    n = float(namespace(w).sum(w))
    return float(round(n)) if abs(n - round(n)) < _SLACK * max(1.0, n) else n


def _before(value: float, like: Array) -> float:
    kind = np.float32 if namespace(like).finfo(like.dtype).bits == 32 else np.float64
    return float(np.nextafter(kind(value), kind(-math.inf)))
