"""Statistics agree with published tables and with plain definitions."""

import numpy as np
import pytest
from scipy import stats

from reproduction import published
from reproduction.methods import METHODS
from reproduction.plan import PAPER_DATASETS
from reproduction.statistics import critical_difference, friedman, holm, ranks, wilcoxon_pairs

PAPER = np.array([[published.f1(d, m) for m in METHODS] for d in PAPER_DATASETS[:15]], dtype=float)


@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)])
def test_critical_difference_uses_demsars_table_of_q(k, q):
    assert critical_difference(k, 14) == pytest.approx(q * np.sqrt(k * (k + 1) / (6 * 14)), rel=1e-3)


def test_ranks_sum_to_the_same_on_every_dataset():
    np.testing.assert_allclose(ranks(PAPER).sum(axis=1), 14 * 15 / 2)


def test_the_published_table_ranks_its_own_method_first():
    assert list(METHODS)[int(ranks(PAPER).mean(axis=0).argmin())] == "VAAKELM"
    np.testing.assert_allclose(PAPER.mean(axis=0)[[0, -1]], [57.79, 85.53], atol=0.005)


def test_friedman_follows_from_the_mean_ranks_when_nothing_ties():
    table = np.random.default_rng(0).normal(size=(12, 5))
    mean = ranks(table).mean(axis=0)
    expected = 12 * 12 / (5 * 6) * (np.sum(mean**2) - 5 * 6**2 / 4)
    assert friedman(table)[0] == pytest.approx(expected)


def test_holm_is_never_below_the_raw_value_nor_above_bonferroni():
    p = np.random.default_rng(1).uniform(size=20) ** 3
    adjusted = holm(p)
    assert np.all(adjusted >= p)
    assert np.all(adjusted <= np.minimum(1, 20 * p))
    assert np.all(np.diff(adjusted[np.argsort(p)]) >= 0)


def test_pairs_agree_with_scipy_and_count_every_dataset():
    table = np.random.default_rng(2).normal(size=(15, 3))
    for pair, (i, j) in zip(wilcoxon_pairs(table, list("abc")), [(0, 1), (0, 2), (1, 2)], strict=True):
        assert pair.p == pytest.approx(stats.wilcoxon(table[:, i], table[:, j]).pvalue)
        assert pair.wins + pair.ties + pair.losses == 15


def test_methods_that_are_equal_everywhere_do_not_differ():
    table = np.ones((6, 2)) * [[0.5, 0.5 + 1e-13]]
    (pair,) = wilcoxon_pairs(table, ["a", "b"])
    assert (pair.ties, pair.p_holm) == (6, 1.0)
