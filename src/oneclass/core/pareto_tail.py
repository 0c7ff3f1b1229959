"""P-values beyond the sample: a Pareto tail of the largest held-out losses, the doubt about its index counted in."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .arrays import Array, namespace
from .threshold import Ranks

__all__ = ["TAILS", "ParetoTail"]

#: Share of the losses that tell the tail.
_SHARE = 0.1


@dataclass(frozen=True)
class ParetoTail:
    r"""Chance of a loss beyond all held-out ones, where ``log((s - median) / (u - median))`` is exponential past `u`.

    The k largest of n losses s_i, a tenth of them, lie above u, the next one; with
    :math:`y(s) = \log((s - c) / (u - c))`, c the median loss,

    .. math:: p(s) = \frac{k + 1}{n + 1} \left(1 + \frac{y(s)}{\sum_i y(s_i)}\right)^{-k}.

    The sum estimates the index, and the power of -k is what not knowing it costs: for a Pareto tail p is uniform below
    (k + 1) / (n + 1) at any n, on average over training sets as conformal p-values are. A tail that falls faster than
    its Pareto tail at u, as Gaussian, exponential, lognormal and bounded losses do, gives larger values.
    """

    origin: float
    start: float
    weight: float  # k
    total: float  # n
    logs: float  # the sum
    removed: float = 0.0  # rows further out than all others

    @classmethod
    def of(cls, ranks: Ranks) -> ParetoTail | None:
        """The tail of ranked losses; None where the largest tenth, or the upper half, are one and the same loss."""
        s, xp = ranks.losses, namespace(ranks.losses)
        lowest = s[ranks.place(ranks.total - max(1, math.floor(_SHARE * ranks.total)) + 1)]
        first = int(xp.count_nonzero(ranks.limits < lowest))  # the first copy of it
        if first == 0:
            return None
        origin, start = float(s[ranks.place(ranks.total / 2)]), float(s[first - 1])
        if not origin < start:
            return None
        weights = ranks.reached[first:] - ranks.reached[first - 1 : -1]
        logs = xp.log(s[first:] - origin) - math.log(start - origin)
        return cls(origin, start, float(xp.sum(weights)), ranks.total, float(weights @ logs), ranks.removed)

    def __call__(self, losses: Array) -> Array:
        """P-values of losses, all beyond `start`."""
        xp = namespace(losses)
        logs = xp.log(losses - self.origin) - math.log(self.start - self.origin)
        share = (self.weight + self.removed + 1) / (self.total + 1)
        p = share * xp.exp(-self.weight * xp.log1p(logs / self.logs))
        return xp.clip(p, min=xp.finfo(p.dtype).smallest_normal)


#: Tails by name.
TAILS = {"pareto": ParetoTail.of}
