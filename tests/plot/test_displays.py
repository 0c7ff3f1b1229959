"""Numbers behind the pictures against direct computation, and that pictures show these numbers."""

import inspect
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp
from sklearn.decomposition import PCA, KernelPCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler

from awkward import huge_rows
from oneclass import AAKELM, KNNDetector, OneClassSearchCV, Stream, TableDetector, make_one_class_pipeline, plot
from oneclass.plot import (
    BoundaryDisplay,
    DriftDisplay,
    ExplanationDisplay,
    MapDisplay,
    PValueDisplay,
    RateDisplay,
    ScoreDisplay,
    ThresholdDisplay,
)

pyplot = pytest.importorskip("matplotlib.pyplot")

DISPLAYS = [getattr(plot, name) for name in plot.__all__ if inspect.isclass(getattr(plot, name))]


@pytest.fixture(scope="module")
def knn():
    return KNNDetector().fit(np.random.default_rng(0).normal(size=(150, 3)) * [1.0, 5.0, 0.2])


@pytest.fixture(scope="module")
def mixed():
    return np.random.default_rng(1).normal(size=(60, 3)) * [1.0, 5.0, 0.2] + np.repeat([0.0, 2.0], 30)[:, None]


# All of them.


@pytest.mark.parametrize("display", DISPLAYS, ids=lambda display: display.__name__)
@pytest.mark.parametrize("wrapped", ["classifier", "pipeline", "ours", "search"])
def test_every_display_is_drawn_through_pipelines_and_searches(display, wrapped, rows):
    X, _ = rows
    model = {
        "classifier": AAKELM(),
        "pipeline": make_pipeline(RobustScaler(), AAKELM()),
        "ours": make_one_class_pipeline(RobustScaler(), AAKELM()),
        "search": OneClassSearchCV(AAKELM(), {"C": [8.0]}, criterion="likelihood"),
    }[wrapped].fit(X[:80])
    options = {"resolution": 10} if display is BoundaryDisplay else {}
    shown = display.from_estimator(model, X, **options)
    assert isinstance(shown, display)
    assert shown.figure_ in [pyplot.figure(number) for number in pyplot.get_fignums()]
    assert all(ax.figure is shown.figure_ for ax in np.atleast_1d(shown.ax_))
    again = shown.plot(shown.ax_)
    assert again is shown


@pytest.mark.parametrize("display", [ScoreDisplay, MapDisplay, PValueDisplay, RateDisplay], ids=lambda d: d.__name__)
def test_axes_of_the_users_own_are_drawn_on(display, knn, mixed):
    _, ax = pyplot.subplots()
    assert display.from_estimator(knn, mixed, ax=ax).ax_ is ax


@pytest.mark.parametrize("display", [ScoreDisplay, BoundaryDisplay, DriftDisplay], ids=lambda d: d.__name__)
def test_the_figure_is_the_whole_of_one_that_has_parts(display, knn, mixed, tmp_path):
    figure = pyplot.figure()
    part = figure.subfigures(2)[0]
    ax = part.subplots(2) if display is DriftDisplay else part.subplots()
    shown = display.from_estimator(knn, mixed, ax=ax)
    assert shown.figure_ is figure
    shown.figure_.savefig(tmp_path / "shown.png")


def test_a_table_of_words_has_its_map_and_its_explanation():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"mass": rng.normal(size=90), "kind": rng.choice(["a", "b"], 90), "size": rng.normal(size=90)})
    model = TableDetector(KNNDetector()).fit(table)
    odd = table.head(20).assign(mass=[50.0] * 2 + [0.0] * 18)
    assert MapDisplay.from_estimator(model, odd).flagged[:2].all()
    shown = ExplanationDisplay.from_estimator(model, odd, row=1)
    assert shown.reasons[0].column == "mass"
    shown = BoundaryDisplay.from_estimator(model, table, columns=("mass", "size"), resolution=8)
    assert shown.names == ("mass", "size")


# One by one.


def test_bars_of_scores_are_shares_of_rows(knn, mixed):
    shown = ScoreDisplay.from_estimator(knn, mixed, np.repeat([1, -1], 30))
    assert shown.rejected == np.mean(knn.predict(mixed) == -1)
    targets, outliers = shown.ax_.containers[:2]
    edges = [*(bar.get_x() for bar in targets), targets[-1].get_x() + targets[-1].get_width()]
    for bars, of in ((targets, mixed[:30]), (outliers, mixed[30:])):
        expected = np.histogram(np.log10(-knn.score_samples(of)), edges)[0] / 30
        np.testing.assert_allclose([bar.get_height() for bar in bars], expected)
    assert edges[0] == pytest.approx(np.log10(min(-shown.scores.max(), knn.calibration_.losses[0])))
    assert shown.ax_.lines[0].get_xdata()[0] == np.log10(-knn.offset_)


