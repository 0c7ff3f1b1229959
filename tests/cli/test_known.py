"""Known outliers and answers on the command line."""

import json

import numpy as np
import pandas as pd
import pytest

import oneclass

RNG = np.random.default_rng(0)
NORMAL = pd.DataFrame(RNG.normal(size=(80, 3)), columns=["a", "b", "c"])
KNOWN = pd.DataFrame(RNG.normal(size=(4, 3)) + 3, columns=["a", "b", "c"])
FRESH = pd.DataFrame(2 * RNG.normal(size=(20, 3)), columns=["a", "b", "c"])


@pytest.fixture
def tables(folder):
    NORMAL.to_csv(folder / "plain.csv", index=False)
    KNOWN.to_csv(folder / "known.csv", index=False)
    both = pd.concat([NORMAL, KNOWN], ignore_index=True)
    both.assign(fault=["no"] * 80 + ["yes"] * 3 + [""]).to_csv(folder / "faults.csv", index=False)
    FRESH.assign(label=["1", "-1", *[""] * 18]).to_csv(folder / "answers.csv", index=False)
    return folder


def test_known_outliers_of_a_second_table_are_learned(tables, run):
    code, out, err = run("fit plain.csv -o model.oneclass --outliers known.csv --json")
    assert (code, err) == (0, "")
    assert json.loads(out)["known_outliers"] == 4
    expected = oneclass.TableDetector(oneclass.VAAKELM()).fit(NORMAL, outliers=KNOWN)
    model = oneclass.load(tables / "model.oneclass")
    np.testing.assert_allclose(model.score_samples(FRESH), expected.score_samples(FRESH))
    assert "known_outliers: 4" in run("info model.oneclass")[1]
    assert "4 known outliers" in run("fit plain.csv -o model.oneclass --outliers known.csv")[1]
    assert run("report model.oneclass known.csv -o report.md")[0] == 0
    assert "fitted on 80 training rows and 4 known outliers" in (tables / "report.md").read_text()
    code, out, _ = run("explain model.oneclass known.csv --row 2")
    assert (code, "like known outlier 2" in out) == (0, True)


def test_known_outliers_of_a_column_of_labels_are_learned(tables, run):
    code, out, err = run("fit faults.csv -o model.oneclass --label fault --target no --json")
    assert code == 0
    assert "1 of 84 rows have no label and are left out" in err
    assert json.loads(out)["known_outliers"] == 3
    expected = oneclass.TableDetector(oneclass.VAAKELM()).fit(NORMAL, outliers=KNOWN[:3])
    model = oneclass.load(tables / "model.oneclass")
    np.testing.assert_allclose(model.score_samples(FRESH), expected.score_samples(FRESH))


def test_labelled_outliers_that_a_method_does_not_learn_are_counted(tables, run):
    line = "fit faults.csv -o model.oneclass --label fault --target no --method"
    code, out, _ = run(f"{line} knn")
    assert code == 0
    assert "3 labelled outliers are left out, since knn does not learn them" in " ".join(out.split())
    assert json.loads(run(f"{line} knn --json")[1])["outliers_left_out"] == 3
    assert "left out" not in run(f"{line} vaakelm")[1]


def test_answers_are_learned(tables, run):
    assert run("fit plain.csv -o model.oneclass --outliers known.csv")[0] == 0
    code, out, err = run("feedback model.oneclass answers.csv -o better.oneclass --json")
    assert (code, err) == (0, "")
    assert json.loads(out) == {"model": "better.oneclass", "normal": 1, "outliers": 1, "unanswered": 18}
    expected = oneclass.load(tables / "model.oneclass").learn_from(FRESH[:2], [1, -1])
    model = oneclass.load(tables / "better.oneclass")
    np.testing.assert_allclose(model.score_samples(FRESH), expected.score_samples(FRESH))
    code, out, err = run("feedback model.oneclass answers.csv")
    assert (code, err) == (0, "")
    assert out.strip() == "model.oneclass: learned 1 normal rows and 1 outliers; 18 rows have no answer"
    assert json.loads(run("info model.oneclass --json")[1])["answered_normal"] == 1


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("fit plain.csv -o m.oneclass --target no", 2, "--target needs --label"),
        ("fit plain.csv -o m.oneclass --outliers known.csv --method knn", 2, "knn cannot learn from known outliers"),
        ("fit plain.csv -o m.oneclass --label fault", 3, "--label must name a column of the table"),
        ("fit faults.csv -o m.oneclass --label fault", 3, "--target must be the label of normal rows, one of 'no'"),
        ("fit faults.csv -o m.oneclass --label fault --target x", 3, "--target must be the label of normal rows"),
        ("fit plain.csv -o m.oneclass --outliers answers.csv --drop c", 0, ""),
        ("feedback model.oneclass plain.csv", 3, "--label must name a column of the table, but there is no 'label'"),
        ("feedback model.oneclass faults.csv --label fault", 3, "--target must be the label of normal rows"),
        ("feedback knn.oneclass answers.csv", 3, "feedback needs a kernel machine, such as vaakelm, got KNNDetector"),
    ],
)
def test_what_cannot_be_learned_is_refused(tables, run, line, code, said):
    run("fit plain.csv -o model.oneclass")
    run("fit plain.csv -o knn.oneclass --method knn")
    found, _, err = run(line)
    assert found == code, err
    assert said in err


def test_answers_may_all_be_outliers(tables, run):
    run("fit plain.csv -o model.oneclass")
    KNOWN.assign(fraud="yes").to_csv(tables / "frauds.csv", index=False)
    code, out, _ = run("feedback model.oneclass frauds.csv --label fraud --target no --json")
    assert (code, json.loads(out)["outliers"]) == (0, 4)
