import pickle
from functools import reduce
from operator import add

import numpy as np
import pytest

from oneclass.core.arrays import to_numpy
from oneclass.core.quantiles import LossSummary
from oneclass.core.threshold import conformal, conformal_p_value
from oneclass.engines import Chunks
from oracle.comparison import assert_agree

pytest.importorskip("datasketches")

N, LIMIT = 100_000, 1000
LOSSES = np.random.default_rng(0).exponential(size=N)
RANKS = np.array([0.1, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999])


def summed(xp, parts, *, limit=LIMIT, w=None):
    return reduce(add, [LossSummary.of(xp.asarray(part), w, limit=limit) for part in parts])


@pytest.fixture(scope="module")
def sketched():
    """Losses and weights that stand for all, from chunks beyond the limit."""
    return summed(np, np.array_split(LOSSES, 37)).weighted()


def rank_error(p):
    """Five standard errors of the sketch and one step of the ranks that it is asked for: 2 % of the tail, and a row."""
    return 0.02 * p + 2 / N


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


def test_weights_beyond_the_limit_are_refused(xp):
    w = xp.asarray([2.0, 0.5])
    with pytest.raises(ValueError, match="weighted rows beyond 3 are not supported"):
        summed(xp, [np.ones(2), np.ones(2)], limit=3, w=w)


def test_sketched_quantiles_are_right_to_two_percent_of_their_tail(sketched):
    losses, w = sketched
    assert len(losses) < 10_000
    assert w.sum() == pytest.approx(N)
    assert np.all(np.diff(losses) >= 0)
    reached = np.cumsum(w) / N
    for rank in RANKS:
        quantile = losses[np.searchsorted(reached, rank - 1e-12)]
        # The sketch keeps single precision.
        below = np.mean(quantile * (1 - 1e-6) > LOSSES), np.mean(quantile * (1 + 1e-6) >= LOSSES)
        assert below[0] - rank_error(1 - rank) <= rank <= below[1] + rank_error(1 - rank)


def test_the_largest_loss_of_all_is_kept(sketched):
    assert sketched[0][-1] == pytest.approx(LOSSES.max(), rel=1e-6)


@pytest.mark.parametrize("delta", [0.2, 0.05, 0.001])
def test_a_sketched_threshold_rejects_the_share_that_it_should(sketched, delta):
    assert abs(np.mean(conformal(*sketched, delta=delta) < LOSSES) - delta) <= rank_error(delta)


def test_sketched_p_values_are_the_p_values_to_two_percent(sketched):
    asked = np.quantile(LOSSES, RANKS)
    exact = conformal_p_value(asked, LOSSES, np.ones(N))
    sketch = conformal_p_value(asked, *sketched)
    assert np.all(np.abs(sketch - exact) <= rank_error(exact))
    far = conformal_p_value(np.array([100.0]), *sketched)
    assert far[0] == pytest.approx(1 / (N + 1))


def test_sketches_merge_in_any_order_within_the_same_error():
    order = np.random.default_rng(1).permutation(N)
    for parts in (np.array_split(LOSSES[order], 7), np.array_split(LOSSES, [500, 900, 50_000])[::-1]):
        halves = [summed(np, parts[:2]), summed(np, parts[2:])]
        losses, w = (halves[1] + halves[0]).weighted()
        assert w.sum() == pytest.approx(N)
        assert abs(np.mean(conformal(losses, w, delta=0.05) < LOSSES) - 0.05) <= rank_error(0.05)


def test_a_summary_that_travels_says_the_same(xp):
    total = summed(xp, np.array_split(LOSSES[:5000], 4))
    assert total.losses.shape[0] < 5000
    for actual, expected in zip(pickle.loads(pickle.dumps(total)).weighted(), total.weighted(), strict=True):
        assert_agree(actual, expected, 0)


def test_a_fit_beyond_the_limit_calibrates_like_one_below(machine, monkeypatch, rows, fresh):
    many = np.vstack([rows, rows + 0.1])
    exact = machine().fit(many)
    monkeypatch.setattr(Chunks, "loss_limit", 150)
    model = machine().fit_chunks(np.array_split(many, 20))
    assert_agree(model.score_samples(fresh), exact.score_samples(fresh), 1e-10)
    p, q = exact.p_value(many), model.p_value(many)
    assert np.max(np.abs(p - q)) > 0  # it is a sketch
    assert np.all(np.abs(p - q) <= 0.02 * p + 2 / len(many))
    if model.threshold != "mean":
        rejected = np.mean(model.predict(many) == -1), np.mean(exact.predict(many) == -1)
        assert abs(rejected[0] - rejected[1]) <= 0.02 * 0.1 + 2 / len(many)
