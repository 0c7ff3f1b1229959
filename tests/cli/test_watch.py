"""``oneclass watch``: alarms and events line by line, and a state file without losses."""

import gzip
import io
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import oneclass
from oneclass.cli import errors, following, watch
from oneclass.cli.commands import oneclass as group

WATCH = "watch rows.csv --state stream.oneclass --opening 200 --window 300"


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 2))
    X[450:] += 9.0
    return X


@pytest.fixture
def written(tmp_path, monkeypatch, X):
    """Writes the first rows of the stream as a table."""
    monkeypatch.chdir(tmp_path)

    def write(n, header="a,b\n"):
        (tmp_path / "rows.csv").write_text(header + "".join(f"{a!r},{b!r}\n" for a, b in X[:n].tolist()))

    return write


def run(line, capsys):
    code = errors.leave(lambda: group.main(shlex.split(line), prog_name="oneclass", standalone_mode=False))
    said = capsys.readouterr()
    return code, [json.loads(line) for line in said.out.splitlines()], said.err


def named(X):
    return pd.DataFrame(X, columns=["a", "b"])


def watched(X, opening=200):
    """The stream of a table that has watched these rows, and the numbers of its alarms, from 1."""
    stream, found = oneclass.TableDetector(oneclass.Stream(window=300)), []
    for a, b in [(0, opening), *((a, a + 50) for a in range(opening, len(X), 50))]:
        verdict = stream.watch(X[a:b])
        found += (verdict.rows[verdict.labels < 0] + 1).tolist()
    return stream, found


def test_what_is_watched_is_what_the_library_says(written, X, capsys):
    written(700)
    code, said, _ = run(WATCH, capsys)
    stream, alarms = watched(X)
    assert code == 0
    assert [line["alarm"] for line in said if "alarm" in line] == alarms
    assert [(line["event"], line["row"]) for line in said if "event" in line] == [
        (event.kind, event.row) for event in stream.events_
    ]
    change = next(line for line in said if line.get("event") == "change")
    assert {moved["column"] for moved in change["columns"]} == {"a", "b"}
    np.testing.assert_array_equal(oneclass.load("stream.oneclass").score_samples(named(X)), stream.score_samples(X))


def test_a_file_that_grew_is_continued(written, X, capsys):
    said = []
    for n in (450, 600, 700):
        written(n)
        code, lines, _ = run(WATCH, capsys)
        said += lines
        assert code == 0
    stream, alarms = watched(X)
    assert [line["alarm"] for line in said if "alarm" in line] == alarms
    np.testing.assert_array_equal(oneclass.load("stream.oneclass").score_samples(named(X)), stream.score_samples(X))


@pytest.mark.parametrize(
    ("option", "value", "kept"),
    [
        ("delta", 0.3, 0.05),
        ("window", 50.0, 300.0),
        ("half-life", 9.0, None),
        ("patience", 7.0, "prompt"),
        ("every", 10, 50),
    ],
)
def test_a_stream_that_continues_takes_no_other_parameters(written, tmp_path, capsys, option, value, kept):
    written(210)
    assert run(WATCH, capsys)[0] == 0
    before = (tmp_path / "stream.oneclass").read_bytes()
    written(300)
    again = f"watch rows.csv --state stream.oneclass --{option} {value}"
    code, said, err = run(again, capsys)
    assert (code, said) == (errors.BAD_DATA, [])
    assert f"stream.oneclass: --{option} must be that of the stream in this file, {kept}, got {value}" in err
    assert (tmp_path / "stream.oneclass").read_bytes() == before
    if kept not in (None, "prompt"):
        assert run(again.replace(str(value), str(kept)), capsys)[0] == 0


@pytest.mark.parametrize("columns", [["b", "a"], ["b", "new", "a"]])
def test_columns_are_taken_by_the_names_that_the_stream_began_with(written, X, capsys, columns):
    written(400)
    code, said, _ = run(WATCH, capsys)
    named(X).assign(new=0.0)[columns].to_csv("rows.csv", index=False)
    again, lines, err = run(WATCH, capsys)
    stream, alarms = watched(X)
    assert (code, again) == (0, 0)
    assert [line["alarm"] for line in said + lines if "alarm" in line] == alarms
    np.testing.assert_array_equal(oneclass.load("stream.oneclass").score_samples(named(X)), stream.score_samples(X))
    assert "columns have another order than in the stream; they are matched by name" in err
    assert ("these columns are not those of the stream and are left out: 'new'" in err) == ("new" in columns)


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        ("a,c\n", "rows.csv: the first line must name the columns of the stream, but lacks 'b'"),
        ("a,a\n", "rows.csv: columns must have names of their own, but more than one is 'a'"),
    ],
)
def test_other_columns_than_the_stream_began_with_are_refused(written, tmp_path, capsys, header, sentence):
    written(210)
    assert run(WATCH, capsys)[0] == 0
    before = (tmp_path / "stream.oneclass").read_bytes()
    written(300, header)
    code, said, err = run(WATCH, capsys)
    assert (code, said) == (errors.BAD_DATA, [])
    assert sentence in err
    assert (tmp_path / "stream.oneclass").read_bytes() == before


