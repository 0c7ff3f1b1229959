"""onnxruntime's scores are ours: to ten digits in double precision, to five in single; p-values and labels are ours."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from awkward import huge_rows
from oneclass import (
    AAELM,
    AAKELM,
    OCELM,
    OCKELM,
    OCRF,
    OCSVM,
    SVDD,
    VAAKELM,
    VOCKELM,
    AutoencoderDetector,
    Fourier,
    KCentersDetector,
    KMeansDetector,
    KNNDetector,
    Laplacian,
    MSTDetector,
    NaiveParzen,
    Nystrom,
    OneClassSearchCV,
    Parzen,
    PCADetector,
    Polynomial,
    to_onnx,
)

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

RNG = np.random.default_rng(0)
ROWS = (RNG.normal(size=(120, 4)) @ RNG.normal(size=(4, 4))) * [1, 10, 0.1, 3] + [0, 5, 2, -100]
SCATTER = RNG.normal(size=(60, 4)) * ROWS.std(axis=0) * np.repeat([0.1, 1.0, 5.0], 20)[:, None]
FRESH = np.concatenate([ROWS[:30], ROWS[:60] + SCATTER])
TOLERANCE = {"float64": 1e-10, "float32": 1e-5}


def ask(model, X, dtype="float64"):
    """Results of onnxruntime for rows, by the graph of a fitted classifier."""
    graph = to_onnx(model, dtype=dtype)
    onnx.checker.check_model(graph, full_check=True)
    session = runtime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"rows": X.astype(dtype)}), strict=True))


def assert_same(model, X=FRESH, **tolerances):
    for dtype, tolerance in (TOLERANCE | tolerances).items():
        rows = X.astype(dtype)
        said = ask(model, X, dtype)
        assert {name: str(values.dtype) for name, values in said.items() if name != "label"} == dict.fromkeys(
            ("score", "p_value") if model.calibration_ is not None else ("score",), dtype
        )
        scores = model.score_samples(rows)
        # A score that is a small difference is no better than what it is the difference of.
        np.testing.assert_allclose(said["score"], scores, rtol=tolerance, atol=1e-15 * np.abs(scores).max())
        np.testing.assert_array_equal(said["label"], model.predict(rows))
        if model.calibration_ is not None:
            np.testing.assert_array_equal(said["p_value"], model.p_value(rows).astype(dtype))
    assert 0 < (said["label"] < 0).sum() < len(X)


MACHINES = [
    (machine, loss)
    for machine, losses in (
        (OCKELM, [{}]),
        (VOCKELM, [{}]),
        (AAKELM, [{"loss": "reconstruction"}, {"loss": "uncertainty"}]),
        (VAAKELM, [{"loss": "reconstruction"}, {"loss": "uncertainty"}, {"loss": "predictive"}, {"loss": "either"}]),
    )
    for loss in losses
]


@pytest.mark.parametrize(("machine", "loss"), MACHINES)
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("approximation", [None, Nystrom(30), Fourier(40)], ids=lambda a: type(a).__name__)
def test_kernel_machines_are_their_graphs(machine, loss, kernel, approximation):
    scale = "robust" if kernel == "laplacian" else "zscore"
    assert_same(machine(kernel=kernel, scale=scale, sigma="mean", C=8.0, approximation=approximation, **loss).fit(ROWS))


@pytest.mark.parametrize("kernel", ["linear", Polynomial(2)], ids=["linear", "polynomial"])
@pytest.mark.parametrize("approximation", [None, Nystrom(30)], ids=["exact", "landmarks"])
def test_other_kernels_are_their_graphs_too(kernel, approximation):
    assert_same(VAAKELM(kernel=kernel, C=1.0, approximation=approximation).fit(ROWS))


def test_landmarks_that_are_not_whitened_are_their_graphs(monkeypatch):
    from oneclass.machines import approximate

    monkeypatch.setattr(approximate, "_EXTRA_PASS_COST", 1)
    model = VAAKELM(kernel="laplacian", sigma="mean", approximation=Nystrom(20)).fit(ROWS)
    assert model.model_.map.factored is not None
    assert_same(model)


@pytest.mark.parametrize("activation", ["sigmoid", "tanh"])
@pytest.mark.parametrize(
    ("machine", "loss"), [(OCELM, {}), (AAELM, {"loss": "reconstruction"}), (AAELM, {"loss": "predictive"})]
)
def test_machines_with_a_hidden_layer_are_their_graphs(machine, loss, activation):
    assert_same(machine(n_hidden=20, C=8.0, activation=activation, **loss).fit(ROWS))


BASELINES = {
    "PCA": PCADetector(),
    "PCA, one component": PCADetector(n_components=1, scale=False),
    "PCA, no component": PCADetector(n_components=0),
    "PCA, robust": PCADetector(scale="robust"),
    "k-means": KMeansDetector(),
    "k-centres": KCentersDetector(n_init=3),
    "k-NN": KNNDetector(),
    "k-NN, mean of neighbors": KNNDetector(n_neighbors=4, method="delta"),
    "k-NN, mean distance": KNNDetector(n_neighbors=4, method="gamma"),
    "Naive Parzen": NaiveParzen(),
    "Parzen": Parzen(),
    "Parzen, full": Parzen(bandwidth="full"),
    "OCSVM": OCSVM(),
    "OCSVM, Laplacian": OCSVM(kernel=Laplacian(), threshold="boundary", nu=0.1),
    "SVDD": SVDD(threshold="train", delta=0.1),
    "autoencoder": AutoencoderDetector(hidden_layer_sizes=(3, 2), threshold="train"),
    "autoencoder, logistic": AutoencoderDetector(hidden_layer_sizes=2, activation="logistic", threshold="train"),
    "autoencoder, relu": AutoencoderDetector(hidden_layer_sizes=2, activation="relu", threshold="train"),
}


@pytest.mark.parametrize("name", BASELINES)
def test_baselines_are_their_graphs(name):
    assert_same(BASELINES[name].fit(ROWS))


@pytest.mark.parametrize("scale", ["zscore", "robust", False])
@pytest.mark.parametrize("classifier", [PCADetector, KMeansDetector, VAAKELM], ids=lambda c: c.__name__)
def test_huge_rows_are_scored_as_by_the_library(classifier, scale):
    model = classifier(scale=scale).fit(ROWS)
    huge = huge_rows(ROWS)
    said = ask(model, huge)
    np.testing.assert_allclose(said["score"], model.score_samples(huge), rtol=1e-9)
    np.testing.assert_array_equal(said["p_value"], model.p_value(huge))
    np.testing.assert_array_equal(said["label"], model.predict(huge))


@pytest.mark.parametrize("model", [VAAKELM(), *BASELINES.values()], ids=["VAAKELM", *BASELINES])
def test_no_rows_have_no_answers(model):
    assert {name: values.shape for name, values in ask(model.fit(ROWS), ROWS[:0]).items()} == dict.fromkeys(
        ask(model, ROWS[:1]), (0,)
    )


def test_rows_on_what_a_model_describes_have_no_loss_in_either():
    line = np.outer(np.arange(30.0), [1.0, 2.0, 3.0]) / 7 + 1e3
    off = line[:3] + np.array([0, 0, 1e-6])
    for model in (PCADetector(n_components=1).fit(line), KMeansDetector().fit(np.repeat(line[:5], 20, axis=0))):
        X = np.concatenate([line[:5], off])
        np.testing.assert_array_equal(ask(model, X)["score"] == 0, model.score_samples(X) == 0)
        assert (model.score_samples(X) == 0).any()


@pytest.mark.parametrize("n", [3, 63, 64, 65, 300, 4096])
def test_p_values_are_ours_for_any_number_of_held_out_losses(n):
    X = np.round(np.random.default_rng(n).normal(size=(n, 1)), 2)  # many of them equal
    groups = np.arange(n) * 2 // 3  # of one row and of two, each of the same weight
    model = KMeansDetector(n_clusters=2, delta=0.5).fit(X, groups=groups)
    fresh = np.concatenate([X[:500], np.linspace(-9, 9, 500)[:, None]])
    np.testing.assert_array_equal(ask(model, fresh)["p_value"], model.p_value(fresh))


def hostile_rows(dtype):
    """Rows with extreme numbers: in all columns, in one column, or in random columns."""
    info, usual, rng = np.finfo(dtype), ROWS[3].astype(dtype), np.random.default_rng(0)
    sizes = [0, info.smallest_subnormal, info.tiny, 1e30, np.sqrt(info.max), info.max / 2, info.max, np.inf, np.nan]
    values = np.array([*sizes, *np.negative(sizes)], dtype=dtype)
    alternating = np.array([1, -1, 1, -1], dtype=dtype)
    rows = [
        row
        for value in values
        for row in (np.full(4, value), alternating * value, *np.where(np.eye(4, dtype=bool), value, usual))
    ]
    some = np.where(rng.random((60, 4)) < 0.5, rng.choice(values, (60, 4)), usual)
    return np.concatenate([rows, some])


HOSTILE_MODELS = {
    **BASELINES,
    **{
        f"{machine.__name__} {kernel} {approximation} {loss}": machine(
            kernel=kernel, scale=scale, sigma="mean", C=8.0, approximation=approximation, **loss
        )
        for machine, loss in MACHINES
        for kernel, scale in (("rbf", "zscore"), ("laplacian", "robust"))
        for approximation in (None, Nystrom(30), Fourier(40))
    },
    **{
        f"VAAKELM {kernel} {scale}": VAAKELM(kernel=kernel, scale=scale, C=1.0)
        for kernel in ("linear", Polynomial(2))
        for scale in ("zscore", "robust")
    },
    "OCELM": OCELM(n_hidden=20),
    "AAELM": AAELM(n_hidden=20),
}


@pytest.mark.parametrize("name", HOSTILE_MODELS)
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_hostile_rows_have_the_librarys_answers_or_are_outliers_where_it_refuses_them(name, dtype):
    model, rows = HOSTILE_MODELS[name].fit(ROWS), hostile_rows(dtype)
    said, accepted = ask(model, rows, dtype), np.isfinite(rows).all(axis=1)
    assert (said["label"][~accepted] == -1).all()
    np.testing.assert_array_equal(said["score"][~accepted], -np.finfo(dtype).max)
    if model.calibration_ is not None:
        least = model.calibration_.p_value(np.array([np.inf]), None).astype(dtype)
        np.testing.assert_array_equal(said["p_value"][~accepted], np.repeat(least, (~accepted).sum()))
    if "Fourier" in name:  # of a huge angle the cosine is noise
        accepted &= np.abs(np.nan_to_num(rows)).max(axis=1) < 1e6
    known = {name: values[accepted] for name, values in said.items()}
    np.testing.assert_array_equal(known["label"], model.predict(rows[accepted]))
    bound = np.finfo(dtype).max
    scores = np.clip(model.score_samples(rows[accepted]), -bound, bound)
    np.testing.assert_allclose(known["score"], scores, rtol=TOLERANCE[dtype], atol=1e-10 * abs(model.offset_))
    if model.calibration_ is not None:
        np.testing.assert_array_equal(known["p_value"], model.p_value(rows[accepted]).astype(dtype))


@pytest.mark.parametrize("loss", ["reconstruction", "predictive"])
def test_a_machine_of_single_precision_takes_single_precision(loss):
    model = VAAKELM(loss=loss, kernel="laplacian", sigma="mean", C=1.0).fit(ROWS.astype(np.float32))
    graph = to_onnx(model)
    assert graph.graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.FLOAT
    for X in (FRESH.astype(np.float32), hostile_rows("float32")):
        accepted = np.isfinite(X).all(axis=1)
        said = ask(model, X, "float32")
        assert (said["label"][~accepted] == -1).all()
        np.testing.assert_array_equal(said["label"][accepted], model.predict(X[accepted]))
        # The graph computes in double precision; what differs is the rounding of ours.
        np.testing.assert_allclose(said["score"][accepted], model.score_samples(X[accepted]), 1e-4)


@pytest.mark.parametrize("model", [OCKELM(), *BASELINES.values()], ids=["OCKELM", *BASELINES])
def test_rows_are_by_default_of_the_type_of_the_classifiers_own_scores(model):
    kind = model.fit(ROWS.astype(np.float32)).score_samples(ROWS.astype(np.float32)).dtype
    graph = to_onnx(model).graph
    types = {value.name: value.type.tensor_type.elem_type for value in (*graph.input, *graph.output)}
    assert {types["rows"], types["score"]} == {onnx.helper.np_dtype_to_tensor_dtype(kind)}


def test_machines_of_other_libraries_are_exported(xp):
    model = VAAKELM(kernel="laplacian", sigma=2.0).fit(xp.asarray(ROWS))
    np.testing.assert_allclose(ask(model, FRESH)["score"], np.asarray(model.score_samples(xp.asarray(FRESH))), 1e-9)


def test_a_graph_knows_whose_it_is():
    model = PCADetector().fit(pd.DataFrame(ROWS, columns=list("abcd")))
    graph = to_onnx(model)
    known = {pair.key: json.loads(pair.value) for pair in graph.metadata_props}
    expected = {"classifier": "PCADetector", "delta": 0.05, "offset": model.offset_, "feature_names": list("abcd")}
    assert known == expected


def test_a_search_is_its_best_estimator():
    y = np.where(np.arange(len(ROWS)) % 9, 1, -1)
    search = OneClassSearchCV(KMeansDetector(), {"n_clusters": [2, 4]}, cv=2).fit(ROWS, y)
    assert to_onnx(search) == to_onnx(search.best_estimator_)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (OCRF(n_estimators=2), "OCRF: this classifier cannot be written as an ONNX graph"),
        (MSTDetector(), "MSTDetector: this classifier cannot"),
        (OCKELM(kernel=lambda X, Y: X @ Y.T), "OCKELM: the kernel UserKernel cannot be written as an ONNX graph"),
        (OCSVM(kernel="precomputed"), "OCSVM: the kernel Precomputed cannot"),
    ],
)
def test_what_has_no_graph_is_named(model, message):
    X = ROWS[:50]
    with pytest.raises(NotImplementedError, match=message):
        to_onnx(model.fit(X @ X.T if getattr(model, "kernel", None) == "precomputed" else X))


def test_other_types_and_models_are_refused():
    with pytest.raises(ValueError, match="to_onnx: dtype must be 'float32' or 'float64', got 'float16'"):
        to_onnx(PCADetector().fit(ROWS), dtype="float16")
    with pytest.raises(TypeError, match="to_onnx: model must be a classifier of oneclass, got LinearRegression"):
        to_onnx(LinearRegression())
