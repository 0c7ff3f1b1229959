"""Rules that compute a threshold from ranked losses. A row is accepted if its loss is at most the threshold.

Row i counts ``w[i]`` times: n is the total weight, and a rank is a cumulative weight.
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
    "COUNTED",
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
    "own_rate",
    "paper",
    "ranks_within",
]

#: Relative tolerance of ranks: a product such as 0.05 * 100 may be less than the integer by rounding.
_SLACK = 1e-9
#: Share of the rows that is counted for the limits of the rate of one model, if the model has learned from them
#: (leave-one-out, CV+, folds). Chosen with 9 classifiers, 6 distributions and n = 50 and 199: 95 % intervals that count
#: all rows contained the rate of 88 % of the models (lowest 69 %), and those that count half of them 97 % (84 %).
#: benchmarks/ways.py reports on other distributions.
COUNTED = 0.5
#: A loss of at least this share of the largest float counts as infinite: adding a rounding margin could overflow.
_FINITE = 0.25


class LossError(ValueError):
    """The losses give no threshold: one is NaN or minus infinity, or all are infinite."""


@dataclass(frozen=True)
class Ranks:
    """Losses in ascending order, and their cumulative weights in double precision."""

    losses: Annotated[Array, Floats("_c")]
    reached: Annotated[Array, Floats("_c", above=0)]
    total: Positive
    removed: Annotated[float, Within(0)] = 0.0  # part of `total` that screening removed: rows beyond all losses

    def __check__(self) -> None:
        for name, values in (("losses", self.losses), ("reached", self.reached)):
            must(bool(namespace(values).all(values[1:] >= values[:-1])), f"{name} must ascend")
        total = float(self.reached[-1]) + self.removed
        must(math.isclose(self.total, total, rel_tol=_SLACK), f"total must be {total:g}, got {self.total!r}")

    @classmethod
    def of(cls, losses: Array, w: Array | None) -> Self:
        """Rank losses, row i counted ``w[i]`` times; ``w=None`` means ones.

        NaN raises `LossError`. Losses that are infinite, or so large that a rounding margin could overflow, are counted
        in `removed`: they are larger than every finite loss and are never a threshold.
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
        """Add the weight `removed` of rows that have larger losses than all others."""
        return replace(self, total=self.total + removed, removed=self.removed + removed) if removed else self

    def __getstate__(self) -> dict[str, object]:
        # Without the limits, which are computed again.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def place(self, rank: float) -> int:
        """Return the index of the loss of that rank."""
        return min(_count_below(self.reached, rank * (1 - _SLACK)), int(self.losses.shape[0]) - 1)

    def on(self, rank: float) -> float:
        """Return the loss of that rank plus a rounding margin, so that a copy of the row is not rejected."""
        value = float(self.losses[self.place(rank)])
        return value + self._rounding() * max(abs(value), value - float(self.losses[0]))

    def just_above(self, rank: float) -> float:
        """Return the loss of that rank plus a larger margin, for the row or a copy that is scored again."""
        value = float(self.losses[self.place(rank)])
        return value + self._rounding(1 / 2) * max(abs(value), value - float(self.losses[0]))

    def halfway(self, rank: float) -> float:
        """Return the midpoint of the loss of that rank and the next one: on a loss, labels would depend on rounding."""
        s, limit = self.losses, self.just_above(rank)  # the next loss must not be that of a copy
        above = _count_below(s, limit, included=True)
        value, following = float(s[self.place(rank)]), float(s[above]) if above < s.shape[0] else math.inf
        return value + (following - value) / 2 if math.isfinite(following) else limit

    @cached_property
    def limits(self) -> Array:
        """Each loss plus its rounding margin."""
        s = self.losses
        xp = namespace(s)
        return s + self._rounding() * xp.maximum(xp.abs(s), s - s[0])

    def _rounding(self, power: float = 2 / 3) -> float:
        """Return the relative rounding margin of a loss: larger than its last digits, but negligible in practice."""
        return float(float(namespace(self.losses).finfo(self.losses.dtype).eps) ** power)


class Rule(Protocol):
    """A rule that returns the threshold for the rate `delta`."""

    def __call__(self, ranks: Ranks, *, delta: float) -> float:
        """Return the threshold from ranked losses."""
        ...


def conformal(ranks: Ranks, *, delta: float) -> float:
    """Return the threshold with P(reject a new normal row) <= delta: the held-out loss of rank (n + 1)(1 - delta).

    For a `delta` below 1 / (n + 1), zero included, it is the largest loss: no training row is rejected. The rank is not
    rounded to an integer: rows that share the weight of their group have fractional ranks, and rounding would make
    thresholds and p-values disagree.
    """
    return ranks.on((ranks.total + 1) * (1 - delta))


