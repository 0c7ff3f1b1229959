import numpy as np
import pytest
from hypothesis import given

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


@pytest.mark.parametrize("kernel", [RBF(), Laplacian()])
@pytest.mark.parametrize("rule", BANDWIDTHS)
def test_bandwidth_of_rows_that_coincide_is_one(xp, rule, kernel):
    rows = xp.asarray(np.full((7, 2), 0.3))
    for w in (np.ones(7), np.random.default_rng(0).uniform(0.5, 1.5, size=7)):
        assert bandwidth(rule, kernel, rows, xp.asarray(w)) == 1.0


def test_half_of_the_pairs_at_one_distance_put_the_median_halfway(xp):
    # Four points on a line: distances 1, 1, 1, 2, 2, 3, median (1 + 2) / 2.
    X = xp.asarray(np.arange(4.0)[:, None])
    assert bandwidth("median", RBF(), X, xp.ones(4, dtype=xp.float64)) == pytest.approx(1.5, rel=1e-12)