@pytest.mark.parametrize(("first", "then"), [("", "a,b\n"), ("a,b\n", "")])
def test_a_stream_with_or_without_column_names_continues_with_lines_of_the_other_kind(written, X, capsys, first, then):
    written(400, first)
    assert run(WATCH, capsys)[0] == 0
    written(700, then)
    code, said, err = run(WATCH, capsys)
    assert "feature names" not in err
    stream, _ = watched(X)
    change = next(line for line in said if line.get("event") == "change")
    assert (code, {moved["column"] for moved in change["columns"]}) == (0, {"a", "b"} if first else {"0", "1"})
    rows = named(X) if first else X
    np.testing.assert_array_equal(oneclass.load("stream.oneclass").score_samples(rows), stream.score_samples(X))


def test_standard_input_is_continued_without_skipping_rows(written, X, capsys, monkeypatch):
    for a, b in ((0, 450), (450, 700)):
        text = "".join(f"{x!r},{y!r}\n" for x, y in X[a:b].tolist())
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        assert run(WATCH.replace("rows.csv", "-"), capsys)[0] == 0
    stream, _ = watched(X)
    np.testing.assert_array_equal(oneclass.load("stream.oneclass").score_samples(X), stream.score_samples(X))


@pytest.mark.parametrize("follow", ["", " --follow"])
@pytest.mark.parametrize("rows", [0, 1, 149, 199])
def test_a_file_of_fewer_rows_than_were_seen_is_another_one(written, tmp_path, capsys, monkeypatch, rows, follow):
    monkeypatch.setattr(following, "_PAUSE", 0)
    written(201)
    assert run(WATCH, capsys)[0] == 0
    before = (tmp_path / "stream.oneclass").read_bytes()
    written(rows)
    code, said, err = run(WATCH + follow, capsys)
    assert (code, said) == (errors.BAD_DATA, [])
    assert f"rows.csv: the file must begin with the 201 rows that the stream has seen, got {rows}; rows of" in err
    assert (tmp_path / "stream.oneclass").read_bytes() == before


def test_an_empty_file_is_another_one_too(written, tmp_path, capsys):
    written(201)
    assert run(WATCH, capsys)[0] == 0
    (tmp_path / "rows.csv").write_text("")
    code, _, err = run(WATCH, capsys)
    assert code == errors.BAD_DATA
    assert "the 201 rows that the stream has seen, got 0" in err


def test_a_file_with_known_rows_only_waits_for_more_rows(written, capsys):
    written(201)
    assert [run(WATCH, capsys)[0] for _ in range(2)] == [0, 0]


def test_a_last_line_that_was_seen_without_its_end_is_waited_for():
    lines = iter(["1", "2", "", "", "3", "4"])  # an empty one where there are no more for now
    watch._skip(lines, 3)
    assert list(lines) == ["4"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (
            "1,2\n1,2,3\n",
            "rows.csv: row 2: a line must hold 2 cells, with both quotes of a cell in one line, got '1,2,3'",
        ),
        ('a,b\n1,2\n1,"x\n', "row 2: a line must hold 2 cells, with both quotes"),
        (
            "1,x\n1,2\n",
            "the first line holds words and numbers, '1,x'; use --header if it names the columns, --no-header",
        ),
        ("a,a\n1,2\n1,3\n", "columns must have names of their own"),
        ("a,b\n1,2\n", "rows.csv: a stream must begin with at least two rows, got one"),
        ("a\n" + "1,2\n" * 3, "rows.csv: the first line must name the 2 columns of the rows, got 'a'"),
        ("a,b,c\n" + "1,2\n" * 3, "rows.csv: the first line must name the 2 columns of the rows, got 'a,b,c'"),
    ],
)
def test_lines_that_are_no_rows_end_in_a_sentence_and_no_file(written, tmp_path, capsys, content, sentence):
    (tmp_path / "rows.csv").write_text(content)
    code, said, err = run(WATCH, capsys)
    assert (code, said) == (errors.BAD_DATA, [])
    assert sentence in err
    assert not (tmp_path / "stream.oneclass").exists()


