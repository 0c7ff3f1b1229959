"""Screening a table that may be dirty: what was found, and which rows a classifier then learns from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array
from ..core.groups import Groups
from ..core.screening import Verdict, remoteness, settle
from .protocol import Detector

__all__ = ["Screening", "judge_rows", "removed_share"]


@dataclass(frozen=True, repr=False)
class Screening:
    """What `screen` found in a table.

    Attributes
    ----------
    odd : bool array of shape (n_samples,)
        Rows that do not belong: of these, at most a share q are normal on average.
    p_values : array of shape (n_samples,)
        How often a normal row is as remote from the bulk, by the bulk's tail.
    scores : array of shape (n_samples,)
        Log of the mass of other rows around each; larger is more normal.
    rounds : int
        Rounds until the same rows were under suspicion again.
    settled : bool
        Whether the last two rounds agreed; False where they go in circles.
    classifier : classifier
        The one that was asked, fitted on the rows that stayed.
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
    """Number of normal rows among those removed, as a ratio to the rows that stay.

    A share `q` of the odd rows is taken to be normal. Rows of a group share the weight of one row.
    """
    w = np.ones(len(odd)) if groups is None else groups.weights(np.ones(len(odd)))
    stayed = int((~odd).sum()) if groups is None else len(np.unique(groups.of_rows[~odd]))
    return q * float(w[odd].sum()) / max(1, stayed)


def judge_rows(X: Array, groups: Groups | None, *, q: float, scaled: bool) -> Verdict:
    """Which rows are odd, each by others than its group."""
    n = X.shape[0]
    if groups is None:
        return settle(partial(remoteness, X, scaled=scaled), n, q=q)
    judge = partial(remoteness, X, scaled=scaled, groups=groups.of_rows)
    return settle(judge, n, q=q, independent=groups.count / n)
