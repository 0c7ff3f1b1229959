import numpy as np
import pytest

from oneclass import AAKELM, VAAKELM, Nystrom
from oneclass.core.data_choices import choose_cost
from oneclass.core.kernels import Laplacian
from oneclass.machines import approximate
from oneclass.selection import OneClassSearchCV


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).normal(size=(960, 2))


@pytest.mark.parametrize(("n", "C"), [(2, 8.0), (512, 8.0), (960, 15.0), (2_048, 32.0), (100_000, 32.0)])
def test_by_itself_C_is_one_for_every_64_rows_from_8_to_32(n, C):
    assert choose_cost("auto", Laplacian(1.0), np.zeros((2, 1)), np.ones(2), lam=1.0, total=n) == C


@pytest.mark.filterwarnings("ignore::oneclass.DependentRowsWarning")  # weights are copies
def test_a_C_left_to_the_rows_is_the_same_number_given_in_memory_in_chunks_and_as_weights(rows):
    model, given = VAAKELM().fit(rows), VAAKELM(C=15.0).fit(rows)
    assert (model.C, model.C_) == ("auto", 15.0)
    np.testing.assert_array_equal(model.score_samples(rows), given.score_samples(rows))
    assert model.offset_ == given.offset_
    assert VAAKELM().fit_chunks([rows[:500], rows[500:]]).C_ == 15.0
    assert VAAKELM().fit(rows[:480], sample_weight=np.full(480, 2.0)).C_ == 15.0


@pytest.mark.parametrize("kernel", ["laplacian", "rbf"])
def test_a_C_chosen_from_a_sample_of_rows_uses_the_weight_of_all_rows(kernel, monkeypatch):
    monkeypatch.setattr(approximate, "_PLAN_ROWS", 256)
    monkeypatch.setattr(approximate, "_UNPLANNED_ROWS", 256)
    X, w = np.random.default_rng(2).normal(size=(1_024, 2)), np.full(1_024, 0.9375)
    for rows, weights in ((X, w), (X[:960], None)):
        assert AAKELM(kernel=kernel, approximation=Nystrom(20)).fit(rows, sample_weight=weights).C_ == 15.0


def test_a_search_chooses_C_by_likelihood_from_the_rows_of_each_fold(rows):
    # 640 of 960 rows in each of three folds make 10.
    X = np.concatenate([rows, 2 * np.random.default_rng(1).normal(size=(60, 2))])
    y = np.repeat([1, -1], [960, 60])
    grid = {"sigma": [0.5, 2.0]}
    scores = {
        C: OneClassSearchCV(AAKELM(C=C), grid, cv=3, scoring="auroc").fit(X, y).cv_results_["mean_test_score"]
        for C in ("auto", 10.0, 15.0)
    }
    np.testing.assert_allclose(scores["auto"], scores[10.0], rtol=1e-12)
    assert not np.allclose(scores["auto"], scores[15.0], rtol=1e-6)
