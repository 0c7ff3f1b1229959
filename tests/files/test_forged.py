"""Files that someone has made with care, whose checksums are right: each is refused, or answers as any other does."""

import dataclasses
import tracemalloc

import numpy as np
import pytest
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

import oneclass
from forging import closed, forged, mutated, opened
from oneclass import (
    AAKELM,
    ModelFileError,
    OneClassPipeline,
    OneClassSearchCV,
    TableDetector,
    make_one_class_pipeline,
)
from oneclass.files.loading import CLASSES
from oneclass.io import checking
from saved import FRESH, KINDS, ROWS, ask, fitted, made, table

#: Characters of a refusal, but for the path: a sentence, or its beginning and three dots.
SENTENCE = 303


@pytest.fixture
def place(tmp_path):
    return tmp_path / "model.oneclass"


def refused(place, content, message="."):
    """Check that the file is refused in one short line."""
    place.write_bytes(content)
    with pytest.raises(ModelFileError, match=message) as caught:
        oneclass.load(place)
    check_sentence(caught.value, place)


def check_sentence(error, place):
    said = str(error)
    assert said.startswith(str(place))
    assert len(said) <= len(str(place)) + 1 + SENTENCE
    assert said.isprintable()


def saved(model, place):
    model.save(place)
    return opened(place.read_bytes())


#: Mutated files of each kind: these are some 500 together, in seconds.
TRIES = 12


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_a_mutated_file_is_refused_or_answers(kind, place):
    model, fresh = made(kind)
    model.save(place)
    content, rng = place.read_bytes(), np.random.default_rng(KINDS.index(kind))
    for _ in range(TRIES):
        place.write_bytes(mutated(content, rng))
        try:
            loaded = oneclass.load(place)
        except ModelFileError as error:
            check_sentence(error, place)
        else:
            ask(loaded, fresh)
            assert type(loaded).__name__ in repr(loaded)
            loaded.save(place)
            oneclass.load(place)


#: Attributes that may hold anything of the kind that files hold: a classifier's `__check__` looks at them, or nothing
#: computes with them.
ANYTHING = {"estimator_", "best_estimator_", "change_detector_", "cv_results_", "best_params_"}
ANYTHING |= {"model", "estimator", "own"}  # of `Learned`, of `Calibrated` and of `WithKnown`


def says_nothing(rule):
    """Whether a value of any type and size would do."""
    inner = (*rule.options, *rule.entries)
    return any(map(says_nothing, inner)) if inner else rule.types == (object,) and not rule.marks


@pytest.mark.parametrize("name", CLASSES)
def test_every_field_of_a_stored_class_has_a_type_and_every_array_a_mark(name):
    rules = checking.rules_of(CLASSES[name])
    if dataclasses.is_dataclass(CLASSES[name]):
        assert rules.keys() == {field.name for field in dataclasses.fields(CLASSES[name])}
    assert {field for field, rule in rules.items() if says_nothing(rule)} <= ANYTHING


def test_every_attribute_of_a_fitted_classifier_is_known_to_files():
    for kind in KINDS:
        model, _ = made(kind)
        known = checking.rules_of(type(model)).keys() | model.get_params(deep=False).keys() | model.__derived__().keys()
        assert vars(model).keys() <= known


# One fault each.


def with_field(header, kind, part, name, node):
    """The header with another node in the last value of a class."""
    record = next(record for record in reversed(header["values"]) if record["class"].endswith(kind))
    record[part][name] = node
    return header


@pytest.mark.parametrize(
    ("kind", "part", "name", "node", "message"),
    [
        ("Scaler", "fields", "asinh", 1, "Scaler: asinh must be bool, got a int"),
        ("DualModel", "fields", "ridge", 0.0, "DualModel: ridge must be a finite number above 0, got 0.0"),
        ("DualModel", "fields", "kernel", {"value": 0}, "DualModel: kernel must be Kernel, got a"),
        ("Recipe", "fields", "loss", "best", "Recipe: loss must be one of 'absolute', .*, got 'best'"),
        ("Recipe", "fields", "C", "most", r"Recipe: C must be a number or one of \('auto', 'likelihood'\)"),
        ("Calibration", "fields", "total", 1e18, "Calibration: total must be 40, got 1e"),
        pytest.param(
            "Calibration",
            "fields",
            "total",
            10**400,
            "Calibration: total must be a finite number above 0, got 1000",
            id="huge",
        ),
        ("VAAKELM", "found", "n_features_in_", 4, r"VAAKELM: .* must .*3"),
        ("VAAKELM", "found", "offset_", {"float": "nan"}, "VAAKELM: offset_ must be a finite number in .*, got nan"),
        ("VAAKELM", "found", "predict", 5, "VAAKELM: 'predict' is not known"),
        ("VAAKELM", "found", "machine_", None, "its content is invalid: AttributeError"),
    ],
)
def test_a_field_that_is_not_what_its_class_says_is_named(kind, part, name, node, message, place):
    header, arrays = saved(fitted("VAAKELM")[0], place)
    refused(place, closed(with_field(header, kind, part, name, node), arrays), f"cannot be read: {message}")


