import numpy as np
import pytest
from sklearn.decomposition import PCA

from oneclass import PCADetector
from oneclass.baselines import pca
from oracle.held_out import losses_held_out


@pytest.mark.parametrize("kept", [0.5, 0.9, 1, 2])
def test_the_loss_is_the_reconstruction_error_of_scikit_learns_pca(rows, fresh, kept):
    peer = PCA(kept, svd_solver="full").fit(rows)
    expected = (fresh - peer.inverse_transform(peer.transform(fresh))) ** 2
    model = PCADetector(n_components=kept, scale=False, delta=0.0).fit(rows)
    assert model.n_components_ == peer.n_components_
    np.testing.assert_allclose(model.explain(fresh).parts, expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(("n", "d"), [(25, 6), (60, 30), (8, 12)])
@pytest.mark.parametrize("kept", [0.5, 0.9, 2])
def test_held_out_losses_are_those_of_refitting(n, d, kept):
    random = np.random.default_rng(n)
    rows = random.normal(size=(n, d)) @ np.diag(np.exp(-np.arange(d) / 6)) @ random.normal(size=(d, d))
    model = PCADetector(n_components=kept, scale=False, delta=0.0).fit(rows)
    held_out = losses_held_out(model, rows)
    for i in range(n):
        rest = PCADetector(n_components=kept, scale=False, threshold="train").fit(np.delete(rows, i, axis=0))
        expected = -rest.score_samples(rows[i : i + 1])[0]
        assert held_out[i] == pytest.approx(expected, rel=1e-7)


def test_folds_stand_in_where_leaving_out_every_row_costs_too_much(rows, monkeypatch):
    model = PCADetector(scale=False).fit(rows)
    one_by_one = losses_held_out(model, rows)
    monkeypatch.setattr(pca, "_LEAVE_ONE_OUT_COST", 0)
    by_folds = losses_held_out(model, rows)
    assert np.median(by_folds / one_by_one) == pytest.approx(1, abs=0.1)
    assert np.any(by_folds != one_by_one)


def test_with_two_rows_each_is_scored_by_its_distance_to_the_other():
    model = PCADetector(scale=False, delta=0.0).fit([[0.0, 0.0, 1.0], [3.0, 4.0, 1.0]])
    np.testing.assert_allclose(model.calibration_.losses, [25.0, 25.0])


def test_one_feature_is_scored_by_its_distance_from_the_mean():
    model = PCADetector(scale=False).fit(np.arange(21.0)[:, None])
    np.testing.assert_allclose(model.score_samples([[13.0]]), [-9.0])


def test_at_least_one_direction_is_left_out():
    random = np.random.default_rng(0)
    rows = np.column_stack([random.normal(size=100), 1e-3 * random.normal(size=100)])
    assert PCADetector(n_components=0.9999999, scale=False).fit(rows).n_components_ == 1


@pytest.mark.parametrize("constant", [0.0, 0.3, 1e7 / 3])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_share_leaves_out_what_varies_whatever_is_constant(d, constant):
    random = np.random.default_rng(0)
    X, fresh = random.normal(size=(200, d)), 3 * random.normal(size=(200, d))
    alone = PCADetector().fit(X)
    model = PCADetector().fit(np.column_stack([X, np.full(200, constant)]))
    assert model.n_components_ == alone.n_components_ == d - 1
    beside = np.column_stack([fresh, np.full(200, constant)])
    np.testing.assert_allclose(model.score_samples(beside), alone.score_samples(fresh), rtol=1e-7)
    np.testing.assert_allclose(model.offset_, alone.offset_, rtol=1e-7)
    beside[:, d] += 10
    assert (model.predict(beside) == -1).all()


def test_a_feature_that_one_row_alone_moves_is_constant_without_it():
    X = np.random.default_rng(0).normal(size=(30, 3))
    X[:, 2] = X[:, 2][0]
    X[7, 2] += 5
    model = PCADetector(scale=False, delta=0.0).fit(X)
    held_out = losses_held_out(model, X)
    for i in (0, 7):
        rest = PCADetector(scale=False, threshold="train").fit(np.delete(X, i, axis=0))
        assert held_out[i] == pytest.approx(-rest.score_samples(X[i : i + 1])[0], rel=1e-7)


@pytest.mark.parametrize("size", [1e9, 1e150, 1e300, np.finfo(float).max])
def test_huge_rows_of_two_columns_are_off_the_plane_in_the_directions_that_smaller_ones_are(size):
    """The principal direction of two z-scored columns is the diagonal, whatever their values."""
    model = PCADetector().fit(np.random.default_rng(0).normal(size=(400, 2)))
    directions = np.random.default_rng(1).uniform(-1, 1, (200, 2))
    directions = np.concatenate([directions, np.ones((1, 2)), -np.ones((1, 2)), [[1, -1]]])
    np.testing.assert_array_equal(model.p_value(size * directions), model.p_value(1e8 * directions))
    assert (model.predict(size * directions) == -1).all()
