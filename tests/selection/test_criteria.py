import numpy as np
import pytest
from sklearn.neighbors import LocalOutlierFactor
from sklearn.svm import OneClassSVM

from oneclass import AAKELM, OCKELM, VAAKELM, Nystrom
from oneclass.core.likelihood import log_marginal_likelihood
from oneclass.selection import OneClassKFold, OneClassSearchCV, consistency_scores, generate_outliers
from oneclass.selection.outliers import OUTLIERS

COSTS = [0.1, 1.0, 10.0, 1e3, 1e5]


@pytest.fixture(scope="module")
def targets(data):
    X, y = data
    return X[y == 1]


def test_likelihood_is_told_at_any_C(targets):
    search = OneClassSearchCV(AAKELM(kernel="linear"), {"C": [1.0, 1e15]}, criterion="likelihood", refit=False)
    assert np.isfinite(search.fit(targets).cv_results_["mean_test_score"]).all()


def test_the_last_consistent_model_wins_not_the_one_before_or_after():
    n, delta = 100, 0.1  # the bound is 0.1 + 2 * 0.03 = 0.16
    for last in range(5):
        rejected = np.where(np.arange(5) <= last, 0.16, 0.17)
        scores = consistency_scores(rejected, np.full(5, delta), np.arange(5.0), n)
        assert scores.argmax() == last


def test_without_a_consistent_model_the_least_inconsistent_wins():
    scores = consistency_scores(np.array([0.5, 0.3, 0.4]), np.full(3, 0.05), np.array([1.0, 2.0, 3.0]), 100)
    assert scores.argmax() == 1
    assert (scores < 0).all()


def test_consistency_counts_rejected_targets_of_all_folds(targets):
    search = OneClassSearchCV(AAKELM(delta=0.1), {"C": COSTS}, criterion="consistency", cv=4).fit(targets)
    rejected = np.zeros(len(COSTS))
    for train, test in OneClassKFold(4).split(targets):
        for i, C in enumerate(COSTS):
            model = AAKELM(C=C, delta=0.1, threshold="train").fit(targets[train])
            rejected[i] += np.sum(model.predict(targets[test]) == -1)
    within = rejected / 60 <= 0.1 + 2 * np.sqrt(0.1 * 0.9 / 60)
    assert within.any()
    assert not within.all()
    assert search.best_index_ == np.flatnonzero(within).max()
    assert search.best_estimator_.threshold == "held_out"


def test_complexity_is_the_effective_number_of_parameters(targets):
    results = OneClassSearchCV(AAKELM(), {"C": COSTS}, criterion="consistency", cv=3).fit(targets).cv_results_
    assert (np.diff(results["complexity"]) > 0).all()
    assert results["complexity"][-1] <= 40


def test_other_estimators_are_ordered_by_the_grid_or_by_the_user(targets):
    grid = {"gamma": [1e-3, 1e-2, 1e-1, 1.0, 10.0]}
    estimator = OneClassSVM(nu=0.1)
    by_grid = OneClassSearchCV(estimator, grid, criterion="consistency").fit(targets)
    assert by_grid.cv_results_["complexity"].tolist() == [0, 1, 2, 3, 4]
    by_user = OneClassSearchCV(estimator, grid, criterion="consistency", complexity=lambda m: -m.gamma).fit(targets)
    assert by_user.best_params_ == {"gamma": 1e-3}


def test_consistency_needs_a_promise(targets):
    estimator = LocalOutlierFactor(novelty=True)
    with pytest.raises(ValueError, match="LocalOutlierFactor: criterion='consistency' must know the false-alarm rate"):
        OneClassSearchCV(estimator, {"n_neighbors": [5]}, criterion="consistency").fit(targets)


@pytest.mark.parametrize("kind", OUTLIERS)
def test_made_up_outliers_judge_as_real_ones_would(targets, kind):
    search = OneClassSearchCV(AAKELM(), {"C": COSTS}, criterion=kind, cv=2, n_outliers=30, scoring="auroc").fit(targets)
    assert search.criterion_ == kind
    assert 0.5 < search.best_score_ <= 1
    assert search.fit(targets).best_score_ == search.best_score_


def test_auto_takes_labels_when_there_are_any(data, targets):
    grid = {"C": COSTS}
    assert OneClassSearchCV(AAKELM(), grid).fit(*data).criterion_ == "labels"
    assert OneClassSearchCV(AAKELM(), grid).fit(targets).criterion_ == "likelihood"
    assert OneClassSearchCV(OneClassSVM(), {"nu": [0.1]}).fit(targets).criterion_ == "histogram"
    with pytest.raises(ValueError, match="criterion='labels' needs outliers in y"):
        OneClassSearchCV(AAKELM(), grid, criterion="labels").fit(targets)


@pytest.mark.parametrize("machine", [OCKELM(), AAKELM()], ids=["OCKELM", "AAKELM"])
def test_likelihood_is_that_of_the_rows_rebuilt_from_themselves(targets, machine):
    search = OneClassSearchCV(machine, {"C": COSTS, "sigma": [0.5, 2.0]}, criterion="likelihood").fit(targets)
    model = search.best_estimator_
    Z = model.model_.rows
    K = model.kernel_(Z, Z)
    expected = log_marginal_likelihood(K, Z, np.ones(60), C=model.C_, lam=1.0) / Z.size
    assert search.best_score_ == pytest.approx(expected)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()


