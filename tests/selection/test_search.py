import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM
from sklearn.utils.estimator_checks import check_estimator

from oneclass import AAKELM, OCKELM, VAAKELM, VOCKELM, KNNDetector, Nystrom
from oneclass.selection import SCORERS, OneClassKFold, OneClassSearchCV
from oneclass.selection._spectral import SpectralPath

COSTS, BUDGETS = [0.125, 1, 32.0], [0.05, 0.2]
GRIDS = {
    "OCKELM": (OCKELM(), {"C": COSTS, "delta": BUDGETS, "r": [1.0, -2.0], "sigma": ["mean", "median"]}),
    "VOCKELM": (VOCKELM(lam=2.0), {"C": COSTS, "delta": BUDGETS, "threshold": ["loo", "train", "authors", "mean"]}),
    "AAKELM": (AAKELM(), {"C": COSTS, "delta": BUDGETS, "score": ["reconstruction", "uncertainty", "predictive"]}),
    "VAAKELM": (VAAKELM(), {"C": COSTS, "delta": BUDGETS, "n_clusters": [1, 2, 4], "threshold": ["loo", "train"]}),
    "class": (VAAKELM(variance="class", variance_weight=30.0), {"C": COSTS, "delta": BUDGETS}),
    "global": (VAAKELM(), {"C": COSTS, "centring": ["own", "global"], "variance_weight": [1.0, 10.0]}),
    "kernels": (VAAKELM(), {"C": COSTS, "kernel": ["rbf", "laplacian", "linear"], "scale": [True, False]}),
    "automatic": (VAAKELM(), {"C": [1.0, "likelihood"], "sigma": ["likelihood", 2.0]}),
    "several grids": (AAKELM(), [{"C": COSTS}, {"delta": BUDGETS, "lam": [0.5]}]),
    "grids apart": (VAAKELM(C=2.0), [{"C": COSTS}, {"delta": BUDGETS}, {"n_clusters": [1, 2]}]),
    "heavy variance": (VAAKELM(), {"C": COSTS, "n_clusters": [1, 3], "variance_weight": [1e3, 1e8]}),
    "neighbours": (KNNDetector(), {"n_neighbors": [2, 4], "delta": BUDGETS}),
    "scikit-learn": (OneClassSVM(), {"nu": [0.05, 0.2], "gamma": [0.1, 1.0]}),
    "pipeline": (make_pipeline(StandardScaler(), AAKELM()), {"aakelm__C": COSTS, "aakelm__delta": BUDGETS}),
}
QUIET = pytest.mark.filterwarnings("ignore:.*smallest false-alarm rate")


def by_brute_force(estimator, grid, X, y, scoring, folds):
    scorers = {name: SCORERS[name] for name in scoring}
    return GridSearchCV(estimator, grid, scoring=scorers, cv=folds, refit=False, error_score="raise").fit(X, y)


@pytest.mark.parametrize("invertible", [True, False])
@pytest.mark.parametrize("case", GRIDS)
def test_search_is_brute_force_grid_search(case, data, invertible, monkeypatch):
    X, y = data
    if not invertible:  # as kernel values close to singular are
        monkeypatch.setattr(SpectralPath, "_inverse", None)
    estimator, grid = GRIDS[case]
    folds = list(OneClassKFold(3).split(X, y))
    expected = by_brute_force(estimator, grid, X, y, SCORERS, folds).cv_results_
    search = OneClassSearchCV(estimator, grid, scoring=list(SCORERS), refit="f1", cv=folds).fit(X, y)
    assert search.cv_results_["params"] == expected["params"]
    for name in SCORERS:
        for column in (f"mean_test_{name}", f"std_test_{name}", f"split1_test_{name}"):
            np.testing.assert_allclose(search.cv_results_[column], expected[column], atol=1e-10, err_msg=column)
        np.testing.assert_array_equal(search.cv_results_[f"rank_test_{name}"], expected[f"rank_test_{name}"])
    assert search.best_index_ == expected["rank_test_f1"].argmin()
    assert search.best_params_ == expected["params"][search.best_index_]


def test_best_estimator_is_the_best_point_fitted_on_all_targets(data):
    X, y = data
    search = OneClassSearchCV(VAAKELM(), {"C": COSTS, "delta": BUDGETS}).fit(X, y)
    model = VAAKELM(**search.best_params_).fit(X[y == 1])
    for verb in ("predict", "decision_function", "score_samples", "p_value", "false_discovery", "explain"):
        np.testing.assert_array_equal(getattr(search, verb)(X), getattr(model, verb)(X))
    np.testing.assert_array_equal(search.predict(X, alpha=0.3), model.predict(X, alpha=0.3))
    assert search.offset_ == model.offset_
    assert search.n_features_in_ == 3
    assert search.score(X, y) == SCORERS["f1"](model, X, y)


