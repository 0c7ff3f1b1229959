import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneclass.core.calibration import Calibration
from oneclass.core.pareto_tail import ParetoTail
from oracle.comparison import assert_agree
from oracle.equations import repeat


def calibrated(losses, w=None):
    return Calibration.of(losses, np.ones(len(losses)) if w is None else w)


def tail_by_sorting(held_out, loss):
    """The formula of `ParetoTail`, one loss at a time."""
    s = sorted(held_out)
    n = len(s)
    k = max(1, n // 10)
    top, u, m = s[n - k :], s[n - k - 1], s[math.ceil(n / 2) - 1]
    index = sum(math.log((x - m) / (u - m)) for x in top)
    return (k + 1) / (n + 1) * (1 + math.log((loss - m) / (u - m)) / index) ** -k


@pytest.mark.parametrize("n", [9, 40, 99, 280])
def test_beyond_the_sample_p_values_are_those_of_the_formula(xp, n):
    held_out = np.random.default_rng(n).exponential(size=n)
    top = held_out.max()
    fresh = np.array([0.0, 0.9 * top, 1.001 * top, 2 * top, 1e6, 1e300])
    known = Calibration.of(xp.asarray(held_out), xp.ones(n, dtype=xp.float64))
    conformal = [float(p) for p in known.p_value(xp.asarray(fresh))]
    further = [tail_by_sorting(held_out, x) if x > top else 1.0 for x in fresh]
    expected = np.minimum(conformal, further)
    assert_agree(known.p_value(xp.asarray(fresh), tail="pareto"), expected, 1e-10)


@given(seed=st.integers(0, 99), n=st.integers(12, 60))
def test_a_row_of_weight_w_is_w_rows(seed, n):
    rng = np.random.default_rng(seed)
    held_out, w = rng.lognormal(size=n), rng.integers(1, 4, size=n)
    fresh = held_out.max() * np.array([0.5, 1.1, 3.0, 1e9])
    expected = calibrated(repeat(held_out, w)).p_value(fresh, tail="pareto")
    assert_agree(calibrated(held_out, w.astype(float)).p_value(fresh, tail="pareto"), expected, 1e-9)


@pytest.mark.parametrize(("shift", "scale"), [(-50.0, 1.0), (3.0, 1e-8), (0.0, 1e12)])
def test_units_and_origin_of_the_losses_have_no_part(shift, scale):
    held_out = np.random.default_rng(0).exponential(size=150)
    fresh = held_out.max() * np.array([1.5, 20.0])
    expected = calibrated(held_out).p_value(fresh, tail="pareto")
    assert_agree(calibrated(scale * (held_out + shift)).p_value(scale * (fresh + shift), tail="pareto"), expected, 1e-6)


def share_at_most(draw, level, n, repeats, size):
    """Share of fresh losses with a p-value of at most `level`, and its standard deviation, over calibrations of n."""
    rng = np.random.default_rng(0)
    shares = [
        np.mean(calibrated(draw(rng, n)).p_value(draw(rng, size), tail="pareto") <= level) for _ in range(repeats)
    ]
    return np.mean(shares), np.std(shares) / math.sqrt(repeats)


def pareto_about_its_median(rng, n):
    """Six losses of ten are 1, the median; the others are beyond 2, by a power law with its origin there."""
    return np.where(rng.uniform(size=n) < 0.6, 1.0, 1 + rng.pareto(1.5, size=n) + 1)


@pytest.mark.parametrize("level", [1e-2, 1e-3])
def test_below_one_in_n_plus_one_p_values_of_a_pareto_tail_are_uniform(level):
    share, error = share_at_most(pareto_about_its_median, level, n=50, repeats=1500, size=1000)
    assert abs(share - level) <= 4 * error < level / 3, share


LIGHTER = {
    "normal": lambda rng, n: (rng.normal(size=(n, 5)) ** 2).sum(axis=1),
    "lognormal": lambda rng, n: rng.lognormal(sigma=2, size=n),
    "student t 3": lambda rng, n: rng.standard_t(3, size=n) ** 2,
    "cauchy": lambda rng, n: rng.standard_cauchy(size=n) ** 2,
    "bounded": lambda rng, n: 1 - np.exp(-rng.chisquare(3, size=n)),
    "steps": lambda rng, n: np.floor(rng.exponential(3, size=n)),
}


@pytest.mark.parametrize("name", LIGHTER)
@pytest.mark.parametrize("n", [60, 280])
def test_tails_that_fall_faster_than_their_pareto_tail_have_larger_p_values(name, n):
    for level in (1e-3, 1e-4):
        share, error = share_at_most(LIGHTER[name], level, n=n, repeats=400, size=1000)
        assert share <= level + 4 * error, (level, share)


def test_a_kind_of_normal_rows_that_is_too_rare_to_be_seen_breaks_the_tail():
    """The tests above have the power to see that."""

    def draw(rng, n):
        return rng.exponential(size=n) * np.where(rng.uniform(size=n) < 0.002, 100.0, 1.0)

    share, error = share_at_most(draw, 1e-4, n=280, repeats=400, size=1000)
    assert share > 1e-4 + 8 * error


@pytest.mark.parametrize("losses", [np.ones(50), np.repeat([0.0, 1.0], [40, 10]), np.repeat([0.0, 1.0], [20, 30])])
def test_losses_that_show_no_tail_have_conformal_p_values(losses):
    fresh = np.array([0.0, 1.0, 2.0, 1e9])
    assert ParetoTail.of(calibrated(losses)) is None
    assert_agree(calibrated(losses).p_value(fresh, tail="pareto"), calibrated(losses).p_value(fresh), 0)


def test_copies_of_the_largest_losses_do_not_form_a_tail():
    losses = np.concatenate([np.linspace(0, 1, 60), np.full(10, 2.0) * (1 + 1e-15 * np.arange(10))])
    fresh = np.array([2.0, 2.1, 1e9])
    p = calibrated(losses).p_value(fresh, tail="pareto")
    tied = np.concatenate([losses[:60], np.full(10, 2.0)])
    assert_agree(p, calibrated(tied).p_value(fresh, tail="pareto"), 1e-9)
    assert p[1] > 1e-3
    assert p[2] > 0


REPEATS = {10: 200, 100: 100, 1_000: 60, 100_000: 12}


@pytest.mark.parametrize("m", REPEATS)
@pytest.mark.parametrize("name", ["normal", "lognormal", "student t 3"])
def test_false_discoveries_are_controlled_and_far_rows_found_in_batches_of_any_size(name, m):
    rng, q, n_far = np.random.default_rng(m), 0.1, m // 10
    alone, false = [], []
    for _ in range(REPEATS[m]):
        calibration = calibrated(LIGHTER[name](rng, 100))
        batch = LIGHTER[name](rng, m)
        alone.append(np.any(calibration.label_batch(batch, q, tail="pareto")))
        batch[:n_far] = 1e12
        found = calibration.label_batch(batch, q, tail="pareto")
        assert found[:n_far].all()
        false.append(found[n_far:].sum() / found.sum())
    assert np.mean(alone) <= q + 3 * math.sqrt(q * (1 - q) / REPEATS[m])
    assert np.mean(false) <= 0.9 * q + 3 * np.std(false) / math.sqrt(REPEATS[m])
