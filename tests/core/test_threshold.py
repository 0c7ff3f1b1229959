import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneclass.core import threshold
from oracle import decisions
from oracle.comparison import assert_agree
from oracle.equations import repeat

DELTAS = [0.0, 0.001, 0.01, 0.05, 0.1, 0.15, 0.25, 0.29, 0.5, 0.57, 0.9, 0.99]
LOSSES = st.lists(st.integers(0, 40).map(lambda s: s / 4), min_size=1, max_size=25)  # ties are common
RULES = [threshold.conformal, threshold.paper, threshold.dd_tools]


def decide(xp, rule, losses, delta, w=None):
    w = np.ones(len(losses)) if w is None else np.asarray(w, dtype=float)
    return rule(threshold.Ranks.of(xp.asarray(np.asarray(losses, dtype=float)), xp.asarray(w)), delta=delta)


def names(rule):
    return rule.__name__


@pytest.mark.parametrize("rule", [threshold.conformal, threshold.paper], ids=names)
@given(losses=LOSSES, delta=st.sampled_from(DELTAS))
def test_the_threshold_is_the_loss_of_the_rank_that_counting_gives(xp, rule, losses, delta):
    value, _ = decisions.RULES[rule.__name__](losses, delta)
    assert value <= decide(xp, rule, losses, delta) <= value + 1e-6 * max(losses)


@given(losses=LOSSES, delta=st.sampled_from(DELTAS))
def test_dd_tools_threshold_is_halfway_above_the_rank_that_counting_gives(xp, losses, delta):
    value, following = decisions.RULES["dd_tools"](losses, delta)
    actual = decide(xp, threshold.dd_tools, losses, delta)
    if following is None:
        assert value <= actual <= value + 1e-6 * max(losses)
    else:
        assert actual == pytest.approx((value + following) / 2, rel=1e-12)


@given(losses=LOSSES, delta=st.sampled_from(DELTAS))
def test_authors_rule_accepts_what_is_strictly_below_the_rank(xp, losses, delta):
    limit = decisions.authors(losses, delta)
    actual = decide(xp, threshold.authors, losses, delta)
    assert [s <= actual for s in losses] == [s < limit for s in losses]
    assert actual == math.nextafter(limit, -math.inf)


