"""The policy of a stream: the patience that users choose, and all constants of the method with their measurements."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..base.checks import check_size
from ..core.stored import Extended

__all__ = ["POLICY", "PROMPT", "ROUNDING_SLACK", "Patience", "Policy"]

#: Relative slack for rounding errors in comparisons of evidence and of sums of weights.
ROUNDING_SLACK = 1e-9


@dataclass(frozen=True)
class Policy:
    """All constants of the rules of a stream.

    They were chosen on some of the streams of docs/streams_measured.md. That page gives the AUROC without each rule and
    with other values (`benchmarks/stream_constants.py`), under earlier rules.
    """

    # Trust (trust.py).
    #: Smallest weight with which a row is learned. A row with a smaller weight is held back.
    min_trust: float = 0.5
    #: Number of most similar rows that support a row.
    neighbors: int = 10
    #: Share of the accepted rows, those with the smallest losses, that are *ordinary*. Their neighbors are not checked,
    #: and an ordinary row in a trial shows that earlier data still arrive.
    ordinary: float = 0.75

    # Bursts and the level of the threshold (trust.py).
    #: Number of rows in a stretch. A row is in a burst if more than half of a stretch around it are alarms.
    stretch: int = 20
    #: A burst of at most this number of rows counts as false alarms when it is over; a longer one as anomalies.
    false_burst: int = 40
    #: Number of latest losses on which the threshold depends.
    losses: int = 500
    #: Smallest number of such losses. Below it, the held-out losses of all learned rows replace them.
    min_losses: int = 20
    #: Change of the level by one false alarm, in units of `delta` (adaptive conformal inference).
    step: float = 0.1
    #: Largest size of the level, in units of `delta`. The level is also at most 0.5. At a level of zero or less, only a
    #: loss above the whole calibration is an alarm.
    max_level: float = 10.0

    # Adoption and trials (trust.py, learning.py).
    #: Number of rows in a block that gives at most one row of evidence: a kind that is denser gives no more evidence.
    evidence_block: int = 5
    #: Number of nearest neighbors to which a row that is held back may be linked in the graph of kinds.
    links: int = 10
    #: Smallest share of rows held back, among all rows since a change began, at which it replaces the earlier data.
    complete: float = 0.8
    #: Largest share of ordinary rows since a trial began. Above it the trial is undone.
    returning: float = 0.025
    #: Smallest share of rows held back, among the rows since a change began, at which a trial may start.
    min_held_back: float = 0.5
    #: Smallest ratio of the spread of the rows of a trial to that of the rows learned last.
    min_spread: float = 0.7

    # When rows without labels are learned (reference.py). `losses` sets how many latest losses are compared.
    #: Number of learned rows from which on rows without labels are not learned while nothing changes. With 1,000, the
    #: gain is smaller (docs/streams_measured.md).
    min_learned: int = 500
    #: Smallest number of latest losses of which the mean rank is computed. With 500, AUROC is the same.
    min_ranks: int = 200

    # The plan (plan.py): scaling, bandwidth, landmarks and clusters.
    #: Number of learned rows between two checks of the plan. A stream with up to four times as many is always checked.
    checked_every: int = 100
    #: Factor by which the weight of the rows may grow before the plan is renewed.
    max_growth: float = 2.0
    #: Factor by which C may differ from that for the present share of labelled rows before the plan is renewed. No
    #: recorded measurement.
    max_cost_change: float = 1.5
    #: Largest root mean square change over the columns, of the means (in widths) or of the logarithms of the widths.
    max_change: float = 0.1
    #: Number of latest learned rows whose means and widths are compared.
    compared: int = 1024

    # What is kept (window.py, state.py).
    #: Smallest and largest number of rows that a stream without a window of rows keeps. The moments represent others.
    min_kept: int = 1024
    max_kept: int = 4096
    #: Number of half-lives for which a row is kept. After 4 half-lives its weight is 1/16.
    kept_half_lives: int = 4
    #: Smallest number of rows that a stream keeps of each of two groups without trust: rows that were accepted but not
    #: learned, and others. It keeps twice `Patience.rows` of each if that is more.
    min_kept_untrusted: int = 512


#: The constants of every stream.
POLICY = Policy()
#: Largest share of the rows of a block that counts as evidence.
_DENSEST = 1 / POLICY.evidence_block


@dataclass(frozen=True)
class Patience:
    """Set when a stream learns changes and rows without labels.

    Parameters
    ----------
    rows : float, default=140
        Number of rows for which a change must last before it is learned. A burst of fewer anomalies is not learned,
        even if all rows of the burst are similar. With ``inf`` the stream never adopts rows that it held back; it then
        follows slow drift only.
    share : float in (0, 0.2), default=0.05
        Largest share of the rows that one kind of anomaly may have without ever being learned. A kind of anomalous rows
        with a fifth of the rows or more is adopted after `rows` rows. A kind with a smaller share is adopted later. A
        kind with this share or less is never adopted.
    steepness : float, default=1.0
        A row whose loss exceeds the threshold is learned with weight ``(threshold / loss) ** steepness``, and held back
        if this weight is below 1/2.
    trial : float, default=inf
        Number of rows after which a change is adopted provisionally, if no row since the change resembles the earlier
        data. If rows that resemble the earlier data return before `rows` rows have passed, the stream undoes what it
        learned since the change. The next trial then needs twice as many rows.
    drift : float in [0, 0.5], default=0.08
        Rows without labels are not learned until the mean rank of the latest 500 losses (at least 200) is farther from
        1/2 than this. They are ranked among the held-out losses of the learned rows that were kept when 500 or more had
        been learned. From then on all accepted rows are learned. With 0 they are learned from the start.

    Examples
    --------
    >>> from oneclass.stream import Patience
    >>> Patience(rows=1500)  # does not learn an attack of a thousand rows
    Patience(rows=1500, share=0.05, steepness=1.0, trial=inf, drift=0.08)
    """

    rows: Extended = 140
    share: float = 0.05
    steepness: float = 1.0
    trial: Extended = math.inf
    drift: float = 0.08

    def __post_init__(self) -> None:
        if not self.rows > 0:
            raise ValueError(f"Patience: rows must be a number in (0, inf], got {self.rows!r}")
        if not 0 < self.share < _DENSEST:
            raise ValueError(f"Patience: share must be a number in (0, {_DENSEST:g}), got {self.share!r}")
        if not 0 <= self.steepness < math.inf:
            raise ValueError(f"Patience: steepness must be a number in [0, inf), got {self.steepness!r}")
        if not self.trial > 0:
            raise ValueError(f"Patience: trial must be a number in (0, inf], got {self.trial!r}")
        if not 0 <= self.drift <= 0.5:
            raise ValueError(f"Patience: drift must be a number in [0, 0.5], got {self.drift!r}")
        for name in ("rows", "trial"):
            if math.isfinite(span := getattr(self, name)):
                check_size(self, name, span)

    @property
    def needed(self) -> float:
        """Evidence at which rows are adopted: that of `rows` rows with a fifth of all rows or more."""
        return (_DENSEST - self.share) * self.rows * (1 - ROUNDING_SLACK)

    @property
    def kept(self) -> int:
        """Number of rows of each group without trust that a stream keeps, because it may still adopt them."""
        least = POLICY.min_kept_untrusted
        return max(least, 2 * math.ceil(self.rows)) if math.isfinite(self.rows) else least

    def evidence(self, number: NDArray[np.int64], seen: int) -> float:
        """Return the number of these rows beyond the share that anomalies may have.

        The excess is computed from each earlier row up to now, and the largest is returned. Each block of 5 rows counts
        at most one of these rows (a fifth), so a dense burst gives no more evidence than a lasting fifth.

        Parameters
        ----------
        number : array of int
            Numbers of the rows.
        seen : int
            Number of all rows so far.
        """
        blocks = 1 + np.unique((seen - 1 - number) // POLICY.evidence_block)
        return float(np.max(np.arange(1, len(blocks) + 1) - self.share * POLICY.evidence_block * blocks, initial=0.0))


#: The policy of a stream whose `patience` is "prompt", the default.
PROMPT = Patience(rows=140, trial=45)
