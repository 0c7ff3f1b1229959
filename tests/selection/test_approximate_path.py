"""Searches of approximated machines: candidates share the moments of the training rows."""

from functools import partial

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from oneclass import AAKELM, OCKELM, VAAKELM, VOCKELM, Fourier, Nystrom
from oneclass.core.machine import Machine
from oneclass.machines import auto_approximation as auto
from oneclass.selection import SCORERS, OneClassKFold, OneClassSearchCV, _evaluate
from oneclass.selection._approximate_path import Machines

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(size=(300, 4)), RNG.normal(size=(40, 4)) * 2.5])
Y = np.repeat([1, -1], [300, 40])
LOSSES = ["reconstruction", "uncertainty", "predictive", "either"]
GRID = {"C": [0.5, 8.0], "delta": [0.001, 0.1]}
CASES = {
    "OCKELM": (OCKELM(approximation=Nystrom(30)), GRID | {"threshold": ["held_out", "train", "authors"]}),
    "VOCKELM": (VOCKELM(approximation=Nystrom(30)), GRID | {"threshold": ["held_out", "mean"]}),
    "AAKELM": (
        AAKELM(approximation=Fourier(30)),
        GRID | {"loss": ["reconstruction", "uncertainty", "predictive", "either"]},
    ),
    "VAAKELM": (VAAKELM(approximation=Nystrom(30)), GRID | {"n_clusters": [1, 3], "C": [1.0, "likelihood"]}),
    "global": (VAAKELM(approximation=Nystrom(30), centering="global"), GRID),
    "some exact": (VAAKELM(approximation=Nystrom(30)), GRID | {"approximation": [None, Nystrom(10), Fourier(40)]}),
    "exact by itself": (VAAKELM(), GRID | {"approximation": [None, Nystrom(10)]}),
}


@pytest.mark.filterwarnings("ignore::oneclass.UnreachableRateWarning")
@pytest.mark.parametrize("case", CASES)
def test_candidates_score_as_their_fits(case):
    """Scaling, bandwidth, clusters and landmarks depend on the training rows of the fold only."""
    machine, grid = CASES[case]
    folds = list(OneClassKFold(3).split(X, Y))
    scorers = {name: SCORERS[name] for name in ("f1", "auroc")}
    expected = GridSearchCV(machine, grid, scoring=scorers, cv=folds, refit=False).fit(X, Y).cv_results_
    found = OneClassSearchCV(machine, grid, scoring=list(scorers), cv=folds, refit=False).fit(X, Y).cv_results_
    for column in (f"split{k}_test_{name}" for name in scorers for k in range(3)):
        np.testing.assert_allclose(found[column], expected[column], atol=1e-12, err_msg=column)


def test_one_set_of_moments_a_fold_serves_the_whole_grid(monkeypatch):
    seen = []
    original = Machines.__init__
    monkeypatch.setattr(Machines, "__init__", lambda self, *given: seen.append(given) or original(self, *given))
    monkeypatch.setattr(_evaluate, "_by_fits", None)
    OneClassSearchCV(VAAKELM(approximation=Nystrom(30)), GRID, cv=5, refit=False).fit(X, Y)
    assert len(seen) == 5


def test_folds_of_different_sizes_score_as_their_fits(monkeypatch):
    # With a limit of fifty rows, the first fold is fitted exactly, and the second one with landmarks.
    monkeypatch.setattr(auto, "_EXACT_ROWS", 50)
    monkeypatch.setattr(auto, "Nystrom", partial(Nystrom, 10))
    targets = np.flatnonzero(Y == 1)
    folds = [(targets[:n], np.setdiff1d(np.arange(len(Y)), targets[:n])) for n in (40, len(targets) - 20)]
    grid = {"C": [1.0, 8.0], "delta": [0.05, 0.2]}
    ours, plain = (
        search(AAKELM(), grid, cv=folds, scoring=SCORERS["auroc"], refit=False).fit(X, Y).cv_results_
        for search in (OneClassSearchCV, GridSearchCV)
    )
    assert set(ours["numerics"]) == {"one decomposition and one set of moments"}
    for k in range(2):
        np.testing.assert_allclose(ours[f"split{k}_test_score"], plain[f"split{k}_test_score"], rtol=1e-12)


def test_losses_are_computed_once_for_all_thresholds(monkeypatch):
    """Losses of training rows are computed once for each C, not for each delta."""
    judged, losses = [], Machine.held_out_losses
    monkeypatch.setattr(Machine, "held_out_losses", lambda self, rows: judged.append(len(rows.T)) or losses(self, rows))
    grid = {"C": [0.5, 8.0], "delta": [0.02, 0.05, 0.1]}
    OneClassSearchCV(AAKELM(approximation=Nystrom(30)), grid, cv=3, refit=False).fit(X, Y)
    assert judged == 6 * [200]


def test_other_candidates_have_scores_if_one_cannot_be_fitted():
    grid = {"C": [-1.0, 1.0]}
    search = OneClassSearchCV(VAAKELM(approximation=Nystrom(30)), grid, cv=3, refit=False)
    with pytest.warns(Warning, match="could not be fitted"):
        scores = search.fit(X, Y).cv_results_["mean_test_score"]
    assert np.isnan(scores[0])
    assert scores[1] > 0.5
