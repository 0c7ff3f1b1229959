"""Scores of rows that coincide, mirror each other or do not vary depend on rounding, and must be those of fits."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from oneclass import AAKELM, OCKELM, VAAKELM, VOCKELM
from oneclass.selection import SCORERS, OneClassKFold, OneClassSearchCV, _evaluate

RNG = np.random.default_rng(0)
HALF = RNG.normal(size=(22, 2))
Y = np.repeat([1, -1], [33, 12])
ROWS = {
    "integers": RNG.integers(0, 3, size=(45, 2)),
    "one column": RNG.integers(0, 5, size=(45, 1)),
    "copies": RNG.normal(size=(15, 2))[RNG.integers(0, 15, size=45)],
    "constant column": np.column_stack([RNG.integers(0, 4, size=(45, 2)), np.full(45, 7)]),
    "mirrored": np.concatenate([HALF, -HALF, np.zeros((1, 2))]),
    "constant targets": np.where(Y[:, None] == 1, 1, np.arange(90).reshape(45, 2)),
    "constant": np.ones((45, 2)),
}
COMMON = {"C": [1e-6, 1.0, 32.0], "delta": [0.0, 0.1, 0.5], "threshold": ["held_out", "train", "authors"]}
MACHINES = {
    "OCKELM": (OCKELM(), COMMON),
    "VOCKELM": (VOCKELM(n_clusters=2), COMMON | {"threshold": ["held_out", "train", "authors", "mean"]}),
    "AAKELM": (AAKELM(), COMMON | {"delta": [0.1], "loss": ["reconstruction", "uncertainty", "predictive", "either"]}),
    "VAAKELM": (VAAKELM(n_clusters=2), COMMON | {"delta": [0.1], "loss": ["reconstruction", "predictive"]}),
    "linear": (AAKELM(kernel="linear", loss="reconstruction"), COMMON),
    "large C": (AAKELM(), COMMON | {"C": [1e4, 1e8], "delta": [0.1]}),
}
SCORING = ["f1", "balanced", "auroc", "average_precision", "recall_at_false_alarms"]


@pytest.mark.filterwarnings("ignore::oneclass.UnreachableRateWarning")
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("rows", ROWS)
def test_scores_of_tied_rows_are_those_of_fits(rows, machine):
    X, (estimator, grid) = ROWS[rows].astype(float), MACHINES[machine]
    folds = list(OneClassKFold(3).split(X, Y))[:2]
    scorers = {name: SCORERS[name] for name in SCORING}
    expected = GridSearchCV(estimator, grid, scoring=scorers, cv=folds, refit=False).fit(X, Y).cv_results_
    found = OneClassSearchCV(estimator, grid, scoring=SCORING, cv=folds, refit=False).fit(X, Y).cv_results_
    for name in SCORING:
        for k in range(2):
            column = f"split{k}_test_{name}"
            np.testing.assert_allclose(found[column], expected[column], atol=1e-12, err_msg=column)


@pytest.mark.parametrize("scoring", ["f1", "auroc", "recall_at_false_alarms"])
@pytest.mark.parametrize("levels", [3, 5])
@pytest.mark.parametrize("loss", ["reconstruction", "predictive"])
def test_rows_of_few_distinct_values_need_no_fits(loss, levels, scoring, monkeypatch):
    monkeypatch.setattr(_evaluate, "_by_fits", None)
    machine = VAAKELM(kernel="rbf", sigma="mean", loss=loss)
    X, y = np.random.default_rng(levels).integers(0, levels, size=(120, 3)).astype(float), np.repeat([1, -1], [90, 30])
    grid = {"C": [2.0**k for k in range(-5, 6)], "delta": [0.05, 0.1]}
    assert OneClassSearchCV(machine, grid, scoring=scoring, cv=3, refit=False).fit(X, y).best_score_ > 0


@pytest.mark.parametrize("scoring", ["f1", "auroc"])
def test_copies_of_rows_need_no_fits(scoring, monkeypatch):
    monkeypatch.setattr(_evaluate, "_by_fits", None)
    grid = {"C": [0.5, 1.0, 2.0], "delta": [0.1, 0.2], "threshold": ["held_out", "train"]}
    search = OneClassSearchCV(AAKELM(), grid, scoring=scoring, cv=3, refit=False)
    assert search.fit(ROWS["copies"], Y).best_score_ > 0.2
