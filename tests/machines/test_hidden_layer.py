"""OCELM and AAELM: the family's equation with the kernel of hidden units that are drawn."""

import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone

from oneclass import AAELM, AAKELM, OCELM, OCKELM, OneClassSearchCV
from oneclass.core.arrays import namespace
from oracle.comparison import assert_agree
from oracle.estimator_checks import assert_all_passed

MACHINES = [
    (OCELM, {}),
    *((AAELM, {"loss": loss}) for loss in ("reconstruction", "uncertainty", "predictive", "either")),
]
PLAIN = pytest.mark.parametrize("machine", [OCELM, AAELM], ids=lambda m: m.__name__)
SMALL = {"n_hidden": 25, "C": 10.0, "delta": 0.1}


def units(model):
    """Outputs of the hidden units, written out."""
    layer = model.model_.map

    def outputs(Z):
        inputs = Z @ layer.weights + layer.biases
        return np.tanh(inputs) if layer.activation == "tanh" else 1 / (1 + np.exp(-inputs))

    return outputs


def said(model, fresh):
    verbs = ["score_samples"] if model.calibration_ is None else ["score_samples", "p_value"]
    if hasattr(model, "reconstruct"):
        verbs.append("reconstruct")
        if model.loss != "uncertainty":  # explained by substitution: kernel machines substitute values of training rows
            verbs.append("explain")
    return [np.array([model.offset_]), *(getattr(model, verb)(fresh) for verb in verbs)]


