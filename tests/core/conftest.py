"""Embeddings by name, as the library builds them and as the oracle prints them."""

from __future__ import annotations

import pytest

from oneclass.core import arrays
from oneclass.core.clusters import one_hot
from oneclass.core.embedding import NoVariance, Scatter, UserLaplacian, WithinVariance
from oracle.equations import repeat, spread, variance_matrix
from oracle.problems import EMBEDDINGS


@pytest.fixture(scope="session", params=list(EMBEDDINGS))
def embedding(request):
    """Two functions of a problem: the library's embedding on arrays like `w`, and M over the repeated rows."""
    name = request.param

    def build(problem, w):
        xp = arrays.namespace(w)
        weight = problem.variance_weight
        if name == "none":
            return NoVariance()
        if name == "laplacian":
            return UserLaplacian(xp.asarray(problem.laplacian), weight)
        if name == "class":
            return WithinVariance(arrays.ones(w)[:, None], Scatter(per_row=True, weight=weight))
        membership = one_hot(xp.asarray(problem.labels), problem.k, w)
        return WithinVariance(membership, Scatter(own_mean=name == "own", weight=weight))

    def printed(problem):
        if name == "laplacian":
            M = spread(problem.laplacian, problem.w)
        else:
            M = variance_matrix(labels=repeat(problem.labels, problem.w), **EMBEDDINGS[name])
        return problem.variance_weight * M

    return build, printed


@pytest.fixture
def tiny_blocks(monkeypatch):
    """Blocks of a few rows, so that small problems run through many of them."""
    monkeypatch.setattr(arrays, "HOST_BLOCK", 256)
