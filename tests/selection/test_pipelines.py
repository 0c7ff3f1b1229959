"""A search around a pipeline: outliers made up where its last step sees rows, and the verbs of the best one."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.exceptions import FitFailedWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from oneclass import AAKELM, KNNDetector, OneClassPipeline, OneClassSearchCV, make_one_class_pipeline
from oneclass.selection import SCORERS, OneClassKFold, generate_outliers
from oneclass.selection.outliers import OUTLIERS

COSTS = [0.5, 8.0]
MAKERS = pytest.mark.parametrize("make", [make_pipeline, make_one_class_pipeline], ids=["plain", "ours"])


@pytest.fixture(scope="module")
def targets(data):
    X, y = data
    return X[y == 1]


@pytest.fixture(scope="module")
def table(targets):
    kinds = np.where(targets[:, 0] > np.median(targets[:, 0]), "large", "small")
    return pd.DataFrame(targets, columns=["a", "b", "c"]).assign(kind=kinds)


def encoder():
    return make_column_transformer((OneHotEncoder(sparse_output=False), ["kind"]), (StandardScaler(), ["a", "b", "c"]))


@MAKERS
@pytest.mark.parametrize("kind", OUTLIERS)
def test_outliers_are_made_up_after_the_preprocessing(targets, make, kind):
    options = {"criterion": kind, "cv": 3, "n_outliers": 40, "scoring": ["auroc", "balanced"], "refit": "auroc"}
    double = FunctionTransformer(lambda X: 2 * X + 1)
    expected = OneClassSearchCV(AAKELM(), {"C": COSTS}, **options).fit(2 * targets + 1).cv_results_
    found = OneClassSearchCV(make(double, AAKELM()), {"aakelm__C": COSTS}, **options).fit(targets).cv_results_
    for name in ("auroc", "balanced"):
        np.testing.assert_array_equal(found[f"mean_test_{name}"], expected[f"mean_test_{name}"])


def test_every_preprocessing_learns_from_the_fold_and_makes_up_its_own(targets):
    pipe = make_pipeline(StandardScaler(), PCA(), KNNDetector())
    grid = {"pca__n_components": [1, 3], "knndetector__n_neighbors": [2, 6]}
    search = OneClassSearchCV(pipe, grid, criterion="box", cv=3, n_outliers=40, scoring="auroc").fit(targets)
    for i, params in enumerate(search.cv_results_["params"]):
        random, scores = np.random.RandomState(0), []
        for train, test in OneClassKFold(3).split(targets):
            before = make_pipeline(StandardScaler(), PCA(params["pca__n_components"])).fit(targets[train])
            known, inside = before.transform(targets[train]), before.transform(targets[test])
            made = generate_outliers(known, 40, kind="box", random_state=random)
            model = KNNDetector(n_neighbors=params["knndetector__n_neighbors"]).fit(known)
            y = np.repeat([1, -1], [len(inside), 40])
            scores.append(SCORERS["auroc"](model, np.concatenate([inside, made]), y))
        assert search.cv_results_["mean_test_score"][i] == pytest.approx(np.mean(scores), abs=1e-12)


@MAKERS
def test_tables_that_need_preprocessing_are_searched_without_outliers(table, make):
    search = OneClassSearchCV(make(encoder(), AAKELM()), {"aakelm__C": COSTS}).fit(table)
    assert search.criterion_ == "histogram"
    best = OneClassPipeline(search.best_estimator_.steps)
    for verb in ("p_value", "label_batch", "explain", "reconstruct", "predict", "score_samples"):
        np.testing.assert_array_equal(getattr(search, verb)(table), getattr(best, verb)(table))
    assert search.explain(table).shares.shape == (60, 4)
    assert set(search.reconstruct(table)[:, 3]) <= {"large", "small"}
    np.testing.assert_array_equal(search.p_value(table, tail="pareto"), best.p_value(table, tail="pareto"))
    assert (search.false_alarm_interval(delta=0.1), search.offset_) == (
        best.false_alarm_interval(delta=0.1),
        best.offset_,
    )
    assert search.calibration_ is best.calibration_
    assert not hasattr(OneClassSearchCV(make(encoder(), KNNDetector()), {}), "reconstruct")


def test_the_last_step_itself_may_be_searched(table):
    pipe = make_pipeline(encoder(), AAKELM())
    search = OneClassSearchCV(pipe, {"aakelm": [AAKELM(), KNNDetector(n_neighbors=3)]}, scoring="auroc").fit(table)
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    assert scores[0] != scores[1]


def test_a_preprocessing_that_fails_spares_the_others(targets):
    pipe, grid = make_pipeline(PCA(), KNNDetector()), {"pca__n_components": [99, 2]}
    with pytest.warns(FitFailedWarning, match="could not be fitted with {'pca__n_components': 99}"):
        search = OneClassSearchCV(pipe, grid).fit(targets)
    assert search.best_params_ == {"pca__n_components": 2}
    with pytest.raises(ValueError, match="n_components=99"):
        OneClassSearchCV(pipe, grid, error_score="raise").fit(targets)


def test_consistency_judges_the_last_step_by_its_training_scores(targets):
    options = {"criterion": "consistency", "complexity": lambda model: 0.0, "cv": 3}
    grid = [1.0, 1e4]
    alone = OneClassSearchCV(AAKELM(delta=0.1), {"C": grid}, **options).fit(targets).cv_results_
    pipe = make_pipeline(FunctionTransformer(), AAKELM(delta=0.1))
    found = OneClassSearchCV(pipe, {"aakelm__C": grid}, **options).fit(targets).cv_results_
    np.testing.assert_array_equal(found["mean_test_score"], alone["mean_test_score"])


def test_confidence_is_searched_as_it_is_fitted(data):
    X, y = data
    grid = {"confidence": [None, 0.95], "delta": [0.3, 0.5]}
    found = OneClassSearchCV(AAKELM(), grid, cv=3).fit(X, y).cv_results_
    fits = OneClassSearchCV(AAKELM(), grid, cv=3, complexity=lambda model: 0.0).fit(X, y).cv_results_
    assert set(fits["numerics"]) == {"fits"} != set(found["numerics"])
    np.testing.assert_array_equal(found["mean_test_score"], fits["mean_test_score"])
    assert len(set(found["mean_test_score"])) > 2
