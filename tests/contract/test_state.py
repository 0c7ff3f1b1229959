"""A fit is a value: it replaces the last one whole or not at all, and nothing but the next changes what it answers."""

import pickle
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel

from classifiers import BASELINES, MACHINES, quick
from oneclass import Nystrom
from oneclass.core.calibration import Calibration
from values import differences

ROWS = np.random.default_rng(0).normal(size=(40, 3)) * [1.0, 10.0, 0.1] + [5.0, -3.0, 0.0]
FRESH = ROWS[:15] + np.random.default_rng(1).normal(size=(15, 3)) * np.repeat([0.1, 3.0, 30.0], 5)[:, None]

every = pytest.mark.parametrize("name", [*BASELINES, *MACHINES])
pytestmark = pytest.mark.filterwarnings("ignore:AutoencoderDetector. the network did not converge")


def fitted_names(model):
    return {name for name in vars(model) if name.endswith("_")}


def answers(model, X=FRESH):
    """All that a fitted classifier says of rows."""
    said = {verb: getattr(model, verb)(X) for verb in ("score_samples", "decision_function", "predict", "p_value")}
    said["another budget"] = model.predict(X, alpha=0.3)
    said["false_discovery"] = model.false_discovery(X, q=0.3)
    others = ("explain", "reconstruct", "center_distance")
    return said | {verb: getattr(model, verb)(X) for verb in others if hasattr(model, verb)}


def assert_same_answers(actual, expected):
    assert actual.keys() == expected.keys()
    for verb in expected:
        np.testing.assert_array_equal(actual[verb], expected[verb], err_msg=verb)


# Fits that fail, at the start and near the end.


class StoppedError(Exception):
    pass


def refuse_rows(model, monkeypatch):
    X = pd.DataFrame(np.ones((30, 2)), columns=["a", "b"])
    X.iloc[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X)


def refuse_delta(model, monkeypatch):
    delta = model.delta
    with pytest.raises(ValueError, match="delta must be"):
        model.set_params(delta=2.0).fit(2 * ROWS)
    model.set_params(delta=delta)


def refuse_scale(model, monkeypatch):
    with pytest.raises(ValueError, match="scale must be"):
        model.set_params(scale="yes").fit(2 * ROWS)
    model.set_params(scale="tamed")


def interrupt(model, monkeypatch):
    def stop(losses, w):
        raise StoppedError

    with monkeypatch.context() as patch:
        patch.setattr(Calibration, "of", stop)
        with pytest.raises(StoppedError):
            model.fit(np.random.default_rng(2).normal(size=(25, 2)))


failing = pytest.mark.parametrize("fail", [refuse_rows, refuse_delta, refuse_scale, interrupt])


@every
@failing
def test_a_failed_refit_leaves_the_classifier_as_it_was(name, fail, monkeypatch):
    model = quick(name).fit(ROWS)
    before, expected = dict(vars(model)), answers(model)
    fail(model, monkeypatch)
    assert vars(model).keys() == before.keys()
    assert [attribute for attribute in fitted_names(model) if vars(model)[attribute] is not before[attribute]] == []
    assert_same_answers(answers(model), expected)


@every
@failing
def test_after_a_failed_first_fit_the_classifier_is_not_fitted(name, fail, monkeypatch):
    model = quick(name)
    fail(model, monkeypatch)
    assert fitted_names(model) == set()
    with pytest.raises(NotFittedError):
        model.predict(ROWS)


# Refits.

RANDOM = np.random.default_rng(3)
DATA = {
    "rows": ROWS,
    "named columns": pd.DataFrame(ROWS[:30], columns=["length", "width", "weight"]),
    "other names": pd.DataFrame(ROWS[5:], columns=["a", "b", "c"]),
    "fewer columns": ROWS[:, :2],
    "more columns": RANDOM.normal(size=(25, 12)),
    "single precision": ROWS[:35].astype(np.float32),
}
CHOICES = {
    "kernel": ["rbf", "linear"] if find_spec("clarabel") else ["rbf"],  # without it SVDD has radial kernels only
    "variance": ["none", "subclass"],
    "approximation": [None, Nystrom(5)],
    "threshold": ["loo", "train"],
    "scale": ["tamed", "zscore", False],
    "n_neighbors": [None, 3],
    "n_components": [0.9, 1],
    "n_paths": [0, 2],
}


