import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.covariance import ledoit_wolf
from sklearn.neighbors import KernelDensity

from oneclass import Parzen
from oracle.held_out import losses_held_out

SHAPES = pytest.mark.parametrize("bandwidth", ["shared", "full"])


def covariance(model, rows):
    """Of the Gaussians at the training rows."""
    shape = np.eye(rows.shape[1]) if model.bandwidth == "shared" else ledoit_wolf(rows)[0]
    return model.width_**2 * shape


def densities(at, rows, cov):
    return np.mean([multivariate_normal.pdf(at, mean=row, cov=cov) for row in rows], axis=0)


@SHAPES
def test_the_score_is_the_log_of_the_mean_of_gaussians_at_the_training_rows(bandwidth, rows, fresh):
    model = Parzen(bandwidth=bandwidth, scale=False).fit(rows)
    expected = np.log(densities(fresh[:10], rows, covariance(model, rows)))
    np.testing.assert_allclose(model.score_samples(fresh[:10]), expected, rtol=1e-7, atol=1e-7)


def test_a_shared_width_is_scikit_learns_density(rows, fresh):
    model = Parzen(scale=False).fit(rows)
    expected = KernelDensity(bandwidth=model.width_).fit(rows).score_samples(fresh)
    np.testing.assert_allclose(model.score_samples(fresh), expected, rtol=1e-8)


@SHAPES
def test_held_out_losses_match_densities_without_the_row(bandwidth, rows):
    model = Parzen(bandwidth=bandwidth, scale=False).fit(rows)
    cov = covariance(model, rows)
    expected = [-np.log(densities(rows[i], np.delete(rows, i, axis=0), cov)) for i in range(len(rows))]
    np.testing.assert_allclose(losses_held_out(model, rows), expected, rtol=1e-7, atol=1e-7)


@SHAPES
@pytest.mark.parametrize(("n", "d"), [(3, 1), (40, 2), (60, 5)])
def test_the_width_has_the_largest_leave_one_out_likelihood_on_a_grid(bandwidth, n, d):
    rows = np.random.default_rng(n).normal(size=(n, d))
    model = Parzen(bandwidth=bandwidth, scale=False, delta=0.3).fit(rows)
    whitened = rows @ np.linalg.inv(np.linalg.cholesky(covariance(model, rows))).T * model.width_
    squared = ((whitened[:, None] - whitened) ** 2).sum(axis=2)
    np.fill_diagonal(squared, np.inf)
    grid = model.width_ * np.exp(np.linspace(-0.5, 0.5, 401))
    likelihood = [np.log(np.exp(-squared / (2 * h**2)).sum(axis=1)).sum() - n * d * np.log(h) for h in grid]
    assert model.width_ == pytest.approx(grid[np.argmax(likelihood)], rel=0.0026)


def test_a_full_bandwidth_does_not_see_how_features_are_mixed():
    random = np.random.default_rng(0)
    rows, mixing = random.normal(size=(400, 2)), np.array([[1.0, 0.9], [0.0, 0.3]])
    full, shared = (Parzen(bandwidth=b, scale=False).fit(rows @ mixing) for b in ("full", "shared"))
    # Along the ridge, and as far across it.
    along, across = np.array([[1.5, 1.35]]), np.array([[1.5, -1.35]])
    for model in (full, shared):
        assert model.score_samples(along) > model.score_samples(across)
    assert full.width_ == pytest.approx(Parzen(scale=False).fit(rows).width_, rel=0.1)


def test_a_width_chosen_by_a_sample_of_rows_is_as_good_as_by_all(monkeypatch):
    rows = np.random.default_rng(0).normal(size=(1000, 3))
    width = Parzen().fit(rows).width_
    monkeypatch.setattr("oneclass.baselines.parzen._WIDTH_ROWS", 500)
    assert Parzen().fit(rows).width_ == pytest.approx(width, rel=0.05)


def test_repeated_rows_keep_the_width_of_their_smallest_distance():
    rows = np.repeat([[0.0, 0.0], [0.0, 1.0], [3.0, 0.0]], 20, axis=0)
    assert Parzen(scale=False).fit(rows).width_ == pytest.approx(1 / np.sqrt(12))


@pytest.mark.parametrize("n", [5, 40])
def test_collinear_features_and_few_rows_have_a_full_bandwidth_too(n):
    rows = np.random.default_rng(0).normal(size=(n, 3)) @ np.random.default_rng(1).normal(size=(3, 12))
    model = Parzen(bandwidth="full", delta=0.2).fit(rows)
    far = rows[:1] + 50 * rows.std(axis=0)
    assert model.predict(far) == [-1]
    assert (model.predict(rows) == 1).mean() > 0.5


def test_more_columns_than_rows_do_not_shrink_their_own_scores():
    rates = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        model = Parzen().fit(rng.normal(size=(200, 300)))
        rates.append(np.mean(model.predict(rng.normal(size=(500, 300))) == -1))
    assert np.mean(rates) < 0.05
