"""Which rows a stream learns: weights, rows held back, the level of the threshold, and the adoption of rows held back.

A row gets a *trust*, which is the weight with which it is learned: 1 below the threshold and `threshold / loss` above
it, times the support by the rows most similar to it. Rows with a trust below 1/2, and rows in a burst of alarms, are
*held back*: they are not learned. They are learned later (*adopted*) if rows of their kind are frequent for longer than
`Patience.rows`. While the data do not change, rows without labels that are accepted have a trust of 0 as well
(reference.py). `Policy` holds the constants.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse.csgraph import connected_components

from ..core.kernels import Kernel
from .policy import POLICY, ROUNDING_SLACK, Patience
from .window import Mask, Memory, Numbers, Vector

if TYPE_CHECKING:
    from .state import Settings, State

__all__ = [
    "Adoptable",
    "adoptable",
    "burst_lengths",
    "decided",
    "in_bursts",
    "neighbor_support",
    "quantile",
    "soft_trust",
    "too_similar",
    "with_confirmed_alarms",
    "with_corrected_level",
]

# Weights of rows.


def decided(settings: Settings, state: State, rows: Memory) -> tuple[Memory, Mask]:
    """Return the rows with their trust, and which of them are in a burst.

    A label that is given with a row decides its trust. Other rows are held back if they are in a burst, or if their
    weight is below 1/2.
    """
    given, none, patience = rows.trust, np.zeros(len(rows), dtype=bool), settings.patience
    known = ~np.isnan(given)
    if patience is None:
        trust = np.where(known, given, 1.0)
        return replace(rows, trust=trust, counted=trust > 0, waiting=none), none
    losses, trust, in_burst = state.accepted, soft_trust(rows.loss, state.threshold, patience.steepness), none
    if len(losses) >= POLICY.stretch:
        in_burst = in_bursts(state.memory.alarm, rows.alarm)
        if rows.Z.shape[1] > 1:
            # In a single column, rows at its ends have only each other as neighbors, so that one row held back would
            # cause the next to be held back.
            checked, memory = rows.loss > quantile(losses, POLICY.ordinary), state.memory
            trusted, kernel = memory.trusted, state.plan.kernel
            trust[checked] *= neighbor_support(kernel, rows.Z[checked], memory.Z, trusted)
        held_back = in_burst | (trust < POLICY.min_trust)
    else:
        held_back = none
    waiting = ~known & held_back
    trust = np.where(known, given, np.where(held_back, 0.0, trust))
    return replace(rows, trust=trust, counted=(trust > 0) & ~waiting, waiting=waiting), in_burst


def soft_trust(losses: Vector, threshold: float, steepness: float) -> Vector:
    """Return the weights ``min(1, (threshold / loss) ** steepness)``."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(losses > threshold, threshold / losses, 1.0)
    return np.asarray(ratio**steepness)


def quantile(losses: Vector, share: float) -> float:
    """Return a quantile of losses in ascending order, as ``np.quantile`` does, but without sorting the losses again."""
    return float(np.interp(share * (len(losses) - 1), np.arange(len(losses)), losses))


def neighbor_support(kernel: Kernel, Z: Vector, known: Vector, trusted: Mask) -> Vector:
    """Return twice the share of trusted rows among the known rows most similar to each row, at most one."""
    k = min(POLICY.neighbors, len(known))
    if 2 * np.sum(~trusted) <= k or not len(Z):
        return np.ones(len(Z))
    nearest = np.argpartition(-_similarity(kernel, Z, known), k - 1, axis=1)[:, :k]
    return np.asarray(np.minimum(1.0, 2 * np.mean(trusted[nearest], axis=1)))


def _similarity(kernel: Kernel, Z: Vector, known: Vector) -> Vector:
    """Return similarities, larger for more similar rows: the negative distances if the kernel has distances.

    Distances cost less than kernel values, and they still differ for rows so far away that the kernel is zero.
    """
    distances = getattr(kernel, "distances", None)
    return np.asarray(kernel(Z, known) if distances is None else -distances(Z, known))


# Bursts, and the level of the threshold.


def in_bursts(before: Mask, alarm: Mask) -> Mask:
    """Return which rows are in a burst: in a stretch with more than half alarms, between its first and last alarm.

    Parameters
    ----------
    before : array of bool
        Whether each earlier row was an alarm.
    alarm : array of bool
        Whether each new row is an alarm. The result has one entry per new row.
    """
    stretch = POLICY.stretch
    start = max(0, len(before) - stretch + 1)
    seq = np.concatenate([before[start:], alarm])
    n = len(seq)
    if n < stretch:
        return np.zeros(len(alarm), dtype=bool)
    alarm_count = np.concatenate([[0], np.cumsum(seq)])
    burst = alarm_count[stretch:] - alarm_count[:-stretch] > stretch / 2
    if not np.any(burst):
        return np.zeros(len(alarm), dtype=bool)
    burst_count = np.concatenate([np.zeros(stretch), np.cumsum(burst), np.full(stretch - 1, np.sum(burst))])
    inside = burst_count[stretch:] > burst_count[:-stretch]
    places = np.arange(n)
    begin = np.maximum.accumulate(np.where(inside & ~np.roll(inside, 1), places, 0))
    end = np.minimum.accumulate(np.where(inside & ~np.roll(inside, -1), places, n - 1)[::-1])[::-1]
    last = np.maximum.accumulate(np.where(seq, places, -1))
    coming = np.minimum.accumulate(np.where(seq, places, n)[::-1])[::-1]
    return np.asarray(inside & (last >= begin) & (coming <= end))[n - len(alarm) :]


