import numpy as np
import polars as pl
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

from oneclass import AAKELM, OCKELM, VAAKELM, VOCKELM, FewRowsWarning, KNNDetector, Nystrom, UnreachableRateWarning
from oneclass.selection import SCORERS, OneClassKFold, OneClassSearchCV, Scorer
from oneclass.selection._approximate_path import ApproximatePath
from oneclass.selection._decomposition import TrainingData
from oneclass.selection._exact_path import ExactPath
from oneclass.selection._families import families

COSTS, BUDGETS = [0.125, 1, 32.0], [0.05, 0.2]
GRIDS = {
    "OCKELM": (OCKELM(), {"C": COSTS, "delta": BUDGETS, "r": [1.0, -2.0], "sigma": ["mean", "median"]}),
    "VOCKELM": (
        VOCKELM(lam=2.0),
        {"C": COSTS, "delta": BUDGETS, "threshold": ["held_out", "train", "authors", "mean"]},
    ),
    "AAKELM": (
        AAKELM(),
        {"C": COSTS, "delta": BUDGETS, "loss": ["reconstruction", "uncertainty", "predictive", "either"]},
    ),
    "VAAKELM": (VAAKELM(), {"C": COSTS, "delta": BUDGETS, "n_clusters": [1, 2, 4], "threshold": ["held_out", "train"]}),
    "class": (VAAKELM(variance="class", lam=0.03), {"C": COSTS, "delta": BUDGETS}),
    "global": (VAAKELM(), {"C": COSTS, "centering": ["own", "global"], "lam": [1.0, 0.1]}),
    "kernels": (
        VAAKELM(),
        {"C": COSTS, "kernel": ["rbf", "laplacian", "linear"], "scale": ["robust", "zscore", False]},
    ),
    "automatic": (VAAKELM(), {"C": [1.0, "likelihood"], "sigma": ["likelihood", 2.0]}),
    "several grids": (AAKELM(), [{"C": COSTS}, {"delta": BUDGETS, "sigma": [0.5]}]),
    "grids apart": (VAAKELM(C=2.0), [{"C": COSTS}, {"delta": BUDGETS}, {"n_clusters": [1, 2]}]),
    "heavy variance": (VAAKELM(), {"C": COSTS, "n_clusters": [1, 3], "lam": [1e-3, 1e-8]}),
    "neighbors": (KNNDetector(), {"n_neighbors": [2, 4], "delta": BUDGETS}),
    "scikit-learn": (OneClassSVM(), {"nu": [0.05, 0.2], "gamma": [0.1, 1.0]}),
    "pipeline": (make_pipeline(StandardScaler(), AAKELM()), {"aakelm__C": COSTS, "aakelm__delta": BUDGETS}),
}
QUIET = pytest.mark.filterwarnings("ignore::oneclass.UnreachableRateWarning")


def by_brute_force(estimator, grid, X, y, scoring, folds):
    scorers = {name: SCORERS[name] for name in scoring}
    return GridSearchCV(estimator, grid, scoring=scorers, cv=folds, refit=False, error_score="raise").fit(X, y)


@pytest.mark.parametrize("invertible", [True, False])
@pytest.mark.parametrize("case", GRIDS)
def test_a_search_has_the_results_of_grid_search(case, data, invertible, monkeypatch):
    X, y = data
    if not invertible:  # as for kernel matrices close to singular
        monkeypatch.setattr(TrainingData, "inverse", None)
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


def test_the_best_estimator_is_the_best_candidate_fitted_to_all_targets(data):
    X, y = data
    search = OneClassSearchCV(VAAKELM(), {"C": COSTS, "delta": BUDGETS}).fit(X, y)
    model = VAAKELM(**search.best_params_).fit(X[y == 1])
    for verb in (
        "predict",
        "decision_function",
        "score_samples",
        "p_value",
        "label_batch",
        "explain",
        "reconstruct",
    ):
        np.testing.assert_array_equal(getattr(search, verb)(X), getattr(model, verb)(X))
    np.testing.assert_array_equal(search.predict(X, delta=0.3), model.predict(X, delta=0.3))
    assert search.offset_ == model.offset_
    assert search.n_features_in_ == 3
    assert search.score(X, y) == SCORERS["f1"](model, X, y)
    np.testing.assert_array_equal(clone(search).fit_predict(X, y), model.predict(X))
    assert not hasattr(OneClassSearchCV(KNNDetector(), {}), "reconstruct")


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


