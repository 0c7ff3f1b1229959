"""The distribution of the losses over all rows: exact while they fit, losses that are alike made one beyond.

What is kept depends on the losses alone, never on the order in which they came, on the chunks or on what was added to
what first. The largest losses, where thresholds lie, stay one by one. The others are put together when their leading
bits agree, as few bits as it takes to make room, and each such bin stands at its largest loss: thresholds and p-values
err by less than the weight of one bin, always towards accepting a row.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from .arrays import Array, bits, device, namespace, ones

__all__ = ["LossSummary"]

#: Losses that a summary keeps one by one, unless told otherwise; beyond this many some are put together.
EXACT = 1_000_000

#: What is left of a summary that grew beyond its limit: this part of it as largest losses, and as much again in bins.
_LEFT = 1 / 8


@dataclass(frozen=True)
class LossSummary:
    """Losses of weighted rows; two of them add."""

    losses: Array
    w: Array
    limit: float = EXACT  # losses kept one by one
    level: int | None = None  # trailing bits in which losses of one bin may differ; None while all are kept

    @classmethod
    def of(cls, losses: Array, w: Array | None, *, limit: float = EXACT) -> LossSummary:
        """The losses of one chunk."""
        return cls(losses, ones(losses) if w is None else w, limit)._within_limit()

    def __add__(self, other: LossSummary) -> LossSummary:
        xp = namespace(self.losses)
        levels = [level for level in (self.level, other.level) if level is not None]
        losses, w = xp.concat([self.losses, other.losses]), xp.concat([self.w, other.w])
        return LossSummary(losses, w, self.limit, max(levels, default=None))._within_limit()

    def weighted(self) -> tuple[Array, Array]:
        """Losses and their weights: those of the rows or, of a bin, its largest loss and the weight of all its rows."""
        summary = self if self.level is None else self._binned()
        return summary.losses, summary.w

    def _within_limit(self) -> LossSummary:
        return self if self.losses.shape[0] <= self.limit else self._binned()

    def _binned(self) -> LossSummary:
        xp = namespace(self.losses)
        room = max(2, int(_LEFT * self.limit))
        order = xp.argsort(self.losses)
        words = bits(xp.take(self.losses, order))
        steps = words[1:] ^ words[:-1]  # the bits in which neighbors differ
        del words
        rises = xp.nonzero(steps)[0]
        # Whichever of the largest losses differ stay apart.
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
