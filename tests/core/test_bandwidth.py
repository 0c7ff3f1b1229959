import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from scipy.spatial.distance import pdist

from oneclass.core import arrays
from oneclass.core.bandwidth import BANDWIDTHS, bandwidth
from oneclass.core.kernels import RBF, Laplacian
from oracle.equations import bandwidth as by_loops
from oracle.equations import city_block, euclidean, repeat
from oracle.problems import problems

RULES = [("mean", RBF(), euclidean), ("median", RBF(), euclidean), ("rms", RBF(), euclidean)]
RULES += [("mean", Laplacian(), city_block), ("median", Laplacian(), city_block)]


@pytest.mark.parametrize(("rule", "kernel", "distance"), RULES)
@given(problem=problems())
def test_bandwidth_is_the_rule_over_repeated_rows(xp, rule, kernel, distance, problem):
    expected = by_loops(rule, repeat(problem.X, problem.w), distance)
    assert bandwidth(rule, kernel, xp.asarray(problem.X), xp.asarray(problem.w)) == pytest.approx(expected, rel=1e-10)


@pytest.mark.usefixtures("tiny_blocks")
@pytest.mark.parametrize(("rule", "kernel", "distance"), RULES)
def test_bandwidth_over_many_blocks_is_the_rule(xp, rule, kernel, distance):
    X = np.random.default_rng(0).normal(size=(23, 2))
    actual = bandwidth(rule, kernel, xp.asarray(X), xp.ones(23, dtype=xp.float64))
    assert actual == pytest.approx(by_loops(rule, X, distance), rel=1e-12)


def test_the_median_takes_a_few_blocks_of_memory_however_many_pairs_there_are():
    X = np.random.default_rng(0).normal(size=(2000, 2))
    tracemalloc.start()
    try:
        median = bandwidth("median", RBF(), X, np.ones(2000))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert median == pytest.approx(np.median(pdist(X)), rel=1e-12)
    assert peak < 12 * arrays.HOST_BLOCK < 2 * len(pdist(X)) * 8


@pytest.mark.parametrize("kernel", [RBF(), Laplacian()])
@pytest.mark.parametrize("rule", BANDWIDTHS)
def test_bandwidth_of_rows_that_coincide_is_one(xp, rule, kernel):
    rows = xp.asarray(np.full((7, 2), 0.3))
    for w in (np.ones(7), np.random.default_rng(0).uniform(0.5, 1.5, size=7)):
        assert bandwidth(rule, kernel, rows, xp.asarray(w)) == 1.0


@pytest.mark.parametrize("total", [2.0, 1 + 1e-15, 1.0, 1e-9])
@pytest.mark.parametrize(("rule", "kernel", "distance"), RULES)
def test_bandwidth_of_rows_that_weigh_two_or_less_in_all_has_no_unit_of_weight(rule, kernel, distance, total):
    X = np.random.default_rng(0).normal(size=(40, 2))
    # Two copies of the whole make a pair with themselves and one with each other.
    expected = by_loops(rule, X, distance) * (2 * 39 / 40 if rule == "mean" else 1)
    assert bandwidth(rule, kernel, X, np.full(40, total / 40)) == pytest.approx(expected, rel=1e-10)


def test_half_of_the_pairs_at_one_distance_put_the_median_halfway(xp):
    # Four points on a line: distances 1, 1, 1, 2, 2, 3, median (1 + 2) / 2.
    X = xp.asarray(np.arange(4.0)[:, None])
    assert bandwidth("median", RBF(), X, xp.ones(4, dtype=xp.float64)) == pytest.approx(1.5, rel=1e-12)


@pytest.mark.parametrize("n", [2, 3, 8, 9, 40])
@pytest.mark.parametrize("size", [1e-150, 1.0, 1e150])
def test_the_median_is_exact_at_every_size(xp, n, size):
    X = size * np.random.default_rng(n).normal(size=(n, 3))
    actual = bandwidth("median", Laplacian(), xp.asarray(X), xp.ones(n, dtype=xp.float64))
    assert actual == pytest.approx(np.median(pdist(X, "cityblock")), rel=1e-14)


def test_single_precision_has_the_median_of_its_own_distances(xp):
    X = np.random.default_rng(0).normal(size=(30, 3)).astype(np.float32)
    actual = bandwidth("median", Laplacian(), xp.asarray(X), xp.ones(30, dtype=xp.float32))
    assert actual == pytest.approx(np.median(pdist(X, "cityblock")), rel=1e-6)
