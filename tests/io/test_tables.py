"""Tables in files: every format gives the same rows, and no property of a file is guessed."""

import csv
import gzip
import io
import json
import re
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oneclass import EscapedCSV, TableFile
from oneclass.io import batches, table_file
from oneclass.io.batches import CountedLines
from oneclass.io.sinks import writing
from oracle.comparison import assert_agree

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")

ROWS = np.random.default_rng(0).normal(size=(500, 3)) * [1, 1e-12, 1e200]
NAMES = ["mass", "height, m", 'the "charge"']
FRAME = pd.DataFrame(ROWS, columns=NAMES).assign(id=[f"00{i}" for i in range(500)])


@pytest.fixture(autouse=True)
def short_reads(monkeypatch):
    """Files are read a few rows at a time."""
    monkeypatch.setattr(batches, "_MAX_ROWS", 70)
    monkeypatch.setattr(table_file, "_MAX_LINE_BYTES", 5000)
    monkeypatch.setattr(table_file, "_MIN_PIECE_BYTES", 2000)


def text(path, pack=lambda data: data, encoding="utf-8", **options):
    path.write_bytes(pack(FRAME.to_csv(index=False, float_format="%.17g", **options).encode(encoding)))


def zstd(data):
    # In two frames, as two programs would append to a file.
    return b"".join(pa.Codec("zstd").compress(part, asbytes=True) for part in (data[:3000], data[3000:]))


def arrow_stream(path):
    table = pa.Table.from_pandas(FRAME)
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=120)


FILES = {
    "rows.csv": (text, {}),
    "semicolon.csv": (lambda path: text(path, sep=";"), {"delimiter": ";"}),
    "pipe.csv": (lambda path: text(path, sep="|"), {"delimiter": "|"}),
    "odd.csv": (lambda path: text(path, sep="~"), {"delimiter": "~"}),
    "decimal.csv": (lambda path: text(path, sep=";", decimal=","), {"delimiter": ";", "decimal": ","}),
    "quoted.csv": (lambda path: text(path, quoting=1), {}),
    "windows.csv": (lambda path: text(path, lineterminator="\r\n"), {}),
    "old_mac.csv": (lambda path: text(path, lineterminator="\r"), {}),
    "mark.csv": (lambda path: text(path, encoding="utf-8-sig"), {}),
    "latin.csv": (lambda path: text(path, encoding="latin-1"), {"encoding": "latin-1"}),
    "utf16.csv": (lambda path: text(path, encoding="utf-16"), {"encoding": "utf-16"}),
    "rows.tsv": (lambda path: text(path, sep="\t"), {}),
    "rows.csv.gz": (lambda path: text(path, gzip.compress), {}),
    "rows.TSV.ZST": (lambda path: text(path, zstd, sep="\t"), {}),
    "rows.parquet": (lambda path: FRAME.to_parquet(path, row_group_size=170), {}),
    "rows.feather": (lambda path: FRAME.to_feather(path), {}),
    "rows.arrow": (arrow_stream, {}),
}


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_rows_and_what_is_kept_as_it_was(tmp_path, name):
    write, options = FILES[name]
    path = tmp_path / name
    write(path)
    blocks, kept = zip(*TableFile(path, keep=["id"], **options).blocks(), strict=True)
    assert len(blocks) > 5
    assert all(list(block.columns) == NAMES for block in blocks)
    np.testing.assert_array_equal(np.concatenate([block.to_numpy() for block in blocks]), ROWS)
    assert [cell for batch in kept for cell in batch.column(0).to_pylist()] == list(FRAME["id"])


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet", "rows.arrow"])
def test_columns_are_chosen_by_name_and_by_place_in_any_order(tmp_path, name):
    FILES[name][0](tmp_path / name)
    for columns in ([NAMES[2], NAMES[0]], [2, 0], [NAMES[2], 0]):
        blocks = list(TableFile(tmp_path / name, columns=columns))
        assert all(list(block.columns) == [NAMES[2], NAMES[0]] for block in blocks)
        np.testing.assert_array_equal(np.concatenate(blocks), ROWS[:, [2, 0]])
    blocks, kept = zip(*TableFile(tmp_path / name, columns=[1], keep=["id", 1]).blocks(), strict=True)
    np.testing.assert_array_equal(np.concatenate([batch.column(1) for batch in kept]), ROWS[:, 1])


