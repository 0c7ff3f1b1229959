"""When a stream begins to learn rows without labels: once the losses differ from those of its first rows.

A stream that learns the rows that it accepts also learns the anomalies among them, and then it finds fewer of their
kind. So it does not learn rows without labels while the data stay the same. It compares the latest losses, by the
machine as it was at first, with the held-out losses of the first rows. The comparison ends when these losses differ, or
when a change or a mode is adopted. If the losses differ or a mode is adopted, the stream then learns the accepted rows
that it still keeps; after a change it does not. From then on it learns all rows that it accepts. If a provisional
change is undone, the comparison continues.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from ..core.groups import Groups
from ..core.machine import Machine
from ..core.stored import APART, Floats
from .policy import POLICY, Patience
from .trust import soft_trust
from .window import Mask, Memory, Vector, with_trust

if TYPE_CHECKING:
    from .state import Settings, State

__all__ = ["Reference", "released", "unlearned", "with_reference"]


@dataclass(frozen=True)
class Reference:
    """The machine of the first rows, which is compared with later rows. `machine` is None until there are enough."""

    machine: Annotated[Machine | None, APART] = None
    losses: Annotated[Vector, Floats("_f?")] = field(default_factory=lambda: np.empty(0))  # held-out, ascending
    #: Ranks in [0, 1] of the latest losses among these.
    ranks: Annotated[Vector, Floats("_r?")] = field(default_factory=lambda: np.empty(0))

    @classmethod
    def at_first(cls, settings: Settings) -> Reference | None:
        """Return the comparison of a new stream; None if the stream learns all rows that it accepts.

        With a clock the first rows become too old even if nothing else is learned.
        """
        patience = settings.patience
        return None if patience is None or patience.drift == 0 or settings.forgetting.clock else cls()

    def after(self, losses: Vector) -> Reference:
        """Return the comparison after more losses."""
        ranks = (np.searchsorted(self.losses, losses) + 0.5) / (len(self.losses) + 1)
        return replace(self, ranks=np.concatenate([self.ranks, ranks])[-POLICY.losses :])

    def differs(self, patience: Patience) -> bool:
        """Return whether the mean rank of the latest losses is farther from 1/2 than `Patience.drift`."""
        enough = len(self.ranks) >= POLICY.min_ranks
        return enough and bool(abs(np.mean(self.ranks) - 0.5) > patience.drift)


def with_reference(settings: Settings, state: State) -> State:
    """Return the state with a machine to compare with, if enough rows have been learned and it has none yet."""
    reference = state.reference
    if reference is None or reference.machine is not None or state.learned < POLICY.min_learned:
        return state
    # A row that is a landmark is represented exactly, so its landmark is held out with it.
    some, machine = state.memory.trust > 0, state.machine
    X, w = state.memory.X[some], state.weights(settings.forgetting)[some]
    rows = state.plan.training_groups(machine.model, X, w, Groups(np.arange(len(X))))  # type: ignore[arg-type]
    losses = np.sort(np.nan_to_num(machine.held_out_losses(rows)))
    return state.but(reference=replace(reference, machine=machine, losses=losses))


def unlearned(state: State, rows: Memory, given: Mask) -> Memory:
    """Return the rows, of which those without a label are not learned while the comparison goes on.

    They keep everything but their weight: if they were accepted, the threshold depends on their losses.
    """
    going_on = state.reference is not None and state.reference.machine is not None
    return rows.where(~given, trust=0.0) if going_on else rows


def released(settings: Settings, state: State) -> State:
    """Return the state in which the comparison is over, and the accepted rows that were not learned are learned."""
    memory, patience = state.memory, settings.patience
    which = memory.accepted_only
    if patience is None or not np.any(which):
        return state.but(reference=None)
    trust = np.maximum(soft_trust(memory.loss, state.threshold, patience.steepness), POLICY.min_trust)
    state = with_trust(settings, state, which, trust)
    later = np.cumsum(np.where(which, trust, 0.0))
    memory = replace(state.memory, time=state.memory.time + later)
    return replace(state, memory=memory, now=state.now + float(later[-1]), reference=None)