def with_groups(X):
    return np.column_stack([X, np.arange(len(X)) // 2])


def go_on(model, X):
    if hasattr(model, "stream_"):  # else it would go on from there
        model.fit(X)
    model.partial_fit(X)


#: Ways of fitting; those of the machines stand behind those that all know.
WAYS = {
    "rows": lambda model, X: model.fit(X),
    "labels": lambda model, X: model.fit(X, np.where(np.arange(len(X)) % 9, 1, -1)),
    "groups": lambda model, X: model.fit(X, groups=np.arange(len(X)) // 2),
    "screening": lambda model, X: model.screen(X),
    "weights": lambda model, X: model.fit(X, sample_weight=np.arange(len(X)) % 5 / 4),
    "chunks": lambda model, X: model.fit_chunks([X[:15], X[15:]]),
    "chunks with groups": lambda model, X: model.fit_chunks([with_groups(X)[:15], with_groups(X)[15:]], groups=-1),
    "Dask": lambda model, X: model.fit(pytest.importorskip("dask.array").from_array(np.asarray(X), chunks=(10, -1))),
    "going on": go_on,
}
COMMON = ["rows", "labels", "groups", "screening"]


def fits(ways):
    choices = st.fixed_dictionaries({k: st.sampled_from(v) for k, v in CHOICES.items()})
    return st.lists(st.tuples(st.sampled_from(ways), st.sampled_from(sorted(DATA)), choices), min_size=2, max_size=3)


@every
@pytest.mark.filterwarnings("ignore::UserWarning")  # few groups, streams that begin anew
@given(data=st.data())
def test_after_any_refits_a_classifier_is_what_one_fit_on_the_last_rows_makes_it(name, data):
    model = quick(name)
    for way, rows, choices in data.draw(fits(list(WAYS) if name in MACHINES else COMMON)):
        model.set_params(**{k: v for k, v in choices.items() if k in model.get_params()})
        WAYS[way](model, DATA[rows])
    only = clone(model)
    WAYS[way](only, DATA[rows])
    assert list(differences(model, only)) == []
    np.testing.assert_array_equal(model.score_samples(DATA[rows]), only.score_samples(DATA[rows]))


@every
def test_without_a_seed_every_fit_draws_the_same(name):
    assert_same_answers(answers(quick(name).fit(ROWS)), answers(quick(name).fit(ROWS)))


# Parameters after the fit.


@every
def test_parameters_set_after_the_fit_wait_for_the_next_one(name):
    model = quick(name).fit(ROWS)
    expected = answers(model)
    model.set_params(**dict.fromkeys(model.get_params(), object()))
    assert_same_answers(answers(model), expected)


@pytest.mark.parametrize("name", ["OCSVM", "SVDD", "OCKELM", "AAKELM"])
@pytest.mark.parametrize(("first", "then"), [("precomputed", "rbf"), ("rbf", "precomputed")])
def test_a_kernel_set_after_the_fit_waits_for_the_next_one(name, first, then):
    own = {"loss": "reconstruction"} if name == "AAKELM" else {}
    K = {"precomputed": rbf_kernel(ROWS, gamma=0.1), "rbf": ROWS}[first]
    model = quick(name, kernel=first, **own)
    model.fit(K, sample_weight=np.arange(40) % 4) if name in MACHINES else model.fit(K)
    expected = model.score_samples(K[:10])
    np.testing.assert_array_equal(model.set_params(kernel=then).score_samples(K[:10]), expected)


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize(("first", "then"), [("cpu", None), (None, "cpu")])
def test_a_device_set_after_the_fit_waits_for_the_next_one(name, first, then):
    pytest.importorskip("torch")
    model = quick(name, device=first).fit(ROWS)
    expected = answers(model)
    assert_same_answers(answers(model.set_params(device=then)), expected)


@every
def test_a_pickled_classifier_has_the_same_attributes_and_answers(name):
    model = quick(name).fit(pd.DataFrame(ROWS, columns=["length", "width", "weight"]))
    fresh = pd.DataFrame(FRESH, columns=["length", "width", "weight"])
    copy = pickle.loads(pickle.dumps(model))
    assert fitted_names(copy) == fitted_names(model)
    assert_same_answers(answers(copy, fresh), answers(model, fresh))


@every
def test_warnings_point_at_the_users_line(name):
    with pytest.warns(UserWarning, match="delta=0.01 is below") as at_fit:
        model = quick(name, delta=0.01).fit(ROWS)
    with pytest.warns(UserWarning, match="alpha=0.01 is below") as at_predict:
        model.predict(FRESH, alpha=0.01)
    assert {warning.filename for warning in [*at_fit, *at_predict]} == {__file__}
