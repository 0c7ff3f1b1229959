"""Rows as tables: the values of one metric by dataset, method and split."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from .protocol import Row

__all__ = ["Results"]

Float = NDArray[np.float64]

#: The choice of parameters that a table shows unless told otherwise.
_USUAL = {"honest": "default"}


class Results:
    """Stored rows, looked up by recipe, dataset, method and choice of parameters.

    Parameters
    ----------
    rows : iterable of dict
        Rows as the runner stores them.

    Examples
    --------
    >>> row = {"recipe": "honest", "dataset": "wine", "method": "PCA", "choice": "default", "seed": 0, "f1": 0.75}
    >>> Results([row]).mean("f1", "honest", ["wine"], ["PCA", "MST"])
    array([[0.75,  nan]])
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows: dict[tuple[str, str, str, str], dict[int, Row]] = defaultdict(dict)
        for row in rows:
            self._rows[row["recipe"], row["dataset"], row["method"], row["choice"]][row["seed"]] = row

    def rows(self, recipe: str, dataset: str, method: str, choice: str | None = None) -> dict[int, Row]:
        """Rows by seed, in the order of seeds."""
        found = self._rows.get((recipe, dataset, method, choice or _USUAL.get(recipe, "best")), {})
        return dict(sorted(found.items()))

    def values(self, metric: str, recipe: str, dataset: str, method: str, choice: str | None = None) -> Float:
        """One metric over the splits; NaN where a row has none."""
        found = self.rows(recipe, dataset, method, choice).values()
        return np.array([np.nan if row[metric] is None else row[metric] for row in found], dtype=float)

    def mean(
        self, metric: str, recipe: str, datasets: Sequence[str], methods: Sequence[str], choice: str | None = None
    ) -> Float:
        """Means over splits, one row a dataset, one column a method; NaN where nothing is stored."""
        return self._table(np.mean, metric, recipe, datasets, methods, choice)

    def spread(self, metric: str, recipe: str, datasets: Sequence[str], methods: Sequence[str]) -> Float:
        """Standard deviations over splits, laid out as `mean`."""
        return self._table(np.std, metric, recipe, datasets, methods, None)

    def median(self, metric: str, recipe: str, datasets: Sequence[str], methods: Sequence[str]) -> Float:
        """Medians over splits, laid out as `mean`."""
        return self._table(_median, metric, recipe, datasets, methods, None)

    def count(self, recipe: str, dataset: str, method: str) -> int:
        """Number of splits."""
        return len(self.rows(recipe, dataset, method))

    def versions(self) -> dict[str, str]:
        """Versions of the packages behind the last row."""
        last = next(reversed(self._rows.values()), {})
        return dict(next(iter(last.values()))["versions"]) if last else {}

    def _table(
        self,
        summary: object,
        metric: str,
        recipe: str,
        datasets: Sequence[str],
        methods: Sequence[str],
        choice: str | None,
    ) -> Float:
        out = np.full((len(datasets), len(methods)), np.nan)
        for i, dataset in enumerate(datasets):
            for j, method in enumerate(methods):
                values = self.values(metric, recipe, dataset, method, choice)
                if len(values):
                    out[i, j] = summary(values)  # type: ignore[operator]
        return out


def _median(values: Float) -> float:
    """Median of the values there are; a row need not have been timed."""
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else float("nan")
