"""Rows labelled as anomalies become known outliers of a stream."""

import numpy as np
import pytest

from oneclass import Stream, load
from oneclass.core.known import COST_SHARE, fit_codes

RNG = np.random.default_rng(0)
START, LATER = RNG.normal(size=(200, 3)), RNG.normal(size=(50, 3))
SHIFT = np.array([2.2, 2.2, 0.0])
ODD = 0.5 * RNG.normal(size=(4, 3)) + SHIFT
FRESH = np.concatenate([RNG.normal(size=(60, 3)), 0.5 * RNG.normal(size=(60, 3)) + SHIFT])


def watched():
    """A stream that has seen anomalies, and their row numbers."""
    stream = Stream(window=300).fit(START)
    rows = np.concatenate([LATER, ODD])
    return stream, stream.watch(rows).rows[len(LATER) :]


def told():
    stream, rows = watched()
    return stream.tell(rows, False)


def test_known_outliers_multiply_losses_and_never_lower_them():
    stream = told()
    state = stream.state_
    np.testing.assert_array_equal(state.anomalies.X, ODD)
    machine, Z = state.machine, state.plan.scaler(FRESH)
    factor = -stream.score_samples(FRESH) / machine.losses(Z)
    assert (factor >= 1 - 1e-12).all()
    assert np.median(factor[60:]) > 2
    assert np.median(factor[:60]) == pytest.approx(1)


def test_calibration_is_held_out_from_the_known_outliers_too():
    stream, rows = watched()
    before = stream.state_.memory
    state = stream.tell(rows, False).state_
    memory, kept = state.memory, np.flatnonzero(state.memory.trust > 0)
    w = memory.trust[kept]
    plain = dict(zip(before.number, before.loss, strict=True))
    rows, C = state.plan.scaler(ODD), COST_SHARE * state.plan.C
    outside = []
    for i in (0, 7, 100):  # fits without the row, whose weights differ by one row
        Z = np.delete(memory.Z[kept], i, axis=0)
        both, codes = fit_codes(state.plan.kernel, Z, np.delete(w, i), rows, np.ones(len(rows)), C=C)
        outside.append(float((state.plan.kernel(memory.Z[kept[i : i + 1]], both) @ codes.alpha)[0]))
    boost = state.known.loss.spread * state.known.counted(np.array(outside))
    np.testing.assert_allclose(memory.boost[kept[[0, 7, 100]]], boost, atol=2e-3)
    same = [plain[number] for number in memory.number]
    np.testing.assert_allclose(memory.loss, same * np.exp(memory.boost), rtol=1e-9)


def test_a_label_can_be_taken_back():
    stream, rows = watched()
    assert stream.tell(rows, False).tell(rows, True).state_.known is None
    assert (stream.state_.memory.boost == 0).all()


def test_known_outliers_survive_a_file_and_later_rows(tmp_path):
    stream = told()
    stream.save(tmp_path / "stream.oneclass")
    loaded, more = load(tmp_path / "stream.oneclass"), RNG.normal(size=(150, 3))
    np.testing.assert_array_equal(loaded.score_samples(FRESH), stream.score_samples(FRESH))
    for one in (loaded, stream):
        one.watch(more)
        one.renew()
        assert one.state_.known.rows.shape == (4, 3)
    np.testing.assert_allclose(loaded.score_samples(FRESH), stream.score_samples(FRESH))


def test_explanations_say_that_a_row_is_like_a_known_outlier():
    stream, _ = watched()
    again = stream.watch(np.repeat(ODD, 5, axis=0) + 0.01 * RNG.normal(size=(20, 3))).rows
    found = stream.tell(again, False).explain(np.concatenate([ODD[1:2], [[-9.0, 0.0, 0.0]]]))
    assert found.causes()[0].startswith("like known outlier")
    assert 6 <= found.known.numbers[0] <= 10
    assert found.causes()[1] == "unlike the normal rows"


def test_labels_keep_the_rate_and_find_more_anomalies_of_the_kind():
    alarms, found, found_before = [], [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        stream, plain = (Stream(window=400).fit(rng.normal(size=(300, 3))) for _ in range(2))
        for t in range(40):
            X, odd = rng.normal(size=(25, 3)), rng.random(25) < 0.06
            X[odd] = 0.5 * rng.normal(size=(odd.sum(), 3)) + SHIFT
            verdict = stream.watch(X)
            flagged = verdict.labels == -1
            if flagged.any():
                stream.tell(verdict.rows[flagged], ~odd[flagged])
            before = plain.watch(X).labels == -1
            if t >= 12:
                alarms.append(flagged[~odd].mean())
                found += flagged[odd].tolist()
                found_before += before[odd].tolist()
    assert 0.02 < np.mean(alarms) < 0.08
    assert np.mean(found) > np.mean(found_before) + 0.2
