"""What is saved is loaded: bit by bit, in this process and another, on every array library."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold

import oneclass
from oneclass import OCKELM, VAAKELM, KMeansDetector, KNNDetector, Nystrom, OneClassKFold, OneClassSearchCV, PCADetector
from saved import CASES, FRESH, NAMES, ROWS, answers, assert_same_bits, fitted


@pytest.mark.parametrize("mmap", [False, True])
def test_a_loaded_classifier_answers_bit_by_bit_as_the_saved_one(case, mmap, path):
    model, fresh = fitted(case)
    expected = answers(model, fresh)
    model.save(path)
    loaded = oneclass.load(path, mmap=mmap)
    assert type(loaded) is type(model)
    assert vars(loaded).keys() == vars(model).keys()
    assert_same_bits(answers(loaded, fresh), expected)
    assert_same_bits(answers(model, fresh), expected)


def test_what_is_loaded_and_saved_again_is_the_same_file(case, path):
    model, _ = fitted(case)
    model.save(path)
    first = path.read_bytes()
    oneclass.load(path, mmap=True).save(path.with_name("again"))
    assert path.with_name("again").read_bytes() == first
    oneclass.load(path, mmap=True).save(path)  # in the place of the file that its arrays are mapped from
    assert path.read_bytes() == first


ELSEWHERE = """
import hashlib, json, sys
import oneclass
from saved import CASES, answers

def digest(case):
    said = answers(oneclass.load(f"{sys.argv[1]}/{case}"), fitted_rows[case])
    return {verb: hashlib.sha256(said[verb].tobytes()).hexdigest() for verb in said}