def test_every_candidate_has_a_copy_of_the_random_state_as_clones_have(data):
    X, y = data
    machine = AAKELM(approximation=Nystrom(5), random_state=np.random.RandomState(3))
    folds = list(OneClassKFold(3).split(X, y))
    expected = by_brute_force(machine, {"C": COSTS}, X, y, ["auroc"], folds).cv_results_["mean_test_auroc"]
    search = OneClassSearchCV(machine, {"C": COSTS}, scoring="auroc", cv=folds).fit(X, y)
    assert set(search.cv_results_["numerics"]) == {ApproximatePath.numerics}
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected, atol=1e-10)


@pytest.mark.parametrize("scoring", ["f1", lambda model, X, y: 0.0], ids=["path", "fits"])
def test_warnings_about_few_rows_come_from_the_last_fit_alone(scoring):
    rng = np.random.default_rng(0)
    X, y = np.concatenate([rng.normal(size=(28, 30)), rng.normal(size=(10, 30)) + 3]), np.repeat([1, -1], [28, 10])
    with pytest.warns(FewRowsWarning, match="28 rows .* of 30 columns") as seen:
        OneClassSearchCV(AAKELM(delta=0.2), {"C": COSTS}, scoring=scoring, cv=3).fit(X, y)
    assert len(seen) == 1
    with pytest.warns(UnreachableRateWarning, match=r"delta=0.02 is below 1/\(n\+1\)=0.0345") as seen:
        OneClassSearchCV(AAKELM(delta=0.02), {"C": COSTS}, scoring=scoring, cv=3).fit(X, y)
    assert len(seen) == 1


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
    expected = OneClassSearchCV(OCKELM(kernel="rbf", sigma=5**0.5, scale=False), grid, cv=folds, scoring="auroc").fit(
        X, y
    )
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(search.predict(K[:, y == 1]), expected.predict(X))


def test_rows_in_single_precision_score_as_fits_in_single_precision(data):
    X, y = data[0].astype(np.float32), data[1]
    grid = {"C": [0.1, 3.3], "delta": BUDGETS, "n_clusters": [1, 4]}
    folds = list(OneClassKFold(3).split(X, y))
    expected = by_brute_force(VAAKELM(), grid, X, y, ["auroc"], folds).cv_results_["mean_test_auroc"]
    search = OneClassSearchCV(VAAKELM(), grid, scoring="auroc", cv=folds).fit(X, y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected, atol=0.01)


@QUIET
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values_of_C_of_different_magnitude_score_as_fits(data, dtype, kernel):
    X, y = data
    X = X.astype(dtype)
    machine = AAKELM(kernel=kernel, loss="reconstruction", threshold="train", sigma="mean")
    grid, folds = {"C": [1e-6, 1.0, 1e3]}, list(OneClassKFold(3).split(X, y))
    expected = by_brute_force(machine, grid, X.astype(np.float64), y, ["auroc"], folds).cv_results_
    found = OneClassSearchCV(machine, grid, scoring="auroc", cv=folds).fit(X, y).cv_results_
    np.testing.assert_allclose(found["mean_test_score"], expected["mean_test_auroc"], atol=1e-3)


