"""Bad input at the command line: one sentence, a documented exit code, and no partial output."""

import os
import pickle
import re
import subprocess
import sys
import warnings
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather

import oneclass
from oneclass.cli import errors
from oneclass.cli.commands import oneclass as group

FIT = "fit bad.csv -o m.oneclass"
ROWS = b"a,b\n" + b"1,2\n2,4\n" * 9

BAD = {
    "empty": (b"", FIT, errors.BAD_DATA, "the file is empty"),
    "header alone": (b"a,b\n", FIT, errors.BAD_DATA, "rows"),
    "no header": (b"1,x\n2,y\n", FIT, errors.BAD_DATA, "use --header if it names the columns"),
    "one row": (b"a,b\n1,2\n", FIT, errors.BAD_DATA, "at least 2 rows, got 1"),
    "all dropped": (b"a\n1\n2\n", "fit bad.csv -o m.oneclass --drop a", errors.BAD_DATA, "no column is left"),
    "mixed": (b"a,b\n1,1\n2,2\nx,1\n4,2\n", FIT, errors.BAD_DATA, "holds both"),
    "not UTF-8": (b"a,b\n1,\xff\n2,\xfe\n", FIT, errors.BAD_DATA, "not in utf-8"),
    "numbers that count": (b"0,1,2\n4,5,7\n", FIT, errors.BAD_DATA, "--header or --no-header"),
    "two delimiters": (b"a;b,c\n1;2,3\n", FIT, errors.BAD_DATA, "--delimiter"),
    "ragged": (b"a,b\n1,2\n1,2,3\n", FIT, errors.BAD_DATA, "bad.csv: line 3 has 3 cells"),
    "figures of people": (
        b"a,b\n" + b"".join(b"%d kg,1\n%d lb,2\n" % (i, i) for i in range(40)),
        FIT,
        errors.BAD_DATA,
        "bad.csv: TableDetector: numbers must be written as 1234.5",
    ),
    "thousands or decimal commas": (
        b"a;b\n" + b"".join(b"%d,125;1\n2,750;2\n" % i for i in range(10, 40)),
        FIT,
        errors.BAD_DATA,
        "which may be 10125 or 10.125: use --column 'a=thousands' or --column 'a=decimal_comma'",
    ),
    "days or months": (
        b"a,b\n" + b"".join(b"%02d/02/2024,1\n05/02/2024,2\n" % i for i in range(1, 12)),
        FIT,
        errors.BAD_DATA,
        "which may be 2024-02-01 or 2024-01-02: use --date-format %d/%m/%Y or --date-format %m/%d/%Y",
    ),
    "an open quote": (b'a,b\n1,"2\n3,4\n', FIT, errors.BAD_DATA, "--newlines"),
    "a line break in a name": (b'a,"b\nc"\n1,2\n2,3\n', FIT, errors.BAD_DATA, "--newlines"),
    "a name twice": (b"a,a\n1,2\n2,3\n", FIT, errors.BAD_DATA, "names of their own"),
    "one long line": (b"a,b\n1,2\n3," + b"4" * (5 << 20) + b"\n", FIT, errors.BAD_DATA, "far longer than the first"),
    "endless line": (b"a" * (5 << 20), FIT, errors.BAD_DATA, "a line is longer"),
    "no such table": (b"", "fit none.csv -o m.oneclass", errors.NO_FILE, "none.csv: No such file"),
    "unknown kind": (b"", "fit bad.xyz -o m.oneclass", errors.BAD_DATA, "must end in one of"),
    "no such column": (b"a,b\n1,2\n2,4\n", "fit bad.csv -o m.oneclass --drop c", errors.BAD_DATA, "there is no 'c'"),
    "onto the input": (b"a,b\n1,2\n2,4\n", "fit bad.csv -o bad.csv", errors.BAD_DATA, "another file"),
    "a folder is the model": (b"a\n1\n", "score . bad.csv", errors.BAD_MODEL, ". is a directory, not a model file"),
    "a pickle is the model": (pickle.dumps({}), "score bad.csv bad.csv", errors.BAD_MODEL, "pickle"),
    "a pickle is described": (pickle.dumps({}), "info bad.csv", errors.BAD_MODEL, "pickle"),
    "a folder is written": (ROWS, "fit bad.csv -o .", errors.NO_FILE, "this is a folder"),
    "no folder to write to": (ROWS, "fit bad.csv -o none/m.oneclass", errors.NO_FILE, "no such folder"),
    "no folder for tuning": (ROWS, "tune bad.csv -o none/m.oneclass --label a", errors.NO_FILE, "no such folder"),
    "tuning onto the input": (ROWS, "tune bad.csv -o bad.csv --label a", errors.BAD_DATA, "another file"),
    "tuning nothing": (
        ROWS,
        "tune bad.csv -o m.oneclass --label a --method naiveparzen",
        errors.USAGE,
        "no default values to try",
    ),
    "tuning by no column": (ROWS, "tune bad.csv -o m.oneclass --label c", errors.BAD_DATA, "there is no 'c'"),
    "tuning by no label": (
        ROWS,
        "tune bad.csv -o m.oneclass --label a --target 7",
        errors.BAD_DATA,
        "--target must be the label of normal rows, one of '1', '2'; got '7'",
    ),
    "tuning nothing known": (
        ROWS,
        "tune bad.csv -o m.oneclass --label a --grid D=1",
        errors.USAGE,
        "vaakelm has no D; it has C",
    ),
    "no kind": (ROWS, f"{FIT} --column a", errors.USAGE, "--column must be NAME=VALUE, got 'a'"),
    "no such kind": (ROWS, f"{FIT} --column a=colour", errors.BAD_DATA, "must be one of 'number'"),
    "JSON among rows": (ROWS, "screen bad.csv -o - --json", errors.USAGE, "--json"),
    "usage": (b"", "fit bad.csv", errors.USAGE, "--output"),
    "one file for table and model": (ROWS, "screen bad.csv -o odd.csv --model odd.csv", errors.BAD_DATA, "the same"),
    "two names of one file": (ROWS, "screen bad.csv -o odd.csv --model ./odd.csv", errors.BAD_DATA, "the same"),
    "a model on standard output": (ROWS, "fit bad.csv -o -", errors.USAGE, "not written to standard output"),
    "standard output twice": (ROWS, "screen bad.csv --model -", errors.USAGE, "not written to standard output"),
    "a model onto a table": (ROWS, "fit bad.csv -o normal.csv", errors.NO_FILE, "normal.csv: the file is no model"),
    "a tuned model onto a table": (ROWS, "tune bad.csv -o new.csv --label a", errors.NO_FILE, "it with --force"),
    "a screened model onto a table": (ROWS, "screen bad.csv --model new.csv", errors.NO_FILE, "it with --force"),
    "scores onto another model": (ROWS, "score m.csv bad.csv -o m2.csv", errors.NO_FILE, "m2.csv: the file is a model"),
    "scores onto the model": (ROWS, "score m.csv bad.csv -o m.csv", errors.BAD_DATA, "got m.csv for both"),
    "a report onto the model": (ROWS, "report m.json bad.csv -o m.json", errors.BAD_DATA, "got m.json for both"),
    "no folder for a stream": (ROWS, "watch bad.csv --state none/stream", errors.NO_FILE, "no such folder"),
    "no encoding of text": (ROWS, f"{FIT} --encoding zlib", errors.BAD_DATA, "encoding must be a text encoding"),
    "escaped Parquet": (
        ROWS,
        "screen bad.csv -o odd.parquet --escape",
        errors.BAD_DATA,
        "--escape is for .csv and .tsv",
    ),
    "full disk": (ROWS, "fit bad.csv -o /dev/full --method pca", errors.NO_FILE, "No space left"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_ends_in_one_sentence_a_code_and_no_file(case, folder, run):
    content, line, expected, sentence = BAD[case]
    (folder / "bad.csv").write_bytes(content)
    if (model := line.split()[1]).startswith("m."):
        oneclass.TableDetector(oneclass.PCADetector()).fit(pd.read_csv("numbers.csv", header=None)).save(model)
        (folder / "m2.csv").write_bytes((folder / model).read_bytes())
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    code, out, err = run(line)
    assert code == expected
    assert sentence in err
    assert out == ""
    said = [line for line in err.splitlines() if line.startswith(("oneclass: ", "Error: "))]
    assert len([line for line in said if not line.startswith("oneclass: note: ")]) == 1
    assert "Traceback" not in err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (KeyboardInterrupt(), errors.INTERRUPTED),
        (click.Abort(), errors.INTERRUPTED),
        (MemoryError(), errors.BAD_DATA),
        (PermissionError(13, "Permission denied", "x.csv"), errors.NO_FILE),
    ],
)
def test_what_stops_a_command_has_a_code(error, code, capsys):
    def stopped():
        raise error

    assert errors.leave(stopped) == code
    assert capsys.readouterr().err.startswith("oneclass: ")