def test_an_attribute_that_is_missing_is_named(place):
    header, arrays = saved(fitted("VAAKELM")[0], place)
    del header["values"][-1]["found"]["offset_"]
    refused(place, closed(header, arrays), "cannot be read: VAAKELM: offset_ must be there")
    header["values"][-1]["found"] = {}
    refused(place, closed(header, arrays), "cannot be read: This VAAKELM instance is not fitted yet")


@pytest.mark.parametrize("case", ["OCKELM", "KNNDetector", "OCSVM", "MSTDetector", "Parzen"])
def test_training_rows_of_another_shape_are_refused(case, place):
    header, arrays = saved(fitted(case)[0], place)
    for i, array in enumerate(arrays):
        if array.ndim == 2 and array.size and array.dtype.kind == "f":
            shapes = (array.reshape(-1, 1), array.reshape(1, -1), array.reshape(-1), array[:, :0])
            for shape in [shape for shape in shapes if shape.shape != array.shape]:
                refused(place, closed(header, [*arrays[:i], shape, *arrays[i + 1 :]]), "must be |must have ")


def test_trees_that_lead_beyond_their_nodes_are_refused(place):
    header, arrays = saved(fitted("OCRF")[0], place)
    for tree in [record for record in header["values"] if record["class"].endswith("ocrf._Tree")]:
        for name in ("features", "split", "children", "bag"):
            i = tree["fields"][name]["array"]
            for odd in (-1, 10**6):
                changed = arrays[i].copy()
                changed.flat[-1] = odd
                message = "must be at least 0" if odd < 0 else "must be below|must name features below 3 and rows below"
                refused(place, closed(header, [*arrays[:i], changed, *arrays[i + 1 :]]), message)
    deep = with_field(header, "_Tree", "fields", "depth", 10**15)
    refused(place, closed(deep, arrays), "_Tree: depth must be below the number of nodes, got 1000000000000000")


RANDOM = {
    "a place beyond the state": ("pos", 10**6),
    "a place before the state": ("pos", -1),
    "a state that is too short": ("key", np.arange(1, 600, dtype=np.uint32)),
    "a state of zeros": ("key", np.zeros(624, dtype=np.uint32)),
    "a state of other numbers": ("key", np.ones(624)),
}


@pytest.mark.parametrize("fault", RANDOM)
def test_a_generator_of_random_numbers_must_be_in_a_state_that_it_can_be_in(fault, place):
    name, odd = RANDOM[fault]
    header, arrays = saved(fitted("VAAKELM landmarks")[0], place)
    state = dict(header["values"][-1]["parameters"]["random_state"]["random"]["dict"])["state"]["dict"]
    pair = next(pair for pair in state if pair[0] == name)
    if name == "key":
        arrays[pair[1]["array"]] = odd
    else:
        pair[1] = odd
    refused(place, closed(header, arrays), "must be in a state of the Mersenne twister")


CLIPPED = {"clip": True} if "clip" in MaxAbsScaler().get_params() else {}  # the lowest scikit-learn does not have it
SCALERS = {
    "MaxAbsScaler": (MaxAbsScaler(**CLIPPED), "scale_"),
    "MinMaxScaler": (MinMaxScaler(clip=True), "min_"),
    "RobustScaler": (RobustScaler(), "center_"),
    "StandardScaler": (StandardScaler().set_output(transform="default"), "mean_"),
}


