"""Folds of approximated machines by subtraction of moments."""

import numpy as np
import pytest

from oneclass import OCKELM, VAAKELM, VOCKELM, Nystrom
from oneclass.selection import OneClassKFold, OneClassSearchCV, _evaluate
from oneclass.selection._moments import MomentPath, partition_targets

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(size=(600, 4)), RNG.normal(size=(80, 4)) * 2.5])
Y = np.repeat([1, -1], [600, 80])
GRID = {"C": [0.5, 8.0], "delta": [0.02, 0.1]}
MACHINES = [
    OCKELM(approximation=Nystrom(60)),
    VOCKELM(approximation=Nystrom(60), threshold="mean"),
    VAAKELM(approximation=Nystrom(60), threshold="train", score="reconstruction"),
    VAAKELM(approximation=Nystrom(60), centring="global"),
]


def folds(splitter):
    inside = [(train[Y[train] == 1], test) for train, test in splitter.split(X, Y)]
    return [_evaluate.Fold(X[train], X[test], Y[test]) for train, test in inside]


@pytest.fixture
def path():
    return MomentPath(VAAKELM(approximation=Nystrom(60)), folds(OneClassKFold(5)))


def test_all_but_a_fold_have_the_moments_of_its_training_rows(path):
    for k, fold in enumerate(path.folds):
        expected = path.plan.moments(np.asarray(fold.train), None)
        found = path._total - path._parts[k]
        for name, value in vars(expected).items():
            np.testing.assert_allclose(getattr(found, name), value, rtol=1e-9, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_subtraction_judges_as_refitting_does(machine, monkeypatch):
    """Scaling and landmarks are those of all targets, so scores agree closely, not to the digit."""
    search = OneClassSearchCV(machine, GRID, cv=5, scoring=["f1", "auroc"], refit=False)
    by_subtraction = search.fit(X, Y).cv_results_
    monkeypatch.setattr(_evaluate, "approximates", lambda estimator, X: False)
    by_refits = search.fit(X, Y).cv_results_
    for name in ("mean_test_f1", "mean_test_auroc"):
        np.testing.assert_allclose(by_subtraction[name], by_refits[name], atol=0.03)


def test_one_path_serves_the_whole_grid(monkeypatch):
    seen = []
    original = MomentPath.__init__

    def counting(self, machine, folds):
        seen.append(len(folds))
        original(self, machine, folds)

    monkeypatch.setattr(MomentPath, "__init__", counting)
    OneClassSearchCV(VAAKELM(approximation=Nystrom(60)), GRID, cv=5, refit=False).fit(X, Y)
    assert seen == [5]  # one path for the whole grid, however many C and delta


def test_folds_that_leave_targets_out_are_refitted():
    half = folds(OneClassKFold(5))[:3]
    assert partition_targets(folds(OneClassKFold(4)))
    assert not partition_targets(half)


def test_a_point_that_cannot_be_fitted_does_not_take_the_others_with_it():
    grid = {"C": [-1.0, 1.0]}
    search = OneClassSearchCV(VAAKELM(approximation=Nystrom(60)), grid, cv=3, refit=False)
    with pytest.warns(Warning, match="could not be fitted"):
        scores = search.fit(X, Y).cv_results_["mean_test_score"]
    assert np.isnan(scores[0])
    assert scores[1] > 0.5
