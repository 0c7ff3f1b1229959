import math
import warnings

import numpy as np
import pytest

import oneclass
from oneclass import AAKELM, OCELM, VAAKELM, FewRowsWarning, KNNDetector, Nystrom, PCADetector

MACHINES = ("OCKELM", "VOCKELM", "AAKELM", "VAAKELM")
BASELINES = {"OCSVM": 30, "SVDD": 30, "PCADetector": 30, "MSTDetector": 30, "KNNDetector": 30, "NaiveParzen": 20}
BASELINES |= {"KCentersDetector": 10, "KMeansDetector": 8, "AutoencoderDetector": 8, "OCRF": 6}
BUDGETS = (0.01, 0.05, 0.10)
N, FRESH = 199, 200  # with 199 rows the three budgets are whole numbers of two hundredths
COARSE = pytest.mark.filterwarnings("ignore::oneclass.UnreachableRateWarning")


def draw(rng, n):
    """Two clusters and a heavy tail, in three features."""
    centre = np.where(rng.uniform(size=n) < 0.3, 4.0, 0.0)
    return rng.standard_t(6, size=(n, 3)) * [1.0, 2.0, 0.5] + centre[:, None]


def delivered(make, repeats):
    """Mean share of fresh normal rows rejected at each budget, over fits to fresh training rows."""
    rng = np.random.default_rng(0)
    shares = []
    for _ in range(repeats):
        model = make().fit(draw(rng, N))
        fresh = draw(rng, FRESH)
        shares.append([np.mean(model.predict(fresh, delta=alpha) == -1) for alpha in BUDGETS])
    return np.mean(shares, axis=0)


def band(alpha, repeats):
    """Three standard deviations: one fit's rate is Beta(k, N + 1 - k) with k = alpha (N + 1), then FRESH rows count."""
    variance = alpha * (1 - alpha) * (1 / (N + 2) + 1 / FRESH)
    return 3 * math.sqrt(variance / repeats)


@pytest.mark.parametrize("name", MACHINES)
def test_kernel_machines_deliver_the_rate_asked_for(name):
    for alpha, rate in zip(BUDGETS, delivered(getattr(oneclass, name), 60), strict=True):
        assert abs(rate - alpha) <= band(alpha, 60), (alpha, rate)


@pytest.mark.parametrize("name", BASELINES)
def test_baselines_deliver_the_rate_asked_for_or_a_quarter_less(name):
    # Five folds score each row by a model of four fifths of the rows, which is stricter than the model of all rows.
    repeats = BASELINES[name]
    for alpha, rate in zip(BUDGETS, delivered(getattr(oneclass, name), repeats), strict=True):
        assert 0.75 * alpha - band(alpha, repeats) <= rate <= alpha + band(alpha, repeats), (alpha, rate)


@pytest.mark.parametrize("loss", ["reconstruction", "uncertainty", "predictive", "either"])
@pytest.mark.parametrize("C", [1.0, 1000.0])
def test_every_loss_delivers_the_rate_asked_for(loss, C):
    for alpha, rate in zip(BUDGETS, delivered(lambda: VAAKELM(loss=loss, C=C), 40), strict=True):
        assert abs(rate - alpha) <= band(alpha, 40), (alpha, rate)


@pytest.fixture(scope="module")
def rows():
    return draw(np.random.default_rng(1), 400)


@pytest.mark.parametrize("delta", [0.02, 0.05, 0.3])
@pytest.mark.parametrize("machine", [AAKELM, KNNDetector], ids=["AAKELM", "KNNDetector"])
def test_another_budget_is_the_threshold_of_a_fit_with_it(rows, machine, delta):
    changed = machine().fit(rows[:200]).predict(rows[200:], delta=delta)
    np.testing.assert_array_equal(changed, machine(delta=delta).fit(rows[:200]).predict(rows[200:]))


@pytest.mark.parametrize(("machine", "later"), [(AAKELM, {"C": 0.1}), (KNNDetector, {"n_neighbors": 30})])
def test_parameters_set_after_the_fit_do_not_change_its_p_values(rows, machine, later):
    known, fresh = rows[:200], rows[200:]
    changed = machine(threshold="train").fit(known).set_params(**later).p_value(fresh)
    np.testing.assert_array_equal(changed, machine(threshold="train").fit(known).p_value(fresh))