@pytest.mark.parametrize("packed", [gzip.compress, lambda text: text.decode().encode("utf-16")], ids=["gzip", "UTF-16"])
def test_what_is_no_plain_text_is_refused_with_the_name_of_the_file(written, tmp_path, capsys, packed):
    (tmp_path / "rows.csv").write_bytes(packed(b"1,2\n" * 3))
    code, _, err = run(WATCH, capsys)
    assert code == errors.BAD_DATA
    assert "rows.csv: only plain text in UTF-8 can be watched: unpack or convert it first" in err


def test_names_that_python_takes_for_numbers_are_no_row(written, X, capsys):
    written(700, header="2020_01,2020_02\n")
    code, said, _ = run(WATCH, capsys)
    stream, _ = watched(X)
    assert (code, oneclass.load("stream.oneclass").n_seen_) == (0, stream.n_seen_)
    change = next(line for line in said if line.get("event") == "change")
    assert {moved["column"] for moved in change["columns"]} == {"2020_01", "2020_02"}


def test_a_name_in_quotes_may_hold_the_delimiter(written, capsys):
    written(700, header='"flow, l/s",temp\n')
    code, said, _ = run(WATCH, capsys)
    change = next(line for line in said if line.get("event") == "change")
    assert (code, {moved["column"] for moved in change["columns"]}) == (0, {"flow, l/s", "temp"})


def test_a_byte_order_mark_hides_no_row(tmp_path, capsys, monkeypatch, X):
    monkeypatch.chdir(tmp_path)
    lines = "\r\n".join(",".join(map(str, row)) for row in X[:120])
    (tmp_path / "rows.csv").write_text(lines, encoding="utf-8-sig", newline="")
    code, _, err = run("watch rows.csv --state stream.oneclass", capsys)
    assert (code, oneclass.load("stream.oneclass").n_seen_) == (0, 120)
    assert "there are 120 rows, fewer than the 500 of --opening" in err


@pytest.mark.parametrize("opening", [3, 4])
def test_an_opening_is_waited_for_and_later_rows_are_not(opening):
    lines = ["1", "", "2", "3", "", "4", "5", "", "6", "7", "8", "9"]  # an empty one where there are no more for now
    blocks = list(watch._blocks(iter(lines), opening, 3))
    assert blocks == [list("123456789")[a:b] for a, b in {3: [(0, 3), (3, 5), (5, 8), (8, 9)],
                                                          4: [(0, 4), (4, 5), (5, 8), (8, 9)]}[opening]]  # fmt: skip


@pytest.mark.slow
def test_lines_that_are_added_are_followed(written, X, tmp_path):
    written(400)
    command = [sys.executable, "-m", "oneclass", *shlex.split(WATCH), "--follow"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=tmp_path, env=os.environ) as process:
        deadline, path = time.monotonic() + 60, tmp_path / "stream.oneclass"
        while time.monotonic() < deadline and not (path.exists() and oneclass.load(path).n_seen_ == 400):
            time.sleep(0.05)
        with (tmp_path / "rows.csv").open("a") as file:
            file.write("".join(f"{a!r},{b!r}\n" for a, b in X[400:430].tolist()) + "1.5,")
        while time.monotonic() < deadline and oneclass.load(path).n_seen_ != 430:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        process.stdout.read()
    assert oneclass.load(path).n_seen_ == 430
    assert process.returncode == errors.INTERRUPTED


def parcels(n, seed):
    rng = np.random.default_rng(seed)
    sent = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 60 * 86_400, n), unit="s")
    return pd.DataFrame({"id": [f"p{seed}-{i}" for i in range(n)], "grams": rng.normal(1500, 60, n).round(1),
                         "town": rng.choice(["Bonn, am Rhein", "Graz"], n), "sent": sent})  # fmt: skip


