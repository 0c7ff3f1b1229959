"""River's verbs, pipelines, evaluation and detectors."""

import doctest

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from oneclass import Stream

pytest.importorskip("river")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X, strange = rng.normal(size=(700, 3)), rng.random(700) < 0.04
    X[strange] += 6.0
    return X, strange


def as_dicts(X):
    return [dict(zip("abc", row, strict=True)) for row in X.tolist()]


def test_river_sees_the_scores_of_the_stream(aakelm, rows):
    from oneclass.stream.river import RiverStream

    X, _ = rows
    detector, stream = RiverStream(Stream(aakelm)), Stream(aakelm)
    for row, x in zip(X, as_dicts(X), strict=True):
        detector.learn_one(x)
        stream.partial_fit(row[None])
    scores = [detector.score_one(x) for x in as_dicts(X[:20])]
    losses = -stream.score_samples(X[:20])
    np.testing.assert_allclose(scores, losses / (losses - stream.offset_), rtol=1e-12)
    np.testing.assert_array_equal(np.array(scores) > 0.5, stream.predict(X[:20]) < 0)


def test_a_stream_works_in_a_pipeline_of_river_and_its_progressive_evaluation(aakelm, rows):
    from river import compose, evaluate, metrics, preprocessing

    from oneclass.stream.river import RiverStream

    X, strange = rows
    strange = strange & (np.arange(700) >= 50)  # before that the stream has not begun
    pairs = list(zip(as_dicts(np.where((np.arange(700) < 50)[:, None], X % 1.0, X)), strange.tolist(), strict=True))
    model, twin = (compose.Pipeline(preprocessing.StandardScaler(), RiverStream(Stream(aakelm))) for _ in range(2))
    area = evaluate.progressive_val_score(pairs, model, metrics.RollingROCAUC(window_size=700)).get()
    scores = []
    for x, _ in pairs:
        scores.append(twin.score_one(x))
        twin.learn_one(x)
    assert area == pytest.approx(roc_auc_score(strange, scores), abs=0.01)
    assert area > 0.95


def test_the_example_of_the_adapter_runs():
    from oneclass.stream import river

    assert doctest.testmod(river) == (0, 6)


def test_a_clone_starts_without_rows_and_leaves_the_stream_unchanged(aakelm, rows):
    from oneclass.stream.river import RiverStream

    X, _ = rows
    stream = Stream(aakelm)
    detector, beside = RiverStream(stream), RiverStream(stream)
    for x in as_dicts(X[:60]):
        detector.learn_one(x)
    assert not hasattr(stream, "n_seen_")
    again = detector.clone()
    for other in (beside, again):
        assert other.score_one({"c": 9.0, "b": 9.0, "a": 9.0}) == 0.0
        for x in as_dicts(X[:60]):
            other.learn_one(x)
        assert other.score_one(as_dicts(X)[99]) == pytest.approx(detector.score_one(as_dicts(X)[99]), rel=1e-9)


def test_rows_with_other_columns_are_refused(aakelm):
    from oneclass.stream.river import RiverStream

    detector = RiverStream(Stream(aakelm))
    detector.learn_one({"a": 1.0, "b": 2.0})
    assert detector.score_one({"a": 1.0, "b": 2.0}) == 0.0
    with pytest.raises(ValueError, match=r"RiverStream: x must have the columns \['a', 'b'\], got \['a', 'c'\]"):
        detector.learn_one({"a": 1.0, "c": 2.0})


@pytest.mark.parametrize("name", ["ADWIN", "KSWIN"])
def test_a_detector_of_river_finds_a_change(aakelm, name):
    from river import drift

    detector = drift.ADWIN() if name == "ADWIN" else drift.KSWIN(seed=0)
    rng = np.random.default_rng(0)
    stream = Stream(aakelm, change=detector).fit(rng.normal(size=(300, 3)))
    for _ in range(10):
        stream.partial_fit(rng.normal(size=(50, 3)))
    quiet = len(stream.events_)
    for _ in range(4):
        stream.partial_fit(2 * rng.normal(size=(50, 3)))
    assert "shift" in [event.kind for event in stream.events_[quiet:]]
    assert detector.drift_detected is False  # the user's own is left as it was
