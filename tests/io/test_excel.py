"""Excel files that are written: every value is read back as it was."""

import datetime
import io

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

openpyxl = pytest.importorskip("openpyxl")

from oneclass.io.excel import ExcelWriter  # noqa: E402
from oneclass.io.sinks import writing  # noqa: E402


def read_back(columns):
    """The rows of a sheet that holds the columns, below the line of names."""
    file = io.BytesIO()
    writer = ExcelWriter(file, [*columns], "out.xlsx")
    try:
        writer.write_batch(pa.RecordBatch.from_pydict(columns))
    finally:
        writer.close()
    return [[*row] for row in openpyxl.load_workbook(file).active.iter_rows(min_row=2)]


TIMES = st.datetimes(datetime.datetime(1900, 3, 1), datetime.datetime(9999, 1, 1)).map(
    lambda time: time.replace(microsecond=time.microsecond // 1000 * 1000)
)
#: Characters that XML keeps: it makes one line break of "\r\n".
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="￾￿"), max_size=20)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(-(10**14), 10**14), st.floats(-1e300, 1e300), st.booleans(), TIMES), min_size=1))
def test_numbers_flags_and_times_are_read_back_unchanged(rows):
    whole, numbers, flags, times = (list(column) for column in zip(*rows, strict=True))
    found = read_back({"whole": whole, "number": numbers, "flag": flags, "time": pa.array(times, pa.timestamp("ms"))})
    assert [[cell.value for cell in row] for row in found] == [list(row) for row in rows]


@settings(max_examples=60, deadline=None)
@given(st.lists(WORDS, min_size=1))
def test_text_is_read_back_unchanged_and_is_never_a_formula(words):
    words = [*words, "=1+1", "#REF!", "00123", "1e5", "-0", "+5", "12345678901234567890"]
    found = [row[0] for row in read_back({"word": words})]
    for word, cell in zip(words, found, strict=True):
        assert cell.data_type != "f"
        assert str(cell.value if cell.value is not None else "") == word or cell.number_format.startswith("0")


@pytest.mark.parametrize(
    ("text", "number", "form"), [("4.10", 4.1, "0.00"), ("-3", -3, "0"), ("0.050", 0.05, "0.000"), ("12", 12, "0")]
)
def test_plain_numbers_in_text_become_numbers_that_are_shown_as_written(text, number, form):
    [[cell]] = read_back({"a": [text]})
    assert (cell.value, cell.number_format) == (number, form)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (pa.scalar(2**60), str(2**60)),
        (-float(np.finfo(float).max), "-1.7976931348623157e+308"),
        (float("inf"), "inf"),
        (datetime.datetime(1850, 1, 1), "1850-01-01T00:00:00"),
        (datetime.datetime(2024, 1, 1, 0, 0, 0, 1), "2024-01-01T00:00:00.000001"),
        (datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC), "2024-01-01T00:00:00+00:00"),
    ],
)
def test_what_excel_cannot_hold_exactly_is_text(value, text):
    [[cell]] = read_back({"a": pa.array([value.as_py() if isinstance(value, pa.Scalar) else value])})
    assert (cell.value, cell.data_type) == (text, "s")


def test_missing_values_are_empty_cells():
    found = read_back({"a": pa.array([float("nan"), None], from_pandas=False), "b": [1, 2]})
    assert [[cell.value for cell in row] for row in found] == [[None, 1], [None, 2]]


@pytest.mark.parametrize("text", ["x" * 32_768, "bell\x07"])
def test_text_that_excel_cannot_hold_is_refused(text):
    with pytest.raises(ValueError, match=r"out\.xlsx: a cell of Excel holds at most 32,767 characters"):
        read_back({"a": [text]})


def test_too_many_rows_are_refused_and_the_file_stays_as_it_was(tmp_path):
    path = tmp_path / "out.xlsx"
    path.write_bytes(b"before")
    batch = pa.RecordBatch.from_pydict({"a": np.zeros(1_048_576)})
    with pytest.raises(ValueError, match=r"out\.xlsx: a sheet of Excel holds 1,048,576 rows"), writing(path) as write:
        write(batch)
    assert path.read_bytes() == b"before"
