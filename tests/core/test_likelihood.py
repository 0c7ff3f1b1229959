import numpy as np
import pytest
from hypothesis import given
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF as GP_RBF
from sklearn.gaussian_process.kernels import ConstantKernel, WhiteKernel

from oneclass.core.arrays import to_numpy
from oneclass.core.embedding import NoVariance
from oneclass.core.kernels import RBF, Laplacian
from oneclass.core.likelihood import (
    COSTS,
    FACTORS,
    NEIGHBORS,
    likeliest_bandwidth,
    likeliest_cost,
    log_marginal_likelihood,
    nearest_distance,
    sample,
)
from oneclass.core.spectrum import Spectrum
from oracle.problems import problems


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(60, 3)) @ rng.normal(size=(3, 3))


@pytest.mark.parametrize("C", [0.25, 1.0, 32.0])
@pytest.mark.parametrize("lam", [1.0, 3.0])
def test_likelihood_is_that_of_gaussian_process_regression(rows, C, lam):
    w = np.ones(60)
    spectrum = Spectrum.of(RBF(2.0)(rows, rows), rows, w, NoVariance(), lam=lam)
    signal = spectrum.rows(C=C).signal(C=C)
    prior = ConstantKernel(signal / lam) * GP_RBF(2.0) + WhiteKernel(signal / C)
    process = GaussianProcessRegressor(prior, alpha=0.0, optimizer=None).fit(rows, rows)
    expected = process.log_marginal_likelihood_value_
    assert spectrum.log_marginal_likelihood(C=C) == pytest.approx(expected, rel=1e-8)
    assert log_marginal_likelihood(RBF(2.0)(rows, rows), rows, w, C=C, lam=lam) == pytest.approx(expected, rel=1e-8)


@given(problem=problems())
def test_one_factorisation_gives_the_likelihood_of_the_spectrum(xp, problem):
    X, w = xp.asarray(problem.X), xp.asarray(problem.w)
    K = RBF(3.0)(X, X)
    expected = Spectrum.of(K, X, w, NoVariance(), lam=problem.lam).log_marginal_likelihood(C=problem.C)
    assert log_marginal_likelihood(K, X, w, C=problem.C, lam=problem.lam) == pytest.approx(expected, rel=1e-7, abs=1e-7)


def test_likeliest_bandwidth_finds_separate_clusters(rows):
    w = np.ones(120)
    apart = np.concatenate([rows, rows + 300.0])
    assert likeliest_bandwidth(RBF(), apart, w, lam=1.0) < 0.6 * RBF().distances(apart, apart).mean()


def test_likeliest_bandwidth_is_the_best_of_its_candidates(rows):
    w = np.ones(60)
    D = RBF().distances(rows, rows)
    candidates = [factor * D.sum() / (60 * 59) for factor in FACTORS]
    values = [log_marginal_likelihood(RBF(s)(rows, rows), rows, w, C=COSTS[-1], lam=1.0) for s in candidates]
    assert likeliest_bandwidth(RBF(), rows, w, lam=1.0) == pytest.approx(candidates[int(np.argmax(values))])


@pytest.mark.parametrize("features", [1, 2, 3, 30])
def test_a_local_bandwidth_is_the_best_of_those_that_few_neighbors_span(features):
    rows, w = np.random.default_rng(0).normal(size=(200, features)), np.ones(200)
    D = RBF().distances(rows, rows)
    mean, nearest = D.sum() / (200 * 199), np.sort(D, axis=1)[:, 1].mean()
    widest = max(NEIGHBORS * nearest, 0.5 * mean)
    candidates = [factor * mean for factor in FACTORS if factor * mean <= widest]
    assert (widest < mean) == (features < 30)
    values = [log_marginal_likelihood(RBF(s)(rows, rows), rows, w, C=COSTS[-1], lam=1.0) for s in candidates]
    found = likeliest_bandwidth(RBF(), rows, w, lam=1.0, local=True)
    assert found == pytest.approx(candidates[int(np.argmax(values))])


