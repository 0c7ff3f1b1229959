"""The policy of a stream as a value: whom to believe, who must wait, and when waiting ends.

A row is *strange* when normal rows are as a rule not so far out, and *held* when it lies in a stretch most of whose
rows are alarms. Strange and held rows wait; others are learned at the weight that their loss deserves. Rows wait until
they are many, for longer than the patience: then they are adopted. Whether they are a new kind, a wider world or
another world is read from who else waits and who else came.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import connected_components

from ..core.kernels import Kernel
from ..core.stored import Extended
from .memory import Mask, Memory, Numbers, Vector

__all__ = [
    "PROMPT",
    "STRETCH",
    "Patience",
    "Ripe",
    "backing",
    "far_out",
    "in_stretches",
    "quantiles",
    "ripe",
    "soft_trust",
    "trusted_rows",
]

#: A stretch has this many rows, and is held when more than this share of them are alarms.
STRETCH, _HELD = 20, 0.5
#: Share of normal rows beyond the point where rows are strange, those that it is found by, and how many may be missing.
_STRANGE, _TAIL, _MISSING = 0.003, np.array([0.25, 0.1]), 0.05
#: How many times as far out rows of a single column are, whose losses at its ends are of another kind than elsewhere.
_ENDS = 16.0
#: Slack that keeps losses which are equal but for rounding from being strange.
_SLACK = 1e-9
#: Largest share of waiting rows that counts as evidence, among the rows that are counted together; and number of those.
_LARGEST_SHARE, _TOGETHER = 0.2, 5
#: Rows of a stretch that make it thick, and share of the evidence that is enough for a kind which never was.
_THICK, _SPARSE_EVIDENCE = 7, 0.5
#: Nearest rows that vouch for a row, and trust from which they do.
_NEIGHBOURS, _TRUSTED = 10, 0.5
#: Trusted rows among which the nearest are looked for first.
_SAMPLED = 128
#: Neighbors by which rows that wait are linked to others of their kind; of fewer than this many they are no kind.
_LINKS, _KIND_ROWS = 5, 10
#: Share of the rows since a change began that must be waiting for the old world to be gone.
_GONE = 0.8
#: How far back to look for rows that wait.
_HORIZON = 20_000


@dataclass(frozen=True)
class Patience:
    """How long strange rows must keep coming before a stream believes in them.

    Parameters
    ----------
    rows : float, default=140
        Rows that a change must last before it is learned. A burst of fewer anomalies is not learned, however many they
        are and however alike; a change is recovered from once it has lasted so long. ``inf`` never adopts anything: the
        stream follows slow drift alone.
    share : float in (0, 0.2), default=0.05
        Largest share of the rows that one kind of anomaly may have for ever. A kind of strange rows that takes a
        fifth of the rows or more is adopted after `rows` rows, or half as many if it never came thick; a smaller one
        later, one of this share or less never.
    steepness : float, default=3.0
        Rows beyond the threshold that need not wait are learned with weight ``(threshold / loss) ** steepness``.
    trial : float, default=inf
        Rows after which a world is adopted on trial in which nobody of the old one is left. If the old one is back
        before `rows` have passed, all that was learned meanwhile is taken back, and the next trial takes twice as long.

    Examples
    --------
    >>> from oneclass.stream import Patience
    >>> Patience(rows=1500)  # sits out an attack of a thousand rows
    Patience(rows=1500, share=0.05, steepness=3.0, trial=inf)
    """

    rows: Extended = 140
    share: float = 0.05
    steepness: float = 3.0
    trial: Extended = math.inf

    def __post_init__(self) -> None:
        if not self.rows > 0:
            raise ValueError(f"Patience: rows must be a number in (0, inf], got {self.rows!r}")
        if not 0 < self.share < _LARGEST_SHARE:
            raise ValueError(f"Patience: share must be a number in (0, {_LARGEST_SHARE:g}), got {self.share!r}")
        if not 0 <= self.steepness < math.inf:
            raise ValueError(f"Patience: steepness must be a number in [0, inf), got {self.steepness!r}")
        if not self.trial > 0:
            raise ValueError(f"Patience: trial must be a number in (0, inf], got {self.trial!r}")

    @property
    def needed(self) -> float:
        """Evidence at which rows are adopted."""
        return (_LARGEST_SHARE - self.share) * self.rows * (1 - 1e-9)

    @property
    def kept(self) -> int:
        """Rows without trust that are worth keeping."""
        return max(512, 2 * math.ceil(self.rows)) if math.isfinite(self.rows) else 512

    def evidence(self, number: Numbers, seen: int) -> float:
        """Rows in excess of the share that anomalies may have, the most over all pasts.

        Rows that come thick count as a fifth of the rows, no more: what lasts is evidence, what comes at once is not.
        """
        back = (seen - 1 - number[number >= seen - _HORIZON]) // _TOGETHER
        each = np.minimum(np.bincount(back), _LARGEST_SHARE * _TOGETHER) - self.share * _TOGETHER
        return float(np.max(np.cumsum(each), initial=0.0))


#: The policy of a stream that names none.
PROMPT = Patience(rows=140, trial=45)


def quantiles(losses: Vector, shares: Vector | float) -> Vector:
    """Those of losses in ascending order; ``np.quantile``, which cannot know that they are, takes ten times as long."""
    return np.asarray(np.interp(np.asarray(shares) * (len(losses) - 1), np.arange(len(losses)), losses))


def far_out(losses: Vector, missing: float = 0.0, *, columns: int) -> float:
    """The loss beyond which normal rows lie in a share of 3 in 1,000, if roots of losses have an exponential tail.

    Judged by the quantiles 75 % and 90 %, of losses in ascending order, which few anomalies among the rows do not move.
    A share of the normal rows may be `missing` for having been beyond it: else a tail that is heavier than that would
    cut itself shorter and shorter. Rows of one column are well rebuilt but at its ends, of which these quantiles know
    nothing: there it takes more to be far out.
    """
    beyond = (_TAIL - min(missing, _MISSING)) / (1 - min(missing, _MISSING))
    low, high = np.sqrt(quantiles(losses, 1 - beyond))
    cut = (high + (high - low) * math.log(_TAIL[1] / _STRANGE) / math.log(_TAIL[0] / _TAIL[1])) ** 2
    return float(cut * (1 + _SLACK) * (_ENDS if columns == 1 else 1.0))


def in_stretches(before: Mask, alarm: Mask) -> Mask:
    """Which rows lie in a stretch most of whose rows are alarms, between its first alarm and its last.

    `before` are the alarms of earlier rows.
    """
    start = max(0, len(before) - STRETCH + 1)
    seq = np.concatenate([before[start:], alarm])
    n = len(seq)
    if n < STRETCH:
        return np.zeros(len(alarm), dtype=bool)
    reached = np.concatenate([[0], np.cumsum(seq)])
    hot = np.concatenate([reached[STRETCH:] - reached[:-STRETCH] > _HELD * STRETCH, np.zeros(STRETCH - 1, dtype=bool)])
    heats = np.concatenate([np.zeros(STRETCH), np.cumsum(hot)])
    inside = heats[STRETCH:] > heats[:-STRETCH]
    places = np.arange(n)
    begin = np.maximum.accumulate(np.where(inside & ~np.roll(inside, 1), places, 0))
    end = np.minimum.accumulate(np.where(inside & ~np.roll(inside, -1), places, n - 1)[::-1])[::-1]
    last = np.maximum.accumulate(np.where(seq, places, -1))
    coming = np.minimum.accumulate(np.where(seq, places, n)[::-1])[::-1]
    return np.asarray(inside & (last >= begin) & (coming <= end))[n - len(alarm) :]


def soft_trust(losses: Vector, threshold: float, steepness: float) -> Vector:
    """``min(1, (threshold / loss)^p)``: few strange rows weigh nothing, many alike add up."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(losses > threshold, threshold / losses, 1.0)
    return np.asarray(ratio**steepness)


