"""Stored rows as tables: the values of a metric by dataset, method and split."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .datasets import names
from .methods import METHODS
from .protocol import Row

__all__ = ["Lead", "Results", "deviation"]

Float = NDArray[np.float64]

#: Default choice of parameters by recipe; "best" for the others.
_USUAL = {"honest": "default"}


def deviation(values: Float) -> float:
    """Standard deviation over splits with the divisor n - 1; NaN for a single split.

    Parameters
    ----------
    values : array
        A value for each split.

    Returns
    -------
    float

    Examples
    --------
    >>> deviation(np.array([1.0, 3.0])).__round__(3)
    1.414
    """
    return float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")


class Lead(NamedTuple):
    """A mean difference over datasets, and its standard error over the splits that both methods have."""

    difference: float
    error: float

    @classmethod
    def of(cls, gaps: Sequence[Float]) -> Lead:
        """The lead from the differences on the splits of each dataset; every dataset has the same weight."""
        errors = [gap.var(ddof=1) / len(gap) if len(gap) > 1 else np.nan for gap in gaps]
        return cls(float(np.mean([gap.mean() for gap in gaps])), float(np.sqrt(np.sum(errors)) / len(gaps)))


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

    # The paper's datasets with rows of all fourteen methods, under both recipes on random splits.

    @cached_property
    def small(self) -> list[str]:
        """Small datasets with rows."""
        return [name for name in names("small") if self._has(name)]

    @cached_property
    def medium(self) -> list[str]:
        """Digit tasks with rows."""
        return [name for name in names("concordia") if self._has(name)]

    @cached_property
    def all(self) -> list[str]:
        """All datasets with rows."""
        return [*self.small, *self.medium]

    def _has(self, dataset: str) -> bool:
        return all(self.count(recipe, dataset, method) for recipe in ("paper", "honest") for method in METHODS)

    def rows(self, recipe: str, dataset: str, method: str, choice: str | None = None) -> dict[int, Row]:
        """Rows by seed, in the order of seeds."""
        found = self._rows.get((recipe, dataset, method, choice or _USUAL.get(recipe, "best")), {})
        return dict(sorted(found.items()))

    def choices(self, recipe: str, dataset: str, method: str) -> list[str]:
        """Choices of parameters that are stored, in the order of the rows."""
        return [key[3] for key in self._rows if key[:3] == (recipe, dataset, method)]

    def values(self, metric: str, recipe: str, dataset: str, method: str, choice: str | None = None) -> Float:
        """A metric over the splits; NaN where a row does not have it."""
        return _numbers(self.rows(recipe, dataset, method, choice).values(), metric)

    def mean(
        self, metric: str, recipe: str, datasets: Sequence[str], methods: Sequence[str], choice: str | None = None
    ) -> Float:
        """Means over all splits of a method, datasets by methods; NaN where nothing is stored."""
        return self._table(np.mean, metric, recipe, datasets, methods, choice)

    def spread(self, metric: str, recipe: str, datasets: Sequence[str], methods: Sequence[str]) -> Float:
        """Standard deviations over splits (divisor n - 1), datasets by methods; NaN for a single split."""
        return self._table(deviation, metric, recipe, datasets, methods, None)

    def median(self, metric: str, recipe: str, datasets: Sequence[str], methods: Sequence[str]) -> Float:
        """Medians over splits, datasets by methods."""
        return self._table(np.median, metric, recipe, datasets, methods, None)

    def compared(
        self, metric: str, recipe: str, datasets: Sequence[str], methods: Sequence[str], choice: str | None = None
    ) -> Float:
        """Means over the splits that all of the methods have, datasets by methods: for comparisons of methods."""
        out = np.full((len(datasets), len(methods)), np.nan)
        for i, dataset in enumerate(datasets):
            rows = [self.rows(recipe, dataset, method, choice) for method in methods]
            shared = [seed for seed in rows[0] if all(seed in found for found in rows)]
            if shared:
                out[i] = [np.mean(_numbers((found[seed] for seed in shared), metric)) for found in rows]
        return out

    def paired(
        self, metric: str, recipe: str, dataset: str, first: str, second: str, choice: str | None = None
    ) -> Float:
        """Differences, first method minus second, on the splits that both have."""
        ours, theirs = (self.rows(recipe, dataset, method, choice) for method in (first, second))
        shared = [seed for seed in ours if seed in theirs]
        one, other = (_numbers((found[seed] for seed in shared), metric) for found in (ours, theirs))
        return np.asarray(one - other)

    def lead(
        self, metric: str, recipe: str, datasets: Sequence[str], first: str, second: str, choice: str | None = None
    ) -> Lead:
        """Mean difference over datasets, on the splits that both methods have; every dataset has the same weight."""
        return Lead.of([self.paired(metric, recipe, dataset, first, second, choice) for dataset in datasets])

    def count(self, recipe: str, dataset: str, method: str) -> int:
        """Number of splits."""
        return len(self.rows(recipe, dataset, method))

    def versions(self) -> dict[str, str]:
        """Versions of the packages that computed the last row."""
        last = next(reversed(self._rows.values()), {})
        return dict(next(iter(last.values()))["versions"]) if last else {}

    def _table(
        self,
        summary: Callable[[Float], float],
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
                    out[i, j] = summary(values)
        return out


def _numbers(rows: Iterable[Row], metric: str) -> Float:
    return np.array([np.nan if row.get(metric) is None else row[metric] for row in rows], dtype=float)
