"""Rows without labels are learned only after the losses have changed, and labels allow a larger C."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import oneclass
from oneclass import AAKELM, Nystrom, Patience, Stream

MACHINE = AAKELM(C=1.0, scale="robust", approximation=Nystrom(40))
ALWAYS = Patience(rows=140, trial=45, drift=0)


def learned(stream):
    memory = stream.state_.memory
    return memory.number[memory.trust > 0]


def watched(stream, X, size=50):
    return np.concatenate([stream.watch(X[a : a + size]).labels for a in range(0, len(X), size)])


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def test_rows_like_the_first_ones_leave_the_machine_as_it_was(rng):
    X, new = rng.normal(size=(500, 3)), rng.normal(size=(1500, 3))
    stream, once = Stream(MACHINE, window=600).fit(X), Stream(MACHINE, window=600).fit(X)
    alarms = watched(stream, new) < 0
    assert np.array_equal(stream.score_samples(new), once.score_samples(new))
    assert np.array_equal(learned(stream), np.arange(500))
    assert 0.03 < alarms.mean() < 0.07


def test_after_a_gradual_change_the_accepted_rows_are_learned(rng):
    X = rng.normal(size=(2000, 3)) + 3 * np.maximum(np.arange(2000) - 1000, 0)[:, None] / 1000
    stream = Stream(MACHINE, window=600).fit(X[:500])
    watched(stream, X[500:1000])
    assert learned(stream).max() < 500
    watched(stream, X[1000:])
    state, memory = stream.state_, stream.state_.memory
    assert state.reference is None
    assert learned(stream).max() > 1900
    # What is learned equals a fit on the rows that are kept, with their weights.
    moments = state.plan.moments(memory.X[memory.trust > 0], memory.trust[memory.trust > 0])
    for name, value in vars(moments).items():
        np.testing.assert_allclose(getattr(state.moments, name), value, rtol=1e-8, atol=1e-8)
    assert memory.trust.sum() <= 601
    assert np.all(np.diff(memory.time) >= 0)


def test_labelled_rows_are_learned_also_while_nothing_changes(rng):
    X, new = rng.normal(size=(500, 3)), rng.normal(size=(400, 3))
    labelled, always = Stream(MACHINE, window=600).fit(X), Stream(MACHINE, window=600, patience=ALWAYS).fit(X)
    for stream in (labelled, always):
        for a in range(0, 400, 50):
            stream.learn(new[a : a + 50])
    assert np.array_equal(labelled.score_samples(X), always.score_samples(X))
    assert learned(labelled).max() == 899


def test_a_file_keeps_the_comparison_with_the_first_rows(rng, tmp_path):
    X = rng.normal(size=(1500, 3)) + 2 * np.linspace(-0.5, 1, 1500).clip(0)[:, None]
    stream = Stream(MACHINE, window=600).fit(X[:500]).partial_fit(X[500:700])
    stream.save(tmp_path / "stream.oneclass")
    again = oneclass.load(tmp_path / "stream.oneclass")
    assert again.state_.reference is not None
    for one in (stream, again):
        watched(one, X[700:])
    assert stream.state_.reference is None
    assert np.array_equal(stream.score_samples(X), again.score_samples(X))


def test_rare_dense_anomalies_below_the_threshold_are_not_learned(rng):
    centres, dense = 3 * rng.normal(size=(6, 4)), 3 * rng.normal(size=(3, 4))
    X = centres[rng.integers(6, size=4500)] + rng.normal(size=(4500, 4))
    anomaly = (rng.random(4500) < 0.02) & (np.arange(4500) >= 500)
    X[anomaly] = dense[rng.integers(3, size=anomaly.sum())] + 0.3 * rng.normal(size=(anomaly.sum(), 4))

    def area(patience):
        stream = Stream(window=1000, patience=patience).fit(X[:500])
        scores = np.concatenate([stream.watch(X[a : a + 50]).scores for a in range(500, 4500, 50)])
        return roc_auc_score(anomaly[2500:], -scores[2000:])

    assert area("prompt") > area(ALWAYS) + 0.01


def test_c_follows_the_share_of_labelled_rows(rng):
    X = rng.normal(size=(1600, 3))
    told, silent = Stream(patience=ALWAYS, window=500).fit(X[:500]), Stream(patience=ALWAYS, window=500).fit(X[:500])
    assert told.state_.plan.C == 8
    for a in range(500, 1600, 50):
        told.learn(X[a : a + 50])
        silent.watch(X[a : a + 50])
    assert told.state_.plan.C == 8
    assert silent.state_.plan.C < 1.5
    given = Stream(AAKELM(C=2.0, approximation=Nystrom(40))).fit(X[:500])
    assert given.state_.plan.C == 2


@pytest.mark.parametrize("drift", [-0.1, 0.6, np.nan])
def test_the_smallest_change_of_the_mean_rank_is_checked(drift):
    with pytest.raises(ValueError, match="drift must be a number in"):
        Patience(drift=drift)
