"""Predictions moved towards the centre, residuals of remote rows, distinct rows, and copies of columns."""

import numpy as np
import pytest

from oneclass.screening.copies import copied_columns
from oneclass.screening.residuals import Shrinkage, Spread
from oneclass.screening.tails import ValueShares, distinct_rows
from oracle.comparison import assert_agree


@pytest.mark.parametrize(("slope", "expected"), [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0)])
def test_predictions_are_multiplied_by_the_slope_of_the_values_on_them(slope, expected):
    rng = np.random.default_rng(0)
    predicted = rng.normal(size=(500, 2))
    values = slope * predicted + 0.1 * rng.normal(size=(500, 2))
    values[:20, 0] += 50  # 4 % of wrong values have no effect
    found = Shrinkage.of(values, values - predicted, [0])
    assert found.slope.tolist() == [expected, 1.0]
    centre = np.median(values[:, 0])
    assert_agree(found(predicted)[:, 0], centre + expected * (predicted[:, 0] - centre), 1e-12)
    assert_agree(found(predicted)[:, 1], predicted[:, 1], 1e-12)


def joint_t(rng, n=2000, d=5):
    return rng.normal(size=(n, d)) / np.sqrt(rng.chisquare(3, size=(n, 1)) / 3)


def test_residuals_grow_with_the_other_columns_in_a_joint_distribution_only():
    rng = np.random.default_rng(0)
    joint, alone = joint_t(rng), rng.normal(size=(2000, 5))
    far = np.full((1, 5), 10.0)
    assert Spread.of(joint, range(5))(far).min() > 3
    assert np.median(Spread.of(alone, range(5))(far)) < 2
    assert np.all(Spread.of(joint, range(5))(np.zeros((1, 5))) == 1)


def test_the_size_of_the_other_columns_is_their_lower_median():
    values = joint_t(np.random.default_rng(1), n=300)
    found = Spread.of(values, [0, 2, 3, 4])
    size = np.abs(values - np.median(values, axis=0))[:, [0, 2, 3, 4]]
    expected = np.ones(values.shape)
    for k, j in enumerate([0, 2, 3, 4]):
        middle = np.sort(np.delete(size, k, axis=1), axis=1)[:, 1]
        expected[:, j] += found.growth[k] * np.maximum(middle - found.start[k], 0)
    assert_agree(found(values), expected, 1e-12)
    assert np.all(Spread.of(values, [3])(values) == 1)


def test_one_wrong_value_does_not_change_the_factor_of_the_others():
    values = joint_t(np.random.default_rng(2))
    found = Spread.of(values, range(5))
    row = np.full((1, 5), 0.1)
    row[0, 2] = 1e6
    assert np.all(found(row) == 1)


def test_distinct_rows_are_those_of_a_sort_of_the_rows():
    rows = np.random.default_rng(0).integers(0, 3, size=(4000, 3)) / 3
    np.testing.assert_array_equal(distinct_rows(rows), np.unique(rows, axis=0))


def test_shares_of_values_of_many_rows_are_close_to_those_of_all_rows(monkeypatch):
    rng = np.random.default_rng(0)
    values = (rng.random((30_000, 1)) < 0.1).astype(float)
    residuals = values - np.clip(0.6 * values + 0.2 * rng.normal(size=values.shape), 0, 1)
    levels = np.array([[0.0], [1.0]])
    some = ValueShares.of(values, residuals, levels).log_p(values, residuals)
    monkeypatch.setattr("oneclass.screening.tails._SAMPLED", 30_000)
    every = ValueShares.of(values, residuals, levels).log_p(values, residuals)
    assert np.abs(some - every).max() < 0.1


def test_copies_are_the_columns_that_equal_an_earlier_one_in_nine_of_ten_rows():
    X = np.random.default_rng(0).normal(size=(3000, 4))
    X[:, 2], X[:, 3] = X[:, 0], X[:, 1]
    X[[7, 9], 2] += 1
    X[:500, 3] += 1
    assert [(a, b, rows.tolist()) for a, b, rows in copied_columns(X, [0, 1, 2, 3])] == [(2, 0, [7, 9])]