@QUIET
def test_every_candidate_is_fitted_if_a_decomposition_would_lose_digits(data, monkeypatch):
    X, y = data
    fits = []
    monkeypatch.setattr(AAKELM, "fit", lambda self, X, _fit=AAKELM.fit: fits.append(self.C) or _fit(self, X))
    options = {"scoring": "auroc", "cv": OneClassKFold(3), "refit": False}
    singular = AAKELM(kernel="linear")
    OneClassSearchCV(singular, {"C": [1.0, 32.0]}, **options).fit(X, y)
    assert fits == []
    OneClassSearchCV(singular, {"C": [1.0, 1e12]}, **options).fit(X, y)
    assert sorted(fits) == [1.0] * 3 + [1e12] * 3


@pytest.mark.parametrize("threshold", ["train", "held_out"])
def test_a_matrix_as_variance_scores_as_fits(data, threshold):
    X, y = data
    folds = list(OneClassKFold(3).split(X, y))  # of 40 targets to train on
    chain = 2 * np.eye(40) - np.eye(40, k=1) - np.eye(40, k=-1)
    machine = VAAKELM(variance=chain, threshold=threshold, loss="reconstruction")
    expected = by_brute_force(machine, {"C": COSTS}, X, y, ["auroc"], folds).cv_results_
    search = OneClassSearchCV(machine, {"C": COSTS}, scoring="auroc", cv=folds, error_score="raise", refit=False)
    np.testing.assert_allclose(search.fit(X, y).cv_results_["mean_test_score"], expected["mean_test_auroc"], atol=1e-10)
    search.estimator.variance = -chain
    with pytest.raises(ValueError, match="VAAKELM: variance must be symmetric positive semi-definite"):
        search.fit(X, y)


@QUIET
@pytest.mark.parametrize("threshold", ["train", "held_out"])
def test_values_of_C_of_different_magnitude_share_a_decomposition_if_the_kernel_is_far_from_singular(
    data, threshold, monkeypatch
):
    X, y = data
    machine = VAAKELM(sigma=0.5, loss="reconstruction", threshold=threshold)
    grid, folds = {"C": [1e-6, 1.0, 1e4], "n_clusters": [1, 3]}, list(OneClassKFold(3).split(X, y))
    expected = by_brute_force(machine, grid, X, y, ["auroc"], folds).cv_results_
    monkeypatch.setattr("oneclass.selection._evaluate._by_fits", None)
    found = OneClassSearchCV(machine, grid, scoring="auroc", cv=folds, refit=False).fit(X, y).cv_results_
    np.testing.assert_allclose(found["mean_test_score"], expected["mean_test_auroc"], atol=1e-10)


@pytest.mark.parametrize(("kind", "approximation"), [(ExactPath, None), (ApproximatePath, Nystrom(20))])
def test_the_decisions_of_a_path_do_not_depend_on_the_order_of_candidates(data, kind, approximation):
    X, y = data
    machine = VAAKELM(approximation=approximation, loss="reconstruction")
    # Successive candidates have different variances.
    grid = [
        {"n_clusters": k, "C": C, "threshold": rule} for rule in ("train", "held_out") for C in COSTS for k in (1, 2, 4)
    ]
    ((family,), others) = families(machine, grid, X[y == 1])
    assert others == []
    path = kind.of(family, X[y == 1], X)
    found = {i: path.decisions(candidate).values for i, candidate in family.candidates.items()}
    for i, candidate in family.candidates.items():
        alone = kind.of(family, X[y == 1], X)
        np.testing.assert_array_equal(found[i], alone.decisions(candidate).values)


def test_the_error_names_a_bad_C_among_good_ones(data):
    X, y = data
    search = OneClassSearchCV(AAKELM(sigma=0.5), {"C": [1.0, np.inf]}, error_score="raise")
    with pytest.raises(ValueError, match=r"AAKELM: C must be a number in \(0, inf\)"):
        search.fit(X, y)


def test_a_search_knows_the_column_names_of_a_data_frame(data):
    pandas = pytest.importorskip("pandas")
    X, y = data
    frame = pandas.DataFrame(X, columns=list("abc"))
    search = OneClassSearchCV(AAKELM(), {"C": COSTS}).fit(frame, y)
    assert search.feature_names_in_.tolist() == list("abc")
    assert search.predict(frame).shape == (85,)


