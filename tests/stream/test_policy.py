"""The policy: bursts are sat out, changes are adopted, false alarms are kept at the rate asked for."""

import math

import numpy as np
import pytest
from scipy.signal import lfilter

from oneclass import Patience, Stream
from oneclass.stream.policy import POLICY
from oneclass.stream.trust import burst_lengths, in_bursts, neighbor_support, quantile, soft_trust

AWAY = 8.0


def normal(rng, n, shift=0.0):
    return rng.normal(size=(n, 4)) + shift


@pytest.fixture
def stream(aakelm):
    """A stream after 500 rows of one distribution, which learns another only after its patience."""
    return Stream(aakelm, window=400, patience=140).fit(normal(np.random.default_rng(0), 500))


def alarms(stream, X, size=25):
    return np.concatenate([stream.watch(X[a : a + size]).labels for a in range(0, len(X), size)]) < 0


def kinds(stream):
    return [event.kind for event in stream.events_ if event.kind != "shift"]


def test_a_burst_is_not_learned(stream):
    rng = np.random.default_rng(1)
    burst = alarms(stream, normal(rng, 120, AWAY))
    assert burst.mean() > 0.95
    alarms(stream, normal(rng, 300))
    assert kinds(stream) == ["strange"]
    assert np.all(stream.predict(normal(rng, 100, AWAY)) < 0)


def test_a_change_is_recovered_from_when_patience_ends(stream):
    rng = np.random.default_rng(1)
    alarms(stream, normal(rng, 150, AWAY))
    assert kinds(stream) == ["strange", "change"]
    assert alarms(stream, normal(rng, 300, AWAY)).mean() < 0.1


def test_a_change_differs_from_a_new_mode_also_after_anomalies(stream):
    rng = np.random.default_rng(1)
    strange = rng.random(200) < 0.05
    alarms(stream, np.where(strange[:, None], rng.uniform(-9, 9, size=(200, 4)), normal(rng, 200)))
    alarms(stream, normal(rng, 150, AWAY))
    assert kinds(stream) == ["strange", "change"]
    alarms(stream, normal(rng, 200, AWAY))
    assert kinds(stream) == ["strange", "change"]


@pytest.fixture
def prompt(aakelm):
    """The default: a change after which no row resembles the earlier rows is learned on trial."""
    return Stream(aakelm, window=400).fit(normal(np.random.default_rng(0), 500))


def test_a_change_after_which_no_row_resembles_the_earlier_rows_is_learned_soon(prompt):
    rng = np.random.default_rng(1)
    alarms(prompt, normal(rng, 50, AWAY))
    assert kinds(prompt) == ["strange", "change"]
    assert alarms(prompt, normal(rng, 300, AWAY)).mean() < 0.1
    assert kinds(prompt) == ["strange", "change"]
    assert prompt.state_.trial is None


def test_a_burst_beside_normal_rows_is_not_learned_soon(prompt):
    rng = np.random.default_rng(1)
    old = np.arange(120) % 10 == 4
    found = alarms(prompt, np.where(old[:, None], 0.1 * normal(rng, 120), normal(rng, 120, AWAY)))
    np.testing.assert_array_equal(found, ~old)
    assert kinds(prompt) == ["strange"]


@pytest.mark.parametrize("span", [{"window": 400}, {"window": None, "half_life": 300.0}, {"window": None}])
def test_a_burst_that_was_learned_on_trial_is_undone_exactly(aakelm, span):
    rng = np.random.default_rng(1)
    opening, probe = normal(rng, 500), np.concatenate([normal(rng, 50), normal(rng, 50, AWAY)])
    burst, after = normal(rng, 100, AWAY), normal(rng, 25)
    tried, patient = (Stream(aakelm, every=25, patience=p, **span).fit(opening) for p in ("prompt", 140))
    for stream in (tried, patient):
        alarms(stream, burst)
    assert np.mean(tried.predict(probe[50:]) > 0) > 0.8
    for stream in (tried, patient):
        alarms(stream, after)
    assert kinds(tried) == ["strange", "change", "forgotten"]
    assert set(range(500, 550)) <= set(tried.events_[-1].rows) <= set(range(500, 625))
    np.testing.assert_array_equal(tried.score_samples(probe), patient.score_samples(probe))
    assert tried.offset_ == patient.offset_
    assert np.all(tried.predict(probe[50:]) < 0)


