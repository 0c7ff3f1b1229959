"""Text columns read at once by PyArrow equal their cells read one by one."""

import datetime
import decimal

import numpy as np
import pyarrow as pa
import pytest

from oneclass.tabular.cells import read_cells


def objects(cells):
    made = np.empty(len(cells), dtype=object)
    made[:] = cells
    return made


def words_of(column):
    words = read_cells(column, "x").as_words()
    return words.levels[words.codes].tolist()


COLUMNS = {
    "numbers": ["1", "2.5", "-3e4", " 7 ", ".5"],
    "numbers and gaps": ["1", "NA", "", None, "n/a", "2", "-"],
    "a plus sign": ["+5", "6"],
    "codes": ["007", "12"],
    "zero": ["0", "0.5", "-0.25"],
    "infinity": ["inf", "1", "2"],
    "figures apart": ["1_000", "2"],
    "words": ["b", "a ", "b", None, "a"],
    "words and numbers": ["3", "3.0", "three", "?"],
    "days": ["2024-02-29", "2023-01-01", "nil"],
    "times": ["2024-02-29 12:30", "2024-02-29T23:59:59.25", "none"],
    "times of a zone": ["2024-02-29 12:30+01:00", "2024-02-29 12:30Z"],
    "a thirteenth month": ["2024-13-01", "2024-12-01"],
    "no time": ["2024-12-01 10", "2024-12-01"],
    "digits": ["9007199254740992", "9007199254740993", "+9007199254740993", "1e20", "1"],
    "flags": ["True", "false", "TRUE", "NA"],
    "nothing": ["", None, "?"],
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("chunks", [1, 2])
def test_a_column_read_at_once_equals_its_cells_read_one_by_one(name, chunks):
    cells = COLUMNS[name]
    text = pa.chunked_array([pa.array(cells[i::chunks], pa.string()) for i in range(chunks)])
    alone = np.array([cell for i in range(chunks) for cell in cells[i::chunks]], dtype=object)
    found, expected = read_cells(text, name), read_cells(alone, name)
    assert found.kind == expected.kind
    np.testing.assert_array_equal(found.gaps, expected.gaps)
    for part in ("numbers", "times"):
        a, b = getattr(found, part), getattr(expected, part)
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_array_equal(a, b)
    words, known = found.as_words(), expected.as_words()
    np.testing.assert_array_equal(words.levels[words.codes], known.levels[known.codes])


def test_different_cells_that_say_the_same_are_one_word():
    words = read_cells(np.array(["a", " a", 3, "3", "b", None], dtype=object), "x").as_words()
    assert sorted(words.levels.tolist(), key=str) == ["3", None, "a", "b"]
    assert words.codes[0] == words.codes[1]
    assert words.codes[2] == words.codes[3]


@pytest.mark.parametrize("column_of", [pa.array, objects], ids=["arrow", "objects"])
def test_a_cell_is_the_same_word_alone_and_beside_any_other(column_of):
    cells = sorted({cell for column in COLUMNS.values() for cell in column if cell is not None})
    alone = {cell: words_of(column_of([cell]))[0] for cell in cells}
    assert (alone["3"], alone["3.0"], alone["007"]) == ("3", "3", "007")
    for beside in cells:
        assert words_of(column_of([beside, *cells])) == [alone[cell] for cell in [beside, *cells]]
        for cell in cells:
            assert words_of(column_of([cell, beside])) == [alone[cell], alone[beside]]


EAST = datetime.timezone(datetime.timedelta(hours=2))
NOON = datetime.datetime(2024, 1, 1, 12, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    "cells",
    [
        [NOON, NOON.astimezone(EAST)],
        [NOON.timetz(), NOON.astimezone(EAST).timetz()],
        [True, 1, np.True_, 1.0, "1"],
        [decimal.Decimal(2**53), np.int64(2**53)],
    ],
    ids=["times", "times of day", "flags", "digits"],
)
def test_equal_cells_are_read_as_each_alone_in_any_order(cells):
    alone = [words_of(objects([cell]))[0] for cell in cells]
    assert words_of(objects(cells)) == alone
    assert words_of(objects(cells[::-1])) == alone[::-1]
    assert read_cells(objects(cells), "x").kind == read_cells(objects(cells[::-1]), "x").kind


@pytest.mark.parametrize("cells", [["2024-02-29"], ["2024-02-29", "soon"]])
def test_a_day_is_said_as_a_day(cells):
    assert words_of(objects(cells)) == cells
