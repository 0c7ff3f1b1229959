"""What every classifier of the library does with its losses: scores, threshold, labels, p-values."""

from __future__ import annotations

import warnings
from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from copy import copy as twin_of
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted

from ..core import threshold as rules
from ..core.arrays import Array, copy, device, namespace
from ..engines.dask import is_dask, map_rows
from ._input import check_choice, check_number, check_value, read_rows

__all__ = ["OneClassClassifier"]


class OneClassClassifier(OutlierMixin, BaseEstimator, metaclass=ABCMeta):
    """A loss, larger for stranger rows, and everything that follows from it.

    A subclass says how to fit (`_fit`), the loss of new rows (`_losses`) and the losses of its training rows when held
    out (`_held_out_losses`); it has the parameters `delta` and `threshold`.
    """

    #: Rules of `threshold` by name: held-out losses for those in `_held_out_rules`, training losses for the others.
    _rules: ClassVar[dict[str, Callable[..., float]]] = {
        "loo": rules.conformal,
        "train": rules.paper,
        "authors": rules.authors,
    }
    _held_out_rules: ClassVar[tuple[str, ...]] = ("loo",)

    delta: float
    threshold: str
    _held_out: tuple[Array, Array] | None
    _rows: tuple[Self, Array, Array] | None

    @abstractmethod
    def _fit(self, X: Array, w: Array) -> None:
        """Learn from rows `X`, row i counted ``w[i]`` times."""

    @abstractmethod
    def _losses(self, X: Array) -> Array:
        """Loss of each row."""

    @abstractmethod
    def _held_out_losses(self, X: Array, w: Array) -> Array:
        """Loss of each training row under a model that did not see it; called once, right after `_fit`."""

    def _training_losses(self, X: Array) -> Array:
        """Loss of each training row under the fitted model; called once, right after `_fit`."""
        return self._losses(X)

    def _fit_and_decide(self, X: Array, w: Array) -> None:
        self._check_decision()
        self._fit(X, w)
        if self.threshold in self._held_out_rules:
            self._decide(self._held_out_losses(X, w), w, held_out=True)
        else:
            self._held_out = self._rows = None
            # A twin keeps the parameters of this fit, whatever is set on the machine afterwards.
            self._rows = (twin_of(self), copy(X), w)
            self._decide(self._training_losses(X), w, held_out=False)

    def _check_decision(self) -> None:
        check_number(self, "delta", 0, 1, closed_low=True)
        check_choice(self, "threshold", tuple(self._rules))

    def _decide(self, losses: Array, w: Array, *, held_out: bool) -> None:
        """Put the threshold on these losses of the training rows; held-out ones calibrate p-values too."""
        self.offset_ = -self._threshold(losses, w)
        if not held_out:
            return
        self._held_out = (losses, w)
        self._rows = None
        self._warn_below_smallest("delta", self.delta, w, stacklevel=5)

    def _warn_below_smallest(
        self,
        budget: str,
        value: float,
        w: Array,
        *,
        stacklevel: int,
        so: str = "the largest held-out score is the threshold",
    ) -> None:
        smallest = rules.smallest_budget(w)
        if 0 < value < smallest:
            warnings.warn(
                f"{type(self).__name__}: {budget}={value:g} is below 1/(n+1)={smallest:.3g}, the smallest "
                f"false-alarm rate that this many rows can promise; {so}",
                UserWarning,
                stacklevel=stacklevel,
            )

    def _threshold(self, losses: Array, w: Array) -> float:
        return self._rules[self.threshold](losses, w, delta=self.delta)

    def _calibration(self) -> tuple[Array, Array]:
        """Held-out losses of the training rows and their weights; worked out at first use if the threshold had none."""
        if self._held_out is None:
            twin, X, w = self._rows  # type: ignore[misc]
            twin.set_params(threshold="loo", delta=0.0)
            twin._fit(X, w)
            self._held_out = (twin._held_out_losses(X, w), w)
            self._rows = None
        return self._held_out

    def score_samples(self, X: Any) -> Array:
        """How normal each row is; larger is more normal.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        array of shape (n_samples,)
            Scores: the negative loss.
        """
        return self._answer(X, lambda scores: scores)

    def decision_function(self, X: Any) -> Array:
        """Score minus `offset_`: negative for outliers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to judge.

        Returns
        -------
        array of shape (n_samples,)
            Signed distance of the score from the threshold.
        """
        return self._answer(X, lambda scores: scores - self.offset_)

    def predict(self, X: Any, alpha: float | None = None) -> Array:
        """Label each row: +1 for the target class, -1 for an outlier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to label.
        alpha : float in [0, 1), optional
            False-alarm rate to use instead of `delta`, without fitting again. The threshold is the (1 - alpha) quantile
            of held-out scores, whatever `threshold` says.

        Returns
        -------
        array of shape (n_samples,)
            Labels.
        """
        check_is_fitted(self)
        offset = self.offset_ if alpha is None else self._offset_at(alpha)
        return self._answer(X, lambda scores: _labels(scores >= offset))

    def _offset_at(self, alpha: float) -> float:
        """Threshold on the scores for another false-alarm rate."""
        check_value(self, "alpha", alpha, 0, 1, closed_low=True)
        losses, w = self._calibration()
        self._warn_below_smallest("alpha", alpha, w, stacklevel=4)
        return -rules.conformal(losses, w, delta=alpha)

    def false_discovery(self, X: Any, q: float = 0.1) -> Array:
        """Label a batch of rows so that, on average, at most a share `q` of those called outliers are normal.

        The procedure of Benjamini and Hochberg on the rows' p-values: the more outliers the batch holds, the more
        boldly it names them. `predict` bounds the share of *normal rows* that are rejected instead.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The batch; labels depend on the whole of it.
        q : float in (0, 1), default=0.1
            False-discovery rate asked for.

        Returns
        -------
        array of shape (n_samples,)
            Labels: +1 for the target class, -1 for an outlier.
        """
        check_value(self, "q", q, 0, 1)
        p = np.asarray(self.p_value(X)) if is_dask(X) else self.p_value(X)
        self._warn_below_smallest("q", q, self._calibration()[1], stacklevel=3, so="no row can be named an outlier")
        return _labels(p > _benjamini_hochberg(p, q=q))

    def p_value(self, X: Any) -> Array:
        """Conformal p-value of "this row is normal": at most alpha for a share alpha of fresh normal rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to judge.

        Returns
        -------
        array of shape (n_samples,)
            Values in (0, 1]: ``(1 + number of held-out training losses at least as large) / (n + 1)``.
        """
        check_is_fitted(self)
        calibration = self._calibration()
        return self._answer(X, lambda scores: rules.conformal_p_value(-scores, *calibration))

    def _answer(self, X: Any, verb: Callable[[Array], Array]) -> Array:
        """What `verb` makes of the scores of the rows."""
        return self._of_rows(X, lambda rows: verb(-self._losses(rows)))

    def _of_rows(self, X: Any, verb: Callable[[Array], Array]) -> Array:
        """What `verb` makes of the rows; lazily, block by block, for a Dask collection."""
        if is_dask(X):
            check_is_fitted(self)
            return map_rows(partial(self._of_rows, verb=verb), X)
        return self._give(verb(self._read(X)))

    def _give(self, result: Array) -> Array:
        """The result as the user is to see it."""
        return result

    def _read(self, X: Any) -> Array:
        check_is_fitted(self)
        return read_rows(self, X, reset=False)


def _labels(normal: Array) -> Array:
    """+1 where true, -1 where false."""
    xp = namespace(normal)
    return 2 * xp.astype(normal, xp.int64) - 1


def _benjamini_hochberg(p: Array, *, q: float) -> float:
    """The largest p-value that is at most ``q k / m``, k its rank among the m of the batch; 0 when there is none."""
    xp = namespace(p)
    ranked = xp.sort(p)
    m = ranked.shape[0]
    # The slack keeps a p-value that stands for the same fraction as its bound from failing by rounding.
    bounds = xp.arange(1, m + 1, dtype=p.dtype, device=device(p)) * (q / m * (1 + 1e-9))
    passed = ranked[ranked <= bounds]
    return float(passed[-1]) if passed.shape[0] else 0.0
