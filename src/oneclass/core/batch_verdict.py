"""`BatchVerdict`: the result of comparing a batch of rows with the training rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .batches import false_alarm_bounds, simes
from .calibration import benjamini_hochberg
from .typing import Name

__all__ = ["BatchVerdict", "ColumnChange"]

#: Most columns that the text of a verdict names.
_NAMED = 5


class ColumnChange(NamedTuple):
    """Difference of a column between a batch and the training rows."""

    column: Name
    #: From 0 to 1: the largest difference between shares of values, or half the sum of those of categories.
    distance: float
    p_value: float
    #: Whether the column moved, with a false-discovery rate of 1 - confidence among the columns that moved.
    moved: bool = False


@dataclass(frozen=True, repr=False)
class BatchVerdict:
    """Result of `compare_batch`. A row is odd if it is not drawn from the distribution of the training rows.

    Attributes
    ----------
    p_value : float
        P-value of the hypothesis that the batch and the training rows have the same distribution: the number of `tests`
        times the smallest of their p-values.
    tests : dict of float
        The p-value of each test: ``"odd rows"`` (Simes' test on the p-values of the rows), ``"losses"`` (Wilcoxon's
        one-sided test on the losses) and, if the fit stored a summary of its columns, ``"columns"`` (Simes' test on
        the p-values of the columns).
    shift : float
        Mean rank of the losses among those of the training rows, minus 1/2: from -1/2 (all smaller) to 1/2 (all
        larger).
    odd_rows : int
        Lower bound on the number of odd rows, with probability `confidence`.
    columns : tuple of ColumnChange
        The columns, in ascending order of their p-values.
    p_values : array of shape (n_samples,)
        P-values of the rows.
    flagged : array of shape (n_samples,) of bool
        The rows that `predict` labels as outliers.
    confidence : float
        Probability of the bounds.
    reweighted : array of shape (n_samples,) or None
        With `X_train`: p-values for a batch with another mix of the same kinds of rows, weighted by the ratio of the
        densities. None if `effective_size` is too small for the rate of the fit.
    effective_size : float or None
        With `X_train`: the effective sample size of the weights.
    """

    tests: dict[str, float]
    shift: float
    columns: tuple[ColumnChange, ...]
    p_values: NDArray[np.float64]
    flagged: NDArray[np.bool_]
    confidence: float
    reweighted: NDArray[np.float64] | None = None
    effective_size: float | None = None

    @property
    def p_value(self) -> float:
        """P-value of the batch."""
        return min(1.0, len(self.tests) * min(self.tests.values()))

    @property
    def odd_rows(self) -> int:
        """Lower bound on the number of odd rows."""
        return self.odd_among(len(self.p_values))

    @property
    def moved(self) -> list[Name]:
        """Names of the columns that moved."""
        return [change.column for change in self.columns if change.moved]

    def odd_among(self, k: int) -> int:
        """Lower bound on the number of odd rows among the k rows with the smallest p-values.

        All of these bounds hold at once with probability `confidence`, so k may be chosen after seeing them.

        Parameters
        ----------
        k : int
            Number of rows.

        Returns
        -------
        int
        """
        return k - int(self._bounds[k - 1]) if 0 < k <= len(self._bounds) else 0

    @property
    def odd_flagged(self) -> int:
        """Lower bound on the number of odd rows among the flagged rows."""
        return self.odd_among(int(self.flagged.sum()))

    @property
    def _bounds(self) -> NDArray[np.int64]:
        return false_alarm_bounds(self.p_values, level=1 - self.confidence)

    def with_columns(self, changes: Iterable[ColumnChange]) -> BatchVerdict:
        """The verdict with these columns, of which it says which ones moved."""
        found = sorted(changes, key=lambda change: change.p_value)
        tests = {name: p for name, p in self.tests.items() if name != "columns"}
        if not found:
            return replace(self, columns=(), tests=tests)
        p = np.array([change.p_value for change in found])
        limit = benjamini_hochberg(p, q=1 - self.confidence)
        moved = tuple(change._replace(moved=bool(change.p_value <= limit)) for change in found)
        return replace(self, columns=moved, tests=tests | {"columns": simes(p)})

    def to_dict(self) -> dict[str, Any]:
        """The verdict as numbers, text, lists and dicts, without the p-values of the rows."""
        return {
            "rows": len(self.p_values),
            "p_value": self.p_value,
            "tests": self.tests,
            "shift": self.shift,
            "confidence": self.confidence,
            "flagged": int(self.flagged.sum()),
            "odd_rows": self.odd_rows,
            "odd_flagged": self.odd_flagged,
            "moved": self.moved,
            "columns": [change._asdict() for change in self.columns],
            "effective_size": self.effective_size,
        }

    def __repr__(self) -> str:
        like = "differs from" if self.p_value <= 1 - self.confidence else "may be like"
        tests = ", ".join(f"{name} {p:.2g}" for name, p in self.tests.items())
        more = f" and {len(self.moved) - _NAMED} more" if len(self.moved) > _NAMED else ""
        moved = (", ".join(map(str, self.moved[:_NAMED])) or "none found") + more
        mix = ""
        if self.effective_size is not None:
            refused = "too few for p-values" if self.reweighted is None else "see reweighted"
            mix = f"\nfor another mix of rows: effective sample size {self.effective_size:.0f}, {refused}"
        return (
            f"BatchVerdict: the batch {like} the training rows, p={self.p_value:.2g}\ntests: {tests}\n"
            f"at least {self.odd_rows} of {len(self.p_values)} rows are odd, {self.odd_flagged} of the "
            f"{int(self.flagged.sum())} flagged (confidence {self.confidence:g})\ncolumns that moved: {moved}{mix}"
        )