def ranks_within(total: float, delta: float) -> int:
    """Return how many of the n + 1 possible ranks of a new row are rejected, floor((n + 1) delta)."""
    return math.floor((total + 1) * delta + _SLACK)


def own_rate(total: float, k: float, *, counted: float) -> tuple[float, float]:
    """Return the parameters of the Beta distribution of one model's rate, if it rejects k of n + 1 possible ranks.

    They are k and n + 1 - k if the model has not learned from the held-out rows. Otherwise only a share `counted` of
    the rows counts.
    """
    return k * counted, (total + 1 - k) * counted


def confident_budget(total: float, *, delta: float, confidence: float, counted: float = COUNTED) -> float:
    """Return the largest k / (n + 1) for which one model's rate is at most delta with that confidence, or 0."""
    # The probability of a rate of at most delta increases as k decreases: bisection.
    low, high = 0, ranks_within(total, delta) + 1
    while high - low > 1:
        k = (low + high) // 2
        sure = betainc(*own_rate(total, k, counted=counted), delta) >= confidence
        low, high = (k, high) if sure else (low, k)
    return low / (total + 1)


def paper(ranks: Ranks, *, delta: float) -> float:
    """Return the paper's threshold, s_dec(floor(delta n)) (model_thresh); for s_dec(0), the largest loss.

    The paper does not define s_dec(0).
    """
    return ranks.just_above(ranks.total + 1 - max(1, math.floor(delta * ranks.total + _SLACK)))


def dd_tools(ranks: Ranks, *, delta: float) -> float:
    """Return the midpoint of the k-th and (k + 1)-th smallest loss, k = round((1 - delta) n), halves rounded up."""
    return ranks.halfway(max(1, math.floor((1 - delta) * ranks.total + 0.5 + _SLACK)))


def authors(ranks: Ranks, *, delta: float) -> float:
    """Return the threshold of the authors' code, which rejects the ceil(n (1 - delta))-th smallest loss and above."""
    s = ranks.losses[ranks.place(ranks.total - math.floor(delta * ranks.total + _SLACK))]
    # A loss is strictly below s exactly if it is at most the float before s.
    return _before(float(s), ranks.losses)


@dataclass(frozen=True)
class Decision:
    """The threshold rule, its false-alarm rate, and whether it uses held-out or training losses.

    The rate holds on average over training sets or, if `confidence` is given, with this probability for one model. With
    `exact`, the model has not learned from the held-out rows.
    """

    rule: str
    delta: Share
    held_out: bool
    confidence: Share | None = None
    exact: bool = False

    def budget(self, total: float) -> float:
        """Return the rate to request from the rule for losses of this total weight."""
        if self.confidence is None:
            return self.delta
        counted = 1.0 if self.exact else COUNTED
        return confident_budget(total, delta=self.delta, confidence=self.confidence, counted=counted)


#: Rules of the machines by name, and the names of those that need held-out losses.
RULES: dict[str, Rule] = {"held_out": conformal, "train": paper, "authors": authors}
HELD_OUT = ("held_out",)


def _refuse_unranked(losses: Array, finite: Array) -> None:
    """Raise `LossError` if a loss is NaN or minus infinity, or if no loss is finite."""
    xp, n = namespace(losses), losses.shape[0]
    unranked = int(xp.count_nonzero(~(finite | (losses > 0))))
    if unranked or not bool(xp.any(finite)):
        fault = f"{unranked} of {n} are NaN or minus infinity" if unranked else "all are infinite"
        raise LossError(
            f"no threshold can be put on the losses of training rows, of which {fault}; the likely cause is a "
            "parameter, or a value of X, that is extremely large or small"
        )


def _count_below(ranked: Array, value: float, *, included: bool = False) -> int:
    """Return how many of the sorted numbers are below the value or, if it is `included`, at most the value."""
    if isinstance(ranked, np.ndarray):  # binary search: hyperparameter searches compute many thresholds
        return int(ranked.searchsorted(value, "right" if included else "left"))
    return int(namespace(ranked).count_nonzero(ranked <= value if included else ranked < value))


def _whole(sums: Array) -> Array:
    """Return sums of weights with nearly integer sums rounded: shared group weights add up to integers."""
    xp = namespace(sums)
    nearest = xp.round(sums)
    return xp.where(xp.abs(sums - nearest) < _SLACK * xp.clip(sums, min=1.0), nearest, sums)


def _before(value: float, like: Array) -> float:
    kind = np.float32 if namespace(like).finfo(like.dtype).bits == 32 else np.float64
    return float(np.nextafter(kind(value), kind(-math.inf)))
