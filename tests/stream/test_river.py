"""River's verbs, pipelines, evaluation and detectors."""

import doctest

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from oneclass import ColumnWarning, Stream

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
    X = np.where((np.arange(700) < 50)[:, None], np.clip(X, -2, 2), X)
    pairs = list(zip(as_dicts(X), strange.tolist(), strict=True))
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


def test_a_missing_value_is_the_median_and_a_new_column_is_ignored(aakelm, rows):
    from oneclass.stream.river import RiverStream

    X, _ = rows
    detector, stream = RiverStream(Stream(aakelm)), Stream(aakelm)
    for row, x in zip(X[:60], as_dicts(X[:60]), strict=True):
        detector.learn_one(x)
        stream.partial_fit(row[None])
    filled = X[60:61].copy()
    filled[0, 1] = stream.scaler_.centre[1]
    with pytest.warns(ColumnWarning, match=r"the first row did not have, which are ignored: \['d'\]"):
        detector.learn_one({"a": X[60, 0], "c": X[60, 2], "d": 9.0})
    detector.learn_one(as_dicts(X)[61] | {"d": 9.0})  # the second time without a warning
    stream.partial_fit(filled).partial_fit(X[61:62])
    gap = {"a": 1.0, "b": float("nan"), "c": 0.5, "d": 0.0}
    loss = -stream.score_samples([[1.0, stream.scaler_.centre[1], 0.5]])[0]
    assert detector.score_one(gap) == pytest.approx(loss / (loss - stream.offset_), rel=1e-12)


class CreditCards:
    """A local stand-in for the data that river downloads: the same columns, and one row of 50 is an anomaly."""

    def take(self, n):
        rng = np.random.default_rng(0)
        n = min(n, 200)
        X, strange = rng.normal(size=(n, 30)), np.arange(n) % 50 == 49
        X[strange] += 6.0
        names = ["Time", *(f"V{i}" for i in range(1, 29)), "Amount"]
        return [(dict(zip(names, row, strict=True)), int(y)) for row, y in zip(X.tolist(), strange, strict=True)]


@pytest.mark.filterwarnings("ignore::oneclass.ColumnWarning")  # features that emerge
def test_it_passes_all_checks_of_river(monkeypatch):
    from river import checks, datasets

    from oneclass.stream.river import RiverStream

    monkeypatch.setattr(datasets, "CreditCard", CreditCards)
    model, names = RiverStream(), []
    for check in checks.yield_checks(model):
        check(model.clone())
        names.append(check.__name__)
    assert len(names) >= 26


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
