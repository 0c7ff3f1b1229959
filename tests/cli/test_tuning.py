"""Tuning and comparing from the command line is what the library does."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import oneclass
from oneclass import OneClassSearchCV, TableDetector
from oneclass.cli import errors
from oneclass.selection import prefer_first

COLUMNS = {"note": "drop", "id": "drop"}
GRID = {"n_neighbors": [1, 5, 20]}


@pytest.fixture
def tune(run):
    def tune(line):
        code, out, err = run(f"tune {line} -o model.oneclass --drop note --drop id --method knn --json")
        assert (code, "Traceback" in err) == (0, False)
        return json.loads(out), oneclass.load("model.oneclass")

    return tune


def test_tuning_by_labels_is_the_librarys_search(folder, tune):
    said, model = tune("labelled.csv --label fault --target no --grid n_neighbors=1,5,20")
    table = pd.read_csv("labelled.csv")
    y = np.where(table.pop("fault") == "no", 1, -1)
    search = OneClassSearchCV(oneclass.KNNDetector(), [{}, GRID], scoring="auroc", refit=prefer_first)
    search = TableDetector(search, COLUMNS).fit(table, y).estimator_
    assert said["scoring"] == "auroc"
    assert said["best"]["parameters"] == search.best_params_
    assert sorted(point["score"] for point in said["tried"]) == pytest.approx(
        sorted(search.cv_results_["mean_test_score"])
    )
    best = TableDetector(oneclass.KNNDetector(**search.best_params_), COLUMNS).fit(table[y > 0])
    np.testing.assert_allclose(model.score_samples(table), best.score_samples(table), rtol=1e-9)


def test_the_default_is_kept_unless_others_are_better_by_more_than_chance(folder, run):
    code, out, _ = run("tune labelled.csv -o model.oneclass --label fault --target no --grid C=0.01,100 --drop note")
    assert code == 0
    assert "vaakelm with its default parameters" in out
    ring = np.random.default_rng(0).uniform(0, 6.28, 150)
    X = np.concatenate([3 * np.c_[np.cos(ring), np.sin(ring)], 0.5 * np.random.default_rng(1).normal(size=(40, 2))])
    pd.DataFrame(X, columns=["a", "b"]).assign(y=["in"] * 150 + ["out"] * 40).to_csv("ring.csv", index=False)
    line = "tune ring.csv -o model.oneclass --label y --target in --json --method pca --grid n_components=0.5,0.99"
    said = json.loads(run(line)[1])
    assert (said["lead"] > said["standard_error"]) == bool(said["best"]["parameters"])


def test_a_parameter_with_one_value_has_it_even_if_no_candidate_leads(folder, run):
    line = "tune labelled.csv -o model.oneclass --label fault --target no --drop note --grid lam=2"
    for other in ("", " --grid C=0.01,100"):
        code, out, _ = run(line + other)
        assert (code, "vaakelm with lam=2" in out) == (0, True)
        assert oneclass.load("model.oneclass").estimator_.lam == 2


def test_labels_of_ones_and_zeros_need_no_target(folder, tune):
    table = pd.read_csv("labelled.csv")
    table["fault"] = np.where(table["fault"] == "no", 1, 0)
    table.to_csv("zeros.csv", index=False)
    named, numbered = tune("labelled.csv --label fault --target no")[0], tune("zeros.csv --label fault")[0]
    assert named == numbered


@pytest.mark.parametrize("gap", ["", "NA", None])
@pytest.mark.parametrize("target", ["no", "yes"])
def test_rows_without_a_label_are_refused_by_column_and_row(folder, run, gap, target):
    table = pd.read_csv("labelled.csv").astype({"fault": object})
    table.loc[[4, 9], "fault"] = gap
    table.to_parquet("gaps.parquet")
    table.to_csv("gaps.csv", index=False)
    for name in ("gaps.parquet", "gaps.csv"):
        code, out, err = run(f"tune {name} -o model.oneclass --label fault --target {target} --method knn")
        assert (code, out) == (errors.BAD_DATA, "")
        assert f"{name}: --label must name a column that has a label in every row" in err
        assert "'fault' has none in 2 of 80, first in row 5" in err
    assert not (folder / "model.oneclass").exists()


def test_a_word_for_missing_may_be_the_label_of_normal_rows(folder, tune):
    table = pd.read_csv("labelled.csv")
    table.assign(fault=table["fault"].replace("no", "none")).to_csv("none.csv", index=False)
    assert tune("none.csv --label fault --target none")[0] == tune("labelled.csv --label fault --target no")[0]


def test_tuning_without_labels_is_refused_with_what_to_do(folder, run):
    for line in ("tune normal.csv", "tune labelled.csv --target no", "tune normal.csv --method knn"):
        code, out, err = run(f"{line} -o model.oneclass")
        assert (code, out) == (errors.USAGE, "")
        assert "--label must name the column of labels" in err
        assert "the default parameters of oneclass fit need no tuning" in " ".join(err.split())
    assert not (folder / "model.oneclass").exists()


def test_tuning_by_a_column_without_outliers_is_refused(folder, run):
    pd.read_csv("normal.csv").assign(fault="no").to_csv("same.csv", index=False)
    code, _, err = run("tune same.csv -o model.oneclass --label fault --target no --drop note")
    assert code == errors.BAD_DATA
    assert "same.csv: OneClassSearchCV: y must hold labelled outliers" in err


def test_few_normal_rows_raise_a_warning_unless_their_label_is_given(folder, run):
    table = pd.read_csv("labelled.csv")
    table["fault"] = np.where(table["fault"] == "no", 0, 1)
    table.to_csv("numbers.csv", index=False)
    line = "tune numbers.csv -o model.oneclass --label fault --method knn --drop note --drop id"
    assert "20 of 80 rows are labelled as targets" in run(line)[2]
    assert "labelled as targets" not in run(f"{line} --target 1")[2]


def test_candidates_that_cannot_be_fitted_have_no_score(folder, run):
    grid = "--method pca --grid n_components=1,99"
    code, out, err = run(f"tune labelled.csv -o model.oneclass --label fault --target no {grid} --drop note --json")
    assert (code, [point["score"] is None for point in json.loads(out)["tried"]]) == (0, [False, False, True])
    assert "n_components" in err  # why


def test_what_only_outliers_hold_is_unknown_to_the_plan(folder):
    table = pd.read_csv("labelled.csv")
    table.loc[table["fault"] == "yes", "town"] = "Oslo"
    y = np.where(table.pop("fault") == "no", 1, -1)
    model = TableDetector(oneclass.KNNDetector(), COLUMNS).fit(table, y)
    alone = TableDetector(oneclass.KNNDetector(), COLUMNS).fit(table[y > 0])
    assert str(model.plan_) == str(alone.plan_)
    fresh = pd.read_csv("new.csv")
    np.testing.assert_array_equal(model.score_samples(fresh), alone.score_samples(fresh))


def test_comparing_is_fitting_each_method_by_hand(folder, run):
    code, out, _ = run("compare normal.csv odd.csv --json --drop note --drop id")
    found = {row["method"]: row for row in json.loads(out)["methods"]}
    table, odd = pd.read_csv("normal.csv"), pd.read_csv("odd.csv")
    order = np.random.default_rng(0).permutation(60)
    train, test = table.iloc[np.sort(order[:48])], table.iloc[np.sort(order[48:])]
    model = TableDetector(oneclass.KNNDetector(), COLUMNS).fit(train)
    assert code == 0
    assert found["knn"] == {
        "method": "knn",
        "false_alarms": (model.predict(test) == -1).mean(),
        "caught": (model.predict(odd) == -1).mean(),
    }


def test_comparing_takes_detectors_of_other_libraries_by_module_and_class(folder, run):
    methods = "--method knn --method sklearn.ensemble:IsolationForest --method sklearn.neighbors:LocalOutlierFactor"
    code, out, _ = run(f"compare normal.csv odd.csv --json --drop note --drop id {methods}")
    found = json.loads(out)["methods"]
    assert code == 0
    assert [row["method"] for row in found] == methods.removeprefix("--method ").split(" --method ")
    assert all(0 <= row["false_alarms"] <= 1 and 0 <= row["caught"] <= 1 for row in found)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("compare normal.csv --method sklearn.nothing:Forest", "sklearn.nothing:Forest cannot be imported: No module"),
        ("compare normal.csv --method sklearn.ensemble:Forest", "cannot be imported: module .* has no attribute"),
        ("compare normal.csv --method math:sqrt", "--method math:sqrt must be a detector, a class with fit"),
        ("compare normal.csv --method forest", "'forest' is not one of"),
        ("fit normal.csv -o m.oneclass --method sklearn.ensemble:IsolationForest", "without pickle; compare takes it"),
    ],
)
def test_methods_that_cannot_be_used_are_refused_in_one_sentence(folder, run, command, said):
    code, _, err = run(f"{command} --drop note --drop id")
    assert code != 0
    assert re.search(said, " ".join(err.split()))
