"""Rules that put a threshold on ranked losses. A row is accepted when its loss is at most the threshold.

Row i counts ``w[i]`` times, so n is the total weight and ranks are ranks among copies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Annotated, Protocol, Self

import numpy as np
from scipy.special import betainc

from .arrays import Array, device, namespace, ones
from .stored import Floats, Positive, Share, Within, must

__all__ = [
    "HELD_OUT",
    "RULES",
    "Decision",
    "LossError",
    "Ranks",
    "Rule",
    "authors",
    "confident_budget",
    "conformal",
    "dd_tools",
    "paper",
    "ranks_within",
]

#: Slack that keeps products such as 0.05 * 100 from falling short of the integer they stand for.
_SLACK = 1e-9
#: Share of the largest float from which on a loss counts as infinite: with its rounding added it would be.
_FINITE = 0.25


class LossError(ValueError):
    """Losses on which no threshold can be put."""


@dataclass(frozen=True)
class Ranks:
    """Losses in ascending order, and the weight up to each, in double precision: rounding must not miss a rank."""

    losses: Annotated[Array, Floats("_c")]
    reached: Annotated[Array, Floats("_c", above=0)]
    total: Positive
    removed: Annotated[float, Within(0)] = 0.0  # what of the total is no longer here: rows beyond all losses

    def __check__(self) -> None:
        for name, values in (("losses", self.losses), ("reached", self.reached)):
            must(bool(namespace(values).all(values[1:] >= values[:-1])), f"{name} must ascend")
        total = float(self.reached[-1]) + self.removed
        must(math.isclose(self.total, total, rel_tol=_SLACK), f"total must be {total:g}, got {self.total!r}")

    @classmethod
    def of(cls, losses: Array, w: Array | None) -> Self:
        """Rank losses, row i counted ``w[i]`` times; None are ones.

        Refuses NaN. Infinite losses, and those that rounding may make infinite, count among the `removed`: they are
        beyond every finite loss, and no threshold is put on them.
        """
        xp = namespace(losses)
        finite = xp.abs(losses) < _FINITE * float(xp.finfo(losses.dtype).max)
        if not bool(xp.all(finite)):
            _refuse_unranked(losses, finite)
            w = ones(losses) if w is None else w
            return cls.of(losses[finite], w[finite]).beside(float(xp.sum(xp.astype(w[~finite], xp.float64))))
        if w is None:
            n = int(losses.shape[0])
            return cls(xp.sort(losses), xp.arange(1, n + 1, dtype=xp.float64, device=device(losses)), float(n))
        order = xp.argsort(losses)
        reached = _whole(xp.cumulative_sum(xp.astype(xp.take(w, order), xp.float64)))
        return cls(xp.take(losses, order), reached, float(reached[-1]))

    def beside(self, removed: float) -> Self:
        """The same with rows of that weight beyond all losses."""
        return replace(self, total=self.total + removed, removed=self.removed + removed) if removed else self

    def __getstate__(self) -> dict[str, object]:
        # Without the limits, which are worked out again.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def place(self, rank: float) -> int:
        """Where the loss of that rank stands."""
        return min(_count_below(self.reached, rank * (1 - _SLACK)), int(self.losses.shape[0]) - 1)

    def on(self, rank: float) -> float:
        """The loss of that rank, and what rounding may make of it: no copy of a row is beyond its own loss."""
        value = float(self.losses[self.place(rank)])
        return value + self._rounding() * max(abs(value), value - float(self.losses[0]))

    def just_above(self, rank: float) -> float:
        """The loss of that rank, and what it may become when its row, or a copy of it, is scored again."""
        value = float(self.losses[self.place(rank)])
        return value + self._rounding(1 / 2) * max(abs(value), value - float(self.losses[0]))

    def halfway(self, rank: float) -> float:
        """Halfway from the loss of that rank to the next one: on a loss itself, labels would depend on rounding."""
        s, limit = self.losses, self.just_above(rank)  # copies of a row are no next one
        above = _count_below(s, limit, included=True)
        value, following = float(s[self.place(rank)]), float(s[above]) if above < s.shape[0] else math.inf
        return value + (following - value) / 2 if math.isfinite(following) else limit

    @cached_property
    def limits(self) -> Array:
        """Each loss, and what rounding may make of it."""
        s = self.losses
        xp = namespace(s)
        return s + self._rounding() * xp.maximum(xp.abs(s), s - s[0])

    def _rounding(self, power: float = 2 / 3) -> float:
        """Share of a loss that rounding may change: more than its last digits, less than anyone can see."""
        return float(float(namespace(self.losses).finfo(self.losses.dtype).eps) ** power)


class Rule(Protocol):
    """A threshold for the budget `delta`."""

    def __call__(self, ranks: Ranks, *, delta: float) -> float:
        """Put the threshold on ranked losses."""
        ...


def conformal(ranks: Ranks, *, delta: float) -> float:
    """Threshold with P(reject a fresh normal row) <= delta: rank (n + 1)(1 - delta), rounded up, of held-out losses.

    A budget below 1 / (n + 1), zero included, gives the largest loss: no row seen so far is rejected. Rows that share
    the weight of their group have ranks between whole numbers, and no rounding there would keep p-values company.
    """
    return ranks.on((ranks.total + 1) * (1 - delta))


def ranks_within(total: float, delta: float) -> int:
    """How many of the n + 1 ranks of a fresh row a budget rejects, floor((n + 1) delta)."""
    return math.floor((total + 1) * delta + _SLACK)


def confident_budget(total: float, *, delta: float, confidence: float) -> float:
    """The largest k / (n + 1) for which a Beta(k, n + 1 - k) rate is at most delta with that confidence; 0 for none."""
    # The rate stays below delta the surer the smaller k is: with none of these ranks surely, with one more not.
    low, high = 0, ranks_within(total, delta) + 1
    while high - low > 1:
        k = (low + high) // 2
        sure = betainc(k, total + 1 - k, delta) >= confidence
        low, high = (k, high) if sure else (low, k)
    return low / (total + 1)


def paper(ranks: Ranks, *, delta: float) -> float:
    """The paper's rule, s_dec(floor(delta n)) (model_thresh); s_dec(0), which it leaves open, is the largest loss."""
    return ranks.just_above(ranks.total + 1 - max(1, math.floor(delta * ranks.total + _SLACK)))