def test_a_change_that_is_forgotten_while_on_trial_takes_all_with_it_that_it_taught(aakelm):
    rng = np.random.default_rng(1)
    opening, burst = normal(rng, 500), normal(rng, 100, AWAY)
    tried, patient = (Stream(aakelm, every=25, patience=p).fit(opening) for p in ("prompt", 140))
    for stream in (tried, patient):
        alarms(stream, burst)
    tried.forget(next(event for event in tried.events_ if event.kind == "change"))
    np.testing.assert_array_equal(tried.score_samples(burst), patient.score_samples(burst))
    assert kinds(tried) == ["strange", "change", "forgotten"]


def test_labels_given_during_a_trial_stay_after_it(aakelm):
    rng = np.random.default_rng(1)
    opening, burst, after = normal(rng, 500), normal(rng, 75, AWAY), normal(rng, 25)
    tried, patient = (Stream(aakelm, every=25, patience=p).fit(opening) for p in ("prompt", 140))
    for stream in (tried, patient):
        alarms(stream, burst)
        stream.tell([510, 511, 570], normal=[True, True, False])
        alarms(stream, after)
    assert tried.state_.trial is None
    np.testing.assert_array_equal(tried.score_samples(burst), patient.score_samples(burst))


def test_longer_patience_sits_out_a_longer_attack(aakelm):
    rng = np.random.default_rng(1)
    stream = Stream(aakelm, window=400, patience=1500).fit(normal(rng, 500))
    attack = rng.random(1000) < 0.9
    X = np.where(attack[:, None], normal(rng, 1000, AWAY), normal(rng, 1000))
    found = alarms(stream, X)
    assert found[attack].mean() > 0.95
    assert found[~attack].mean() < 0.1
    assert kinds(stream) == ["strange"]


def test_a_kind_that_keeps_coming_becomes_a_mode_and_a_rare_one_does_not(aakelm):
    rng = np.random.default_rng(2)
    stream = Stream(aakelm, window=600).fit(normal(rng, 500))
    second, rare = AWAY, -AWAY
    shift = rng.choice([0.0, second, rare], p=[0.74, 0.24, 0.02], size=1200)
    alarms(stream, normal(rng, 1200, shift[:, None]))
    assert "mode" in kinds(stream)
    assert np.mean(stream.predict(normal(rng, 200, second)) > 0) > 0.8
    assert np.all(stream.predict(normal(rng, 200, rare)) < 0)


def test_scattered_anomalies_are_never_learned(stream):
    rng = np.random.default_rng(3)
    strange = rng.random(1500) < 0.03
    X = np.where(strange[:, None], rng.uniform(-12, 12, size=(1500, 4)), normal(rng, 1500))
    alarms(stream, X)
    assert kinds(stream) == []
    memory = stream.state_.memory
    held = np.isin(memory.number - 500, np.flatnonzero(strange))
    assert held.sum() > 10
    assert np.sum(memory.trust[held]) < 0.1 * held.sum()


def test_initial_rows_are_learned_by_fit_and_screened_by_watch(aakelm):
    rng = np.random.default_rng(3)
    X = normal(rng, 200)
    X[[20, 90, 150]] += AWAY
    assert np.all(Stream(aakelm).fit(X).state_.memory.trust == 1)
    memory = Stream(aakelm).partial_fit(X).state_.memory
    assert set(np.flatnonzero(memory.trust == 0)) >= {20, 90, 150}
    assert set(np.flatnonzero(memory.waiting)) == set(np.flatnonzero(memory.trust == 0))
    assert np.mean(memory.trust) > 0.95
    told = np.zeros(200)
    told[20] = 1
    assert Stream(aakelm).partial_fit(X, told).state_.memory.trust[20] == 1


@pytest.mark.parametrize("delta", [0.02, 0.1])
def test_the_rate_asked_for_is_delivered_under_drift(aakelm, delta):
    rng = np.random.default_rng(4)
    n = 4000
    X = normal(rng, n, np.linspace(0, 4, n)[:, None]) * np.linspace(1, 2, n)[:, None]
    stream = Stream(aakelm, window=400, delta=delta).fit(X[:500])
    rate = alarms(stream, X[500:]).mean()
    frozen = np.mean(Stream(aakelm, window=400, delta=delta).fit(X[:500]).predict(X[500:]) < 0)
    assert abs(rate - delta) < 0.3 * delta
    assert frozen > 3 * delta


#: One column, by distribution: the losses have different tails.
SINGLE = {
    "normal": lambda rng, t: rng.normal(size=(len(t), 1)),
    "exponential": lambda rng, t: rng.exponential(size=(len(t), 1)),
    "uniform": lambda rng, t: rng.uniform(-1.7, 1.7, size=(len(t), 1)),
    "ageing": lambda rng, t: rng.normal(size=(len(t), 1)) + t[:, None] / 1000,
}


