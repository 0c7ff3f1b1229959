import numpy as np
import pytest
from sklearn.cluster import KMeans

from oneclass import KMeansDetector
from oneclass.core.hold_out import fold_rows
from oracle.held_out import losses_held_out


def test_two_tight_groups_have_their_means_as_centres():
    rows = np.array([[0.0, 0.0], [0.0, 2.0], [10.0, 0.0], [10.0, 2.0]])
    model = KMeansDetector(n_clusters=2, scale=False, random_state=0, delta=0.0).fit(rows)
    assert sorted(map(tuple, model.cluster_centers_)) == [(0.0, 1.0), (10.0, 1.0)]
    np.testing.assert_allclose(model.score_samples([[3.0, 5.0]]), [-(9.0 + 16.0)])
    np.testing.assert_allclose(model.explain([[3.0, 5.0]]).parts, [[9.0, 16.0]])


def test_one_random_start_is_plain_k_means(rows, fresh):
    model = KMeansDetector(init="random", n_init=1, scale=False, random_state=0).fit(rows)
    peer = KMeans(5, init="random", n_init=1, random_state=0).fit(rows)
    np.testing.assert_allclose(-model.score_samples(fresh), peer.transform(fresh).min(axis=1) ** 2, rtol=1e-10)


def test_held_out_losses_match_refitting_without_the_fold(rows):
    model = KMeansDetector(scale=False, random_state=0).fit(rows)
    held_out = losses_held_out(model, rows)
    for seen, unseen in fold_rows(rows, None, folds=5):
        rest = KMeansDetector(scale=False, random_state=0).fit(rows[seen])
        np.testing.assert_allclose(held_out[unseen], -rest.score_samples(rows[unseen]), rtol=1e-10)


@pytest.mark.parametrize("n_distinct", [1, 3])
def test_there_are_no_more_centres_than_distinct_rows(n_distinct):
    rows = np.repeat(np.arange(n_distinct, dtype=float)[:, None], 20, axis=0)
    assert len(KMeansDetector().fit(rows).cluster_centers_) == n_distinct
