"""Calibration: held-out losses of the training rows, and the promises that follow from their ranks."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import betainc, betaincinv

from .arrays import Array, device, namespace
from .threshold import Ranks, conformal

__all__ = ["Calibration", "benjamini_hochberg"]


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
        """The smallest false-alarm rate that n rows can promise, 1 / (n + 1)."""
        return 1 / (self.total + 1)

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

    def interval(self, delta: float, confidence: float = 0.95) -> tuple[float, float]:
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
        >>> [round(rate, 3) for rate in calibration.interval(0.05)]
        [0.024, 0.084]
        """
        k, doubt = self._rank(delta), (1 - confidence) / 2
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
            At most `delta`, for `predict(X, alpha=...)` or `threshold`; 0 when so few rows cannot say.

        Examples
        --------
        >>> import numpy as np
        >>> calibration = Calibration.of(np.arange(199.0), np.ones(199))
        >>> calibration.budget(0.05)
        0.025
        """
        k = self._rank(delta)
        # The rate stays below delta the surer the smaller k is.
        while k > 0 and betainc(k, self.total + 1 - k, delta) < confidence:
            k -= 1
        return k / (self.total + 1)

    def _rank(self, delta: float) -> int:
        return math.floor((self.total + 1) * delta + 1e-9)

    def p_value(self, losses: Array) -> Array:
        """Conformal p-values ``(1 + #{i: held-out loss i >= loss}) / (n + 1)``.

        Uniform or larger for a fresh normal row. A p-value is at most alpha where `threshold` at alpha rejects, and
        nowhere else; losses that rounding may have parted are equal to both.

        Parameters
        ----------
        losses : array of shape (n,)
            Losses of rows.

        Returns
        -------
        array of shape (n,)
            Values in (0, 1].
        """
        xp = namespace(losses)
        reached = xp.concat([xp.zeros_like(self.reached[:1]), self.reached])
        below = xp.take(reached, xp.searchsorted(self.limits, losses, side="left"))
        return (1 + (reached[-1] - below)) / (1 + reached[-1])

    def false_discovery(self, losses: Array, q: float) -> Array:
        """Which rows of a batch to name outliers so that on average at most a share `q` of them are normal.

        Parameters
        ----------
        losses : array of shape (n,)
            Losses of the whole batch.
        q : float in (0, 1)
            False-discovery rate asked for.

        Returns
        -------
        array of shape (n,) of bool
            True for outliers: the procedure of Benjamini and Hochberg.
        """
        p = self.p_value(losses)
        return p <= benjamini_hochberg(p, q=q)


def benjamini_hochberg(p: Array, *, q: float) -> float:
    """The largest p-value that is at most ``q k / m``, k its rank among the m of the batch; 0 when there is none."""
    xp = namespace(p)
    ranked = xp.sort(p)
    m = ranked.shape[0]
    # The slack keeps a p-value that stands for the same fraction as its bound from failing by rounding.
    bounds = xp.arange(1, m + 1, dtype=p.dtype, device=device(p)) * (q / m * (1 + 1e-9))
    passed = ranked[ranked <= bounds]
    return float(passed[-1]) if passed.shape[0] else 0.0
