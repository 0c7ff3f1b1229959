"""Whole-number weights count copies; other weights say how much a row counts, and are held out with the row."""

import numpy as np
import pytest

from classifiers import quick
from oneclass import AAKELM, OCKELM, VAAKELM, Nystrom


def law(kind, rng, n):
    return rng.uniform(0.5, 1.5, n) if kind == "uniform" else 0.05 + 3 * np.exp(-3 * np.arange(n) / n)


@pytest.mark.parametrize("approximation", [None, Nystrom(60)], ids=str)
@pytest.mark.parametrize("machine", [OCKELM, AAKELM], ids=lambda m: m.__name__)
def test_a_weighted_row_is_held_out_with_its_whole_weight(machine, approximation):
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(60, 3)), rng.uniform(0.2, 3, 60)
    params = {"C": 4.0, "sigma": 1.5, "scale": False, "delta": 0.2}
    params |= {} if machine is OCKELM else {"loss": "reconstruction"}
    held_out = np.empty(60)
    for i in range(60):
        others = np.arange(60) != i
        held_out[i] = machine(**params).fit(X[others], sample_weight=w[others]).score_samples(X[[i]])[0]
    model = machine(**params, approximation=approximation).fit(X, sample_weight=w)
    np.testing.assert_allclose(model.held_out_scores_, held_out, rtol=1e-6)


def test_weighted_rows_are_ranked_by_weight_and_count_as_their_effective_number():
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(80, 2)), rng.uniform(0.2, 3, 80)
    model = VAAKELM(delta=0.2).fit(X, sample_weight=w)
    calibration, scores = model.calibration_, model.held_out_scores_
    assert calibration.total == pytest.approx(w.sum() ** 2 / (w**2).sum())
    shares = calibration.total * w / w.sum()
    fresh = rng.normal(size=(20, 2))
    at_least = (scores <= model.score_samples(fresh)[:, None]) @ shares
    np.testing.assert_allclose(model.p_value(fresh), (1 + at_least) / (1 + calibration.total), rtol=1e-9)
    others = (scores <= scores[:, None]) @ shares - shares
    np.testing.assert_allclose(model.held_out_p_values_, (1 + others) / (1 + calibration.total - shares), rtol=1e-9)


@pytest.mark.parametrize("kind", ["uniform", "decaying"])
@pytest.mark.parametrize("name", ["OCKELM", "VAAKELM", "OCELM"])
def test_weights_that_have_nothing_to_do_with_the_rows_keep_the_rate(name, kind):
    """One unit of weight held out gave 6 to 12 % for 5 %."""
    rates = []
    for seed in range(16):
        rng = np.random.default_rng(seed)
        model = quick(name).fit(rng.normal(size=(120, 3)), sample_weight=law(kind, rng, 120))
        rates.append(np.mean(model.predict(rng.normal(size=(1000, 3)), delta=0.05) == -1))
    assert np.mean(rates) <= 0.05 + 3 * np.std(rates) / 4


def test_weights_that_describe_another_mix_keep_the_rate_of_that_mix():
    """A tenth of the training rows, but half of the later rows, are spread three times as wide."""
    rates = []
    for seed in range(16):
        rng = np.random.default_rng(seed)
        wide, later = rng.random(400) < 0.1, rng.random(1000) < 0.5
        X = rng.normal(size=(400, 2)) * np.where(wide, 3, 1)[:, None]
        fresh = rng.normal(size=(1000, 2)) * np.where(later, 3, 1)[:, None]
        model = VAAKELM(delta=0.1).fit(X, sample_weight=np.where(wide, 0.5 / 0.1, 0.5 / 0.9))
        rates.append(np.mean(model.predict(fresh) == -1))
    assert abs(np.mean(rates) - 0.1) <= 0.02 + 3 * np.std(rates) / 4
