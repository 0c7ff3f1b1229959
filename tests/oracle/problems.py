"""Small random problems for tests that hold for every input."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

__all__ = ["EMBEDDINGS", "Problem", "problems"]

#: Embeddings by name: parameters of a machine; a matrix of the user has none.
EMBEDDINGS = {
    "none": {"variance": "none"},
    "class": {"variance": "class"},
    "own": {"variance": "subclass", "centering": "own"},
    "global": {"variance": "subclass", "centering": "global"},
    "laplacian": {"variance": "laplacian"},
}


@dataclass(frozen=True)
class Problem:
    X: np.ndarray
    w: np.ndarray
    labels: np.ndarray
    laplacian: np.ndarray
    fresh: np.ndarray
    C: float
    lam: float
    variance_weight: float

    @property
    def k(self):
        return int(self.labels.max()) + 1


@st.composite
def problems(draw, *, min_weight=1, max_weight=3, min_rows=4):
    """Rows with their weights, a clustering, a graph Laplacian, and the numbers of the equation."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(min_rows, 12)), draw(st.integers(1, 4))
    k = draw(st.integers(1, min(4, n)))
    edges = np.triu(rng.random((n, n)) < 0.4, 1) * rng.random((n, n))
    edges = edges + edges.T
    weights = rng.integers(min_weight, max_weight + 1, size=n)
    weights[0] = max(1, weights[0])
    weights[1] = max(1, weights[1])
    power = st.floats(-5, 5).map(lambda e: 2.0**e)
    return Problem(
        X=rng.normal(size=(n, d)) * 3 + 1,
        w=weights.astype(float),
        labels=rng.permutation(np.arange(n) % k),
        laplacian=np.diag(edges.sum(axis=1)) - edges,
        fresh=rng.normal(size=(5, d)) * 4,
        C=draw(power),
        lam=draw(power),
        variance_weight=draw(st.sampled_from([1.0, 0.3, 20.0])),
    )