@pytest.mark.parametrize("size", [50, 1000])
def test_the_rows_of_a_call_change_neither_the_rate_nor_what_is_found(aakelm, size):
    rng = np.random.default_rng(0)
    X, odd = rng.normal(size=(16_000, 4)), rng.random(16_000) < 0.005
    X[odd] += rng.choice([-8.0, 8.0], size=(odd.sum(), 4))
    stream = Stream(aakelm, window=1000).fit(X[:1000])
    alarms = np.concatenate([stream.watch(X[i : i + size]).labels < 0 for i in range(1000, len(X), size)])
    assert 0.04 < alarms[~odd[1000:]].mean() < 0.06
    assert alarms[odd[1000:]].mean() > 0.9


@pytest.mark.parametrize("world", SINGLE)
def test_a_single_column_has_about_the_rate_asked_for(world):
    X = SINGLE[world](np.random.default_rng(10), np.arange(3000))
    assert 0.04 < alarms(Stream().fit(X[:500]), X[500:], size=50).mean() < 0.065


def autoregressive(rng, n, d):
    """Normal columns with a correlation of 0.9 between neighboring rows."""
    return lfilter([1.0], [1.0, -0.9], np.sqrt(1 - 0.81) * rng.normal(size=(n + 100, d)), axis=0)[100:]


#: Rows with heavy tails, with dependence, or both, and the delta asked for.
HARD = {
    "dependent, 1 column": (0.05, lambda rng, n: autoregressive(rng, n, 1)),
    "dependent, 3 columns": (0.05, lambda rng, n: autoregressive(rng, n, 3)),
    "lognormal": (0.05, lambda rng, n: np.exp(rng.normal(size=(n, 2)))),
    "volatile": (0.05, lambda rng, n: np.exp(autoregressive(rng, n, 2)) * rng.normal(size=(n, 2))),
    "dependent at 1 %": (0.01, lambda rng, n: autoregressive(rng, n, 1)),
    "one column at 1 %": (0.01, lambda rng, n: rng.normal(size=(n, 1))),
}


@pytest.mark.parametrize("rows", HARD)
def test_the_rate_is_delivered_for_heavy_tails_and_dependent_rows(rows):
    delta, make = HARD[rows]
    X = make(np.random.default_rng(11), 3500)
    found = alarms(Stream(delta=delta).fit(X[:500]), X[500:], size=50).mean()
    assert 0.8 * delta < found < (1.3 if delta == 0.05 else 2.0) * delta


@pytest.mark.parametrize("world", SINGLE)
def test_anomalies_scattered_in_a_single_column_are_found_though_its_opening_has_some(world):
    rng = np.random.default_rng(10)
    X, strange = SINGLE[world](rng, np.arange(3000)), rng.random(3000) < 0.02
    X[strange] += (rng.choice([-1, 1], size=3000) * rng.uniform(5, 9, size=3000))[strange, None]
    found = alarms(Stream().partial_fit(X[:500]), X[500:], size=50)
    assert found[strange[500:]].mean() > 0.95
    assert 0.03 < found[~strange[500:]].mean() < 0.085


def test_events_name_the_columns_that_moved_and_the_row(stream):
    rng = np.random.default_rng(5)
    X = normal(rng, 150)
    X[:, 2] += AWAY
    seen = []
    stream.set_params(on_event=seen.append)
    alarms(stream, X)
    assert tuple(seen) == stream.events_
    change = next(event for event in seen if event.kind == "change")
    assert change.row == 650
    assert set(change.rows) <= set(range(500, 650))
    assert len(change.rows) >= 140
    assert change.columns[0].column == 2
    assert change.columns[0].after - change.columns[0].before == pytest.approx(AWAY, abs=1)
    assert change.evidence >= Patience().needed


def test_an_adoption_is_taken_back_exactly(aakelm):
    rng = np.random.default_rng(6)
    X, probe = normal(rng, 150, AWAY), np.concatenate([normal(rng, 50), normal(rng, 50, AWAY)])
    stream = Stream(aakelm, window=400, patience=140).fit(normal(rng, 500))
    alarms(stream, X)
    change = next(event for event in stream.events_ if event.kind == "change")
    assert np.mean(stream.predict(probe[50:]) > 0) > 0.8
    stream.forget(change)
    assert stream.events_[-1].kind == "forgotten"
    assert np.all(stream.predict(probe[50:]) < 0)
    assert np.mean(stream.predict(probe[:50]) > 0) > 0.85
    state = stream.state_
    memory = state.memory[state.memory.trust > 0]
    assert not np.any(np.isin(memory.number, change.rows))
    from oneclass.core.machine import fit_moments

    never = fit_moments(state.plan, state.plan.moments(memory.X, memory.trust))
    np.testing.assert_allclose(-stream.score_samples(probe), never.losses(state.plan.scaler(probe)), rtol=1e-8)