@QUIET
def test_a_users_scorer_gets_the_fitted_estimator(data):
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


@pytest.mark.parametrize("chosen", [{"refit": lambda results: 2}, {"criterion": "likelihood"}])
def test_score_raises_an_error_if_none_of_several_scorers_decides(data, chosen):
    X, y = data
    search = OneClassSearchCV(AAKELM(), {"C": COSTS}, scoring=["f1", "auroc"], **chosen).fit(X, y)
    model = AAKELM(**search.best_params_).fit(X[y == 1])
    np.testing.assert_array_equal(search.predict(X), model.predict(X))
    with pytest.raises(ValueError, match=r"score needs a scorer that decides, .* names none of \('f1', "):
        search.score(X, y)
    assert search.scorer_["auroc"](search, X, y) == SCORERS["auroc"](model, X, y)


@pytest.mark.parametrize("index", [3, -1, 1.0, None])
def test_a_refit_function_that_returns_no_index_is_refused(data, index):
    with pytest.raises(ValueError, match=rf"refit must return the number of a candidate, from 0 to 2; got {index}"):
        OneClassSearchCV(AAKELM(), {"C": COSTS}, refit=lambda results: index).fit(*data)


def test_among_several_scorers_without_refit_none_decides(data):
    search = OneClassSearchCV(AAKELM(), {"C": COSTS}, scoring=["f1", "auroc"], refit=False).fit(*data)
    assert not [name for name in vars(search) if name.startswith("best_")]


def test_a_fit_removes_all_attributes_of_the_last_fit(data):
    X, y = data
    search = OneClassSearchCV(AAKELM(), {"C": COSTS}).fit(X, y)
    search.set_params(refit=lambda results: 1, criterion="likelihood").fit(X)
    fresh = clone(search).fit(X)
    assert set(vars(search)) == set(vars(fresh))
    search.set_params(refit=False).fit(X, y)
    assert not hasattr(search, "best_estimator_")
    assert not hasattr(search, "refit_time_")
    assert not hasattr(search, "n_features_in_")


@pytest.mark.parametrize("broken", [{"scoring": "auroc", "refit": "f1"}, {"cv": 1000}, {"estimator": AAKELM(sigma=-1)}])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_a_fit_that_fails_leaves_the_last_fit_unchanged(data, broken):
    X, y = data
    search = OneClassSearchCV(AAKELM(), {"C": COSTS}).fit(X, y)
    before = {name: value for name, value in vars(search).items() if name.endswith("_")}
    with pytest.raises(ValueError):
        search.set_params(**broken).fit(X[:, :2], y)
    assert {name: value for name, value in vars(search).items() if name.endswith("_")} == before
    assert search.predict(X).shape == (85,)


def test_estimators_in_a_grid_are_not_fitted(data):
    X, y = data
    scaler = StandardScaler()
    grid = {"standardscaler": [scaler, "passthrough"]}
    search = OneClassSearchCV(make_pipeline(StandardScaler(), AAKELM()), grid).fit(X, y)
    assert not hasattr(scaler, "mean_")
    assert search.predict(X).shape == (85,)


@pytest.mark.parametrize(("cv", "same"), [(np.int64(3), 3), (np.uint8(2), 2), (None, 5)])
def test_any_whole_number_is_a_number_of_folds(data, cv, same):
    found = OneClassSearchCV(AAKELM(), {"C": COSTS}, cv=cv).fit(*data).cv_results_["mean_test_score"]
    expected = OneClassSearchCV(AAKELM(), {"C": COSTS}, cv=OneClassKFold(same)).fit(*data).cv_results_
    np.testing.assert_array_equal(found, expected["mean_test_score"])


@pytest.mark.parametrize("cv", [True, np.True_, "5", 2.5])
def test_other_values_of_cv_are_refused(data, cv):
    with pytest.raises(ValueError, match="cv must be a whole number, a splitter or pairs of row numbers; got"):
        OneClassSearchCV(AAKELM(), {"C": COSTS}, cv=cv).fit(*data)