def test_another_budget_uses_held_out_scores_whatever_the_threshold(rows):
    model = AAKELM(threshold="train").fit(rows[:200])
    expected = AAKELM(delta=0.2).fit(rows[:200]).predict(rows[200:])
    np.testing.assert_array_equal(model.predict(rows[200:], delta=0.2), expected)


def test_a_larger_budget_rejects_the_same_rows_and_more(rows):
    model = VAAKELM().fit(rows[:200])
    few, many = (model.predict(rows[200:], delta=alpha) for alpha in (0.05, 0.4))
    assert np.all(many[few == -1] == -1)
    assert np.sum(many == -1) > np.sum(few == -1)


@pytest.mark.parametrize("alpha", [-0.1, 1.0, math.nan, "0.1", True])
def test_a_budget_is_a_share(rows, alpha):
    with pytest.raises(ValueError, match=r"AAKELM: delta must be a number in \[0, 1\)"):
        AAKELM().fit(rows[:50]).predict(rows, delta=alpha)


@pytest.mark.parametrize("machine", [AAKELM, PCADetector], ids=["AAKELM", "PCADetector"])
def test_a_budget_that_so_few_rows_cannot_keep_is_announced(rows, machine):
    few = rows[:49]
    with pytest.warns(UserWarning, match=rf"{machine.__name__}: delta=0.01 is below 1/\(n\+1\)=0.02"):
        machine(delta=0.01).fit(few)
    model = machine(delta=0.02).fit(few)
    with pytest.warns(UserWarning, match="delta=0.019 is below"):
        model.predict(rows, delta=0.019)
    with pytest.warns(UserWarning, match=r"q=0.01 is below.*no row can be labelled as an outlier"):
        assert (model.label_batch(rows, q=0.01) == 1).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(rows, delta=0.0)
        model.predict(rows, delta=0.02)


def benjamini_hochberg(p, q):
    """The procedure as its authors state it, by counting."""
    order = sorted(range(len(p)), key=lambda i: p[i])
    passed = [k for k in range(1, len(p) + 1) if p[order[k - 1]] <= q * k / len(p) + 1e-12]
    named = order[: max(passed, default=0)]
    # Equal p-values are named together.
    limit = max((p[i] for i in named), default=-1.0)
    return np.where(p <= limit, -1, 1)


@COARSE
@pytest.mark.parametrize("q", [0.05, 0.1, 0.5])
def test_false_discovery_is_the_procedure_of_benjamini_and_hochberg(rows, q):
    model = AAKELM().fit(rows[:199])
    batch = np.concatenate([rows[200:280], rows[280:310] + 4.0])
    np.testing.assert_array_equal(model.label_batch(batch, q=q), benjamini_hochberg(model.p_value(batch), q))


@COARSE
@pytest.mark.parametrize(("outliers", "q"), [(0, 0.1), (10, 0.1), (60, 0.1), (10, 0.3)])
def test_false_discoveries_are_controlled_on_mixtures(outliers, q):
    rng = np.random.default_rng(2)
    shares, found = [], []
    for _ in range(50):
        model = AAKELM().fit(draw(rng, 299))
        far = rng.normal(size=(outliers, 3)) + rng.choice([-25.0, 25.0], size=(outliers, 3))
        labels = model.label_batch(np.concatenate([draw(rng, 100), far]), q=q)
        named = max(1, np.sum(labels == -1))
        shares.append(np.sum(labels[:100] == -1) / named)
        found.append(np.mean(labels[100:] == -1) if outliers else 1.0)
    noise = 3 * np.std(shares) / math.sqrt(50)
    assert np.mean(shares) <= q * 100 / (100 + outliers) + noise
    assert np.mean(found) > 0.9


def test_a_false_discovery_rate_is_a_share(rows):
    with pytest.raises(ValueError, match=r"AAKELM: q must be a number in \(0, 1\), got 0"):
        AAKELM().fit(rows[:50]).label_batch(rows, q=0)


@COARSE
def test_calibration_answers_in_the_library_that_asked(xp, rows):
    model = AAKELM().fit(xp.asarray(rows[:100]))
    reference = AAKELM().fit(rows[:100])
    batch = xp.asarray(rows[100:200])
    for answer, expected in (
        (model.predict(batch, delta=0.2), reference.predict(rows[100:200], delta=0.2)),
        (model.label_batch(batch, q=0.4), reference.label_batch(rows[100:200], q=0.4)),
    ):
        np.testing.assert_array_equal(np.from_dlpack(answer), expected)


