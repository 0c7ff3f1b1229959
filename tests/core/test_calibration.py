import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from oneclass.core.calibration import Calibration
from oracle import decisions
from oracle.comparison import assert_agree
from oracle.equations import repeat

BUDGETS = [0.001, 0.01, 0.05, 0.1, 0.15, 0.25, 0.29, 0.5, 0.57, 0.9, 0.99]
LOSSES = st.lists(st.integers(0, 40).map(lambda s: s / 4), min_size=1, max_size=25)  # ties are common


@given(losses=LOSSES, held_out=LOSSES, seed=st.integers(0, 99))
def test_p_value_counts_the_repeated_losses_whose_threshold_is_at_least_as_large(xp, losses, held_out, seed):
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
