from itertools import combinations

import numpy as np
import pytest

from oneclass import KCentersDetector
from oneclass.baselines.kcenters import _center
from oneclass.core.hold_out import fold_rows
from oracle import decisions


def radius(rows, centers):
    return max(min(np.linalg.norm(row - center) for center in centers) for row in rows)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_radius_is_that_of_exhaustive_search(seed, k):
    rows = np.random.default_rng(seed).normal(size=(10, 2))
    best = min(radius(rows, rows[list(chosen)]) for chosen in combinations(range(10), k))
    model = KCentersDetector(n_centers=k, n_init=100, scale=False, delta=0.0, random_state=0).fit(rows)
    assert model.radius_ == pytest.approx(best, rel=1e-12)
    assert radius(rows, model.cluster_centers_) == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_centre_of_a_group_has_the_nearest_farthest_member(seed):
    group = np.random.default_rng(seed).normal(size=(50, 5))
    best = min(group, key=lambda row: np.linalg.norm(group - row, axis=1).max())
    assert np.array_equal(_center(group), best)


@pytest.mark.filterwarnings("ignore::oneclass.DependentRowsWarning")  # copies are what this is about
def test_centres_are_training_rows_and_copies_change_nothing():
    rows = np.random.default_rng(0).normal(size=(40, 3))
    model = KCentersDetector(scale=False, random_state=0).fit(rows)
    doubled = KCentersDetector(scale=False, random_state=0).fit(np.repeat(rows, 2, axis=0))
    assert all((rows == center).all(axis=1).any() for center in model.cluster_centers_)
    assert np.array_equal(doubled.cluster_centers_, model.cluster_centers_)


def test_more_restarts_never_give_a_larger_radius():
    rows = np.random.default_rng(0).normal(size=(200, 2))
    radii = [KCentersDetector(n_init=n, random_state=0).fit(rows).radius_ for n in (1, 5, 25)]
    assert radii == sorted(radii, reverse=True)
    assert radii[0] > radii[-1]


def test_the_loss_is_the_squared_distance_to_the_nearest_centre(rows, fresh):
    model = KCentersDetector(scale=False, random_state=0).fit(rows)
    expected = [min(np.sum((z - c) ** 2) for c in model.cluster_centers_) for z in fresh]
    np.testing.assert_allclose(-model.score_samples(fresh), expected, rtol=1e-12)


def test_held_out_scores_of_the_folds_are_in_units_of_the_models_median():
    rows = np.random.default_rng(0).standard_t(3, size=(60, 8))
    options = {"scale": False, "random_state": 0}
    model, expected = KCentersDetector(**options).fit(rows), np.empty(60)
    for seen, unseen in fold_rows(model.scaler_(rows), None, folds=5):
        part = KCentersDetector(**options, threshold="train").fit(rows[seen])
        size = np.median(model.score_samples(rows)) / np.median(part.score_samples(rows))
        expected[unseen] = part.score_samples(rows[unseen]) * size
    p = [decisions.p_value(-score, -expected) for score in model.score_samples(rows)]
    np.testing.assert_allclose(model.p_value(rows), p)
