import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression

from oneclass import PCADetector


@pytest.mark.parametrize("kept", [0.5, 0.9, 1, 2])
def test_the_loss_is_the_reconstruction_error_of_scikit_learns_pca(rows, fresh, kept):
    peer = PCA(kept, svd_solver="full").fit(rows)
    expected = (fresh - peer.inverse_transform(peer.transform(fresh))) ** 2
    model = PCADetector(n_components=kept, scale=False).fit(rows)
    assert model.n_components_ == peer.n_components_
    np.testing.assert_allclose(model.explain(fresh), -expected, rtol=1e-8, atol=1e-10)


def test_held_out_losses_match_regressing_the_other_rows_on_their_components():
    random = np.random.default_rng(0)
    rows = random.normal(size=(25, 6)) @ np.diag([5.0, 4.0, 1.0, 0.5, 0.2, 0.1])
    model = PCADetector(n_components=2, scale=False).fit(rows)
    held_out, _ = model._calibration()
    coordinates = (rows - model.mean_) @ model.components_.T
    for i in range(25):
        others = np.delete(np.arange(25), i)
        rest = LinearRegression().fit(coordinates[others], rows[others])
        residual = rows[i] - rest.predict(coordinates[i : i + 1])[0]
        assert np.sum(residual**2) == pytest.approx(held_out[i], rel=1e-8)


def test_held_out_losses_are_near_those_of_refitting():
    random = np.random.default_rng(1)
    rows = random.normal(size=(60, 30)) @ np.diag(np.exp(-np.arange(30) / 6)) @ random.normal(size=(30, 30))
    model = PCADetector(scale=False).fit(rows)
    refitted = []
    for i in range(60):
        rest = PCADetector(n_components=model.n_components_, scale=False).fit(np.delete(rows, i, axis=0))
        refitted.append(-rest.score_samples(rows[i : i + 1])[0])
    held_out, _ = model._calibration()
    training = -model.score_samples(rows)
    assert np.median(held_out / refitted) == pytest.approx(1, abs=0.1)
    assert np.median(training / refitted) < 0.85  # what the correction is for


def test_with_two_rows_each_is_judged_by_its_distance_to_the_other():
    model = PCADetector(scale=False, delta=0.0).fit([[0.0, 0.0, 1.0], [3.0, 4.0, 1.0]])
    np.testing.assert_allclose(model._calibration()[0], [25.0, 25.0])


def test_one_feature_is_judged_by_its_distance_from_the_mean():
    model = PCADetector(scale=False).fit(np.arange(21.0)[:, None])
    np.testing.assert_allclose(model.score_samples([[13.0]]), [-9.0])


def test_at_least_one_direction_is_left_out():
    random = np.random.default_rng(0)
    rows = np.column_stack([random.normal(size=100), 1e-3 * random.normal(size=100)])
    assert PCADetector(n_components=0.9999999, scale=False).fit(rows).n_components_ == 1
