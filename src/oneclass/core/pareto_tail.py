"""P-values for losses above all held-out losses, from a Pareto tail fitted to the largest held-out losses."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .arrays import Array, namespace
from .threshold import Ranks

__all__ = ["TAILS", "ParetoTail"]

#: Share of the held-out losses, the largest ones, that the tail is fitted to.
_TAIL_SHARE = 0.1


@dataclass(frozen=True)
class ParetoTail:
    r"""The p-value of a loss s above u, if ``log((s - median) / (u - median))`` has an exponential distribution.

    The k largest of the n held-out losses, a tenth of them, are the s_i, and u is the next smaller loss. With the
    median loss c and :math:`y(s) = \log((s - c) / (u - c))`,

    .. math:: p(s) = \frac{k + 1}{n + 1} \left(1 + \frac{y(s)}{\sum_i y(s_i)}\right)^{-k}.

    The sum estimates the tail index, and the power -k accounts for the uncertainty of this estimate. For a Pareto tail,
    p is uniform below (k + 1) / (n + 1) for any n, on average over training sets, as for conformal p-values. If the
    true tail decreases faster than the Pareto tail at u, p is larger than necessary. This is so for Gaussian,
    exponential, lognormal and bounded losses.
    """

    origin: float  # c
    start: float  # u
    weight: float  # k
    total: float  # n
    logs: float  # the sum of y(s_i)
    removed: float = 0.0  # weight of removed rows, which have larger losses than all others

    @classmethod
    def of(cls, ranks: Ranks) -> ParetoTail | None:
        """Return the tail of ranked losses; None if equal losses leave no u below the tail and above the median."""
        s, xp = ranks.losses, namespace(ranks.losses)
        lowest = s[ranks.place(ranks.total - max(1, math.floor(_TAIL_SHARE * ranks.total)) + 1)]
        first = int(xp.count_nonzero(ranks.limits < lowest))  # the first of equal losses
        if first == 0:
            return None
        origin, start = float(s[ranks.place(ranks.total / 2)]), float(s[first - 1])
        if not origin < start:
            return None
        weights = ranks.reached[first:] - ranks.reached[first - 1 : -1]
        logs = xp.log(s[first:] - origin) - math.log(start - origin)
        return cls(origin, start, float(xp.sum(weights)), ranks.total, float(weights @ logs), ranks.removed)

    def __call__(self, losses: Array) -> Array:
        """Return the p-values of losses, all of which must be above `start`."""
        xp = namespace(losses)
        logs = xp.log(losses - self.origin) - math.log(self.start - self.origin)
        share = (self.weight + self.removed + 1) / (self.total + 1)
        p = share * xp.exp(-self.weight * xp.log1p(logs / self.logs))
        return xp.clip(p, min=xp.finfo(p.dtype).smallest_normal)


#: Functions that fit a tail to ranked losses, by name.
TAILS = {"pareto": ParetoTail.of}
