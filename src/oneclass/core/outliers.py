"""Artificial outliers, drawn where training rows are rare, for the one-class random forest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from .arrays import Array
from .stored import Floats

__all__ = ["OutlierGenerator"]


@dataclass(frozen=True)
class OutlierGenerator:
    """The bin edges of each feature and the probability of each bin; values are uniform inside a bin."""

    edges: Annotated[Array, Floats("d _edges")]
    chances: Annotated[Array, Floats("d _bins")]

    def __check__(self) -> dict[str, int]:
        return {"_edges": self.chances.shape[1] + 1}

    @classmethod
    def of(cls, Z: Array, *, enlargement: float, n_bins: int) -> OutlierGenerator:
        """Return the generator for training rows `Z`, with `n_bins` equal bins for each feature.

        The bins cover the range of the feature times `enlargement`. The probability of a bin is proportional to the
        largest count minus the count of the bin. A constant feature has a range of 1 around its value.
        """
        low, high = Z.min(axis=0), Z.max(axis=0)
        half = np.where(high > low, high - low, 1.0) * enlargement / 2
        middle = (low + high) / 2
        edges = np.linspace(middle - half, middle + half, n_bins + 1, axis=1)
        counts = np.stack([np.histogram(z, e)[0] for z, e in zip(Z.T, edges, strict=True)])
        weights = counts.max(axis=1, keepdims=True) - counts
        weights[weights.sum(axis=1) == 0] = 1  # equal counts give a uniform distribution
        return cls(edges, weights / weights.sum(axis=1, keepdims=True))

    def draw(self, n: int, features: Array, random: np.random.RandomState) -> Array:
        """Return `n` outliers in the subspace of these features, drawn independently for each feature."""
        columns = []
        for feature in features:
            edges = self.edges[feature]
            bins = random.choice(len(edges) - 1, n, p=self.chances[feature])
            columns.append(edges[bins] + random.uniform(size=n) * (edges[bins + 1] - edges[bins]))
        return np.stack(columns, axis=1)
