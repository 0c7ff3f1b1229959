"""Calibration: held-out losses of the training rows, and the promises that follow from their ranks."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple

from scipy.special import betaincinv
from scipy.stats import betabinom

from .arrays import Array, device, namespace, ones
from .groups import Groups
from .pareto_tail import TAILS
from .stored import Flags, Floats, must
from .threshold import Decision, Ranks, confident_budget, conformal, ranks_within

__all__ = ["Alarms", "Calibration", "HeldOut", "Judgement", "benjamini_hochberg", "rows_needed"]


class Alarms(NamedTuple):
    """Numbers of alarms among normal rows: on average over training sets, and from the fewest to the most."""

    expected: float
    fewest: int
    most: int


@dataclass(frozen=True)
class Calibration(Ranks):
    """Held-out losses of the training rows in ascending order (`losses`) and the weight up to each (`reached`).

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
    """

    @property
    def smallest_budget(self) -> float:
        """The smallest false-alarm rate that n rows can promise, 1 / (n + 1); more if some of them were removed."""
        return (1 + self.removed) / (self.total + 1)

    def threshold(self, delta: float) -> float:
        """The loss that a share `delta` of fresh normal rows exceed; the largest one for less than `smallest_budget`.

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
        """Between which rates this very model rejects fresh normal rows when asked for `delta`.

        `delta` is kept on average over training sets; the rate of one model is Beta distributed, as the k-th of n + 1
        ranks, k = floor((n + 1) delta).

        Parameters
        ----------
        delta : float in [0, 1)
            False-alarm rate asked for.
        confidence : float in (0, 1), default=0.95
            Chance that the rate is inside.

        Returns
        -------
        (float, float)
            Lowest and highest rate, as much doubt on either side.

        Examples
        --------
        >>> import numpy as np
        >>> calibration = Calibration.of(np.arange(199.0), np.ones(199))
        >>> [round(rate, 3) for rate in calibration.false_alarm_interval(0.05)]
        [0.024, 0.084]
        """
        k, doubt = ranks_within(self.total, delta), (1 - confidence) / 2
        low = float(betaincinv(k, self.total + 1 - k, doubt)) if k else 0.0
        return low, float(betaincinv(max(k, 1), self.total + 1 - max(k, 1), 1 - doubt))

    def budget(self, delta: float, confidence: float = 0.95) -> float:
        """The budget to ask for, so that this very model rejects at most a share `delta` with that confidence.

        Parameters
        ----------
        delta : float in (0, 1)
            Rate to stay below.
        confidence : float in (0, 1), default=0.95
            Chance to do so.

        Returns
        -------
        float
            At most `delta`, for `predict(X, delta=...)` or `threshold`; 0 when so few rows cannot say.

        Examples
        --------
        >>> import numpy as np
        >>> calibration = Calibration.of(np.arange(199.0), np.ones(199))
        >>> calibration.budget(0.05)
        0.025
        """
        return confident_budget(self.total, delta=delta, confidence=confidence)

    def alarms(self, delta: float, rows: int = 1000, confidence: float = 0.95) -> Alarms:
        """How many of so many fresh normal rows are rejected when asked for `delta`.

        The doubt about this very model's rate and the chance of the rows, together: a Beta-binomial number.

        Parameters
        ----------
        delta : float in [0, 1)
            False-alarm rate asked for.
        rows : int, default=1000
            Number of fresh normal rows.
        confidence : float in (0, 1), default=0.95
            Chance that the number is inside.

        Returns
        -------
        Alarms
            `expected`, `fewest` and `most`.

        Examples
        --------
        >>> import numpy as np
        >>> Calibration.of(np.arange(199.0), np.ones(199)).alarms(0.05)
        Alarms(expected=50.0, fewest=22, most=87)
        """
        k, doubt = max(1, ranks_within(self.total, delta)), (1 - confidence) / 2
        number = betabinom(rows, k, self.total + 1 - k)
        return Alarms(rows * k / (self.total + 1), int(number.ppf(doubt)), int(number.ppf(1 - doubt)))

    def p_value(self, losses: Array, tail: str | None = None) -> Array:
        """Conformal p-values ``(1 + #{i: held-out loss i >= loss}) / (n + 1)``.

        Uniform or larger for a fresh normal row. A p-value is at most alpha where `threshold` at alpha rejects, and
        nowhere else; losses that rounding may have parted are equal to both.

        Parameters
        ----------
        losses : array of shape (n,)
            Losses of rows.
        tail : {None, "pareto"}, default=None
            Of rows beyond every held-out loss, 1 / (n + 1) or what their `ParetoTail` says, if that is less.

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
        """Which rows of a batch to name outliers so that on average at most a share `q` of them are normal.

        Parameters
        ----------
        losses : array of shape (n,)
            Losses of the whole batch.
        q : float in (0, 1)
            False-discovery rate asked for.
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
    """Held-out losses of the training rows in the order of the rows, and who was held out with whom."""

    losses: Annotated[Array, Floats("r", finite=False)]
    w: Annotated[Array, Floats("r", above=0)] | None = None  # None are ones
    groups: Groups | None = None
    learnt: Annotated[Array, Flags("*")] | None = None  # which of the rows that were given; None is all of them

    def __check__(self) -> None:
        learnt, rows = self.learnt, int(self.losses.shape[0])
        count = rows if learnt is None else int(namespace(learnt).count_nonzero(learnt))
        must(count == rows, f"learnt must be true for {rows} rows, got {count}")

    @classmethod
    def of(cls, losses: Array, w: Array, groups: Groups | None = None) -> HeldOut:
        """Losses of rows, row i counted ``w[i]`` times."""
        return cls(losses, None if bool(namespace(w).all(w == 1)) else w, groups)

    @property
    def weights(self) -> Array:
        """What each row weighs in the calibration, where groups weigh the same."""
        w = ones(self.losses) if self.w is None else self.w
        return w if self.groups is None else self.groups.weights(w)

    def calibration(self) -> Calibration:
        """The losses ranked."""
        return Calibration.of(self.losses, self.w if self.groups is None else self.weights)

    def p_values(self) -> Array:
        """Conformal p-value of each row: its rank among all others, and among other groups than its own.

        ``(1 + weight of others with a loss at least as large) / (1 + weight of others)``.
        """
        xp, w, calibration = namespace(self.losses), self.weights, self.calibration()
        reached = xp.concat([xp.zeros_like(w[:1]), calibration.reached])
        below = xp.searchsorted(calibration.limits, self.losses, side="left")
        above = calibration.removed + reached[-1] - xp.take(reached, below)
        if self.groups is None:
            own = own_above = xp.clip(w, max=1.0)  # one unit of a row's weight is held out
        else:
            own, own_above = self._of_own_group(self.groups, w, below)
        p = (1 + above - own_above) / (1 + calibration.total - own)
        return xp.astype(p, self.losses.dtype, copy=False)

    def _of_own_group(self, groups: Groups, w: Array, below: Array) -> tuple[Array, Array]:
        """Weight of each row's group, and of those rows in it whose rank is not `below` that of the row's equals."""
        xp, n = namespace(w), w.shape[0]
        first = xp.asarray(groups.of_rows, device=device(w)) * (n + 1)
        # Ranks of one group after those of another: a single search answers for all groups.
        ranks = first + xp.argsort(xp.argsort(self.losses))
        order = xp.argsort(ranks)
        reached = xp.concat([xp.zeros_like(w[:1]), xp.cumulative_sum(xp.take(w, order))])
        ranks = xp.take(ranks, order)
        start, here, end = (
            xp.take(reached, xp.searchsorted(ranks, places)) for places in (first, first + below, first + n)
        )
        return end - start, end - here

    def in_row_order(self, values: Array) -> Array:
        """One value for each row that was given: NaN for those that nothing was learnt from."""
        if self.learnt is None:
            return values
        xp = namespace(values)
        place = xp.cumulative_sum(xp.astype(self.learnt, xp.int64)) - 1
        return xp.where(self.learnt, xp.take(values, xp.clip(place, min=0)), xp.full_like(values[:1], xp.nan))


