import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PowerTransformer

from oneclass import AAKELM, VAAKELM
from oneclass.core.arrays import namespace
from oracle.comparison import assert_agree
from oracle.estimator_checks import assert_all_passed

VERBS = ["score_samples", "decision_function", "predict", "p_value"]
REBUILDERS = pytest.mark.parametrize("rebuilder", [AAKELM, VAAKELM], ids=["AAKELM", "VAAKELM"])

CHECKS = """
import json, warnings
from sklearn.utils.estimator_checks import check_estimator
import oneclass
warnings.simplefilter("ignore", oneclass.UnreachableRateWarning)
report = {}
for name in ("OCKELM", "VOCKELM", "AAKELM", "VAAKELM"):
    checks = check_estimator(getattr(oneclass, name)(), on_skip=None, on_fail=None)
    report[name] = [(c["check_name"], c["status"], repr(c["exception"])) for c in checks]
print(json.dumps(report))
"""


@pytest.fixture(scope="session")
def sklearn_report():
    """Results of scikit-learn's own checks, in a process where its array API check can run."""
    command = [sys.executable, "-c", CHECKS]
    environment = os.environ | {"SCIPY_ARRAY_API": "1", "OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def test_every_check_of_scikit_learn_passes(machine, sklearn_report):
    checks = sklearn_report[machine.__name__]
    assert_all_passed(checks)


def verbs_of(model):
    known = [verb for verb in VERBS if verb != "p_value" or model.calibration_ is not None]
    return [*known, "reconstruct"] if hasattr(model, "reconstruct") else known


def test_answers_are_arrays_of_the_library_that_asked(machine, xp, rows, fresh):
    model = machine().fit(xp.asarray(rows))
    reference = machine().fit(rows)
    for verb in verbs_of(model):
        answer = getattr(model, verb)(xp.asarray(fresh))
        assert namespace(answer) is xp
        assert_agree(answer, getattr(reference, verb)(fresh), 1e-9)
    assert isinstance(model.offset_, float)


def test_rows_of_another_library_or_precision_are_scored_on_the_device_of_the_machine(machine, xp, rows, fresh):
    expected, at_home = machine().fit(rows), machine().fit(xp.asarray(rows))
    for verb in ("score_samples", "predict", "p_value", *(["reconstruct"] if machine._rebuilds else [])):
        known = getattr(expected, verb)(fresh)
        answer = getattr(expected, verb)(xp.asarray(fresh))
        assert isinstance(answer, np.ndarray)
        assert_agree(answer, known, 1e-8)
        for given in (fresh, fresh.tolist(), xp.asarray(fresh)):
            answer = getattr(at_home, verb)(given)
            assert namespace(answer) is xp
            assert_agree(answer, known, 1e-8)
    assert_agree(at_home.explain(fresh).shares, expected.explain(fresh).shares, 1e-8)
    narrow = machine().fit(xp.asarray(rows, dtype=xp.float32))
    assert_agree(narrow.score_samples(xp.asarray(fresh)), expected.score_samples(fresh), 1e-3)


def test_half_precision_is_read_as_other_numbers_are(machine, rows, fresh):
    torch = pytest.importorskip("torch")
    for kind in (torch.float16, torch.bfloat16):
        rounded = [torch.asarray(X).to(kind) for X in (rows, fresh)]
        found = machine().fit(rounded[0]).score_samples(rounded[1])
        plain = [X.to(torch.float64).numpy() for X in rounded]
        assert_agree(found, machine().fit(plain[0]).score_samples(plain[1]), 1e-8)


def test_rows_of_any_library_are_explained_as_those_of_numpy(machine, xp, rows, fresh):
    found = machine().fit(xp.asarray(rows)).explain(xp.asarray(fresh), neighbors=2)
    expected = machine().fit(rows).explain(fresh, neighbors=2)
    for name in ("values", "expected", "shares", "neighbors"):
        assert isinstance(getattr(found, name), np.ndarray)
        assert_agree(getattr(found, name), getattr(expected, name), 1e-8)


def test_whole_numbers_are_rows_too(machine, xp):
    X = np.arange(60).reshape(20, 3) ** 2 % 17
    expected = machine(delta=0.1).fit(X.astype(float)).score_samples(X.astype(float))
    assert_agree(machine(delta=0.1).fit(xp.asarray(X)).score_samples(xp.asarray(X)), expected, 1e-9)


def test_single_precision_stays_single_and_close_to_double(machine, xp, rows, fresh):
    # Centred, because single precision would lose features of large mean before the fit.
    X, Z = ((v - rows.mean(axis=0)) / rows.std(axis=0) for v in (rows, fresh))
    single = machine().fit(xp.asarray(X, dtype=xp.float32))
    double = machine().fit(X)
    for verb in verbs_of(single):
        answer = getattr(single, verb)(xp.asarray(Z, dtype=xp.float32))
        if verb == "predict":
            continue
        assert answer.dtype == xp.float32
        assert_agree(answer, getattr(double, verb)(Z), 0.02 if verb == "p_value" else 1e-4)


def test_labels_are_whole_numbers(machine, xp, rows, fresh):
    labels = machine().fit(xp.asarray(rows)).predict(xp.asarray(fresh))
    assert xp.isdtype(labels.dtype, "integral")
    assert set(labels.tolist() if hasattr(labels, "tolist") else [int(v) for v in labels]) == {-1, 1}


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames_are_rows_with_names(machine, library, rows, fresh):
    frames = pytest.importorskip(library)
    names = ["mass", "height", "charge", "phase"]
    model = machine().fit(frames.DataFrame(dict(zip(names, rows.T, strict=True))))
    np.testing.assert_array_equal(model.feature_names_in_, names)
    assert model.n_features_in_ == 4
    answer = model.score_samples(frames.DataFrame(dict(zip(names, fresh.T, strict=True))))
    np.testing.assert_array_equal(answer, machine().fit(rows).score_samples(fresh))
    with pytest.raises(ValueError, match="feature names should match"):
        model.score_samples(frames.DataFrame(dict(zip(names[::-1], fresh.T, strict=True))))


@pytest.mark.filterwarnings("ignore::oneclass.DependentRowsWarning")  # weights are copies
def test_lists_are_rows_and_weights_too(machine, rows):
    w = np.tile([1.0, 2.0], 30)
    expected = machine().fit(rows, sample_weight=w).score_samples(rows)
    np.testing.assert_array_equal(machine().fit(rows.tolist(), sample_weight=w.tolist()).score_samples(rows), expected)


@pytest.mark.parametrize("layout", [np.asfortranarray, lambda X: X[::-1][::-1]], ids=["columns", "strided"])
def test_the_layout_of_the_rows_changes_nothing(machine, rows, fresh, layout):
    expected = machine().fit(rows).score_samples(fresh)
    assert_agree(machine().fit(layout(rows)).score_samples(layout(fresh)), expected, 1e-12)


def test_fitting_and_scoring_leave_the_rows_alone(machine, xp, rows):
    X = xp.asarray(rows, copy=True)
    machine(scale=False).fit(X).score_samples(X)
    assert_agree(X, rows, 0)


def test_a_clone_is_unfitted_with_the_same_parameters(machine, rows):
    model = machine(C=3.0, delta=0.1).fit(rows)
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        twin.predict(rows)


@pytest.mark.parametrize("threshold", ["held_out", "train"])
def test_a_pickled_machine_gives_the_same_scores(machine, rows, fresh, threshold):
    model = machine(threshold=threshold).fit(rows)
    twin = pickle.loads(pickle.dumps(model))
    for verb in verbs_of(model):
        np.testing.assert_array_equal(getattr(twin, verb)(fresh), getattr(model, verb)(fresh))


def test_a_pipeline_is_its_steps_in_a_row(machine, rows, fresh):
    pipeline = make_pipeline(PowerTransformer(), machine()).fit(rows)
    transformer = PowerTransformer().fit(rows)
    model = machine().fit(transformer.transform(rows))
    np.testing.assert_array_equal(pipeline.predict(fresh), model.predict(transformer.transform(fresh)))
    np.testing.assert_array_equal(pipeline.score_samples(fresh), model.score_samples(transformer.transform(fresh)))


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_grid_search_finds_the_budget_that_accepts_most_normal_rows(machine, as_printed, rows, kernel):
    X = rbf_kernel(rows, gamma=0.5 / 80**2) if kernel == "precomputed" else rows
    search = GridSearchCV(
        machine(**as_printed(machine) | {"kernel": kernel}), {"delta": [0.5, 0.05, 0.25]}, scoring="accuracy", cv=3
    )
    search.fit(X, np.ones(60))
    assert search.best_params_ == {"delta": 0.05}
    assert search.predict(X[:5]).shape == (5,)


def test_fit_predict_is_fit_then_predict(machine, rows):
    np.testing.assert_array_equal(machine().fit_predict(rows), machine().fit(rows).predict(rows))


@REBUILDERS
def test_rows_are_rebuilt_in_their_own_units(rebuilder, rows, fresh):
    model = rebuilder(C=10.0, scale="zscore", loss="reconstruction").fit(rows)
    residuals = (fresh - model.reconstruct(fresh)) / rows.std(axis=0, ddof=1)
    assert_agree(-np.sum(residuals**2, axis=1), model.score_samples(fresh))


@REBUILDERS
@pytest.mark.parametrize("loss", ["reconstruction", "predictive"])
def test_explanations_sum_to_the_score(rebuilder, loss, rows, fresh):
    model = rebuilder(loss=loss).fit(rows)
    found = model.explain(fresh)
    assert found.exact
    assert_agree(-found.parts.sum(axis=1), model.score_samples(fresh), 1e-12)


@REBUILDERS
def test_the_feature_that_is_off_has_the_largest_share(rebuilder, rows):
    strange = np.repeat(rows.mean(axis=0)[None, :], 4, axis=0) + np.diag(6 * rows.std(axis=0))
    shares = rebuilder(C=10.0).fit(rows).explain(strange)
    np.testing.assert_array_equal(np.argmax(shares, axis=1), np.arange(4))
