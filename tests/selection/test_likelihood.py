"""Searches without outliers: by the marginal likelihood where it is defined, otherwise an error with advice."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.svm import OneClassSVM

from oneclass import AAKELM, OCKELM, VAAKELM, KNNDetector, Nystrom, TableDetector
from oneclass.core.likelihood import log_marginal_likelihood
from oneclass.selection import OneClassSearchCV

COSTS = [0.1, 1.0, 10.0, 1e3, 1e5]


@pytest.fixture(scope="module")
def targets(data):
    X, y = data
    return X[y == 1]


def test_the_likelihood_is_finite_at_any_C(targets):
    search = OneClassSearchCV(AAKELM(kernel="linear"), {"C": [1.0, 1e15]}, criterion="likelihood", refit=False)
    assert np.isfinite(search.fit(targets).cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("machine", [OCKELM(), AAKELM()], ids=["OCKELM", "AAKELM"])
def test_the_likelihood_is_that_of_the_rows_as_targets(targets, machine):
    search = OneClassSearchCV(machine, {"C": COSTS, "sigma": [0.5, 2.0]}, criterion="likelihood").fit(targets)
    model = search.best_estimator_
    Z = model.model_.rows
    K = model.kernel_(Z, Z)
    expected = log_marginal_likelihood(K, Z, np.ones(60), C=model.C_, lam=1.0) / Z.size
    assert search.best_score_ == pytest.approx(expected)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()


def test_the_likelihood_with_a_matrix_as_variance_is_the_same_for_a_data_frame(targets):
    pandas = pytest.importorskip("pandas")
    search = OneClassSearchCV(VAAKELM(variance=np.eye(60)), {"C": COSTS}, criterion="likelihood")
    expected = search.fit(targets).cv_results_["mean_test_score"]
    found = search.fit(pandas.DataFrame(targets, columns=list("abc"))).cv_results_["mean_test_score"]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("machine", [AAKELM(), AAKELM(C="likelihood")], ids=str)
def test_a_C_chosen_by_likelihood_scores_as_the_same_number_does(targets, machine):
    chosen = AAKELM(C="likelihood").fit(targets).C_
    grid = [{"C": [1.0, "likelihood", chosen, AAKELM().C]}, {"delta": [0.1]}]
    search = OneClassSearchCV(machine, grid, criterion="likelihood").fit(targets)
    scores = search.cv_results_["mean_test_score"]
    assert scores[1] == pytest.approx(scores[2])
    assert scores[0] < scores[1]
    assert scores[4] == pytest.approx(scores[1] if machine.C == "likelihood" else scores[3])
    assert search.cv_results_["params"][1] == {"C": "likelihood"}


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_results_by_likelihood_say_how_and_in_what_time_they_were_computed(targets, n_jobs):
    grid = {"kernel": ["rbf", "linear"]}
    search = OneClassSearchCV(AAKELM(), grid, criterion="likelihood", n_jobs=n_jobs).fit(targets)
    assert search.cv_results_["numerics"].tolist() == ["one decomposition"] * 2
    assert (search.cv_results_["mean_fit_time"] > 0).all()
    assert search.n_splits_ == 1


@pytest.mark.parametrize("estimator", [AAKELM(), KNNDetector(), OneClassSVM()], ids=lambda one: type(one).__name__)
def test_without_outliers_the_error_says_what_to_do(targets, estimator):
    search = OneClassSearchCV(estimator, {})
    for y in (None, np.ones(60)):
        with pytest.raises(ValueError, match=r"y must hold labelled outliers.*the default parameters.*'likelihood'"):
            search.fit(targets, y)


@pytest.mark.parametrize(
    "estimator",
    [
        OneClassSVM(),
        KNNDetector(),
        AAKELM(approximation=Nystrom(10)),
        make_pipeline(AAKELM()),
        TableDetector(AAKELM()),
    ],
    ids=lambda one: type(one).__name__,
)
def test_the_likelihood_needs_an_exact_kernel_machine(targets, estimator):
    with pytest.raises(ValueError, match=r"needs a kernel machine that fits exactly.*got " + type(estimator).__name__):
        OneClassSearchCV(estimator, {}, criterion="likelihood").fit(targets)


def test_every_candidate_must_fit_exactly(targets):
    grid = {"approximation": [None, Nystrom(10)], "C": COSTS}
    with pytest.raises(ValueError, match=r"criterion='likelihood' needs a kernel machine that fits exactly"):
        OneClassSearchCV(AAKELM(), grid, criterion="likelihood").fit(targets)
    machine = AAKELM(approximation=Nystrom(10))
    exact = OneClassSearchCV(machine, grid | {"approximation": [None]}, criterion="likelihood").fit(targets)
    assert exact.best_estimator_.approximation is None