# The first line.


def rows_of(path, content, **options):
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return np.concatenate([np.asarray(block) for block in TableFile(path, **options)])


@pytest.mark.parametrize("first", ["1,2,4", "-0.5,1e3,7", '"1","2","4"', "0.0,1.0,2.0", "1,2,0", " 1 , 5 , 2 "])
def test_no_row_of_numbers_is_taken_for_names(tmp_path, first):
    cells = [float(cell.strip('"')) for cell in first.split(",")]
    assert_agree(rows_of(tmp_path / "rows.csv", first + "\n4,5,6\n"), [cells, [4, 5, 6]], 0)


@pytest.mark.parametrize("first", ["a,b,c", "x1,x2,x3", ",b,c", "2020_01,2020_02,2020_03", '"1 ",b,2nd'])
def test_a_line_of_words_names_the_columns(tmp_path, first):
    if first.startswith('"1'):
        with pytest.raises(ValueError, match=r"rows.csv: the first line holds words and numbers; use header=True if"):
            rows_of(tmp_path / "rows.csv", first + "\n1,2,3\n")
    options = {"header": True} if first.startswith('"1') else {}
    assert_agree(rows_of(tmp_path / "rows.csv", first + "\n1,2,3\n4,5,6\n", **options), [[1, 2, 3], [4, 5, 6]], 0)


@pytest.mark.parametrize("first", ["0,1,2", "400,410,420", "1,2,3", "9,8,7"])
def test_a_line_that_counts_may_be_names_or_a_row_and_is_asked_about(tmp_path, first):
    path, content = tmp_path / "rows.csv", first + "\n4,5,7\n"
    with pytest.raises(ValueError, match=r"rows.csv: the first line, .*\.\.\., might name the columns or be a row"):
        rows_of(path, content)
    cells = [float(cell) for cell in first.split(",")]
    assert_agree(rows_of(path, content, header=False), [cells, [4, 5, 7]], 0)
    assert_agree(rows_of(path, content, header=True), [[4, 5, 7]], 0)
    assert_agree(rows_of(path, content, columns=first.split(",")[1:]), [[5, 7]], 0)


@pytest.mark.parametrize("index", [False, True])
def test_the_names_that_pandas_makes_up_are_asked_about(tmp_path, index):
    path = tmp_path / "rows.csv"
    pd.DataFrame(ROWS).to_csv(path, index=index)
    with pytest.raises(ValueError, match="might name the columns or be a row"):
        list(TableFile(path))


def test_a_first_line_that_holds_two_delimiters_is_asked_about(tmp_path):
    path, content = tmp_path / "rows.csv", "1,5;2\n3,5;4\n"
    with pytest.raises(ValueError, match=r"rows.csv: the first line holds ',' and ';'; name the one that"):
        rows_of(path, content)
    assert_agree(rows_of(path, content, delimiter=";", decimal=","), [[1.5, 2], [3.5, 4]], 0)
    with pytest.raises(ValueError, match="column '0' holds '1;5'"):
        rows_of(path, "1;5,2\n3;5,4\n", delimiter=",", header=False)
    assert_agree(rows_of(path, '"a;b","c|d"\n1,2\n'), [[1, 2]], 0)


def test_a_decimal_comma_makes_numbers_of_text_too_and_of_nothing_else(tmp_path):
    path = tmp_path / "rows.csv"
    cells = ["1,5", "-0,25", " 3 ", "1.234", "1.234.567,8", "2,5e3", "1,2,3", "31.12.2024", "a,b", "0.123", ""]
    path.write_text("x;y\n" + "".join(f"{cell};{cell}\n" for cell in cells))
    [(rows, kept)] = TableFile(path, text="all", columns=["x"], keep=["y"], decimal=",").blocks()
    assert rows["x"].tolist() == [
        *("1.5", "-0.25", " 3 ", "1234", "1234567.8", "2.5e3", "1,2,3", "31.12.2024", "a,b", "0.123", "")
    ]
    assert kept.column("y").to_pylist() == cells


