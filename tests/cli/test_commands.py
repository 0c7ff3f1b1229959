"""The command line: what its help promises, what it writes, and how it ends."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pytest

import oneclass
from oneclass.cli import options
from oneclass.cli.commands import oneclass as group
from oneclass.cli.methods import GRIDS, METHODS


def examples(command):
    """Command lines that the help of a command, and of those below it, shows."""
    yield from re.findall(r"^ +oneclass (.*)$", command.help or "", re.M)
    for below in getattr(command, "commands", {}).values():
        yield from examples(below)


def leaves(command):
    """Commands that have none below them."""
    below = getattr(command, "commands", None)
    return [leaf for child in below.values() for leaf in leaves(child)] if below else [command]


def test_every_classifier_is_a_method():
    assert {*METHODS.values()} == {*oneclass.machines.__all__, *oneclass.baselines.__all__}
    assert GRIDS.keys() <= METHODS.keys()


#: Commands that answer until they are stopped; tests/serve runs them.
SERVICES = ("serve", "mcp")


def test_every_command_has_an_example():
    assert [leaf.name for leaf in leaves(group) if not [*examples(leaf)]] == []


def test_every_command_that_prints_results_prints_them_as_json_too():
    silent = {"watch", "demo", *SERVICES}  # lines of JSON already, a transcript, and services
    assert {leaf.name for leaf in leaves(group)} - silent == {
        leaf.name for leaf in leaves(group) if any(option.name == "as_json" for option in leaf.params)
    }


def options_of(line):
    """Names of the options of the command that a line runs."""
    command = group
    for word in line.split():
        command = getattr(command, "commands", {}).get(word) or command
    return {option.name for option in command.params}


@pytest.mark.parametrize("line", dict.fromkeys(line for line in examples(group) if not line.startswith(SERVICES)))
def test_examples_of_the_help_run(line, folder, run):
    if "model.oneclass" in line and not line.startswith(("fit", "tune")):
        method = "vaakelm" if line.startswith("feedback") else "pca"
        assert run(f"fit normal.csv -o model.oneclass --method {method}")[0] == 0
    command, _, files = line.partition("<")
    stdin = (folder / "new.csv").read_bytes() if files else None
    code, out, err = run(command, stdin)
    assert (code, re.findall("Traceback", err)) == (0, [])
    assert out or "-o" in line
    assert "\r" not in err  # no progress without a terminal
    if "as_json" in options_of(line):
        if (line.startswith("score") and "-o" not in line) or "-o - " in line:  # the summary has no place to go
            return
        code, out, _ = run(f"{command} --json", stdin)
        assert code == 0
        assert isinstance(json.loads(out), dict)


def test_fit_then_score_is_the_library(folder, run):
    assert run("fit normal.csv -o model.oneclass --drop zip")[0] == 0
    code, out, _ = run("score model.oneclass odd.csv -o scored.parquet --json")
    table = oneclass.load("model.oneclass")
    odd, scored = pd.read_csv("odd.csv"), pd.read_parquet("scored.parquet")
    np.testing.assert_allclose(scored["score"], table.score_samples(odd), rtol=1e-9)
    np.testing.assert_array_equal(scored["label"], table.predict(odd))
    np.testing.assert_array_equal(scored["id"].astype(int), odd["id"])
    assert code == 0
    assert json.loads(out) == {"output": "scored.parquet", "rows": 20, "outliers": int((scored["label"] < 0).sum())}
    assert scored["reason_1"].str.startswith("price=99").all()


def test_scores_of_training_rows_come_with_a_note(folder, run):
    assert run("fit normal.csv -o model.oneclass")[0] == 0
    code, _, err = run("score model.oneclass normal.csv -o scored.csv")
    assert code == 0
    assert "oneclass: note: VAAKELM: most of these rows are training rows" in re.sub(r"\s+", " ", err)
    assert run("score model.oneclass new.csv -o scored.csv")[2] == ""


@pytest.mark.parametrize("threshold", ["train", "held_out"])
def test_a_model_without_held_out_rows_is_explained_and_described_without_p_values(folder, run, threshold):
    asked = f"--label fault --target no --method ockelm --grid threshold={threshold} --grid C=1,4"
    assert run(f"tune labelled.csv -o model.oneclass {asked}")[0] == 0
    known, row = threshold == "held_out", pd.read_csv("odd.csv")[:1]
    model = oneclass.load("model.oneclass")
    code, out, _ = run("explain model.oneclass odd.csv --row 1 --json")
    assert (code, json.loads(out)["label"]) == (0, -1)
    assert json.loads(out)["p_value"] == (model.p_value(row)[0] if known else None)
    assert ("p=" in run("explain model.oneclass odd.csv --row 1")[1]) == known
    code, out, _ = run("info model.oneclass --json")
    said = json.loads(out)
    assert (code, said["delta"], said["threshold"]) == (0, 0.05, threshold)
    assert ("held_out" in said, "rate_95" in said) == (known, known)
    code, _, error = run("score model.oneclass new.csv -o scored.csv --tail pareto")
    assert (code == 0) == known
    assert known or "fit with threshold='held_out'" in error
    assert (folder / "scored.csv").exists() == known


def test_explanations_in_json_are_those_of_the_library_with_nulls_for_gaps(folder, run, parcels):
    assert run("fit normal.csv -o model.oneclass --method pca")[0] == 0
    new = parcels(3, 1).assign(price=[np.nan, 4.0, 5.0])
    new.to_parquet("new.parquet")
    code, out, _ = run("explain model.oneclass new.parquet --json")
    assert (code, "NaN" in out) == (0, False)
    expected = oneclass.load("model.oneclass").explain(new[:1]).to_dicts()[0]["columns"]
    assert [(c["column"], c["value"]) for c in json.loads(out)["reasons"]] == [
        (c["column"], c["value"]) for c in expected
    ]
    assert {c["column"]: c["value"] for c in expected}["price"] is None


def test_screen_prints_the_suspicious_cells_and_writes_those_of_the_library(folder, run):
    code, out, _ = run("screen table.csv -o found.csv --repair mended.csv --drop note --drop id")
    assert code == 0
    found, table, mended = (pd.read_csv(f"{name}.csv") for name in ("found", "table", "mended"))
    expected = oneclass.TableDetector(columns={"note": "drop", "id": "drop"}).screen(table)
    np.testing.assert_array_equal(found["row"] - 1, [cell.row for cell in expected.cells])
    assert list(found["expected"].fillna("")) == [cell.expectation for cell in expected.cells]
    printed = {tuple(line.split()[:4]) for line in out.splitlines()}
    assert {("*", "61", "price", "99.0"), ("*", "62", "price", "-99.0")} <= printed
    assert "mended.csv: 2 cells replaced" in out
    assert (mended["price"] != table["price"]).sum() == 2
    assert mended["price"].abs().max() < 20


def test_groups_of_the_command_line_are_those_of_the_library(folder, run):
    assert run("fit normal.csv -o model.oneclass --method knn --groups zip --drop note")[0] == 0
    assert oneclass.load("model.oneclass").calibration_.total == 4  # groups
    assert run("fit normal.csv -o model.oneclass --force --method knn --groups zip --drop note --rate-by row")[0] == 0
    by_row = oneclass.load("model.oneclass")
    assert by_row.estimator_.rate_by == "row"
    sizes = pd.read_csv("normal.csv")["zip"].value_counts()
    assert by_row.calibration_.total == pytest.approx(sizes.sum() ** 2 / (sizes**2).sum())


def test_a_batch_of_outliers_comes_with_a_note(folder, run, parcels):
    moved = parcels(60, 5)
    numbers = moved.select_dtypes("number").columns
    moved.assign(**{name: 100 * moved[name] + 1e4 for name in numbers}).to_csv("moved.csv", index=False)
    assert run("fit normal.csv -o model.oneclass --method knn --drop note")[0] == 0
    code, _, err = run("score model.oneclass moved.csv -o scored.csv")
    assert code == 0
    assert err.count("more than chance explains") == 1


def test_a_table_without_names_uses_column_numbers(folder, run, parcels):
    parcels(60, 0).to_csv("bare.csv", index=False, header=False)
    assert run("fit bare.csv --no-header -o model.oneclass --drop 4")[0] == 0
    parcels(3, 1).to_csv("fresh.csv", index=False, header=False)
    code, out, _ = run("score model.oneclass fresh.csv --no-header")
    assert code == 0
    assert len(out.splitlines()) == 4


def test_progress_goes_to_the_callback(folder, run, monkeypatch):
    monkeypatch.setattr(options, "on_terminal", lambda: True)
    code, out, err = run("compare normal.csv --json --drop note")
    assert (code, len(json.loads(out)["methods"])) == (0, len(re.findall(r"\rcompare: \d+ of", err)))


def test_shells_complete_commands():
    source = str(Path(oneclass.__file__).parents[1])
    asked = {"PYTHONPATH": source, "_ONECLASS_COMPLETE": "zsh_source"}
    done = subprocess.run([sys.executable, "-m", "oneclass"], env=os.environ | asked, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "_ONECLASS_COMPLETE" in done.stdout


def test_every_kind_of_model_is_described(folder, run):
    X, y = np.random.default_rng(0).normal(size=(120, 2)), np.where(np.arange(120) % 9, 1, -1)
    machine = oneclass.VAAKELM(delta=0.1, approximation=oneclass.Nystrom(10)).fit(X)
    models = {
        "machine": machine,
        "search": oneclass.OneClassSearchCV(oneclass.KNNDetector(delta=0.1), {"n_neighbors": [3]}, cv=2).fit(X, y),
        "stream": oneclass.Stream(window=100).partial_fit(X),
        "table": oneclass.TableDetector(oneclass.PCADetector(delta=0.1)).fit(X),
    }
    for name, model in models.items():
        model.save(f"{name}.oneclass")
        code, out, _ = run(f"info {name}.oneclass --json")
        said = json.loads(out)
        assert (code, said["kind"]) == (0, type(model).__name__)
        if name != "stream":
            assert (said["delta"], said["rate_95"]) == (0.1, [*model.false_alarm_interval(delta=0.1)])
    assert said["columns"][0] == {"name": 0, "kind": "number", "why": "numbers"}


@pytest.mark.filterwarnings("ignore:The 'float_precision' argument")  # old versions of pandas need it
def test_a_table_of_decimal_commas_is_the_table_of_decimal_points(folder, run):
    for name in ("normal", "odd"):
        frame = pd.read_csv(f"{name}.csv", float_precision="round_trip")
        frame.to_csv(f"{name} comma.csv", sep=";", decimal=",", index=False)
    assert run("fit normal.csv -o point.oneclass --drop note")[0] == 0
    assert run("fit 'normal comma.csv' -o comma.oneclass --drop note --decimal ,")[0] == 0
    point, comma = (
        run(f"score {line} --keep id")[1]
        for line in ("point.oneclass odd.csv", "comma.oneclass 'odd comma.csv' --decimal ,")
    )
    assert comma == point
    assert point.count(",-1,") == 20


def test_a_fit_says_how_many_rows_the_rate_rests_on(folder, run):
    out = run("fit normal.csv -o model.oneclass --method pca --drop note")[1]
    total = oneclass.load("model.oneclass").calibration_.total
    assert out.splitlines()[-1] == f"model.oneclass: pca, delta=0.05, threshold from {total:g} held-out rows"


PAGES = [path for path in (Path(__file__).parents[2]).glob("docs/*.md") if "\noneclass " in path.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_lines_of_the_pages_are_commands(page):
    lines = [line for line in page.read_text().splitlines() if line.startswith("oneclass ")]
    for name, *arguments in (shlex.split(line.split("#")[0])[1:] for line in lines):
        command = group.commands[name]
        if isinstance(command, click.Group):
            name, *arguments = arguments
            command = command.commands[name]
        command.make_context(name, arguments)  # which refuses unknown options and lacking arguments


def test_a_model_without_a_table_is_refused_with_advice(folder, run):
    oneclass.KNNDetector().fit(np.random.default_rng(0).normal(size=(30, 2))).save("knn.oneclass")
    code, _, err = run("score knn.oneclass new.csv")
    assert (code, "this is a KNNDetector; fit one with oneclass fit, or save TableDetector(KNNDetector())" in err) == (
        3,
        True,
    )


def test_a_screen_in_json_holds_cells_and_a_summary(folder, run):
    code, out, _ = run("screen normal.csv --drop note --drop id --json --top 3")
    found = json.loads(out)
    assert (code, found["rows"], len({cell["row"] for cell in found["cells"]})) == (0, 60, 3)
    assert "stand" in found["summary"]


def test_segments_keep_the_rate_and_score_finds_them_in_their_column(folder, run):
    normal = pd.concat([pd.read_csv("normal.csv")] * 2, ignore_index=True)
    normal["price"] += np.random.default_rng(0).normal(0, 0.1, len(normal))
    normal.to_csv("twice.csv", index=False)
    code, out, _ = run("fit twice.csv -o model.oneclass --segments town --json")
    assert code == 0
    rates = json.loads(out)["segments"]
    assert [rate["segment"] for rate in rates] == ["Bonn", "Graz"]
    assert sum(rate["rows"] for rate in rates) == len(normal)
    described = run("info model.oneclass")[1]
    assert "with one threshold for all rows" in described
    assert re.search(r"Bonn +\d+ +[\d.]+ %  +[\d.]+ % to [\d.]+ %", described)
    assert run("score model.oneclass new.csv -o scored.csv")[0] == 0
    scored, model = pd.read_csv("scored.csv"), oneclass.load("model.oneclass")
    np.testing.assert_array_equal(scored["segment"], pd.read_csv("new.csv")["town"])
    np.testing.assert_array_equal(scored["label"], model.predict(pd.read_csv("new.csv")))


def test_a_table_is_compared_as_a_whole(folder, run):
    assert run("fit normal.csv -o model.oneclass")[0] == 0
    code, out, _ = run("compare-batch model.oneclass odd.csv --json")
    found = json.loads(out)
    assert (code, found["rows"], "price" in found["moved"]) == (0, 20, True)
    assert "differs from the training rows" in run("compare-batch model.oneclass odd.csv")[1]
    assert "may be like the training rows" in run("compare-batch model.oneclass new.csv")[1]
