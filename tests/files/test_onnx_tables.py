"""A table detector in a graph: onnxruntime's scores of a table's own columns are ours."""

import numpy as np
import pandas as pd
import pytest

from oneclass import VAAKELM, KNNDetector, Nystrom, OneClassSearchCV, PCADetector, TableDetector, to_onnx

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
        OneClassSearchCV(KNNDetector(), {"n_neighbors": [3, 5]}, criterion="histogram", cv=2),
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
def test_infinity_which_the_library_refuses_is_no_gap_in_a_graph(detector):
    table, common = parcels(150, 0), np.random.default_rng(0).random(150) < 0.3
    table["grams"] = table["grams"].mask(common)
    model = TableDetector(detector).fit(table)
    strange = table[:2].assign(grams=[np.inf, -np.inf])
    with pytest.raises(ValueError, match="column 'grams' must hold a number"):
        model.predict(strange)
    for dtype in ("float64", "float32"):
        assert ask(model, strange, dtype)[2].tolist() == [-1, -1]


def test_categories_alone_are_a_graph_too():
    table = parcels(150, 0)[["town", "way"]]
    model = TableDetector(PCADetector()).fit(table)
    np.testing.assert_allclose(ask(model, table, "float64")[0], model.score_samples(table), rtol=1e-10)


def test_what_a_graph_cannot_read_is_refused_by_name():
    table = parcels(60, 0).assign(at=pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(60)[::-1] * 7, "h"))
    with pytest.raises(NotImplementedError, match="column 'at', a date, cannot be read by an ONNX graph: drop it"):
        to_onnx(TableDetector(PCADetector()).fit(table))
    for name in ("score", "/c0"):
        with pytest.raises(ValueError, match=f"a column must not be called '{name}'"):
            to_onnx(TableDetector(PCADetector()).fit(parcels(60, 0).rename(columns={"grams": name})))