@pytest.mark.parametrize(
    ("values", "target"),
    [((1, 0), None), ((True, False), None), (("target", "x"), None), ((0, 1), 0), (("a", "b"), "a")],
)
def test_labels_of_any_kind_give_the_same_search(data, values, target):
    X, y = data
    grid = {"C": COSTS}
    expected = OneClassSearchCV(AAKELM(), grid).fit(X, y)
    labels = np.where(y == 1, *values)
    search = OneClassSearchCV(AAKELM(), grid, target=target).fit(X, labels)
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"])
    assert search.score(X, labels) == expected.score(X, y)


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_jobs_give_the_same_search(data, backend):
    X, y = data
    grid = {"C": COSTS, "n_clusters": [1, 3]}
    expected = OneClassSearchCV(VAAKELM(), grid).fit(X, y).cv_results_
    with parallel_config(backend, n_jobs=2):
        found = OneClassSearchCV(VAAKELM(), grid).fit(X, y).cv_results_
    np.testing.assert_array_equal(found["mean_test_score"], expected["mean_test_score"])


def test_other_splitters_do_not_get_outliers_into_training(data):
    X, y = data
    folds = [(train[y[train] == 1], test) for train, test in StratifiedKFold(3).split(X, y)]
    expected = OneClassSearchCV(AAKELM(), {"C": COSTS}, cv=folds).fit(X, y)
    search = OneClassSearchCV(AAKELM(), {"C": COSTS}, cv=StratifiedKFold(3)).fit(X, y)
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"])


