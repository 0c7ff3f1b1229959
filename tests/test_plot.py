import numpy as np
import pytest

from oneclass import AAKELM, OneClassSearchCV
from oneclass.plot import ThresholdDisplay, precision_recall_display, roc_display

matplotlib = pytest.importorskip("matplotlib")
pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def no_window():
    matplotlib.use("agg")
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def model():
    return AAKELM(delta=0.1).fit(np.random.default_rng(0).normal(size=(120, 2)))


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    return np.concatenate([rng.normal(size=(80, 2)), rng.normal(size=(30, 2)) * 5]), np.repeat(
        ["normal", "odd"], [80, 30]
    )


def test_delivered_rate_is_the_share_of_targets_that_the_budget_rejects(model, rows):
    X, y = rows
    shown = ThresholdDisplay.of(model, X, y)
    assert shown.smallest == pytest.approx(1 / 121)
    for alpha in (0.05, 0.3):
        assert shown.delivered(alpha) == pytest.approx(np.mean(model.p_value(X[:80]) <= alpha))


def test_threshold_is_drawn_where_the_labels_change(model, rows):
    X, y = rows
    shown = ThresholdDisplay.from_estimator(model, X, y)
    line = shown.ax_[0].lines[0].get_xdata()[0]
    losses, limit = shown._visible_losses()
    assert line == limit
    np.testing.assert_array_equal(losses > line, model.predict(X) == -1)
    assert shown.ax_[1].get_xlabel() == "false-alarm rate asked for"


def test_a_search_and_axes_of_the_users_own_are_welcome(rows):
    X, y = rows
    search = OneClassSearchCV(AAKELM(), {"C": [1.0, 10.0]}).fit(X, y)
    _, ax = pyplot.subplots(2)
    shown = ThresholdDisplay.from_estimator(search, X, ax=ax)
    assert shown.ax_[0] is ax[0]
    assert shown.delta == 0.05


def test_curves_are_those_of_scikit_learn(model, rows):
    from sklearn.metrics import average_precision_score, roc_auc_score

    X, y = rows
    decisions = model.decision_function(X)
    assert roc_display(model, X, y).roc_auc == pytest.approx(roc_auc_score(y == "normal", decisions))
    found = precision_recall_display(model, X, y).average_precision
    assert found == pytest.approx(average_precision_score(y == "odd", -decisions))
