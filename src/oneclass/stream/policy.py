"""The rules by which a stream decides which rows it learns, which rows it holds back, and when it adopts those.

A row is *anomalous* when its loss exceeds a limit that 3 in 1,000 normal rows exceed. A row is *in a burst* when more
than half of the rows in its stretch of 20 rows are alarms. A row has *few trusted neighbors* when most of the ten rows
most similar to it were not learned, or only with a small weight. The stream holds these three kinds of rows back. It
learns other rows at once, with a weight that decreases with their loss. The stream *adopts* (learns later) the rows
that it held back when rows of their kind have been frequent for a given number of rows (`Patience`). An adoption has
one of three kinds: "change" when the new rows replaced the earlier data, "mode" when a new kind of rows came besides
the earlier data, and "wider" when scattered rows around the earlier data were adopted.

The constants below were chosen on the streams of docs/streams_measured.md. Unless a comment says otherwise, there is no
recorded measurement of a single constant.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import connected_components

from ..base.checks import check_size
from ..core.kernels import Kernel
from ..core.stored import Extended
from .memory import Mask, Memory, Numbers, Vector

__all__ = [
    "PROMPT",
    "SHORT_BURST",
    "STRETCH",
    "Adoptable",
    "Patience",
    "adoptable",
    "anomaly_limit",
    "burst_lengths",
    "in_bursts",
    "neighbor_support",
    "quantiles",
    "soft_trust",
    "trusted_rows",
]

#: Number of rows in a stretch.
STRETCH = 20
#: Largest share of alarms in a stretch that is not a burst.
_BURST_SHARE = 0.5
#: Largest number of rows of a burst that counts as a run of false alarms when it is over.
SHORT_BURST = 40
#: Share of the normal rows whose loss exceeds the limit for anomalous rows.
_ANOMALOUS_SHARE = 0.003
#: Upper tail shares of the two quantiles (75 % and 90 %) from which that limit is extrapolated.
_TAIL_SHARES = np.array([0.25, 0.1])
#: Largest share of normal rows that the estimate of the limit assumes to be held back.
_MAX_MISSING = 0.05
#: Factor on the limit for data with a single column. The rows at its two ends have losses about a hundred times as
#: large as other rows, which the two quantiles do not predict. Measured: the table "One column" in
#: docs/streams_measured.md.
_ONE_COLUMN_FACTOR = 16.0
#: Relative slack for rounding errors in comparisons of losses and of evidence.
_ROUNDING_SLACK = 1e-9
#: Largest share of the rows of a block that counts as evidence: a denser kind of rows gives no more evidence.
_MAX_COUNTED_SHARE = 0.2
#: Number of rows in a block whose evidence is counted together.
_EVIDENCE_BLOCK = 5
#: Smallest number of rows of one kind in a stretch of 20 rows that makes the kind dense.
_DENSE_ROWS = 7
#: Share of the usual evidence that is enough for a kind that was never dense.
_NEVER_DENSE_FACTOR = 0.5
#: Number of most similar rows that support a row.
_NEIGHBORS = 10
#: Smallest trust (weight before forgetting) of a row that counts as trusted.
_MIN_TRUST = 0.5
#: Number of trusted rows that are compared first. It affects the speed only.
_SAMPLE_SIZE = 128
#: Number of nearest neighbors to which a row that is held back may be linked.
_N_LINKS = 5
#: Smallest number of linked rows that form a kind.
_MIN_KIND_SIZE = 10
#: Smallest share of rows held back, among all rows since a change began, at which the change counts as complete.
_CHANGE_SHARE = 0.8
#: Number of latest rows in which rows that are held back count as evidence.
_EVIDENCE_ROWS = 20_000
#: Smallest number of rows without trust that a stream keeps. It keeps twice `Patience.rows` if that is more.
_MIN_KEPT_UNTRUSTED = 512


@dataclass(frozen=True)
class Patience:
    """Set the number of rows for which a change must last before a stream learns it.

    Parameters
    ----------
    rows : float, default=140
        Number of rows for which a change must last before it is learned. A burst of fewer anomalies is not learned,
        even if all rows of the burst are similar. With ``inf`` the stream never adopts rows that it held back; it then
        follows slow drift only.
    share : float in (0, 0.2), default=0.05
        Largest share of the rows that one kind of anomaly may have without ever being learned. A kind of anomalous rows
        with a fifth of the rows or more is adopted after `rows` rows, or after half that if it was never dense (7 of 20
        rows). A kind with a smaller share is adopted later. A kind with this share or less is never adopted.
    steepness : float, default=3.0
        A row whose loss exceeds the threshold, but which is not held back, is learned with weight
        ``(threshold / loss) ** steepness``.
    trial : float, default=inf
        Number of rows after which a change is adopted provisionally, if no row since the change resembles the earlier
        data. If rows that resemble the earlier data return before `rows` rows have passed, the stream undoes what it
        learned since the change. The next trial then needs twice as many rows.

    Examples
    --------
    >>> from oneclass.stream import Patience
    >>> Patience(rows=1500)  # does not learn an attack of a thousand rows
    Patience(rows=1500, share=0.05, steepness=3.0, trial=inf)
    """

    rows: Extended = 140
    share: float = 0.05
    steepness: float = 3.0
    trial: Extended = math.inf

    def __post_init__(self) -> None:
        if not self.rows > 0:
            raise ValueError(f"Patience: rows must be a number in (0, inf], got {self.rows!r}")
        if not 0 < self.share < _MAX_COUNTED_SHARE:
            raise ValueError(f"Patience: share must be a number in (0, {_MAX_COUNTED_SHARE:g}), got {self.share!r}")
        if not 0 <= self.steepness < math.inf:
            raise ValueError(f"Patience: steepness must be a number in [0, inf), got {self.steepness!r}")
        if not self.trial > 0:
            raise ValueError(f"Patience: trial must be a number in (0, inf], got {self.trial!r}")
        for name in ("rows", "trial"):
            if math.isfinite(span := getattr(self, name)):
                check_size(self, name, span)

    @property
    def needed(self) -> float:
        """Evidence at which rows are adopted: that of `rows` rows with a fifth of all rows or more."""
        return (_MAX_COUNTED_SHARE - self.share) * self.rows * (1 - _ROUNDING_SLACK)

    @property
    def kept(self) -> int:
        """Number of rows without trust that a stream keeps, because it may still adopt them."""
        return max(_MIN_KEPT_UNTRUSTED, 2 * math.ceil(self.rows)) if math.isfinite(self.rows) else _MIN_KEPT_UNTRUSTED

    def evidence(self, number: Numbers, seen: int) -> float:
        """Return the number of these rows beyond the share that anomalies may have.

        The excess is computed from each earlier block up to now, and the largest is returned. Each block of 5 rows
        counts at most one of these rows (a fifth), so a dense burst gives no more evidence than a lasting fifth.

        Parameters
        ----------
        number : array of int
            Numbers of the rows.
        seen : int
            Number of all rows so far.
        """
        back = (seen - 1 - number[number >= seen - _EVIDENCE_ROWS]) // _EVIDENCE_BLOCK
        each = np.minimum(np.bincount(back), _MAX_COUNTED_SHARE * _EVIDENCE_BLOCK) - self.share * _EVIDENCE_BLOCK
        return float(np.max(np.cumsum(each), initial=0.0))


#: The policy of a stream whose `patience` is "prompt", the default. Measured in docs/streams_measured.md; a
#: `steepness` of 0 or 1 gives the same results there.
PROMPT = Patience(rows=140, trial=45)


def quantiles(losses: Vector, shares: Vector | float) -> Vector:
    """Return quantiles of losses in ascending order, as ``np.quantile`` does, but without sorting the losses again."""
    return np.asarray(np.interp(np.asarray(shares) * (len(losses) - 1), np.arange(len(losses)), losses))


def anomaly_limit(losses: Vector, missing: float = 0.0, *, columns: int) -> float:
    """Return the loss that 3 in 1,000 normal rows exceed: rows beyond it are anomalous.

    The limit is extrapolated from the 75 % and 90 % quantiles. It assumes that the square roots of the losses have an
    exponential tail. A few anomalies among the rows hardly change these quantiles.

    Parameters
    ----------
    losses : array of shape (n,)
        Losses of rows accepted as normal, in ascending order.
    missing : float
        Share of the normal rows that are held back and so are not among `losses`. Without this correction, each
        estimate of a heavy tail would be shorter than the one before.
    columns : int
        Number of columns. With one column the limit is 16 times as large, because the quantiles do not predict the
        losses of rows at the two ends of the column.
    """
    beyond = (_TAIL_SHARES - min(missing, _MAX_MISSING)) / (1 - min(missing, _MAX_MISSING))
    low, high = np.sqrt(quantiles(losses, 1 - beyond))
    cut = (
        high + (high - low) * math.log(_TAIL_SHARES[1] / _ANOMALOUS_SHARE) / math.log(_TAIL_SHARES[0] / _TAIL_SHARES[1])
    ) ** 2
    return float(cut * (1 + _ROUNDING_SLACK) * (_ONE_COLUMN_FACTOR if columns == 1 else 1.0))


def in_bursts(before: Mask, alarm: Mask) -> Mask:
    """Return which rows are in a burst: in a stretch with more than half alarms, between its first and last alarm.

    Parameters
    ----------
    before : array of bool
        Whether each earlier row was an alarm.
    alarm : array of bool
        Whether each new row is an alarm. The result has one entry per new row.
    """
    start = max(0, len(before) - STRETCH + 1)
    seq = np.concatenate([before[start:], alarm])
    n = len(seq)
    if n < STRETCH:
        return np.zeros(len(alarm), dtype=bool)
    alarm_count = np.concatenate([[0], np.cumsum(seq)])
    burst = np.concatenate(
        [alarm_count[STRETCH:] - alarm_count[:-STRETCH] > _BURST_SHARE * STRETCH, np.zeros(STRETCH - 1, dtype=bool)]
    )
    burst_count = np.concatenate([np.zeros(STRETCH), np.cumsum(burst)])
    inside = burst_count[STRETCH:] > burst_count[:-STRETCH]
    places = np.arange(n)
    begin = np.maximum.accumulate(np.where(inside & ~np.roll(inside, 1), places, 0))
    end = np.minimum.accumulate(np.where(inside & ~np.roll(inside, -1), places, n - 1)[::-1])[::-1]
    last = np.maximum.accumulate(np.where(seq, places, -1))
    coming = np.minimum.accumulate(np.where(seq, places, n)[::-1])[::-1]
    return np.asarray(inside & (last >= begin) & (coming <= end))[n - len(alarm) :]


def burst_lengths(alarm: Mask) -> Vector:
    """Return the number of rows of the burst that each row is in: 0 outside bursts, infinity if it may still go on."""
    n = len(alarm)
    inside = in_bursts(alarm[:0], alarm)
    edges = np.flatnonzero(np.diff(inside, prepend=False, append=False))
    lengths = np.zeros(n)
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        lengths[start:end] = end - start if end <= n - STRETCH else np.inf
    return lengths


def soft_trust(losses: Vector, threshold: float, steepness: float) -> Vector:
    """Return the weights ``min(1, (threshold / loss) ** steepness)``, with which rows are learned at once."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(losses > threshold, threshold / losses, 1.0)
    return np.asarray(ratio**steepness)