# What would lose or change a row.

BROKEN = {
    "empty": (b"", {}, "the file is empty"),
    "nothing but lines": (b"\n\r\n\n", {}, "the file holds no rows"),
    "more cells": (b"a,b\n1,2\n\n1,2,3\n", {}, "line 4 has 3 cells, but the first has 2: '1,2,3'"),
    "fewer cells": (b"a,b\n1,2\n1\n", {}, "line 3 has 1 cells, but the first has 2: '1'"),
    "more cells than names": (b"a,b\n1,2,3\n1,2,3\n", {}, "line 2 has 3 cells, but the first has 2: '1,2,3'"),
    "spaces": (b"x1 70.0 1.0\nx2 67.0 0.0\n", {}, "the first line holds numbers between spaces; name what separates"),
    "a title": (b"Export\n\na,b\n1,2\n", {}, "line 3 has 2 cells.*; remove the lines above the names"),
    "spaces above the names": (
        b"  \na,b\n1,2\n",
        {},
        "names of the columns cannot be read; remove the lines above them",
    ),
    "a line break in a name": (b'a,"b\nc"\n1,2\n', {}, "2 lines became 1 rows.*values in quotes hold line breaks"),
    "names alone": (b"a,b", {}, "the file holds no rows"),
    "text": (b"a,b\n1,2\n1,x\n", {}, "every cell must hold a number, but column 'b' holds 'x'"),
    "truth": (b"b,a\n1,2\n1,True\n", {"columns": ["a"]}, "column 'a' holds 'True'"),
    "names twice": (b"a,b,a\n1,2,3\n", {}, "columns must have names of their own, but more than one is 'a'"),
    "no such column": (b"a,b\n1,2\n", {"columns": ["c"]}, "there is no column 'c' among the 2: 'a', 'b'"),
    "no such place": (b"a,b\n1,2\n", {"keep": [2]}, "there is no column 2 among the 2"),
    "nothing left": (b"a,b\n1,2\n", {"keep": ["a", "b"]}, "no column is left to look at"),
    "broken text": (b"a,b\n1,\xff\xfe\n", {"keep": ["b"]}, "the file is not in utf-8.*; use for example encoding="),
    "broken names": (b"a,\xff\n1,2\n", {}, "the file is not in utf-8.*; use for example encoding="),
    "wide letters": ("a,b\n1,2\n".encode("utf-16"), {}, "not in utf-8.*; use for example encoding='utf-16'"),
    "unknown encoding": (
        b"a,b\n1,2\n",
        {"encoding": "utf-9"},
        "encoding must be a text encoding that Python knows, got 'utf-9'",
    ),
    "an open quote": (b'a,b\n1,"2\n3,4\n', {"keep": [1]}, "2 lines became 1 rows: a quote is not closed"),
    "two open quotes": (b'a,b\n1,"x\n2,3\n4,"y\n5,6\n', {"keep": [1]}, "4 lines became 2 rows"),
    "an open quote elsewhere": (b'a,b\n1,"x\n2,3\n4,"y\n5,6\n', {"columns": [0]}, "4 lines became 2 rows"),
    "a line without end": (b"a,b\n1,2\n3," + b"4" * 20_000 + b"\n", {}, "a line is far longer than the first"),
    "a first line without end": (b"1" * 200_000, {}, "a line is longer than 5,000 bytes"),
    "a quote without end": (b'a,b\n1,"' + b"2\n" * 5_000, {"keep": [1]}, "or a quote is not closed"),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_what_would_lose_or_change_a_row_is_refused(tmp_path, broken):
    content, options, message = BROKEN[broken]
    with pytest.raises(ValueError, match=message) as caught:
        rows_of(tmp_path / "rows.csv", content, **options)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


def test_line_breaks_in_quotes_are_values_if_one_says_so(tmp_path):
    content = b'a,b\n1,"x\ny"\n2,z\n'
    with pytest.raises(ValueError, match="for which there is newlines=True"):
        rows_of(tmp_path / "rows.csv", content, keep=["b"])
    assert_agree(rows_of(tmp_path / "rows.csv", content, keep=["b"], newlines=True), [[1], [2]], 0)


@pytest.mark.parametrize("name", ["b\nc", "b\r\n\r\nc", 'b"\n"c', "\n", "b,\n;c", 'b"', "b\x0cc", "b\u2028c", "b\x85"])
@pytest.mark.parametrize("options", [{"delimiter": "~"}, {}], ids=["told", "found"])
def test_names_are_those_that_were_written(tmp_path, name, options):
    frame = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=["a", name])
    frame.to_csv(tmp_path / "rows.csv", index=False, sep=options.get("delimiter", ","))
    [found] = TableFile(tmp_path / "rows.csv", newlines=True, **options)
    pd.testing.assert_frame_equal(found, frame)