def test_only_adoptions_are_forgotten(stream):
    rng = np.random.default_rng(6)
    alarms(stream, normal(rng, 60, AWAY))
    with pytest.raises(ValueError, match="Stream: event must be of kind 'change', 'mode' or 'wider'"):
        stream.forget(stream.events_[-1])


def test_rows_labelled_as_normal_are_learned_whatever_their_scores(stream):
    rng = np.random.default_rng(7)
    probe = normal(rng, 100, AWAY)
    assert np.all(stream.predict(probe) < 0)
    stream.learn(normal(rng, 100, AWAY), normal=True)
    assert np.mean(stream.predict(probe) > 0) > 0.8
    assert kinds(stream) == []


def test_rows_labelled_as_anomalies_are_never_learned(stream):
    rng = np.random.default_rng(7)
    for _ in range(10):
        stream.learn(normal(rng, 50, AWAY), normal=False)
    assert kinds(stream) == []
    assert np.all(stream.predict(normal(rng, 100, AWAY)) < 0)
    assert np.mean(stream.predict(normal(rng, 400)) > 0) > 0.9


def test_labels_that_come_later_are_labels_that_came_at_once(aakelm):
    rng = np.random.default_rng(8)
    opening, X, probe = normal(rng, 400), normal(rng, 50, AWAY), normal(rng, 30, AWAY)
    late = Stream(aakelm, window=None, patience=140).fit(opening)
    rows = late.watch(X).rows
    strange = late.score_samples(probe)
    late.tell(rows, normal=True)
    soon = Stream(aakelm, window=None).fit(opening).learn(X, normal=True)
    np.testing.assert_allclose(late.score_samples(probe), soon.renew().score_samples(probe), rtol=1e-8)
    assert np.all(late.score_samples(probe) > strange)


def test_labels_of_rows_that_wait_to_be_learned_are_used(aakelm):
    rng = np.random.default_rng(8)
    opening, X, probe = normal(rng, 400), normal(rng, 49, AWAY), normal(rng, 30, AWAY)
    late = Stream(aakelm, every=50).fit(opening)
    late.tell(late.watch(X).rows, normal=True)
    late.partial_fit(opening[:1])
    soon = Stream(aakelm, every=50).fit(opening).partial_fit(np.concatenate([X, opening[:1]]), np.r_[np.ones(49), 0])
    np.testing.assert_allclose(late.score_samples(probe), soon.score_samples(probe), rtol=1e-8)


def test_without_patience_all_rows_are_learned(aakelm):
    rng = np.random.default_rng(9)
    stream = Stream(aakelm, patience=None).fit(normal(rng, 400))
    alarms(stream, normal(rng, 50, AWAY))
    assert np.all(stream.state_.memory.trust == 1)
    assert kinds(stream) == []


def test_a_short_burst_lowers_the_level_when_it_is_over_and_a_long_one_does_not(aakelm):
    levels = {}
    for n in (0, 25, 80):
        rng = np.random.default_rng(1)
        stream = Stream(aakelm, window=400, patience=140, every=20).fit(normal(rng, 500))
        stream.partial_fit(normal(rng, n, AWAY)[:n]) if n else None
        during = stream.level_
        alarms(stream, np.zeros((100, 4)), size=20)
        levels[n] = during, stream.level_
    assert levels[25][0] > levels[25][1] < levels[0][1] - 0.1
    assert levels[80][1] > levels[0][1] - 0.03


def test_alarms_that_are_confirmed_do_not_lower_the_level(aakelm):
    rng = np.random.default_rng(1)
    stream = Stream(aakelm, window=400, patience=140, every=20).fit(normal(rng, 500))
    burst = stream.watch(normal(rng, 25, AWAY))
    alarms(stream, np.zeros((100, 4)), size=20)
    low = stream.level_
    stream.tell(burst.rows[burst.labels < 0], normal=False)
    assert low < 0 < 0.03 < stream.level_ <= 0.06


def border(stream, way):
    """How far along a direction rows are accepted."""
    steps = np.linspace(0, 20, 400)
    return steps[np.argmax(stream.predict(steps[:, None] * way) < 0)]


