"""A machine that goes on learning is its stream, and a fit when it has seen the same rows."""

import copy
import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import oneclass
from oneclass import AAELM, VAAKELM, Stream

VERBS = ("score_samples", "decision_function", "predict", "p_value")


def fed(machine, X, cuts, y=None):
    """A fresh machine after calls with the rows between cuts."""
    machine = clone(machine)
    for a, b in itertools.pairwise(cuts):
        machine.partial_fit(X[a:b], None if y is None else y[a:b])
    return machine


def fitted_names(model):
    return {name for name in vars(model) if name.endswith("_")}


def assert_same_answers(one, other, X):
    for verb in VERBS:
        np.testing.assert_array_equal(getattr(one, verb)(X), getattr(other, verb)(X), err_msg=verb)
    assert one.offset_ == other.offset_


def test_rows_that_double_by_calls_make_the_fit_of_all_of_them(machine, rows, fresh):
    normal = np.ones(len(rows))
    going_on = fed(machine, rows, (0, 150, 300, 600), normal).score_samples(fresh)
    for batch in (clone(machine).fit(rows), clone(machine).fit_chunks([rows[:250], rows[250:]])):
        np.testing.assert_allclose(going_on, batch.score_samples(fresh), rtol=1e-8)


def test_a_machine_answers_as_a_stream_that_forgets_nothing(machine, rows, fresh):
    cuts = (0, 200, 300, 310, 450)
    going_on, stream = fed(machine, rows, cuts), fed(Stream(machine, window=None, every=1), rows, cuts)
    assert_same_answers(going_on, stream, fresh)
    np.testing.assert_array_equal(going_on.explain(fresh).shares, stream.explain(fresh).shares)
    np.testing.assert_array_equal(going_on.calibration_.losses, stream.calibration_.losses)
    assert (going_on.stream_.n_seen_, going_on.stream_.events_) == (stream.n_seen_, stream.events_)


def test_a_burst_is_not_learned_unless_it_is_told_to_be_normal(aakelm, rows):
    strange = rows[:40] + 20 * rows.std(axis=0)
    X, cuts = np.concatenate([rows[:400], strange]), (0, 400, 440)
    untold, told = fed(aakelm, X, cuts), fed(aakelm, X, cuts, np.ones(440))
    assert np.all(untold.predict(strange) == -1)
    assert np.median(told.score_samples(strange)) > 0.05 * np.median(untold.score_samples(strange))


def test_a_fit_leaves_nothing_of_the_stream_behind(machine, rows, fresh):
    only, after = clone(machine).fit(rows[:200]), fed(machine, rows[:, :2], (0, 100, 250)).fit(rows[:200])
    assert fitted_names(after) == fitted_names(only)
    assert_same_answers(after, only, fresh)
    assert fitted_names(clone(fed(machine, rows, (0, 100)))) == set()


def test_after_a_fit_a_machine_begins_anew_and_says_so(machine, rows, fresh):
    machine = clone(machine).fit(rows[300:, :2])
    with pytest.warns(UserWarning, match="partial_fit begins anew") as notices:
        machine.partial_fit(rows[:100])
    assert [notice.filename for notice in notices] == [__file__]
    only = fed(machine, rows, (0, 100))
    assert fitted_names(machine) == fitted_names(only)
    assert_same_answers(machine, only, fresh)


def test_a_machine_that_begins_anew_with_one_row_knows_nothing_of_the_fit(aakelm, rows, fresh):
    machine = clone(aakelm).fit(rows)
    with pytest.warns(UserWarning, match="begins anew"):
        machine.partial_fit(rows[:1, :2])
    assert not machine.__sklearn_is_fitted__()
    for given in (fresh, fresh[:, :2]):
        with pytest.raises(NotFittedError):
            machine.predict(given)
    machine.partial_fit(rows[1:200, :2])
    assert_same_answers(machine, fed(aakelm, rows[:, :2], (0, 1, 200)), fresh[:, :2])


