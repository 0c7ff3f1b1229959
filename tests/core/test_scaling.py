import numpy as np
import pytest
from hypothesis import given

from oneclass.core.scaling import ColumnMoments, Scaler
from oracle.comparison import assert_agree
from oracle.equations import repeat, scaling
from oracle.problems import problems


def moments(xp, X, w):
    return ColumnMoments.of(xp.asarray(X), xp.asarray(w))


@given(problem=problems())
def test_scaler_is_mean_and_deviation_of_the_repeated_rows(xp, problem):
    scaler = Scaler.of(moments(xp, problem.X, problem.w))
    mean, deviation = scaling(repeat(problem.X, problem.w))
    assert_agree(scaler.mean, mean, 1e-12)
    assert_agree(scaler.scale, deviation, 1e-12)


@pytest.mark.parametrize("value", [0.0, 0.1, -1e9, 1e-9, 1e100])
def test_constant_columns_stay_undivided(xp, value):
    X = np.column_stack([np.full(11, value), np.arange(11.0)])
    assert float(Scaler.of(moments(xp, X, np.ones(11))).scale[0]) == 1.0


@pytest.mark.parametrize("tiny", [1e-12, 1e-150])
def test_a_small_spread_around_zero_is_not_a_constant(tiny):
    X = tiny * np.random.default_rng(0).normal(size=(20, 1))
    assert_agree(Scaler.of(moments(np, X, np.ones(20))).scale, X.std(axis=0, ddof=1), 1e-9)


def test_a_spread_survives_a_large_mean():
    X = 1e8 + np.random.default_rng(0).normal(size=(50, 1))
    assert_agree(Scaler.of(moments(np, X, np.ones(50))).scale, (X - 1e8).std(axis=0, ddof=1), 1e-9)


@given(problem=problems())
def test_moments_of_two_parts_add_to_the_moments_of_the_whole(xp, problem):
    part, rest = moments(xp, problem.X[:2], problem.w[:2]), moments(xp, problem.X[2:], problem.w[2:])
    whole, merged = moments(xp, problem.X, problem.w), part + rest
    assert merged.weight == whole.weight
    assert_agree(merged.mean, whole.mean, 1e-12)
    assert_agree(merged.squares, whole.squares, 1e-12)


@given(problem=problems())
def test_inverse_brings_the_rows_back(xp, problem):
    scaler = Scaler.of(moments(xp, problem.X, problem.w))
    assert_agree(scaler.inverse(scaler(xp.asarray(problem.fresh))), problem.fresh, 1e-12)


def test_identity_changes_nothing(xp):
    X = np.random.default_rng(0).normal(size=(4, 3))
    scaler = Scaler.identity(xp.asarray(X))
    assert_agree(scaler(xp.asarray(X)), X, 0)
    assert_agree(scaler.inverse(xp.asarray(X)), X, 0)
