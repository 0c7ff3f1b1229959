"""Rows that need no lengthy check, against the check itself; tables of PyArrow, against frames of pandas."""

import datetime

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from oneclass import AAKELM, OneClassSearchCV, make_one_class_pipeline, report
from oneclass.base import reading
from oneclass.base.reading import Header, read_rows, read_training_rows

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
    "huge, both signs": (1.5e308 * (-1.0) ** np.arange(12)).reshape(3, 4).T,
    "complex": ROWS + 1j,
    "masked": np.ma.masked_array(ROWS, mask=np.eye(4, 3)),
    "subclass": np.ma.masked_array(ROWS),
}
NAMES = ["a", "b", "c"]
FRAME = pd.DataFrame(ROWS, columns=NAMES)
GIVEN |= {
    "frame": FRAME,
    "frame, columns apart": pd.DataFrame({name: FRAME[name].to_numpy() for name in NAMES}),
    "frame, every other row": FRAME.iloc[::2],
    "frame in single precision": FRAME.astype(np.float32),
    "frame of two precisions": FRAME.astype({"b": np.float32}),
    "frame of integers": pd.DataFrame(np.arange(12).reshape(4, 3), columns=NAMES),
    "frame of nullable floats": FRAME.astype("Float64"),
    "frame with numbered columns": pd.DataFrame(ROWS),
    "frame with other names": FRAME.set_axis(["a", "b", "x"], axis=1),
    "frame in another order": FRAME[["b", "a", "c"]],
    "frame with a column less": FRAME[["a", "b"]],
    "frame with a name twice": FRAME.set_axis(["a", "b", "b"], axis=1),
    "frame with missing values": FRAME.mask(FRAME > 0.5),
}


def outcome(read):
    try:
        rows = read()
    except (ValueError, TypeError) as error:
        return type(error), str(error)
    return type(rows), rows.dtype, rows.tolist(), rows.flags.c_contiguous


@pytest.mark.parametrize("names", [None, np.array(["a", "b", "c"], dtype=object)])
@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names", "ignore:X has feature names, but")
def test_the_short_check_reads_the_same_as_the_long_one(given, names, monkeypatch):
    header = Header("AAKELM", 3, names)
    found = outcome(lambda: read_rows(header, GIVEN[given]))
    monkeypatch.setattr(reading, "_plain", lambda header, X: None)
    assert found == outcome(lambda: read_rows(header, GIVEN[given]))


@pytest.mark.parametrize("given", [*GIVEN, "no columns"])
def test_a_short_check_reads_rows_to_learn_from_as_the_long_one_does(given, monkeypatch):
    X = GIVEN.get(given, ROWS[:, :0])

    def read():
        rows, header = read_training_rows(AAKELM(), X)
        assert (header.reader, header.n_features) == ("AAKELM", rows.shape[1])
        names = [*getattr(X, "columns", ())]
        assert (header.names is None) == (not names or names == [0, 1, 2])
        assert header.names is None or header.names.tolist() == names
        return rows

    found = outcome(read)
    monkeypatch.setattr(reading, "_plain", lambda header, X: None)
    assert found == outcome(read)


def test_rows_without_names_are_still_warned_about():
    with pytest.warns(UserWarning, match="X does not have valid feature names, but AAKELM was fitted with"):
        read_rows(Header("AAKELM", 3, np.array(["a", "b", "c"], dtype=object)), ROWS)


@pytest.fixture(params=["Table", "RecordBatch"])
def arrow(request):
    """Makes a table of PyArrow of a frame."""
    return getattr(pytest.importorskip("pyarrow"), request.param).from_pandas


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"]).assign(
        k=rng.integers(0, 9, 60), flag=rng.random(60) < 0.5
    )


@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_a_table_of_arrow_is_the_frame_of_the_same_numbers(arrow, frame, kind):
    frame = frame.astype(kind)
    odd = frame[:20] + 9
    model, same = AAKELM().fit(frame), AAKELM().fit(arrow(frame))
    np.testing.assert_array_equal(same.score_samples(arrow(odd)), model.score_samples(odd))
    np.testing.assert_array_equal(same.feature_names_in_, model.feature_names_in_)
    assert same.explain(arrow(odd)).row(0) == model.explain(odd).row(0)
    assert report(same, arrow(odd)).to_json() == report(model, odd).to_json()
    with pytest.raises(ValueError, match="feature names should match"):
        same.predict(arrow(odd[odd.columns[::-1]]))


def test_a_pipeline_explains_tables_of_arrow_by_the_names_of_their_columns(arrow, frame):
    model = make_one_class_pipeline("passthrough", AAKELM()).fit(frame)
    assert model.explain(arrow(frame)).row(0) == model.explain(frame).row(0)
    same = make_one_class_pipeline(StandardScaler(), AAKELM()).fit(arrow(frame))
    with pytest.raises(ValueError, match="feature names should match"):
        same.predict(arrow(frame[frame.columns[::-1]]))


def test_a_search_reads_tables_of_arrow_as_frames(arrow, frame):
    search = OneClassSearchCV(make_one_class_pipeline(StandardScaler(), AAKELM()), {"aakelm__C": [1.0, 8.0]})
    y = np.where(np.arange(len(frame)) % 5, 1, -1)
    expected = clone(search).fit(frame, y).cv_results_["mean_test_score"]
    np.testing.assert_array_equal(search.fit(arrow(frame), y).cv_results_["mean_test_score"], expected)


def test_groups_are_a_column_of_a_table_of_arrow(arrow, frame):
    frame = frame.assign(person=np.repeat([f"p{i}" for i in range(12)], 5))
    expected = AAKELM(delta=0.1).fit(frame, groups="person").offset_
    assert [AAKELM(delta=0.1).fit(arrow(frame), groups=column).offset_ for column in ("person", -1)] == [expected] * 2
    with pytest.raises(ValueError, match=r"name a column of X, one of \['a', 'b', 'k', 'flag', 'person'\]; got 'who'"):
        AAKELM(delta=0.1).fit(arrow(frame), groups="who")


@pytest.mark.parametrize(
    ("cell", "flaw"),
    [
        (None, "missing values"),
        ("word", "no numbers"),
        (datetime.datetime(2024, 1, 1), "dates or times"),
        (datetime.timedelta(seconds=3), "dates or times"),
        (datetime.date(2024, 1, 1), "no numbers"),
    ],
)
def test_a_table_of_arrow_is_refused_as_the_frame_is(arrow, frame, cell, flaw):
    odd = frame.assign(a=pd.Series([cell] * 60))
    for table in (odd, arrow(odd)):
        with pytest.raises((TypeError, ValueError), match=f"X must hold a number .*, but column 'a' holds {flaw}"):
            AAKELM().fit(table)
