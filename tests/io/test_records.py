"""Excel files, JSON lines, folders and patterns give the rows that were written; a kill leaves the older file."""

import datetime
import io
import json
import math
import signal
import subprocess
import sys
import time
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oneclass import KNNDetector, TableDetector, TableFile
from oneclass.io.sinks import Arranged, writing


def read(path, **options):
    blocks = [*TableFile(path, text="all", **options).blocks()]
    kept = pa.concat_batches([batch for _, batch in blocks])
    return pd.concat([rows for rows, _ in blocks], ignore_index=True), kept


CELLS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(allow_nan=False, allow_infinity=False), st.text()
)


@given(rows=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=8))
@settings(max_examples=100, deadline=None)
def test_lines_of_json_are_read_as_they_were_written(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("json") / "rows.jsonl"
    path.write_text("".join(json.dumps({"a": a, "b": b}) + "\n" for a, b in rows), encoding="utf-8")
    frame, kept = read(path, keep=["b"], columns=["a", "b"])
    read_again = [None if cell is None or cell != cell else cell for cell in frame["a"]]
    assert read_again == [a for a, _ in rows]
    assert [*map(type, read_again)] == [type(a) for a, _ in rows]
    for found, (_, b) in zip(kept["b"].to_pylist(), rows, strict=True):
        assert found == b or found == json.dumps(b)


@pytest.mark.parametrize("end", [".jsonl", ".ndjson.gz", ".parquet", ".csv", ".txt", ".tsv.zst", ".feather"])
def test_what_is_written_in_any_format_is_read_again(tmp_path, end):
    batch = pa.RecordBatch.from_pydict({
        "word": ["a", "é,;\t|", "", "3"], "number": [1.5, -0.25, 1e300, 0.1], "whole": [1, -2, 3, 2**53 + 1],
        "at": np.array(["2024-01-05T12:30"] * 4, dtype="datetime64[us]"),
    })  # fmt: skip
    path = tmp_path / f"rows{end}"
    for _ in range(2):
        with writing(path) as write:
            write(batch)
            write(batch)
    frame, _ = read(path)
    assert [*frame["word"]] == 2 * ["a", "é,;\t|", "", "3"]
    assert [float(number) for number in frame["number"]] == 2 * [1.5, -0.25, 1e300, 0.1]
    assert [int(number) for number in frame["whole"]] == 2 * [1, -2, 3, 2**53 + 1]
    assert pd.to_datetime(frame["at"]).unique().tolist() == [pd.Timestamp("2024-01-05 12:30")]


def test_numbers_that_json_cannot_hold_are_null():
    sink = io.BytesIO()
    with writing(Arranged(sink)) as write:
        write(pa.RecordBatch.from_pydict({"score": [1.0], "label": [1]}))
    assert b"score" in sink.getvalue()


def test_infinity_and_nan_are_null_in_lines_of_json(tmp_path):
    path = tmp_path / "rows.jsonl"
    with writing(path) as write:
        write(pa.RecordBatch.from_pydict({"x": [math.inf, math.nan, 1.0]}))
    assert [json.loads(line)["x"] for line in path.read_text().splitlines()] == [None, None, 1.0]


def book(path, **sheets):
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    made.save(path)
    return path


def test_cells_of_a_sheet_are_what_excel_holds(tmp_path):
    rows = [
        ["id", "price", "paid", "at", "note"],
        ["a1", 1.5, True, datetime.datetime(2024, 1, 5, 12, 30), "x"],
        ["a2", 2, None, datetime.datetime(2024, 1, 6), "#REF!"],
        [],
        ["a3", None, False, None, "12 kg"],
    ]
    path = book(tmp_path / "book.xlsx", May=rows, empty=[])
    frame, kept = read(path, keep=["price", "at", "note"], columns=["id", "paid", "price"])
    assert frame.to_numpy().tolist() == [["a1", True, 1.5], ["a2", None, 2], ["a3", False, None]]
    assert kept["price"].to_pylist() == [1.5, 2.0, None]
    assert kept["at"].to_pylist() == [rows[1][3], rows[2][3], None]
    assert kept["note"].to_pylist() == ["x", "#REF!", "12 kg"]
    numbers = book(tmp_path / "numbers.xlsx", only=[[0.5, 2.25], [3, None]])
    [block] = TableFile(numbers)
    np.testing.assert_array_equal(block, [[0.5, 2.25], [3, np.nan]])


@pytest.mark.parametrize(
    ("sheets", "options", "message"),
    [
        ({"A": [["x"], [1]], "B": [["x"], [2]]}, {}, "holds the sheets 'A', 'B'; name one with sheet='A'"),
        ({"A": [["x"], [1]]}, {"sheet": "C"}, "sheet must be one of 'A'; got 'C'"),
        ({"A": [["Sales of May"], ["x", "y"], [1, 2]]}, {}, "column 2 of the sheet has no name; remove the rows above"),
        ({"A": []}, {}, "the file holds no rows"),
        ({"A": [["x", "x"], [1, 2]]}, {}, "more than one is 'x'"),
        ({"A": [["x", "y"], [1, "a"]]}, {}, "every cell must hold a number, but column 'y' holds 'a'"),
    ],
)
def test_sheets_that_cannot_be_read_for_certain_are_refused(tmp_path, sheets, options, message):
    with pytest.raises(ValueError, match=message):
        [*TableFile(book(tmp_path / "book.xlsx", **sheets), **options)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{}\n", "holds no rows"),
        (b'{"a": 1}\n[1]\n', "line 2 must be a JSON object"),
        (b'{"a": [1]}\n', "line 1 must be a JSON object of plain values"),
        (b'{"a": 1\n', "line 1 must be a JSON object"),
        (b'{"a": "\xff"}\n', "not in utf-8"),
    ],
)
def test_lines_that_are_no_objects_are_refused_by_number(tmp_path, content, message):
    (tmp_path / "rows.jsonl").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        [*TableFile(tmp_path / "rows.jsonl", text="all")]