def command(line, **streams):
    """A command in a process of its own: exit code and errors."""
    environment = os.environ | {"PYTHONPATH": str(Path(oneclass.__file__).parents[1])}
    arguments = [sys.executable, "-m", "oneclass", *line.split()]
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, env=environment, **streams) as process:
        if process.stdout:
            process.stdout.close()  # a reader that goes away
        said = process.stderr.read().decode()
    return process.returncode, said.splitlines()[-1]


def test_a_closed_pipe_and_a_full_disk_end_the_command_in_one_sentence(folder, run, parcels):
    parcels(5000, 3).drop(columns="note").to_csv("long.csv", index=False)
    run("fit normal.csv -o model.oneclass --method pca --drop note")
    line = "score model.oneclass long.csv"
    assert command(line, stdout=subprocess.PIPE) == (
        errors.BROKEN_PIPE,
        "oneclass: the reader of the output has gone",
    )
    with open("/dev/full", "wb") as full:
        code, said = command(line, stdout=full)
    assert (code, "No space left on device" in said) == (errors.NO_FILE, True)


def test_one_column_is_a_table(folder, run):
    (folder / "one.csv").write_text("a\n" + "\n".join(map(str, np.random.default_rng(0).normal(size=40))))
    assert run("fit one.csv -o model.oneclass --method pca")[0] == 0
    code, out, _ = run("score model.oneclass one.csv")
    assert (code, len(out.splitlines())) == (0, 41)


