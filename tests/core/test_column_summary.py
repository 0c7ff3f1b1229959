import numpy as np
import pytest

from oneclass.core.column_summary import LEVELS, ColumnSummary


def test_quantiles_are_those_of_the_known_values(xp):
    X = np.random.default_rng(0).normal(size=(77, 3))
    X[::5, 1] = np.nan
    seen = ColumnSummary.of(xp.asarray(X))
    np.testing.assert_allclose(seen.quantiles, np.nanquantile(X, LEVELS, axis=0), rtol=1e-12)
    assert (seen.rows, seen.gaps.tolist()) == (77, [0, 16, 0])


def test_a_column_of_gaps_has_no_quantiles():
    seen = ColumnSummary.of(np.array([[1.0, np.nan], [2.0, np.nan]]))
    assert np.isnan(seen.quantiles[:, 1]).all()
    assert seen.gaps.tolist() == [0, 2]


def test_many_rows_are_known_by_a_sample_of_them(xp):
    X = np.random.default_rng(0).uniform(size=(20_000, 1))
    seen = ColumnSummary.of(xp.asarray(X))
    assert seen.rows < len(X)
    assert np.abs(seen.quantiles[:, 0] - LEVELS).max() < 4 * 0.5 / np.sqrt(seen.rows)


def test_the_largest_numbers_have_quantiles():
    top = np.finfo(float).max
    assert ColumnSummary.of(np.array([[-top], [top]])).quantiles[16, 0] == 0
    assert ColumnSummary.of(np.full((3, 1), top)).quantiles[:, 0] == pytest.approx(top)
