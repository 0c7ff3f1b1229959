"""What a fit takes beside rows and labels is given by name, in the same order by every estimator."""

from inspect import Parameter, isclass, signature

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import oneclass
from classifiers import quick

ESTIMATORS = [
    name
    for name in oneclass.__all__
    if isclass(estimator := getattr(oneclass, name)) and issubclass(estimator, BaseEstimator)
]
METHODS = ("fit", "fit_predict", "partial_fit", "watch", "score", "screen", "fit_chunks")
#: The order of what is given by name.
ORDER = ["q", "top", "outliers", "sample_weight", "groups", "segments", "time", "verbose"]

#: Those of the library; `score` of a pipeline is scikit-learn's.
METHODS_OF = [
    (name, method)
    for name in ESTIMATORS
    for method in METHODS
    if (found := getattr(getattr(oneclass, name), method, None)) and found.__module__.startswith("oneclass.")
]


def test_every_public_estimator_is_tested():
    assert {*oneclass.machines.__all__, *oneclass.baselines.__all__} < set(ESTIMATORS)
    assert {"OneClassPipeline", "OneClassSearchCV", "Stream", "TableDetector"} < set(ESTIMATORS)
    assert {method for _, method in METHODS_OF} == set(METHODS)


@pytest.mark.parametrize(("name", "method"), METHODS_OF)
def test_only_rows_and_labels_are_given_by_position(name, method):
    _, _, *parameters = signature(getattr(getattr(oneclass, name), method)).parameters.values()
    if parameters and parameters[0].name == "y":
        labels = parameters.pop(0)
        assert method == "score" or labels.default is None
    named = [parameter.name for parameter in parameters if parameter.kind is not Parameter.VAR_KEYWORD]
    assert all(parameter.kind in (Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD) for parameter in parameters)
    assert named == sorted(named, key=ORDER.index)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_third_argument_by_position_is_refused(name):
    given = {"OneClassPipeline": ([("knn", oneclass.KNNDetector())],), "OneClassSearchCV": (oneclass.KNNDetector(), {})}
    model = getattr(oneclass, name)(*given[name]) if name in given else quick(name)
    X = np.random.default_rng(0).normal(size=(40, 2))
    for verb in ("fit", "fit_predict", "partial_fit", "screen"):
        if hasattr(model, verb):
            with pytest.raises(TypeError, match="positional argument"):
                getattr(model, verb)(X, None, np.ones(40))


def by_position(name, method):
    parameters = signature(getattr(getattr(oneclass, name), method)).parameters.values()
    kinds = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    return [parameter for parameter in parameters if parameter.kind in kinds][1:]


def test_a_verb_takes_the_same_by_position_from_every_estimator():
    taken = {}
    for name in sorted({*ESTIMATORS} - {"OneClassKFold"}):  # which has the signatures of scikit-learn's splitters
        for method in dir(getattr(oneclass, name)):
            verb = getattr(getattr(oneclass, name), method)
            if not method.startswith("_") and callable(verb) and verb.__module__.startswith("oneclass."):
                parameters = by_position(name, method)
                taken.setdefault(method, {})[tuple(parameter.name for parameter in parameters)] = name
                optional = [parameter.name for parameter in parameters if parameter.default is not Parameter.empty]
                assert optional in ([], ["y"]) or (method in ("learn", "tell") and optional == ["normal"]), (
                    name,
                    method,
                )
    assert {"fit", "predict", "explain", "score_chunks"} < set(taken)
    assert {method: found for method, found in taken.items() if len(found) > 1} == {}


@pytest.mark.parametrize("wrapped", [lambda model: model, oneclass.make_one_class_pipeline, oneclass.TableDetector])
def test_fit_predict_regards_labels_as_fit_does(wrapped):
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[:20] += 30
    y = np.where(np.arange(60) < 20, -1, 1)
    model = wrapped(oneclass.KNNDetector())
    labels = model.fit_predict(X, y)
    np.testing.assert_array_equal(labels, model.fit(X, y).predict(X))
    assert (labels[:20] == -1).all()
