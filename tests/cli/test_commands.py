"""The command line: what its help promises, what it writes, and how it ends."""

import io
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
from oneclass.cli import ending
from oneclass.cli.commands import oneclass as group

ROWS = 60


def parcels(n, seed):
    rng = np.random.default_rng(seed)
    grams = rng.gamma(4, 300, n)
    town = rng.choice(["Bonn", "Graz"], n)
    return pd.DataFrame({"id": np.arange(n), "grams": grams, "price": grams / 400 + rng.normal(0, 0.3, n), "town": town,
                         "note": [f"n{i}" for i in range(n)], "zip": rng.integers(0, 4, n)})  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parcels(ROWS, 0).to_csv("normal.csv", index=False)
    parcels(20, 1).to_csv("new.csv", index=False)
    parcels(20, 2).assign(price=99.0).to_csv("odd.csv", index=False)
    np.savetxt("numbers.csv", np.random.default_rng(0).normal(size=(600, 3)), delimiter=",")
    pd.concat([parcels(ROWS, 0), parcels(2, 2).assign(price=[99.0, -99.0])]).to_csv("table.csv", index=False)
    return tmp_path


def run(line, capsys, stdin=None, monkeypatch=None):
    """Exit code, output and errors of a command line."""
    if stdin is not None:
        monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": io.BytesIO(stdin)}))
    code = ending.leave(lambda: group.main(shlex.split(line), prog_name="oneclass", standalone_mode=False))
    said = capsys.readouterr()
    return code, said.out, said.err


def examples(command):
    """Command lines that the help of a command, and of those below it, shows."""
    yield from re.findall(r"^ +oneclass (.*)$", command.help or "", re.M)
    for below in getattr(command, "commands", {}).values():
        yield from examples(below)


def test_every_command_has_an_example():
    def leaves(command):
        below = getattr(command, "commands", None)
        return [leaf for child in below.values() for leaf in leaves(child)] if below else [command]

    assert [leaf.name for leaf in leaves(group) if not [*examples(leaf)]] == []


@pytest.mark.parametrize("line", dict.fromkeys(examples(group)))
def test_examples_of_the_help_run(line, folder, capsys, monkeypatch):
    if "model.oneclass" in line and not line.startswith("fit"):
        assert run("fit normal.csv -o model.oneclass", capsys)[0] == 0
    command, _, files = line.partition("<")
    stdin = (folder / "new.csv").read_bytes() if files else None
    code, out, err = run(command, capsys, stdin, monkeypatch)
    assert (code, re.findall("Traceback", err)) == (0, [])
    assert out or "-o" in line


def test_fit_then_score_is_the_library(folder, capsys):
    assert run("fit normal.csv -o model.oneclass --drop zip", capsys)[0] == 0
    code, out, _ = run("score model.oneclass odd.csv -o scored.parquet --json", capsys)
    table = oneclass.load("model.oneclass")
    odd, scored = pd.read_csv("odd.csv"), pd.read_parquet("scored.parquet")
    np.testing.assert_allclose(scored["score"], table.score_samples(odd), rtol=1e-9)
    np.testing.assert_array_equal(scored["label"], table.predict(odd))
    np.testing.assert_array_equal(scored["id"].astype(int), odd["id"])
    assert code == 0
    assert json.loads(out) == {"output": "scored.parquet", "rows": 20, "outliers": int((scored["label"] < 0).sum())}
    assert scored["reason_1"].str.startswith("price=99").all()


def test_screen_writes_the_odd_rows_of_the_library(folder, capsys):
    assert run("screen table.csv -o found.csv --drop note --drop id", capsys)[0] == 0
    found, table = pd.read_csv("found.csv"), pd.read_csv("table.csv")
    odd = oneclass.TableDetector(columns={"note": "drop", "id": "drop"}).screen(table).odd
    assert {ROWS + 1, ROWS + 2} <= set(found["row"])
    np.testing.assert_array_equal(found["row"], np.flatnonzero(odd) + 1)
    np.testing.assert_allclose(found["price"], table["price"][odd])


def test_groups_of_the_command_line_are_those_of_the_library(folder, capsys):
    assert run("fit normal.csv -o model.oneclass --method knn --groups zip --drop note", capsys)[0] == 0
    assert oneclass.load("model.oneclass").calibration_.total == 4  # groups


def test_a_table_without_names_goes_by_places(folder, capsys):
    parcels(ROWS, 0).to_csv("bare.csv", index=False, header=False)
    assert run("fit bare.csv --no-header -o model.oneclass --drop 4", capsys)[0] == 0
    parcels(3, 1).to_csv("fresh.csv", index=False, header=False)
    code, out, _ = run("score model.oneclass fresh.csv --no-header", capsys)
    assert code == 0
    assert len(out.splitlines()) == 4