def test_a_quote_within_a_name_holds_no_line_together(tmp_path):
    assert_agree(rows_of(tmp_path / "rows.csv", 'length 5",b\n1,2\n3,4\n'), [[1, 2], [3, 4]], 0)
    assert_agree(rows_of(tmp_path / "rows.csv", 'a,5"\n1,"2"\n3,"4"\n'), [[1, 2], [3, 4]], 0)


def test_a_gap_is_no_number_and_an_empty_line_is_a_gap_if_there_is_one_column(tmp_path):
    path = tmp_path / "rows.csv"
    assert_agree(rows_of(path, "a,b\n1,2\n\n3,4\n\n"), [[1, 2], [3, 4]], 0)
    assert_agree(rows_of(path, "a,b\n1,2\n \n3,4\n  \n"), [[1, 2], [3, 4]], 0)
    np.testing.assert_array_equal(rows_of(path, "a\n1\n\n2\n"), [[1], [np.nan], [2]])
    np.testing.assert_array_equal(rows_of(path, "a,b\n1,\nNA,4\n"), [[1, np.nan], [np.nan, 4]])


@pytest.mark.parametrize(
    ("name", "pack", "message"),
    [
        ("rows.csv.gz", lambda data: gzip.compress(data)[:-9], "Truncated compressed stream"),
        ("rows.csv.zst", lambda data: zstd(data)[:-9], "Truncated compressed stream"),
        ("rows.csv.gz", lambda data: data, "incorrect header check"),
        ("rows.parquet", lambda data: data, "not a parquet file"),
        ("rows.feather", lambda data: data, "Expected to read"),
        ("rows.arrow", lambda data: b"ARROW1" + data, "[Nn]ot an Arrow file"),
    ],
)
def test_what_is_cut_off_or_of_another_kind_is_refused_by_name(tmp_path, name, pack, message):
    path = tmp_path / name
    path.write_bytes(pack(FRAME.to_csv(index=False).encode()))
    with pytest.raises(ValueError, match=message) as caught:
        list(TableFile(path, keep=["id"]))
    assert str(caught.value).startswith(name)


def test_ten_thousand_columns_are_a_table(tmp_path, monkeypatch):
    monkeypatch.setattr(table_file, "_MAX_LINE_BYTES", 1 << 20)
    X = np.random.default_rng(0).normal(size=(3, 10_000))
    names = [f"x{j}" for j in range(10_000)]
    pd.DataFrame(X, columns=names).to_csv(tmp_path / "wide.csv", index=False, float_format="%.17g")
    np.testing.assert_array_equal(np.concatenate(list(TableFile(tmp_path / "wide.csv"))), X)
    np.testing.assert_array_equal(
        np.concatenate(list(TableFile(tmp_path / "wide.csv", columns=names[::-1]))), X[:, ::-1]
    )


