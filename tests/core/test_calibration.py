from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, norm

from oneclass.core.calibration import Calibration, HeldOut, rows_needed
from oneclass.core.groups import Groups
from oneclass.core.threshold import confident_budget
from oracle import decisions
from oracle.comparison import assert_agree
from oracle.equations import repeat

BUDGETS = [0.001, 0.01, 0.05, 0.1, 0.15, 0.25, 0.29, 0.5, 0.57, 0.9, 0.99]
LOSSES = st.lists(st.integers(0, 40).map(lambda s: s / 4), min_size=1, max_size=25)  # ties are common


@given(losses=LOSSES, held_out=LOSSES, seed=st.integers(0, 99))
def test_p_value_counts_the_repeated_losses_at_least_as_large(xp, losses, held_out, seed):
    w = np.random.default_rng(seed).integers(1, 5, size=len(held_out))
    arrays = [xp.asarray(np.asarray(v, dtype=float)) for v in (losses, held_out, w)]
    expected = [decisions.p_value(s, repeat(held_out, w)) for s in losses]
    assert_agree(Calibration.of(*arrays[1:]).p_value(arrays[0]), expected, 1e-14)


@given(held_out=LOSSES, delta=st.sampled_from(BUDGETS), fresh=LOSSES)
def test_a_row_is_rejected_where_its_p_value_is_within_the_budget_and_nowhere_else(xp, held_out, delta, fresh):
    known, new = (xp.asarray(np.asarray(v, dtype=float)) for v in (held_out, fresh))
    calibration = Calibration.of(known, xp.ones(len(held_out), dtype=xp.float64))
    rejected = new > calibration.threshold(delta)
    within = calibration.p_value(new) <= max(delta, calibration.smallest_budget)
    assert bool(xp.all(rejected == within))


def test_smallest_budget_is_one_in_n_plus_one(xp):
    w = xp.asarray(np.array([2.0, 7.0]))
    assert Calibration.of(w, w).smallest_budget == 0.1


def split_off(losses):
    """The calibration of rows that were split off before the fit."""
    return replace(Calibration.of(losses, np.ones(len(losses))), way="split")


def rates(n, asked, models=4000):
    """False-alarm rates of models calibrated on n uniform losses, at the rate that `asked` returns for each."""
    rng = np.random.default_rng(0)
    for _ in range(models):
        calibration = split_off(rng.uniform(size=n))
        yield calibration, 1 - min(calibration.threshold(asked(calibration)), 1.0)


@pytest.mark.parametrize(("n", "delta"), [(99, 0.05), (199, 0.1), (1000, 0.01)])
def test_the_rate_of_a_model_is_in_its_interval_as_often_as_it_says(n, delta):
    inside = [
        low <= rate <= high
        for c, rate in rates(n, lambda c: delta)
        for low, high in [c.false_alarm_interval(delta, 0.9)]
    ]
    assert np.mean(inside) == pytest.approx(0.9, abs=0.02)


@pytest.mark.parametrize("levels", [3, 8])
def test_the_interval_contains_the_rate_although_many_losses_are_equal(levels):
    rng, inside = np.random.default_rng(0), []
    for _ in range(2000):
        shares = rng.dirichlet(np.ones(levels))
        calibration = split_off(rng.choice(levels, p=shares, size=199).astype(float))
        rate = shares[np.arange(levels) > calibration.threshold(0.2)].sum()
        low, high = calibration.false_alarm_interval(0.2, 0.9)
        inside.append(low <= rate <= high)
    assert np.mean(inside) > 0.9 - 3 * np.sqrt(0.9 * 0.1 / 2000)


@pytest.mark.parametrize(("n", "delta", "confidence"), [(199, 0.05, 0.95), (500, 0.1, 0.9), (2000, 0.01, 0.99)])
def test_a_confident_budget_is_broken_as_seldom_as_it_says(n, delta, confidence):
    broken = np.mean([rate > delta for _, rate in rates(n, lambda c: c.budget(delta, confidence))])
    assert broken <= 1 - confidence + 3 * np.sqrt(confidence * (1 - confidence) / 4000)
    assert split_off(np.arange(float(n))).budget(delta, confidence) > delta / 4


