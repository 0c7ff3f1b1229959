"""Calibration: the held-out losses of the training rows, and the false-alarm guarantees that their ranks give."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv
from scipy.stats import betabinom

from .arrays import Array, device, namespace, ones
from .groups import Groups
from .notebook import InNotebook
from .pareto_tail import TAILS
from .stored import Flags, Floats, OneOf, must
from .threshold import COUNTED, Decision, Ranks, confident_budget, conformal, own_rate, ranks_within

__all__ = ["Alarms", "Calibration", "HeldOut", "Judgement", "benjamini_hochberg", "rows_needed"]

#: A sum of weights up to this is zero but for rounding.
_NO_WEIGHT = 1e-9


#: Share of the rows that is counted for the limits of the rate of one model, if leave-one-out losses are unstable: as
#: many random features as rows. There the rate varied up to 7.4 times as much as its Beta distribution (OCELM, 25 to
#: 600 rows, 4 to 200 columns). With this share, 0 to 3 % of the rates were above the upper limit of a 95 % interval.
_COUNTED_IF_UNSTABLE = 0.02


class _Way(NamedTuple):
    """What holds for rows that were held out in one way."""

    #: Guarantee for the mean false-alarm rate over training sets.
    guarantee: str
    #: Share of the rows that is counted for the limits of the rate of one model.
    counted: float = COUNTED
    #: Whether the rate of one model has a lower limit. Models of folds have larger losses than the model of all rows,
    #: and the p-values of CV+ are means over such models: rates may be far below the one asked for.
    bounded_below: bool = True


_MEASURED = "about delta: measured, not proved"
_WAYS = {
    "": _Way(_MEASURED),
    "unstable": _Way(_MEASURED, _COUNTED_IF_UNSTABLE, bounded_below=False),
    "folds": _Way("about delta or less: measured, not proved", bounded_below=False),
    "plus": _Way("at most about 2 delta for every distribution; measured: slightly below delta", bounded_below=False),
    "split": _Way("at most delta for every distribution", counted=1.0),
}


#: Rates in the table of a notebook.
_SHOWN_RATES = (0.01, 0.02, 0.05, 0.1)


class Alarms(NamedTuple):
    """Number of false alarms among normal rows: its mean over training sets, and the limits of an interval."""

    expected: float
    fewest: int
    most: int


@dataclass(frozen=True, repr=False)
class Calibration(InNotebook, Ranks):
    """Held-out losses of the training rows in ascending order (`losses`), with cumulative weights (`reached`).

    `way` is how they were held out: "split", "plus", "folds" or, for leave-one-out, "" or "unstable".

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass import KNNDetector
    >>> X = np.random.default_rng(0).normal(size=(99, 2))
    >>> calibration = KNNDetector().fit(X).calibration_
    >>> calibration.smallest_budget
    0.01
    >>> bool(calibration.threshold(0.01) > calibration.threshold(0.05))
    True
    >>> calibration
    Calibration(99 held-out losses; the mean rate is about delta: measured, not proved)
    >>> KNNDetector(hold_out="split", delta=0.1).fit(X).calibration_
    Calibration(50 held-out losses; the mean rate is at most delta for every distribution)
    """

    way: Annotated[str, OneOf(*_WAYS)] = ""

    @property
    def _title(self) -> str:
        return f"{self.total:g} held-out losses; the mean rate is {_WAYS[self.way].guarantee}"

    def _table(self) -> tuple[list[str], list[list[object]], int]:
        rows: list[list[object]] = [
            [f"{rate:.0%}", float(self.threshold(rate)), *(f"{limit:.1%}" for limit in self.false_alarm_interval(rate))]
            for rate in _SHOWN_RATES
            if rate >= self.smallest_budget
        ]
        return ["rate asked for", "threshold on the loss", "this model: from", "to (95 %)"], rows, len(rows)

    @property
    def exact(self) -> bool:
        """Whether the model has not learned from the held-out rows, so that the distribution of its rate is exact."""
        return self.way == "split"

    @property
    def smallest_budget(self) -> float:
        """The smallest false-alarm rate that n rows can guarantee: 1 / (n + 1), or more if rows were removed."""
        return (1 + self.removed) / (self.total + 1)

    def threshold(self, delta: float) -> float:
        """Return the threshold that a share `delta` of new normal rows exceeds.

        If `delta` is less than `smallest_budget`, this is the largest held-out loss.

        Parameters
        ----------
        delta : float in [0, 1)
            False-alarm rate asked for.

        Returns
        -------
        float
        """
        return conformal(self, delta=delta)

    def false_alarm_interval(self, delta: float, confidence: float = 0.95) -> tuple[float, float]:
        """Return an interval for the false-alarm rate of this fitted model at the requested rate `delta`.

        Let k = floor((n + 1) delta). If the n losses are those of rows that were split off before the fit, the rate of
        one fitted model has the distribution Beta(k, n + 1 - k). For leave-one-out, folds and CV+ there is no such
        theorem, and the limits are those of half of the rows, which was measured (docs/calibration.md). For folds and
        CV+ the lower limit is 0. If several losses are equal to the threshold, only those above it count for the lower
        limit.

        Parameters
        ----------
        delta : float in [0, 1)
            Requested false-alarm rate.
        confidence : float in (0, 1), default=0.95
            Probability that the rate is in the interval.

        Returns
        -------
        (float, float)
            Lowest and highest rate. The probability that the rate is above the interval is (1 - confidence) / 2, and at
            most as large below it.

        Examples
        --------
        >>> import numpy as np
        >>> calibration = Calibration.of(np.arange(199.0), np.ones(199))
        >>> [round(rate, 3) for rate in calibration.false_alarm_interval(0.05)]
        [0.017, 0.1]
        """
        doubt, k, fewest = (1 - confidence) / 2, max(1, ranks_within(self.total, delta)), self._surely_rejected(delta)
        low = float(betaincinv(*self._own_rate(fewest), doubt)) if fewest else 0.0
        return low, float(betaincinv(*self._own_rate(k), 1 - doubt))

    def _own_rate(self, k: float) -> tuple[float, float]:
        return own_rate(self.total, k, counted=_WAYS[self.way].counted)

    def _surely_rejected(self, delta: float) -> float:
        """How many of the n + 1 ranks are rejected at least: fewer than asked for if losses equal the threshold."""
        k = ranks_within(self.total, delta)
        if not (k and _WAYS[self.way].bounded_below):
            return 0
        equal_or_below = int(namespace(self.losses).count_nonzero(self.losses <= self.threshold(delta)))
        above = self.total - float(self.reached[equal_or_below - 1])
        return k if above >= k - 1 - _NO_WEIGHT else above

    def budget(self, delta: float, confidence: float = 0.95) -> float:
        """Return the rate to request so that this model's false-alarm rate is at most `delta` with that confidence.

        Parameters
        ----------
        delta : float in (0, 1)
            Upper bound of the false-alarm rate.
        confidence : float in (0, 1), default=0.95
            Probability that the bound holds.

        Returns
        -------
        float
            A rate of at most `delta`, for `predict(X, delta=...)` or `threshold`; 0 if there are too few rows.

        Examples
        --------
        >>> import numpy as np
        >>> calibration = Calibration.of(np.arange(199.0), np.ones(199))
        >>> calibration.budget(0.05)
        0.02
        """
        return confident_budget(self.total, delta=delta, confidence=confidence, counted=_WAYS[self.way].counted)

    def alarms(self, delta: float, rows: int = 1000, confidence: float = 0.95) -> Alarms:
        """Return the number of false alarms among new normal rows at the requested rate `delta`.

        The number has a Beta-binomial distribution. It includes the uncertainty about this model's false-alarm rate and
        the random choice of the new rows.

        Parameters
        ----------
        delta : float in [0, 1)
            Requested false-alarm rate.
        rows : int, default=1000
            Number of new normal rows.
        confidence : float in (0, 1), default=0.95
            Probability that the number is in the interval.

        Returns
        -------
        Alarms
            `expected`, `fewest` and `most`.

        Examples
        --------
        >>> import numpy as np
        >>> Calibration.of(np.arange(199.0), np.ones(199)).alarms(0.05)
        Alarms(expected=50.0, fewest=15, most=103)
        """
        doubt, k, fewest = (1 - confidence) / 2, max(1, ranks_within(self.total, delta)), self._surely_rejected(delta)
        few = int(betabinom(rows, *self._own_rate(fewest)).ppf(doubt)) if fewest else 0
        return Alarms(rows * k / (self.total + 1), few, int(betabinom(rows, *self._own_rate(k)).ppf(1 - doubt)))

    def p_value(self, losses: Array, tail: str | None = None) -> Array:
        """Return conformal p-values ``(1 + #{i: held-out loss i >= loss}) / (n + 1)``.

        For a new normal row they are uniform or larger, if one model scored the held-out rows and scores the new row.
        For leave-one-out and folds this holds approximately. The p-value of a row is at most alpha exactly if
        `threshold` at alpha rejects the row. Losses that differ by rounding only count as equal in both.

        Parameters
        ----------
        losses : array of shape (n,)
            Losses of rows.
        tail : {None, "pareto"}, default=None
            For rows with a loss above all held-out losses: None gives 1 / (n + 1); "pareto" gives the p-value of a
            fitted `ParetoTail`, if it is smaller.

        Returns
        -------
        array of shape (n,)
            Values in (0, 1].

        Examples
        --------
        >>> import numpy as np
        >>> calibration = Calibration.of(np.arange(1.0, 200.0), np.ones(199))
        >>> calibration.p_value(np.array([100.0, 1e6]))
        array([0.505, 0.005])
        >>> bool(calibration.p_value(np.array([1e6]), tail="pareto")[0] < 1e-9)
        True
        """
        xp = namespace(losses)
        reached = xp.concat([xp.zeros_like(self.reached[:1]), self.reached])
        place = xp.searchsorted(self.limits, losses, side="left")
        first = 1 + self.removed
        p = (first + (reached[-1] - xp.take(reached, place))) / (first + reached[-1])
        p = xp.astype(p, losses.dtype, copy=False)
        fitted = None if tail is None else TAILS[tail](self)
        if fitted is None:
            return p
        outside = place == self.limits.shape[0]
        further = fitted(xp.where(outside, losses, xp.full_like(losses, fitted.start)))
        return xp.where(outside, xp.minimum(p, xp.astype(further, p.dtype)), p)

    def label_batch(self, losses: Array, q: float, tail: str | None = None) -> Array:
        """Return the outliers of a batch at the false-discovery rate `q`: on average at most a share `q` is normal.

        Parameters
        ----------
        losses : array of shape (n,)
            Losses of the whole batch.
        q : float in (0, 1)
            Requested false-discovery rate.
        tail : {None, "pareto"}, default=None
            As in `p_value`.

        Returns
        -------
        array of shape (n,) of bool
            True for outliers: the procedure of Benjamini and Hochberg.
        """
        p = self.p_value(losses, tail)
        return p <= benjamini_hochberg(p, q=q)


@dataclass(frozen=True)
class HeldOut:
    """Held-out losses of the training rows in row order, their weights, and the groups that were held out."""

    losses: Annotated[Array, Floats("r", finite=False)]
    w: Annotated[Array, Floats("r", above=0)] | None = None  # None are ones
    groups: Groups | None = None
    learnt: Annotated[Array, Flags("*")] | None = None  # mask of the given rows that were used; None means all
    way: Annotated[str, OneOf(*_WAYS)] = ""  # how the rows were held out, as in `Calibration`

    def __check__(self) -> None:
        learnt, rows = self.learnt, int(self.losses.shape[0])
        count = rows if learnt is None else int(namespace(learnt).count_nonzero(learnt))
        must(count == rows, f"learnt must be true for {rows} rows, got {count}")

    @classmethod
    def of(cls, losses: Array, w: Array, groups: Groups | None = None) -> HeldOut:
        """Return the held-out losses of rows, row i counted ``w[i]`` times."""
        return cls(losses, None if bool(namespace(w).all(w == 1)) else w, groups)

    @property
    def weights(self) -> Array:
        """Weight of each row in the calibration; every group has the same total weight."""
        w = ones(self.losses) if self.w is None else self.w
        return w if self.groups is None else self.groups.weights(w)

    def calibration(self) -> Calibration:
        """Return the calibration by these losses."""
        found = Calibration.of(self.losses, self.w if self.groups is None else self.weights)
        return replace(found, way=self.way) if self.way else found

    def only(self, rows: NDArray[np.bool_]) -> HeldOut:
        """Return the held-out losses of the rows of a mask; a group keeps those of its rows that are among them."""
        mask = namespace(self.losses).asarray(rows, device=device(self.losses))
        groups = self.groups
        if groups is not None:
            numbers = np.unique(groups.of_rows[rows], return_inverse=True)[1]
            groups = replace(groups, of_rows=numbers.reshape(-1))
        return HeldOut(self.losses[mask], None if self.w is None else self.w[mask], groups, way=self.way)

    def p_values(self) -> Array:
        """Return the conformal p-value of each row with respect to all other rows, or to the rows of other groups.

        ``(1 + weight of others with a loss at least as large) / (1 + weight of others)``.
        """
        above, others = self._above_others()
        return namespace(above).astype((1 + above) / (1 + others), self.losses.dtype, copy=False)

    def is_beyond_others(self) -> Array:
        """Return a mask of the rows whose loss is larger than those of all other rows, or of all other groups."""
        return self._above_others()[0] <= _NO_WEIGHT

    def _above_others(self) -> tuple[Array, Array]:
        """Return the weight of the other rows with a loss at least as large, and of all other rows."""
        xp, w, calibration = namespace(self.losses), self.weights, self.calibration()
        reached = xp.concat([xp.zeros_like(w[:1]), calibration.reached])
        below = xp.searchsorted(calibration.limits, self.losses, side="left")
        above = calibration.removed + reached[-1] - xp.take(reached, below)
        if self.groups is None:
            own = own_above = xp.clip(w, max=1.0)  # one unit of a row's weight is held out
        else:
            own, own_above = self._of_own_group(self.groups, w, below)
        return above - own_above, calibration.total - own

    def _of_own_group(self, groups: Groups, w: Array, below: Array) -> tuple[Array, Array]:
        """Return the weight of each row's group, and the weight of its rows with a loss at least as large.

        `below` is the number of losses that are smaller than the loss of the row.
        """
        xp, n = namespace(w), w.shape[0]
        first = xp.asarray(groups.of_rows, device=device(w)) * (n + 1)
        # Offset the ranks of each group so that one search serves all groups.
        ranks = first + xp.argsort(xp.argsort(self.losses))
        order = xp.argsort(ranks)
        reached = xp.concat([xp.zeros_like(w[:1]), xp.cumulative_sum(xp.take(w, order))])
        ranks = xp.take(ranks, order)
        start, here, end = (
            xp.take(reached, xp.searchsorted(ranks, places)) for places in (first, first + below, first + n)
        )
        return end - start, end - here

    def in_row_order(self, values: Array) -> Array:
        """Return one value for each given row: NaN for rows that were not used for training."""
        if self.learnt is None:
            return values
        xp = namespace(values)
        place = xp.cumulative_sum(xp.astype(self.learnt, xp.int64)) - 1
        return xp.where(self.learnt, xp.take(values, xp.clip(place, min=0)), xp.full_like(values[:1], xp.nan))


@dataclass(frozen=True)
class Judgement:
    """The ranked losses for the threshold and, if rows were held out, the calibration for p-values."""

    ranks: Ranks
    calibration: Calibration | None
    held_out: HeldOut | None  # in row order, if all rows were in memory and scored

    @classmethod
    def of(cls, decision: Decision, held_out: HeldOut | None, training: Callable[[], Ranks]) -> Judgement:
        """Return the ranks for a decision: held-out losses, or `training` losses if the decision uses these."""
        calibration = None if held_out is None else held_out.calibration()
        if not decision.held_out:
            return cls(training(), calibration, held_out)
        if calibration is None:
            raise ValueError(f"the threshold rule {decision.rule!r} needs held-out losses, but there are none")
        return cls(calibration, calibration, held_out)

    def beside(self, removed: float) -> Judgement:
        """Account for screened-out rows, with larger losses than all kept rows, as a ratio to the kept rows."""
        known, ranks = self.calibration, self.ranks
        calibration = None if known is None else known.beside(removed * known.total)
        ranks = calibration if calibration is not None and ranks is known else ranks.beside(removed * ranks.total)
        return replace(self, ranks=ranks, calibration=calibration)

    def by(self, way: str) -> Judgement:
        """Return the same for rows that were held out in this way."""
        calibration = None if self.calibration is None else replace(self.calibration, way=way)
        return replace(
            self,
            ranks=calibration if calibration is not None and self.ranks is self.calibration else self.ranks,
            calibration=calibration,
            held_out=None if self.held_out is None else replace(self.held_out, way=way),
        )

    def learning(self, learnt: Array | None) -> Judgement:
        """Return the same with the mask `learnt` of the rows that were used for training; None means all."""
        return self if self.held_out is None else replace(self, held_out=replace(self.held_out, learnt=learnt))


def rows_needed(delta: float, confidence: float | None = None, *, exact: bool = False) -> int:
    """Return the smallest number of training rows, or of groups, with which a false-alarm rate can be kept.

    Parameters
    ----------
    delta : float in (0, 1)
        Largest false-alarm rate.
    confidence : float in (0, 1), optional
        Probability that the rate of one fitted model is at most `delta`. By default, `delta` bounds only the mean rate
        over training sets.
    exact : bool, default=False
        Whether the rows are split off before the fit. Fewer are then needed for a confidence.

    Returns
    -------
    int
        1 / delta - 1, rounded up; more with a confidence. For rows that are split off, ``1 - (1 - delta)^n`` is then at
        least the confidence.

    Examples
    --------
    >>> rows_needed(0.01), rows_needed(0.01, confidence=0.95), rows_needed(0.01, confidence=0.95, exact=True)
    (99, 383, 299)
    """
    counted = 1.0 if exact else COUNTED
    for name, value in (("delta", delta), ("confidence", confidence)):
        if value is not None and not 0 < value < 1:
            raise ValueError(f"rows_needed: {name} must be a number in (0, 1), got {value!r}")
    fewest = math.ceil((1 / delta - 1) * (1 - 1e-9))
    if confidence is None:
        return fewest
    low, high = fewest - 1, max(1, fewest)
    while not confident_budget(high, delta=delta, confidence=confidence, counted=counted):
        low, high = high, 2 * high
    while high - low > 1:
        n = (low + high) // 2
        enough = n >= fewest and confident_budget(n, delta=delta, confidence=confidence, counted=counted) > 0
        low, high = (low, n) if enough else (n, high)
    return high


def benjamini_hochberg(p: Array, *, q: float) -> float:
    """Return the largest p-value that is at most ``q k / m``, with k its rank among m p-values; 0 without one."""
    xp = namespace(p)
    ranked = xp.sort(p)
    m = ranked.shape[0]
    # The factor 1 + 1e-9 accepts a p-value that equals its bound up to rounding.
    bounds = xp.arange(1, m + 1, dtype=p.dtype, device=device(p)) * (q / m * (1 + 1e-9))
    passed = ranked[ranked <= bounds]
    return float(passed[-1]) if passed.shape[0] else 0.0
