"""Scores of many rows in single precision: how far from the plain formula they may be, and where they may not be."""

import pickle

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from oneclass import AAKELM, VAAKELM, Nystrom, load
from oneclass.core.machine import _QUICK, _TOLERANCE
from oneclass.machines.exact import _MANY, losses_of

RNG = np.random.default_rng(0)
CENTRES = 2 * RNG.normal(size=(5, 8))


def mixture(n):
    return CENTRES[RNG.integers(0, 5, n)] + RNG.normal(size=(n, 8))


TRAIN, NORMAL = mixture(_QUICK + 132), mixture(300)
ODD = RNG.uniform(-6, 6, size=(150, 8))
ROWS = np.concatenate([NORMAL, ODD, TRAIN[:50], (NORMAL[:50] + NORMAL[50:100]) / 2, 30 * NORMAL[:20]])
MACHINES = {
    "default": VAAKELM(),
    "uncertainty": VAAKELM(loss="uncertainty"),
    "global": VAAKELM(centring="global", C=64.0),
    "rbf": AAKELM(kernel="rbf"),
    "strong": AAKELM(C=1e3),
    "weak": AAKELM(C=0.05),
    "weighted": AAKELM(),
    "landmarks": VAAKELM(approximation=Nystrom(_QUICK + 32)),
    "landmarks, global": VAAKELM(approximation=Nystrom(_QUICK + 32), centring="global", C=64.0),
}


@pytest.fixture(params=MACHINES)
def model(request):
    w = RNG.uniform(0.2, 1.8, len(TRAIN)) if request.param == "weighted" else None
    return MACHINES[request.param].fit(TRAIN, sample_weight=w)


def plainly(model, rows):
    """Scores by the same formula in double precision throughout."""
    return -losses_of(model.machine_, rows)


def test_scores_are_within_the_stated_tolerance_of_the_plain_formula(model):
    plain, scores = plainly(model, ROWS), model.score_samples(ROWS)
    assert model.machine_.single is not None
    assert np.any(scores != plain)
    np.testing.assert_allclose(scores, plain, rtol=_TOLERANCE)
    assert np.median(np.abs(scores / plain - 1)) < 5e-5


def test_no_row_is_further_off_than_the_bound_measured_on_training_rows(model):
    fitted, single = model.model_, model.machine_.single
    features = fitted.features(model.scaler_(ROWS))
    factor, tell, _ = fitted.telling()
    precise = tell(factor, features)
    off = np.abs(tell(single.L, features) - precise)
    assert np.all(off <= single.error * precise)
    assert single.error < 1e-4


def test_scores_rank_outliers_as_the_plain_formula_does(model):
    rows, labels = np.concatenate([NORMAL, ODD]), np.repeat([1, 0], [len(NORMAL), len(ODD)])
    plain, quick = (
        roc_auc_score(labels, scores(rows)) for scores in (lambda X: plainly(model, X), model.score_samples)
    )
    assert abs(plain - quick) < 1e-4


def test_rows_at_the_threshold_are_on_the_side_that_double_precision_puts_them(model):
    # Between a normal row and an odd one, as near the threshold as numbers are: single precision would toss a coin.
    inside = np.repeat(NORMAL[np.argmax(plainly(model, NORMAL))][None], len(ODD), axis=0)
    outside = ODD + 20
    for _ in range(40):
        middle = (inside + outside) / 2
        accepted = plainly(model, middle) >= model.offset_
        inside, outside = np.where(accepted[:, None], middle, inside), np.where(accepted[:, None], outside, middle)
    rows = np.concatenate([inside, outside])
    assert len(rows) >= _MANY
    np.testing.assert_allclose(plainly(model, rows), model.offset_, rtol=1e-9)
    np.testing.assert_array_equal(model.decision_function(rows) >= 0, plainly(model, rows) >= model.offset_)
    np.testing.assert_array_equal(model.predict(rows) > 0, plainly(model, rows) >= model.offset_)
    np.testing.assert_array_equal(model.score_samples(rows), plainly(model, rows))


@pytest.mark.parametrize("approximation", [None, Nystrom(_QUICK + 32)])
def test_scores_by_another_budget_are_sure_at_its_own_threshold(approximation, tmp_path):
    pytest.importorskip("pyarrow")
    model, sink = VAAKELM(approximation=approximation).fit(TRAIN), tmp_path / "found.csv"
    model.score_chunks([ROWS], sink, alpha=0.3)
    labels = np.loadtxt(sink, delimiter=",", skiprows=1)[:, -1]
    np.testing.assert_array_equal(labels, model.predict(ROWS, alpha=0.3))


def test_scores_of_parts_of_a_batch_are_those_of_the_batch_within_the_tolerance(model):
    whole = model.score_samples(ROWS)
    for size in (1, 100, 200):
        parts = [model.score_samples(ROWS[a : a + size]) for a in range(0, 400, size)]
        np.testing.assert_allclose(np.concatenate(parts), whole[:400], rtol=_TOLERANCE)


def test_few_rows_make_no_second_factor():
    model = VAAKELM().fit(TRAIN)
    model.score_samples(ROWS[: _MANY - 1])
    model.predict(ROWS)
    model.explain(ROWS[:3])
    assert "single" not in vars(model.machine_)
    model.score_samples(ROWS)
    assert 2 * model.machine_.single.L.nbytes <= model.model_.factored.nbytes


def test_a_saved_model_is_small_and_scores_as_before(tmp_path):
    model = VAAKELM().fit(TRAIN)
    scores = model.score_samples(ROWS)
    assert len(pickle.dumps(model)) < 5 * TRAIN.nbytes
    model.save(tmp_path / "model")
    for again in (pickle.loads(pickle.dumps(model)), load(tmp_path / "model")):
        np.testing.assert_array_equal(again.score_samples(ROWS), scores)


@pytest.mark.parametrize("machine", [AAKELM(kernel="linear", loss="uncertainty"), AAKELM(kernel="rbf", C=1e7)])
def test_where_single_precision_says_too_little_scores_are_the_plain_ones(machine):
    model = machine.fit(TRAIN[:, :2])
    assert not model.machine_.rounds_well(model.scaler_(ROWS[:, :2]))
    np.testing.assert_array_equal(model.score_samples(ROWS[:, :2]), plainly(model, ROWS[:, :2]))


def test_rows_beyond_single_precision_are_scored_in_double():
    model = AAKELM(kernel="polynomial", scale=False, C=1e-3).fit(TRAIN)
    rows = np.concatenate([ROWS, 1e20 * NORMAL[:100]])
    assert model.machine_.rounds_well(model.scaler_(ROWS))
    with np.errstate(over="ignore", invalid="ignore"):
        assert not model.machine_.rounds_well(model.scaler_(rows[-100:]))
    np.testing.assert_allclose(model.score_samples(rows)[-100:], plainly(model, rows)[-100:], rtol=1e-12)


def test_small_models_and_rows_in_single_precision_are_left_alone():
    small, narrow = VAAKELM().fit(TRAIN[:_QUICK]), VAAKELM().fit(TRAIN.astype(np.float32))
    assert small.machine_.single is None
    assert narrow.machine_.single is None
    np.testing.assert_array_equal(small.score_samples(ROWS), plainly(small, ROWS))
