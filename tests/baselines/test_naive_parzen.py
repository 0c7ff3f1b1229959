import numpy as np
import pytest
from scipy.stats import norm
from sklearn.neighbors import KernelDensity

from oneclass import NaiveParzen
from oneclass.baselines.naive_parzen import _likeliest_width
from oracle.held_out import losses_held_out


def leave_one_out_likelihood(x, width):
    densities = norm.pdf(x[:, None] - x, scale=width)
    np.fill_diagonal(densities, 0)
    return np.log(densities.sum(axis=1) / (len(x) - 1)).sum()


@pytest.mark.parametrize("draw", ["normal", "exponential", "uniform"])
@pytest.mark.parametrize("n", [2, 20, 300])
def test_the_width_has_the_largest_leave_one_out_likelihood_on_a_grid(draw, n):
    x = getattr(np.random.default_rng(n), draw)(size=n)
    width = _likeliest_width(x)
    grid = width * np.exp(np.linspace(-0.5, 0.5, 401))
    best = grid[np.argmax([leave_one_out_likelihood(x, w) for w in grid])]
    assert width == pytest.approx(best, rel=0.0026)


def test_counting_close_values_together_keeps_the_width():
    x = np.random.default_rng(0).normal(size=1100)
    width = _likeliest_width(x)
    grid = width * np.exp(np.linspace(-0.02, 0.02, 21))
    best = grid[np.argmax([leave_one_out_likelihood(x, w) for w in grid])]
    assert width == pytest.approx(best, rel=0.003)


def test_counting_close_values_together_keeps_the_scores():
    random = np.random.default_rng(0)
    rows, fresh = random.normal(size=(2000, 2)), random.normal(size=(100, 2))
    model = NaiveParzen(scale=False).fit(rows)
    expected = sum(log_density(rows[:, j], fresh[:, j], model.widths_[j]) for j in range(2))
    np.testing.assert_allclose(model.score_samples(fresh), expected, atol=0.01)


def log_density(x, z, width):
    return KernelDensity(bandwidth=width).fit(x[:, None]).score_samples(z[:, None])


def test_explanations_are_the_log_densities_of_the_features(rows, fresh):
    model = NaiveParzen(scale=False).fit(rows)
    expected = [log_density(rows[:, j], fresh[:, j], model.widths_[j]) for j in range(3)]
    np.testing.assert_allclose(
        -(model.explain(fresh).parts + model.model_.least), np.stack(expected, axis=1), rtol=1e-8
    )


def test_held_out_losses_match_densities_without_the_row(rows):
    model = NaiveParzen(scale=False).fit(rows)
    held_out = losses_held_out(model, rows)
    for i in range(len(rows)):
        rest = np.delete(rows, i, axis=0)
        expected = sum(log_density(rest[:, j], rows[i : i + 1, j], model.widths_[j])[0] for j in range(3))
        assert held_out[i] == pytest.approx(-expected, rel=1e-8)


@pytest.mark.parametrize("values", [[0.0, 1.0], [0.0, 1.0, 5.0]])
def test_repeated_values_keep_the_width_of_their_smallest_gap(values):
    x = np.repeat(values, 20)
    assert _likeliest_width(x) == pytest.approx(1 / np.sqrt(12))


def test_rounding_is_not_a_gap():
    x = np.repeat([0.0, 1.0], 20) + np.tile([0.0, 1e-15], 20)
    assert _likeliest_width(x) == pytest.approx(1 / np.sqrt(12))


def test_rows_far_from_everything_have_finite_scores_that_still_fall():
    model = NaiveParzen().fit(np.random.default_rng(0).normal(size=(50, 2)))
    scores = model.score_samples([[1e3, 0.0], [1e6, 0.0]])
    assert np.isfinite(scores).all()
    assert scores[1] < scores[0]


def test_two_rows_always_have_a_width():
    for seed in range(40):
        rows = np.random.default_rng(seed).normal(size=(2, 3))
        assert np.isfinite(NaiveParzen(scale=False, threshold="train").fit(rows).score_samples(rows)).all()
