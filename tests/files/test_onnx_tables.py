"""A table detector in a graph: onnxruntime's scores of a table's own columns are ours."""

import numpy as np
import pandas as pd
import pytest

from oneclass import VAAKELM, ColumnWarning, KNNDetector, Nystrom, OneClassSearchCV, PCADetector, TableDetector, to_onnx

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

pytestmark = pytest.mark.filterwarnings("ignore::oneclass.ColumnWarning")


def parcels(n, seed):
    rng = np.random.default_rng(seed)
    grams = rng.gamma(4, 300, n)
    return pd.DataFrame(
        {
            "grams": grams,
            "price": np.where(rng.random(n) < 0.03, np.nan, 3 + grams / 400 + rng.normal(0, 0.3, n)),
            "town": rng.choice(["Bonn", "Graz", "Lyon", "Oslo"], n, p=[0.5, 0.3, 0.19, 0.01]).astype(object),
            "way": np.where(rng.random(n) < 0.1, None, rng.choice(["sea", "air"], n)),
            "insured": rng.random(n) < 0.3,
            "c0": rng.normal(size=n),
            "id": np.arange(n),
        }
    )


def fed(table, plan, dtype):
    """The columns of a table as a graph takes them."""
    kinds = {column.name: column.kind for column in plan.used}
    return {
        name: (table[name].fillna("").astype(str) if kind == "category" else table[name].astype(dtype)).to_numpy()[
            :, None
        ]
        for name, kind in kinds.items()
    }


def ask(model, table, dtype):
    graph = to_onnx(model, dtype=dtype)
    onnx.checker.check_model(graph, full_check=True)
    session = runtime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(["score", "p_value", "label"], fed(table, model.plan_, dtype))


@pytest.mark.parametrize(
    "detector",
    [
        VAAKELM(approximation=Nystrom(40)),
        VAAKELM(),
        PCADetector(),
        KNNDetector(),
        OneClassSearchCV(VAAKELM(), {"sigma": [1.0, 3.0]}, criterion="likelihood"),
    ],
    ids=["landmarks", "exact", "PCA", "k-NN", "a search"],
)
def test_scores_of_tables_are_the_librarys(detector):
    model = TableDetector(detector).fit(parcels(150, 0))
    fresh = parcels(40, 1)
    fresh.loc[:3, "town"] = ["Atlantis", None, "Oslo", "Bonn"]
    fresh.loc[4:8, "grams"] = [np.nan, np.nan, 1e9, -5, 0]  # gaps where training rows had none
    for dtype, tolerance in (("float64", 1e-10), ("float32", 1e-5)):
        rounded = fresh.assign(**{name: fresh[name].astype(dtype) for name in ("grams", "price")})
        score, p, label = ask(model, fresh, dtype)
        np.testing.assert_allclose(score, model.score_samples(rounded), rtol=tolerance)
        np.testing.assert_array_equal(p, model.p_value(rounded).astype(dtype))
        np.testing.assert_array_equal(label, model.predict(rounded))


@pytest.mark.parametrize("detector", [VAAKELM(), PCADetector(), KNNDetector()], ids=["exact", "PCA", "k-NN"])
def test_infinity_is_an_outlier_in_the_library_and_in_a_graph(detector):
    table, common = parcels(150, 0), np.random.default_rng(0).random(150) < 0.3
    table["grams"] = table["grams"].mask(common)
    model = TableDetector(detector).fit(table)
    strange = table[:2].assign(grams=[np.inf, -np.inf])
    with pytest.warns(ColumnWarning, match="column 'grams': 2 not a number: 'inf', '-inf', first in row 1"):
        assert model.predict(strange).tolist() == [-1, -1]
    for dtype in ("float64", "float32"):
        assert ask(model, strange, dtype)[2].tolist() == [-1, -1]