@pytest.mark.parametrize("groups", [None, np.arange(60) // 4], ids=["rows", "groups"])
@pytest.mark.parametrize("threshold", ["held_out", "train"])
@pytest.mark.parametrize("activation", ["sigmoid", "tanh"])
@pytest.mark.parametrize(("machine", "params"), MACHINES, ids=str)
def test_it_is_the_kernel_machine_of_its_own_hidden_units(machine, params, activation, threshold, groups, rows, fresh):
    """The toolbox solves (HH' + I/C) A = T; (H'H + I/C) B = H'T of the layer must give the same."""
    settings = {**SMALL, **params, "threshold": threshold}
    model = machine(activation=activation, **settings).fit(rows, groups=groups)
    h = units(model)
    twin = {OCELM: OCKELM, AAELM: AAKELM}[machine]
    del settings["n_hidden"]
    kernel = twin(kernel=lambda X, Y: h(X) @ h(Y).T, scale=model.scale, **settings).fit(rows, groups=groups)
    for actual, expected in zip(said(model, fresh), said(kernel, fresh), strict=True):
        assert_agree(actual, expected, 1e-6)


def test_output_weights_solve_the_normal_equations(rows):
    model = AAELM(**SMALL).fit(rows)
    Z = model.scaler_(rows)
    H = units(model)(Z)
    np.testing.assert_allclose((H.T @ H + np.eye(25) / 10.0) @ model.model_.weights, H.T @ Z, rtol=1e-8, atol=1e-8)


def test_the_layer_is_drawn_as_published():
    layer = OCELM(n_hidden=500).fit(np.random.default_rng(0).normal(size=(30, 3))).model_.map
    assert layer.weights.shape == (3, 500)
    for drawn, low in ((layer.weights, -1), (layer.biases, 0)):
        assert low <= drawn.min() < low + 0.02
        assert 0.98 < drawn.max() <= 1


@PLAIN
def test_chunks_are_the_rows(machine, rows, fresh):
    whole, parts = machine(**SMALL).fit(rows), machine(**SMALL).fit_chunks([rows[:13], rows[13:40], rows[40:]])
    for actual, expected in zip(said(parts, fresh), said(whole, fresh), strict=True):
        assert_agree(actual, expected, 1e-9)


@pytest.mark.filterwarnings("ignore::oneclass.DependentRowsWarning")  # copies are what this is about
@PLAIN
def test_weights_are_copies(machine, rows, fresh):
    w = np.tile([1, 2, 3], 20)
    weighted, copied = machine(**SMALL).fit(rows, sample_weight=w), machine(**SMALL).fit(np.repeat(rows, w, axis=0))
    for actual, expected in zip(said(weighted, fresh), said(copied, fresh), strict=True):
        assert_agree(actual, expected, 1e-7)


@PLAIN
def test_arrays_of_any_library_say_the_same(machine, xp, rows, fresh):
    model = machine(**SMALL).fit(xp.asarray(rows))
    answer = model.score_samples(xp.asarray(fresh))
    assert namespace(answer) is xp
    assert_agree(answer, machine(**SMALL).fit(rows).score_samples(fresh), 1e-9)


@PLAIN
def test_the_seed_draws_the_layer(machine, rows, fresh):
    scores = [machine(**SMALL, random_state=seed).fit(rows).score_samples(fresh) for seed in (None, None, 1, 2)]
    assert np.array_equal(scores[0], scores[1])
    assert not np.allclose(scores[2], scores[3])


@PLAIN
def test_a_pickled_machine_gives_the_same_scores_and_a_clone_fits_the_same(machine, rows, fresh):
    model = machine(**SMALL).fit(rows)
    for twin in (pickle.loads(pickle.dumps(model)), clone(model).fit(rows)):
        for actual, expected in zip(said(twin, fresh), said(model, fresh), strict=True):
            np.testing.assert_array_equal(actual, expected)


@PLAIN
def test_a_search_scores_every_point_as_fits_do(machine, rows, fresh):
    X, y = np.concatenate([rows, fresh[10:]]), np.repeat([1, -1], [60, 10])
    grid = {"C": [1.0, 100.0], "n_hidden": [5, 20], "delta": [0.05, 0.2]}
    folds = [(np.arange(0, 40), np.arange(40, 70)), (np.arange(20, 60), np.r_[0:20, 60:70])]
    search = OneClassSearchCV(machine(), grid, scoring="balanced", cv=folds, target=1).fit(X, y)
    for k, (train, test) in enumerate(folds):
        for params, score in zip(search.cv_results_["params"], search.cv_results_[f"split{k}_test_score"], strict=True):
            labels = machine(**params).fit(X[train]).predict(X[test])
            expected = np.mean([np.mean(labels[y[test] == label] == label) for label in (1, -1)])
            assert score == pytest.approx(expected)


@pytest.mark.parametrize(
    ("params", "rule"),
    [
        ({"n_hidden": 0}, "n_hidden must be a whole number of at least 1, got 0"),
        ({"activation": "relu"}, "activation must be one of 'sigmoid', 'tanh'; got 'relu'"),
        ({"C": "likelihood"}, r"C must be a number in \(0, inf\), got 'likelihood'"),
        ({"C": -1}, r"C must be a number in \(0, inf\), got -1"),
        ({"C": 10**400}, r"C must be a number in \(0, inf\), got 1000"),
        ({"threshold": "mean"}, "threshold must be one of 'held_out', 'train', 'authors'; got 'mean'"),
    ],
)
@PLAIN
def test_errors_name_the_machine_the_parameter_the_rule_and_the_value(machine, params, rule, rows):
    with pytest.raises(ValueError, match=f"{machine.__name__}: {rule}"):
        machine(**params).fit(rows)


CHECKS = """
import json, warnings
from sklearn.utils.estimator_checks import check_estimator
import oneclass
from oneclass import AAELM, OCELM
warnings.simplefilter("ignore", oneclass.UnreachableRateWarning)
report = {}
for machine in (OCELM, AAELM):
    checks = check_estimator(machine(n_hidden=20), on_skip=None, on_fail=None)
    report[machine.__name__] = [(c["check_name"], c["status"], repr(c["exception"])) for c in checks]
print(json.dumps(report))
"""


def test_every_check_of_scikit_learn_passes():
    # In a process of its own, where scikit-learn's array API check can run.
    environment = os.environ | {"SCIPY_ARRAY_API": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    run = subprocess.run([sys.executable, "-c", CHECKS], env=environment, capture_output=True, text=True, check=True)
    for checks in json.loads(run.stdout).values():
        assert_all_passed(checks)