@pytest.mark.parametrize("kernel", [RBF(), Laplacian()])
def test_the_nearest_row_differs_from_the_row(xp, kernel):
    rng = np.random.default_rng(0)
    rows, w = rng.normal(size=(40, 2)), rng.integers(1, 4, 40)
    distances = to_numpy(kernel.distances(rows, rows))
    np.fill_diagonal(distances, np.inf)
    expected = np.average(distances.min(axis=1), weights=w)
    copies = xp.asarray(np.repeat(rows, w, axis=0))
    assert nearest_distance(kernel, xp.asarray(rows), xp.asarray(w.astype(float))) == pytest.approx(expected)
    assert nearest_distance(kernel, copies, xp.ones(int(w.sum()), dtype=xp.float64)) == pytest.approx(expected)
    assert nearest_distance(kernel, xp.asarray(np.ones((3, 2))), xp.ones(3, dtype=xp.float64)) == np.inf


def test_likeliest_cost_is_the_best_of_the_papers(rows):
    noisy = rows @ np.diag([1.0, 0.0, 0.0]) + np.random.default_rng(1).normal(size=(60, 3))
    w = np.ones(60)
    spectrum = Spectrum.of(RBF(0.01)(noisy, noisy), noisy, w, NoVariance(), lam=1.0)
    expected = max(COSTS, key=lambda C: spectrum.log_marginal_likelihood(C=C))
    assert likeliest_cost(RBF(0.01), noisy, w, lam=1.0) == expected


def test_sample_does_not_depend_on_the_order_of_rows():
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(900, 4)), rng.integers(1, 4, 900).astype(float)
    order = rng.permutation(900)
    drawn, counts = sample(X, w, size=100)
    again, counts_again = sample(X[order], w[order], size=100)
    np.testing.assert_array_equal(X[drawn], X[order][again])
    np.testing.assert_array_equal(counts, counts_again)
    assert counts.sum() == 100


def test_sample_draws_a_row_of_weight_w_as_w_copies(xp):
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(300, 2)), rng.integers(1, 4, 300)
    drawn, counts = sample(xp.asarray(X), xp.asarray(w.astype(float)), size=50)
    copies, each = sample(xp.asarray(np.repeat(X, w, axis=0)), xp.ones(int(w.sum()), dtype=xp.float64), size=50)
    whole = np.repeat(np.arange(300), w)[to_numpy(copies)]
    np.testing.assert_array_equal(
        np.repeat(to_numpy(drawn), to_numpy(counts).astype(int)), np.repeat(whole, to_numpy(each).astype(int))
    )


@pytest.mark.parametrize("values", [3, 8])
def test_sample_of_more_copies_than_its_size_is_that_of_the_weighted_rows(xp, values):
    rng = np.random.default_rng(0)
    X, w = np.unique(rng.integers(values, size=(400, 3)), axis=0, return_counts=True)
    copies = rng.permutation(np.repeat(X, 5 * w, axis=0)).astype(float)
    drawn, weights = sample(xp.asarray(copies), xp.ones(len(copies), dtype=xp.float64), size=300)
    found = copies[to_numpy(drawn)]
    order = np.lexsort(found.T[::-1])
    np.testing.assert_array_equal(found[order], X)
    np.testing.assert_array_equal(to_numpy(weights)[order], 5 * w)


def test_few_rows_are_not_sampled(rows):
    assert sample(rows, np.ones(60)) is None


@pytest.mark.parametrize("tail", ["lognormal 2", "lognormal 3", "cauchy"])
def test_single_precision_chooses_the_bandwidth_of_double_precision(xp, tail):
    rng = np.random.default_rng(0)
    X = rng.standard_cauchy((300, 3)) if tail == "cauchy" else rng.lognormal(0, float(tail[-1]), (300, 3))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    chosen = [
        likeliest_bandwidth(RBF(), xp.asarray(rows), xp.asarray(np.ones(300, rows.dtype)), lam=1.0, local=True)
        for rows in (X.astype(np.float32), X)
    ]
    assert chosen[0] == pytest.approx(chosen[1], rel=1e-4)
