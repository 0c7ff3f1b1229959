"""Searches with groups of rows: folds of whole groups, and groups for every fit."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.ensemble import IsolationForest
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from oneclass import AAKELM, OCKELM, VAAKELM, VOCKELM, DependentRowsWarning, KNNDetector, Nystrom
from oneclass.selection import SCORERS, OneClassGroupKFold, OneClassKFold, OneClassSearchCV

COSTS, BUDGETS = [0.125, 1, 32.0], [0.1, 0.3]
LOSSES = ["reconstruction", "uncertainty", "predictive", "either"]
GRIDS = {
    "OCKELM": (OCKELM(), {"C": COSTS, "delta": BUDGETS}, "one decomposition"),
    "VOCKELM": (VOCKELM(), {"C": COSTS, "threshold": ["held_out", "train", "mean"]}, "one decomposition"),
    "AAKELM": (AAKELM(), {"C": COSTS, "loss": LOSSES}, "one decomposition"),
    "VAAKELM": (VAAKELM(), {"C": COSTS, "delta": BUDGETS, "n_clusters": [1, 3]}, "one decomposition"),
    "global": (VAAKELM(lam=0.1), {"C": COSTS, "centering": ["own", "global"]}, "one decomposition"),
    "landmarks": (
        VAAKELM(approximation=Nystrom(15)),
        {"C": COSTS, "loss": LOSSES, "threshold": ["held_out", "train"]},
        "one set of moments",
    ),
    "neighbors": (KNNDetector(), {"n_neighbors": [2, 4], "delta": BUDGETS}, "fits"),
    "pipeline": (make_pipeline(StandardScaler(), AAKELM()), {"aakelm__C": COSTS}, "fits"),
}


@pytest.fixture(scope="module")
def visits():
    """Rows, labels and persons: 22 persons with one to five visits each, and outliers of their own."""
    rng = np.random.default_rng(0)
    owner = np.repeat(np.arange(22), rng.integers(1, 6, 22))
    X = rng.normal(size=(22, 3))[owner] + 0.3 * rng.normal(size=(len(owner), 3))
    order = rng.permutation(len(owner) + 15)
    X = np.concatenate([X, rng.uniform(-4, 4, size=(15, 3))])[order]
    y = np.repeat([1, -1], [len(owner), 15])[order]
    return X, y, np.concatenate([owner, np.arange(100, 115)])[order]


def fit_parameters(estimator, groups):
    return {"aakelm__groups": groups} if hasattr(estimator, "steps") else {"groups": groups}


@pytest.mark.filterwarnings("ignore::oneclass.UnreachableRateWarning")
@pytest.mark.parametrize("case", GRIDS)
def test_every_candidate_scores_as_fits_with_groups_on_folds_of_whole_groups(visits, case):
    X, y, persons = visits
    estimator, grid, numerics = GRIDS[case]
    search = OneClassSearchCV(estimator, grid, scoring=["f1", "auroc"], refit="f1", cv=3).fit(X, y, groups=persons)
    assert set(search.cv_results_["numerics"]) == {numerics}
    for k, (train, test) in enumerate(OneClassGroupKFold(3).split(X, y, persons)):
        for i, params in enumerate(search.cv_results_["params"]):
            model = clone(estimator).set_params(**params)
            model.fit(X[train], **fit_parameters(estimator, persons[train]))
            for name in ("f1", "auroc"):
                expected = SCORERS[name](model, X[test], y[test])
                assert search.cv_results_[f"split{k}_test_{name}"][i] == pytest.approx(expected, abs=1e-10), params
    best = (
        clone(estimator).set_params(**search.best_params_).fit(X[y == 1], **fit_parameters(estimator, persons[y == 1]))
    )
    fresh = 3 * np.random.default_rng(1).normal(size=(50, 3))
    np.testing.assert_allclose(search.decision_function(fresh), best.decision_function(fresh), rtol=1e-12)


def test_groups_raise_the_threshold_of_the_best_candidate(visits):
    X, y, persons = visits
    search = OneClassSearchCV(AAKELM(sigma=1.0), {"C": [1.0]}, cv=3)
    assert search.fit(X, y, groups=persons).offset_ < 1.02 * search.fit(X, y).offset_


def test_groups_of_one_row_give_the_scores_of_rows_without_groups(visits):
    X, y, _ = visits
    folds = list(OneClassKFold(3).split(X, y))
    for search in (OneClassSearchCV(AAKELM(), {"C": COSTS}, cv=folds), OneClassSearchCV(KNNDetector(), {}, cv=folds)):
        plain = search.fit(X, y).cv_results_["mean_test_score"]
        np.testing.assert_array_equal(search.fit(X, y, groups=np.arange(len(y))).cv_results_["mean_test_score"], plain)


def test_the_best_candidate_by_likelihood_is_fitted_with_groups(visits):
    X, _, persons = (of[visits[1] == 1] for of in visits)
    search = OneClassSearchCV(AAKELM(delta=0.1), {"C": COSTS}, criterion="likelihood").fit(X, groups=persons)
    assert search.offset_ == AAKELM(delta=0.1, **search.best_params_).fit(X, groups=persons).offset_


def test_a_splitter_that_divides_groups_raises_a_warning(visits):
    X, y, persons = visits
    with pytest.warns(DependentRowsWarning, match="OneClassSearchCV: cv=OneClassKFold.*OneClassGroupKFold"):
        OneClassSearchCV(KNNDetector(delta=0.1), {}, cv=OneClassKFold(3)).fit(X, y, groups=persons)


def test_estimators_that_take_no_groups_are_scored_on_folds_of_whole_groups(visits):
    X, y, persons = visits
    search = OneClassSearchCV(IsolationForest(random_state=0), {"n_estimators": [5]}, cv=3).fit(X, y, groups=persons)
    models = [
        (IsolationForest(n_estimators=5, random_state=0).fit(X[train]), test)
        for train, test in OneClassGroupKFold(3).split(X, y, persons)
    ]
    expected = np.mean([SCORERS["f1"](model, X[test], y[test]) for model, test in models])
    assert search.cv_results_["mean_test_score"] == pytest.approx([expected])


def test_a_column_may_hold_the_groups(visits):
    pd = pytest.importorskip("pandas")
    X, y, persons = visits
    table = pd.DataFrame(X, columns=list("abc")).assign(person=[f"p{i}" for i in persons])
    search = OneClassSearchCV(AAKELM(delta=0.1), {"C": COSTS}, cv=3).fit(table, y, groups="person")
    expected = OneClassSearchCV(AAKELM(delta=0.1), {"C": COSTS}, cv=3).fit(
        table[list("abc")], y, groups=table["person"]
    )
    assert list(search.feature_names_in_) == list("abc")
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"])


@pytest.mark.parametrize(
    ("persons", "rule"),
    [
        (lambda p: p[:5], "inconsistent numbers of samples"),
        (lambda p: np.where(p == 0, np.nan, p), "OneClassSearchCV: groups .*labels are missing"),
        (lambda p: p % 2, "number of groups of targets 2, got 3"),
    ],
)
def test_bad_groups_are_refused(visits, persons, rule):
    X, y, known = visits
    with pytest.raises(ValueError, match=rule):
        OneClassSearchCV(AAKELM(), {"C": COSTS}, cv=3).fit(X, y, groups=persons(known))


class TestMetadataRouting:
    """`groups` reaches searches, pipelines and classifiers without a request."""

    @pytest.fixture(autouse=True)
    def routing(self):
        with sklearn.config_context(enable_metadata_routing=True):
            yield

    def test_through_a_pipeline(self, visits):
        X, _, persons = (of[visits[1] == 1] for of in visits)
        pipe = make_pipeline(StandardScaler(), VAAKELM(delta=0.1)).fit(X, groups=persons)
        expected = VAAKELM(delta=0.1).fit(StandardScaler().fit_transform(X), groups=persons)
        assert pipe[-1].offset_ == expected.offset_

    def test_through_a_search_of_a_pipeline_and_a_pipeline_of_a_search(self, visits):
        X, y, persons = visits
        pipe = make_pipeline(StandardScaler(), AAKELM(delta=0.1))
        search = OneClassSearchCV(pipe, {"aakelm__C": COSTS}, cv=3).fit(X, y, groups=persons)
        with sklearn.config_context(enable_metadata_routing=False):
            expected = clone(search).fit(X, y, groups=persons)
        np.testing.assert_array_equal(search.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"])
        assert search.best_estimator_[-1].offset_ == expected.best_estimator_[-1].offset_
        outer = make_pipeline(StandardScaler(), OneClassSearchCV(AAKELM(delta=0.1), {"C": COSTS}, cv=3))
        outer.fit(X, y, groups=persons)
        inner = OneClassSearchCV(AAKELM(delta=0.1), {"C": COSTS}, cv=3)
        assert outer[-1].offset_ == inner.fit(StandardScaler().fit_transform(X), y, groups=persons).offset_

    def test_through_cross_validation(self, visits):
        X, _, persons = (of[visits[1] == 1] for of in visits)
        models = cross_validate(
            AAKELM(delta=0.1),
            X,
            np.ones(len(X)),
            cv=GroupKFold(3),
            params={"groups": persons},
            scoring=SCORERS["recall"],
            return_estimator=True,
        )["estimator"]
        for model, (train, _) in zip(models, GroupKFold(3).split(X, groups=persons), strict=True):
            assert model.offset_ == AAKELM(delta=0.1).fit(X[train], groups=persons[train]).offset_

    def test_a_classifier_may_refuse_groups(self, visits):
        X, y, persons = visits
        estimator = AAKELM(delta=0.1).set_fit_request(groups=False)
        search = OneClassSearchCV(estimator, {"C": [1.0]}, cv=3).fit(X, y, groups=persons)
        assert search.offset_ == AAKELM(delta=0.1, C=1.0).fit(X[y == 1]).offset_
