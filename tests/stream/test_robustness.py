"""Batches that are refused leave no trace; odd streams neither break a stream nor make it grow."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from oneclass import AAKELM, OCKELM, KNNDetector, Nystrom, Stream


@pytest.fixture
def stream(aakelm):
    return Stream(aakelm, window=200).fit(np.random.default_rng(0).normal(size=(200, 3)))


def sizes(state):
    """Number of values in each part of a state."""
    memory = sum(np.size(column) for column in vars(state.memory).values())
    return memory + np.size(state.moments.ff) + np.size(state.bets.losses) + len(state.events)


REFUSED = {
    "nan": (np.full((5, 3), np.nan), {}),
    "one nan": (np.array([[0.0, 1.0, 2.0], [0.0, np.nan, 2.0]]), {}),
    "infinity": (np.array([[0.0, np.inf, 2.0]]), {}),
    "empty": (np.empty((0, 3)), {}),
    "columns": (np.zeros((4, 2)), {}),
    "labels": (np.zeros((4, 3)), {"y": [1, -1]}),
    "time": (np.zeros((4, 3)), {"time": [1, 2, 3, 4]}),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_batch_that_is_refused_is_refused_whole(stream, case):
    X, more = REFUSED[case]
    stream.partial_fit(np.random.default_rng(1).normal(size=(30, 3)))
    state, offset = stream.state_, stream.offset_
    with pytest.raises(ValueError, match=r"Stream|sample|features|infinity|NaN"):
        stream.partial_fit(X, **more)
    assert stream.state_ is state
    assert stream.offset_ == offset


def test_a_clock_does_not_go_backwards(aakelm):
    X = np.random.default_rng(0).normal(size=(60, 3))
    stream = Stream(aakelm, window=50, clock=True).fit(X[:40], time=np.arange(40.0))
    state = stream.state_
    with pytest.raises(ValueError, match="Stream: time must not decrease, but row 0 has time 12 after 39"):
        stream.partial_fit(X[40:], time=np.full(20, 12.0))
    with pytest.raises(ValueError, match="Stream: time must not decrease, but row 2 has time 41 after 42"):
        stream.partial_fit(X[40:43], time=[41, 42, 41])
    with pytest.raises(ValueError, match="Stream: time must be given with every batch"):
        stream.partial_fit(X[40:43])
    assert stream.state_ is state
    stream.partial_fit(X[40:], time=np.full(20, 39.0))
    assert stream.n_seen_ == 60


@pytest.mark.parametrize("zone", [None, "Asia/Tokyo"])
def test_a_clock_of_dates_is_one_of_seconds_in_whatever_unit(aakelm, zone):
    X = np.random.default_rng(0).normal(size=(60, 3))
    dates = pd.date_range("2024-01-01", periods=60, freq="s", tz=zone)
    by_number = Stream(aakelm, window=30, clock=True).fit(X[:40], time=np.arange(40.0))
    by_number.partial_fit(X[40:], time=np.arange(40.0, 60.0))
    spans = dates - dates[0]
    for first, then in (
        (dates[:40], dates[40:]),
        (dates[:40].as_unit("s"), dates[40:].as_unit("ns")),
        (list(dates[:40]), dates[40:].as_unit("ms").to_series()),
        ([date.to_pydatetime() for date in dates[:40]], dates[40:]),
        (spans[:40], spans[40:].as_unit("s")),
        (list(spans[:40]), spans[40:].to_numpy()),
    ):
        stream = Stream(aakelm, window=30, clock=True).fit(X[:40], time=first).partial_fit(X[40:], time=then)
        np.testing.assert_allclose(stream.score_samples(X), by_number.score_samples(X), rtol=1e-9)
    with pytest.raises(ValueError, match="Stream: time must be finite, but the time of row 39 is NaT"):
        Stream(aakelm, window=30, clock=True).fit(X[:40], time=dates[:39].append(pd.DatetimeIndex([pd.NaT], tz=zone)))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_time_that_is_not_finite_is_named_with_its_row(aakelm, value):
    X, time = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40.0)
    time[7] = value
    with pytest.raises(ValueError, match=f"^Stream: time must be finite, but the time of row 7 is {value}$"):
        Stream(aakelm, clock=True).fit(X, time=time)
    with pytest.raises(ValueError, match=r"^Stream: time must have one number or date per row, shape \(40,\), got"):
        Stream(aakelm, clock=True).fit(X, time=time[:39])


def test_labels_that_undo_a_change_restore_the_threshold():
    rng = np.random.default_rng(0)
    stream = Stream(window=1000).fit(rng.normal(size=(500, 4)))
    for _ in range(3):
        stream.watch(rng.normal(size=(50, 4)))
    rows = np.concatenate([stream.watch(rng.normal(size=(50, 4)) + 12).rows for _ in range(2)])
    assert any(event.kind == "change" for event in stream.events_)
    assert len(stream.calibration_.losses) <= 100
    stream.tell(rows[2:], normal=False)
    assert len(stream.calibration_.losses) > 400
    assert stream.p_value([[50.0] * 4])[0] < 0.01
    rate = np.mean(stream.predict(rng.normal(size=(2000, 4))) == -1)
    assert abs(rate - 0.05) < 0.03


def test_single_rows_make_a_beginning(aakelm):
    X = np.random.default_rng(0).normal(size=(300, 3))
    single = Stream(aakelm, every=50)
    for row in X[:49]:
        single.partial_fit(row[None])
    with pytest.raises(NotFittedError):
        single.predict(X[:1])
    for row in X[49:200]:
        single.partial_fit(row[None])
    assert single.n_seen_ == 200
    assert 0.8 < np.mean(single.predict(X[200:]) > 0) <= 1


def test_tables_and_single_precision_are_read_as_rows(aakelm):
    X = np.random.default_rng(0).normal(size=(300, 3)).astype(np.float32)
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    named = Stream(aakelm).fit(table[:200]).partial_fit(table[200:])
    plain = Stream(aakelm).fit(X[:200]).partial_fit(X[200:])
    np.testing.assert_array_equal(named.score_samples(table), plain.score_samples(X))
    with pytest.raises(ValueError, match="feature names"):
        named.partial_fit(table.rename(columns={"a": "z"}))


def test_rows_that_are_written_over_afterwards_were_learned_as_they_came(aakelm):
    X = np.random.default_rng(0).normal(size=(300, 3))
    careful, careless = Stream(aakelm).fit(X[:100]), Stream(aakelm).fit(X[:100])
    buffer = np.empty((50, 3))
    for a in range(100, 300, 50):
        careful.partial_fit(X[a : a + 50])
        buffer[:] = X[a : a + 50]
        careless.partial_fit(buffer)
        buffer[:] = 99.0
    np.testing.assert_array_equal(careless.renew().score_samples(X), careful.renew().score_samples(X))


@pytest.mark.parametrize("scale", ["robust", "zscore"])
def test_columns_may_become_constant_or_explode(scale):
    rng = np.random.default_rng(0)
    stream = Stream(AAKELM(C=1.0, scale=scale, approximation=Nystrom(30)), window=200).fit(rng.normal(size=(200, 3)))
    X = rng.normal(size=(1200, 3))
    X[:600, 0] = 1.5
    X[600:, 1] *= 1e30
    found = np.concatenate([stream.watch(X[a : a + 50]).labels for a in range(0, 1200, 50)])
    assert np.all(np.isfinite(stream.score_samples(X)))
    assert np.mean(found[300:600] > 0) > 0.8
    assert np.mean(found[900:] > 0) > 0.8


def test_in_a_constant_stream_only_the_constant_row_is_normal(aakelm):
    stream = Stream(aakelm, window=200).fit(np.ones((100, 3)))
    for _ in range(5):
        stream.partial_fit(np.ones((50, 3)))
    assert np.all(stream.predict(np.ones((4, 3))) > 0)
    assert np.all(stream.predict(np.full((4, 3), 2.0)) < 0)


@pytest.mark.parametrize("machine", [OCKELM, AAKELM], ids=lambda m: m.__name__)
def test_rows_that_are_all_equal_are_normal(machine):
    """For every rounding error of their losses, which about half of the numbers have."""
    for n in range(20, 40):
        estimator = machine(C=30.0, kernel="rbf", scale=False, approximation=Nystrom(30))
        model = Stream(estimator, window=None, every=1)
        model.partial_fit(np.repeat([[5.0, 0.3]], n, axis=0))
        assert model.calibration_.total == n
        assert model.predict([[5.0, 0.3], [5.0, 9.0]]).tolist() == [1, -1]


def test_rows_too_far_to_be_learned_do_not_change_the_learned_distribution():
    X = 100 * np.random.default_rng(0).normal(size=(4, 2))
    machine = AAKELM(C=1.0, kernel="rbf", scale=False, approximation=Nystrom(30))
    stream = Stream(machine, window=None, every=1)
    expected = clone(stream).partial_fit(X[:2]).partial_fit(X[2:]).machine_.plan.kernel.sigma
    for far in (1e9, 1e27, 1e60):
        found = clone(stream).partial_fit(X[:2]).partial_fit(np.full((2, 2), far)).partial_fit(X[2:])
        assert 0.1 * expected < found.machine_.plan.kernel.sigma < 10 * expected


def test_modes_that_recur_within_the_window_are_not_forgotten(aakelm):
    rng = np.random.default_rng(0)
    stream = Stream(aakelm, window=1000).fit(rng.normal(size=(300, 3)))
    found = []
    for turn in range(10):
        X = rng.normal(size=(200, 3)) + 9.0 * (turn % 2 == 0)
        found.append(np.concatenate([stream.watch(X[a : a + 50]).labels for a in range(0, 200, 50)]))
    assert [event.kind for event in stream.events_ if event.kind in ("change", "mode", "wider")] == ["change"]
    assert np.mean(np.concatenate(found[2:]) < 0) < 0.08


@pytest.mark.parametrize("patience", [140, float("inf"), None])
@pytest.mark.parametrize(
    "span", [{"window": 200}, {"window": None, "half_life": 100}, {"window": None}], ids=["window", "half-life", "all"]
)
def test_memory_does_not_grow_if_all_rows_stay_anomalous(aakelm, patience, span):
    rng = np.random.default_rng(0)
    stream = Stream(aakelm, patience=patience, **span).fit(rng.normal(size=(200, 3)))
    largest = []
    for _ in range(2):
        seen = 0
        for k in range(15):
            stream.partial_fit(rng.normal(size=(400, 3)) * 3.0 + 100.0 * k * (-1) ** k)
            seen = max(seen, sizes(stream.state_))
        largest.append(seen)
        assert np.all(np.isfinite(stream.score_samples(rng.normal(size=(5, 3)))))
    assert largest[1] <= 1.1 * largest[0]


def test_a_distribution_that_jumps_repeatedly_can_always_be_solved():
    rng = np.random.default_rng(4)
    stream = Stream(AAKELM(C=1.0, approximation=Nystrom(30)), window=None, half_life=50, patience=140)
    stream.fit(rng.normal(size=(200, 3)))
    for k in range(15):
        stream.partial_fit(3 * rng.normal(size=(400, 3)) + 100 * k * (-1) ** k)
    assert np.all(np.isfinite(stream.score_samples(rng.normal(size=(5, 3)))))


def test_an_attack_that_is_not_learned_does_not_age_the_learned_rows(aakelm):
    rng = np.random.default_rng(0)
    probe = rng.normal(size=(100, 3))
    stream = Stream(aakelm, window=150, patience=float("inf")).fit(rng.normal(size=(200, 3)))
    before = stream.score_samples(probe)
    for _ in range(20):
        stream.partial_fit(rng.normal(size=(50, 3)) + 50.0)
    np.testing.assert_array_equal(stream.score_samples(probe), before)


def test_a_stream_learns_again_after_a_long_pause(aakelm):
    rng = np.random.default_rng(0)
    for span in ({"window": 50.0}, {"window": None, "half_life": 5.0}):
        stream = Stream(aakelm, clock=True, patience=None, **span).fit(rng.normal(size=(100, 3)), time=np.arange(100.0))
        stream.partial_fit(rng.normal(size=(60, 3)), time=1e9 + np.arange(60.0))
        assert np.mean(stream.predict(rng.normal(size=(200, 3))) > 0) > 0.7


def test_labels_must_leave_some_normal_rows(stream):
    with pytest.raises(
        ValueError, match="Stream: at least one learned row must remain, but these rows are all of them"
    ):
        stream.tell(np.arange(200), normal=False)
    with pytest.raises(ValueError, match=r"Stream: rows must be in \[0, 200\), got 200 to 200"):
        stream.tell(200)
    with pytest.raises(ValueError, match="Stream: rows must be whole numbers"):
        stream.tell([0.5])


def test_tell_without_rows_changes_nothing(stream):
    state = stream.state_
    assert stream.tell([]).tell(np.empty(0, dtype=int), normal=False).state_ is state


@pytest.mark.parametrize("normal", [[True, False], [True], [[True] * 3]])
def test_answers_are_one_for_all_rows_or_one_a_row(stream, normal):
    state, shape = stream.state_, re.escape(str(np.shape(normal)))
    rule = rf"Stream: normal must be one truth value, or one per row, shape \(3,\), got {shape}"
    for say in (lambda: stream.learn(np.zeros((3, 3)), normal), lambda: stream.tell([1, 2, 3], normal)):
        with pytest.raises(ValueError, match=rule):
            say()
    assert stream.state_ is state


@pytest.mark.parametrize("normal", [[1, -1, 1], ["no", "yes", "no"], -1])
def test_answers_are_no_labels(stream, normal):
    for say in (lambda: stream.learn(np.zeros((3, 3)), normal), lambda: stream.tell([1, 2, 3], normal)):
        with pytest.raises(ValueError, match=r"Stream: normal must be True or False, got .*(-1|no|yes)"):
            say()


@pytest.mark.parametrize("kind", [list, np.array, pd.Series])
def test_dates_in_text_are_no_time(aakelm, kind):
    X, days = np.random.default_rng(0).normal(size=(40, 3)), [f"2024-01-{day:02}" for day in range(1, 21) for _ in "ab"]
    stream = Stream(aakelm, clock=True)
    rule = r"Stream: time must be numbers or dates, got '2024-01-01'; pandas.to_datetime\(time\) converts text to dates"
    for verb in (stream.fit, stream.watch):
        with pytest.raises(ValueError, match=rule):
            verb(X, time=kind(days))
    assert stream.fit(X, time=pd.to_datetime(kind(days))).n_seen_ == 40


CHOICES = {
    "estimator": (KNNDetector(), TypeError, "Stream: estimator must be a kernel machine"),
    "window": (-1, ValueError, r"Stream: window must be a number in \(0, inf\), got -1"),
    "half_life": (3.0, ValueError, "Stream: half_life or window must be None, got half_life=3.0 and window=1000"),
    "delta": (0.7, ValueError, r"Stream: delta must be a number in \(0, 0.5\), got 0.7"),
    "patience": (
        -3,
        ValueError,
        r"Stream: patience must be 'prompt', a number in \(0, inf\], a Patience or None, got -3",
    ),
    "change": ("adwin", ValueError, "Stream: change must be 'martingale'"),
    "every": (0, ValueError, "Stream: every must be a whole number of at least 1, got 0"),
    "clock": (1, ValueError, "Stream: clock must be True or False, got 1"),
}


@pytest.mark.parametrize("parameter", CHOICES)
def test_choices_that_make_no_sense_are_refused(parameter):
    value, error, message = CHOICES[parameter]
    with pytest.raises(error, match=message):
        Stream(**{parameter: value}).fit(np.zeros((4, 2)))


def test_choices_that_change_wait_for_the_next_fit(aakelm):
    X = np.random.default_rng(0).normal(size=(400, 3))
    stream = Stream(aakelm, delta=0.05).fit(X[:200])
    twin = clone(stream).fit(X[:200])
    stream.set_params(delta=0.3).partial_fit(X[200:])
    twin.partial_fit(X[200:])
    np.testing.assert_array_equal(stream.predict(X), twin.predict(X))
    assert np.mean(stream.fit(X).predict(X) < 0) > 0.2