import numpy as np, pandas as pd, pickle
fitted_rows = pickle.load(open(f"{sys.argv[1]}/rows", "rb"))
print(json.dumps({case: digest(case) for case in CASES}))
"""


def test_another_process_answers_bit_by_bit_the_same(tmp_path):
    import pickle

    expected, rows = {}, {}
    for case in CASES:
        model, rows[case] = fitted(case)
        model.save(tmp_path / case)
        said = answers(model, rows[case])
        expected[case] = {verb: hashlib.sha256(said[verb].tobytes()).hexdigest() for verb in said}
    (tmp_path / "rows").write_bytes(pickle.dumps(rows))
    folders = [str(Path(oneclass.__file__).parents[1]), str(Path(__file__).parents[1])]
    code = f"import sys; sys.path[:0] = {folders!r}\n{ELSEWHERE}"
    done = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == expected


def test_names_and_parameters_come_back(path):
    model, fresh = fitted("PCADetector")
    model.save(path)
    loaded = oneclass.load(path)
    assert loaded.feature_names_in_.dtype == object
    assert list(loaded.feature_names_in_) == NAMES
    assert loaded.get_params() == model.get_params()
    with pytest.raises(ValueError, match="feature names should match"):
        loaded.predict(fresh[NAMES[::-1]])


def test_a_generator_of_random_numbers_goes_on_where_it_was(path):
    OCKELM(random_state=np.random.RandomState(7)).fit(ROWS).save(path)
    assert oneclass.load(path).random_state.randint(1 << 30, size=5).tolist() == (
        np.random.RandomState(7).randint(1 << 30, size=5).tolist()
    )


def test_what_is_shared_is_written_once_and_shared_again(path):
    model = VAAKELM(loss="predictive").fit(np.random.default_rng(0).normal(size=(300, 3)))
    model.save(path)
    loaded = oneclass.load(path)
    assert loaded.model_ is loaded.machine_.model
    assert loaded.kernel_ is loaded.machine_.plan.kernel
    # Rows, weights, clusters, held-out losses by row and ranked, and the variance of five clusters; no factor.
    numbers = 300 * (3 + 3 + 1 + 1 + 2 + 6)
    assert 8 * numbers < path.stat().st_size < 8 * numbers + 8000


def test_arrays_that_are_mapped_stay_on_the_disk(path):
    KNNDetector().fit(ROWS).save(path)
    loaded = oneclass.load(path, mmap=True)
    base = loaded.rows_
    while isinstance(base.base, np.ndarray):
        base = base.base
    assert isinstance(base, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        loaded.rows_[0, 0] = 0


@pytest.mark.parametrize("kernel", ["laplacian", "rbf"])
@pytest.mark.parametrize("approximation", [None, Nystrom(10), Nystrom(35)])
def test_arrays_of_every_library_come_back_as_they_were(xp, approximation, kernel, path):
    model = VAAKELM(approximation=approximation, kernel=kernel).fit(xp.asarray(ROWS))
    model.save(path)
    loaded, fresh = oneclass.load(path), xp.asarray(FRESH)
    assert type(loaded.scaler_.centre) is type(model.scaler_.centre)
    for verb in ("score_samples", "p_value", "predict", "reconstruct"):
        assert bool(xp.all(getattr(loaded, verb)(fresh) == getattr(model, verb)(fresh)))
    on_host = oneclass.load(path, device="host")
    assert type(on_host.scaler_.centre) is np.ndarray
    np.testing.assert_allclose(on_host.score_samples(FRESH), np.asarray(model.score_samples(fresh)), rtol=1e-9)


@pytest.mark.parametrize("kernel", ["laplacian", "rbf"])
def test_a_graph_of_a_loaded_machine_leaves_its_answers_as_they_were(kernel, path):
    pytest.importorskip("onnx")
    model = VAAKELM(approximation=Nystrom(35), kernel=kernel).fit(ROWS)
    model.save(path)
    loaded = oneclass.load(path)
    oneclass.to_onnx(loaded)
    np.testing.assert_array_equal(loaded.score_samples(FRESH), model.score_samples(FRESH))


@pytest.mark.parametrize(("device", "where"), [(None, "cpu"), ("cpu", "cpu"), ("host", None)])
def test_a_machine_of_a_device_comes_back_to_it_or_to_another(path, device, where):
    pytest.importorskip("torch")
    model = VAAKELM(device="cpu").fit(ROWS)
    model.save(path)
    loaded = oneclass.load(path, device=device)
    assert (loaded.device, loaded.device_) == (where, where)
    np.testing.assert_allclose(loaded.score_samples(FRESH), model.score_samples(FRESH), rtol=1e-9)


def test_a_device_that_is_not_there_is_named_with_a_way_out(path):
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    VAAKELM(device="cpu").fit(ROWS).save(path)
    with pytest.raises(RuntimeError, match="PyTorch has no device 'cuda:0' here; use another device, or 'host'"):
        oneclass.load(path, device="cuda:0")


@pytest.mark.gpu
def test_a_machine_of_a_gpu_answers_bit_by_bit_the_same(path):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    for approximation in (None, Nystrom(10), Nystrom(35)):
        model = VAAKELM(device="cuda", approximation=approximation).fit(ROWS)
        model.save(path)
        np.testing.assert_array_equal(oneclass.load(path).score_samples(FRESH), model.score_samples(FRESH))
        on_host = oneclass.load(path, device="host")
        np.testing.assert_allclose(on_host.score_samples(FRESH), model.score_samples(FRESH), rtol=1e-9)


SEARCHES = {
    "one scorer": {"scoring": "balanced", "cv": 3},
    "several": {"scoring": ["f1", "auroc"], "refit": "auroc", "cv": OneClassKFold(3)},
    "no outliers": {"criterion": "likelihood"},
}


@pytest.mark.parametrize("search", SEARCHES)
def test_a_search_comes_back_with_its_results(search, path):
    y = np.repeat([1, -1], [40, 15]) if search != "no outliers" else None
    X = np.concatenate([ROWS, FRESH]) if search != "no outliers" else ROWS
    grid = [{"C": [0.5, 2.0], "delta": np.array([0.05, 0.1])}, {"kernel": ["laplacian"]}]
    model = OneClassSearchCV(VAAKELM(sigma=1.0), grid, **SEARCHES[search]).fit(X, y)
    model.save(path)
    loaded = oneclass.load(path)
    assert vars(loaded).keys() == vars(model).keys()
    assert loaded.best_params_ == model.best_params_
    assert loaded.cv_results_.keys() == model.cv_results_.keys()
    for name, column in model.cv_results_.items():
        np.testing.assert_array_equal(loaded.cv_results_[name], column)
        assert np.array_equal(np.ma.getmaskarray(loaded.cv_results_[name]), np.ma.getmaskarray(column))
    assert_same_bits(answers(loaded, FRESH), answers(model, FRESH))
    if y is not None:
        assert loaded.score(X, y) == model.score(X, y)


# What cannot be saved.


def similar(X, Y):
    return X @ Y.T


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda: OCKELM(kernel=similar), "OCKELM: kernel is the function similar, and a model file cannot hold code"),
        (lambda: OCKELM(kernel=lambda X, Y: X @ Y.T), r"OCKELM: kernel is the function .*<lambda>"),
        (lambda: OneClassSearchCV(KMeansDetector(), {"n_clusters": [2]}, cv=KFold(3)), "OneClassSearchCV: cv is of"),
        (
            lambda: OneClassSearchCV(KMeansDetector(), {"n_clusters": [2]}, scoring=similar, refit=False, cv=2),
            "OneClassSearchCV: scoring is the function similar",
        ),
    ],
)
def test_functions_and_unknown_classes_are_refused_by_name(model, message, path):
    model, y = model(), np.where(np.arange(len(ROWS)) % 9, 1, -1)
    if getattr(model, "scoring", None) is similar:
        model.set_params(scoring="f1").fit(ROWS, y).set_params(scoring=similar)
    else:
        model.fit(ROWS, y)
    with pytest.raises(TypeError, match=message):
        model.save(path)
    assert list(path.parent.iterdir()) == []


def test_parameters_that_are_no_values_are_refused_by_name(path):
    model = PCADetector().fit(ROWS).set_params(n_components=object())
    with pytest.raises(TypeError, match="PCADetector: n_components is of type object, which a model file cannot hold"):
        model.save(path)
    with pytest.raises(TypeError, match=r"PCADetector: n_components\[1\] is of type complex64"):
        model.set_params(n_components=[1, np.complex64(1)]).save(path)


def test_only_what_is_fitted_is_saved(path):
    with pytest.raises(NotFittedError):
        VAAKELM().save(path)
    assert not path.exists()