@dataclass(frozen=True)
class Judgement:
    """The losses that a threshold looks at and, where training rows were held out, those that p-values look at."""

    ranks: Ranks
    calibration: Calibration | None
    held_out: HeldOut | None  # row by row, where all rows were at hand and judged

    @classmethod
    def of(cls, decision: Decision, held_out: HeldOut | None, training: Callable[[], Ranks]) -> Judgement:
        """By held-out losses of the rows, if they have any, and `training` losses if the decision looks at these."""
        calibration = None if held_out is None else held_out.calibration()
        if not decision.held_out:
            return cls(training(), calibration, held_out)
        if calibration is None:
            raise ValueError(f"the rule {decision.rule!r} looks at held-out losses, but there are none")
        return cls(calibration, calibration, held_out)

    def beside(self, removed: float) -> Judgement:
        """The same where so many rows, to one that is here, were removed that are beyond all losses."""
        known, ranks = self.calibration, self.ranks
        calibration = None if known is None else known.beside(removed * known.total)
        ranks = calibration if calibration is not None and ranks is known else ranks.beside(removed * ranks.total)
        return replace(self, ranks=ranks, calibration=calibration)

    def learning(self, learnt: Array | None) -> Judgement:
        """The same for rows of which some were `learnt` from; None is all of them."""
        return self if self.held_out is None else replace(self, held_out=replace(self.held_out, learnt=learnt))


def rows_needed(delta: float, confidence: float | None = None) -> int:
    """The fewest rows, or groups of them, with which a classifier can keep a budget.

    Parameters
    ----------
    delta : float in (0, 1)
        False-alarm rate to keep.
    confidence : float in (0, 1), optional
        Chance with which the model is to keep it, too; by default it is kept on average over training sets.

    Returns
    -------
    int
        1 / delta - 1 or, if that is more, the n at which ``1 - (1 - delta)^n`` reaches the confidence, rounded up.

    Examples
    --------
    >>> rows_needed(0.01), rows_needed(0.01, confidence=0.95)
    (99, 299)
    """
    for name, value in (("delta", delta), ("confidence", confidence)):
        if value is not None and not 0 < value < 1:
            raise ValueError(f"rows_needed: {name} must be a number in (0, 1), got {value!r}")
    surely = 0.0 if confidence is None else math.log1p(-confidence) / math.log1p(-delta)
    return math.ceil(max(1 / delta - 1, surely) * (1 - 1e-9))


def benjamini_hochberg(p: Array, *, q: float) -> float:
    """The largest p-value that is at most ``q k / m``, k its rank among the m of the batch; 0 when there is none."""
    xp = namespace(p)
    ranked = xp.sort(p)
    m = ranked.shape[0]
    # The slack keeps a p-value that stands for the same fraction as its bound from failing by rounding.
    bounds = xp.arange(1, m + 1, dtype=p.dtype, device=device(p)) * (q / m * (1 + 1e-9))
    passed = ranked[ranked <= bounds]
    return float(passed[-1]) if passed.shape[0] else 0.0