def test_a_precomputed_kernel_is_cut_by_rows_and_columns(data):
    X, y = data
    K = rbf_kernel(X, gamma=0.1)
    grid = {"C": COSTS, "delta": BUDGETS}
    folds = list(OneClassKFold(3).split(X, y))
    search = OneClassSearchCV(OCKELM(kernel="precomputed"), grid, cv=folds, scoring="auroc").fit(K, y)
    expected = OneClassSearchCV(OCKELM(sigma=5**0.5, scale=False), grid, cv=folds, scoring="auroc").fit(X, y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(search.predict(K[:, y == 1]), expected.predict(X))


def test_rows_in_single_precision_are_searched_as_they_are_fitted(data):
    X, y = data[0].astype(np.float32), data[1]
    grid = {"C": [0.1, 3.3], "delta": BUDGETS, "n_clusters": [1, 4]}
    folds = list(OneClassKFold(3).split(X, y))
    expected = by_brute_force(VAAKELM(), grid, X, y, ["auroc"], folds).cv_results_["mean_test_auroc"]
    search = OneClassSearchCV(VAAKELM(), grid, scoring="auroc", cv=folds).fit(X, y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected, atol=0.01)


@QUIET
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values_of_C_far_apart_are_searched_as_they_are_fitted(data, dtype, kernel):
    X, y = data
    X = X.astype(dtype)
    machine = AAKELM(kernel=kernel, score="reconstruction", threshold="train", sigma="mean")
    grid, folds = {"C": [1e-6, 1.0, 1e3]}, list(OneClassKFold(3).split(X, y))
    expected = by_brute_force(machine, grid, X.astype(np.float64), y, ["auroc"], folds).cv_results_
    found = OneClassSearchCV(machine, grid, scoring="auroc", cv=folds).fit(X, y).cv_results_
    np.testing.assert_allclose(found["mean_test_score"], expected["mean_test_auroc"], atol=1e-3)


@QUIET
def test_where_sharing_would_cost_digits_every_point_is_fitted_on_its_own(data, monkeypatch):
    X, y = data
    fits = []
    monkeypatch.setattr(AAKELM, "fit", lambda self, X, _fit=AAKELM.fit: fits.append(self.C) or _fit(self, X))
    options = {"scoring": "auroc", "cv": OneClassKFold(3), "refit": False}
    singular = AAKELM(kernel="linear")
    OneClassSearchCV(singular, {"C": [1.0, 32.0]}, **options).fit(X, y)
    assert fits == []
    OneClassSearchCV(singular, {"C": [1.0, 1e12]}, **options).fit(X, y)
    assert sorted(fits) == [1.0] * 3 + [1e12] * 3


@pytest.mark.parametrize("threshold", ["train", "loo"])
def test_a_variance_matrix_is_searched_as_it_is_fitted(data, threshold):
    X, y = data
    folds = list(OneClassKFold(3).split(X, y))  # of 40 targets to train on
    chain = 2 * np.eye(40) - np.eye(40, k=1) - np.eye(40, k=-1)
    machine = VAAKELM(variance=chain, threshold=threshold, score="reconstruction")
    expected = by_brute_force(machine, {"C": COSTS}, X, y, ["auroc"], folds).cv_results_
    search = OneClassSearchCV(machine, {"C": COSTS}, scoring="auroc", cv=folds, error_score="raise", refit=False)
    np.testing.assert_allclose(search.fit(X, y).cv_results_["mean_test_score"], expected["mean_test_auroc"], atol=1e-10)
    search.estimator.variance = -chain
    with pytest.raises(ValueError, match="VAAKELM: variance must be symmetric positive semi-definite"):
        search.fit(X, y)


@QUIET
@pytest.mark.parametrize("threshold", ["train", "loo"])
def test_values_of_C_far_apart_are_shared_where_the_kernel_is_far_from_singular(data, threshold, monkeypatch):
    X, y = data
    machine = VAAKELM(sigma=0.5, score="reconstruction", threshold=threshold)
    grid, folds = {"C": [1e-6, 1.0, 1e4], "n_clusters": [1, 3]}, list(OneClassKFold(3).split(X, y))
    expected = by_brute_force(machine, grid, X, y, ["auroc"], folds).cv_results_
    monkeypatch.setattr("oneclass.selection._evaluate._by_refits", None)
    found = OneClassSearchCV(machine, grid, scoring="auroc", cv=folds, refit=False).fit(X, y).cv_results_
    np.testing.assert_allclose(found["mean_test_score"], expected["mean_test_auroc"], atol=1e-10)


def test_a_bad_C_among_good_ones_is_named(data):
    X, y = data
    search = OneClassSearchCV(AAKELM(sigma=0.5), {"C": [1.0, np.inf]}, error_score="raise")
    with pytest.raises(ValueError, match=r"AAKELM: C must be a number in \(0, inf\)"):
        search.fit(X, y)


def test_tables_keep_their_names(data):
    pandas = pytest.importorskip("pandas")
    X, y = data
    frame = pandas.DataFrame(X, columns=list("abc"))
    search = OneClassSearchCV(AAKELM(), {"C": COSTS}).fit(frame, y)
    assert search.feature_names_in_.tolist() == list("abc")
    assert search.predict(frame).shape == (85,)


@QUIET
def test_a_scorer_of_the_users_own_sees_the_fitted_estimator(data):
    X, y = data

    def budget(estimator, X, y):
        return -abs(estimator.delta - 0.2)

    assert OneClassSearchCV(AAKELM(), {"delta": [0.05, 0.2, 0.3]}, scoring=budget).fit(X, y).best_params_ == {
        "delta": 0.2
    }
    assert OneClassSearchCV(AAKELM(), {"C": COSTS}, scoring="accuracy").fit(X, y).best_score_ > 0.5


def test_refit_may_be_a_function_of_the_results_or_off(data):
    X, y = data
    search = OneClassSearchCV(AAKELM(), {"C": COSTS}, refit=lambda results: 1).fit(X, y)
    assert search.best_params_ == {"C": 1}
    off = OneClassSearchCV(AAKELM(), {"C": COSTS}, refit=False).fit(X, y)
    with pytest.raises(NotFittedError):
        off.predict(X)


def test_a_point_that_cannot_be_fitted_does_not_win_and_spares_the_others(data):
    X, y = data
    grid = {"C": [1.0, -1.0], "delta": BUDGETS}
    with pytest.warns(FitFailedWarning, match="could not be fitted with {'C': -1.0"):
        search = OneClassSearchCV(AAKELM(), grid).fit(X, y)
    assert search.best_params_["C"] == 1
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [False, False, True, True]
    with pytest.raises(ValueError, match="AAKELM: C must be a number"):
        OneClassSearchCV(AAKELM(), grid, error_score="raise").fit(X, y)


def test_approximated_machines_can_be_searched(data):
    X, y = data
    search = OneClassSearchCV(AAKELM(approximation=Nystrom(20)), {"C": COSTS, "delta": BUDGETS}).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_search_is_cloned_whole(data):
    X, y = data
    search = OneClassSearchCV(AAKELM(), {"C": COSTS}, scoring="auroc", cv=OneClassKFold(3))
    assert clone(search).fit(X, y).best_score_ == search.fit(X, y).best_score_


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"criterion": "guess"}, "criterion must be one of 'auto', 'labels'.*got 'guess'"),
        ({"scoring": ["f1", "auroc"]}, "refit must name the scorer that decides"),
        ({"scoring": 3}, "scoring must be one of 'f1'"),
    ],
)
def test_errors_name_the_parameter_the_rule_and_the_value(data, params, message):
    with pytest.raises(ValueError, match=message):
        OneClassSearchCV(AAKELM(), {"C": COSTS}, **params).fit(*data)


def test_when_no_point_can_be_fitted_the_error_is_raised(data):
    X, y = data
    with pytest.warns(FitFailedWarning), pytest.raises(ValueError, match="contains NaN"):
        OneClassSearchCV(AAKELM(), {"C": COSTS}).fit(np.where(X > 5, np.nan, X), y)


@pytest.mark.filterwarnings("ignore:.*smallest false-alarm rate", "ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_every_check_of_scikit_learn_passes_but_one():
    search = OneClassSearchCV(AAKELM(), {"C": [1.0, 2.0]}, cv=2, target=1)
    # That check gives complex labels too, and labels are read first.
    checks = check_estimator(search, on_fail=None, on_skip=None)
    assert [c["check_name"] for c in checks if c["status"] == "failed"] == ["check_complex_data"]