@pytest.mark.parametrize("name", SCALERS)
def test_a_scaler_of_scikit_learn_comes_back_and_is_checked(name, place):
    scaler, known = SCALERS[name]
    model = make_one_class_pipeline(scaler, oneclass.KNNDetector()).fit(ROWS)
    header, arrays = saved(model, place)
    np.testing.assert_array_equal(oneclass.load(place).score_samples(FRESH), model.score_samples(FRESH))
    i = next(record for record in header["values"] if record["class"].endswith(name))["found"][known]["array"]
    for odd, message in ((arrays[i][:2], r"must be of shape \(d\)"), (arrays[i] * np.nan, "must be finite")):
        refused(place, closed(header, [*arrays[:i], odd, *arrays[i + 1 :]]), f"{name}: .* {message}")
    refused(place, closed(with_field(header, name, "found", known, None), arrays), f"{name}: {known} must be ")


STEPS = {
    "none": [],
    "no list": "steps",
    "no pairs": [["a", None]],
    "a number for a name": [{"tuple": [1, None]}],
    "a step that is no transformer": [{"tuple": ["first", 3]}, "the last"],
    "a last step that is no estimator": [{"tuple": ["last", 0.5]}],
}


@pytest.mark.parametrize("kind", ["Pipeline", "OneClassPipeline"])
@pytest.mark.parametrize("fault", STEPS)
def test_steps_of_a_pipeline_that_it_could_not_go_through_are_refused(kind, fault, place):
    steps = [("first", StandardScaler()), ("last", AAKELM(sigma=1.0))]
    pipeline = Pipeline(steps) if kind == "Pipeline" else OneClassPipeline(steps)
    search = OneClassSearchCV(pipeline, {"last__C": [0.5, 2.0]}, cv=3).fit(ROWS, np.repeat([1, -1], [30, 10]))
    header, arrays = saved(search, place)
    record = next(record for record in header["values"] if record["class"].endswith(f".{kind}"))
    last = record["parameters"]["steps"][-1]
    record["parameters"]["steps"] = [last if step == "the last" else step for step in STEPS[fault]]
    refused(place, closed(header, arrays), f"cannot be read: {kind}: ")


@pytest.mark.parametrize("keys", [[k * (2**61 - 1) for k in range(9)], [[1, 2]], [1.5], ["a", "a"], [1, True]])
def test_a_dict_with_keys_that_could_collide_is_refused(keys, place):
    header, arrays = saved(TableDetector().fit(table()), place)
    nodes = [[{"tuple": key} if isinstance(key, list) else key, "drop"] for key in keys]
    header["values"][-1]["parameters"]["columns"] = {"dict": nodes}
    refused(place, closed(header, arrays), "a dict must have small numbers or words as keys, each once")


def test_values_that_refer_twice_to_the_one_before_are_refused(place):
    header, arrays = saved(OneClassSearchCV(AAKELM(sigma=1.0), {"C": [1.0]}, criterion="likelihood").fit(ROWS), place)
    search = next(record for record in header["values"] if record["class"].endswith("OneClassSearchCV"))
    for _ in range(60):
        last = {"value": len(header["values"]) - 1}
        parameters = search["parameters"] | {"estimator": last, "param_grid": {"dict": [["estimator", [last]]]}}
        header["values"].append(search | {"parameters": parameters})
    refused(place, closed(header, arrays), "values are shared so often that to visit them all takes [0-9,]* visits")


def test_values_inside_each_other_without_end_are_refused(place):
    header, arrays = saved(make_one_class_pipeline(oneclass.KNNDetector()).fit(ROWS), place)
    for _ in range(200):
        step = {"tuple": ["last", {"value": len(header["values"]) - 1}]}
        header["values"].append(header["values"][-1] | {"parameters": {"steps": [step]}})
    refused(place, closed(header, arrays), "values are nested more than 100 deep")
    header["values"] = header["values"][:-200]
    header["values"][-1]["parameters"]["verbose"] = node = []
    for _ in range(200):
        node.append([])
        node = node[0]
    refused(place, closed(header, arrays), "values are nested more than 100 deep")