def dd_tools(ranks: Ranks, *, delta: float) -> float:
    """Midpoint of the k-th and the (k + 1)-th smallest loss, k = round((1 - delta) n), halves upwards."""
    return ranks.halfway(max(1, math.floor((1 - delta) * ranks.total + 0.5 + _SLACK)))


def authors(ranks: Ranks, *, delta: float) -> float:
    """The released code: the ceil(n (1 - delta))-th smallest loss, itself rejected."""
    s = ranks.losses[ranks.place(ranks.total - math.floor(delta * ranks.total + _SLACK))]
    # "Strictly below s" is "at most the float before s".
    return _before(float(s), ranks.losses)


@dataclass(frozen=True)
class Decision:
    """Which rule puts the threshold, for which budget, and whether it looks at held-out losses or at training ones.

    The budget is kept on average over training sets or, if there is one, with the `confidence`.
    """

    rule: str
    delta: Share
    held_out: bool
    confidence: Share | None = None

    def budget(self, total: float) -> float:
        """What to ask of a rule on losses of that total weight."""
        if self.confidence is None:
            return self.delta
        return confident_budget(total, delta=self.delta, confidence=self.confidence)


#: Rules of the machines by name, and those among them that look at held-out losses.
RULES: dict[str, Rule] = {"held_out": conformal, "train": paper, "authors": authors}
HELD_OUT = ("held_out",)


def _refuse_unranked(losses: Array, finite: Array) -> None:
    """Refuse losses if one is NaN, or minus infinity, or if none is finite."""
    xp, n = namespace(losses), losses.shape[0]
    unranked = int(xp.count_nonzero(~(finite | (losses > 0))))
    if unranked or not bool(xp.any(finite)):
        fault = f"{unranked} of {n} are NaN or minus infinity" if unranked else "all are infinite"
        raise LossError(
            f"no threshold can be put on the losses of training rows, of which {fault}; the likely cause is a "
            "parameter, or a value of X, that is extremely large or small"
        )


def _count_below(ranked: Array, value: float, *, included: bool = False) -> int:
    """How many of ranked numbers are below the value, which may be `included`."""
    if isinstance(ranked, np.ndarray):  # a search visits many thresholds
        return int(ranked.searchsorted(value, "right" if included else "left"))
    return int(namespace(ranked).count_nonzero(ranked <= value if included else ranked < value))


def _whole(sums: Array) -> Array:
    """Sums of weights, in which rows that share the weight of their group add up to whole numbers, not nearly so."""
    xp = namespace(sums)
    nearest = xp.round(sums)
    return xp.where(xp.abs(sums - nearest) < _SLACK * xp.clip(sums, min=1.0), nearest, sums)


def _before(value: float, like: Array) -> float:
    kind = np.float32 if namespace(like).finfo(like.dtype).bits == 32 else np.float64
    return float(np.nextafter(kind(value), kind(-math.inf)))