@pytest.mark.parametrize(("delta", "confidence"), [(0.05, 0.95), (0.2, 0.5), (0.5, 0.999), (0.0, 0.9)])
def test_a_confident_budget_is_the_largest_that_is_sure(delta, confidence):
    for n in (1, 7, 59, 300):
        ranks = [k for k in range(1, int((n + 1) * delta) + 1) if beta.cdf(delta, k, n + 1 - k) >= confidence]
        assert confident_budget(n, delta=delta, confidence=confidence, counted=1.0) == max(ranks, default=0) / (n + 1)


def test_a_confident_budget_of_very_many_rows_is_found_soon():
    n, delta = 1e15, 0.05
    short = norm.ppf(0.95) * np.sqrt(delta * (1 - delta) / n)
    assert confident_budget(n, delta=delta, confidence=0.95, counted=1.0) == pytest.approx(
        delta - short, abs=short / 100
    )


def test_so_few_rows_cannot_be_confident():
    calibration = Calibration.of(np.arange(20.0), np.ones(20))
    assert calibration.budget(0.05) == 0
    assert calibration.false_alarm_interval(0.01)[0] == 0


@pytest.mark.parametrize(("n", "delta"), [(99, 0.05), (300, 0.01), (40, 0.001)])
def test_the_number_of_alarms_is_in_its_range_as_often_as_it_says(n, delta):
    rng = np.random.default_rng(1)
    numbers = [rng.binomial(500, rate) for _, rate in rates(n, lambda c: delta)]
    expected, fewest, most = split_off(np.arange(float(n))).alarms(delta, rows=500, confidence=0.9)
    assert np.mean(numbers) == pytest.approx(expected, abs=4 * np.std(numbers) / np.sqrt(4000))
    # At most a twentieth on either side, and more than that if the range were narrower by one.
    noise = 4 * np.sqrt(0.05 * 0.95 / 4000)
    for outside, narrower in ((np.less, fewest + 1), (np.greater, most - 1)):
        assert np.mean(outside(numbers, fewest if outside is np.less else most)) <= 0.05 + noise
        assert np.mean(outside(numbers, narrower)) >= 0.05 - noise


@pytest.mark.parametrize("way", ["", "split"])
@pytest.mark.parametrize("confidence", [None, 0.5, 0.95, 0.99])
@pytest.mark.parametrize("delta", [0.5, 0.1, 0.05, 0.01, 1 / 30, 1 / 318])
def test_rows_needed_are_the_fewest_that_keep_the_budget(delta, confidence, way):
    n = rows_needed(delta, confidence, exact=way == "split")
    for few, kept in ((n, True), (n - 1, False)):
        calibration = replace(Calibration.of(np.arange(float(max(few, 1))), np.ones(max(few, 1))), way=way)
        if confidence is None:
            assert (calibration.smallest_budget <= delta * (1 + 1e-9)) == (kept or few == 0)
        else:
            assert (calibration.budget(delta, confidence) > 0) == (kept or few == 0)


def test_rows_are_needed_for_shares():
    with pytest.raises(ValueError, match=r"rows_needed: delta must be a number in \(0, 1\), got 0"):
        rows_needed(0)
    with pytest.raises(ValueError, match="rows_needed: confidence must be a number"):
        rows_needed(0.1, confidence=95)


INFINITE = [1.0, 5.0, 2.0, np.inf, 4.0, np.inf, 3.0, 1.0]


def test_infinite_held_out_losses_count_as_larger_than_all_others(xp):
    fresh = [0.0, 1.0, 3.5, 5.0, 6.0, np.finfo(float).max]
    calibration = Calibration.of(*(xp.asarray(np.asarray(v)) for v in (INFINITE, np.ones(8))))
    expected = [decisions.p_value(loss, INFINITE) for loss in fresh]
    assert_agree(calibration.p_value(xp.asarray(np.asarray(fresh))), expected, 1e-14)
    assert calibration.smallest_budget == 3 / 9


@pytest.mark.parametrize("owners", [None, [0, 0, 1, 1, 2, 2, 3, 3], [0, 1, 2, 0, 1, 2, 0, 1]])
def test_held_out_p_values_with_infinite_losses_are_those_of_losses_beyond_all_others(owners):
    groups = None if owners is None else Groups(np.array(owners))
    finite = np.where(np.isinf(INFINITE), 9.0, INFINITE)
    found, expected = (HeldOut(np.asarray(losses), None, groups).p_values() for losses in (INFINITE, finite))
    assert_agree(found, expected, 1e-14)
