from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from oneclass.core.arrays import to_numpy
from oneclass.core.scaling import ColumnMoments, Scaler
from oracle.comparison import assert_agree
from oracle.equations import repeat, scaling
from oracle.problems import problems


def moments(xp, X, w):
    return ColumnMoments.of(xp.asarray(X), xp.asarray(w))


def zscores(columns):
    return Scaler.of("zscore", columns, None, None)


@given(problem=problems())
def test_scaler_is_mean_and_deviation_of_the_repeated_rows(xp, problem):
    scaler = zscores(moments(xp, problem.X, problem.w))
    mean, deviation = scaling(repeat(problem.X, problem.w))
    assert_agree(scaler.centre, mean, 1e-12)
    assert_agree(scaler.scale, deviation, 1e-12)


def test_deviations_are_those_of_two_rows_at_least_in_any_unit_of_weight():
    X = np.random.default_rng(0).normal(size=(30, 2))
    for total in (1e-6, 0.5, 1.0, 2.0):
        assert_agree(zscores(moments(np, X, np.full(30, total / 30))).scale, np.sqrt(2) * X.std(axis=0), 1e-12)


@pytest.mark.parametrize("value", [0.0, 0.1, -1e9, 1e-9, 1e100])
def test_constant_columns_stay_undivided(xp, value):
    X = np.column_stack([np.full(11, value), np.arange(11.0)])
    assert float(zscores(moments(xp, X, np.ones(11))).scale[0]) == 1.0


@pytest.mark.parametrize("scaling", ["zscore", "robust", "none"])
@pytest.mark.parametrize("far", [1.0, 1e18, np.finfo(np.float32).max])
def test_a_row_is_scaled_to_the_same_values_whatever_precision_it_is_given_in(scaling, far):
    X = np.random.default_rng(0).normal(size=(40, 2)) * [1, 1e-3]
    scaler = Scaler.of(scaling, ColumnMoments.of(X, np.ones(40)), X, np.ones(40))
    rows = np.array([[far, -far], [far, 0.0]], dtype=np.float32)
    np.testing.assert_array_equal(scaler(rows), scaler(rows.astype(np.float64)))


@pytest.mark.parametrize("tiny", [1e-12, 1e-150])
def test_a_small_spread_around_zero_is_not_a_constant(tiny):
    X = tiny * np.random.default_rng(0).normal(size=(20, 1))
    assert_agree(zscores(moments(np, X, np.ones(20))).scale, X.std(axis=0, ddof=1), 1e-9)


def test_a_spread_survives_a_large_mean():
    X = 1e8 + np.random.default_rng(0).normal(size=(50, 1))
    assert_agree(zscores(moments(np, X, np.ones(50))).scale, (X - 1e8).std(axis=0, ddof=1), 1e-9)


@given(problem=problems())
def test_moments_of_two_parts_add_to_the_moments_of_the_whole(xp, problem):
    part, rest = moments(xp, problem.X[:2], problem.w[:2]), moments(xp, problem.X[2:], problem.w[2:])
    whole, merged = moments(xp, problem.X, problem.w), part + rest
    assert merged.weight == whole.weight
    assert_agree(merged.mean, whole.mean, 1e-12)
    assert_agree(merged.squares, whole.squares, 1e-12)


@given(problem=problems())
def test_inverse_brings_the_rows_back(xp, problem):
    scaler = zscores(moments(xp, problem.X, problem.w))
    assert_agree(scaler.inverse(scaler(xp.asarray(problem.fresh))), problem.fresh, 1e-12)


