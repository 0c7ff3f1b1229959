"""The rows that a stream keeps, their weights by age (half-life, window or none), and the moments of learned rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.stored import Flags, Floats, Positive, Whole
from .policy import POLICY

if TYPE_CHECKING:
    from .state import Settings, State

__all__ = ["Forgetting", "Mask", "Memory", "Numbers", "Vector", "added", "bounded", "with_trust"]

#: Smallest factor of a weight, that of 40 half-lives. Without it, the rows before a long pause have no weight, and no
#: system can be solved before two rows follow.
_MIN_FACTOR = 1e-12
#: Smallest total weight that forgetting leaves. No recorded measurement.
_MIN_TOTAL_WEIGHT = 1e-9

#: An array of floats, of one or two dimensions.
Vector = NDArray[np.float64]
#: An array of truth values, one per row.
Mask = NDArray[np.bool_]
#: An array of row numbers or of indices.
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Memory:
    """A table of rows in the order of arrival. Each field is a column of the table, with one entry per row."""

    X: Annotated[Vector, Floats("_n? d")]
    Z: Annotated[Vector, Floats("_n? d")]  # rows scaled by the current plan
    number: Annotated[Numbers, Whole("_n?")]  # number of the row in the stream
    #: Time by the clock; without a clock, the sum of trust learned up to this row; NaN until the row is learned.
    time: Annotated[Vector, Floats("_n?", finite=False)]
    #: Weight with which the row is learned, before forgetting; NaN until that is decided.
    trust: Annotated[Vector, Floats("_n?", finite=False)]
    loss: Annotated[Vector, Floats("_n?")]  # loss before the row was learned, in the units of the current plan
    alarm: Annotated[Mask, Flags("_n?")]
    counted: Annotated[Mask, Flags("_n?")]  # accepted as normal: the threshold may depend on the loss of the row
    waiting: Annotated[Mask, Flags("_n?")]  # held back: neither learned nor rejected yet
    #: Logarithm of the factor by which known outliers raise the loss; zeros if it is not given.
    boost: Annotated[Vector, Floats("_n?")] = field(default=None)  # type: ignore[arg-type]
    #: Whether the row was labelled as normal; false if it is not given.
    labelled: Annotated[Mask, Flags("_n?")] = field(default=None)  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        if self.boost is None:
            object.__setattr__(self, "boost", np.zeros(len(self.number)))
        if self.labelled is None:
            object.__setattr__(self, "labelled", np.zeros(len(self.number), dtype=bool))

    @classmethod
    def of(
        cls,
        X: Vector,
        Z: Vector,
        *,
        number: int,
        time: Vector,
        loss: Vector,
        alarm: Mask,
        trust: Vector,
        boost: Vector,
    ) -> Memory:
        """Return a table of rows that were just scored. The first row has this number."""
        n = len(X)
        none = np.zeros(n, dtype=bool)
        return cls(X, Z, np.arange(number, number + n), time, trust, loss, alarm, none, none, boost, trust > 0)

    def __len__(self) -> int:
        return len(self.number)

    @property
    def accepted_only(self) -> Mask:
        """Which rows were accepted, but not learned."""
        return np.asarray(self.counted & (self.trust == 0))

    @property
    def trusted(self) -> Mask:
        """Which rows were learned with a weight that is large enough, or accepted and not learned."""
        return np.asarray((self.trust >= POLICY.min_trust) | self.accepted_only)

    def __add__(self, later: Memory) -> Memory:
        return Memory(*map(np.concatenate, zip(vars(self).values(), vars(later).values(), strict=True)))

    def __getitem__(self, which: slice | Mask | Numbers) -> Memory:
        """Return the rows that a slice, a mask or indices select."""
        return Memory(*(column[which] for column in vars(self).values()))

    def where(self, mask: Mask, **values: ArrayLike) -> Memory:
        """Return the table with these values in the rows of the mask."""
        changed = {}
        for name, value in values.items():
            column = getattr(self, name).copy()
            column[mask] = value
            changed[name] = column
        return replace(self, **changed)


@dataclass(frozen=True)
class Forgetting:
    """Weights of rows by age.

    With a clock, age is time. Without a clock, age is the number of rows learned since, so that rows which are not
    learned do not age the others.
    """

    half_life: Positive | None = None
    window: Positive | None = None
    clock: bool = False

    def weights(self, age: Vector) -> Vector:
        """Return the factor by which the weight of a row of each age is multiplied."""
        if self.half_life is None:
            return np.ones(len(age))
        with np.errstate(over="ignore"):
            return np.maximum(0.5 ** (age / self.half_life), _MIN_FACTOR)

    def inside(self, age: Vector) -> Mask:
        """Return which ages are within the window."""
        return np.ones(len(age), dtype=bool) if self.window is None else age < self.window

    @property
    def size(self) -> float:
        """Largest number of learned rows that a stream keeps.

        This is twice the window, if the window is in rows: rows are learned with weights of at most one, so that a
        window of weight 1,000 may hold more than 1,000 rows.
        """
        if self.window is not None:
            return np.inf if self.clock else 2 * self.window
        if self.half_life is None or self.clock:
            return POLICY.max_kept
        return min(max(POLICY.min_kept, POLICY.kept_half_lives * self.half_life), POLICY.max_kept)


def added(settings: Settings, state: State, rows: Memory, F: Vector) -> State:
    """Return the state that has forgotten old rows, and then learned the new rows.

    The rows come with their trust and time. `F` holds their features.
    """
    forgetting, now = settings.forgetting, float(rows.time[-1])
    moments, memory, arriving = state.moments, state.memory, rows.trust > 0
    first = len(memory) - int(np.sum(forgetting.inside(now - memory.time)))  # rows are in the order of arrival
    if not np.any(memory.trust[first:] > 0) and not np.any(arriving):
        first = 0  # keep old rows, because otherwise no learned row would remain
    memory, gone = bounded(settings, memory[first:] + rows)
    if forgetting.window is None:
        gone = gone[:0]  # the moments keep rows that the memory does not
    elif first:
        gone = state.memory[:first] + gone
    gone = gone[gone.trust > 0]
    if forgetting.half_life is not None and state.weight > 0:
        rho = float(forgetting.weights(np.array([now - state.now]))[0])
        moments = moments.decay(max(rho, min(1.0, _MIN_TOTAL_WEIGHT / state.weight)))
    if len(gone) and len(gone) >= np.count_nonzero(memory.trust):
        known = memory[memory.trust > 0]  # fewer rows than those that leave
        moments = state.plan.moments_of(known.Z, None, known.trust)
    elif len(gone) or np.any(arriving):
        w = rows.trust * forgetting.weights(now - rows.time)
        new, old = (rows.Z[arriving], F[arriving], w[arriving]), (gone.Z, None, gone.trust)
        moments = state.plan.exchanged(moments, new, old)
    learned = state.learned + float(np.sum(rows.trust))
    return replace(state, moments=moments, memory=memory, now=now, learned=learned)


def bounded(settings: Settings, memory: Memory) -> tuple[Memory, Memory]:
    """Return the rows to keep and the rows to remove.

    The oldest rows that were accepted but not learned are removed, the oldest other rows without trust, and then the
    oldest rows. `Patience.kept` limits each of the two groups without trust.
    """
    kept = np.ones(len(memory), dtype=bool)
    untrusted, accepted = memory.trust == 0, memory.accepted_only
    room = settings.patience.kept if settings.patience else 0
    for group in (accepted, untrusted & ~accepted):
        kept[np.flatnonzero(group)[: max(0, int(np.count_nonzero(group)) - room)]] = False
    places = np.flatnonzero(kept)
    size = settings.forgetting.size + 2 * room
    if len(places) > size:
        kept[places[: len(places) - int(size)]] = False
    return (memory, memory[:0]) if np.all(kept) else (memory[kept], memory[~kept])


def with_trust(settings: Settings, state: State, which: Mask, trust: float | Vector) -> State:
    """Return the state in which the rows of a mask have this trust, with moments that follow the change exactly."""
    memory = state.memory
    trust = np.where(which, trust, memory.trust)
    more = (trust - memory.trust) * settings.forgetting.weights(state.now - memory.time)
    moments = state.moments
    for sign in (1.0, -1.0):
        part = sign * more > 0
        if np.any(part):
            change = state.plan.moments(memory.X[part], sign * more[part])
            moments = moments + change if sign > 0 else moments - change
    learned = state.learned + float(np.sum(trust - memory.trust))
    return replace(state, moments=moments, memory=replace(memory, trust=trust), learned=learned)
