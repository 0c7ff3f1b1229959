"""Rows that need no lengthy check, against the check itself."""

import numpy as np
import pytest

from oneclass import AAKELM
from oneclass.contract import reading
from oneclass.contract.reading import Header, read_rows, read_training_rows

ROWS = np.random.default_rng(0).normal(size=(4, 3))
GIVEN = {
    "plain": ROWS,
    "one row": ROWS[:1],
    "single precision": ROWS.astype(np.float32),
    "half precision": ROWS.astype(np.float16),
    "other byte order": ROWS.astype(">f8"),
    "integers": np.arange(12).reshape(4, 3),
    "numbers as objects": ROWS.astype(object),
    "list": ROWS.tolist(),
    "by column": np.asfortranarray(ROWS),
    "every other row": ROWS[::2],
    "matrix of no rows": ROWS[:0],
    "one dimension": ROWS[0],
    "a column less": ROWS[:, :2].copy(),
    "missing": np.where(np.eye(4, 3) == 1, np.nan, ROWS),
    "infinite": np.where(np.eye(4, 3) == 1, np.inf, ROWS),
    "huge": np.full((4, 3), 1.5e308),
    "complex": ROWS + 1j,
    "masked": np.ma.masked_array(ROWS, mask=np.eye(4, 3)),
    "subclass": np.ma.masked_array(ROWS),
}


def outcome(read):
    try:
        rows = read()
    except (ValueError, TypeError) as error:
        return type(error), str(error)
    return type(rows), rows.dtype, rows.tolist(), rows.flags.c_contiguous


@pytest.mark.parametrize("names", [None, np.array(["a", "b", "c"], dtype=object)])
@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_a_short_check_reads_what_the_long_one_does(given, names, monkeypatch):
    header = Header("AAKELM", 3, names)
    found = outcome(lambda: read_rows(header, GIVEN[given]))
    monkeypatch.setattr(reading, "_is_plain", lambda header, X: False)
    assert found == outcome(lambda: read_rows(header, GIVEN[given]))


@pytest.mark.parametrize("given", [*GIVEN, "no columns"])
def test_a_short_check_reads_rows_to_learn_from_as_the_long_one_does(given, monkeypatch):
    X = GIVEN.get(given, ROWS[:, :0])

    def read():
        rows, header = read_training_rows(AAKELM(), X)
        assert header == Header("AAKELM", rows.shape[1])
        return rows

    found = outcome(read)
    monkeypatch.setattr(reading, "_is_plain", lambda header, X: False)
    assert found == outcome(read)


def test_rows_without_names_are_still_warned_about():
    with pytest.warns(UserWarning, match="X does not have valid feature names, but AAKELM was fitted with"):
        read_rows(Header("AAKELM", 3, np.array(["a", "b", "c"], dtype=object)), ROWS)