def test_a_table_with_words_dates_and_gaps_is_watched(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    opening, later = parcels(300, 0), parcels(100, 1).astype({"grams": object})
    later.loc[10, "grams"], later.loc[20, "town"], later.loc[30, "grams"] = 9000.0, "Oslo", "broken"
    later.loc[[40, 41], ["grams", "sent"]] = None
    opening.to_csv("rows.csv", index=False)
    command = "watch rows.csv --state stream.oneclass --opening 300"
    code, said, err = run(command, capsys)
    assert (code, said) == (0, [])
    assert "left out 'id'" in err
    pd.concat([opening, later]).to_csv("rows.csv", index=False)
    code, said, err = run(command, capsys)
    assert (code, err) == (0, "")
    alarms = {line["alarm"]: line for line in said if "alarm" in line}
    assert {311, 321, 331, 341, 342} <= alarms.keys()
    for number, column in ((311, "grams=9000"), (321, "town=Oslo"), (331, "grams=broken"), (341, "missing")):
        assert column in " ".join(alarms[number]["reasons"])
        assert alarms[number]["id"] == f"p1-{number - 301}"
        assert alarms[number]["p_value"] <= 0.05
    assert alarms[311]["time"] == str(later["sent"][10])
    model = oneclass.load("stream.oneclass")
    assert model.n_seen_ == 400
    # The stream is explained, described and used as any other model.
    pd.concat([opening, later]).to_csv("table.csv", index=False)
    code = errors.leave(lambda: group.main(shlex.split("explain stream.oneclass table.csv --row 311"),
                                           prog_name="oneclass", standalone_mode=False))  # fmt: skip
    assert (code, "grams=9000" in capsys.readouterr().out) == (0, True)
    assert run("info stream.oneclass --json", capsys)[1][0]["rows"] == 400


def test_a_file_of_words_without_names_is_continued(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for n in (300, 400):
        parcels(400, 0)[:n].to_csv("rows.csv", index=False, header=False)
        option = " --no-header" if n == 300 else ""
        assert run(f"watch rows.csv --state stream.oneclass --opening 300{option}", capsys)[0] == 0
    assert oneclass.load("stream.oneclass").n_seen_ == 400


def test_the_file_of_a_stream_of_numbers_alone_is_continued(written, X, capsys):
    stream = oneclass.Stream(window=300).partial_fit(named(X[:200]))
    stream.save("stream.oneclass")
    written(700)
    code, said, _ = run(WATCH, capsys)
    expected = []
    for a in range(200, 700, 50):
        verdict = stream.watch(named(X[a : a + 50]))
        expected += (verdict.rows[verdict.labels < 0] + 1).tolist()
    assert (code, [line["alarm"] for line in said if "alarm" in line]) == (0, expected)
    assert all(line["reasons"] for line in said if "alarm" in line)


@pytest.mark.parametrize("cell", ["", "x", "nan", "inf", "#REF!"])
def test_a_stream_of_numbers_goes_on_after_a_row_with_a_bad_cell(written, X, capsys, cell):
    oneclass.Stream(window=300).partial_fit(named(X[:200])).save("start.oneclass")
    shutil.copy("start.oneclass", "stream.oneclass")
    written(700)
    _, expected, _ = run(WATCH, capsys)
    shutil.copy("start.oneclass", "stream.oneclass")
    lines = Path("rows.csv").read_text().splitlines()  # the first one holds names
    bad = f"1,{cell}"
    broken = [*lines[:301], bad, *lines[301:601], bad, bad, *lines[601:]]
    Path("rows.csv").write_text("\n".join(broken[:650]) + "\n")
    _, first, _ = run(WATCH, capsys)
    Path("rows.csv").write_text("\n".join(broken) + "\n")  # the command is started again
    code, then, _ = run(WATCH, capsys)
    assert code == 0
    told = [line for line in [*first, *then] if "bad_cells" in line]
    assert told == [{"alarm": at, "bad_cells": {"b": cell}} for at in (301, 601, 601)]
    assert oneclass.load("stream.oneclass").n_seen_ == 700
    assert {line["alarm"] for line in [*first, *then] if "score" in line} >= {
        line["alarm"] for line in expected if "alarm" in line and line["alarm"] < 600
    }


@pytest.mark.parametrize("cell", ["", "x", "nan", "#REF!"])
def test_a_stream_of_a_table_counts_rows_with_bad_cells(written, X, capsys, cell):
    written(300)
    assert run(WATCH, capsys)[0] == 0
    with Path("rows.csv").open("a") as file:
        file.write(f"1,{cell}\n" * 2)
    for _ in range(2):  # the second time, nothing is new
        code, said, _ = run(WATCH, capsys)
        assert code == 0
        assert oneclass.load("stream.oneclass").n_seen_ == 302
        assert [line["alarm"] for line in said] in ([], [301, 302])
