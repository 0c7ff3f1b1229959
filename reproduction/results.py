"""Rows as tables: the values of one metric by dataset, method and split."""

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

__all__ = ["Lead", "Results"]

Float = NDArray[np.float64]

#: The choice of parameters that a table shows unless told otherwise.
_USUAL = {"honest": "default"}


class Lead(NamedTuple):
    """A mean difference over datasets, and its standard error from the splits that both sides share."""

    difference: float
    error: float

    @classmethod
    def of(cls, gaps: Sequence[Float]) -> Lead:
        """The lead that differences on the splits of each dataset make, each dataset weighing the same."""
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

    # Which of the paper's datasets there are: those with rows of all fourteen, under both recipes on random splits.

    @cached_property
    def small(self) -> list[str]:
        """Small datasets that are there."""
        return [name for name in names("small") if self._has(name)]

    @cached_property
    def medium(self) -> list[str]:
        """Digit tasks that are there."""
        return [name for name in names("concordia") if self._has(name)]

    @cached_property
    def all(self) -> list[str]:
        """Both."""
        return [*self.small, *self.medium]

    def _has(self, dataset: str) -> bool:
        return all(self.count(recipe, dataset, method) for recipe in ("paper", "honest") for method in METHODS)

    # Looking up.

    def rows(self, recipe: str, dataset: str, method: str, choice: str | None = None) -> dict[int, Row]:
        """Rows by seed, in the order of seeds."""
        found = self._rows.get((recipe, dataset, method, choice or _USUAL.get(recipe, "best")), {})
        return dict(sorted(found.items()))

    def choices(self, recipe: str, dataset: str, method: str) -> list[str]:
        """Choices of parameters that are stored, in the order in which they were."""
        return [key[3] for key in self._rows if key[:3] == (recipe, dataset, method)]

    def values(self, metric: str, recipe: str, dataset: str, method: str, choice: str | None = None) -> Float:
        """One metric over the splits; NaN where a row has none."""
        return _numbers(self.rows(recipe, dataset, method, choice).values(), metric)

    def mean(
        self, metric: str, recipe: str, datasets: Sequence[str], methods: Sequence[str], choice: str | None = None
    ) -> Float:
        """Means over all splits of a method, one row a dataset, one column a method; NaN where nothing is stored."""
        return self._table(np.mean, metric, recipe, datasets, methods, choice)

    def spread(self, metric: str, recipe: str, datasets: Sequence[str], methods: Sequence[str]) -> Float:
        """Standard deviations over splits, laid out as `mean`."""
        return self._table(np.std, metric, recipe, datasets, methods, None)

    def median(self, metric: str, recipe: str, datasets: Sequence[str], methods: Sequence[str]) -> Float:
        """Medians over splits, laid out as `mean`."""
        return self._table(np.median, metric, recipe, datasets, methods, None)

    def compared(
        self, metric: str, recipe: str, datasets: Sequence[str], methods: Sequence[str], choice: str | None = None
    ) -> Float:
        """Means over the splits that all of the methods have, laid out as `mean`: what a comparison may compare."""
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
        """First method minus second on the splits that both have."""
        ours, theirs = (self.rows(recipe, dataset, method, choice) for method in (first, second))
        shared = [seed for seed in ours if seed in theirs]
        one, other = (_numbers((found[seed] for seed in shared), metric) for found in (ours, theirs))
        return np.asarray(one - other)

    def lead(
        self, metric: str, recipe: str, datasets: Sequence[str], first: str, second: str, choice: str | None = None
    ) -> Lead:
        """Mean difference over datasets on shared splits, each dataset weighing the same."""
        return Lead.of([self.paired(metric, recipe, dataset, first, second, choice) for dataset in datasets])

    def count(self, recipe: str, dataset: str, method: str) -> int:
        """Number of splits."""
        return len(self.rows(recipe, dataset, method))

    def versions(self) -> dict[str, str]:
        """Versions of the packages behind the last row."""
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
