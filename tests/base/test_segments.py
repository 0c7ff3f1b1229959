"""`segments=` in fits and verbs: every segment keeps the false-alarm rate."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import oneclass
from classifiers import BASELINES, MACHINES, quick
from oneclass import (
    AAKELM,
    KNNDetector,
    Nystrom,
    OneClassSearchCV,
    SegmentWarning,
    TableDetector,
    UnreachableRateWarning,
    make_one_class_pipeline,
    report,
)
from oneclass.core.calibration import HeldOut

pytestmark = pytest.mark.filterwarnings("ignore:AutoencoderDetector. the network did not converge")
RNG = np.random.default_rng(0)
SITE = np.repeat(["A", "B"], [90, 40])
ROWS = RNG.normal(size=(130, 3)) * np.where(SITE == "A", 1, 3)[:, None]
TABLE = pd.DataFrame(ROWS, columns=list("abc")).assign(site=SITE)
FRESH = pd.DataFrame(RNG.normal(size=(40, 3)) * 2, columns=list("abc")).assign(site=np.resize(["B", "A"], 40))
X, LABELS = FRESH[["a", "b", "c"]].to_numpy(), FRESH["site"].to_numpy()
OF_ROWS = ("predict", "decision_function", "p_value", "label_batch")


@pytest.mark.parametrize("name", [*MACHINES, *BASELINES])
def test_every_classifier_ranks_a_row_within_its_segment(name):
    model = quick(name, delta=0.05).fit(ROWS, segments=SITE)
    losses = -model.held_out_scores_
    np.testing.assert_array_equal(losses, -clone(model).fit(ROWS).held_out_scores_)
    p, scores = model.p_value(X, segments=LABELS), model.score_samples(X)
    for site in "AB":
        alone = HeldOut(losses[site == SITE], way=model.held_out_.way).calibration()
        some = site == LABELS
        np.testing.assert_array_equal(p[some], alone.p_value(-scores[some]))
        assert model.false_alarm_interval(segment=site) == alone.false_alarm_interval(0.05)
        np.testing.assert_allclose(
            model.decision_function(X, segments=LABELS)[some], scores[some] + alone.threshold(0.05)
        )
    labels = model.predict(X, segments=LABELS)
    np.testing.assert_array_equal(labels == -1, p <= 0.05)
    np.testing.assert_array_equal(labels == -1, model.decision_function(X, segments=LABELS) < 0)
    np.testing.assert_array_equal(model.predict(X, segments=LABELS, delta=0.2) == -1, p <= 0.2)
    table = model.score_table(X, segments=LABELS, delta=0.2)
    np.testing.assert_array_equal(table["p_value"], p)
    np.testing.assert_array_equal(table["label"], model.predict(X, segments=LABELS, delta=0.2))
    np.testing.assert_array_equal(table["segment"], LABELS)
    np.testing.assert_array_equal(model.fit_predict(ROWS, segments=SITE), model.predict(ROWS, segments=SITE))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, "numbers"])
def test_a_column_says_the_same_as_labels(frame, tmp_path):
    numbers = {"A": 1.0, "B": 2.0}
    if frame == "numbers":
        rows = np.column_stack([ROWS, [numbers[site] for site in SITE]])
        fresh, column = np.column_stack([X, [numbers[site] for site in LABELS]]), -1
    else:
        rows, fresh, column = frame(TABLE), frame(FRESH), "site"
    model, plain = KNNDetector().fit(rows, segments=column), KNNDetector().fit(ROWS, segments=SITE)
    assert model.n_features_in_ == 3
    model.save(tmp_path / "model.oneclass")
    for known in (model, oneclass.load(tmp_path / "model.oneclass")):
        for verb in OF_ROWS:
            np.testing.assert_array_equal(getattr(known, verb)(fresh), getattr(plain, verb)(X, segments=LABELS))
        np.testing.assert_array_equal(known.score_samples(fresh), plain.score_samples(X))
        np.testing.assert_array_equal(known.explain(fresh).parts, plain.explain(X).parts)
        np.testing.assert_array_equal(known.held_out_p_values_, plain.held_out_p_values_)
        assert [rate[1:] for rate in known.segment_rates()] == [rate[1:] for rate in plain.segment_rates()]
    known.score_chunks([fresh], tmp_path / "scores.csv")
    np.testing.assert_array_equal(pd.read_csv(tmp_path / "scores.csv")["label"], plain.predict(X, segments=LABELS))


def search(estimator, prefix=""):
    return OneClassSearchCV(estimator, {f"{prefix}n_neighbors": [2, 3]}, scoring="auroc", cv=2)


WRAPPERS = {
    "pipeline": oneclass.make_one_class_pipeline(StandardScaler(), KNNDetector()),
    "search": search(KNNDetector()),
    "search of a pipeline": search(make_pipeline(StandardScaler(), KNNDetector()), "knndetector__"),
    "table": TableDetector(KNNDetector()),
    "table of a search": TableDetector(search(KNNDetector())),
}


@pytest.mark.parametrize("name", WRAPPERS)
def test_wrappers_answer_within_segments(name, tmp_path):
    y = np.ones(130)
    y[:10] = -1
    rows = TABLE.drop(columns="site")
    model = clone(WRAPPERS[name]).fit(rows, y, segments=SITE)
    free = clone(WRAPPERS[name]).fit(rows, y)
    fresh = FRESH.drop(columns="site")
    assert (model.p_value(fresh, segments=LABELS) != free.p_value(fresh)).any()
    losses = -model.held_out_scores_
    losses = losses[~np.isnan(losses)]  # a search knows the targets only
    for site in "AB":
        alone = HeldOut(losses[site == SITE[10:]]).calibration()
        some = site == LABELS
        np.testing.assert_array_equal(
            model.p_value(fresh, segments=LABELS)[some], alone.p_value(-np.asarray(model.score_samples(fresh))[some])
        )
    assert [rate.segment for rate in model.segment_rates()] == ["A", "B"]
    with pytest.raises(ValueError, match="segments must be given"):
        model.predict(fresh)
    if name == "pipeline":
        return  # its transformers see all columns
    by_column = clone(WRAPPERS[name]).fit(TABLE, y, segments="site")
    by_column.save(tmp_path / "model.oneclass")
    for known in (by_column, oneclass.load(tmp_path / "model.oneclass")):
        for verb in OF_ROWS:
            expected = getattr(model, verb)(fresh, segments=LABELS)
            np.testing.assert_array_equal(getattr(known, verb)(FRESH), expected)
        np.testing.assert_array_equal(known.score_samples(FRESH), model.score_samples(fresh))
        known.score_chunks([FRESH], tmp_path / "scores.csv")
        found = pd.read_csv(tmp_path / "scores.csv")["label"]
        np.testing.assert_array_equal(found, model.predict(fresh, segments=LABELS))


def test_weights_labels_and_groups_stay_with_their_rows():
    w, y, person = RNG.integers(0, 3, size=130), RNG.choice([1, 1, 1, -1], size=130), np.arange(130) // 2
    machine = oneclass.VAAKELM(delta=0.2, known_outliers="ignore")
    model = clone(machine).fit(ROWS, y, sample_weight=w, groups=person, segments=SITE)
    learnt = (w > 0) & (y == 1)
    known = clone(machine).fit(ROWS[learnt], sample_weight=w[learnt], groups=person[learnt], segments=SITE[learnt])
    np.testing.assert_array_equal(model.p_value(X, segments=LABELS), known.p_value(X, segments=LABELS))
    np.testing.assert_array_equal(model.held_out_p_values_[learnt], known.held_out_p_values_)


def test_landmarks_keep_the_loss_of_every_row():
    model = oneclass.VAAKELM(approximation=Nystrom(20)).fit(ROWS, segments=SITE)
    assert [rate.rows for rate in model.segment_rates()] == [90, 40]


def test_few_rows_and_unknown_segments_are_named():
    few = np.where(np.arange(130) < 6, "C", SITE)
    with pytest.warns(UnreachableRateWarning, match=r"in 1 segment, .*'C' \(6, at most 0.14\)"):
        model = KNNDetector(delta=0.05).fit(ROWS, segments=few)
    with pytest.warns(UnreachableRateWarning, match=r"delta=0.001 is below the smallest rate .* 'A' \(0.012\)"):
        model.predict(X, segments=["A"] * 40, delta=0.001)
    with pytest.warns(SegmentWarning, match="no training row has the segment None, Z"):
        found = model.predict(X, segments=["Z", None] * 20)
    np.testing.assert_array_equal(found, KNNDetector(delta=0.05).fit(ROWS).predict(X))


def test_rates_of_other_labels_show_what_one_threshold_hides():
    model = KNNDetector(delta=0.05).fit(ROWS)
    low, high = model.segment_rates(segments=SITE)
    losses = -model.held_out_scores_
    assert low.unsegmented == np.mean(losses[SITE == "A"] > -model.offset_)
    assert high.unsegmented == np.mean(losses[SITE == "B"] > -model.offset_)
    assert high.unsegmented_low < high.unsegmented < high.unsegmented_high
    assert low.unsegmented <= 0.05 < high.unsegmented
    assert (high.rate, high.ranked_among) == (2 / 41, "segment")
    assert model.segment_rates() == []


@pytest.mark.parametrize(
    ("fit", "verb", "message"),
    [
        ({"segments": SITE[:5]}, {}, r"segments must be one label a row, of shape \(130,\), got \(5,\)"),
        ({"segments": [None, *SITE[1:]]}, {}, "segments must name the segment of every row, but 1 labels are missing"),
        ({"segments": "site"}, {}, "segments must be labels, one a row, or name a column of X"),
        ({}, {"segments": LABELS}, "segments must be None, because the fit had no segments"),
        ({}, {"segments": pd.Series(LABELS)}, r"segments must be None, because the fit had no segments; got 0 [^\n]*$"),
        ({"segments": SITE}, {}, "segments must be given, as one label a row"),
        (
            {"segments": SITE},
            {"segments": LABELS[:3]},
            r"segments must be one label a row, of shape \(40,\), got \(3,\)",
        ),
    ],
)
def test_bad_segments_are_refused_by_name(fit, verb, message):
    with pytest.raises(ValueError, match=f"KNNDetector: {message}"):
        KNNDetector().fit(ROWS, **fit).predict(X, **verb)


def test_what_segments_cannot_do_is_refused_by_name():
    with pytest.raises(ValueError, match="segments must be None with threshold='train'"):
        KNNDetector(threshold="train").fit(ROWS, segments=SITE)
    model = KNNDetector().fit(ROWS, segments=SITE)
    da, onnx = pytest.importorskip("dask.array"), pytest.importorskip("onnx")
    with pytest.raises(ValueError, match="segments must be None for a Dask collection"):
        oneclass.VAAKELM().fit(da.asarray(ROWS), segments=SITE)
    with pytest.raises(ValueError, match="X must be in memory, because the fit had segments"):
        model.predict(da.asarray(X), segments=LABELS)
    with pytest.raises(NotImplementedError, match="thresholds by segments cannot be written"):
        oneclass.to_onnx(model)
    with pytest.raises(ValueError, match="segment must be one of the fit, A, B; got 'C'"):
        model.false_alarm_interval(segment="C")
    assert onnx


def test_a_report_tells_flagged_rows_and_rates_by_segment():
    model = TableDetector(KNNDetector(delta=0.05)).fit(TABLE, segments="site")
    found = oneclass.report(model, FRESH)
    segments = {segment["segment"]: segment for segment in found.summary["segments"]}
    labels = model.predict(FRESH)
    assert {site: segment["flagged"] for site, segment in segments.items()} == {
        site: int((labels[site == LABELS] == -1).sum()) for site in "AB"
    }
    assert found.summary["alarms"]["flagged"] == (labels == -1).sum()
    assert "| segment | new rows | flagged |" in found.to_markdown()
    assert "Each segment has its own threshold" in found.to_html()


@pytest.mark.parametrize("named", [True, False])
def test_a_pipeline_explains_the_other_columns_than_that_of_segments(named):
    rng = np.random.default_rng(0)
    site, X = rng.integers(0, 2, 120).astype(float), rng.normal(size=(120, 3))
    table = pd.DataFrame({"site": site, "a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})
    given = table if named else table.to_numpy()
    scale = make_column_transformer(
        ("passthrough", ["site"] if named else [0]), (StandardScaler(), ["a", "b", "c"] if named else [1, 2, 3]),
        verbose_feature_names_out=False,
    ).set_output(transform="pandas" if named else "default")  # fmt: skip
    pipe = make_one_class_pipeline(scale, AAKELM()).fit(given, segments="site" if named else 0)
    bare = make_one_class_pipeline(StandardScaler(), AAKELM()).fit(X, segments=site)
    found, expected = pipe.explain(given[:5], neighbors=2), bare.explain(X[:5], neighbors=2)
    np.testing.assert_allclose(found.shares, np.insert(expected.shares, 0, 0.0, axis=1))
    np.testing.assert_allclose(found.expected, np.insert(expected.expected, 0, np.nan, axis=1))
    np.testing.assert_allclose(found.neighbors, np.insert(expected.neighbors, 0, np.nan, axis=2))
    np.testing.assert_allclose(pipe.reconstruct(given[:5])[:, 1:], bare.reconstruct(X[:5]))
    assert report(pipe, given[:5]).summary["rows"] is not None
