"""Files that grow, are truncated or are replaced while they are read: no line is lost without a word, or read twice."""

import os
import sys
from contextlib import ExitStack, closing
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oneclass
from oneclass.cli import errors, following
from oneclass.cli.following import Followed

WATCH = "watch {} --state {}.oneclass --opening 200 --window 300"


class Reader:
    """What has been read of a followed file, and what has happened to it."""

    def __init__(self, path):
        self.file, self.lines, self.changes = Followed(path, follow=True), [], []
        self._source, self.close = self.file.lines(), self.file.close

    def look(self):
        """Read until there is no more for now."""
        while True:
            line = next(self._source, None)
            if line is None:
                self.changes.append(self.file.change)
                self._source = self.file.lines()
            elif line:
                self.lines.append(line)
            else:
                return self.lines


@pytest.fixture
def read():
    """A function that makes a `Reader`; all are closed in the end."""
    with ExitStack() as stack:
        yield lambda path: stack.enter_context(closing(Reader(path)))


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(following, "_PAUSE", 0)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "rows.csv"


def lines(first, last):
    return [f"{i},{i}" for i in range(first, last)]


def write(path, rows, mode="w"):
    with path.open(mode) as file:
        file.write("".join(f"{row}\n" for row in rows))


@pytest.mark.parametrize("then", [3, 12, 400])
def test_a_file_that_was_truncated_and_filled_again_is_read_from_its_first_line(read, path, then):
    write(path, lines(0, 10))
    reader = read(path)
    assert reader.look() == lines(0, 10)
    os.truncate(path, 0)
    write(path, lines(10, 10 + then), "a")  # before the next look, so that it may be as long as before
    assert reader.look() == lines(0, 10 + then)
    assert reader.changes == ["was truncated"]


def test_a_file_that_was_moved_is_read_to_its_end_and_then_the_one_in_its_place(read, path):
    write(path, lines(0, 10))
    reader = read(path)
    reader.look()
    moved = path.rename(path.with_suffix(".1"))
    write(moved, lines(10, 12), "a")
    assert reader.look() == lines(0, 12)
    path.touch()
    write(moved, lines(12, 14), "a")  # the writer has not opened the new file yet
    assert reader.look() == lines(0, 14)
    write(moved, lines(14, 15), "a")
    write(path, lines(15, 30))
    assert reader.look() == lines(0, 30)
    assert reader.changes == ["was replaced by another file"]


def test_an_unfinished_line_is_waited_for_and_reported_if_it_stays_unfinished(read, path):
    write(path, lines(0, 2))
    reader = read(path)
    with path.open("a") as file:
        file.write("2,")
    assert reader.look() == lines(0, 2)
    with path.open("a") as file:
        file.write("2\n3,")
    assert reader.look() == lines(0, 3)
    path.write_text("4,4\n")
    assert reader.look() == [*lines(0, 3), "4,4"]
    assert reader.changes == ["was truncated, and its last line, which was not finished, is left out: b'3,'"]


@pytest.mark.parametrize("replaced", [False, True])
def test_a_rewritten_file_with_more_lines_is_continued_after_the_last_line_read(read, path, replaced):
    write(path, lines(0, 300))
    reader = read(path)
    reader.look()
    if replaced:
        write(path.with_suffix(".new"), lines(0, 310))
        path.with_suffix(".new").replace(path)
    else:
        write(path, lines(0, 310))
    assert reader.look() == lines(0, 310)
    assert reader.changes == []


OPERATIONS = st.sampled_from(["append", "part", "truncate", "move", "rewrite"])


def watch(reader, path, operations):
    n = begun = 0
    for operation, more in operations:
        if operation == "part":
            for piece in (f"{n},", f"{n}", "\n"):
                with path.open("a") as file:
                    file.write(piece)
                reader.look()
            n += 1
            continue
        mode = {"append": "a"}.get(operation, "w")
        if operation == "move":
            path.rename(path.with_suffix(".1"))
        elif operation == "truncate":
            os.truncate(path, 0)
        begun = begun if operation in ("append", "rewrite") else n
        write(path, lines(begun if operation == "rewrite" else n, n + more), mode)
        n += more
        assert reader.look() == lines(0, n)


@given(st.lists(st.tuples(OPERATIONS, st.integers(1, 300)), max_size=12))
def test_every_line_is_read_once_and_in_order_whatever_happens_to_the_file(tmp_path_factory, operations):
    path = tmp_path_factory.mktemp("log") / "rows.csv"
    path.touch()
    with closing(Reader(path)) as reader:
        watch(reader, path, operations)
    assert all(change in ("was truncated", "was replaced by another file") for change in reader.changes)


# The command.