def test_rates_are_those_of_the_threshold_display(knn, mixed):
    alone, together = RateDisplay.of(knn, mixed), ThresholdDisplay.of(knn, mixed)
    assert alone.summary == together.summary
    assert alone.delivered(0.2) == together.delivered(0.2) == np.mean(knn.predict(mixed, delta=0.2) == -1)


@pytest.mark.parametrize("shift", [0.0, 0.7])
def test_the_stated_test_is_that_of_kolmogorov_and_smirnov_for_two_samples(knn, shift):
    fresh = np.random.default_rng(2).normal(size=(90, 3)) * [1.0, 5.0, 0.2] + shift
    shown = PValueDisplay.of(knn, fresh)
    expected = ks_2samp(-knn.score_samples(fresh), knn.calibration_.losses, method="asymp")
    assert shown.test.distance == pytest.approx(expected.statistic)
    assert shown.test.p_value == pytest.approx(expected.pvalue, rel=0.1, abs=1e-6)
    assert ("differ from" in shown.summary) is bool(shown.test.p_value <= 0.05)


def test_odd_rows_that_the_test_misses_are_reported():
    uniform = (np.arange(50) + 0.5) / 50
    assert PValueDisplay(uniform, 300).summary.startswith("no difference between new rows and training rows was found")
    odd = PValueDisplay(np.concatenate([np.full(8, 1 / 301), uniform]), 300)
    assert odd.test.p_value > 0.05
    assert odd.summary.startswith("more unusual rows than expected, otherwise no difference was found")


def test_the_check_for_too_many_odd_rows_warns_by_chance_at_its_level():
    told = []
    for seed in range(400):
        held_out, fresh = np.split(np.random.default_rng(seed).random(140), [80])
        p = (1 + np.sum(held_out >= fresh[:, None], axis=1)) / 81
        told.append(PValueDisplay(p, 80)._exceeds_chance(float(np.mean(p <= 0.05))))
    assert 0.002 <= np.mean(told) <= 0.045  # 0.025 at most


def test_new_rows_like_the_old_pass_the_test_as_often_as_it_says():
    passed = []
    for seed in range(200):
        held_out, fresh = np.random.default_rng(seed).random((2, 80))
        p = (1 + np.sum(held_out >= fresh[:, None], axis=1)) / 81
        passed.append(PValueDisplay(p, 80).test.p_value > 0.1)
    assert 0.85 <= np.mean(passed) <= 0.97  # 0.9, and the asymptotic test is a little careful


def test_bars_of_p_values_are_what_budgets_reject(knn, mixed):
    shown = PValueDisplay.from_estimator(knn, mixed)
    heights = [bar.get_height() for bar in shown.ax_.containers[0]]
    expected = [np.mean(shown.p_values <= alpha + 1e-12) for alpha in np.linspace(0.05, 1, 20)]
    np.testing.assert_allclose(np.cumsum(heights), expected)


def test_a_linear_map_is_pca_of_the_accepted_rows(knn, mixed):
    shown = MapDisplay.of(knn, mixed)
    np.testing.assert_array_equal(shown.flagged, knn.predict(mixed) == -1)
    Z = knn.scaler_(mixed)
    known = PCA(2).fit(Z[~shown.flagged])
    expected = known.transform(Z)
    np.testing.assert_allclose(np.abs(shown.places), np.abs(expected), atol=1e-8)
    np.testing.assert_allclose(shown.variance, known.explained_variance_ratio_)


def test_another_kernel_is_scikit_learns(knn, mixed):
    shown = MapDisplay.of(knn, mixed, kernel="rbf", gamma=0.1)
    Z = knn.scaler_(mixed)
    expected = KernelPCA(2, kernel="rbf", gamma=0.1).fit(Z[~shown.flagged]).transform(Z)
    np.testing.assert_allclose(np.abs(shown.places), np.abs(expected), atol=1e-8)
    assert 0 < shown.variance[1] <= shown.variance[0] < 1


def test_one_column_has_a_map():
    model = KNNDetector().fit(np.random.default_rng(0).normal(size=(40, 1)))
    shown = MapDisplay.of(model, [[0.0], [9.0], [0.5]])
    assert shown.places.shape == (3, 2)
    assert shown.variance[1] == 0


