"""A fit replaces the earlier fit completely or not at all, and only the next fit changes its results."""

import pickle
import warnings
from copy import deepcopy
from importlib.util import find_spec
from inspect import signature

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler

import oneclass
from classifiers import BASELINES, MACHINES, quick
from oneclass import (
    AAKELM,
    VAAKELM,
    DependentRowsWarning,
    KNNDetector,
    Nystrom,
    OneClassSearchCV,
    Stream,
    TableDetector,
    make_one_class_pipeline,
)
from oneclass.core.calibration import Calibration
from values import differences

ROWS = np.random.default_rng(0).normal(size=(40, 3)) * [1.0, 10.0, 0.1] + [5.0, -3.0, 0.0]
FRESH = ROWS[:15] + np.random.default_rng(1).normal(size=(15, 3)) * np.repeat([0.1, 3.0, 30.0], 5)[:, None]

every = pytest.mark.parametrize("name", [*BASELINES, *MACHINES])
pytestmark = pytest.mark.filterwarnings("ignore:AutoencoderDetector. the network did not converge")


def fitted_names(model):
    return {name for name in vars(model) if name.endswith("_")}


def answers(model, X=FRESH):
    """All results of a fitted classifier for rows."""
    said = {verb: getattr(model, verb)(X) for verb in ("score_samples", "decision_function", "predict", "p_value")}
    said["another budget"] = model.predict(X, delta=0.3)
    said["label_batch"] = model.label_batch(X, q=0.3)
    others = ("explain", "reconstruct", "_center_distance")
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
    model.set_params(scale="robust")


def interrupt(model, monkeypatch):
    def stop(losses, w):
        raise StoppedError

    with monkeypatch.context() as patch:
        patch.setattr(Calibration, "of", stop)
        with pytest.raises(StoppedError):
            model.fit(np.random.default_rng(2).normal(size=(25, 2)))


def heed_the_budget(model, monkeypatch):
    with warnings.catch_warnings():
        warnings.simplefilter("error", oneclass.UnreachableRateWarning)
        with pytest.raises(UserWarning, match="is below 1/"):
            model.set_params(delta=0.001).fit(2 * ROWS)
    model.set_params(delta=0.2)


def heed_dependence(model, monkeypatch):
    with warnings.catch_warnings():
        warnings.simplefilter("error", DependentRowsWarning)
        with pytest.raises(DependentRowsWarning):
            model.fit(np.repeat(ROWS, 4, axis=0))


failing = pytest.mark.parametrize(
    "fail", [refuse_rows, refuse_delta, refuse_scale, interrupt, heed_the_budget, heed_dependence]
)


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
    "threshold": ["held_out", "train"],
    "scale": ["robust", "zscore", False],
    "n_neighbors": [None, 3],
    "n_components": [0.9, 1],
    "n_paths": [0, 2],
}


