"""Known outliers of `Calibrated` detectors: any estimator, with the promise of its held-out rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.mixture import GaussianMixture

from oneclass import AAKELM, Calibrated, PCADetector, TableDetector, load
from oneclass.core.known import Standard

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
KNOWN = np.array([2.0, 1.5, 0.0]) + 0.4 * RNG.normal(size=(5, 3))
FRESH = np.concatenate([RNG.normal(size=(40, 3)), np.array([2.0, 1.5, 0.0]) + 0.4 * RNG.normal(size=(40, 3))])
WAYS = pytest.mark.parametrize("hold_out", ["plus", "split", "folds"])


def made(hold_out="split", **params):
    return Calibrated(GaussianMixture(random_state=0), hold_out=hold_out, **params)


@WAYS
def test_labels_and_a_table_of_outliers_mean_the_same(hold_out):
    by_table = made(hold_out).fit(X, outliers=KNOWN)
    if hold_out != "split":  # a split is a random choice among all rows in their order
        by_label = made(hold_out).fit(np.concatenate([KNOWN, X]), np.repeat([-1, 1], [5, 120]))
        np.testing.assert_array_equal(by_label.score_samples(FRESH), by_table.score_samples(FRESH))
    assert np.mean(by_table.p_value(FRESH[40:])) < np.mean(made(hold_out).fit(X).p_value(FRESH[40:])) - 0.05


@WAYS
def test_without_known_outliers_a_fit_is_the_same_bit_by_bit(hold_out):
    plain, y = made(hold_out).fit(X), np.repeat([1, -1], [120, 5])
    ignoring = made(hold_out, known_outliers="ignore").fit(np.concatenate([X, KNOWN]), y)
    for model in (ignoring, made(hold_out).fit(X, outliers=KNOWN).fit(X)):
        np.testing.assert_array_equal(model.score_samples(FRESH), plain.score_samples(FRESH))
        assert not hasattr(model, "known_")


def test_the_loss_is_that_of_a_kernel_machine_with_another_first_part():
    model = made().fit(X, outliers=KNOWN)
    known, inside = model.model_, np.setdiff1d(np.arange(120), np.flatnonzero(~np.isnan(model.held_out_scores_)))
    machine = AAKELM(kernel=known.kernel, sigma=known.kernel.sigma).fit(X[inside], outliers=KNOWN)
    np.testing.assert_allclose(known.scaler(FRESH), machine.scaler_(FRESH))
    _, added = machine.known_.parts(machine.machine_, machine.scaler_(FRESH))
    mixture = GaussianMixture(random_state=0).fit(X[inside])
    own = Standard.of_losses(-mixture.score_samples(X[inside]), np.ones(len(inside)))(-mixture.score_samples(FRESH))
    np.testing.assert_allclose(-model.score_samples(FRESH), own + added, rtol=1e-9)


def test_p_values_of_new_normal_rows_are_valid():
    rates = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        model = made(delta=0.1).fit(rng.standard_t(3, size=(80, 2)), outliers=rng.normal(size=(6, 2)) + 2)
        rates.append(np.mean(model.predict(rng.standard_t(3, size=(500, 2))) == -1))
    assert 0.07 < np.mean(rates) < 0.12


def test_explanations_say_which_part_of_the_loss_decides():
    found = made().fit(X, outliers=KNOWN).explain(np.concatenate([KNOWN[2:3] + 0.01, [[-9.0, 0, 0]]]))
    assert found.causes() == ["like known outlier 3", "unlike the normal rows"]
    np.testing.assert_allclose(found.known.values[0], KNOWN[2])


def test_known_outliers_survive_a_file_and_pass_through_tables(tmp_path):
    model = Calibrated(PCADetector()).fit(X, outliers=KNOWN)
    model.save(tmp_path / "model.oneclass")
    loaded = load(tmp_path / "model.oneclass")
    np.testing.assert_array_equal(loaded.score_samples(FRESH), model.score_samples(FRESH))
    assert loaded.explain(FRESH[-2:]).causes() == model.explain(FRESH[-2:]).causes()
    rows, known = (pd.DataFrame(of, columns=list("abc")) for of in (X, KNOWN))
    table = TableDetector(Calibrated(PCADetector())).fit(rows, outliers=known)
    assert table.explain(known[:1]).causes() == ["like known outlier 1"]


@pytest.mark.filterwarnings("ignore:Calibrated. rows that weigh 2 or more")
def test_weights_that_count_copies_are_rows_that_are_repeated():
    w = RNG.integers(1, 4, 120)
    model = Calibrated(IsolationForest(random_state=0), hold_out="folds").fit(X, outliers=KNOWN, sample_weight=w)
    assert model.calibration_.total == w.sum()
    assert len(model.known_.normal) == w.sum()


def test_what_cannot_learn_known_outliers_is_refused():
    with pytest.raises(ValueError, match="Calibrated: known outliers need an estimator with fit, got None"):
        Calibrated(direction="odd").fit(X[:, :1], outliers=KNOWN[:, :1])
    with pytest.raises(ValueError, match="Calibrated: known_outliers must be one of 'learn', 'ignore'; got 'no'"):
        made(known_outliers="no").fit(X, outliers=KNOWN)