def test_the_grid_of_a_boundary_is_scored_with_the_other_columns_at_their_medians(knn, mixed):
    shown = BoundaryDisplay.of(knn, mixed, columns=(2, 0), resolution=7)
    row = np.median(mixed, axis=0)
    row[2], row[0] = shown.x[5], shown.y[3]
    assert shown.decision[3, 5] == knn.decision_function([row])[0]
    assert shown.p_values[3, 5] == knn.p_value([row])[0]
    np.testing.assert_array_equal(shown.flagged, knn.predict(mixed) == -1)
    assert shown.x[0] < mixed[:, 2].min() < mixed[:, 2].max() < shown.x[-1]


@pytest.mark.parametrize(
    ("names", "columns"),
    [
        ([0, 1, 2], (2, 0)),
        ([1, 2, 3], (2, 0)),
        ([5, 6, 7], (7, 5)),
        ([0, 2, 1], (1, 0)),
        ([("a", 1), ("a", 2), ("b", 1)], (("b", 1), ("a", 1))),
        (["a", "b", "c"], ("c", 0)),
    ],
)
def test_columns_of_a_boundary_are_found_by_name_before_place(mixed, names, columns):
    table = pd.DataFrame(mixed, columns=pd.Index(names))
    expected = BoundaryDisplay.of(KNNDetector().fit(mixed), mixed, columns=(2, 0), resolution=5)
    found = BoundaryDisplay.of(KNNDetector().fit(table), table, columns=columns, resolution=5)
    np.testing.assert_array_equal(found.decision, expected.decision)
    assert found.names == (str(names[2]), str(names[0]))


@pytest.mark.parametrize("detector", [TableDetector, KNNDetector])
@pytest.mark.parametrize("made", ["polars", "pyarrow"])
def test_the_boundary_of_any_table_is_that_of_pandas(detector, made):
    pytest.importorskip(made)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(90, 3)), columns=["mass", "size", "cost"])
    if detector is TableDetector:
        table["kind"] = rng.choice(["a", "b"], 90)
    other = import_module(made)
    other = other.from_pandas(table) if made == "polars" else other.Table.from_pandas(table)
    expected, found = (
        BoundaryDisplay.of(detector().fit(X), X, columns=("cost", "mass"), resolution=5) for X in (table, other)
    )
    np.testing.assert_array_equal(found.decision, expected.decision)
    np.testing.assert_array_equal(found.flagged, expected.flagged)
    assert found.names == ("cost", "mass")


def test_a_column_without_any_cell_is_a_gap_on_the_plane():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"mass": rng.normal(size=90), "kind": rng.choice(["a", "b"], 90), "size": rng.normal(size=90)})
    model, new = TableDetector(KNNDetector()).fit(table), table.assign(kind=None)
    shown = BoundaryDisplay.of(model, new, columns=("mass", "size"), resolution=5)
    row = pd.DataFrame({"mass": shown.x[3:4], "kind": [None], "size": shown.y[1:2]})
    assert shown.decision[1, 3] == model.decision_function(row)[0]


def test_a_boundary_needs_two_columns(mixed):
    with pytest.raises(ValueError, match="BoundaryDisplay: X must have at least two columns, got 1"):
        BoundaryDisplay.of(KNNDetector().fit(mixed[:, :1]), mixed[:, :1])


def test_a_fit_without_held_out_losses_has_a_boundary_all_the_same(mixed):
    model = AAKELM(threshold="train").fit(mixed[:, :2])
    model.calibration_ = None
    assert BoundaryDisplay.from_estimator(model, mixed[:, :2], resolution=5).p_values is None


def test_alarm_rates_are_counted_window_by_window(knn, mixed):
    X = np.vstack([mixed, mixed[:7]])
    shown = DriftDisplay.of(knn, X, window=20)
    alarms = knn.predict(X) == -1
    np.testing.assert_allclose(shown.rates, [alarms[:20].mean(), alarms[20:40].mean(), alarms[40:60].mean()])
    np.testing.assert_array_equal(shown.times, [19, 39, 59])
    np.testing.assert_allclose(shown.losses[1], [np.median(-knn.score_samples(X[a : a + 20])) for a in (0, 20, 40)])
    fewest, most = knn.calibration_.alarms(0.05, 20)[1:]
    assert shown.expected == (fewest / 20, most / 20)


def test_times_of_the_users_own_are_drawn(knn, mixed):
    days = pd.date_range("2024-01-01", periods=60).to_numpy()
    shown = DriftDisplay.from_estimator(knn, mixed, time=days, window=20)
    assert shown.times.tolist() == days[[19, 39, 59]].tolist()
    assert shown.ax_[1].get_xlabel() == "time"


def test_rows_that_do_not_vary_have_no_variance_on_their_map(knn):
    for rows in (np.full((1, 3), 0.1), np.full((7, 3), 0.1)):
        assert MapDisplay.from_estimator(knn, rows).variance == (0.0, 0.0)