def test_identity_changes_nothing(xp):
    X = np.random.default_rng(0).normal(size=(4, 3))
    scaler = Scaler.identity(xp.asarray(X))
    assert_agree(scaler(xp.asarray(X)), X, 0)
    assert_agree(scaler.inverse(xp.asarray(X)), X, 0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("value", [0.1, 1 / 3, -7e5, 1e30])
def test_a_constant_column_is_constant_however_it_is_cut(xp, value, dtype):
    X = np.full((5000, 1), value, dtype=dtype)
    for size in (1, 7, 999, 5000):
        parts = [moments(xp, X[a : a + size], np.ones(len(X[a : a + size]), dtype=dtype)) for a in range(0, 5000, size)]
        scaler = zscores(sum(parts[1:], parts[0]))
        assert float(scaler.scale[0]) == 1.0
        assert float(scaler.centre[0]) == float(X[0, 0])


def test_single_precision_scales_whatever_it_can_hold(xp):
    X = np.random.default_rng(0).normal(size=(50, 4)) * [1e-30, 1e-18, 1e19, 1e37]
    single = X.astype(np.float32)
    columns = moments(xp, single, np.ones(50, dtype=np.float32))
    assert columns.out_of_range("zscore") is None
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    assert_agree(zscores(columns)(xp.asarray(single)), Z, 1e-5)


@pytest.mark.parametrize(
    ("scale", "good"), [(1e-170, False), (1e-120, True), (1e120, True), (1e160, False), (1e308, False)]
)
def test_columns_that_cannot_be_squared_are_found(xp, scale, good):
    X = np.column_stack([np.arange(9.0), scale * np.linspace(-1, 1, 9)])
    assert moments(xp, X, np.ones(9)).out_of_range("zscore") == (None if good else 1)


def test_z_scores_stop_where_their_squares_would(xp):
    X = np.random.default_rng(0).normal(size=(20, 2))
    Z = zscores(moments(xp, X, np.ones(20)))(xp.asarray(np.array([[1e300, -1.7e308]])))
    assert bool(xp.all(xp.isfinite(Z * Z)))
    assert bool(Z[0, 0] > 1e100)
    assert bool(Z[0, 1] < -1e100)


def exact_direction(x, centre, scale):
    """Z-scores over the largest of them, without rounding before the end."""
    z = [(Fraction(a) - Fraction(c)) / Fraction(s) for a, c, s in zip(x, centre, scale, strict=True)]
    longest = max(map(abs, z))
    return [float(value / longest) for value in z]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_too_far_to_measure_keep_their_direction(xp, dtype):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(20, 3)) * [1e-9, 1.0, 1e9] + [1.0, -3.0, 1e10]).astype(dtype)
    scaler = zscores(moments(xp, X, np.ones(20, dtype)))
    largest = np.finfo(dtype).max
    far = np.concatenate([largest * rng.uniform(-1, 1, (50, 3)), largest * rng.choice([-1, 0, 1], (20, 3))])
    far = far[np.any(far != 0, axis=1)].astype(dtype)
    Z = to_numpy(scaler(xp.asarray(far))).astype(float)
    assert np.all(np.isfinite(Z**2))
    centre, scale = (to_numpy(A).astype(float) for A in (scaler.centre, scaler.scale))
    expected = [exact_direction(x, centre, scale) for x in far.astype(float)]
    np.testing.assert_allclose(Z / np.abs(Z).max(axis=1, keepdims=True), expected, rtol=1e-5, atol=1e-30)


def test_a_far_row_changes_no_other_row(xp):
    X = np.random.default_rng(0).normal(size=(20, 2))
    scaler = zscores(moments(xp, X, np.ones(20)))
    beside = to_numpy(scaler(xp.asarray(np.concatenate([X, [[1.7e308, -5.0]]]))))
    np.testing.assert_array_equal(beside[:-1], to_numpy(scaler(xp.asarray(X))))


def robust(xp, X, w):
    X, w = xp.asarray(X), xp.asarray(w)
    return Scaler.of("robust", ColumnMoments.of(X, w), X, w)


@given(problem=problems(min_weight=1))
def test_taming_is_the_median_and_the_deciles_of_the_repeated_rows(xp, problem):
    scaler = robust(xp, problem.X, problem.w)
    rows = repeat(problem.X, problem.w)
    low, median, high = np.quantile(rows, [0.1, 0.5, 0.9], axis=0, method="averaged_inverted_cdf")
    expected = np.where(high > low, (high - low) / 2.563, scaling(rows)[1])
    assert_agree(scaler.centre, median, 1e-12)
    assert_agree(scaler.scale, expected, 1e-9)
    assert_agree(scaler(xp.asarray(problem.fresh)), np.arcsinh((problem.fresh - median) / expected), 1e-9)
    assert_agree(scaler.inverse(scaler(xp.asarray(problem.fresh))), problem.fresh, 1e-9)