def test_an_interruption_leaves_the_older_file(folder, run, monkeypatch):
    run("fit new.csv -o model.oneclass --method knn")

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("oneclass.io.container.os.fsync", interrupted, raising=False)
    monkeypatch.setattr("oneclass.io.replacing.os.fsync", interrupted)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert run("fit normal.csv -o model.oneclass --method pca")[0] == errors.INTERRUPTED
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_model_replaces_models_and_empty_files_and_others_only_by_force(folder, run):
    (folder / "empty.oneclass").touch()
    assert run("fit normal.csv -o empty.oneclass --method pca")[0] == 0
    assert run("fit normal.csv -o empty.oneclass --method knn")[0] == 0
    assert run("fit normal.csv -o odd.csv --method pca --force")[0] == 0
    assert [type(oneclass.load(path).estimator_).__name__ for path in ("empty.oneclass", "odd.csv")] == [
        "KNNDetector",
        "PCADetector",
    ]


def test_the_help_and_the_page_tell_every_exit_code():
    codes = {0, *(getattr(errors, name) for name in errors.__all__ if name.isupper())}
    assert {int(code) for code in re.findall(r"(?:codes: |, )(\d+) ", " ".join(group.help.split()))} == codes
    page = (Path(__file__).parents[2] / "docs/command_line.md").read_text()
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.M)} == codes


@pytest.mark.slow
def test_ten_thousand_columns_are_a_table(folder, run):
    wide = pd.DataFrame(np.random.default_rng(0).normal(size=(10, 10_000)).round(3)).add_prefix("c")
    wide.to_csv("wide.csv", index=False)
    assert run("fit wide.csv -o model.oneclass --method knn")[0] == 0
    assert run("score model.oneclass wide.csv -o scored.csv")[0] == 0


def test_scoring_to_the_input_file_is_refused_and_keeps_it(folder, run):
    run("fit normal.csv -o model.oneclass --method pca")
    before = (folder / "new.csv").read_bytes()
    code, _, err = run("score model.oneclass new.csv -o new.csv")
    assert (code, "another file" in err) == (errors.BAD_DATA, True)
    assert (folder / "new.csv").read_bytes() == before


