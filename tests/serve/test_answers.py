"""Answers in JSON are those of the library, and refusals are one sentence."""

import json

import numpy as np
import pandas as pd
import pytest

from oneclass import VAAKELM, Stream, TableDetector
from oneclass.serve.answers import answer, read_question


def mixed(n, seed):
    rng = np.random.default_rng(seed)
    sent = pd.date_range("2024-01-01", periods=n, freq="97min")
    return pd.DataFrame({"grams": rng.normal(1500, 100, n).round(1), "town": rng.choice(["Bonn", "Graz"], n),
                         "ok": rng.random(n) < 0.8, "sent": sent})  # fmt: skip


@pytest.fixture(scope="module")
def model():
    return TableDetector(VAAKELM(delta=0.1), {"sent": "clock"}).fit(mixed(200, 0))


@pytest.fixture(scope="module")
def rows():
    rows = mixed(30, 1)
    rows.loc[3, "town"], rows.loc[5, "grams"], rows.loc[7, "grams"] = "Oslo", 9e4, np.nan
    return rows


def asked(model, every=False, **fields):
    return answer(model, read_question(json.dumps(fields).encode()), every=every)


def in_json(rows):
    return json.loads(rows.to_json(orient="records", date_format="iso", date_unit="s"))


@pytest.mark.filterwarnings("ignore::oneclass.ColumnWarning")
def test_answers_are_those_of_the_library(model, rows):
    found = asked(model, rows=in_json(rows), delta=0.02, tail="pareto", reasons=2)
    expected = model.score_table(rows, delta=0.02, tail="pareto")
    for name, values in expected.items():
        np.testing.assert_array_equal([row[name] for row in found["rows"]], values)
    odd = np.flatnonzero(expected["label"] == -1)
    assert found["outliers"] == len(odd) > 0
    assert ["reasons" in row for row in found["rows"]] == (expected["label"] == -1).tolist()
    for i, reasons in zip(odd, model.explain(rows.iloc[odd]).top(2), strict=True):
        said = found["rows"][i]["reasons"]
        assert [(reason["column"], reason["share"]) for reason in said] == [(r.column, r.share) for r in reasons]
    assert "Oslo" in found["warnings"][0]
    json.dumps(found, allow_nan=False)


def test_rows_as_arrays_are_those_as_objects(model, rows):
    rows = rows.drop(3)
    objects, arrays = in_json(rows), [[*row.values()] for row in in_json(rows)]
    expected = asked(model, rows=objects)
    assert asked(model, rows=arrays) == expected
    turned = [row[::-1] for row in arrays]
    assert asked(model, rows=turned, columns=[*rows][::-1])["rows"] == expected["rows"]
    assert answer(model, read_question(json.dumps(arrays).encode())) == expected


@pytest.mark.filterwarnings("ignore::oneclass.ColumnWarning")
def test_every_row_is_explained_on_request(model, rows):
    found = asked(model, every=True, rows=in_json(rows))
    assert all(row["reasons"] for row in found["rows"])
    assert {len(row["reasons"]) for row in asked(model, every=True, rows=in_json(rows), reasons=1)["rows"]} == {1}


@pytest.mark.parametrize("named", [False, True])
def test_classifiers_of_numbers_answer(named):
    X = np.random.default_rng(0).normal(size=(120, 3))
    table = pd.DataFrame(X, columns=["a", "b", "c"]) if named else X
    for model in (VAAKELM(), Stream()):
        model.fit(table)
        found = asked(model, rows=X[:5].tolist(), every=True)
        np.testing.assert_array_equal([row["score"] for row in found["rows"]], model.score_samples(table[:5]))
        assert {reason["column"] for reason in found["rows"][0]["reasons"]} <= set("abc" if named else range(3))


def test_a_cell_that_is_no_value_of_its_column_is_an_alarm(model):
    (row,) = asked(model, rows=[["many", "Bonn", True, None]], reasons=1)["rows"]
    assert (row["label"], row["reasons"][0]["column"]) == (-1, "grams")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "must be JSON"),
        (b"\xff", "must be JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"rows": [[1, NaN]]}', "write null"),
        (b'{"row": []}', "must have the fields"),
        (b"[]", "at least one row"),
        (b'{"rows": {}}', "at least one row"),
        (b'{"rows": [[1]], "columns": "a"}', "columns must be an array of names"),
        (b'{"rows": [[1]], "reasons": true}', "reasons must be a whole number"),
        (b"[1, 2]", "row 1 is not"),
        (b"[{}]", "row 1 is empty"),
        (b'[{"grams": 1}, [1]]', "row 2 is not"),
        (b'[{"grams": 1}, {"town": 1}]', "row 2"),
        (b"[[1, 2]]", r"rows must hold 4 values \(grams, town, ok, sent\), but row 1 holds 2"),
        (b'{"rows": [[1, 2]], "columns": ["a", "a"]}', "different names"),
        (b'[{"grams": 1, "town": "Bonn", "ok": true}]', "lacks 'sent'"),
        (b'[{"grams": {}, "town": "Bonn", "ok": true, "sent": null}]', "holds a dict"),
        (b'{"rows": [[1, "Bonn", true, null]], "delta": "x"}', "delta must be"),
        (b'{"rows": [[1, "Bonn", true, null]], "tail": 3}', "tail must be"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_one_sentence(model, body, said):
    with pytest.raises((ValueError, TypeError), match=said) as error:
        answer(model, read_question(body))
    assert "\n" not in str(error.value)
