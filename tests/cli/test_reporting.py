"""`oneclass report`: the report of the library, in the file that was asked for."""

import json

import numpy as np
import pandas as pd
import pytest

import oneclass
from oneclass.cli import errors
from oneclass.cli.commands import oneclass as group


def visits(n, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"age": rng.normal(50, 10, n), "ward": rng.choice(["A", "B"], n), "lab": rng.normal(size=n)})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    visits(80, 0).to_csv("normal.csv", index=False)
    visits(30, 1).assign(lab=9.0).to_csv("new.csv", index=False)
    run("fit normal.csv -o model.oneclass")
    return tmp_path


def run(line):
    return errors.leave(lambda: group.main(line.split(), prog_name="oneclass", standalone_mode=False))


@pytest.mark.filterwarnings("ignore:The 'float_precision' argument")  # old versions of pandas need it
def test_the_report_of_a_table_is_that_of_the_library(folder, capsys):
    assert run("report model.oneclass new.csv -o report.json --rows 7 --json") == 0
    written = json.loads((folder / "report.json").read_text())
    model, new = oneclass.load("model.oneclass"), pd.read_csv("new.csv", float_precision="round_trip")
    expected = oneclass.report(model, new, rows=7, title="What is unusual in new.csv")
    assert written == json.loads(expected.to_json())
    said = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert said == {"output": "report.json", "rows": 30, "outliers": np.count_nonzero(model.predict(new) < 0)}


def test_training_rows_may_be_others_than_those_of_the_model(folder):
    assert run("report model.oneclass new.csv -o report.json --train new.csv") == 0
    written = json.loads((folder / "report.json").read_text())
    held = {column["name"]: column["training"] for column in written["columns"]}
    assert held["lab"]["quantiles"] == [9.0] * 33
    np.testing.assert_allclose(
        held["age"]["quantiles"], np.quantile(pd.read_csv("new.csv")["age"], np.linspace(0, 1, 33))
    )


def test_what_the_ending_cannot_mean_is_refused_before_any_work(folder, capsys):
    assert run("report model.oneclass none.csv -o report.pdf") == errors.BAD_DATA
    assert "must end in .html, .md or .json, got 'report.pdf'" in capsys.readouterr().err


def test_one_table_is_screened_and_reported_without_a_model(folder, capsys):
    table = visits(200, 3)
    table.loc[[7, 9], "age"] = -999.0
    table.to_csv("dirty.csv", index=False)
    assert run("report --screen dirty.csv -o report.json --rows 30 --json") == 0
    written = json.loads((folder / "report.json").read_text())
    found = oneclass.screen(pd.read_csv("dirty.csv"), top=30)
    expected = oneclass.report(found, pd.read_csv("dirty.csv"), rows=30).summary
    assert (written["title"], written["verdict"]) == ("Suspicious cells in dirty.csv", expected["verdict"])
    assert [(row["row"], row["cells"][0]["column"]) for row in written["rows"]] == [
        (row["row"], row["cells"][0]["column"]) for row in expected["rows"]
    ]
    said = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert said["named"] == 2


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("report --screen model.oneclass new.csv -o report.html", "--screen takes one table"),
        ("report --screen new.csv --train new.csv -o report.html", "--screen takes one table"),
        ("report model.oneclass new.csv -o report.html --drop lab", "need --screen: a model knows its columns"),
        ("report new.csv -o report.html", "to report on one table without a model, use --screen"),
    ],
)
def test_a_report_needs_a_model_or_a_table_to_screen(folder, capsys, line, why):
    assert run(line) == errors.USAGE
    assert why in capsys.readouterr().err


def test_a_report_of_a_screen_leaves_out_columns_and_knows_groups(folder):
    table = visits(200, 3).assign(person=np.arange(200) // 2)
    table.to_csv("dirty.csv", index=False)
    assert run("report --screen dirty.csv -o report.json --drop lab --column age=category --groups person") == 0
    columns = {
        cell["column"] for row in json.loads((folder / "report.json").read_text())["rows"] for cell in row["cells"]
    }
    assert columns <= {"age", "ward"}
    found = oneclass.screen(pd.read_csv("dirty.csv"), columns={"lab": "drop", "age": "category"}, groups="person")
    assert columns == {cell.column for cell in found.cells}


def test_a_screen_prints_groups_of_like_mistakes(folder, capsys):
    table = visits(200, 3)
    table.loc[[7, 9], "age"] = -999.0
    table.to_csv("dirty.csv", index=False)
    assert run("screen dirty.csv --top 4") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2].startswith("2 rows: age too low (expected ")
    assert run("screen dirty.csv --json") == 0
    [group] = [g for g in json.loads(capsys.readouterr().out.splitlines()[-1])["groups"] if g["column"] == "age"]
    assert (group["rows"], group["values"]) == (2, "-999")