def test_a_cell_that_cannot_be_scored_is_named_with_file_column_and_row(folder, run, parcels, monkeypatch):
    monkeypatch.setattr("oneclass.io.batches._MAX_ROWS", 7)
    run("fit normal.csv -o model.oneclass --method pca --drop note")
    table = parcels(20, 1).astype({"price": object})
    table.loc[16, "price"] = "6,5"
    table.to_csv("typo.csv", index=False)
    said = "typo.csv: TableDetector: column 'price' must hold a number in every cell, as at the fit, but holds '6,5'"
    code, _, err = run("score model.oneclass typo.csv -o scored.csv --bad-cells refuse")
    assert (code, f"{said}, first in row 17; where numbers have decimal commas" in err) == (errors.BAD_DATA, True)
    assert said in run("compare normal.csv typo.csv --drop note --bad-cells refuse")[2]
    run("fit normal.csv -o strict.oneclass --method pca --drop note --bad-cells refuse")
    assert said in run("explain strict.oneclass typo.csv --row 17")[2]
    assert said in run("report strict.oneclass typo.csv -o report.html")[2]
    counted = (
        "rows are outliers because a cell is not a value of its column: column 'price': 1 not a number: '6,5', first in"
    )
    code, _, err = run("score model.oneclass typo.csv -o scored.csv")
    assert (code, err.count(counted), "first in row 17;" in err) == (0, 1, True)
    scored = pd.read_csv("scored.csv")
    assert (scored["label"][16], scored["reason_1"][16].startswith("price=6,5 (expected ")) == (-1, True)
    assert "price=6,5" in run("explain model.oneclass typo.csv --row 17")[1].splitlines()[1]
    assert "price = 6,5" in run("report model.oneclass typo.csv -o - --rows 20")[1]
    code, _, err = run("score model.oneclass typo.csv -o gaps.csv --bad-cells gap")
    assert (code, "cells are treated as missing values" in err) == (0, True)


@pytest.mark.parametrize("link", [os.symlink, os.link])
@pytest.mark.parametrize("exists", [True, False])
def test_links_to_one_file_are_one_output(folder, run, link, exists):
    if exists:
        (folder / "odd.csv").write_text("before")
    elif link is os.link:
        return
    link("odd.csv", "model.oneclass")
    code, _, err = run("screen table.csv -o odd.csv --model model.oneclass")
    assert (code, "outputs must be different files, got odd.csv and model.oneclass, which are" in err) == (3, True)
    assert not exists or (folder / "odd.csv").read_text() == "before"


def test_a_model_file_larger_than_the_memory_is_a_model_that_cannot_be_read(folder, run, monkeypatch):
    assert run("fit normal.csv -o m.oneclass --method pca")[0] == 0

    def too_large(*_):
        raise MemoryError("Unable to allocate 186. GiB")

    monkeypatch.setattr(np, "fromfile", too_large)
    code, _, err = run("info m.oneclass")
    assert (code, "m.oneclass is too large for the memory: it has" in err) == (errors.BAD_MODEL, True)


def test_times_that_no_calendar_has_end_in_a_sentence(folder, run):
    times = pa.array([0] * 59 + [2**61]).cast(pa.timestamp("ms", "Europe/Berlin"))
    feather.write_feather(pa.table({"a": np.arange(60.0), "t": times}), "bad.feather")
    code, _, err = run("fit bad.feather -o m.oneclass --method pca")
    assert (code, err.count("\n")) == (errors.BAD_DATA, 1)


def test_control_characters_reach_no_terminal(capsys):
    def refused():
        warnings.warn("a column \x1b[31mred", UserWarning, stacklevel=1)
        raise ValueError("a column \x1b[31mred " + "x" * 10_000)

    assert errors.leave(refused) == errors.BAD_DATA
    err = capsys.readouterr().err
    assert "\x1b" not in err
    assert "a column \\x1b[31mred" in err
    assert len(err) < 2200


def test_text_is_escaped_for_spreadsheets_if_that_is_asked_for(folder, run):
    pd.read_csv("table.csv").assign(id=["=x", "-y"] * 31).to_csv("new.csv", index=False)
    assert run("fit normal.csv -o model.oneclass --method pca --drop note")[0] == 0
    plain, escaped = (
        run(f"score model.oneclass new.csv --keep id -o found.csv{how}")[0] or pd.read_csv("found.csv")
        for how in ("", " --escape")
    )
    assert len(plain)
    assert set(plain["id"]) <= {"=x", "-y"}
    assert (escaped["id"] == "'" + plain["id"]).all()
    pd.testing.assert_frame_equal(plain.select_dtypes("number"), escaped.select_dtypes("number"))