def neighbor_support(kernel: Kernel, Z: Vector, known: Vector, trusted: Mask) -> Vector:
    """Return twice the share of trusted rows among the ten known rows most similar to each row, at most one."""
    half = _NEIGHBORS // 2
    backed = np.ones(len(Z))
    if np.sum(~trusted) <= half or not len(Z):
        return backed
    # The result is below one only if more than half of the ten neighbors are not trusted. Then the sixth nearest row
    # without trust is nearer than the fifth nearest trusted row. A sample of the trusted rows shows for most rows that
    # it is not. Only the remaining rows are compared with all known rows.
    close = -np.partition(-_similarity(kernel, Z, known[~trusted]), half, axis=1)[:, half]
    good = np.flatnonzero(trusted)
    sampled = known[good[:: max(1, len(good) // _SAMPLE_SIZE)]]
    near = (
        np.count_nonzero(_similarity(kernel, Z, sampled) > close[:, None], axis=1) if len(sampled) else np.zeros(len(Z))
    )
    unresolved = np.flatnonzero(near < half)
    if unresolved.size:
        similar = _similarity(kernel, Z[unresolved], known)
        k = min(_NEIGHBORS, len(known))
        nearest = np.argpartition(-similar, k - 1, axis=1)[:, :k]
        backed[unresolved] = np.minimum(1.0, 2 * np.mean(trusted[nearest], axis=1))
    return backed


def _similarity(kernel: Kernel, Z: Vector, known: Vector) -> Vector:
    """Return similarities, larger for more similar rows: the negative distances if the kernel has distances.

    Distances cost less than kernel values, and they still differ for rows so far away that the kernel is zero.
    """
    distances = getattr(kernel, "distances", None)
    return np.asarray(kernel(Z, known) if distances is None else -distances(Z, known))


def trusted_rows(memory: Memory) -> Mask:
    """Return which rows are trusted, and so can support other rows."""
    return memory.trust >= _MIN_TRUST


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
    if evidence < _NEVER_DENSE_FACTOR * needed:
        return None
    # The longest run of latest rows in which at least 80 % of the rows are held back.
    lasting = seen - number
    alone = np.flatnonzero(np.arange(len(number), 0, -1) >= _CHANGE_SHARE * lasting)
    if alone.size and evidence >= needed and lasting[alone[0]] >= needed / (_MAX_COUNTED_SHARE - patience.share):
        return Adoptable(number[alone[0] :], "change", evidence)
    label, around = _kinds(kernel, memory.Z[memory.waiting], memory.Z[trusted_rows(memory)])
    size = np.bincount(label)
    rows, found, kind = np.zeros(len(number), dtype=bool), [], "mode"
    for c in np.flatnonzero(size >= max(_MIN_KIND_SIZE, _NEVER_DENSE_FACTOR * needed)):
        alike = patience.evidence(number[label == c], seen)
        if alike >= (needed if _was_dense(number[label == c]) else _NEVER_DENSE_FACTOR * needed):
            rows |= label == c
            found.append(alike)
    scattered = (size[label] < _MIN_KIND_SIZE) & around
    wide = patience.evidence(number[scattered], seen)
    if wide >= needed:
        rows |= scattered
        found.append(wide)
        kind = "wider"
    return Adoptable(number[rows], kind, max(found)) if found else None


def _was_dense(number: Numbers) -> bool:
    """Return whether at least 7 of these rows once came within 20 rows, as in a burst but not in a rare mode."""
    return bool(np.any(number[_DENSE_ROWS - 1 :] - number[: len(number) - _DENSE_ROWS + 1] < STRETCH))


def _kinds(kernel: Kernel, Z: Vector, trusted: Vector) -> tuple[Numbers, Mask]:
    """Return the kind of each row as a label, and whether a trusted row is nearer to it than its fifth nearest row.

    Two rows are linked if each is among the five nearest of the other, and nearer to it than any trusted row is. A kind
    is a connected component of this graph.
    """
    similar = _similarity(kernel, Z, Z)
    np.fill_diagonal(similar, -np.inf)
    k = min(_N_LINKS, len(Z) - 1)
    close = -np.partition(-similar, k - 1, axis=1)[:, k - 1]
    near = np.max(_similarity(kernel, Z, trusted), axis=1) if len(trusted) else np.full(len(Z), -np.inf)
    linked = similar >= np.maximum(close, np.nextafter(near, np.inf))[:, None]
    return np.asarray(connected_components(linked & linked.T, directed=False)[1]), near >= close