def far(rng, n):
    return rng.normal(size=(n, 3)) + 1e6


def test_a_batch_too_large_for_the_rows_is_announced_with_the_rows_it_takes():
    rng = np.random.default_rng(3)
    model = KNNDetector().fit(draw(rng, 280))
    inside = draw(rng, 1700)
    inside = inside[model.p_value(inside) > model.calibration_.smallest_budget][:1540]
    # 50 of 1590 at q = 0.1 take p-values of 0.1 * 50 / 1590 = 1 / 318.
    with pytest.warns(
        UserWarning,
        match="50 of 1590 have a larger loss.*n=280 .*50 outliers among 1590 rows need n=317, one .* n=15899",
    ):
        assert (model.label_batch(np.concatenate([inside, far(rng, 50)])) == 1).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (model.label_batch(inside) == 1).all()  # no row is beyond
        assert (model.label_batch(np.concatenate([inside, far(rng, 57)])) == -1).sum() == 57


@pytest.mark.parametrize("make", [AAKELM, VAAKELM, KNNDetector, PCADetector], ids=lambda make: make.__name__)
def test_a_pareto_tail_names_fifty_far_rows_among_1590_with_280_to_learn_from(make):
    rng = np.random.default_rng(4)
    model = make().fit(draw(rng, 280))
    inside = draw(rng, 1700)
    inside = inside[model.p_value(inside) > model.calibration_.smallest_budget][:1540]
    labels = model.label_batch(np.concatenate([inside, far(rng, 50)]), tail="pareto")
    assert (labels == np.repeat([1, -1], [1540, 50])).all()


def test_a_pareto_tail_names_next_to_nothing_among_normal_rows():
    rng = np.random.default_rng(5)
    named = [np.any(AAKELM().fit(draw(rng, 280)).label_batch(draw(rng, 1000), tail="pareto") < 0) for _ in range(40)]
    assert np.mean(named) <= 0.1 + 3 * math.sqrt(0.1 * 0.9 / 40)


def test_tails_are_named(rows):
    model = KNNDetector().fit(rows[:50])
    for verb in (model.p_value, model.label_batch):
        with pytest.raises(ValueError, match="KNNDetector: tail must be one of None, 'pareto'; got 'gauss'"):
            verb(rows, tail="gauss")


@pytest.mark.parametrize("machine", [AAKELM, KNNDetector], ids=lambda machine: machine.__name__)
def test_a_confident_threshold_is_that_of_its_budget(rows, machine):
    sure = machine(delta=0.1, confidence=0.9).fit(rows[:200])
    usual = machine(delta=0.1).fit(rows[:200])
    assert sure.offset_ == -usual.calibration_.threshold(usual.calibration_.budget(0.1, 0.9)) < usual.offset_
    # Nine in ten on one side are eight in ten between two.
    assert sure.false_alarm_interval(confidence=0.8)[1] <= 0.1 < usual.false_alarm_interval(confidence=0.8)[1]
    assert usual.false_alarm_interval(delta=0.02) == usual.calibration_.false_alarm_interval(0.02)


def test_a_confident_model_breaks_its_budget_as_seldom_as_it_says():
    rng = np.random.default_rng(6)
    fresh = draw(rng, 5000)
    models = [KNNDetector(delta=0.1, confidence=0.8).fit(draw(rng, N)) for _ in range(150)]
    broken = np.mean([np.mean(model.predict(fresh) == -1) > 0.1 for model in models])
    assert 0.02 < broken <= 0.2 + 3 * math.sqrt(0.8 * 0.2 / 150)


def test_rows_too_few_to_be_confident_are_announced(rows):
    with pytest.warns(
        UserWarning, match=r"AAKELM: delta=0.05 with confidence=0.95 needs n=76 independent rows.*there are 75"
    ):
        AAKELM(confidence=0.95).fit(rows[:75])
    AAKELM(confidence=0.95).fit(rows[:76])


def test_confidence_is_a_chance_and_needs_held_out_losses(rows):
    with pytest.raises(ValueError, match=r"AAKELM: confidence must be a number in \(0, 1\), got 1"):
        AAKELM(confidence=1).fit(rows)
    with pytest.raises(ValueError, match=r"PCADetector: confidence must be None with threshold='train'.*got 0.9"):
        PCADetector(confidence=0.9, threshold="train").fit(rows)
    with pytest.raises(ValueError, match="AAKELM: delta must be given, got None"):
        AAKELM(threshold="train").fit(rows).false_alarm_interval()


