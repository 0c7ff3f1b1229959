"""The distribution of the losses of all rows: exact up to a limit, and with similar losses merged above it.

The result depends on the set of losses only, not on their order, on the chunks, or on the order of additions. The
largest losses, where thresholds are, are stored one by one. The others are merged into bins if their leading bits are
equal, with bins as narrow as the limit allows. The value of a bin is its largest loss. The error of a threshold or
p-value is therefore less than the weight of one bin, and always in the direction of accepting a row.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from .arrays import Array, bits, device, namespace, ones

__all__ = ["LossSummary"]

#: Default number of losses that a summary stores one by one; with more losses, some are merged.
EXACT = 1_000_000

#: Size of a merged summary, as a share of the limit: this many largest losses, and at most as many bins.
_MERGED_SHARE = 1 / 8


@dataclass(frozen=True)
class LossSummary:
    """Losses of weighted rows; two summaries can be added."""

    losses: Array
    w: Array
    limit: float = EXACT  # largest number of losses stored one by one
    level: int | None = None  # number of trailing bits that differ within a bin; None if nothing is merged

    @classmethod
    def of(cls, losses: Array, w: Array | None, *, limit: float = EXACT) -> LossSummary:
        """Return the summary of one chunk of losses."""
        return cls(losses, ones(losses) if w is None else w, limit)._within_limit()

    def __add__(self, other: LossSummary) -> LossSummary:
        xp = namespace(self.losses)
        levels = [level for level in (self.level, other.level) if level is not None]
        losses, w = xp.concat([self.losses, other.losses]), xp.concat([self.w, other.w])
        return LossSummary(losses, w, self.limit, max(levels, default=None))._within_limit()

    def weighted(self) -> tuple[Array, Array]:
        """Return losses and weights: of single rows, or the largest loss and the total weight of each bin."""
        summary = self if self.level is None else self._binned()
        return summary.losses, summary.w

    def _within_limit(self) -> LossSummary:
        return self if self.losses.shape[0] <= self.limit else self._binned()

    def _binned(self) -> LossSummary:
        xp = namespace(self.losses)
        room = max(2, int(_MERGED_SHARE * self.limit))
        order = xp.argsort(self.losses)
        words = bits(xp.take(self.losses, order))
        steps = words[1:] ^ words[:-1]  # the bits in which neighbors differ
        del words
        rises = xp.nonzero(steps)[0]
        # Do not merge different losses among the largest ones.
        first = int(rises[-room]) if rises.shape[0] >= room else 0
        largest = (steps != 0) & (xp.arange(steps.shape[0], device=device(steps)) >= first)

        def apart(level: int) -> Array:
            return (steps >> level != 0) | largest

        def fits(level: int) -> bool:
            return int(xp.count_nonzero(apart(level))) < 2 * room

        level = bisect_left(range(64), True, lo=self.level or 0, key=fits)
        last = xp.ones(1, dtype=xp.bool, device=device(steps))
        ends = xp.nonzero(xp.concat([apart(level), last]))[0]
        # In single precision a sum of ones would stop growing at 2^24.
        reached = xp.take(xp.cumulative_sum(xp.take(self.w, order), dtype=xp.float64), ends)
        w = reached - xp.concat([xp.zeros_like(reached[:1]), reached[:-1]])
        return LossSummary(xp.take(self.losses, xp.take(order, ends)), w, self.limit, level)