@pytest.mark.parametrize(
    ("approximation", "criterion"), [("auto", "labels"), ("auto", "likelihood"), (Nystrom(20), "labels")]
)
def test_rows_may_be_lists(data, approximation, criterion):
    X, y = data
    machine = AAKELM(approximation=approximation)
    search = OneClassSearchCV(machine, {"C": COSTS}, criterion=criterion, scoring="auroc", cv=3)
    expected = search.fit(X, y).cv_results_["mean_test_score"]
    found = search.fit(X.tolist(), y.tolist())
    np.testing.assert_array_equal(found.cv_results_["mean_test_score"], expected)


def with_three_outliers(X, y):
    """All targets and the three outliers nearest to them."""
    outside = np.flatnonzero(y == -1)
    nearest = outside[np.argsort(-AAKELM().fit(X[y == 1]).score_samples(X[outside]))[:3]]
    rows = np.concatenate([np.flatnonzero(y == 1), nearest])
    return X[rows], y[rows]


@pytest.mark.filterwarnings("ignore:OneClassSearchCV. 3 outliers compare")
@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
def test_a_score_that_needs_outliers_is_the_mean_over_the_folds_that_have_some(data):
    X, y = with_three_outliers(*data)
    folds = list(OneClassKFold(5).split(X, y))
    expected = by_brute_force(AAKELM(), {"C": COSTS}, X, y, ["f1", "auroc"], folds).cv_results_
    search = OneClassSearchCV(AAKELM(), {"C": COSTS}, scoring=["f1", "auroc"], refit="auroc")
    with pytest.warns(FewRowsWarning, match=r"2 of 5 folds hold no outlier.*no auroc.*fewer folds \(cv=\)"):
        search.fit(X, y)
    by_fold = np.array([expected[f"split{k}_test_auroc"] for k in range(5)])
    assert np.isnan(by_fold).any(axis=1).sum() == 2
    np.testing.assert_allclose(search.cv_results_["mean_test_auroc"], np.nanmean(by_fold, axis=0), atol=1e-12)
    np.testing.assert_allclose(search.cv_results_["std_test_auroc"], np.nanstd(by_fold, axis=0), atol=1e-12)
    np.testing.assert_allclose(search.cv_results_["mean_test_f1"], expected["mean_test_f1"], atol=1e-12)
    assert search.best_score_ == np.max(search.cv_results_["mean_test_auroc"]) < 1


@pytest.mark.filterwarnings("ignore:OneClassSearchCV. 3 outliers compare")
def test_a_candidate_that_fails_is_not_the_best_if_folds_lack_outliers(data):
    search = OneClassSearchCV(AAKELM(), {"C": [-1.0, 1.0]}, scoring="auroc", error_score=0.25)
    with pytest.warns(FewRowsWarning, match="2 of 5 folds hold no outlier"), pytest.warns(FitFailedWarning):
        search.fit(*with_three_outliers(*data))
    assert search.cv_results_["mean_test_score"][0] == 0.25
    assert search.cv_results_["numerics"].tolist() == ["none", ExactPath.numerics]
    assert search.best_params_ == {"C": 1.0}


@QUIET
@pytest.mark.parametrize("scoring", ["auroc", lambda estimator, X, y: np.nan])
def test_an_error_is_raised_if_no_candidate_has_a_score(data, scoring):
    X, y = data
    inside = np.flatnonzero(y == 1)
    folds = [(inside[:40], inside[40:]), (inside[20:], inside[:20])]
    with pytest.raises(ValueError, match=r"no candidate has a score.*NaN for all 3"):
        OneClassSearchCV(AAKELM(), {"C": COSTS}, scoring=scoring, cv=folds).fit(X, y)


