"""What `score` writes: all rows and columns, unchanged, in every format; and tables of databases and sheets."""

import json
import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import oneclass
from oneclass.cli import errors


@pytest.fixture
def ugly(folder, run):
    """A table whose text must come back as it is, and a model of it."""
    rng = np.random.default_rng(0)
    n = 80
    table = pd.DataFrame({
        "price": [f"${v:,.2f}" for v in rng.uniform(500, 3000, n)], "town": rng.choice(["Bonn", " bonn", "Graz"], n),
        "score": rng.normal(size=n).round(3), "zip": [f"{i:05d}" for i in rng.integers(0, 30, n)],
        "note": ["NA", "007", "=1+1", ""] * (n // 4),
    }, dtype=str)  # fmt: skip
    table.loc[5, "price"] = "#REF!"
    table.to_csv("ugly.csv", index=False)
    code, _, err = run("fit ugly.csv -o ugly.oneclass --drop note --method knn")
    assert code == 0, err
    return table


@pytest.mark.parametrize("end", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_every_row_and_column_is_kept_in_order_and_unchanged(ugly, run, end):
    code, _, err = run(f"score ugly.oneclass ugly.csv -o scored{end}")
    assert code == 0, err
    assert "1 not a number: '#REF!', first in row 6" in err
    assert "called score; the results are oneclass_score" in err
    if end == ".jsonl":
        lines = Path("scored.jsonl").read_text(encoding="utf-8").splitlines()
        found = pd.DataFrame([*map(json.loads, lines)])
    elif end == ".parquet":
        found = pd.read_parquet("scored.parquet")
    else:
        found = pd.read_csv(f"scored{end}", sep="\t" if end == ".tsv" else ",", dtype=str, keep_default_na=False)
    assert [*found] == ["row", *ugly, "oneclass_score", "p_value", "label", "reason_1", "reason_2", "reason_3"]
    assert [*map(int, found["row"])] == [*range(1, len(ugly) + 1)]
    for name in ugly:
        assert found[name].tolist() == ugly[name].tolist()
    assert (int(found["label"][5]), found["reason_1"][5][:11]) == (-1, "price=#REF!")


def test_alarms_alone_are_the_outliers_and_sorted_rows_begin_with_the_worst(ugly, run):
    run("score ugly.oneclass ugly.csv -o all.csv")
    run("score ugly.oneclass ugly.csv -o some.csv --only-alarms --sort")
    whole, some = pd.read_csv("all.csv", dtype=str), pd.read_csv("some.csv", dtype=str)
    expected = whole[whole["label"] == "-1"]
    expected = expected.iloc[expected["oneclass_score"].astype(float).argsort(kind="stable")]
    pd.testing.assert_frame_equal(some, expected.reset_index(drop=True))
    assert some["row"][0] == "6"


def test_a_table_with_an_id_gets_no_row_numbers_and_keep_chooses_columns(folder, run):
    run("fit normal.csv -o m.oneclass --method knn --drop note")
    run("score m.oneclass new.csv -o scored.csv")
    scored = pd.read_csv("scored.csv")
    assert [*scored][:7] == ["id", "grams", "price", "town", "note", "zip", "score"]
    pd.testing.assert_frame_equal(scored[[*pd.read_csv("new.csv")]], pd.read_csv("new.csv"))
    run("score m.oneclass new.csv -o some.csv --keep town --reasons 0")
    assert [*pd.read_csv("some.csv")] == ["row", "town", "score", "p_value", "label"]


@pytest.mark.parametrize("kind", ["xlsx", "jsonl", "folder", "pattern", "sqlite", "url", "txt"])
def test_a_table_of_every_kind_is_the_table_of_csv(folder, run, parcels, kind):
    table = parcels(60, 0).drop(columns=["note", "id"])
    options = ""
    place = f"t.{kind}"
    if kind == "xlsx":
        with pd.ExcelWriter(place) as book:
            table.to_excel(book, sheet_name="May", index=False)
            table.to_excel(book, sheet_name="June", index=False)
        options = " --sheet May"
    elif kind == "jsonl":
        table.to_json(place, orient="records", lines=True, double_precision=15)
    elif kind in ("folder", "pattern"):
        (folder / "parts").mkdir()
        table[:30].to_parquet("parts/1.parquet", index=False)
        table[30:].to_parquet("parts/2.parquet", index=False)
        place = "parts" if kind == "folder" else "'parts/*.parquet'"
    elif kind == "txt":
        table.to_csv(place, index=False, sep="|")
    else:
        connection = sqlite3.connect("t.db")
        table.to_sql("parcels", connection, index=False)
        connection.close()
        place, options = ("t.db" if kind == "sqlite" else "sqlite:///t.db"), ' --sql "select * from parcels"'
        if kind == "url":
            pytest.importorskip("sqlalchemy")
    assert run(f"fit {place} -o m.oneclass --method knn --column zip=category{options}")[0] == 0
    expected = oneclass.TableDetector(oneclass.KNNDetector(), {"zip": "category"}).fit(table)
    code, _, err = run(f"score m.oneclass {place} -o scored.csv --reasons 0{options}")
    assert code == 0, err
    np.testing.assert_allclose(pd.read_csv("scored.csv")["score"], expected.score_samples(table), rtol=1e-9)


@pytest.mark.parametrize(
    ("line", "code", "sentence"),
    [
        ('fit t.db --sql "select" -o m.oneclass', errors.BAD_DATA, "t.db: the query failed"),
        ('fit t.db --sql "select 1 as a, 2 as a" -o m.oneclass', errors.BAD_DATA, "names of their own"),
        ('fit t.db --sql "select * from t" -o m.oneclass', errors.BAD_DATA, "the query gives no rows"),
        ('fit t.db --sql "delete from t" -o m.oneclass', errors.BAD_DATA, "the query failed"),
        ('fit none.db --sql "select 1" -o m.oneclass', errors.NO_FILE, "no such SQLite file"),
        ("fit 'none*.parquet' -o m.oneclass", errors.NO_FILE, "no file matches the pattern"),
        ("score m.oneclass new.csv -o scored.ods", errors.BAD_DATA, "must end in one of .csv"),
    ],
)
def test_what_cannot_be_queried_ends_in_one_sentence(folder, run, line, code, sentence):
    connection = sqlite3.connect("t.db")
    connection.execute("create table t (a)")
    connection.close()
    found, _, err = run(line)
    assert (found, sentence in err) == (code, True), err
    assert err.count("\n") == 1


def test_scores_go_to_excel_with_every_row_and_column(folder, run):
    openpyxl = pytest.importorskip("openpyxl")
    assert run("fit new.csv -o m.oneclass --method knn")[0] == 0
    assert run("score m.oneclass new.csv -o scored.xlsx --reasons 0")[0] == 0
    assert run("score m.oneclass new.csv -o scored.csv --reasons 0")[0] == 0
    names, *rows = openpyxl.load_workbook("scored.xlsx").active.iter_rows(values_only=True)
    wanted = pd.read_csv("scored.csv")
    assert [*names] == [*wanted]
    found = pd.DataFrame(rows, columns=names)
    pd.testing.assert_frame_equal(found[["score", "p_value", "label"]], wanted[["score", "p_value", "label"]])
    assert len(found) == len(pd.read_csv("new.csv"))