BAD = {
    "empty": (b"", "fit bad.csv -o m.oneclass", ending.BAD_DATA, "the file is empty"),
    "header alone": (b"a,b\n", "fit bad.csv -o m.oneclass", ending.BAD_DATA, "rows"),
    "no header": (b"1,x\n2,y\n", "fit bad.csv -o m.oneclass", ending.BAD_DATA, "say header="),
    "one row": (b"a,b\n1,2\n", "fit bad.csv -o m.oneclass", ending.BAD_DATA, "at least 2 rows, got 1"),
    "all dropped": (b"a\n1\n2\n", "fit bad.csv -o m.oneclass --drop a", ending.BAD_DATA, "no column is left"),
    "mixed": (b"a,b\n1,1\n2,2\nx,1\n4,2\n", "fit bad.csv -o m.oneclass", ending.BAD_DATA, "holds both"),
    "not UTF-8": (b"a,b\n1,\xff\n2,\xfe\n", "fit bad.csv -o m.oneclass", ending.BAD_DATA, "not in utf-8"),
    "endless line": (b"a" * (5 << 20), "fit bad.csv -o m.oneclass", ending.BAD_DATA, "a line is longer"),
    "no such table": (b"", "fit none.csv -o m.oneclass", ending.NO_FILE, "none.csv: No such file"),
    "table is a folder": (b"", "fit . -o m.oneclass", ending.NO_FILE, "this is a folder"),
    "unknown kind": (b"", "fit bad.xyz -o m.oneclass", ending.BAD_DATA, "must end in one of"),
    "no such column": (b"a,b\n1,2\n2,4\n", "fit bad.csv -o m.oneclass --drop c", ending.BAD_DATA, "there is no 'c'"),
    "onto the input": (b"a,b\n1,2\n2,4\n", "fit bad.csv -o bad.csv", ending.BAD_DATA, "another file"),
    "model is a folder": (b"a\n1\n", "score . bad.csv", (ending.BAD_MODEL, ending.NO_FILE), "."),
    "model is a pickle": (b"\x80\x04\x95", "score bad.csv bad.csv", ending.BAD_MODEL, "bad.csv"),
    "usage": (b"", "fit bad.csv", ending.USAGE, "--output"),
    "full disk": (b"a,b\n" + b"1,2\n2,4\n" * 9, "fit bad.csv -o /dev/full", ending.NO_FILE, "No space left"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_ends_in_one_sentence_a_code_and_no_file(case, folder, capsys):
    content, line, codes, sentence = BAD[case]
    (folder / "bad.csv").write_bytes(content)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    code, out, err = run(line, capsys)
    assert code in (codes if isinstance(codes, tuple) else (codes,))
    assert sentence in err
    assert out == ""
    assert "Traceback" not in err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (KeyboardInterrupt(), ending.INTERRUPTED),
        (click.Abort(), ending.INTERRUPTED),
        (MemoryError(), ending.BAD_DATA),
        (PermissionError(13, "Permission denied", "x.csv"), ending.NO_FILE),
    ],
)
def test_what_stops_a_command_has_a_code(error, code, capsys):
    def stopped():
        raise error

    assert ending.leave(stopped) == code
    assert capsys.readouterr().err.startswith("oneclass: ")


def test_a_reader_that_goes_away_ends_the_command_in_one_sentence(folder, capsys):
    parcels(5000, 3).drop(columns="note").to_csv("long.csv", index=False)
    run("fit normal.csv -o model.oneclass --method pca --drop note", capsys)
    command = [sys.executable, "-m", "oneclass", "score", "model.oneclass", "long.csv"]
    source = str(Path(oneclass.__file__).parents[1])
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | {"PYTHONPATH": source}
    ) as process:
        process.stdout.close()
        said = process.stderr.read().decode()
    assert process.returncode == ending.BROKEN_PIPE
    assert said.splitlines()[-1] == "oneclass: the reader of the output has gone"


@pytest.mark.slow
def test_ten_thousand_columns_are_a_table(folder, capsys):
    wide = pd.DataFrame(np.random.default_rng(0).normal(size=(10, 10_000)).round(3)).add_prefix("c")
    wide.to_csv("wide.csv", index=False)
    assert run("fit wide.csv -o model.oneclass --method knn", capsys)[0] == 0
    assert run("score model.oneclass wide.csv -o scored.csv", capsys)[0] == 0


def test_scoring_onto_the_input_leaves_it_alone(folder, capsys):
    run("fit normal.csv -o model.oneclass", capsys)
    before = (folder / "new.csv").read_bytes()
    code, _, err = run("score model.oneclass new.csv -o new.csv", capsys)
    assert (code, "another file" in err) == (ending.BAD_DATA, True)
    assert (folder / "new.csv").read_bytes() == before
