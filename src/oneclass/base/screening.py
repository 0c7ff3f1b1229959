"""The result of `screen`, which finds anomalous rows in a contaminated training table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array
from ..core.groups import Groups
from ..core.screening import ScreenedRows, remoteness, settle
from .protocol import Detector

__all__ = ["Screening", "judge_rows", "removed_share"]


@dataclass(frozen=True, repr=False)
class Screening:
    """Result of `screen`: the anomalous rows of a table, and the classifier fitted on the others.

    Attributes
    ----------
    odd : bool array of shape (n_samples,)
        Whether each row is anomalous. On average, at most a share q of these rows are normal.
    p_values : array of shape (n_samples,)
        Estimated probability that a normal row is at least as far from the other rows.
    scores : array of shape (n_samples,)
        Logarithm of the density of other rows around each row; larger means more normal.
    rounds : int
        Number of rounds until the set of anomalous rows repeated.
    settled : bool
        Whether the last two rounds found the same rows; False if the rounds cycle between several sets.
    classifier : classifier
        The classifier whose `screen` was called, fitted on the rows that are not anomalous.
    """

    odd: NDArray[np.bool_]
    p_values: NDArray[np.float64]
    scores: NDArray[np.float64]
    rounds: int
    settled: bool
    classifier: Detector

    def __repr__(self) -> str:
        rounds = f"{self.rounds} round{'s' if self.rounds > 1 else ''}"
        return f"Screening({self.odd.sum()} of {len(self.odd)} rows odd, {rounds}, {self.classifier!r})"


def removed_share(odd: NDArray[np.bool_], groups: Groups | None, q: float) -> float:
    """Estimated number of normal rows among those removed, divided by the number of rows that remain.

    The estimate is a share `q` of the removed rows. The rows of a group count as one row.
    """
    w = np.ones(len(odd)) if groups is None else groups.weights(np.ones(len(odd)))
    stayed = int((~odd).sum()) if groups is None else len(np.unique(groups.of_rows[~odd]))
    return q * float(w[odd].sum()) / max(1, stayed)


def judge_rows(X: Array, groups: Groups | None, *, q: float, scaled: bool) -> ScreenedRows:
    """Find the anomalous rows; the score of a row does not use rows of its own group."""
    n = X.shape[0]
    if groups is None:
        return settle(partial(remoteness, X, scaled=scaled), n, q=q)
    judge = partial(remoteness, X, scaled=scaled, groups=groups.of_rows)
    return settle(judge, n, q=q, independent=groups.count / n)