@pytest.mark.parametrize(("share", "largest"), [(0.0, 0.5), (0.05, 2.0), (0.2, 4.0)])
def test_an_attacker_who_creeps_moves_the_border_of_accepted_rows_slowly(aakelm, share, largest):
    rng, way = np.random.default_rng(0), np.full(4, 0.5)
    stream = Stream(aakelm, window=1000).fit(normal(rng, 1000))
    first = border(stream, way)
    for _ in range(20):
        X = normal(rng, 50)
        X[rng.random(50) < share] = 0.98 * border(stream, way) * way
        stream.partial_fit(X)
    assert border(stream, way) - first < largest


# The parts of the policy.


def held_row_by_row(before, alarm):
    """Which rows belong to runs of alarms, by checking every run."""
    seq = [*before[max(0, len(before) - POLICY.stretch + 1) :], *alarm]
    n = len(seq)
    inside = np.zeros(n, dtype=bool)
    for i in range(n - POLICY.stretch + 1):
        if sum(seq[i : i + POLICY.stretch]) > POLICY.stretch / 2:
            inside[i : i + POLICY.stretch] = True
    held, i = inside.copy(), 0
    while i < n:
        j = i
        while j < n and inside[j]:
            j += 1
        places = [k for k in range(i, j) if seq[k]]
        for k in range(i, j):
            held[k] = places[0] <= k <= places[-1]
        i = j + 1
    return held[n - len(alarm) :]


def test_stretches_are_found_as_if_row_by_row():
    rng = np.random.default_rng(0)
    for _ in range(200):
        before = rng.random(rng.integers(0, 40)) < rng.random()
        alarm = (rng.random(80) < np.repeat(rng.random(8), 10))[: rng.integers(1, 80)]
        np.testing.assert_array_equal(in_bursts(before, alarm), held_row_by_row(before, alarm))


def test_the_length_of_a_burst_is_known_when_it_is_over():
    alarm = np.zeros(120, dtype=bool)
    alarm[10:35] = alarm[70:100] = True
    assert burst_lengths(alarm).tolist() == [0] * 10 + [25] * 25 + [0] * 35 + [30] * 30 + [0] * 20
    assert burst_lengths(alarm[:115]).tolist() == [0] * 10 + [25] * 25 + [0] * 35 + [np.inf] * 30 + [0] * 15


def test_soft_trust_is_one_below_the_threshold_and_falls_beyond():
    losses = np.array([0.0, 1.0, 2.0, 4.0, np.inf])
    np.testing.assert_allclose(soft_trust(losses, 1.0, 3.0), [1, 1, 1 / 8, 1 / 64, 0])


def test_quantiles_of_ordered_losses_are_those_of_numpy():
    losses = np.sort(np.random.default_rng(0).exponential(size=57))
    for share in (0.0, 0.1, 0.75, 0.9, 1.0):
        assert quantile(losses, share) == pytest.approx(np.quantile(losses, share), rel=1e-12)
    assert quantile(losses[:1], 0.75) == losses[0]


def test_backing_is_the_vote_of_the_ten_nearest():
    from oneclass import RBF

    rng = np.random.default_rng(0)
    known, trusted = rng.normal(size=(300, 3)), rng.random(300) < 0.6
    Z = rng.normal(size=(50, 3))
    nearest = np.argsort(np.sum((Z[:, None] - known) ** 2, axis=2), axis=1)[:, :10]
    expected = np.minimum(1.0, 2 * trusted[nearest].mean(axis=1))
    np.testing.assert_allclose(neighbor_support(RBF(1.0), Z, known, trusted), expected)


def test_evidence_grows_with_lasting_changes_not_with_single_bursts():
    patience = Patience(rows=140, share=0.05)
    whole = patience.evidence(np.arange(140), 140)
    assert whole == pytest.approx(0.15 * 140)
    fifth = patience.evidence(np.arange(0, 140, 5), 140)
    assert fifth == pytest.approx(whole)
    assert patience.evidence(np.arange(120), 170) < patience.needed
    assert patience.evidence(np.arange(0, 5000, 20), 5000) < patience.needed
    assert patience.evidence(np.empty(0, dtype=int), 100) == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rows": 0}, r"Patience: rows must be a number in \(0, inf\], got 0"),
        ({"rows": math.nan}, "Patience: rows must be"),
        ({"share": 0.2}, r"Patience: share must be a number in \(0, 0.2\), got 0.2"),
        ({"steepness": -1}, "Patience: steepness must be"),
        ({"trial": 0}, r"Patience: trial must be a number in \(0, inf\], got 0"),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Patience(**settings)