def test_likelihood_under_a_matrix_as_variance_is_the_same_for_a_table(targets):
    pandas = pytest.importorskip("pandas")
    search = OneClassSearchCV(VAAKELM(variance=np.eye(60)), {"C": COSTS}, criterion="likelihood")
    expected = search.fit(targets).cv_results_["mean_test_score"]
    found = search.fit(pandas.DataFrame(targets, columns=list("abc"))).cv_results_["mean_test_score"]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("machine", [AAKELM(), AAKELM(C="likelihood")], ids=str)
def test_a_C_that_likelihood_chooses_is_judged_by_likelihood_too(targets, machine):
    chosen = AAKELM(C="likelihood").fit(targets).C_
    grid = [{"C": [1.0, "likelihood", chosen, AAKELM().C]}, {"delta": [0.1]}]
    search = OneClassSearchCV(machine, grid, criterion="likelihood").fit(targets)
    scores = search.cv_results_["mean_test_score"]
    assert scores[1] == pytest.approx(scores[2])
    assert scores[0] < scores[1]
    assert scores[4] == pytest.approx(scores[1] if machine.C == "likelihood" else scores[3])
    assert search.cv_results_["params"][1] == {"C": "likelihood"}


@pytest.mark.parametrize(
    ("machine", "criterion", "numerics"),
    [
        (AAKELM(), "auto", "one decomposition"),
        (AAKELM(), "consistency", "one decomposition"),
        (AAKELM(approximation=Nystrom(10)), "auto", "one set of moments"),
        (OneClassSVM(), "auto", "fits"),
    ],
)
def test_every_criterion_says_how_scores_were_worked_out_and_in_what_time(targets, machine, criterion, numerics):
    search = OneClassSearchCV(machine, {"kernel": ["rbf", "linear"]}, criterion=criterion, scoring="auroc", cv=2)
    results = search.fit(targets).cv_results_
    assert results["numerics"].tolist() == [numerics] * 2
    assert (results["mean_fit_time"] > 0).all()


def test_every_point_must_have_a_likelihood(targets):
    grid = {"approximation": [None, Nystrom(10)], "C": COSTS}
    with pytest.raises(ValueError, match=r"criterion='likelihood' needs a kernel machine that fits exactly"):
        OneClassSearchCV(AAKELM(), grid, criterion="likelihood").fit(targets)
    assert OneClassSearchCV(AAKELM(), grid, cv=2).fit(targets).criterion_ == "histogram"
    exact = OneClassSearchCV(AAKELM(approximation=Nystrom(10)), {"approximation": [None], "C": COSTS}).fit(targets)
    assert exact.criterion_ == "likelihood"


def test_likelihood_is_for_kernel_machines(targets):
    with pytest.raises(ValueError, match=r"criterion='likelihood' needs a kernel machine.*got OneClassSVM"):
        OneClassSearchCV(OneClassSVM(), {"nu": [0.1]}, criterion="likelihood").fit(targets)


@pytest.mark.parametrize("kind", OUTLIERS)
def test_outliers_surround_the_targets(targets, kind):
    made = generate_outliers(targets, 2000, kind=kind)
    assert made.shape == (2000, 3)
    assert (made.max(axis=0) > targets.max(axis=0) - 0.2 * np.ptp(targets, axis=0)).all()
    np.testing.assert_array_equal(made, generate_outliers(targets, 2000, kind=kind))


def test_ball_holds_every_target_and_no_more_than_a_little(targets):
    made = generate_outliers(targets, 5000, kind="ball")
    precision = np.linalg.inv(np.cov(targets.T))

    def radius(rows):
        gap = rows - targets.mean(axis=0)
        return np.sqrt(np.einsum("ij,jk,ik->i", gap, precision, gap))

    assert radius(targets).max() < radius(made).max() <= 1.1 * radius(targets).max() * (1 + 1e-9)
    # Uniform in three dimensions: an eighth of the rows within half the radius.
    assert np.mean(radius(made) < 0.55 * radius(targets).max()) == pytest.approx(1 / 8, abs=0.02)


@pytest.mark.parametrize("kind", OUTLIERS)
def test_constant_features_do_not_break_outliers(kind):
    X = np.concatenate([np.random.default_rng(0).normal(size=(20, 2)), np.ones((20, 1))], axis=1)
    assert np.isfinite(generate_outliers(X, 10, kind=kind)).all()


def test_outlier_errors_name_the_value(targets):
    with pytest.raises(ValueError, match=r"kind must be one of 'ball'.*got 'cube'"):
        generate_outliers(targets, 3, kind="cube")
    with pytest.raises(ValueError, match="criterion='box' needs rows"):
        OneClassSearchCV(VAAKELM(kernel="precomputed"), {"C": [1.0]}, criterion="box").fit(targets @ targets.T)