def burst_lengths(alarm: Mask) -> Vector:
    """Return the number of rows of the burst that each row is in: 0 outside bursts, infinity if it may still go on."""
    n, stretch = len(alarm), POLICY.stretch
    inside, lengths = in_bursts(alarm[:0], alarm), np.zeros(n)
    if not np.any(inside):
        return lengths
    edges = np.flatnonzero(np.diff(inside, prepend=False, append=False))
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        lengths[start:end] = end - start if end <= n - stretch else np.inf
    return lengths


def with_corrected_level(settings: Settings, state: State, rows: Memory, in_burst: Mask) -> State:
    """Return the state with the level after these rows: lower after false alarms, higher after other rows.

    An alarm counts as false unless its row was labelled as an anomaly or is in a long burst. The rows of a short burst
    count when it is over.
    """
    counted = rows.counted | (rows.waiting & ~in_burst)
    over = _alarms_of_ended_bursts(settings, state.memory, rows)
    false = float(np.sum(rows.alarm[counted] - settings.delta) + np.sum(over - settings.delta))
    return _with_level(settings, state, -false)


def with_confirmed_alarms(settings: Settings, state: State, confirmed: Mask) -> State:
    """Return the state with the level raised again, for alarms that had lowered it and are now labelled anomalies."""
    memory, patience = state.memory, settings.patience
    lowered = memory.counted.copy()
    if patience is not None:
        lowered |= memory.waiting & (burst_lengths(memory.alarm) <= POLICY.false_burst)
    raised = _with_level(settings, state, (1 - settings.delta) * np.count_nonzero(lowered & confirmed & memory.alarm))
    return replace(raised, level=min(raised.level, max(state.level, settings.delta)))


def _with_level(settings: Settings, state: State, missing: float) -> State:
    """Return the state with a level that is higher by one step for each alarm that is missing."""
    size, level = POLICY.max_level * settings.delta, state.level + POLICY.step * settings.delta * missing
    return replace(state, level=max(-size, min(level, size, 0.5)))


def _alarms_of_ended_bursts(settings: Settings, memory: Memory, rows: Memory) -> Mask:
    """Return, for the rows held back in short bursts that have now ended, whether each is an alarm."""
    if settings.patience is None:
        return rows.alarm[:0]
    known = slice(max(0, len(memory) - POLICY.false_burst - 2 * POLICY.stretch), None)
    alarm = np.concatenate([memory.alarm[known], rows.alarm])
    waiting = np.concatenate([memory.waiting[known], rows.waiting])
    length, before = burst_lengths(alarm), np.full(len(alarm), np.inf)
    before[: len(alarm) - len(rows)] = burst_lengths(memory.alarm[known])
    return np.asarray(alarm[waiting & (length > 0) & (length <= POLICY.false_burst) & (before == np.inf)])


# Adoption of rows that were held back.


@dataclass(frozen=True)
class Adoptable:
    """The numbers of the rows to adopt, the kind of adoption, and its evidence."""

    rows: Numbers
    kind: str
    evidence: float


def adoptable(patience: Patience, memory: Memory, seen: int, kernel: Kernel) -> Adoptable | None:
    """Return the rows held back whose evidence is large enough for an adoption, or None if there are none."""
    needed, number = patience.needed, memory.number[memory.waiting]
    evidence = patience.evidence(number, seen)
    if evidence < needed:
        return None
    # The longest run of latest rows in which most rows are held back.
    lasting = seen - number
    alone = np.flatnonzero(np.arange(len(number), 0, -1) >= POLICY.complete * lasting)
    if alone.size and lasting[alone[0]] >= patience.rows * (1 - ROUNDING_SLACK):
        return Adoptable(number[alone[0] :], "change", evidence)
    label = _kinds(kernel, memory.Z[memory.waiting], memory.Z[memory.trusted])
    found = {c: patience.evidence(number[label == c], seen) for c in np.flatnonzero(np.bincount(label) >= needed)}
    frequent = [c for c, evidence in found.items() if evidence >= needed]
    if not frequent:
        return None
    return Adoptable(number[np.isin(label, frequent)], "mode", max(found[c] for c in frequent))


def _kinds(kernel: Kernel, Z: Vector, trusted: Vector) -> Numbers:
    """Return the kind of each row as a label.

    Two rows are linked if each is among the nearest of the other, and nearer to it than any trusted row is. A kind is a
    connected component of this graph.
    """
    similar = _similarity(kernel, Z, Z)
    np.fill_diagonal(similar, -np.inf)
    k = min(POLICY.links, len(Z) - 1)
    close = -np.partition(-similar, k - 1, axis=1)[:, k - 1]
    near = np.max(_similarity(kernel, Z, trusted), axis=1) if len(trusted) else np.full(len(Z), -np.inf)
    linked = similar >= np.maximum(close, np.nextafter(near, np.inf))[:, None]
    return np.asarray(connected_components(linked & linked.T, directed=False)[1])


def too_similar(X: Vector, latest: Vector, scale: Vector) -> bool:
    """Return whether rows are too similar to be a change, compared with the rows learned last.

    The rows of a fault or of an attack are often very similar.
    """
    new, old = (np.mean(np.abs(rows - np.median(rows, axis=0)) / scale) for rows in (X, latest))
    return bool(new < POLICY.min_spread * old)
