"""A stream inside a TableDetector is the stream of the encoded rows."""

import numpy as np
import pandas as pd
import pytest

import oneclass
from oneclass import VAAKELM, ColumnWarning, Stream, TableDetector


def visits(n, seed, grams=10.0):
    rng = np.random.default_rng(seed)
    at = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 60 * 86_400, n), unit="s")
    return pd.DataFrame({"grams": rng.normal(grams, 2, n), "town": rng.choice(["Bonn", "Graz"], n), "at": at})


@pytest.fixture
def watched():
    """A detector that has watched rows whose grams changed, the stream of the encoded rows, and their verdicts."""
    model, verdicts = TableDetector(Stream(window=200)), []
    blocks = [visits(200, 0), *(visits(50, i) for i in range(1, 5)), *(visits(50, i, 40.0) for i in range(5, 9))]
    for block in blocks:
        verdicts.append(model.watch(block))
    stream, expected = Stream(window=200), []
    for i, block in enumerate(blocks):
        expected.append(stream.watch(model.plan_.encode(block, owner="", training=i == 0)))
    return model, verdicts, stream, expected


def test_verdicts_are_those_of_the_encoded_rows(watched):
    model, verdicts, stream, expected = watched
    for one, other in zip(verdicts, expected, strict=True):
        np.testing.assert_array_equal(one.rows, other.rows)
        np.testing.assert_array_equal(one.labels, other.labels)
        np.testing.assert_array_equal(one.scores, other.scores)
        assert [event.kind for event in one.events] == [event.kind for event in other.events]
    fresh = visits(20, 99)
    np.testing.assert_array_equal(model.p_value(fresh), stream.p_value(model.encode(fresh)))
    assert model.n_seen_ == stream.n_seen_ == 600


def test_events_name_columns(watched):
    model, verdicts, *_ = watched
    (change,) = (event for event in model.events_ if event.kind == "change")
    assert change.columns[0].column == "grams"
    assert change.columns[0].after == pytest.approx(40, abs=2)
    assert change in [event for verdict in verdicts for event in verdict.events]


def test_labels_and_events_are_taken_back_as_in_the_stream(watched):
    model, _, stream, _ = watched
    fresh = visits(20, 99)
    model.tell([3, 4], normal=False)
    stream.tell([3, 4], normal=False)
    np.testing.assert_array_equal(model.score_samples(fresh), stream.score_samples(model.encode(fresh)))
    assert model.forget(next(event for event in model.events_ if event.kind == "change")) is model
    stream.forget(next(event for event in stream.events_ if event.kind == "change"))
    np.testing.assert_array_equal(model.score_samples(fresh), stream.score_samples(model.encode(fresh)))


def test_a_saved_detector_goes_on_as_the_first_one(watched, tmp_path):
    model, *_ = watched
    model.save(tmp_path / "model.oneclass")
    again = oneclass.load(tmp_path / "model.oneclass")
    for one in (model, again):
        one.partial_fit(visits(120, 50, 40.0))
    fresh = visits(20, 99)
    np.testing.assert_array_equal(model.score_samples(fresh), again.score_samples(fresh))
    assert again.events_ == model.events_


@pytest.mark.parametrize("bad_cells", ["alarm", "gap", "refuse"])
def test_rows_with_bad_cells_are_alarms_that_are_not_learned(bad_cells):
    model = TableDetector(Stream(), bad_cells=bad_cells).partial_fit(visits(300, 0))
    rows = visits(50, 1).astype({"grams": object})
    rows.loc[7, "grams"] = "broken"
    if bad_cells == "refuse":
        with pytest.raises(ValueError, match=r"holds 'broken', first in row 308"):
            model.watch(rows)
        assert model.n_seen_ == 300
        return
    with pytest.warns(ColumnWarning, match="1 not a number: 'broken'"):
        verdict = model.watch(rows)
    assert model.n_seen_ == 350
    memory = model.estimator_.state_.memory
    trust = memory.trust[memory.number == 307]
    if bad_cells == "alarm":
        assert verdict.labels[7] == -1
        assert trust.tolist() in ([], [0.0])


def test_labels_that_the_user_gives_are_kept():
    model, other = (TableDetector(Stream()).partial_fit(visits(300, 0)) for _ in range(2))
    rows, y = visits(50, 1, 40.0), np.full(50, 1)
    model.watch(rows, y)
    other.estimator_.watch(other.encode(rows), y)
    np.testing.assert_array_equal(model.score_samples(rows), other.score_samples(rows))


def test_other_classifiers_have_no_verbs_of_streams():
    model = TableDetector(VAAKELM()).fit(visits(60, 0))
    assert [verb for verb in ("watch", "partial_fit", "tell", "forget") if hasattr(model, verb)] == []
