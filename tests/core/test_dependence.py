"""Ranks, correlations and neighbors by short cuts, against their definitions."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import rankdata

from oneclass.core import dependence
from oneclass.core.dependence import Crowding, autocorrelation, centred_ranks, crowding


def rows(kind, n=90, d=4):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    if kind == "some columns tied":
        X[:, ::2] = X[:, ::2].round()
    if kind == "near-duplicates":
        X = rng.permutation(np.concatenate([X[: n // 2], X[: n // 2] + 1e-3 * X[n // 2 :]]))
    if kind == "fours":
        X = rng.permutation(np.repeat(X[: n // 4], 4, axis=0) + 1e-2 * rng.normal(size=(n // 4 * 4, d)))
    return X


@pytest.mark.parametrize("kind", ["no ties", "some columns tied"])
def test_ranks_are_those_of_the_values_with_ties_in_some_order(kind):
    X = rows(kind)
    ranks = centred_ranks(X) + (len(X) + 1) / 2
    lowest, highest = (rankdata(X, method=method, axis=0) for method in ("min", "max"))
    assert np.all((lowest <= ranks) & (ranks <= highest))
    np.testing.assert_array_equal(np.sort(ranks, axis=0), np.tile(np.arange(1, len(X) + 1)[:, None], X.shape[1]))


def test_ties_are_in_no_order_of_the_rows():
    ranks = centred_ranks(np.random.default_rng(0).integers(0, 2, size=(500, 2)).astype(float))
    assert np.abs(autocorrelation(ranks)[1:20]).max() < 0.2


@pytest.mark.parametrize("n", [40, 41, 97])
def test_autocorrelation_is_the_mean_product_of_rows_so_far_apart(n):
    Z = centred_ranks(rows("no ties", n))
    products = [np.sum(Z[lag:] * Z[: n - lag]) / (n - lag) for lag in range(n // 2 + 1)]
    np.testing.assert_allclose(autocorrelation(Z), np.array(products) / products[0], atol=1e-12)


def crowding_by_all_distances(Z):
    n = len(Z)
    asked = np.linspace(0, n - 1, min(n, 200)).astype(int)
    ranked = np.sqrt(np.sort(cdist(Z[asked], Z, "sqeuclidean"), axis=1)[:, 1:])
    k = [k for k in (1, 2, 4, 8, 16, 32) if k <= n / 6]
    steps = np.sort(np.diff(np.log(ranked[:, np.array(k) - 1]), axis=1), axis=0)
    growth = steps[: round(0.85 * len(asked))].mean(axis=0)
    dimension = dependence._steps_in_one_dimension(len(k) - 1) / growth
    dips = [dimension[i] / max(dimension[i + 1 :]) for i in range(len(dimension) - 1)]
    lowest = int(np.argmin(dips))
    return Crowding(k[lowest]) if dips[lowest] < 1 - max(0.4, 5 / np.sqrt(len(asked))) else None


@pytest.mark.parametrize("n", [90, 300])
@pytest.mark.parametrize("kind", ["no ties", "some columns tied", "near-duplicates", "fours"])
def test_crowding_is_that_of_all_distances(kind, n):
    found = crowding(Z := centred_ranks(rows(kind, n)))
    assert found == crowding_by_all_distances(Z)
    assert (found is not None) == (kind in ("near-duplicates", "fours"))
