"""What a stream reports: verdicts and events, and the test for change that raises one kind of event.

The test is a conformal martingale with a stated false-alarm rate. While losses are exchangeable, the rank of each loss
among the losses before it is uniform, and independent of the earlier ranks ([1]_, ch. 8). A product of betting
functions of these ranks is then a test martingale: by Ville's inequality, it ever reaches 1/level with probability at
most `level`. The method here is the simple jumper ([1]_). It averages five martingales with fixed slopes, two of which
grow when ranks are small and two when ranks are large. It redistributes a fifth of the total evenly among the five
every 20 rows, so that it reacts soon to a change at any time.

References
----------
.. [1] Vovk, Gammerman and Shafer (2022). Algorithmic learning in a random world. 2nd edition, Springer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Annotated

import numpy as np

from ..core.notebook import ROWS, InNotebook
from ..core.stored import Count, Floats, OneOf
from .window import Numbers, Vector

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Bets", "Event", "Events", "Martingale", "Moved", "Verdict", "moved"]

#: Largest number of columns that an event names. No recorded measurement.
_MAX_COLUMNS = 5
#: Smallest change of a median, in standard deviations of the column, at which an event names it. No recorded
#: measurement.
_MIN_CHANGE = 0.5
#: Interquartile range of a normal distribution, in standard deviations.
_NORMAL_IQR = 1.349
#: Slopes of the betting functions ``1 + slope (p - 1/2)``. Beyond 2 in size, a bet could be negative.
_SLOPES = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
#: Share of the total that is redistributed evenly among the slopes. No recorded measurement.
_REDISTRIBUTED_SHARE = 0.2
#: Number of rows between two redistributions. No recorded measurement.
_REDISTRIBUTED_EVERY = 20
#: Number of losses that are ranked at a time. It affects speed and memory only. Counts in a block are uint8, so it must
#: be below 256.
_RANK_BLOCK = 128
#: Entry (i, j) is whether loss j of a block came before loss i.
_EARLIER = np.tri(_RANK_BLOCK, k=-1, dtype=bool)
#: Multipliers of the splitmix64 random number generator.
_SPLITMIX = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


@dataclass(frozen=True)
class Moved:
    """A column whose median changed: its position, and the medians before and after.

    In events of a table, `column` is the name of the encoded column.
    """

    column: Count
    before: float
    after: float


@dataclass(frozen=True, repr=False)
class Event:
    """A change in the data of a stream that the stream suspected, adopted or undid.

    Parameters
    ----------
    number : int
        Number of the event, from 0.
    row : int
        Number of rows that the stream had seen when the event happened.
    time : float
        Time up to which the stream had processed rows, by its clock; without a clock, the number of learned rows.
    kind : str
        ``"strange"``: more than half of the rows of a stretch are alarms, and they are held back. ``"change"``: new
        rows that replaced the earlier data were learned, possibly provisionally (`Patience.trial`). ``"mode"``: a new
        kind of rows besides the earlier data was learned. ``"shift"``: the test for change rejected. ``"forgotten"``:
        the learning of a change or mode was undone. ``"wider"`` occurs in files of earlier builds only: scattered rows
        around the earlier data were learned.
    rows : tuple of int
        Numbers of the rows that the event is about.
    evidence : float
        Strength of the evidence: the number of rows beyond the share that anomalies may have (`Patience`). For a change
        on trial: the number of rows since an ordinary row. For ``"shift"``: the logarithm of the value of the test
        martingale, or 0 with another detector.
    columns : tuple of Moved
        Columns whose medians changed most, with the largest change first.
    """

    number: Count
    row: Count
    time: float
    kind: Annotated[str, OneOf("strange", "change", "mode", "wider", "shift", "forgotten")]
    rows: tuple[Count, ...]
    evidence: float
    columns: tuple[Moved, ...] = ()

    def __repr__(self) -> str:
        where = f", columns {', '.join(f'{change.column}' for change in self.columns)}" if self.columns else ""
        return f"Event({self.kind} at row {self.row}, {len(self.rows)} rows{where})"


class Events(tuple[Event, ...], InNotebook):
    """Events in the order in which they happened: a tuple with a table for notebooks."""

    __slots__ = ()

    @property
    def _title(self) -> str:
        return f"{len(self)} events" + (f", the last a {self[-1].kind} at row {self[-1].row}" if self else "")

    def __repr__(self) -> str:
        return InNotebook.__repr__(self)

    def _table(self) -> tuple[list[str], list[list[object]], int]:
        rows: list[list[object]] = [
            [event.row, event.kind, len(event.rows), ", ".join(f"{change.column}" for change in event.columns)]
            for event in self[-ROWS:]
        ]
        return ["at row", "kind", "rows", "columns"], rows, len(self)

    def to_frame(self) -> pd.DataFrame:
        """The events as a pandas data frame; its columns are the fields of `Event`."""
        import pandas as pd

        names = [field.name for field in fields(Event)]
        return pd.DataFrame([[getattr(event, name) for name in names] for event in self], columns=names)


@dataclass(frozen=True, repr=False)
class Verdict(InNotebook):
    """The scores and labels of rows before a stream learned them.

    Parameters
    ----------
    rows : array of shape (n,)
        Numbers of the rows in the stream, for labels that arrive later (`Stream.tell`).
    scores : array of shape (n,)
        Score of each row; larger is more normal.
    labels : array of shape (n,)
        +1 for normal rows, -1 for alarms.
    events : tuple of Event
        Events during this call, such as changes that the stream adopted.
    """

    rows: Numbers
    scores: Vector
    labels: Numbers
    events: tuple[Event, ...]

    @property
    def _title(self) -> str:
        alarms = int((self.labels < 0).sum())
        return f"{len(self.rows)} rows, {alarms} alarms, {len(self.events)} events"

    def _table(self) -> tuple[list[str], list[list[object]], int]:
        alarms = np.flatnonzero(self.labels < 0)
        rows: list[list[object]] = [[int(self.rows[i]), float(self.scores[i])] for i in alarms[:ROWS]]
        return ["alarm in row", "score"], rows, len(alarms)

    def to_frame(self) -> pd.DataFrame:
        """The rows as a pandas data frame with the columns ``row``, ``score`` and ``label``."""
        import pandas as pd

        return pd.DataFrame({"row": self.rows, "score": self.scores, "label": self.labels})


def moved(before: Vector, after: Vector) -> tuple[Moved, ...]:
    """Return the columns whose medians differ most between the rows `before` and the rows `after`."""
    if not len(before) or not len(after):
        return ()
    low, old, high = np.quantile(before, [0.25, 0.5, 0.75], axis=0)
    new = np.median(after, axis=0)
    # The smallest float as a spread: in a column that was constant, any other value is a change.
    spread = np.where(high > low, (high - low) / _NORMAL_IQR, np.finfo(float).tiny)
    with np.errstate(over="ignore"):
        far = np.abs(new - old) / spread
    order = np.argsort(-far, kind="stable")[:_MAX_COLUMNS]
    return tuple(Moved(int(j), float(old[j]), float(new[j])) for j in order if far[j] > _MIN_CHANGE)


@dataclass(frozen=True)
class Martingale:
    """Test whether the losses of a stream are exchangeable; reject when the data change faster than they are learned.

    Parameters
    ----------
    level : float in (0, 1), default=0.001
        Largest probability of rejecting in an epoch without a change.
    epoch : int, default=2000
        Number of rows after which the test restarts. It also restarts when it has rejected. Each loss is ranked among
        the earlier losses of its epoch.

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
        """Return the start of a test: no losses, and a martingale of one."""
        return Bets()

    def bet(self, bets: Bets, losses: Vector) -> tuple[Bets, float | None]:
        """Update the test with more losses, and return its evidence if it rejects.

        Parameters
        ----------
        bets : Bets
            State of the test so far.
        losses : array of shape (n,)
            Losses in the order of arrival.

        Returns
        -------
        (Bets, float or None)
            The state after these losses, restarted if the test rejected; and the logarithm of the martingale if it
            reached 1 / level, or None.
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
    """The state of a `Martingale` test."""

    losses: Annotated[Vector, Floats("_n?", finite=False)] = field(default_factory=lambda: np.empty(0))  # of this epoch
    money: Annotated[Vector, Floats(str(len(_SLOPES)), above=0)] = field(  # share of each slope
        default_factory=lambda: np.full(len(_SLOPES), 1 / len(_SLOPES))
    )
    fortune: float = 0.0  # logarithm of the martingale
    highest: float = 0.0  # the largest `fortune` of this epoch
    seen: Count = 0  # number of losses of all epochs

    def after(self, losses: Vector) -> Bets:
        """Return the state after more losses."""
        everything = np.concatenate([self.losses, losses])
        p = _ranks(everything, len(self.losses), self.seen)
        starts = np.arange(-self.seen % _REDISTRIBUTED_EVERY, len(p), _REDISTRIBUTED_EVERY).tolist()
        begun = sorted({0, *starts})
        gains = np.multiply.reduceat(1 + _SLOPES * (p[:, None] - 0.5), begun).tolist()
        money, fortune, highest = self.money.tolist(), self.fortune, self.highest
        for start, gain in zip(begun, gains, strict=True):
            kept, given = (
                (1 - _REDISTRIBUTED_SHARE, _REDISTRIBUTED_SHARE / len(money))
                if (self.seen + start) % _REDISTRIBUTED_EVERY == 0
                else (1.0, 0.0)
            )
            money = [(kept * part + given) * by for part, by in zip(money, gain, strict=True)]
            total = math.fsum(money)
            money, fortune = [part / total for part in money], fortune + math.log(total)
            highest = max(highest, fortune)
        return Bets(everything, np.array(money), fortune, highest, self.seen + len(losses))


def _ranks(losses: Vector, first: int, seen: int) -> Vector:
    """Return the rank of each loss from index `first` on, among itself and all losses before it.

    Ranks are numbers in [0, 1); the largest losses have the smallest ranks.
    """
    parts = [_larger_and_equal(losses[:a], losses[a : a + _RANK_BLOCK]) for a in range(first, len(losses), _RANK_BLOCK)]
    above, equal = np.concatenate(parts, axis=1)
    # A pseudo-random number breaks ties between equal losses, and between a loss and itself, so that ranks are exactly
    # uniform.
    chosen = above + _pseudo_random(seen, len(above)) * (equal + 1)
    return np.asarray(chosen / np.arange(first + 1, len(losses) + 1))


def _larger_and_equal(old: Vector, new: Vector) -> Vector:
    """Return how many of the earlier losses are larger than each new loss, and how many are equal to it.

    The earlier losses are the old losses, and the new losses before the one that is ranked.
    """
    order, before = np.sort(old), _EARLIER[: len(new), : len(new)]
    below = np.searchsorted(order, new, side="right")
    above = len(old) - below + np.sum((new > new[:, None]) & before, axis=1, dtype=np.uint8)
    equal = below - np.searchsorted(order, new, side="left")
    if len(np.unique(new)) < len(new):
        equal += np.sum((new == new[:, None]) & before, axis=1, dtype=np.uint8)
    return np.stack([above, equal])


def _pseudo_random(first: int, n: int) -> Vector:
    """Return pseudo-random numbers in [0, 1) for rows `first` to `first + n`, which do not depend on the batches."""
    key = np.arange(first + 1, first + n + 1, dtype=np.uint64) * np.uint64(_SPLITMIX[0])
    for shift, mix in ((30, _SPLITMIX[1]), (27, _SPLITMIX[2])):
        key = (key ^ (key >> np.uint64(shift))) * np.uint64(mix)
    return np.asarray((key ^ (key >> np.uint64(31))) >> np.uint64(11), dtype=float) * 2.0**-53