@pytest.mark.parametrize("rule", [*RULES, threshold.authors], ids=names)
@given(losses=LOSSES, delta=st.sampled_from(DELTAS), seed=st.integers(0, 99))
def test_weights_are_repeated_losses(xp, rule, losses, delta, seed):
    w = np.random.default_rng(seed).integers(1, 5, size=len(losses))
    expected = decide(np, rule, repeat(losses, w), delta)
    assert decide(xp, rule, losses, delta, w) == pytest.approx(expected, rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("rule", RULES, ids=names)
@given(losses=LOSSES.filter(lambda s: max(s) > 0))
def test_a_budget_of_zero_accepts_every_training_row(xp, rule, losses):
    assert decide(xp, rule, losses, 0.0) > max(losses)


@pytest.mark.parametrize("rule", RULES, ids=names)
@given(losses=LOSSES.filter(lambda s: max(s) > 0), delta=st.sampled_from(DELTAS))
def test_threshold_is_never_a_training_loss(rule, losses, delta):
    assert decide(np, rule, losses, delta) not in losses


# Ten losses, without and with ties.
TEN = list(range(1, 11))
TIES = [1, 1, 2, 2, 2, 3, 3, 9, 9, 9]
ON_A_LOSS = [
    ("conformal", TEN, 0.1, 10),  # rank ceil(9.9) = 10, the largest
    ("conformal", TEN, 0.2, 9),  # ceil(8.8) = 9
    ("conformal", TEN, 0.5, 6),  # ceil(5.5) = 6
    ("conformal", TIES, 0.2, 9),  # 9th of the ties
    ("conformal", TIES, 0.5, 3),  # 6th
    ("conformal", TEN, 0.05, 10),  # below 1/11: the largest
    ("paper", TEN, 0.1, 10),  # floor(1) = 1: the largest
    ("paper", TEN, 0.2, 9),  # the second largest
    ("paper", TEN, 0.29, 9),  # floor(2.9) = 2
    ("paper", TEN, 0.3, 8),  # 0.3 * 10 is 3, whatever doubles say
    ("paper", TEN, 0.05, 10),  # floor(0.5) = 0 means the largest
    ("paper", TIES, 0.4, 3),  # the fourth largest
]


@pytest.mark.parametrize(("rule", "losses", "delta", "expected"), ON_A_LOSS)
def test_threshold_on_a_loss_by_hand(xp, rule, losses, delta, expected):
    assert expected < decide(xp, getattr(threshold, rule), losses, delta) < expected * (1 + 1e-6)


HALFWAY = [
    ("dd_tools", TEN, 0.1, 9.5),  # round(9) = 9
    ("dd_tools", TEN, 0.05, None),  # round(9.5) = 10
    ("dd_tools", TEN, 0.5, 5.5),
    ("dd_tools", TIES, 0.5, 2.5),  # 5th is 2; halfway to 3
]


@pytest.mark.parametrize(("rule", "losses", "delta", "expected"), HALFWAY)
def test_threshold_halfway_by_hand(xp, rule, losses, delta, expected):
    actual = decide(xp, getattr(threshold, rule), losses, delta)
    if expected is None:
        assert max(losses) < actual < max(losses) * (1 + 1e-6)
    else:
        assert actual == expected


@pytest.mark.parametrize(
    ("losses", "delta", "accepted"),
    [
        (TEN, 0.1, 8),  # below the 9th
        (TEN, 0.05, 9),  # ceil(9.5) = 10, itself rejected
        (TEN, 0.0, 9),
        (TEN, 0.3, 6),
        (TIES, 0.1, 7),  # below 9
        (TIES, 0.5, 2),  # below 2: all three twos go
    ],
)
def test_authors_rule_by_hand(xp, losses, delta, accepted):
    limit = decide(xp, threshold.authors, losses, delta)
    assert sum(s <= limit for s in losses) == accepted


def test_authors_rule_is_strict_in_single_precision():
    losses = np.asarray([0.1, 0.2, 0.3], dtype=np.float32)
    ranks = threshold.Ranks.of(losses, np.ones(3, dtype=np.float32))
    limit = np.float32(threshold.authors(ranks, delta=0.0))
    np.testing.assert_array_equal(losses <= limit, [True, True, False])


@pytest.mark.parametrize("rule", RULES, ids=names)
@pytest.mark.parametrize("n", [20, 60, 100, 140, 1000])
@pytest.mark.parametrize("delta", [0.05, 0.1, 0.15, 0.3, 0.35])
def test_a_product_that_is_whole_on_paper_is_whole(rule, n, delta):
    losses = np.arange(1.0, n + 1)
    value, following = decisions.RULES[rule.__name__](losses, delta)
    assert value < decide(np, rule, losses, delta) < (following or n + 1)


@pytest.mark.parametrize("rule", [*RULES, threshold.authors], ids=names)
def test_fractions_of_rows_rank_as_their_sum(rule):
    losses = np.arange(1.0, 11.0)
    split = np.repeat(losses, 4)
    assert decide(np, rule, split, 0.2, np.full(40, 0.25)) == decide(np, rule, losses, 0.2)


def test_no_weights_rank_as_ones_do(xp):
    losses = xp.asarray(np.random.default_rng(0).integers(0, 5, 20).astype(float))
    plain, weighted = threshold.Ranks.of(losses, None), threshold.Ranks.of(losses, xp.ones(20, dtype=xp.float64))
    assert plain.total == weighted.total == 20
    assert_agree(plain.losses, weighted.losses)
    assert_agree(plain.reached, weighted.reached)


LARGE = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, np.inf, np.inf, np.finfo(float).max]  # three are beyond all others


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rule", [*RULES, threshold.authors], ids=names)
@pytest.mark.parametrize("delta", DELTAS)
def test_no_threshold_is_an_infinite_loss(xp, rule, delta, weighted):
    w = np.arange(1.0, 11.0) if weighted else np.ones(10)
    finite = [loss if loss < 8 else 8.0 + k for k, loss in enumerate(LARGE)]  # the same ranks
    expected, found = decide(xp, rule, finite, delta, w), decide(xp, rule, LARGE, delta, w)
    if expected < 7:
        assert found == pytest.approx(expected, rel=1e-9)
    else:
        assert 6 < found < 7.001


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_losses_that_rounding_would_make_infinite_are_infinite(dtype):
    losses = np.asarray([1, 2, np.finfo(dtype).max / 2], dtype=dtype)
    ranks = threshold.Ranks.of(losses, None)
    assert (ranks.losses.tolist(), ranks.total, ranks.removed) == ([1, 2], 3, 1)
    assert np.isfinite([rule(ranks, delta=0.0) for rule in (*RULES, threshold.authors)]).all()


UNRANKED = {
    "a NaN": ([1.0, np.nan, 3.0], "1 of 3 are NaN"),
    "NaN alone": ([np.nan] * 4, "4 of 4 are NaN"),
    "minus infinity": ([-np.inf, 1.0], "1 of 2 are NaN or minus infinity"),
    "infinity alone": ([np.inf, np.inf], "all are infinite"),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("case", UNRANKED)
def test_losses_that_have_no_rank_are_refused(xp, case, weighted):
    losses, fault = UNRANKED[case]
    w = xp.ones(len(losses), dtype=xp.float64) if weighted else None
    with pytest.raises(threshold.LossError, match=f"no threshold can be put on the losses of .*{fault}"):
        threshold.Ranks.of(xp.asarray(losses, dtype=xp.float64), w)