def test_no_verdicts_are_nothing_to_draw():
    with pytest.raises(ValueError, match="DriftDisplay: verdicts must hold at least one Verdict, got none"):
        DriftDisplay.from_verdicts([], delta=0.05)


def test_a_stream_is_drawn_with_its_events():
    rng = np.random.default_rng(0)
    stream = Stream(window=200).fit(rng.normal(size=(200, 2)))
    blocks = [*rng.normal(size=(4, 50, 2)), *(8 + rng.normal(size=(6, 50, 2)))]
    verdicts = [stream.watch(block) for block in blocks]
    shown = DriftDisplay.from_verdicts(verdicts, delta=stream.delta, window=50)
    np.testing.assert_allclose(shown.rates, [np.mean(verdict.labels < 0) for verdict in verdicts])
    told = [(event.row, event.kind) for verdict in verdicts for event in verdict.events]
    assert told
    assert list(shown.events) == told
    lines = {line.get_xdata()[0] for line in shown.ax_[1].lines if len(set(line.get_xdata())) == 1}
    assert {row for row, _ in told} <= lines


def test_bars_of_an_explanation_are_its_shares_and_say_value_and_expected_value(knn, mixed):
    found = knn.explain(mixed)
    shown = ExplanationDisplay(found, row=40, k=2).plot()
    np.testing.assert_allclose([bar.get_width() for bar in shown.ax_.patches], np.sort(found.shares[40])[:0:-1])
    assert [text.get_text() for text in shown.ax_.get_yticklabels()] == [str(r.column) for r in found.row(40)[:2]]
    words = [text.get_text() for text in shown.ax_.texts]
    assert words == [str(reason).partition("=")[2] for reason in found.row(40)[:2]]


def test_long_names_leave_space_for_the_bars():
    names = [f"average_concentration_of_substance_{i}_in_the_second_measurement_series [µg/l]" for i in range(8)]
    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 8)), columns=names)
    shown = ExplanationDisplay.from_estimator(KNNDetector().fit(rows), rows, row=0)
    shown.figure_.canvas.draw()
    assert shown.ax_.get_position().width > 0.5
    said = ["".join(text.get_text().split()) for text in shown.ax_.get_yticklabels()]
    assert said == ["".join(reason.column.split()) for reason in shown.reasons]


def test_images_show_the_row_what_was_expected_and_the_shares():
    X = np.random.default_rng(0).random(size=(60, 6))
    model = AAKELM().fit(X)
    shown = ExplanationDisplay.from_estimator(model, X, row=3, image_shape=(2, 3))
    found = model.explain(X[3:4])
    for ax, expected in zip(shown.ax_, (X[3], found.expected[0], found.shares[0]), strict=True):
        np.testing.assert_allclose(ax.images[0].get_array(), expected.reshape(2, 3))


@pytest.mark.parametrize("display", DISPLAYS, ids=lambda display: display.__name__)
@pytest.mark.parametrize(
    "X",
    [
        huge_rows(np.zeros((1, 2))),
        huge_rows(np.zeros((1, 3))),
        pd.DataFrame(huge_rows(np.zeros((1, 3))), columns=["a", "b", "c"]),
        np.full((1, 2), 1e8),
        np.full((6, 3), np.finfo(float).max),
        pd.DataFrame({"a": [1e308, 1.7e308], "b": [1.0, 2.0], "c": [1.7e308, 1.7e308]}),
        1e16 + np.zeros((3, 2)),
    ],
    ids=["all sizes", "three columns", "a frame", "one row", "the largest number", "a frame of two rows", "equal rows"],
)
def test_rows_of_any_size_are_drawn(display, X):
    known = np.random.default_rng(0).normal(size=(100, X.shape[1]))
    model = KNNDetector().fit(pd.DataFrame(known, columns=X.columns) if isinstance(X, pd.DataFrame) else known)
    with np.errstate(over="warn", invalid="warn", divide="warn"):
        shown = display.from_estimator(model, X, **{"resolution": 5} if display is BoundaryDisplay else {})
        shown.figure_.canvas.draw()


def test_a_map_leaves_out_the_column_of_segments():
    X, site = np.random.default_rng(0).normal(size=(100, 3)), np.repeat(["A", "B"], 50)
    table = pd.DataFrame(X, columns=list("abc")).assign(site=site)
    model = KNNDetector().fit(table, segments="site")
    bare = KNNDetector().fit(X, segments=site)
    places = MapDisplay.of(model, table).places
    assert places.shape == (100, 2)
    flagged = bare.predict(X, segments=site) < 0
    np.testing.assert_array_equal(MapDisplay.of(model, table).flagged, flagged)
