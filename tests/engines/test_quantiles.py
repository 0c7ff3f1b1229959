import pickle
from functools import reduce
from operator import add

import numpy as np
import pytest

from oneclass.core.arrays import to_numpy
from oneclass.core.calibration import Calibration
from oneclass.core.quantiles import LossSummary
from oneclass.engines import Chunks
from oracle.comparison import assert_agree

N, LIMIT = 200_000, 40_000
LOSSES = np.random.default_rng(0).exponential(size=N)
RANKS = np.array([0.1, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999])


def summed(xp, parts, *, limit=LIMIT, w=None):
    return reduce(add, [LossSummary.of(xp.asarray(part), w, limit=limit) for part in parts])


@pytest.fixture(scope="module")
def binned():
    """A weighted sample of losses, from chunks beyond the limit."""
    return summed(np, np.array_split(LOSSES, 37)).weighted()


@pytest.mark.parametrize("limit", [10, 9])
def test_losses_below_the_limit_are_all_kept_in_any_order(xp, limit):
    parts = [np.array([3.0, 1.0]), np.array([2.0]), np.arange(6.0)]
    total = summed(xp, parts[::-1], limit=limit)
    losses, w = (to_numpy(x) for x in total.weighted())
    np.testing.assert_array_equal(np.sort(losses), np.sort(np.concatenate(parts)))
    np.testing.assert_array_equal(w, np.ones(9))


def test_weights_below_the_limit_stay_with_their_losses(xp):
    w = xp.asarray([2.0, 0.5])
    losses, weights = summed(xp, [np.array([3.0, 1.0]), np.array([4.0, 2.0])], w=w).weighted()
    assert_agree(losses, [3.0, 1.0, 4.0, 2.0], 0)
    assert_agree(weights, [2.0, 0.5, 2.0, 0.5], 0)


def test_weights_beyond_the_limit_are_repeats(xp):
    rng = np.random.default_rng(1)
    losses, w = np.round(rng.exponential(size=3000), 2), rng.integers(1, 4, 3000)
    weighted = LossSummary.of(xp.asarray(losses), xp.asarray(w.astype(float)), limit=80).weighted()
    repeated = summed(xp, np.array_split(np.repeat(losses, w), 9), limit=80).weighted()
    assert len(to_numpy(weighted[0])) <= 20
    for actual, expected in zip(weighted, repeated, strict=True):
        assert_agree(actual, expected, 0)


@pytest.mark.parametrize("rank", RANKS)
def test_a_binned_quantile_is_a_loss_less_than_two_percent_of_its_tail_too_far(binned, rank):
    losses, w = binned
    assert len(losses) <= LIMIT / 4
    assert w.sum() == N
    quantile = losses[np.searchsorted(np.cumsum(w), rank * N - 1e-6)]
    below, upto = np.mean(quantile > LOSSES), np.mean(quantile >= LOSSES)
    assert below < upto  # it is a loss
    assert rank <= upto + 1e-12
    assert below <= rank + (0.02 * (1 - rank) if 1 - rank > LIMIT / 8 / N else 0)


def test_the_largest_losses_are_kept_one_by_one(binned):
    np.testing.assert_array_equal(binned[0][-LIMIT // 8 :], np.sort(LOSSES)[-LIMIT // 8 :])
    np.testing.assert_array_equal(binned[1][-LIMIT // 8 :], 1)


@pytest.mark.parametrize("delta", [0.2, 0.05, 0.001])
def test_a_binned_threshold_rejects_the_share_that_it_should_or_a_little_less(binned, delta):
    assert delta * 0.98 - 1 / N <= np.mean(Calibration.of(*binned).threshold(delta) < LOSSES) <= delta


def test_binned_p_values_are_at_most_two_percent_too_large(binned):
    asked = np.quantile(LOSSES, RANKS)
    exact = Calibration.of(LOSSES, np.ones(N)).p_value(asked)
    found = Calibration.of(*binned).p_value(asked)
    assert np.all(exact <= found)
    assert np.all(found <= 1.02 * exact)
    assert Calibration.of(*binned).p_value(np.array([100.0]))[0] == pytest.approx(1 / (N + 1))


SHAPES = {
    "exponential": LOSSES,
    "heavy tails": np.exp(5 * np.log(LOSSES)),
    "narrow": 1 + 1e-6 * LOSSES,
    "bounded": np.exp(-LOSSES),
    "signed": LOSSES - 1,
    "few values": np.round(LOSSES),
    "one value": np.ones(N),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_kept_depends_on_the_losses_alone(shape, dtype):
    losses = SHAPES[shape].astype(dtype)
    expected = LossSummary.of(losses, None, limit=LIMIT).weighted()
    shuffled = np.array_split(np.random.default_rng(1).permutation(losses), 7)
    rising = np.array_split(np.sort(losses), [500, 900, 50_000])
    halves = [summed(np, rising[:2]), summed(np, rising[2:])]
    for total in (summed(np, shuffled), summed(np, rising), halves[1] + halves[0]):
        for actual, value in zip(total.weighted(), expected, strict=True):
            np.testing.assert_array_equal(actual, value)


def test_single_precision_counts_every_row_beyond_2_to_the_24():
    many = LossSummary.of(np.ones(8, dtype=np.float32), np.full(8, 2.0**24, dtype=np.float32), limit=4)
    one = LossSummary.of(np.zeros(1, dtype=np.float32), None, limit=4)
    assert float((many + one).weighted()[1].sum()) == 2**27 + 1


def test_a_summary_that_travels_says_the_same(xp):
    total = summed(xp, np.array_split(LOSSES, 20))
    assert len(pickle.dumps(total)) < 20 * LIMIT < LOSSES.nbytes
    for actual, expected in zip(pickle.loads(pickle.dumps(total)).weighted(), total.weighted(), strict=True):
        assert_agree(actual, expected, 0)


def test_a_fit_beyond_the_limit_calibrates_like_one_below(machine, monkeypatch, rows, fresh):
    many = np.vstack([rows, np.random.default_rng(0).permuted(rows, axis=0)])
    exact, held_out = machine().fit(many), machine(threshold="held_out").fit(many)
    monkeypatch.setattr(Chunks, "loss_limit", 1600)
    model = machine().fit_chunks(np.array_split(many, 20))
    assert_agree(model.score_samples(fresh), exact.score_samples(fresh), 1e-10)
    p, q = held_out.p_value(many), machine(threshold="held_out").fit_chunks(np.array_split(many, 20)).p_value(many)
    assert np.max(q - p) > 1e-6  # losses are binned
    assert np.all(p <= q + 1e-9)
    assert np.max(q - p) < 0.05
    if model.threshold != "mean":
        assert abs(np.mean(model.predict(many) == -1) - np.mean(exact.predict(many) == -1)) <= 0.02 * 0.1


def test_fits_beyond_the_limit_are_the_same_whatever_the_chunks(machine, monkeypatch, judgement, rows, fresh):
    monkeypatch.setattr(Chunks, "loss_limit", 160)
    expected = judgement(machine().fit_chunks(np.array_split(rows, 20)), fresh)
    assert_agree(judgement(machine().fit_chunks(np.array_split(rows, 20)), fresh), expected, 0)
    assert_agree(judgement(machine().fit_chunks(np.array_split(rows[::-1], 3)), fresh), expected, 1e-9)