@pytest.mark.parametrize("detector", [VAAKELM(), PCADetector(), KNNDetector()], ids=["exact", "PCA", "k-NN"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")
def test_hostile_cells_are_scored_as_by_the_library(detector, dtype):
    model, info = TableDetector(detector).fit(parcels(150, 0)), np.finfo(dtype)
    numbers = [-0.0, info.smallest_subnormal, np.sqrt(info.max), info.max, -info.max, np.nan]
    hostile = {"grams": numbers, "price": numbers, "c0": numbers, "town": ["Atlantis", None], "way": ["rail", None]}
    usual, rows = parcels(1, 1).astype({"town": object, "way": object}), []
    for chosen in (*([name] for name in hostile), list(hostile)):
        cells = zip(*(hostile[name] for name in chosen), strict=False)
        rows += [usual.assign(**dict(zip(chosen, row, strict=True))) for row in cells]
    table = pd.concat(rows, ignore_index=True)
    score, p, label = ask(model, table, dtype)
    bound, known = info.max, model.score_samples(table)
    np.testing.assert_allclose(score, np.clip(known, -bound, bound), rtol=1e-9 if dtype == "float64" else 1e-4)
    np.testing.assert_array_equal(label, model.predict(table))
    np.testing.assert_array_equal(p, model.p_value(table).astype(dtype))
    assert {1, -1} == {*label}


def test_infinity_is_a_gap_where_words_are():
    table = pd.DataFrame({"x": [*map(str, np.random.default_rng(0).normal(size=40)), "broken"]})
    model = TableDetector(KNNDetector(), columns={"x": "number"}).fit(table)
    strange = pd.DataFrame({"x": [np.inf, -np.inf, np.nan, 0.1]})
    np.testing.assert_allclose(ask(model, strange, "float64")[0], model.score_samples(strange), rtol=1e-10)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_categories_alone_are_a_graph_too(dtype):
    table = parcels(150, 0)[["town", "way"]]
    model = TableDetector(PCADetector()).fit(table)
    np.testing.assert_allclose(ask(model, table, dtype)[0], model.score_samples(table), rtol=1e-5)


@pytest.mark.parametrize("name", ["rows", "n", " ", "Log", "offset", "p-value", "\u00e9", 0, ("a", 1)], ids=str)
@pytest.mark.parametrize("replaced", ["c0", "town"])
def test_a_column_may_have_any_name_that_no_other_tensor_has(name, replaced):
    table = parcels(60, 0)[["grams", "c0", "town"]]
    table.columns = pd.Index([name if column == replaced else column for column in table.columns], dtype=object)
    model = TableDetector(PCADetector()).fit(table)
    session = runtime.InferenceSession(to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"])
    feed = {str(column): table[[column]].to_numpy() for column in table.columns}
    np.testing.assert_allclose(session.run(["score"], feed)[0], model.score_samples(table), rtol=1e-10)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["score", "b"], "a column must not be called 'score', as an output of the graph is"),
        (["label", "b"], "a column must not be called 'label', as an output"),
        (["p_value", "b"], "a column must not be called 'p_value', as an output"),
        (["/c0", "b"], "a column must not be called '/c0': names of inputs are"),
        (["", "b"], "a column must not be called '': names of inputs are"),
        (["\ud800", "b"], r"a column must not be called '\\ud800': names of inputs are"),
        (["1", 1], "columns must have different names as text, but two are called '1'"),
    ],
)
def test_columns_that_no_graph_can_have_as_inputs_are_refused_by_name(names, message):
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)))
    table.columns = pd.Index(names, dtype=object)
    with pytest.raises(ValueError, match=f"to_onnx: {message}"):
        to_onnx(TableDetector(PCADetector()).fit(table))


def test_what_a_graph_cannot_read_is_refused_by_name():
    table = parcels(60, 0).assign(at=pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(60)[::-1] * 7, "h"))
    with pytest.raises(NotImplementedError, match="column 'at', a clock, cannot be read by an ONNX graph: drop it"):
        to_onnx(TableDetector(PCADetector()).fit(table))
