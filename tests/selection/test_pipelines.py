"""Searches for the parameters of a pipeline, and the verbs of the best pipeline."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from oneclass import AAKELM, KNNDetector, OneClassPipeline, OneClassSearchCV, make_one_class_pipeline
from oneclass.selection import SCORERS, OneClassKFold

COSTS = [0.5, 8.0]
MAKERS = pytest.mark.parametrize("make", [make_pipeline, make_one_class_pipeline], ids=["plain", "ours"])


@pytest.fixture(scope="module")
def table(data):
    X, y = data
    kinds = np.where(X[:, 0] > np.median(X[:, 0]), "large", "small")
    return pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=kinds), y


def encoder():
    return make_column_transformer((OneHotEncoder(sparse_output=False), ["kind"]), (StandardScaler(), ["a", "b", "c"]))


@MAKERS
def test_a_search_around_a_pipeline_answers_in_the_columns_of_the_table(table, make):
    X, y = table
    search = OneClassSearchCV(make(encoder(), AAKELM()), {"aakelm__C": COSTS}).fit(X, y)
    best = OneClassPipeline(search.best_estimator_.steps)
    assert search.explain(X).shares.shape == (85, 4)
    np.testing.assert_array_equal(search.explain(X), best.explain(X))
    assert set(search.reconstruct(X)[:, 3]) <= {"large", "small"}
    assert not hasattr(OneClassSearchCV(make(encoder(), KNNDetector()), {}), "reconstruct")


@MAKERS
def test_every_candidate_fits_its_preprocessing_to_the_targets_of_the_fold(data, make):
    X, y = data
    pipe = make(StandardScaler(), PCA(), KNNDetector())
    grid = {"pca__n_components": [1, 3], "knndetector__n_neighbors": [2, 6]}
    folds = list(OneClassKFold(3).split(X, y))
    expected = GridSearchCV(pipe, grid, cv=folds, scoring=SCORERS["auroc"]).fit(X, y).cv_results_
    found = OneClassSearchCV(pipe, grid, cv=folds, scoring="auroc").fit(X, y).cv_results_
    np.testing.assert_allclose(found["mean_test_score"], expected["mean_test_score"], atol=1e-12)


def test_the_last_step_itself_may_be_searched(table):
    pipe = make_pipeline(encoder(), AAKELM())
    search = OneClassSearchCV(pipe, {"aakelm": [AAKELM(), KNNDetector(n_neighbors=3)]}, scoring="auroc").fit(*table)
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    assert scores[0] != scores[1]


def test_other_candidates_have_scores_if_a_preprocessing_fails(data):
    pipe, grid = make_pipeline(PCA(), KNNDetector()), {"pca__n_components": [99, 2]}
    with pytest.warns(FitFailedWarning, match="could not be fitted with {'pca__n_components': 99}"):
        search = OneClassSearchCV(pipe, grid).fit(*data)
    assert search.best_params_ == {"pca__n_components": 2}
    with pytest.raises(ValueError, match="n_components=99"):
        OneClassSearchCV(pipe, grid, error_score="raise").fit(*data)