def test_a_machine_that_was_stopped_goes_on_as_if_it_had_not(machine, rows, fresh, tmp_path):
    machine = fed(machine, rows, (0, 100, 330))
    machine.save(tmp_path / "machine.oneclass")
    others = [oneclass.load(tmp_path / "machine.oneclass"), pickle.loads(pickle.dumps(machine)), copy.copy(machine)]
    for other in others:
        assert_same_answers(other, machine, fresh)
        assert fitted_names(other) == fitted_names(machine)
        other.partial_fit(rows[330:500])
    machine.partial_fit(rows[330:500])
    for other in others:
        assert_same_answers(other, machine, fresh)


def test_a_copy_goes_on_by_itself(aakelm, rows, fresh):
    machine = fed(aakelm, rows, (0, 300))
    before = machine.score_samples(fresh)
    copy.copy(machine).partial_fit(rows[300:])
    np.testing.assert_array_equal(machine.score_samples(fresh), before)
    assert machine.stream_.n_seen_ == 300


def test_single_rows_begin_with_the_second(aakelm, rows):
    machine = clone(aakelm).partial_fit(rows[:1])
    with pytest.raises(NotFittedError):
        machine.predict(rows)
    assert machine.partial_fit(rows[1:2]).predict(rows[:2]).tolist() == [1, 1]
    assert machine.stream_.n_seen_ == 2


def test_a_batch_that_is_refused_leaves_the_machine_as_it_was(aakelm, rows, fresh):
    names = ["a", "b", "c"]
    machine = fed(aakelm, pd.DataFrame(rows, columns=names), (0, 300))
    before = dict(vars(machine))
    bad = pd.DataFrame(rows[:5], columns=names)
    bad.iloc[3, 1] = np.nan
    for X, y, reason in (
        (bad, None, "column 'b'"),
        (bad[["a", "b"]], None, "feature names"),
        (bad[:3], [1], "AAKELM: y must be"),
    ):
        with pytest.raises(ValueError, match=reason):
            machine.partial_fit(X, y)
    assert vars(machine).keys() == before.keys()
    assert all(vars(machine)[name] is value for name, value in before.items())


def test_what_cannot_be_is_refused_in_the_name_of_the_machine(rows):
    with pytest.raises(ValueError, match=r"VAAKELM: delta must be a number in \(0, 0.5\), got 0"):
        VAAKELM(delta=0).partial_fit(rows)
    with pytest.raises(ValueError, match="VAAKELM: X must hold values whose squares"):
        VAAKELM(scale=False).partial_fit(1e300 * rows)
    with pytest.raises(ValueError, match="but VAAKELM is expecting 3 features"):
        VAAKELM().partial_fit(rows[:50]).partial_fit(rows[:, :2])


def test_parameters_set_after_the_first_call_wait_for_the_next_fit(aakelm, rows, fresh):
    changed = clone(aakelm).partial_fit(rows[:300]).set_params(C=100.0, delta=0.4, approximation=None)
    assert_same_answers(changed.partial_fit(rows[300:]), fed(aakelm, rows, (0, 300, 600)), fresh)


def test_rows_of_other_libraries_are_learned_and_judged_on_the_host(aakelm, rows, fresh):
    torch = pytest.importorskip("torch")
    machine = clone(aakelm).partial_fit(torch.asarray(rows[:300])).partial_fit(torch.asarray(rows[300:]))
    np.testing.assert_array_equal(
        machine.score_samples(torch.asarray(fresh)), fed(aakelm, rows, (0, 300, 600)).score_samples(fresh)
    )


def test_a_hidden_layer_goes_on_too(rows, fresh):
    layer = AAELM(n_hidden=20)
    going_on = fed(layer, rows, (0, 300, 600), np.ones(len(rows)))
    np.testing.assert_allclose(going_on.score_samples(fresh), layer.fit(rows).score_samples(fresh), rtol=1e-8)