def test_other_endings_and_places_are_named(tmp_path):
    for name in ("rows.doc", "rows", "rows.parquet.gz", ".csv.zip", "rows.xls; save the sheet as CSV"):
        with pytest.raises(ValueError, match=rf"must end in one of \.csv, .*\.csv\.zst; got {name}"):
            list(TableFile(tmp_path / name.partition(";")[0]))
    with pytest.raises(FileNotFoundError, match=r"nothing\.csv"):
        list(TableFile(tmp_path / "nothing.csv"))
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(OSError, match=r"folder\.csv"):
        list(TableFile(tmp_path / "folder.csv"))


#: In a process of its own that ends without a stop: threads of PyArrow may still free memory, and Python 3.11 does not
#: always survive when tracing stops then.
PEAKS = """
import json, os, sys, tracemalloc
import pyarrow as pa
from oneclass import EscapedCSV, TableFile
from oneclass.io import batches, table_file

batches._MAX_ROWS, table_file._MAX_LINE_BYTES, table_file._MIN_PIECE_BYTES = 500, 5000, 2000
tracemalloc.start()

def peak(path):
    tracemalloc.reset_peak()
    traced, arrow, most = tracemalloc.get_traced_memory()[0], pa.total_allocated_bytes(), 0
    for _ in TableFile(path):
        most = max(most, pa.total_allocated_bytes() - arrow)
    return most, tracemalloc.get_traced_memory()[1] - traced

# A busy machine may let the thread that reads run some blocks ahead, now and then: the least of a few readings.
least = [[min(of) for of in zip(*(peak(path) for _ in range(4)))] for path in sys.argv[1:]]
print(json.dumps(least), flush=True)
os._exit(0)
"""


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz", "rows.parquet"])
def test_reading_takes_no_more_memory_for_more_rows(tmp_path, name):
    paths = []
    for n in (2_000, 4_000, 20_000):  # the first brings what is made once for all
        frame = pd.DataFrame(np.random.default_rng(0).normal(size=(n, 5)), columns=list("abcde"))
        paths.append(tmp_path / str(n) / name)
        paths[-1].parent.mkdir()
        write = partial(frame.to_parquet, row_group_size=1000) if name == "rows.parquet" else frame.to_csv
        write(paths[-1], index=False)
    found = subprocess.run([sys.executable, "-c", PEAKS, *paths], capture_output=True, text=True, check=True)
    _, few, many = json.loads(found.stdout)
    assert many[0] <= few[0] + 50_000
    assert many[1] <= few[1] + 50_000


# What pandas writes beside the columns.


@pytest.mark.parametrize("name", ["rows.parquet", "rows.feather", "rows.arrow"])
def test_an_index_is_a_column_like_any_other(tmp_path, name):
    path, frame = tmp_path / name, pd.DataFrame({"g": np.arange(30) % 6, "a": ROWS[:30, 0], "b": ROWS[:30, 1]})
    table = pa.Table.from_pandas(frame.set_index("g"))
    pa.parquet.write_table(table, path) if name == "rows.parquet" else pa.feather.write_feather(table, path)
    for columns in (["g", "a"], ["a", "g"], None):
        [block] = TableFile(path, columns=columns)
        pd.testing.assert_frame_equal(block, frame[columns or ["a", "b", "g"]])
    [(block, kept)] = TableFile(path, keep=["g"]).blocks()
    assert (list(block.columns), kept.column("g").to_pylist()) == (["a", "b"], frame["g"].to_list())


def test_an_index_without_a_name_is_read_only_if_it_is_asked_for(tmp_path):
    frame = pd.DataFrame({"a": ROWS[:30, 0]})
    frame = frame[frame["a"] > 0]
    frame.to_parquet(tmp_path / "rows.parquet")
    [block] = TableFile(tmp_path / "rows.parquet")
    assert list(block.columns) == ["a"]
    [block] = TableFile(tmp_path / "rows.parquet", columns=["__index_level_0__"])
    np.testing.assert_array_equal(block, frame.index.to_numpy()[:, None])