def same(stream, other):
    """Whether two streams have learned the same, with or without names of columns."""
    grid = np.random.default_rng(1).normal(size=(50, 2)) * 9
    names = [getattr(of, "feature_names_in_", None) for of in (stream, other)]
    scores = [of.score_samples(pd.DataFrame(grid, columns=n)) for of, n in zip((stream, other), names, strict=True)]
    return stream.n_seen_ == other.n_seen_ and np.array_equal(*scores)


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 2))
    X[450:] += 9.0
    return X


@pytest.fixture
def follow(path, monkeypatch, run):
    """Runs the command and, at each of its pauses, the next of some steps; Ctrl-C comes after the last."""
    monkeypatch.chdir(path.parent)

    def follow(*steps):
        left = iter(steps)

        def pause(_):
            step = next(left, None)
            if step is None:
                raise KeyboardInterrupt
            step()

        monkeypatch.setattr(following, "time", SimpleNamespace(sleep=pause))
        return run(f"{WATCH.format('rows.csv', 'stream')} --follow")

    return follow


@pytest.fixture
def whole(path, run, X):
    """Output of the command for all rows in one file, and the stream that it saves."""
    rows(path.with_name("whole.csv"), X, header=True)
    code, out, _ = run(WATCH.format(path.with_name("whole.csv"), path.with_name("whole")))
    assert code == 0
    return out, oneclass.load(path.with_name("whole.oneclass"))


def rows(path, X, mode="w", header=False):
    write(path, ["a,b"] * header + [f"{a!r},{b!r}" for a, b in X.tolist()], mode)


@pytest.mark.parametrize("header", [False, True])
def test_a_log_that_is_truncated_or_rotated_loses_no_row_and_says_so(path, follow, whole, X, header):
    rows(path, X[:450], header=header)
    code, said, err = follow(
        lambda: rows(path, X[450:600], header=header),
        lambda: path.rename(path.with_suffix(".1")),
        lambda: rows(path, X[600:], header=header),
    )
    assert code == errors.INTERRUPTED
    assert said == whole[0] if header else said.count("alarm") == whole[0].count("alarm") > 0
    assert same(oneclass.load("stream.oneclass"), whole[1])
    assert "note: rows.csv was truncated; it is read from its first line, which comes after 450 rows" in err
    assert "note: rows.csv was replaced by another file; it is read from its first line, which comes after 600" in err
    assert "interrupted; each file is either complete or as it was before" in err


def test_a_stream_continues_with_the_unread_rows_of_a_rotated_log(path, follow, whole, X):
    rows(path, X[:450])
    follow(lambda: rows(path, X[450:500]))
    rows(path, X[500:600], "a")
    follow()
    assert oneclass.load("stream.oneclass").n_seen_ == 600
    rows(path, X[600:])  # truncated while no stream is watching
    _, _, err = follow()
    assert oneclass.load("stream.oneclass").n_seen_ == 700
    assert "rows.csv does not begin as it did when the stream last read it: it is read from its first line" in err
    assert same(oneclass.load("stream.oneclass"), whole[1])


def test_a_log_that_restarted_and_is_not_followed_is_reported(path, follow, run, X):
    rows(path, X[:400])
    follow()
    rows(path, X[200:])
    code, _, err = run(WATCH.format("rows.csv", "stream"))
    assert code == 0
    assert (
        "rows.csv does not begin as it did when the stream last read it; its first 400 rows are skipped all the" in err
    )


def test_a_log_that_restarts_before_the_stream_starts_is_part_of_the_initial_rows(path, follow, X):
    rows(path, X[:150])
    follow(lambda: rows(path, X[150:260]))
    assert oneclass.load("stream.oneclass").n_seen_ == 260


def test_a_pipe_is_read_like_standard_input(tmp_path):
    read, written = os.pipe()
    os.write(written, b"1,2\n3,4")
    os.close(written)
    with os.fdopen(read, "rb") as pipe:
        assert list(Followed(pipe, follow=False).lines()) == ["1,2", "3,4"]
    os.mkfifo(tmp_path / "pipe")
    writer = os.open(tmp_path / "pipe", os.O_RDWR)
    os.write(writer, b"1,2\n3,")
    with closing(Followed(tmp_path / "pipe", follow=True)) as file:
        source = file.lines()
        assert next(source) == "1,2"
        os.write(writer, b"4\n")
        assert next(source) == "3,4"
    os.close(writer)


# Interruptions.


def test_an_interruption_while_modules_are_imported_ends_in_a_sentence(monkeypatch, capsys):
    from oneclass.cli import main

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "oneclass.cli.commands")
    monkeypatch.setattr(sys, "meta_path", [SimpleNamespace(find_spec=interrupted)])
    with pytest.raises(SystemExit) as left:
        main()
    assert (left.value.code, capsys.readouterr().err) == (errors.INTERRUPTED, "oneclass: interrupted\n")
