"""A test of change with a stated false-alarm rate: a martingale that bets against the rows' being exchangeable.

The rank of each loss among those before it is uniform, and independent of the ranks before, as long as losses are
exchangeable ([1]_, ch. 8). A gambler who bets on ranks has a fortune that, by Ville's inequality, ever reaches 1/level
with probability at most `level`. This one is the simple jumper: it keeps money on small ranks, on large ones and aside,
and moves a little of it every few rows, so that it is soon rich when ranks become small, or large, at any time.

References
----------
.. [1] Vovk, Gammerman and Shafer (2022). Algorithmic learning in a random world. 2nd edition, Springer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np

from ..core.stored import Count, Floats
from .memory import Vector

__all__ = ["Bets", "Martingale"]

#: Slopes of the bets ``1 + slope (p - 1/2)``, and the part of the fortune that is spread anew after so many rows.
_SLOPES, _MOVED, _ROUND = np.array([-2.0, -1.0, 0.0, 1.0, 2.0]), 0.2, 20
#: Rows that are ranked at a time, and which of them came before which.
_RANKED = 128
_BEFORE = np.tri(_RANKED, k=-1, dtype=bool)
#: Multipliers of splitmix64.
_MIX = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


@dataclass(frozen=True)
class Martingale:
    """Rejects when the losses of a stream are not exchangeable: when the world changes faster than it is learned.

    Parameters
    ----------
    level : float in (0, 1), default=0.001
        Chance of rejecting in an epoch in which nothing changes.
    epoch : int, default=2000
        Rows after which the test begins anew, as it does when it has rejected; its memory is as long.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass.stream import Martingale
    >>> rng = np.random.default_rng(0)
    >>> test, bets = Martingale(level=0.001), Martingale().start()
    >>> bets, rejected = test.bet(bets, rng.exponential(size=500))
    >>> rejected is None
    True
    >>> bets, rejected = test.bet(bets, 3 * rng.exponential(size=200))
    >>> bool(rejected > np.log(1000))
    True
    """

    level: float = 0.001
    epoch: int = 2000

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise ValueError(f"Martingale: level must be a number in (0, 1), got {self.level!r}")
        if self.epoch < 2:
            raise ValueError(f"Martingale: epoch must be a whole number of at least 2, got {self.epoch!r}")

    def start(self) -> Bets:
        """No loss seen, and a fortune of one."""
        return Bets()

    def bet(self, bets: Bets, losses: Vector) -> tuple[Bets, float | None]:
        """Bet on the ranks of more losses; the fortune's logarithm if it reached 1 / level among them.

        Parameters
        ----------
        bets : Bets
            Where the gambler stands.
        losses : array of shape (n,)
            Losses in the order of their coming.

        Returns
        -------
        (Bets, float or None)
            Where it stands then, anew after a rejection, and the evidence for that, if there was one.
        """
        while len(losses):
            room = self.epoch - len(bets.losses)
            part, losses = losses[:room], losses[room:]
            bets = bets.after(part)
            if bets.highest >= -math.log(self.level):
                return Bets(seen=bets.seen), bets.highest
            if len(bets.losses) >= self.epoch:
                bets = Bets(seen=bets.seen)
        return bets, None


@dataclass(frozen=True)
class Bets:
    """Losses of the epoch, the money on each slope, the logarithms of the fortune now and at its height, all rows."""

    losses: Annotated[Vector, Floats("_n?", finite=False)] = field(default_factory=lambda: np.empty(0))
    money: Annotated[Vector, Floats(str(len(_SLOPES)), above=0)] = field(
        default_factory=lambda: np.full(len(_SLOPES), 1 / len(_SLOPES))
    )
    fortune: float = 0.0
    highest: float = 0.0
    seen: Count = 0

    def in_units_of(self, unit: float) -> Bets:
        """The same where losses are counted in other units."""
        with np.errstate(over="ignore"):
            return replace(self, losses=unit * self.losses)

    def after(self, losses: Vector) -> Bets:
        """The same after bets on the ranks of these."""
        everything = np.concatenate([self.losses, losses])
        p = _ranks(everything, len(self.losses), self.seen)
        starts = np.arange(-self.seen % _ROUND, len(p), _ROUND).tolist()
        begun = sorted({0, *starts})
        gains = np.multiply.reduceat(1 + _SLOPES * (p[:, None] - 0.5), begun).tolist()
        money, fortune, highest = self.money.tolist(), self.fortune, self.highest
        for start, gain in zip(begun, gains, strict=True):
            kept, given = (1 - _MOVED, _MOVED / len(money)) if (self.seen + start) % _ROUND == 0 else (1.0, 0.0)
            money = [(kept * part + given) * by for part, by in zip(money, gain, strict=True)]
            total = math.fsum(money)
            money, fortune = [part / total for part in money], fortune + math.log(total)
            highest = max(highest, fortune)
        return Bets(everything, np.array(money), fortune, highest, self.seen + len(losses))


def _ranks(losses: Vector, first: int, seen: int) -> Vector:
    """Rank of each loss from the first-th among itself and all before it, as a number in (0, 1); small is strange."""
    parts = [_above(losses[:a], losses[a : a + _RANKED]) for a in range(first, len(losses), _RANKED)]
    above, equal = np.concatenate(parts, axis=1)
    # Equal losses, and a loss and itself, are put in an order by chance: ranks are uniform then, and not only nearly.
    chosen = above + _chance(seen, len(above)) * (equal + 1)
    return np.asarray(chosen / np.arange(first + 1, len(losses) + 1))


def _above(old: Vector, new: Vector) -> Vector:
    """How many of the old losses, and of the new ones before it, are larger than each new one, and how many equal."""
    order, before = np.sort(old), _BEFORE[: len(new), : len(new)]
    below = np.searchsorted(order, new, side="right")
    above = len(old) - below + np.sum((new > new[:, None]) & before, axis=1, dtype=np.uint8)
    equal = below - np.searchsorted(order, new, side="left")
    if len(np.unique(new)) < len(new):
        equal += np.sum((new == new[:, None]) & before, axis=1, dtype=np.uint8)
    return np.stack([above, equal])


def _chance(first: int, n: int) -> Vector:
    """Numbers in [0, 1) as good as random, the same for the same rows however they were cut up."""
    key = np.arange(first + 1, first + n + 1, dtype=np.uint64) * np.uint64(_MIX[0])
    for shift, mix in ((30, _MIX[1]), (27, _MIX[2])):
        key = (key ^ (key >> np.uint64(shift))) * np.uint64(mix)
    return np.asarray((key ^ (key >> np.uint64(31))) >> np.uint64(11), dtype=float) * 2.0**-53