LONG = 16 << 20
HEADERS = {
    "empty lists": (b"[],", b"[]"),
    "empty dicts": (b"{},", b"{}"),
    "lists in lists": (b"[[[]]],", b"[]"),
    "what is no UTF-8": (b"\xff" * 8, b"\xff"),
    "one word": (b"a" * 8, b'"'),
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_long_header_takes_a_small_multiple_of_its_size(name, place):
    part, last = HEADERS[name]
    start, end = b'{"arrays":[],"values":[' + b'"' * (name == "one word"), last + b"]}"
    content = forged(start + part * ((LONG - len(start) - len(end)) // len(part)) + end)
    place.write_bytes(content)
    tracemalloc.start()
    try:
        refused(place, content)
        # Python 3.14 needs 5 copies to find out that a text is no UTF-8, and earlier versions 2.
        assert tracemalloc.get_traced_memory()[1] < (8 if name == "what is no UTF-8" else 5) * len(content)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("brackets", [1 << 19, (1 << 19) - 100])
def test_as_many_dicts_as_a_header_may_have_take_a_bounded_memory(brackets, place):
    content = forged(b'{"arrays":[],"values":[' + b'{"":0},' * brackets + b"0]}")
    place.write_bytes(content)
    tracemalloc.start()
    try:
        refused(place, content)
        assert tracemalloc.get_traced_memory()[1] < 256 << 20
    finally:
        tracemalloc.stop()


WORDS = "\x1b[2J\x07red\r\n\u202e" + "x" * 10**6
NAMING = {
    "a class": {"values": [{"class": WORDS, "fields": {}}]},
    "a field": {"values": [{"class": "core.scaling.Scaler", "fields": {WORDS: 0}}]},
    "a kind of node": {"values": [{"class": "core.scaling.Scaler", "fields": {"centre": {WORDS: 0}}}]},
    "a number": {"values": [{"class": "core.scaling.Scaler", "fields": {"centre": {"float": WORDS}}}]},
    "a choice": {"values": [{"class": "core.approximation.Nystrom", "fields": {"m": 1, "landmarks": WORDS}}]},
    "a library": {
        "arrays": [["float64", "C", [0]]],
        "values": [{"class": "core.scaling.Scaler", "fields": {"centre": {"array": 0, "library": WORDS, "device": 0}}}],
    },
    "a type": {"arrays": [[WORDS, "C", [1]]], "values": []},
    "a huge number": {"values": [{"class": "core.approximation.Nystrom", "fields": {"m": -(10**4000)}}]},
    "half a character": {"values": [{"class": "\ud800", "fields": {}}]},
}


@pytest.mark.parametrize("where", NAMING)
def test_text_from_a_file_is_shown_in_one_short_line(where, place):
    refused(place, forged({"arrays": []} | NAMING[where]))


@pytest.mark.parametrize("word", [b"NaN", b"Infinity", b"-Infinity"])
def test_numbers_that_json_does_not_have_are_refused(word, place):
    refused(place, forged(b'{"arrays":[],"values":[' + word + b"]}"), f"{word.decode()} is no number")


def test_a_mask_of_another_shape_is_refused(place):
    masked = {"masked": [{"array": 0}, {"array": 1}]}
    header = {"values": [{"class": "machines.ockelm.OCKELM", "parameters": {"C": masked}, "found": {}}]}
    refused(place, closed(header, [np.zeros(3), np.zeros(2, dtype=bool)]), "a masked array has values of shape")


# What cannot be loaded is not saved.


def test_a_model_that_could_not_be_loaded_is_not_saved(tmp_path):
    model = fitted("KNNDetector")[0]
    model.offset_ = float("nan")
    with pytest.raises(ValueError, match=r"KNNDetector: no file can hold it: KNNDetector: offset_ must be a finite"):
        model.save(tmp_path / "model.oneclass")
    model = TableDetector(columns={"town": "category"}).fit(table())
    model.set_params(columns={(1, 2): "drop"})
    with pytest.raises(TypeError, match=r"TableDetector: columns has the key \(1, 2\), and may have words and numbers"):
        model.save(tmp_path / "model.oneclass")
    assert list(tmp_path.iterdir()) == []


def test_names_of_columns_do_nothing_to_a_terminal():
    town = "\x1b[2Jto\nwn"
    model = TableDetector().fit(table().rename(columns={"town": town}))
    assert all(line.isprintable() for line in str(model.plan_).splitlines())
    assert r"\x1b[2Jto\nwn" in str(model.plan_)


def test_numbers_of_support_vectors_of_older_files_stay_those_of_the_rows_given(place):
    header, arrays = saved(fitted("SVDD")[0], place)
    rows = oneclass.load(place).support_ + 100
    header["values"][-1]["found"]["support_"] = {"array": len(arrays)}
    place.write_bytes(closed(header, [*arrays, rows]))
    np.testing.assert_array_equal(oneclass.load(place).support_, rows)
