import numpy as np
import pytest

from oneclass.core.arrays import to_numpy
from oneclass.core.kernels import RBF, Linear, Polynomial
from oneclass.core.landmarks import LANDMARKS, choose_landmarks
from oracle.comparison import assert_agree

KERNEL = RBF(sigma=1.0)
ROWS = np.random.default_rng(0).normal(size=(300, 2))
# A large group and a small one far away: uniform draws seldom see the small one.
GROUPS = np.vstack([ROWS, ROWS[:3] / 5 + 20.0])


def chosen(xp, rule, Z=ROWS, w=None, *, m=20, seed=0, kernel=KERNEL):
    Z = xp.asarray(Z)
    w = xp.ones(Z.shape[0], dtype=Z.dtype) if w is None else xp.asarray(w)
    return to_numpy(choose_landmarks(rule, kernel, Z, w, m, np.random.default_rng(seed)))


def unexplained(landmarks, Z=GROUPS):
    """Mean of k(z, z) less its projection on the landmarks."""
    K, F = KERNEL(landmarks, landmarks), KERNEL(Z, landmarks)
    return np.mean(1 - np.sum(F * np.linalg.lstsq(K, F.T, rcond=1e-12)[0].T, axis=1))


def spread(landmarks, Z=ROWS):
    """Mean squared distance of the rows to their nearest landmark."""
    return np.mean(np.min(np.sum((Z[:, None] - landmarks[None]) ** 2, axis=2), axis=1))


@pytest.mark.parametrize("rule", ["leverage", "uniform"])
def test_landmarks_are_distinct_rows(xp, rule):
    landmarks = chosen(xp, rule)
    assert landmarks.shape == (20, 2)
    assert len(np.unique(landmarks, axis=0)) == 20
    assert all((landmark == ROWS).all(axis=1).any() for landmark in landmarks)


def test_centres_lie_closer_to_the_rows_than_drawn_rows_do(xp):
    centres = chosen(xp, "kmeans")
    assert centres.shape == (20, 2)
    assert not any((centre == ROWS).all(axis=1).any() for centre in centres)
    assert spread(centres) < 0.8 * min(spread(chosen(np, "uniform", seed=seed)) for seed in range(5))


def test_landmarks_by_leverage_explain_more_of_the_kernel_than_uniform_ones():
    left = {rule: [unexplained(chosen(np, rule, GROUPS, m=50, seed=s)) for s in range(10)] for rule in LANDMARKS}
    assert np.mean(left["leverage"]) < 0.5 * np.mean(left["uniform"])


def test_rules_and_seeds_choose_different_landmarks(xp):
    choices = [chosen(xp, rule, seed=seed) for rule in LANDMARKS for seed in (0, 1)]
    assert len({choice.tobytes() for choice in choices}) == len(choices)
    for rule in LANDMARKS:
        assert_agree(chosen(xp, rule), chosen(xp, rule), 0)


@pytest.mark.parametrize("rule", LANDMARKS)
def test_every_library_chooses_the_same_landmarks(xp, rule):
    assert_agree(chosen(xp, rule), chosen(np, rule), 1e-12)


@pytest.mark.parametrize("rule", LANDMARKS)
def test_all_rows_are_landmarks_when_there_are_no_more_than_asked_for(xp, rule):
    assert_agree(chosen(xp, rule, m=300), ROWS, 0)


@pytest.mark.parametrize("rule", ["leverage", "uniform"])
def test_a_first_landmark_is_drawn_in_proportion_to_the_weights(rule):
    Z, w = np.arange(4.0)[:, None], np.array([1.0, 2.0, 3.0, 4.0])
    draws = [chosen(np, rule, Z, w, m=1, seed=seed)[0, 0] for seed in range(2000)]
    share = np.bincount(np.array(draws, dtype=int), minlength=4) / 2000
    np.testing.assert_array_less(np.abs(share - w / 10), 4 * np.sqrt(w / 10 * (1 - w / 10) / 2000))


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e5])
@pytest.mark.parametrize(("kernel", "rank"), [(Linear(), 2), (Polynomial(degree=3, coef0=0.0), 4)], ids=["1", "3"])
def test_leverage_stops_when_the_landmarks_explain_every_row(xp, kernel, rank, scale):
    landmarks = chosen(xp, "leverage", ROWS * scale, m=200, kernel=kernel)
    assert rank <= len(landmarks) < 60
    K = kernel(ROWS * scale, ROWS * scale)
    F = kernel(ROWS * scale, landmarks)
    assert_agree(F @ np.linalg.pinv(kernel(landmarks, landmarks), rcond=1e-12, hermitian=True) @ F.T, K, 1e-8)


@pytest.mark.parametrize("sigma", [1.0, 10.0])
def test_leverage_chooses_in_single_precision_what_it_chooses_in_double(xp, sigma):
    single = ROWS.astype(np.float32)
    landmarks = chosen(xp, "leverage", single, m=100, kernel=RBF(sigma=sigma))
    assert landmarks.dtype == np.float32
    assert_agree(landmarks, chosen(xp, "leverage", single.astype(float), m=100, kernel=RBF(sigma=sigma)), 0)