@pytest.mark.parametrize("index", [None, "g"])
def test_labels_of_columns_that_are_integers_stay_integers(tmp_path, index):
    frame = pd.DataFrame(ROWS[:30], index=pd.Index(np.arange(30) % 6, name=index) if index else None)
    frame.to_parquet(tmp_path / "rows.parquet")
    [block] = TableFile(tmp_path / "rows.parquet")
    assert list(block.columns) == [0, 1, 2, *([index] if index else [])]
    np.testing.assert_array_equal(block[[0, 1, 2]], ROWS[:30])
    for content in (b"{", b"[]", b'{"column_indexes": [{"pandas_type": []}]}', b"[" * 100_000, b"\xff"):
        table = pa.parquet.read_table(tmp_path / "rows.parquet").replace_schema_metadata({"pandas": content})
        pa.parquet.write_table(table, tmp_path / "damaged.parquet")
        [block] = TableFile(tmp_path / "damaged.parquet")
        np.testing.assert_array_equal(block[["0", "1", "2"]], ROWS[:30])


# Quotes.


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('w\nx\n\n\n"y\nz\nu"\nv\n', "7 lines became 5 rows: a quote is not closed"),
        ('w\nx\n\n\n\n"y\nz\nu\nv\n', "8 lines became 5 rows: a quote is not closed"),
        ('w\nx\n"y\n', "a quote in the last line is not closed"),
        ('w,x\n1,2\n1,"y\n', "a quote in the last line is not closed"),
    ],
)
def test_empty_lines_of_one_column_do_not_hide_rows_that_a_quote_has_merged(tmp_path, content, message):
    (tmp_path / "rows.csv").write_text(content)
    with pytest.raises(ValueError, match=message):
        list(TableFile(tmp_path / "rows.csv", text="all"))


@given(
    st.binary(max_size=40).map(lambda data: data.translate(bytes(b"\r\n\n\rxy"[i % 6] for i in range(256)))), st.data()
)
def test_lines_are_counted_however_they_are_read(content, data):
    lines, stream = CountedLines(stream := io.BytesIO(content)), stream
    while lines.read(data.draw(st.integers(1, 9))):
        pass
    assert (lines.count, lines.filled) == (len(content.splitlines()), sum(map(bool, content.splitlines())))
    assert stream.read() == b""


PIECES = ["x", "1", '"', '"', '""', ",", '","', " ", "\n", "\r\n", "\r", '"\n', '\n"', "\n\n", "é"]


@given(st.integers(1, 3), st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
@settings(max_examples=300)
def test_a_line_of_text_is_a_row_or_the_file_is_refused(tmp_path_factory, n_columns, body):
    path, text = tmp_path_factory.getbasetemp() / "quotes.csv", f"{','.join('abc'[:n_columns])}\n{body}"
    path.write_bytes(text.encode())
    try:
        blocks = list(TableFile(path, text="all", delimiter=",", header=True))
    except ValueError:
        return
    lines = re.split("\r\n|\r|\n", text.rstrip("\r\n") if n_columns > 1 else re.sub(r"(\r\n|\r|\n)\Z", "", text))[1:]
    rows = [next(csv.reader([line]), []) or [""] for line in lines if n_columns == 1 or line.strip()]
    found = [list(row) for block in blocks for row in block.itertuples(index=False)]
    assert found == rows


@given(st.lists(st.lists(st.text(max_size=9), min_size=2, max_size=2), min_size=1, max_size=9), st.sampled_from(",\t"))
@settings(max_examples=100)
def test_text_that_is_written_is_read_again_by_us_by_python_and_by_pandas(tmp_path_factory, cells, delimiter):
    path = tmp_path_factory.getbasetemp() / f"written.{'csv' if delimiter == ',' else 'tsv'}"
    with writing(path) as write:
        write(pa.RecordBatch.from_arrays([pa.array(column) for column in zip(*cells, strict=True)], ["a", "b"]))
    blocks = TableFile(path, text="all", newlines=True)
    assert [list(row) for block in blocks for row in block.itertuples(index=False)] == cells
    with path.open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file, delimiter=delimiter)) == [["a", "b"], *cells]
    if not any("\0" in cell for row in cells for cell in row):  # pandas before 3 ends cells there
        with_pandas = pd.read_csv(path, sep=delimiter, keep_default_na=False, dtype=str, encoding="utf-8")
        assert with_pandas.to_numpy().tolist() == cells


