"""Text on a terminal of 80 or 120 columns, and in a pipe."""

import os
import pty
import re
import select
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import pytest

import oneclass
from oneclass import cli
from oneclass.cli import options, terminal
from oneclass.cli.terminal import drawn, number

STYLE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def table(folder, parcels):
    rows = parcels(60, 0).assign(sent=pd.date_range("2024-01-01", periods=60, freq="37h"), a_rather_long_name=1)
    rows.to_csv("wide.csv", index=False)
    return "wide.csv"


@pytest.fixture
def on_terminal(monkeypatch):
    def on_terminal(width):
        monkeypatch.setattr(terminal, "_is_terminal", lambda stream: True)
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setenv("TERM", "xterm")

    return on_terminal


@pytest.mark.parametrize("width", [80, 120])
def test_no_line_of_a_fit_or_a_description_is_wider_than_the_terminal(width, table, run, on_terminal):
    on_terminal(width)
    for line in (
        f"fit {table} -o m.oneclass --method pca",
        "info m.oneclass",
        "compare normal.csv odd.csv --drop note",
        f"score m.oneclass {table} -o scored.csv",
        f"explain m.oneclass {table} --row 3",
        "score --help",
    ):
        code, out, err = run(line)
        assert code == 0
        assert [said for said in STYLE.sub("", out + err).splitlines() if len(said) > width] == []


def test_a_wider_terminal_shows_more_columns_of_the_plan_and_a_pipe_all_text(table, run, on_terminal):
    line = f"fit {table} -o m.oneclass --method pca"
    piped = run(line)[1]
    assert "sent weekday sin, sent weekday cos, sent hour sin, sent hour cos" in piped
    assert "\x1b" not in piped
    heads = []
    for width in (80, 120):
        on_terminal(width)
        heads.append(STYLE.sub("", run(line)[1].splitlines()[0]).split("  "))
        assert heads[-1][0] == "column"
    assert "made of it" not in heads[0]
    assert "made of it" in heads[1]


def test_cells_are_cut_at_the_width_and_columns_that_do_not_fit_are_left_out(on_terminal):
    rows = [("first", "x" * 40, "y" * 40)]
    assert drawn("abc", rows).splitlines() == ["a" + " " * 6 + "b" + " " * 41 + "c", f"first  {'x' * 40}  {'y' * 40}"]
    on_terminal(70)
    assert STYLE.sub("", drawn("abc", rows)).splitlines()[1] == f"first  {'x' * 40}  {'y' * 18}..."
    on_terminal(60)
    assert STYLE.sub("", drawn("abc", rows)).splitlines()[1] == f"first  {'x' * 40}"
    on_terminal(30)
    assert STYLE.sub("", drawn("abc", rows)).splitlines()[1] == f"first  {'x' * 20}..."


def test_numbers_have_four_digits():
    assert [number(x) for x in (0.028251201968496387, [0.0282512, 1234.56], 300, "a", None)] == [
        "0.02825", "0.02825, 1235", "300", "a", "None"]  # fmt: skip


@pytest.mark.parametrize("variable", [{}, {"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colour_is_for_terminals_that_want_it(variable, on_terminal, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert terminal.styled("odd", fg="red") == "odd"
    on_terminal(80)
    for name, value in variable.items():
        monkeypatch.setenv(name, value)
    assert ("\x1b" in terminal.styled("odd", fg="red")) == (not variable)


def test_a_note_replaces_the_progress_line(folder, run, on_terminal, monkeypatch):
    on_terminal(200)
    monkeypatch.setattr(options, "on_terminal", lambda: True)
    err = run("compare normal.csv")[2]
    assert "note: TableDetector: left out" in STYLE.sub("", err)
    shown = [line.rsplit(terminal.CLEAR, 1)[-1] for line in err.splitlines()]
    assert not any("compare:" in line and "note" in line for line in shown)


def test_a_search_shows_one_line_of_progress_and_none_of_joblib(folder, run, monkeypatch):
    monkeypatch.setattr("oneclass.cli.tuning.on_terminal", lambda: True)
    line = "tune labelled.csv -o m.oneclass --label fault --target no --drop note --method knn --grid n_neighbors=1,3"
    code, _, err = run(line)
    assert (code, "joblib" in err.lower(), "Parallel" in err) == (0, False, False)
    assert re.search(r"\rsearch: (\d+) fits", err)


def test_every_command_has_a_summary_that_80_columns_hold(run):
    help_of = subprocess.run(
        [sys.executable, "-m", "oneclass", "--help"], capture_output=True, text=True, check=True, env=environment()
    ).stdout
    commands = help_of.split("Commands:")[1].splitlines()
    assert [line for line in commands if line.endswith("...") or len(line) > 80] == []
    assert [line.split()[0] for line in commands if line][:3] == ["demo", "screen", "fit"]


def environment(**more):
    return os.environ | {"PYTHONPATH": str(Path(oneclass.__file__).parents[1])} | more


def test_a_real_terminal_gets_colour_and_a_pipe_does_not(folder):
    command, piped = [sys.executable, "-m", "oneclass", "info", "none.oneclass"], {"capture_output": True, "text": True}
    leader, follower = pty.openpty()
    settings = environment(TERM="xterm", COLUMNS="80")
    settings.pop("NO_COLOR", None)
    done = subprocess.run(command, stderr=follower, env=settings)
    os.close(follower)
    select.select([leader], [], [], 10)
    shown = os.read(leader, 4096).decode()
    os.close(leader)
    plain = subprocess.run(command, env=settings, **piped).stderr
    assert done.returncode == 5
    assert "\x1b[31m" in shown
    assert plain == "oneclass: none.oneclass: No such file or directory\n"
    assert STYLE.sub("", shown).replace(terminal.CLEAR, "").replace("\r\n", "\n") == plain


def test_a_light_install_names_the_one_command_to_run(monkeypatch):
    monkeypatch.setattr(cli, "find_spec", lambda name: None if name == "pyarrow" else find_spec(name))
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert str(left.value.code).endswith("-m pip install click pandas pyarrow jinja2")
