"""Every wrapper, and every wrapper of a wrapper, has every verb, and answers as the classifier inside."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

import oneclass
from oneclass import AAKELM, KNNDetector, OneClassSearchCV, TableDetector, make_one_class_pipeline
from oneclass.base.classifier import OneClassClassifier

RNG = np.random.default_rng(0)
ROWS = pd.DataFrame(RNG.normal(size=(90, 3)) * [1.0, 10.0, 0.1] + [5.0, -3.0, 0.0], columns=["a", "b", "c"])
ROWS.iloc[75:] += RNG.normal(size=(15, 3)) * [6.0, 60.0, 0.6]
Y = np.repeat([1, -1], [75, 15])
FRESH = ROWS[::3].reset_index(drop=True)
CLASSIFIER = AAKELM(C=8.0, delta=0.1)


def pipeline(last):
    return make_one_class_pipeline(StandardScaler(), last)


def search(estimator, prefix=""):
    return OneClassSearchCV(estimator, {f"{prefix}C": [2.0, 8.0]}, scoring="auroc", cv=3)


WRAPPERS = {
    "pipeline": pipeline(CLASSIFIER),
    "search": search(CLASSIFIER),
    "table": TableDetector(CLASSIFIER),
    "pipeline of a search": pipeline(search(CLASSIFIER)),
    "pipeline of a table": pipeline(TableDetector(CLASSIFIER)),
    "pipeline of a pipeline": pipeline(pipeline(CLASSIFIER)),
    "search of a pipeline": search(pipeline(CLASSIFIER), "aakelm__"),
    "search of scikit-learn's pipeline": search(make_pipeline(StandardScaler(), CLASSIFIER), "aakelm__"),
    "search of a table": search(TableDetector(CLASSIFIER), "estimator__"),
    "table of a pipeline": TableDetector(pipeline(CLASSIFIER)),
    "table of a search": TableDetector(search(CLASSIFIER)),
}
every = pytest.mark.parametrize("name", WRAPPERS)


def inside(model):
    """The classifier inside fitted wrappers, and two functions: from rows to its rows, and back."""
    if isinstance(model, OneClassSearchCV):
        return inside(model.best_estimator_)
    if isinstance(model, Pipeline):
        before, (classifier, prepare, restore) = model[:-1], inside(model[-1])
        return classifier, lambda X: prepare(before.transform(X)), lambda Z: before.inverse_transform(restore(Z))
    if isinstance(model, TableDetector):
        classifier, prepare, restore = inside(model.estimator_)
        return classifier, lambda X: prepare(model.encode(X)), lambda Z: model.plan_.restore(restore(Z))
    return model, lambda X: X, lambda Z: Z


@pytest.fixture(scope="module", params=WRAPPERS)
def model(request):
    return clone(WRAPPERS[request.param]).fit(ROWS, Y)


OF_ROWS = {
    "score_samples": {},
    "decision_function": {},
    "predict": {"delta": 0.3},
    "p_value": {"tail": "pareto"},
    "label_batch": {"q": 0.4},
    "score_table": {"delta": 0.3, "tail": "pareto"},
}
OF_THE_FIT = ("offset_", "calibration_", "decision_", "held_out_scores_", "held_out_p_values_")
#: Verbs with a test of their own below.
OTHERS = {
    "explain",
    "reconstruct",
    "learn_from",
    "segment_rates",
    "compare_batch",
    "false_alarm_interval",
    "score_chunks",
    "save",
    "screen",
    "fit",
    "fit_predict",
    "suggest",
}


def test_all_verbs_of_the_classifiers_are_tested_here():
    public = {name for name in dir(OneClassClassifier) if not name.startswith(("_", "set_"))}
    assert public - set(dir(BaseEstimator)) <= {*OF_ROWS, *OF_THE_FIT, *OTHERS}


@pytest.mark.parametrize("verb", OF_ROWS)
def test_answers_about_rows_are_those_of_the_classifier_inside(model, verb):
    classifier, prepare, _ = inside(model)
    for options in ({}, OF_ROWS[verb]):
        found = getattr(model, verb)(FRESH, **options)
        expected = getattr(classifier, verb)(prepare(FRESH), **options)
        for part in expected if isinstance(expected, dict) else [...]:
            np.testing.assert_array_equal(found[part], expected[part])


@pytest.mark.parametrize("attribute", OF_THE_FIT)
def test_what_the_fit_learned_is_that_of_the_classifier_inside(model, attribute):
    np.testing.assert_equal(getattr(model, attribute), getattr(inside(model)[0], attribute))


def test_columns_are_those_of_the_given_table(model):
    assert model.n_features_in_ == 3
    assert list(model.feature_names_in_) == list("abc")


def test_the_interval_of_the_false_alarm_rate_is_that_of_the_classifier_inside(model):
    options = {"delta": 0.2, "confidence": 0.9}
    assert model.false_alarm_interval(**options) == inside(model)[0].false_alarm_interval(**options)


def test_reconstructions_are_those_of_the_classifier_in_units_of_the_given_columns(model):
    classifier, prepare, restore = inside(model)
    expected = restore(np.asarray(classifier.reconstruct(prepare(FRESH))))
    np.testing.assert_allclose(model.reconstruct(FRESH).astype(float), expected.astype(float), rtol=1e-12, atol=1e-12)


def test_explanations_have_the_parts_of_the_classifier_and_the_names_of_the_given_columns(model):
    classifier, prepare, restore = inside(model)
    found, expected = model.explain(FRESH, neighbors=2), classifier.explain(prepare(FRESH), neighbors=2)
    # A table has one column more inside: the number of new gaps, of which there are none here.
    np.testing.assert_allclose(found.parts, expected.parts[:, :3])
    if expected.shares.shape == found.shares.shape:
        np.testing.assert_allclose(found.shares, expected.shares)
    assert found.names == ("a", "b", "c")
    assert found.neighbors.shape == (30, 2, 3)
    np.testing.assert_allclose(found.expected.astype(float), restore(expected.expected).astype(float), atol=1e-12)


def test_score_tables_by_chunks_equal_the_verbs(model, tmp_path):
    model.score_chunks([FRESH[:12], FRESH[12:]], tmp_path / "scores.csv", delta=0.3)
    found, expected = pd.read_csv(tmp_path / "scores.csv"), model.score_table(FRESH, delta=0.3)
    for column in expected:
        np.testing.assert_allclose(found[column], expected[column], rtol=1e-12)


def test_a_saved_model_answers_bit_by_bit(model, tmp_path):
    model.save(tmp_path / "model.oneclass")
    loaded = oneclass.load(tmp_path / "model.oneclass")
    assert type(loaded) is type(model)
    np.testing.assert_array_equal(loaded.score_samples(FRESH), model.score_samples(FRESH))
    np.testing.assert_array_equal(loaded.held_out_scores_, model.held_out_scores_)


@every
def test_a_screen_finds_the_rows_that_the_classifier_finds_and_fits_to_the_others(name):
    model = clone(WRAPPERS[name]).fit(ROWS, Y)
    found = model.screen(ROWS)
    classifier, prepare, _ = inside(model)
    expected = clone(classifier).screen(prepare(ROWS))
    assert found.odd.any()
    np.testing.assert_array_equal(found.odd, expected.odd)
    np.testing.assert_array_equal(found.p_values, expected.p_values)
    assert found.classifier is model
    np.testing.assert_array_equal(model.score_samples(FRESH), expected.classifier.score_samples(prepare(FRESH)))
    np.testing.assert_array_equal(model.screen(ROWS).odd, found.odd)


@every
def test_fit_predict_is_fit_then_predict(name):
    model = clone(WRAPPERS[name])
    np.testing.assert_array_equal(model.fit_predict(ROWS, Y), clone(WRAPPERS[name]).fit(ROWS, Y).predict(ROWS))


@pytest.mark.parametrize("classifier", [CLASSIFIER, KNNDetector()], ids=["with reconstruct", "without"])
@pytest.mark.parametrize("wrap", [pipeline, search, TableDetector])
def test_a_wrapper_has_the_verbs_of_its_classifier_and_no_others(wrap, classifier):
    for verb in (*OF_ROWS, *OTHERS):
        assert hasattr(wrap(classifier), verb) == hasattr(classifier, verb), verb


class TestGraphs:
    """ONNX graphs of wrappers, run by onnxruntime."""

    def ask(self, model, X, dtype="float64"):
        onnx, runtime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
        graph = oneclass.to_onnx(model, dtype=dtype)
        onnx.checker.check_model(graph, full_check=True)
        session = runtime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
        names = [one.name for one in session.get_inputs()]
        rows = {name: X[[name]].to_numpy(dtype) for name in names} if names != ["rows"] else {"rows": X.to_numpy(dtype)}
        return dict(zip(("score", "p_value", "label"), session.run(["score", "p_value", "label"], rows), strict=True))

    def assert_same(self, model, dtype="float64", tolerance=1e-10):
        fresh = FRESH.astype(dtype)
        found = self.ask(model, fresh, dtype)
        np.testing.assert_allclose(found["score"], model.score_samples(fresh), rtol=tolerance)
        np.testing.assert_array_equal(found["label"], model.predict(fresh))
        if dtype == "float64":
            np.testing.assert_array_equal(found["p_value"], model.p_value(fresh))

    @pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-10), ("float32", 1e-4)])
    def test_the_graph_of_a_wrapper_answers_as_it_does(self, model, dtype, tolerance):
        if isinstance(model, Pipeline) and isinstance(model[-1], TableDetector):
            with pytest.raises(NotImplementedError, match="a TableDetector behind other steps cannot be written"):
                oneclass.to_onnx(model)
        else:
            self.assert_same(model, dtype, tolerance)

    def test_other_steps_are_refused_by_name(self):
        model = make_one_class_pipeline(PCA(), CLASSIFIER).fit(ROWS)
        with pytest.raises(NotImplementedError, match=r"the step PCA\(\) cannot be written as an ONNX graph"):
            oneclass.to_onnx(model)

    def test_names_of_the_given_columns_are_in_the_graph(self, model):
        if not (isinstance(model, Pipeline) and isinstance(model[-1], TableDetector)):
            known = {pair.key: pair.value for pair in oneclass.to_onnx(model).metadata_props}
            assert json.loads(known["feature_names"]) == list("abc")

    @pytest.mark.parametrize(
        "scaler",
        [
            StandardScaler(with_mean=False),
            StandardScaler(with_std=False),
            RobustScaler(),
            RobustScaler(with_centering=False),
            RobustScaler(with_scaling=False),
            MinMaxScaler((-1, 2)),
            MaxAbsScaler(),
            "passthrough",
        ],
        ids=str,
    )
    def test_scalers_before_a_classifier_are_a_part_of_its_graph_and_file(self, scaler, tmp_path):
        model = make_one_class_pipeline(scaler, CLASSIFIER).fit(ROWS)
        self.assert_same(model)
        model.save(tmp_path / "model.oneclass")
        loaded = oneclass.load(tmp_path / "model.oneclass")
        np.testing.assert_array_equal(loaded.score_samples(FRESH), model.score_samples(FRESH))
