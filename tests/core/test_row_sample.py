from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from oneclass.core.arrays import to_numpy
from oneclass.core.row_sample import RowSample
from oracle.comparison import assert_agree


def of(xp, X, w=None, *, size=10, seed=0):
    w = np.ones(len(X), dtype=X.dtype) if w is None else w
    return RowSample.of(xp.asarray(X), xp.asarray(w), size=size, seed=seed)


def assert_same(actual, expected):
    for name in ("keys", "rows", "weights"):
        np.testing.assert_array_equal(to_numpy(getattr(actual, name)), to_numpy(getattr(expected, name)))


@st.composite
def lattices(draw):
    """Rows on a small lattice, so that many of them are copies."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(1, 60)), draw(st.integers(1, 3))
    return rng.integers(-2, 3, size=(n, d)).astype(float), rng


def test_no_row_loses_its_weight_beside_far_heavier_ones(xp):
    X, w = np.arange(40.0)[:, None], np.where(np.arange(40) % 2, 1e9, 1e-12)
    sample = of(xp, np.concatenate([X, X]), np.concatenate([w, w]), size=40)
    weights = dict(zip(to_numpy(sample.rows)[:, 0], to_numpy(sample.weights), strict=True))
    for x, expected in zip(X[:, 0], w, strict=True):
        # A sum of two, of which one may be lost.
        assert expected <= weights[x] <= 2 * expected * (1 + 1e-6)


@given(lattice=lattices(), size=st.integers(1, 40), chunks=st.integers(1, 7))
def test_chunks_of_any_rows_in_any_order_have_the_sample_of_all(xp, lattice, size, chunks):
    X, rng = lattice
    parts = np.array_split(rng.permutation(len(X)), min(chunks, len(X)))
    samples = [of(xp, X[part], size=size) for part in parts]
    merged = samples[0]
    for sample in samples[1:]:
        merged = sample + merged
    assert_same(merged, of(xp, X, size=size))


@given(lattice=lattices())
def test_a_sample_that_is_not_full_holds_every_distinct_row_with_the_weight_of_its_copies(xp, lattice):
    X, rng = lattice
    w = rng.integers(1, 5, size=len(X)).astype(float)
    sample = of(xp, X, w, size=100)
    expected = {tuple(x): w[np.all(x == X, axis=1)].sum() for x in X}
    rows = [tuple(row) for row in to_numpy(sample.rows)]
    assert dict(zip(rows, to_numpy(sample.weights), strict=True)) == expected


@given(lattice=lattices(), size=st.integers(1, 40))
def test_a_smaller_sample_begins_the_larger_one(xp, lattice, size):
    X, _ = lattice
    small, large = (of(xp, X, size=s) for s in (size, 100))
    n = small.rows.shape[0]
    assert n == min(size, large.rows.shape[0])
    assert_same(small, RowSample(size, 0, large.keys[:n], large.rows[:n, :], large.weights[:n]))


def test_the_seed_draws_another_sample(xp):
    X = np.random.default_rng(0).normal(size=(200, 3))
    assert_same(of(xp, X, seed=5), of(xp, X, seed=5))
    drawn = [{tuple(row) for row in to_numpy(of(xp, X, seed=seed).rows)} for seed in range(3)]
    assert all(len(a & b) < 5 for a, b in pairwise(drawn))


def test_every_library_draws_the_same_rows(xp):
    X = np.random.default_rng(0).normal(size=(200, 3))
    assert_same(of(xp, X), of(np, X))


def test_single_and_double_precision_of_the_same_values_draw_the_same_rows(xp):
    X = np.random.default_rng(0).normal(size=(200, 3)).astype(np.float32)
    single, double = of(xp, X), of(xp, X.astype(float))
    assert single.rows.dtype == single.weights.dtype == xp.float32
    np.testing.assert_array_equal(to_numpy(single.keys), to_numpy(double.keys))
    assert_agree(single.rows, double.rows, 0)


def test_the_sign_of_zero_makes_no_other_row(xp):
    sample = of(xp, np.array([[0.0, 1.0], [-0.0, 1.0]]))
    assert_agree(sample.weights, [2.0], 0)


@pytest.mark.parametrize("near", ["lattice", "one bit apart"])
def test_every_row_is_drawn_as_often_as_any_other(near):
    n, size, seeds = 100, 10, 600
    if near == "lattice":
        X = np.stack(np.meshgrid(np.arange(10.0), np.arange(10.0)), axis=-1).reshape(n, 2)
    else:
        X = np.nextafter(1.0, 2.0) ** np.arange(1.0, n + 1)[:, None]
    drawn = np.zeros(n)
    together = np.zeros(n)
    for seed in range(seeds):
        chosen = (X[:, None, :] == of(np, X, size=size, seed=seed).rows[None]).all(axis=2).any(axis=1)
        drawn += chosen
        together += chosen & np.roll(chosen, 1)
    share = size / n
    statistic = np.sum((drawn - seeds * share) ** 2) / (seeds * share * (1 - share)) * (n - 1) / n
    assert 1e-3 < chi2.sf(statistic, n - 1) < 1 - 1e-3
    # Neighbors are drawn together as often as other rows: 600 x 100 pairs, each with chance 9 / 990.
    expected = seeds * n * share * (size - 1) / (n - 1)
    assert abs(together.sum() - expected) < 4 * np.sqrt(expected)