def with_groups(X):
    return np.column_stack([X, np.arange(len(X)) // 2])


def with_labels(model, X):
    if getattr(model, "known_outliers", "ignore") == "learn":  # which needs held-out losses
        model.set_params(known_outliers="learn" if model.threshold == "held_out" else "ignore")
    return model.fit(X, np.where(np.arange(len(X)) % 9, 1, -1))


#: Ways of fitting; those of the machines stand behind those that all know.
WAYS = {
    "rows": lambda model, X: model.fit(X),
    "labels": with_labels,
    "groups": lambda model, X: model.fit(X, groups=np.arange(len(X)) // 2),
    "screening": lambda model, X: model.screen(X),
    "weights": lambda model, X: model.fit(X, sample_weight=np.arange(len(X)) % 5 / 4),
    "chunks": lambda model, X: model.fit_chunks([X[:15], X[15:]]),
    "chunks with groups": lambda model, X: model.fit_chunks([with_groups(X)[:15], with_groups(X)[15:]], groups=-1),
    "Dask": lambda model, X: model.fit(pytest.importorskip("dask.array").from_array(np.asarray(X), chunks=(10, -1))),
}
COMMON = ["rows", "labels", "groups", "screening"]


def fits(ways):
    choices = st.fixed_dictionaries({k: st.sampled_from(v) for k, v in CHOICES.items()})
    return st.lists(st.tuples(st.sampled_from(ways), st.sampled_from(sorted(DATA)), choices), min_size=2, max_size=3)


@every
@pytest.mark.filterwarnings("ignore::UserWarning")  # few groups
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
def test_a_kernel_set_after_the_fit_applies_to_the_next_fit(name, first, then):
    own = {"loss": "reconstruction"} if name == "AAKELM" else {}
    K = {"precomputed": rbf_kernel(ROWS, gamma=0.1), "rbf": ROWS}[first]
    model = quick(name, kernel=first, **own)
    model.fit(K, sample_weight=np.arange(40) % 4) if name in MACHINES else model.fit(K)
    expected = model.score_samples(K[:10])
    np.testing.assert_array_equal(model.set_params(kernel=then).score_samples(K[:10]), expected)


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize(("first", "then"), [("cpu", None), (None, "cpu")])
def test_a_device_set_after_the_fit_applies_to_the_next_fit(name, first, then):
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
    with pytest.warns(UserWarning, match="delta=0.01 is below") as at_predict:
        model.predict(FRESH, delta=0.01)
    assert {warning.filename for warning in [*at_fit, *at_predict]} == {__file__}


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("way", ["rows", "chunks", "chunks with groups", "Dask"])
def test_warnings_of_approximated_fits_point_at_the_users_line(name, way):
    model = quick(name, delta=0.01)
    if "approximation" in model.get_params():
        model.set_params(approximation=Nystrom(10))
    with pytest.warns(UserWarning, match="delta=0.01 is below") as at_fit:
        WAYS[way](model, ROWS)
    with pytest.warns(UserWarning, match="delta=0.01 is below") as at_predict:
        model.predict(FRESH, delta=0.01)
    assert {warning.filename for warning in [*at_fit, *at_predict]} == {__file__}


# What verbs leave behind.

TABLE = pd.DataFrame(ROWS, columns=["length", "width", "weight"]).assign(kind=np.where(np.arange(40) % 3, "a", "b"))
SEARCH = OneClassSearchCV(VAAKELM(), {"C": [1.0, 8.0]})
LABELS = np.where(np.arange(40) % 4, 1, -1)

#: Functions that make fitted estimators, beside the classifiers that are fitted to rows in memory.
FITTED = {
    "landmarks": lambda: VAAKELM(approximation=Nystrom(10)).fit(ROWS),
    "chunks": lambda: VAAKELM(approximation=Nystrom(10)).fit_chunks([ROWS[:20], ROWS[20:]]),
    "weights": lambda: AAKELM().fit(ROWS, sample_weight=np.arange(40) % 2),
    "many rows": lambda: AAKELM().fit(np.random.default_rng(0).normal(size=(800, 3))),
    "Stream": lambda: Stream().fit(ROWS),
    "TableDetector": lambda: TableDetector(KNNDetector()).fit(TABLE),
    "OneClassPipeline": lambda: make_one_class_pipeline(StandardScaler(), VAAKELM()).fit(ROWS),
    "OneClassSearchCV": lambda: clone(SEARCH).fit(ROWS, LABELS),
    "a search without outliers": lambda: clone(SEARCH).set_params(criterion="likelihood").fit(ROWS),
}
#: Verbs that learn, and may change what is fitted.
LEARN = {
    "fit",
    "fit_chunks",
    "fit_predict",
    "forget",
    "learn",
    "learn_from",
    "partial_fit",
    "renew",
    "screen",
    "tell",
    "watch",
}


def verbs(model):
    """Names of all that the library lets users ask of a fitted estimator, methods and properties."""
    ours = [vars(part) for part in type(model).__mro__ if part.__module__.startswith("oneclass.")]
    names = {name for part in ours for name in part if not name.startswith(("_", "set_")) and hasattr(model, name)}
    return sorted(names - LEARN - model.get_params().keys())


@pytest.mark.parametrize("name", [*BASELINES, *MACHINES, *FITTED])
def test_no_verb_changes_the_fitted_state(name, tmp_path):
    model = FITTED[name]() if name in FITTED else quick(name).fit(ROWS)
    fresh = TABLE[:15] if name == "TableDetector" else np.tile(FRESH, (10, 1))  # as many as are rounded
    given = {"X": fresh, "source": [fresh], "sink": tmp_path / "scores.csv", "path": tmp_path / "model.oneclass"}
    given |= {"y": np.where(np.arange(len(fresh)) % 9, 1, -1), "tail": "pareto", "delta": 0.3}
    before = deepcopy(model)
    model.predict(fresh)
    for verb in verbs(model):
        if verb == "save" and name == "OneClassPipeline":
            continue  # files hold no scikit-learn scaler
        if callable(asked := getattr(model, verb)):
            asked(**{option: given[option] for option in signature(asked).parameters if option in given})
        assert list(differences(model, before)) == [], verb
    found = vars(model).keys() - model.get_params(deep=False).keys()
    assert [attribute for attribute in found if not attribute.endswith("_")] == []
