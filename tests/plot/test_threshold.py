import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler

from oneclass import AAKELM, KNNDetector, OneClassSearchCV, make_one_class_pipeline
from oneclass.plot import ThresholdDisplay, precision_recall_display, roc_display

pyplot = pytest.importorskip("matplotlib.pyplot")


def test_delivered_rate_is_the_share_of_targets_that_the_budget_rejects(model, rows):
    X, y = rows
    shown = ThresholdDisplay.of(model, X, y)
    assert shown.calibration is model.calibration_
    for alpha in (0.05, 0.3):
        assert shown.delivered(alpha) == pytest.approx(np.mean(model.p_value(X[:80]) <= alpha))


def test_threshold_is_drawn_where_the_labels_change(model, rows):
    X, y = rows
    shown = ThresholdDisplay.from_estimator(model, X, y)
    line = shown.ax_[0].lines[0].get_xdata()[0]
    losses, limit, _ = shown.score_display.visible()
    assert line == limit
    np.testing.assert_array_equal(losses > line, model.predict(X) == -1)
    assert shown.ax_[1].get_xlabel() == "requested false-alarm rate"


def test_a_search_and_axes_of_the_users_own_are_welcome(rows):
    X, y = rows
    search = OneClassSearchCV(AAKELM(), {"C": [1.0, 10.0]}).fit(X, y)
    _, ax = pyplot.subplots(2)
    shown = ThresholdDisplay.from_estimator(search, X, ax=ax)
    assert shown.ax_[0] is ax[0]
    assert shown.decision.delta == 0.05


@pytest.mark.parametrize("make", [make_pipeline, make_one_class_pipeline], ids=["plain", "ours"])
@pytest.mark.parametrize("search", [False, True])
def test_pipelines_are_shown_as_their_classifier_is(rows, make, search):
    X, y = rows
    known = RobustScaler().fit(X[y == "normal"])
    alone = AAKELM(C=2.0).fit(known.transform(X[y == "normal"]))
    pipe = make(RobustScaler(), AAKELM(C=2.0))
    shown = OneClassSearchCV(pipe, {"aakelm__C": [2.0]}).fit(X, y) if search else pipe.fit(X[y == "normal"])
    found = ThresholdDisplay.of(shown, X, y)
    expected = ThresholdDisplay.of(alone, known.transform(X), y)
    np.testing.assert_array_equal(found.scores, expected.scores)
    np.testing.assert_array_equal(found.p_values, expected.p_values)
    assert (found.offset, found.decision, found.summary) == (expected.offset, expected.decision, expected.summary)


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_without_labels_no_row_is_called_a_target(model, rows):
    X, y = rows
    shown = ThresholdDisplay.from_estimator(model, X)
    assert "rows" in legend(shown.ax_[0])
    said = [*legend(shown.ax_[0]), *legend(shown.ax_[1]), shown.ax_[1].get_ylabel(), shown.ax_[1].get_title()]
    assert not any("target" in words or "false alarms" in words for words in said)
    assert shown.delivered(0.1) == pytest.approx(np.mean(model.p_value(X) <= 0.1))
    assert "targets" in legend(ThresholdDisplay.from_estimator(model, X, y).ax_[0])


def test_what_to_expect_is_what_the_calibration_says():
    X = np.random.default_rng(0).normal(size=(199, 2))
    shown = ThresholdDisplay.from_estimator(KNNDetector().fit(X), X[:50])
    for part in ("5 %", "1.7 to 10.0 %", "50, 15 to 103", "request 2 %"):  # of Calibration's doctests
        assert part in shown.summary
    assert shown.ax_[1].get_legend().get_title().get_text() == shown.summary
    sure = ThresholdDisplay.of(KNNDetector(confidence=0.9).fit(X), X)
    assert "5 %, with 90 % confidence" in sure.summary
    assert "to stay below" not in sure.summary
    assert "fit on 76 rows" in ThresholdDisplay.of(KNNDetector().fit(X[:40]), X).summary
    assert "does not control the rate" in ThresholdDisplay.of(KNNDetector(threshold="train").fit(X), X).summary


def test_parameters_set_after_the_fit_are_not_shown(rows):
    X, _ = rows
    model = AAKELM(delta=0.1).fit(X)
    expected = ThresholdDisplay.of(model, X)
    found = ThresholdDisplay.of(model.set_params(delta=0.3, threshold="train"), X)
    assert (found.decision, found.summary) == (expected.decision, expected.summary)


def test_curves_are_those_of_scikit_learn(model, rows):
    from sklearn.metrics import average_precision_score, roc_auc_score

    X, y = rows
    decisions = model.decision_function(X)
    roc, found = roc_display(model, X, y), precision_recall_display(model, X, y)
    assert roc.roc_auc == pytest.approx(roc_auc_score(y == "odd", -decisions))
    assert found.average_precision == pytest.approx(average_precision_score(y == "odd", -decisions))


def test_curves_are_about_finding_outliers(model, rows):
    X, y = rows
    roc, found = roc_display(model, X, y, drop_intermediate=False), precision_recall_display(model, X, y)
    assert roc.pos_label == found.pos_label == "outlier"
    # The threshold is a point of both: normal rows rejected, outliers found, and outliers among the rejected.
    rejected, odd = model.decision_function(X) < 0, y == "odd"
    alarms, recall = np.mean(rejected[~odd]), np.mean(rejected[odd])
    assert np.min(np.abs(roc.fpr - alarms) + np.abs(roc.tpr - recall)) < 1e-12
    assert np.min(np.abs(found.precision - np.mean(odd[rejected])) + np.abs(found.recall - recall)) < 1e-12


@pytest.mark.parametrize("last", ["classifier", "pipeline"])
def test_a_segment_is_drawn_with_its_own_threshold_and_rates(last):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    X[200:] *= 3
    site = np.repeat(["A", "B"], [200, 100])
    model = KNNDetector(delta=0.1)
    model = model if last == "classifier" else make_one_class_pipeline(RobustScaler(), model)
    model.fit(X, segments=site)
    fresh = 3 * rng.normal(size=(500, 2))
    shown = ThresholdDisplay.from_estimator(model, fresh, segment="B")
    in_b = np.full(500, "B")
    assert shown.calibration.total == 100
    assert shown.score_display.rejected == np.mean(model.predict(fresh, segments=in_b) == -1) < 0.2
    assert shown.delivered(0.1) == np.mean(model.p_value(fresh, segments=in_b) <= 0.1)
    low, high = model.false_alarm_interval(segment="B")
    assert f"false-alarm rate of this model: {100 * low:.1f} to {100 * high:.1f} %" in shown.summary
    pyplot.close(shown.figure_)
    with pytest.raises(ValueError, match=r"ScoreDisplay: segment must be one of those of the fit, A, B, .*got None"):
        ThresholdDisplay.of(model, fresh)


def test_a_segment_needs_a_fit_with_segments(model, rows):
    with pytest.raises(ValueError, match=r"ScoreDisplay: segment must be None, .*no segments; got 'A'"):
        ThresholdDisplay.of(model, rows[0], segment="A")
