"""How long anomalous rows wait, and how a stream reacts after a wrong decision about them."""

from dataclasses import replace

import numpy as np
import pytest

from oneclass import Patience, Stream
from oneclass.core.kernels import Laplacian
from oneclass.stream.learning import adopt
from oneclass.stream.trust import adoptable
from oneclass.stream.window import Memory

AWAY = 8.0


def rows(rng, n, shift=0.0, width=1.0):
    return width * rng.normal(size=(n, 4)) + shift


@pytest.fixture
def stream(aakelm):
    """A default stream after 500 rows of one distribution."""
    return Stream(aakelm, window=400).fit(rows(np.random.default_rng(0), 500))


def fed(stream, X, size=25):
    return np.concatenate([stream.watch(X[a : a + size]).labels for a in range(0, len(X), size)])


def kinds(stream):
    return [event.kind for event in stream.events_ if event.kind != "shift"]


def known(number):
    """Fifty rows that are trusted, and others of one kind with these numbers that wait."""
    n = len(number)
    X = np.concatenate([rows(np.random.default_rng(1), 50), rows(np.random.default_rng(2), n, AWAY)])
    strange = np.arange(50 + n) >= 50
    memory = Memory.of(
        X,
        X,
        number=0,
        time=np.zeros(50 + n),
        loss=np.ones(50 + n),
        alarm=strange,
        trust=1.0 - strange,
        boost=np.zeros(50 + n),
    )
    return replace(memory, number=np.concatenate([np.arange(-50, 0), number]), waiting=strange)


def test_a_kind_is_adopted_when_its_evidence_is_that_of_a_fifth_of_the_rows_for_as_long_as_patience_says():
    patience = Patience()
    for number in (np.arange(0, 140, 5), np.arange(0, 280, 8)):  # the second has an eighth of the rows
        seen = int(number[-1]) + 1
        assert patience.evidence(number, seen) >= patience.needed
        found = adoptable(patience, known(number), seen, Laplacian(1.0))
        assert found.kind == "mode"
        assert set(found.rows) <= set(number)
        assert adoptable(patience, known(number[:-3]), int(number[-4]) + 1, Laplacian(1.0)) is None
    burst = np.arange(60, 160)
    assert patience.evidence(burst, 160) < patience.needed
    assert adoptable(patience, known(burst), 160, Laplacian(1.0)) is None


def test_a_rare_kind_of_anomalies_is_not_adopted_with_a_mode():
    mode, rare = np.arange(0, 300, 4), np.arange(2, 300, 40)
    memory = known(np.sort(np.concatenate([mode, rare])))
    strange = np.isin(memory.number, rare)
    memory = replace(memory, Z=np.where(strange[:, None], -memory.Z, memory.Z))
    found = adoptable(Patience(), memory, 300, Laplacian(1.0))
    assert found.kind == "mode"
    assert not set(found.rows) & set(rare)
    assert len(found.rows) > 0.9 * len(mode)


def test_false_alarms_before_a_mode_was_adopted_are_made_up_for_after_it(stream):
    state, settings = stream.state_, stream.settings_
    state = replace(
        state, level=0.01, memory=state.memory.where(state.memory.number > 460, waiting=True, counted=False)
    )
    numbers = state.memory.number[state.memory.waiting]
    assert adopt(settings, state, numbers, "mode", 0.0).level == 0.01
    assert adopt(settings, state, numbers, "change", 0.0).level == settings.delta


def test_equal_rows_are_not_learned_as_a_change_before_patience_ends(stream):
    rng = np.random.default_rng(1)
    assert np.all(fed(stream, rows(rng, 120, AWAY, width=0.3)) == -1)
    assert kinds(stream) == ["strange"]
    fed(stream, rows(rng, 50, AWAY, width=0.3))
    assert kinds(stream) == ["strange", "change"]


def test_rows_of_small_weight_are_forgotten_for_a_new_distribution_too(aakelm):
    rng = np.random.default_rng(0)
    stream = Stream(aakelm, window=400).fit(rows(rng, 300), sample_weight=np.full(300, 0.1))
    fed(stream, rows(rng, 100, AWAY))
    assert kinds(stream) == ["strange", "change"]


def test_after_a_forgotten_change_a_stream_waits_twice_as_long(stream):
    rng = np.random.default_rng(1)
    for burst in range(2):
        fed(stream, rows(rng, 75, (-1) ** burst * AWAY))
        fed(stream, rows(rng, 200))
    assert kinds(stream) == ["strange", "change", "forgotten", "strange"]
    fed(stream, rows(rng, 100, -AWAY))
    assert kinds(stream)[4:] == ["strange", "change"]


def test_a_change_that_is_forgotten_is_a_lesson_too(stream):
    rng = np.random.default_rng(1)
    fed(stream, rows(rng, 200, AWAY))
    stream.forget(stream.events_[-1])
    assert stream.state_.deceived == 1


def test_a_change_that_stays_makes_up_for_those_that_did_not(stream):
    rng = np.random.default_rng(1)
    fed(stream, rows(rng, 75, AWAY))
    fed(stream, rows(rng, 200))
    assert stream.state_.deceived == 1
    fed(stream, rows(rng, 225, AWAY))
    assert stream.state_.deceived == 0
    fed(stream, rows(rng, 50, -AWAY))
    assert kinds(stream)[-1] == "change"


def test_the_rate_asked_for_is_delivered_where_tails_are_heavier_than_thought(aakelm):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3500, 4)) * rng.choice([1.0, 4.0], size=(3500, 1), p=[0.93, 0.07])
    stream = Stream(aakelm, window=500).fit(X[:500])
    assert 0.035 < np.mean(fed(stream, X[500:], size=50)[500:] < 0) < 0.065