def backing(kernel: Kernel, Z: Vector, known: Vector, trusted: Mask) -> Vector:
    """How far the ten most similar of the known rows vouch for each row: one when half are trusted."""
    half = _NEIGHBOURS // 2
    backed = np.ones(len(Z))
    if np.sum(~trusted) <= half or not len(Z):
        return backed
    # Where half of the neighbors could be doubtful, the sixth most similar of those must be closer than the fifth of
    # the trusted: rows for which a sample of the trusted shows that it is not need no further look.
    close = -np.partition(-_nearness(kernel, Z, known[~trusted]), half, axis=1)[:, half]
    good = np.flatnonzero(trusted)
    sampled = known[good[:: max(1, len(good) // _SAMPLED)]]
    near = (
        np.count_nonzero(_nearness(kernel, Z, sampled) > close[:, None], axis=1) if len(sampled) else np.zeros(len(Z))
    )
    open_ = np.flatnonzero(near < half)
    if open_.size:
        similar = _nearness(kernel, Z[open_], known)
        k = min(_NEIGHBOURS, len(known))
        nearest = np.argpartition(-similar, k - 1, axis=1)[:, :k]
        backed[open_] = np.minimum(1.0, 2 * np.mean(trusted[nearest], axis=1))
    return backed


def _nearness(kernel: Kernel, Z: Vector, known: Vector) -> Vector:
    """Larger for rows that are more similar: distances, where a kernel has some, cost less and tell far rows apart."""
    distances = getattr(kernel, "distances", None)
    return np.asarray(kernel(Z, known) if distances is None else -distances(Z, known))


def trusted_rows(memory: Memory) -> Mask:
    """Which rows vouch for others."""
    return memory.trust >= _TRUSTED


@dataclass(frozen=True)
class Ripe:
    """Rows whose waiting is over, by their numbers."""

    rows: Numbers
    kind: str
    evidence: float


def ripe(patience: Patience, memory: Memory, seen: int, kernel: Kernel) -> Ripe | None:
    """Which of the rows that wait have become many for longer than the patience, if any."""
    needed, number = patience.needed, memory.number[memory.waiting]
    evidence = patience.evidence(number, seen)
    if evidence < _SPARSE_EVIDENCE * needed:
        return None
    # The longest past in which next to nobody came but rows that wait.
    lasting = seen - number
    alone = np.flatnonzero(np.arange(len(number), 0, -1) >= _GONE * lasting)
    if alone.size and evidence >= needed and lasting[alone[0]] >= needed / (_LARGEST_SHARE - patience.share):
        return Ripe(number[alone[0] :], "change", evidence)
    label, around = _kinds(kernel, memory.Z[memory.waiting], memory.Z[trusted_rows(memory)])
    size = np.bincount(label)
    rows, found, kind = np.zeros(len(number), dtype=bool), [], "mode"
    for c in np.flatnonzero(size >= max(_KIND_ROWS, _SPARSE_EVIDENCE * needed)):
        alike = patience.evidence(number[label == c], seen)
        if alike >= (needed if _came_thick(number[label == c]) else _SPARSE_EVIDENCE * needed):
            rows |= label == c
            found.append(alike)
    scattered = (size[label] < _KIND_ROWS) & around
    wide = patience.evidence(number[scattered], seen)
    if wide >= needed:
        rows |= scattered
        found.append(wide)
        kind = "wider"
    return Ripe(number[rows], kind, max(found)) if found else None


def _came_thick(number: Numbers) -> bool:
    """Whether these rows once were a third of a stretch, as those of a burst are and those of a slow mode are not."""
    return bool(np.any(number[_THICK - 1 :] - number[: len(number) - _THICK + 1] < STRETCH))


def _kinds(kernel: Kernel, Z: Vector, trusted: Vector) -> tuple[Numbers, Mask]:
    """A label for each row, and whether its likes are the trusted rows and not others of these.

    Rows are linked that are among each other's nearest, and nearer than any trusted one.
    """
    similar = _nearness(kernel, Z, Z)
    np.fill_diagonal(similar, -np.inf)
    k = min(_LINKS, len(Z) - 1)
    close = -np.partition(-similar, k - 1, axis=1)[:, k - 1]
    near = np.max(_nearness(kernel, Z, trusted), axis=1) if len(trusted) else np.full(len(Z), -np.inf)
    linked = similar >= np.maximum(close, np.nextafter(near, np.inf))[:, None]
    return np.asarray(connected_components(linked & linked.T, directed=False)[1]), near >= close
