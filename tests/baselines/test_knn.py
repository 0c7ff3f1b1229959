import numpy as np
import pytest
from scipy.special import gammaln

from oneclass import KNNDetector
from oracle.held_out import losses_held_out


def brute(Z, rows, k, method):
    """Losses by loops over rows."""
    losses = []
    for z in Z:
        order = sorted(range(len(rows)), key=lambda i: np.sum((z - rows[i]) ** 2))[:k]
        near = rows[order]
        squares = np.sum((z - near) ** 2, axis=1)
        losses.append({"kappa": squares[-1], "delta": np.sum((z - near.mean(0)) ** 2), "gamma": squares.mean()}[method])
    return np.array(losses)


@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("method", ["kappa", "delta", "gamma"])
def test_scores_are_those_of_brute_force(rows, fresh, k, method):
    model = KNNDetector(n_neighbors=k, method=method, scale=False).fit(rows)
    np.testing.assert_allclose(-model.score_samples(fresh), brute(fresh, rows, k, method), rtol=1e-10)


@pytest.mark.parametrize("d", [2, 20])
@pytest.mark.parametrize(("shift", "apart"), [(0, 0), (1e8, 0), (0, 1e8)])
def test_the_nearest_rows_are_those_of_brute_force_wherever_they_lie(d, shift, apart):
    random = np.random.default_rng(d)
    rows, fresh = random.normal(size=(50, d)) + shift, random.normal(size=(20, d)) + shift
    rows[random.permutation(50)[::2]] += apart
    fresh[::2] += apart
    for k in (1, 3):
        model = KNNDetector(n_neighbors=k, scale=False).fit(rows)
        np.testing.assert_allclose(-model.score_samples(fresh), brute(fresh, rows, k, "kappa"), rtol=1e-9)
        expected = [brute(row[None], np.delete(rows, i, axis=0), k, "kappa")[0] for i, row in enumerate(rows)]
        np.testing.assert_allclose(losses_held_out(model, rows), expected, rtol=1e-9)


@pytest.mark.parametrize("d", [2, 20])
def test_a_row_among_its_copies_is_not_its_own_neighbor(d):
    rows = np.random.default_rng(0).normal(size=(4, d))
    copies = np.repeat(rows, [5, 2, 2, 1], axis=0)
    held_out = losses_held_out(KNNDetector(n_neighbors=1, scale=False, delta=0.0).fit(copies), copies)
    expected = brute(rows[3:], rows[:3], 1, "kappa")
    np.testing.assert_allclose(held_out, [*np.zeros(9), *expected], rtol=1e-12)


@pytest.mark.parametrize("method", ["kappa", "delta", "gamma"])
def test_held_out_losses_match_refitting_without_the_row(rows, method):
    model = KNNDetector(n_neighbors=3, method=method, scale=False).fit(rows)
    held_out = losses_held_out(model, rows)
    for i in range(len(rows)):
        rest = KNNDetector(n_neighbors=3, method=method, scale=False).fit(np.delete(rows, i, axis=0))
        assert -rest.score_samples(rows[i : i + 1])[0] == pytest.approx(held_out[i], rel=1e-10)


def likelihood(rows, k):
    n, d = rows.shape
    volume = d / 2 * np.log(np.pi) - gammaln(d / 2 + 1)
    total = 0.0
    for i in range(n):
        r = np.sort(np.linalg.norm(np.delete(rows, i, axis=0) - rows[i], axis=1))[k - 1]
        total += np.log(k) - volume - d * np.log(r)
    return total


@pytest.mark.parametrize("seed", range(4))
def test_the_number_of_neighbors_has_the_largest_leave_one_out_likelihood(seed):
    random = np.random.default_rng(seed)
    rows = random.standard_t(3, size=(40, 2))
    model = KNNDetector(scale=False).fit(rows)
    assert model.n_neighbors_ == max(range(2, 40), key=lambda k: likelihood(rows, k))


@pytest.mark.filterwarnings("ignore::oneclass.DependentRowsWarning")  # copies are what this is about
def test_a_likelihood_that_grows_beyond_ten_is_followed():
    # Tight clusters of fifteen: the density is nearly flat inside and falls to zero outside.
    random = np.random.default_rng(0)
    rows = np.concatenate([c + 1e-3 * random.uniform(size=(15, 2)) for c in random.normal(size=(6, 2))])
    copies = np.repeat(random.normal(size=(8, 2)), 12, axis=0)
    assert KNNDetector(scale=False).fit(copies).n_neighbors_ >= 12
    assert KNNDetector(scale=False).fit(rows).n_neighbors_ == max(range(2, 50), key=lambda k: likelihood(rows, k))


@pytest.mark.filterwarnings("ignore::oneclass.DependentRowsWarning")  # copies are what this is about
def test_neighbors_that_coincide_do_not_drive_the_choice():
    rows = np.random.default_rng(0).normal(size=(30, 2))
    copies = np.repeat(rows, 3, axis=0)
    # A row's two copies are its first neighbors; a density at distance zero would be infinite.
    assert KNNDetector().fit(copies).n_neighbors_ >= 3


def test_copies_of_training_rows_are_rejected_no_less_than_training_rows():
    rows = np.concatenate([np.random.default_rng(0).normal(size=(50, 2)), [[30.0, 30.0]]])
    assert KNNDetector().fit(rows).predict([[30.0, 30.0]]) == -1