def test_few_rows_of_many_columns_are_warned_about():
    rng = np.random.default_rng(0)
    with pytest.warns(UserWarning, match=r"AAKELM: 25 rows \(or groups\) of 40 columns are too few: each row"):
        AAKELM().fit(rng.normal(size=(25, 40)))
    with pytest.warns(UserWarning, match=r"AAKELM: 20 rows \(or groups\) of 40 columns are too few"):
        AAKELM().fit(rng.normal(size=(60, 40)), groups=np.arange(60) // 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        AAKELM().fit(rng.normal(size=(30, 40)))
        AAKELM().fit(rng.normal(size=(25, 20)))


@pytest.mark.parametrize("name", MACHINES)
def test_heavy_tails_get_the_false_alarms_asked_for(name):
    rates = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, Z = (np.exp(2 * rng.normal(size=(n, 30))) for n in (99, 400))
        rates.append(np.mean(getattr(oneclass, name)().fit(X).predict(Z) == -1))
    assert abs(np.mean(rates) - 0.05) < 3 * math.sqrt(0.05 * 0.95 / (99 * 10))


def test_a_budget_of_few_digits_is_used_in_all_of_ours():
    rng = np.random.default_rng(0)
    model, fresh = KNNDetector(n_neighbors=1).fit(rng.normal(size=(3000, 2))), 1.5 * rng.normal(size=(3000, 2))
    for alpha in np.linspace(0.01, 0.3, 7).astype(np.float16):
        np.testing.assert_array_equal(model.predict(fresh, delta=alpha), model.predict(fresh, delta=float(alpha)))
        assert model.false_alarm_interval(delta=alpha) == model.false_alarm_interval(delta=float(alpha))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "params",
    [{}, {"variance": "subclass"}, {"variance": "subclass", "centering": "global"}, {"variance": "class"}],
    ids=lambda params: "-".join(params.values()),
)
@pytest.mark.parametrize("approximation", [None, Nystrom(40)], ids=str)
def test_uncertainty_keeps_the_false_alarm_rate_at_every_C(params, approximation, dtype):
    smallest = {"float64": 1e-10, "float32": 1e-4}[dtype]
    machine = VAAKELM if params else AAKELM
    for C in (smallest, 1e3 * smallest, 1.0, 1e4):
        rates = []
        for seed in range(5):
            rng = np.random.default_rng(seed)
            X, fresh = (rng.normal(size=(n, 2)).astype(dtype) for n in (100, 1000))
            model = machine(loss="uncertainty", C=C, delta=0.1, approximation=approximation, **params).fit(X)
            rates.append(np.mean(model.predict(fresh) == -1))
        # Landmarks that are held out reach their rows less well than those of a fit do: rates are a point or two lower.
        assert 0.04 < np.mean(rates) < 0.1 + 3 * np.sqrt(0.1 * 0.9 / 500), C


@pytest.mark.parametrize(("n", "units", "columns"), [(50, 50, 20), (100, 100, 60), (60, 50, 20), (150, 50, 20)])
def test_the_interval_of_a_hidden_layer_of_many_units_contains_the_rate(n, units, columns):
    inside = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FewRowsWarning)
            model = OCELM(n_hidden=units, delta=0.1).fit(rng.normal(size=(n, columns)))
        low, high = model.false_alarm_interval()
        inside.append(low <= np.mean(model.predict(rng.normal(size=(1000, columns))) == -1) <= high)
    assert np.mean(inside) > 0.95 - 2 * np.sqrt(0.95 * 0.05 / 40)


def test_a_hidden_layer_with_as_many_units_as_rows_warns(rows):
    with pytest.warns(FewRowsWarning, match=r"OCELM: n=199 rows are about as many as n_hidden=200, .*twice delta; use"):
        OCELM().fit(rows[:199])
    OCELM(n_hidden=99).fit(rows[:199])


def test_a_hidden_layer_of_many_units_refuses_a_confidence(rows):
    with pytest.raises(ValueError, match=r"OCELM: confidence must be None for fewer than 4 n_hidden = 200 rows"):
        OCELM(n_hidden=50, confidence=0.9).fit(rows[:199])
    OCELM(n_hidden=20, confidence=0.9).fit(rows[:199])