# Messages.


@pytest.mark.parametrize(
    "encoding", ["zlib", "hex", "base64", "bz2", "rot13", "uu", "quopri", "punycode", "a\0b", "x" * 999]
)
def test_only_encodings_of_text_are_encodings(tmp_path, encoding):
    with pytest.raises(ValueError, match="encoding must be a text encoding that Python knows, got '") as caught:
        rows_of(tmp_path / "rows.csv", "a,b\n1,2\n", encoding=encoding)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\n1,\x1b[31mred\n",
        b"a\x1b[31m,b\n1,x\n",
        b"a\x1b,a\x1b\n1,2\n",
        b"a,b\n1,2\n1,\x1b[31m,2\n",
        b"a,b\n1,2\n1,2,\x1b\xc3",
    ],
)
def test_control_characters_of_a_file_are_escaped_in_messages(tmp_path, content):
    with pytest.raises(ValueError, match=r"rows\.csv: ") as caught:
        rows_of(tmp_path / "rows.csv", content)
    assert str(caught.value).isprintable()


# Cells that a spreadsheet takes for formulas.

FORMULAS = ["=1+1", "+1+1", "-1+cmd|' /C calc'!A1", "@SUM(A1)", "\t=1", "\r=1", "'=1", "＝1+1", "-LxYz", "=", "-1 234"]
PLAIN = [
    "-0.5",
    "+3",
    "-1.5e-3",
    "-1,5",
    "-1.234,5",
    "-12%",
    "-",
    "-inf",
    "a=1",
    " =1",
    "",
    "'quoted'",
    "x-1",
    "2024-01-02",
]


def escaped(columns):
    file = io.BytesIO()
    with writing(EscapedCSV(file)) as write:
        write(pa.RecordBatch.from_pydict(columns))
    return pd.read_csv(io.BytesIO(file.getvalue()), dtype=str, keep_default_na=False)


@pytest.mark.parametrize(
    "as_type",
    [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.dictionary(pa.int8(), pa.string())],
    ids=str,
)
def test_text_that_is_a_formula_is_escaped_and_numbers_are_not(as_type):
    cells = pa.array([*FORMULAS, *PLAIN, None]).cast(as_type)
    found = escaped({"=a": cells, "b": pa.array(np.linspace(-1, 1, len(cells)))})
    assert list(found.columns) == ["'=a", "b"]
    assert found["'=a"].tolist() == [*(f"'{cell}" for cell in FORMULAS), *PLAIN, ""]
    np.testing.assert_array_equal(found["b"].astype(float), np.linspace(-1, 1, len(cells)))


@given(st.lists(st.text(alphabet="'=+-@1.e\ta", max_size=6), min_size=1))
@settings(max_examples=200)
def test_escaped_text_is_no_formula_and_comes_back(cells):
    found = escaped({"a": cells})["a"]
    number = re.compile(r"[+-](\d|[.,%]|e[+-]?\d)*")
    assert not any(cell[:1] in {*"=+-@\t"} - {""} and not number.fullmatch(cell) for cell in found)
    assert found.str.replace(r"^'('*[=+\-@\t\r\n])", r"\1", regex=True).tolist() == cells


def test_only_text_files_are_escaped(tmp_path):
    with pytest.raises(ValueError, match=r"EscapedCSV: sink must end in \.csv or \.tsv, got rows\.parquet"):
        EscapedCSV(tmp_path / "rows.parquet")
    with writing(EscapedCSV(tmp_path / "rows.tsv.gz")) as write:
        write(pa.RecordBatch.from_pydict({"a": ["=1", "-1"]}))
    assert gzip.decompress((tmp_path / "rows.tsv.gz").read_bytes()) == b'a\n"\'=1"\n"-1"\n'
