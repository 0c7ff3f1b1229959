import numpy as np
import pytest

from oneclass import AAKELM, OCKELM, VAAKELM, VOCKELM, Fourier, Nystrom
from oneclass.core.arrays import namespace
from oneclass.core.plan import Plan
from oneclass.machines import approximate
from oracle.comparison import assert_agree

N, FRESH, DELTA = 4000, 20_000, 0.1
MACHINES = [
    (OCKELM, {}),
    (VOCKELM, {}),
    (AAKELM, {"loss": "reconstruction"}),
    (VAAKELM, {"loss": "reconstruction"}),
    (VAAKELM, {"loss": "predictive"}),
]


@pytest.fixture(scope="module")
def normal():
    """Training rows and fresh ones of the same two groups."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(N + FRESH, 3)) * rng.choice([0.5, 2.0], size=(N + FRESH, 1))
    return rows[:N], rows[N:]


@pytest.fixture
def leverages(monkeypatch):
    """How many rows had their leverage worked out."""
    seen = []
    training_rows = Plan.training_rows

    def counted(self, model, X, *others):
        seen.append(X.shape[0])
        return training_rows(self, model, X, *others)

    monkeypatch.setattr(Plan, "training_rows", counted)
    return seen


@pytest.fixture
def too_much_work(monkeypatch):
    """Leverages of all rows would cost too much: a sample of 1,500, 500 of them for the landmarks, must do."""
    monkeypatch.setattr(approximate, "_EXTRA_PASS_COST", 0)
    monkeypatch.setattr(approximate, "_PLAN_ROWS", 500)
    monkeypatch.setattr(approximate, "_UNPLANNED_ROWS", 1000)
    monkeypatch.setattr(approximate, "_THRESHOLD_ROWS", 1000)


def assert_delivers(model, fresh, calibrating):
    """The rate on fresh rows is within four standard errors of both the threshold and the count."""
    band = 4 * np.sqrt(DELTA * (1 - DELTA) * (1 / calibrating + 1 / len(fresh)))
    assert model.calibration_.losses.shape[0] == calibrating
    assert abs(np.mean(model.predict(fresh) == -1) - DELTA) < band
    # p-values of normal rows are uniform: at most alpha for a share alpha of them.
    p = model.p_value(fresh)
    for alpha in (0.02, 0.3):
        band = 4 * np.sqrt(alpha * (1 - alpha) * (1 / calibrating + 1 / len(fresh)))
        assert abs(np.mean(p <= alpha) - alpha) < band


@pytest.mark.parametrize(("machine", "params"), MACHINES, ids=str)
@pytest.mark.parametrize("approximation", [Nystrom(60), Nystrom(60, "kmeans"), Fourier(60)], ids=str)
def test_leave_one_out_over_all_rows_delivers_the_rate(machine, params, approximation, normal, leverages):
    rows, fresh = normal
    model = machine(C=32.0, sigma=1.0, delta=DELTA, approximation=approximation, **params).fit(rows)
    assert sum(leverages) == N
    assert_delivers(model, fresh, N)


@pytest.mark.parametrize(("machine", "params"), MACHINES, ids=str)
@pytest.mark.parametrize("approximation", [Nystrom(60), Fourier(60)], ids=str)
@pytest.mark.usefixtures("too_much_work")
def test_leave_one_out_over_a_sample_delivers_the_rate(machine, params, approximation, normal, leverages):
    rows, fresh = normal
    model = machine(C=32.0, sigma=1.0, delta=DELTA, approximation=approximation, **params).fit(rows)
    assert sum(leverages) == 1000
    assert_delivers(model, fresh, 1000)


@pytest.mark.parametrize(("machine", "params"), MACHINES, ids=str)
@pytest.mark.parametrize("approximation", [Nystrom(6), Fourier(6)], ids=str)
def test_scores_deliver_the_rate_where_leverages_are_negligible(machine, params, approximation, normal, leverages):
    rows, fresh = normal
    model = machine(C=32.0, kernel="rbf", sigma=1.0, delta=DELTA, approximation=approximation, **params).fit(rows)
    assert sum(leverages) < 2 * approximate._CHANGE_ROWS
    assert_delivers(model, fresh, N)
    # The landmarks are accurate enough: leave-one-out would move the threshold by few of the rows' scores.
    exact = machine(C=32.0, kernel="rbf", sigma=1.0, delta=1e-9, approximation=approximation, **params)
    with pytest.warns(UserWarning, match="the smallest rate"):
        exact.fit(rows)
    assert sum(leverages) >= N
    rejected = np.mean(exact.score_samples(fresh) < -exact.calibration_.threshold(DELTA))
    assert abs(rejected - np.mean(model.predict(fresh) == -1)) < 0.002


def test_resubstitution_would_not_deliver_the_rate(normal):
    """What leave-one-out is for: with many features for few rows, training scores promise too much."""
    rows, fresh = normal
    params = {
        "C": 32.0,
        "kernel": "rbf",
        "sigma": 0.7,
        "delta": DELTA,
        "loss": "reconstruction",
        "approximation": Nystrom(200),
    }
    rates = {
        threshold: np.mean(VAAKELM(threshold=threshold, **params).fit(rows[:400]).predict(fresh) == -1)
        for threshold in ("held_out", "train")
    }
    assert abs(rates["held_out"] - DELTA) < 4 * np.sqrt(DELTA * (1 - DELTA) / 400)
    assert rates["train"] > 2 * DELTA


@pytest.mark.parametrize(("machine", "params"), [*MACHINES, (AAKELM, {"loss": "uncertainty"})], ids=str)
@pytest.mark.parametrize("approximation", [Nystrom(40), Fourier(40)], ids=str)
@pytest.mark.parametrize("C", [1e-9, 1e-3])
def test_rows_are_held_out_where_leverages_are_small_only_because_C_is(machine, params, approximation, C):
    """Of a small C all losses are nearly the same, and a row that was learnt from is among the least of them."""
    rates = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, fresh = rng.normal(size=(100, 2)), rng.normal(size=(2000, 2))
        model = machine(C=C, kernel="rbf", delta=DELTA, approximation=approximation, **params).fit(X)
        rates.append(np.mean(model.predict(fresh) == -1))
    assert abs(np.mean(rates) - DELTA) < 3 * np.sqrt(DELTA * (1 - DELTA) / 500)


@pytest.mark.filterwarnings("ignore::oneclass.DependentRowsWarning")  # copies are what this is about
@pytest.mark.usefixtures("too_much_work")
def test_few_distinct_rows_calibrate_with_all_of_them(xp, leverages):
    """The sample holds every distinct row, so nothing is approximated, however many copies there are."""
    distinct = np.random.default_rng(0).normal(size=(40, 3))
    rows = np.repeat(distinct, 100, axis=0)
    params = {"C": 0.5, "sigma": 1.0, "delta": DELTA, "loss": "predictive"}
    model = VAAKELM(approximation=Nystrom(40), **params).fit(xp.asarray(rows))
    expected = VAAKELM(**params).fit(distinct, sample_weight=np.full(40, 100.0))
    assert namespace(model.calibration_.losses) is xp
    assert model.offset_ == pytest.approx(expected.offset_, rel=1e-8)
    assert_agree(model.p_value(xp.asarray(distinct)), expected.p_value(distinct), 1e-8)


@pytest.mark.usefixtures("too_much_work")
@pytest.mark.parametrize(("n", "judged"), [(2000, 2000), (2001, 1000)])
def test_more_than_twice_as_many_rows_as_a_sample_holds_are_scored_by_it(normal, n, judged):
    model = VAAKELM(C=32.0, sigma=1.0, delta=DELTA, approximation=Nystrom(40)).fit(normal[0][:n])
    assert model.calibration_.losses.shape[0] == judged
    if judged == n:
        assert model.held_out_scores_.shape == (n,)
    else:
        with pytest.raises(AttributeError, match=r"a sample of the rows, .*keep only `calibration_`"):
            _ = model.held_out_scores_


@pytest.mark.usefixtures("too_much_work")
def test_the_sample_that_calibrates_does_not_depend_on_order_or_chunks(normal):
    rows, fresh = normal
    model = VAAKELM(C=32.0, sigma=1.0, delta=DELTA, loss="predictive", approximation=Nystrom(40))
    expected = model.fit(rows).p_value(fresh[:200])
    shuffled = np.random.default_rng(0).permutation(rows)
    assert_agree(model.fit_chunks(np.array_split(shuffled, 7)).p_value(fresh[:200]), expected, 1e-9)


@pytest.mark.filterwarnings("ignore::oneclass.DependentRowsWarning")  # weights are copies
def test_whether_leverages_matter_is_a_question_of_weights_and_not_of_rows():
    X = np.random.default_rng(0).normal(size=(100, 2))
    model = OCKELM(C=0.01, approximation=Fourier(10)).fit(X, sample_weight=np.full(100, 2.0))
    # Mean leverages that are more than is negligible for 100 rows, and less for 200.
    model.set_params(delta=model.model_.effective / (150 * approximate._NEGLIGIBLE_LEVERAGE))
    offsets = (model.fit(np.repeat(X, 2, axis=0)).offset_, model.fit(X, sample_weight=np.full(100, 2.0)).offset_)
    assert offsets[0] == pytest.approx(offsets[1], rel=1e-10)
