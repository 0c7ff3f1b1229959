"""The first candidate of a search is kept unless another is better by more than chance."""

import numpy as np
import pytest

from oneclass import KNNDetector, OneClassSearchCV
from oneclass.base.warnings import FewRowsWarning
from oneclass.selection import prefer_first
from oneclass.selection.preference import lead_over_first


def results(*scores):
    scores = np.array(scores, dtype=float)
    columns = {f"split{k}_test_score": column for k, column in enumerate(scores.T)}
    return columns | {"mean_test_score": np.nanmean(scores, axis=1) if scores.size else scores}


def test_a_lead_of_less_than_its_standard_error_is_not_taken():
    assert prefer_first(results([0.5, 0.9, 0.7], [0.6, 1.0, 0.8])) == 1
    assert prefer_first(results([0.5, 0.9, 0.7], [0.9, 0.6, 0.75])) == 0
    assert prefer_first(results([0.5, 0.9, 0.7], [0.4, 0.8, 0.6])) == 0
    leads = np.array([0.4, -0.3, 0.05])
    _, lead, error = lead_over_first(results([0.5, 0.9, 0.7], [0.9, 0.6, 0.75]))
    assert (lead, error) == pytest.approx((leads.mean(), leads.std(ddof=1) / np.sqrt(3)))


def test_folds_without_a_score_do_not_count():
    assert prefer_first(results([0.5, np.nan, np.nan], [0.9, np.nan, np.nan])) == 0
    assert prefer_first(results([0.5, 0.6, np.nan], [0.9, 1.0, np.nan])) == 1
    with pytest.raises(ValueError, match="prefer_first: no candidate has a score"):
        prefer_first({"mean_test_score": np.array([np.nan, np.nan])})


def test_a_first_candidate_that_cannot_be_fitted_is_not_preferred():
    found = {"split0_test_score": [np.nan, 0.6], "split1_test_score": [np.nan, 1.0], "mean_test_score": [np.nan, 0.8]}
    assert prefer_first(found) == 1


def test_a_search_of_one_candidate_and_no_parameters_is_the_estimator():
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[50:] += 5
    y = np.repeat([1, -1], [50, 10])
    search = OneClassSearchCV(KNNDetector(), [{}], scoring="auroc", refit=prefer_first).fit(X, y)
    np.testing.assert_array_equal(search.score_samples(X), KNNDetector().fit(X[:50]).score_samples(X))


def test_a_search_by_few_outliers_warns_unless_the_first_candidate_is_preferred(recwarn):
    X = np.random.default_rng(0).normal(size=(59, 2))
    X[50:] += 5
    y, grid = np.repeat([1, -1], [50, 9]), {"n_neighbors": [1, 5]}
    with pytest.warns(FewRowsWarning, match="9 outliers compare 2 candidates.*refit=prefer_first"):
        OneClassSearchCV(KNNDetector(), grid, scoring="auroc").fit(X, y)
    for given, refit in ((grid, prefer_first), (grid, False), ({"n_neighbors": [5]}, True)):
        OneClassSearchCV(KNNDetector(), given, scoring="auroc", refit=refit).fit(X, y)
    assert not recwarn.list