def test_folds_must_have_targets_on_both_sides(data):
    X, y = data
    inside, outside = np.flatnonzero(y == 1), np.flatnonzero(y == -1)
    for folds in ([(inside, outside)], [(outside, inside)]):
        with pytest.raises(ValueError, match="every fold of cv must have targets on both sides, but fold 0 trains on"):
            OneClassSearchCV(AAKELM(), {"C": COSTS}, cv=folds).fit(X, y)


def test_a_warning_is_raised_if_targets_are_fewer_than_outliers_unless_target_names_them(data):
    X, y = data
    grid = {"C": COSTS}
    with pytest.warns(
        UserWarning, match=r"25 of 85 rows are labelled as targets.*label of the target class with target="
    ):
        OneClassSearchCV(AAKELM(), grid).fit(X, -y)
    OneClassSearchCV(AAKELM(), grid, target=1).fit(X, -y)


def test_a_candidate_that_cannot_be_fitted_has_no_score_and_the_others_do(data):
    X, y = data
    grid = {"C": [1.0, -1.0], "delta": BUDGETS}
    with pytest.warns(FitFailedWarning, match="AAKELM could not be fitted with {'C': -1.0.* on 5 of 5 folds") as seen:
        search = OneClassSearchCV(AAKELM(), grid).fit(X, y)
    assert [each.filename for each in seen] == 2 * [__file__]
    assert search.best_params_["C"] == 1
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [False, False, True, True]
    with pytest.raises(ValueError, match="AAKELM: C must be a number"):
        OneClassSearchCV(AAKELM(), grid, error_score="raise").fit(X, y)


@pytest.mark.parametrize("approximation", [None, Nystrom(20)])
def test_a_kernel_that_fails_is_called_once_a_fold_and_other_kernels_have_scores(data, approximation):
    asked = []

    def fails(A, B):
        raise asked.append(len(A)) or ValueError("no such rows")

    machine, grid = AAKELM(approximation=approximation), {"C": COSTS, "kernel": [fails, np.inner]}
    with pytest.warns(FitFailedWarning, match="on 3 of 3 folds: no such rows"):
        found = OneClassSearchCV(machine, grid, cv=3, refit=False, error_score=-1.0).fit(*data).cv_results_
    alone = OneClassSearchCV(machine, grid | {"kernel": [np.inner]}, cv=3, refit=False).fit(*data).cv_results_
    np.testing.assert_array_equal(found["mean_test_score"].reshape(-1, 2)[:, 0], -1.0)
    np.testing.assert_array_equal(found["mean_test_score"].reshape(-1, 2)[:, 1], alone["mean_test_score"])
    assert asked == [40, 40, 40]


@pytest.mark.parametrize("step", ["_families.recipe_of", "_families.decision_of", "_evaluate.read_training_rows"])
@pytest.mark.parametrize("kind", [ValueError, TypeError])
def test_internal_errors_are_raised(data, step, kind, monkeypatch):
    def broken(*given):
        raise kind("broken")

    monkeypatch.setattr(f"oneclass.selection.{step}", broken)
    with pytest.raises(kind, match="broken"):
        OneClassSearchCV(AAKELM(), {"C": COSTS}, error_score="raise").fit(*data)


@QUIET
@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.FitFailedWarning", "ignore:Scoring failed", "ignore:One or more"
)
@pytest.mark.parametrize("depends_on", ["signs", "decisions"])
def test_a_scorer_that_fails_for_some_candidates_has_scores_for_the_others(data, depends_on):
    def strict(targets, decisions):
        rejected = float(np.mean(decisions[targets] < 0))
        if rejected > 0.3:
            raise ValueError("too many are rejected")
        return -rejected

    grid, scorer = {"C": COSTS, "delta": [0.05, 0.5]}, Scorer("strict", strict, depends_on=depends_on)
    folds = list(OneClassKFold(3).split(*data))
    expected = GridSearchCV(AAKELM(), grid, scoring=scorer, cv=folds, refit=False).fit(*data).cv_results_
    found = OneClassSearchCV(AAKELM(), grid, scoring=scorer, cv=folds, refit=False).fit(*data).cv_results_
    assert 0 < np.isnan(expected["mean_test_score"]).sum() < 6
    np.testing.assert_array_equal(found["mean_test_score"], expected["mean_test_score"])


