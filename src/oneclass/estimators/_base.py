"""What every classifier of the library does with its losses: scores, threshold, labels, p-values."""

from __future__ import annotations

import warnings
from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from copy import copy as twin_of
from typing import Any, ClassVar

from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted

from ..core import threshold as rules
from ..core.arrays import Array, copy, device, namespace
from ._input import check_choice, check_number, read_rows

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
        delta = check_number(self, "delta", 0, 1, closed_low=True)
        check_choice(self, "threshold", tuple(self._rules))
        self._fit(X, w)
        self._held_out: tuple[Array, Array] | None = None
        self._rows: tuple[Array, Array] | None = None
        if self.threshold in self._held_out_rules:
            losses = self._held_out_losses(X, w)
            self._held_out = (losses, w)
            if 0 < delta < rules.smallest_budget(w):
                warnings.warn(
                    f"{type(self).__name__}: delta={delta:g} is below 1/(n+1)={rules.smallest_budget(w):.3g}, the "
                    "smallest false-alarm rate that this many rows can promise; the largest held-out score is the "
                    "threshold",
                    UserWarning,
                    stacklevel=3,
                )
        else:
            losses = self._training_losses(X)
            self._rows = (copy(X), w)
        self.offset_ = -self._threshold(losses, w)

    def _threshold(self, losses: Array, w: Array) -> float:
        return self._rules[self.threshold](losses, w, delta=self.delta)

    def _calibration(self) -> tuple[Array, Array]:
        """Held-out losses of the training rows and their weights; worked out at first use if the threshold had none."""
        if self._held_out is None:
            X, w = self._rows  # type: ignore[misc]
            twin = twin_of(self).set_params(threshold="loo", delta=0.0)
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
        return -self._losses(self._read(X))

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
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> Array:
        """Label each row: +1 for the target class, -1 for an outlier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to label.

        Returns
        -------
        array of shape (n_samples,)
            Labels.
        """
        decisions = self.decision_function(X)
        xp = namespace(decisions)
        one = xp.ones(decisions.shape, dtype=xp.int64, device=device(decisions))
        return xp.where(decisions >= 0, one, -one)

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
        losses = -self.score_samples(X)
        return rules.conformal_p_value(losses, *self._calibration())

    def _read(self, X: Any) -> Array:
        check_is_fitted(self)
        return read_rows(self, X, reset=False)