def test_a_damaged_book_is_refused_by_name(tmp_path):
    (tmp_path / "book.xlsx").write_bytes(b"no zip")
    with pytest.raises(ValueError, match=r"book\.xlsx: the Excel file cannot be read"):
        [*TableFile(tmp_path / "book.xlsx")]


def test_an_excel_file_whose_rows_end_in_the_middle_is_refused(tmp_path):
    path = book(tmp_path / "book.xlsx", only=[[0.5, 2.25]] * 50)
    with zipfile.ZipFile(path) as whole:
        parts = {name: whole.read(name) for name in whole.namelist()}
    parts["xl/worksheets/sheet1.xml"] = parts["xl/worksheets/sheet1.xml"][:-300]
    with zipfile.ZipFile(path, "w") as cut:  # the checksums are right
        for name, content in parts.items():
            cut.writestr(name, content)
    with pytest.raises(ValueError, match=r"book\.xlsx: the Excel file cannot be read"):
        [*TableFile(path)]


def test_a_folder_and_a_pattern_are_the_files_in_order(tmp_path):
    frames = [pd.DataFrame({"x": [i + 0.5], "y": [i]}) for i in range(3)]
    folder = tmp_path / "parts"
    folder.mkdir()
    for i, frame in enumerate(frames):
        frame.to_parquet(folder / f"p{i}.parquet", index=False)
    (folder / "_SUCCESS").touch()
    (folder / ".p0.parquet.crc").touch()
    for path in (folder, folder / "*.parquet", str(folder / "p?.parquet")):
        pd.testing.assert_frame_equal(
            pd.concat(TableFile(path), ignore_index=True), pd.concat(frames, ignore_index=True)
        )
    frames[0].to_csv(folder / "q.csv", index=False)
    with pytest.raises(ValueError, match=r"must be of one kind, got \.csv and \.parquet"):
        [*TableFile(folder)]
    pd.DataFrame({"x": [1.0]}).to_parquet(folder / "p3.parquet", index=False)
    with pytest.raises(ValueError, match=r"p3\.parquet: the columns must be those of the files before it, x, y; got x"):
        [*TableFile(folder / "*.parquet")]
    for nothing in (tmp_path / "*.nothing", tmp_path):
        with pytest.raises(FileNotFoundError, match=r"no file matches|holds no table"):
            [*TableFile(nothing)]


def test_scores_are_never_written_onto_a_part_of_the_source(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])
    model = TableDetector(KNNDetector()).fit(frame)
    frame.to_parquet(tmp_path / "a.parquet")
    before = (tmp_path / "a.parquet").read_bytes()
    with pytest.raises(ValueError, match="sink must be another file than the source"):
        model.score_chunks(TableFile(tmp_path / "*.parquet"), tmp_path / "a.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == before


WRITER = """
import sys, time
import pyarrow as pa
from oneclass.io.sinks import writing

with writing(sys.argv[1]) as write:
    for i in range(10**6):
        write(pa.RecordBatch.from_pydict({"x": list(range(5000))}))
        if i == 3:
            print("writing", flush=True)
"""


@pytest.mark.parametrize("end", [".csv", ".jsonl", ".parquet"])
def test_a_kill_while_writing_leaves_the_older_file(tmp_path, end):
    path = tmp_path / f"rows{end}"
    path.write_bytes(b"older")
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"writing\n"
    time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert path.read_bytes() == b"older"