def test_approximated_machines_can_be_searched(data):
    X, y = data
    search = OneClassSearchCV(AAKELM(approximation=Nystrom(20)), {"C": COSTS, "delta": BUDGETS}).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_a_clone_of_a_search_has_the_same_result(data):
    X, y = data
    search = OneClassSearchCV(AAKELM(), {"C": COSTS}, scoring="auroc", cv=OneClassKFold(3))
    assert clone(search).fit(X, y).best_score_ == search.fit(X, y).best_score_


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"criterion": "guess"}, "criterion must be one of 'labels', 'likelihood'; got 'guess'"),
        ({"scoring": ["f1", "auroc"]}, "refit must name the scorer that decides"),
        ({"scoring": 3}, "scoring must be one of 'f1'"),
        ({"scoring": "aucroc"}, "scoring must be one of 'f1'.*'auroc'.*got 'aucroc'"),
        ({"scoring": []}, r"scoring must hold at least one scorer, got \[\]"),
        ({"param_grid": []}, r"param_grid must hold at least one candidate, got \[\]"),
        ({"cv": iter([])}, "cv must give at least one fold, got none"),
    ],
)
def test_errors_name_the_parameter_the_rule_and_the_value(data, params, message):
    with pytest.raises(ValueError, match=message):
        OneClassSearchCV(**{"estimator": AAKELM(), "param_grid": {"C": COSTS}} | params).fit(*data)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.parametrize("criterion", ["labels", "likelihood"])
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda X: pl.DataFrame(X).lazy(), "OneClassSearchCV: X must hold rows, got a LazyFrame.*pass X.collect"),
        (lambda X: [{"a": 1.0}] * 30, "OneClassSearchCV: X must be an array or a data frame, got dicts"),
        (lambda X: np.ma.masked_array(X, X > 2), "OneClassSearchCV: X must hold a number in every cell.*masked"),
        (lambda X: pl.DataFrame({"a": ["x", "y"] * 15}), "X must hold a number in every cell, but column 'a' holds no"),
        (lambda X: X.astype("M8[D]"), "X must hold a number in every cell, but column 0 holds dates"),
        (lambda X: X * 1e300, "X must hold values whose squares are numbers, but column 0 runs from"),
    ],
    ids=["lazy", "dicts", "masked", "text", "dates", "huge"],
)
def test_input_that_is_no_table_of_numbers_is_refused_with_the_reason(data, criterion, spoil, message):
    search = OneClassSearchCV(AAKELM(scale="zscore"), {"delta": [0.1, 0.2]}, criterion=criterion, cv=2)
    X = spoil(data[0][:30])
    with pytest.raises((TypeError, ValueError), match=message):
        search.fit(X, np.repeat([1, -1], [20, 10]))


def test_a_refit_that_names_no_scorer_is_refused_before_anything_is_fitted(data, monkeypatch):
    monkeypatch.setattr("oneclass.selection._evaluate._by_path", None)
    with pytest.raises(ValueError, match="refit must name the scorer that decides"):
        OneClassSearchCV(AAKELM(), {"C": COSTS}, scoring=["f1", "auroc"], refit="gmean").fit(*data)


def test_the_error_is_raised_if_no_candidate_can_be_fitted(data):
    X, y = data
    with pytest.warns(FitFailedWarning), pytest.raises(ValueError, match="contains NaN"):
        OneClassSearchCV(AAKELM(), {"C": COSTS}).fit(np.where(X > 5, np.nan, X), y)


@pytest.mark.filterwarnings("ignore::oneclass.UnreachableRateWarning", "ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_every_check_of_scikit_learn_passes():
    check_estimator(OneClassSearchCV(AAKELM(), {"C": [1.0, 2.0]}, criterion="likelihood", target=1), on_skip=None)
