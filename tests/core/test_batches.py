"""Tests of whole batches: closed testing against brute force, levels and power."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, mood

from oneclass.core.batches import false_alarm_bounds, fewest_odd, mid_ranks, shift_p_value, simes
from oneclass.core.calibration import Calibration
from oneclass.core.column_summary import ColumnSummary
from oneclass.core.column_tests import category_difference, number_difference


def by_closed_testing(p, level):
    """The most normal rows among the k smallest p-values, for every k, by all 2^m intersection hypotheses."""
    m = len(p)
    sets = [frozenset(S) for k in range(1, m + 1) for S in combinations(range(m), k)]
    rejected = {S: simes(p[sorted(S)]) <= level * (1 + 1e-12) for S in sets}
    kept = [S for S in sets if not all(rejected[T] for T in sets if S <= T)]
    order = np.argsort(p, kind="stable")
    return [max([0, *(len(S) for S in kept if {*order[:k].tolist()} >= S)]) for k in range(1, m + 1)]


@pytest.mark.parametrize("seed", range(40))
def test_bounds_are_those_of_closed_testing_by_all_sets(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 8))
    p = np.ceil(rng.uniform(size=m) * rng.choice([0.02, 0.2, 1.0], size=m) * 50) / 50  # with ties, as ranks have
    expected = by_closed_testing(p, 0.2)
    assert false_alarm_bounds(p, level=0.2).tolist() == expected
    assert fewest_odd(p, level=0.2) == m - expected[-1]


def test_bounds_hold_at_once_with_the_confidence_although_p_values_share_their_held_out_losses():
    rng, wrong = np.random.default_rng(0), []
    for _ in range(1000):
        losses, odd = rng.normal(size=400), np.arange(60) < 20
        batch = rng.normal(size=60) + np.where(odd, 3.0, 0.0)
        p = Calibration.of(losses, None).p_value(batch)
        normal = np.cumsum(~odd[np.argsort(p, kind="stable")])
        wrong.append(np.any(normal > false_alarm_bounds(p, level=0.1)))
    assert np.mean(wrong) <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / 1000)


def test_bounds_find_odd_rows():
    rng = np.random.default_rng(0)
    p = Calibration.of(rng.normal(size=2000), None).p_value(np.concatenate([rng.normal(size=50), np.full(50, 9.0)]))
    assert fewest_odd(p, level=0.05) >= 45


def test_the_test_of_losses_is_wilcoxons():
    rng = np.random.default_rng(0)
    held_out, losses = rng.normal(size=200), rng.normal(size=150) + 0.2
    shift, p = shift_p_value([(mid_ranks(Calibration.of(held_out, None), losses), 200.0)])
    expected = mannwhitneyu(losses, held_out, alternative="greater", method="asymptotic", use_continuity=False)
    assert shift == pytest.approx(expected.statistic / 200 / 150 - 0.5)
    assert p == pytest.approx(expected.pvalue, rel=0.02)  # the variance of n + m instead of n + m + 1 rows
    assert mid_ranks(Calibration.of(np.arange(4.0), None), np.array([-1.0, 1.0, 1.5, 9.0])).tolist() == [
        0,
        3 / 8,
        1 / 2,
        1,
    ]


def test_segments_are_compared_each_with_its_own_rows():
    rng = np.random.default_rng(0)
    parts = [(rng.uniform(size=40), 100.0), (rng.uniform(size=60), 30.0)]
    shift, p = shift_p_value(parts)
    assert shift == pytest.approx((parts[0][0].sum() + parts[1][0].sum()) / 100 - 0.5)
    assert 0 < p < 1


@pytest.mark.parametrize("n", [100, 1000])
def test_the_column_test_keeps_its_level_and_finds_a_shift_of_three_tenths(n):
    rng, found = np.random.default_rng(0), []
    for _ in range(400):
        quantiles = ColumnSummary.of(rng.normal(size=(n, 1))).quantiles[:, 0]
        new = rng.normal(size=200)
        found.append([number_difference(quantiles, n, v)[1] <= 0.05 for v in (new, new + 0.3, 1.4 * new)])
    level, shifted, wider = np.mean(found, axis=0)
    assert level <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)
    assert shifted >= {100: 0.35, 1000: 0.8}[n]
    assert wider >= {100: 0.55, 1000: 0.9}[n]


def test_the_column_test_is_three_times_the_smallest_of_its_tests():
    rng = np.random.default_rng(0)
    train, new = rng.normal(size=4000), rng.normal(size=300) + 0.25
    quantiles = ColumnSummary.of(train[:, None]).quantiles[:, 0]
    p = number_difference(quantiles, 4000, new)[1]
    expected = 3 * mannwhitneyu(train, new, method="asymptotic").pvalue
    assert np.log(p) == pytest.approx(np.log(expected), rel=0.05)
    wide = number_difference(quantiles, 4000, 1.3 * (new - 0.25))[1]
    assert np.log(wide) == pytest.approx(np.log(3 * mood(train, 1.3 * (new - 0.25)).pvalue), rel=0.1)


def test_ties_and_constant_columns_do_not_move():
    quantiles = ColumnSummary.of(np.repeat([0.0, 1.0], [70, 30])[:, None]).quantiles[:, 0]
    assert number_difference(quantiles, 100, np.repeat([0.0, 1.0], [70, 30]))[1] > 0.5
    constant = ColumnSummary.of(np.zeros((50, 1))).quantiles[:, 0]
    assert number_difference(constant, 50, np.zeros(20)) == (0.0, 1.0)
    assert category_difference({"a": 50, "b": 50}, {"a": 20, "b": 20})[:2] == (0.0, 1.0)
