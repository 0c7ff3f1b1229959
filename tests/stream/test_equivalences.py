"""A stream equals a batch: forgetting is weights, a window is its rows, a row taken back never was."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from oneclass import Stream
from oneclass.core.machine import fit_moments

CLOSE = {"rtol": 1e-8, "atol": 1e-10}
PLAIN = {"window": None, "patience": None, "change": None, "every": 1}


def fed(stream, X, size=37):
    for a in range(0, len(X), size):
        stream.partial_fit(X[a : a + size])
    return stream


def assert_same(stream, batch, fresh):
    np.testing.assert_allclose(stream.score_samples(fresh), batch.score_samples(fresh), **CLOSE)


def test_without_forgetting_a_stream_is_a_fit(machine, rows, fresh):
    batch = clone(machine).fit(rows)
    assert_same(fed(Stream(machine, **PLAIN), rows).renew(), batch, fresh)


def test_without_forgetting_a_stream_is_a_fit_of_chunks(machine, rows, fresh):
    batch = clone(machine).fit_chunks([rows[:250], rows[250:]])
    assert_same(fed(Stream(machine, **PLAIN), rows, size=113).renew(), batch, fresh)


def test_the_plan_of_the_first_rows_serves_as_many_as_come(machine, rows, fresh):
    stream = Stream(machine, **PLAIN).fit(rows[:400])
    plan = stream.state_.plan
    fed(stream, rows[400:])
    assert stream.state_.plan is plan
    batch = fit_moments(plan, plan.moments(rows, None))
    np.testing.assert_allclose(-stream.score_samples(fresh), batch.losses(plan.scaler(fresh)), **CLOSE)


def test_forgetting_is_a_refit_with_weights(machine, rows, fresh):
    stream = fed(Stream(machine, **PLAIN | {"half_life": 100.0}), rows).renew()
    weights = 0.5 ** (np.arange(len(rows))[::-1] / 100)
    assert_same(stream, clone(machine).fit(rows, sample_weight=weights), fresh)


def test_forgetting_by_a_clock_is_a_refit_with_weights(aakelm, rows, fresh):
    times = np.cumsum(np.random.default_rng(0).exponential(size=len(rows)))
    stream = Stream(aakelm, **PLAIN | {"half_life": 60.0, "clock": True})
    for a in range(0, len(rows), 37):
        stream.partial_fit(rows[a : a + 37], time=times[a : a + 37])
    weights = 0.5 ** ((times[-1] - times) / 60)
    assert_same(stream.renew(), clone(aakelm).fit(rows, sample_weight=weights), fresh)


def test_a_window_is_a_refit_on_its_rows(machine, rows, fresh):
    stream = fed(Stream(machine, **PLAIN | {"window": 150}), rows).renew()
    assert_same(stream, clone(machine).fit(rows[-150:]), fresh)


def test_rows_that_leave_a_window_have_no_effect_under_one_plan(machine, rows, fresh):
    stream = fed(Stream(machine, **PLAIN | {"window": 300}).fit(rows[:300]), rows[300:550])
    state = stream.state_
    batch = fit_moments(state.plan, state.plan.moments(rows[250:550], None))
    np.testing.assert_allclose(-stream.score_samples(fresh), batch.losses(state.plan.scaler(fresh)), **CLOSE)


def test_a_window_of_time_is_a_refit_on_its_rows(aakelm, rows, fresh):
    times = np.arange(len(rows)) / 10
    stream = Stream(aakelm, **PLAIN | {"window": 20.0, "clock": True})
    for a in range(0, len(rows), 37):
        stream.partial_fit(rows[a : a + 37], time=times[a : a + 37])
    assert_same(stream.renew(), clone(aakelm).fit(rows[times > times[-1] - 20.0]), fresh)


@pytest.mark.parametrize("span", [{"window": 300}, {"window": None, "half_life": 150.0}], ids=["window", "half-life"])
def test_a_row_taken_back_was_never_learned(machine, rows, fresh, span):
    settings = PLAIN | span | {"clock": True}
    times = np.arange(500.0)
    stream = Stream(machine, **settings).fit(rows[:400], time=times[:400])
    with_all = stream.partial_fit(rows[400:500], time=times[400:]).renew().score_samples(fresh)
    stream.tell(np.arange(420, 460), normal=False)
    never = Stream(machine, **settings).fit(rows[:400], time=times[:400])
    y = np.where((np.arange(400, 500) >= 420) & (np.arange(400, 500) < 460), -1, 0)
    never.partial_fit(rows[400:500], y, time=times[400:])
    assert_same(stream.renew(), never.renew(), fresh)
    assert np.max(np.abs(stream.score_samples(fresh) / with_all - 1)) > 1e-3
    stream.tell(np.arange(420, 460), normal=True)
    np.testing.assert_allclose(stream.score_samples(fresh), with_all, **CLOSE)


def test_a_stream_that_was_stopped_continues_with_identical_results(rows, fresh):
    stopped = fed(Stream(window=200).fit(rows[:100]), rows[100:330], size=23)
    through = pickle.loads(pickle.dumps(stopped))
    for stream in (stopped, through):
        fed(stream, rows[330:], size=41)
    np.testing.assert_array_equal(stopped.score_samples(fresh), through.score_samples(fresh))
    assert stopped.events_ == through.events_
    assert stopped.offset_ == through.offset_


def test_calls_of_fewer_rows_than_a_block_wait_for_it(rows, fresh):
    stream = Stream(window=200, every=20).fit(rows[:200])
    before = stream.score_samples(fresh)
    fed(stream, rows[200:219], size=1)
    np.testing.assert_array_equal(stream.score_samples(fresh), before)
    at_once = Stream(window=200, every=20).fit(rows[:200]).partial_fit(rows[200:220])
    assert_same(stream.partial_fit(rows[219:220]), at_once, fresh)


def test_moments_are_carried_to_new_features_exactly_within_their_span(aakelm, rows):
    from dataclasses import replace

    from oneclass.core.features import NystromMap
    from oneclass.stream.plan import carried

    plan = Stream(aakelm, **PLAIN).fit(rows).state_.plan
    fewer = replace(plan, map=NystromMap.of(plan.kernel, plan.map.landmarks[:15], whiten=True))
    moved, unexplained = carried(plan.moments(rows[:500], None), plan, fewer, rows[100:], np.ones(500))
    expected = fewer.moments(rows[:500], None)
    assert unexplained < 1e-8
    for name in ("weight", "f", "t", "ff", "ft", "tt"):
        np.testing.assert_allclose(getattr(moved, name), getattr(expected, name), rtol=1e-5, atol=1e-5)


def test_features_of_removed_rows_are_no_longer_than_features_can_be(aakelm, rows):
    from oneclass.stream.plan import carried

    before = Stream(aakelm, **PLAIN).fit(rows[:200]).state_.plan
    elsewhere = rows[200:] + 30
    after = Stream(aakelm, **PLAIN).fit(elsewhere).state_.plan
    old = before.moments(rows[:200], None)
    moved, _ = carried(old, before, after, elsewhere, np.ones(len(elsewhere)))
    assert np.trace(moved.ff[0]) + moved.weight[0] * moved.f[0] @ moved.f[0] <= 200 * (1 + 1e-9)


@pytest.mark.filterwarnings("ignore::oneclass.DependentRowsWarning")
def test_what_is_carried_to_a_new_plan_is_close_and_says_how_close(aakelm, rows, fresh):
    """Rows that a half-life has removed from memory still count in the moments."""
    long = np.concatenate([rows] * 8)
    stream = fed(Stream(aakelm, **PLAIN | {"half_life": 300.0}), long, size=200).renew()
    weights = 0.5 ** (np.arange(len(long))[::-1] / 300)
    batch = clone(aakelm).fit(long[-1200:], sample_weight=weights[-1200:])
    state = stream.state_
    assert len(state.memory) < len(long)
    assert 0 < state.carried < 0.05
    assert state.weight == pytest.approx(np.sum(weights), rel=1e-9)
    np.testing.assert_allclose(stream.score_samples(fresh), batch.score_samples(fresh), rtol=0.1)