def test_taming_does_not_see_the_order_of_rows(xp):
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(101, 3)).round(1), rng.integers(1, 4, size=101).astype(float)
    order = rng.permutation(101)
    one, other = robust(xp, X, w), robust(xp, X[order], w[order])
    assert_agree(one.centre, other.centre, 0)
    assert_agree(one.scale, other.scale, 0)


def test_a_column_of_two_values_most_of_them_equal_is_divided_by_its_deviation(xp):
    X = np.repeat([0.0, 7.0], [95, 5])[:, None]
    assert_agree(robust(xp, X, np.ones(100)).scale, X.std(axis=0, ddof=1), 1e-12)


@pytest.mark.parametrize("value", [0.0, 0.1, -1e9, 1e100])
def test_constant_columns_are_scaled_around_their_value_in_their_own_unit(xp, value):
    X = np.column_stack([np.full(11, value), np.arange(11.0)])
    scaler = robust(xp, X, np.ones(11))
    assert float(scaler.centre[0]) == value
    assert float(scaler.scale[0]) == 1.0


@pytest.mark.parametrize("size", [1e-100, 1.0, 1e150, 1e300])
def test_tails_of_any_weight_are_compressed(xp, size):
    X = size * np.random.default_rng(0).standard_cauchy((60, 2)) ** 3
    columns = ColumnMoments.of(xp.asarray(X), xp.asarray(np.ones(60)))
    assert columns.out_of_range("robust") is None
    scaler = robust(xp, X, np.ones(60))
    Z = scaler(xp.asarray(np.r_[X, [[1.7e308, -1.7e308]]]))
    assert bool(xp.all(xp.isfinite(Z)))
    assert_agree(scaler.inverse(Z)[:60, :], X, 1e-9)


@pytest.mark.parametrize("scale", [1e-100, 1e-3, 1.0, 1e3])
def test_values_whose_quotients_overflow_are_scaled_by_their_logarithms(xp, scale):
    scaler = Scaler(xp.asarray(np.array([3.0, 1e308])), xp.asarray(np.array([scale, 1.0])), asinh=True)
    values = np.array([1e250, 1e300, 1.7e308, -1.7e308])
    Z = to_numpy(scaler(xp.asarray(np.stack([values, values], axis=1))))
    expected = np.sign(values) * (np.log(np.abs(values)) - np.log(scale) + np.log(2))
    np.testing.assert_allclose(Z[:, 0], expected, rtol=1e-12)
    assert Z[3, 1] == pytest.approx(-np.log(2.7) - 308 * np.log(10) - np.log(2), rel=1e-12)


def test_no_single_row_changes_the_robust_scale_much():
    X = np.random.default_rng(0).normal(size=(50, 1))
    scaler, moved = (robust(np, rows, np.ones(50)) for rows in (X, np.r_[X[:-1], [[1e9]]]))
    assert abs(moved.centre[0] - scaler.centre[0]) < 0.2 * scaler.scale[0]
    assert abs(moved.scale[0] / scaler.scale[0] - 1) < 0.2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("far", [0.0, 1e30, np.nan], ids=["near", "far", "a gap"])
def test_many_values_are_scaled_as_one_by_one(dtype, far):
    size = np.logspace(-30, 12, 999)
    Z = np.concatenate([-size, [0.0, far], size]).astype(dtype)[:, None]
    scaler = Scaler(np.zeros(1, dtype), np.ones(1, dtype), asinh=True)
    expected = np.concatenate([scaler(row[None, :]) for row in Z])
    np.testing.assert_allclose(scaler(Z), expected, rtol=4 * np.finfo(dtype).eps, atol=2 * np.finfo(dtype).eps)
