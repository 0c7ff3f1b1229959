"""The test of change keeps its level, and does not depend on how rows were cut up."""

import math

import numpy as np
import pytest

from oneclass import Stream
from oneclass.stream import Martingale
from oneclass.stream.events import Bets


def slow_ranks(losses):
    """Share of the losses so far that are larger, one loss at a time."""
    return [np.mean(np.array(losses[: i + 1]) > loss) for i, loss in enumerate(losses)]


def test_ranks_are_those_of_each_loss_among_all_before_it():
    from oneclass.stream.events import _ranks

    losses = np.random.default_rng(0).integers(50, size=300).astype(float)
    for first in (0, 37, 299):
        low = np.array(slow_ranks(losses.tolist()))[first:]
        ranks = _ranks(losses, first, first)
        ties = [np.sum(losses[: i + 1] == losses[i]) / (i + 1) for i in range(first, 300)]
        assert np.all(low <= ranks)
        assert np.all(ranks < low + ties)


def test_the_level_is_kept_over_exchangeable_losses():
    rng, level = np.random.default_rng(0), 0.1
    test = Martingale(level=level, epoch=400)
    rejected = sum(test.bet(Bets(seen=400 * i), rng.exponential(size=400))[1] is not None for i in range(300))
    assert rejected / 300 < level + 3 * math.sqrt(level * (1 - level) / 300)


def test_a_change_is_found_soon_in_either_direction():
    rng, test = np.random.default_rng(0), Martingale(level=1e-4)
    for factor in (0.2, 5.0):
        bets, rejected = test.bet(test.start(), rng.exponential(size=600))
        assert rejected is None
        assert test.bet(bets, factor * rng.exponential(size=120))[1] > math.log(1e4)


def test_cuts_do_not_change_the_fortune():
    losses = np.random.default_rng(0).exponential(size=500)
    whole = Bets().after(losses)
    parts = Bets()
    for a, b in ((0, 1), (1, 14), (14, 200), (200, 331), (331, 500)):
        parts = parts.after(losses[a:b])
    np.testing.assert_allclose(parts.money, whole.money)
    assert parts.fortune == pytest.approx(whole.fortune)


def test_memory_is_no_longer_than_an_epoch():
    test = Martingale(epoch=100)
    bets, _ = test.bet(test.start(), np.random.default_rng(0).random(1050))
    assert len(bets.losses) == 50
    assert bets.seen == 1050


def test_a_stream_tells_of_shifts_it_does_not_decide_on(aakelm):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(600, 3)), 1.5 * rng.normal(size=(300, 3))])
    tested, silent = (Stream(aakelm, window=300, change=c).fit(X[:200]) for c in (Martingale(0.01), None))
    for stream in (tested, silent):
        for a in range(200, 900, 50):
            stream.partial_fit(X[a : a + 50])
    shifts = [event for event in tested.events_ if event.kind == "shift"]
    assert any(600 < event.row <= 800 for event in shifts)
    assert [event.kind for event in silent.events_ if event.kind == "shift"] == []
    np.testing.assert_array_equal(tested.score_samples(X), silent.score_samples(X))


def test_a_distribution_that_is_still_being_learned_is_no_change(aakelm):
    rejected = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        stream = Stream(aakelm, window=400, change=Martingale(0.01)).fit(rng.normal(size=(100, 3)))
        for _ in range(15):
            stream.partial_fit(rng.normal(size=(100, 3)))
        rejected += any(event.kind == "shift" for event in stream.events_)
    assert rejected <= 1  # all eight, if it bets from the first row on


def test_one_machine_gives_the_losses_of_an_epoch(aakelm):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 3))
    stream = Stream(aakelm, window=300, change=Martingale(0.01, epoch=400)).fit(X[:300])
    frozen, expected = stream.machine_, []
    for a in range(300, 700, 100):
        stream.partial_fit(X[a : a + 100])
        expected.append(frozen.losses(frozen.plan.scaler(X[a : a + 100])))
        if a < 600:
            assert stream.state_.frozen is frozen
            np.testing.assert_allclose(stream.state_.bets.losses, np.concatenate(expected), rtol=1e-12)
    assert stream.state_.frozen is None  # the next epoch has a machine of its own
    stream.partial_fit(X[700:800])
    assert stream.state_.frozen is not frozen


@pytest.mark.parametrize("settings", [{"level": 0}, {"level": 1.5}, {"epoch": 1}])
def test_a_test_that_makes_no_sense_is_refused(settings):
    with pytest.raises(ValueError, match="Martingale: "):
        Martingale(**settings)
