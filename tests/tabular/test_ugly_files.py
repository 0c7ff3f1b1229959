"""Small files as people have them, each with what must be read from it beside it, and tables in any notation."""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneclass
from oneclass import KNNDetector, TableDetector
from oneclass.io.table_file import TableFile
from oneclass.tabular.codes import CategoryCode, OrdinalCode
from oneclass.tabular.frames import columns_of
from oneclass.tabular.notation import Figures
from oneclass.tabular.planning import Asked, make_plan
from oneclass.tabular.recognising import notation_of

pytestmark = pytest.mark.filterwarnings("ignore::oneclass.ColumnWarning")

UGLY = sorted(Path(__file__).with_name("ugly").glob("*.json"))


def values(plan, column, table):
    """The numbers, times or words that a plan reads in a column."""
    cells = plan.read(table, owner="test", training=True)[column.name]
    if isinstance(column.code, CategoryCode):
        return [*column.code.spelled(cells)]
    if isinstance(column.code, OrdinalCode):
        found = column.code.ranks(cells)
    elif column.kind in ("date", "clock"):
        return [None if np.isnat(time) else time for time in cells.as_times()]
    else:
        found = cells.as_numbers()
    return [None if np.isnan(number) else number for number in found]


@pytest.mark.parametrize("wanted", UGLY, ids=lambda path: path.stem)
def test_an_ugly_file_is_read_as_people_read_it(wanted):
    asked = json.loads(wanted.read_text(encoding="utf-8"))
    [table] = TableFile(wanted.with_suffix(".csv"), text="all", header=True)
    plan = make_plan(table, Asked(**asked["options"]), owner="test")
    for name, cells in asked["cells"].items():
        [column] = [column for column in plan.columns if column.name == name]
        assert column.kind == asked["kinds"][name]
        if column.kind in ("date", "clock"):
            cells = [None if cell is None else np.datetime64(cell, "us") for cell in cells]
        assert values(plan, column, table) == cells
        [alone] = [values(plan, column, table[i : i + 1]) for i in range(1)]
        assert alone == cells[:1]


MARKS = [(".", ""), (".", ","), (",", "."), (".", "'"), (",", " "), (".", " "), (",", "\u00a0")]
UNITS = ["{}", "$ {}", "{} €", "CHF {}", "{} %", "{} kg", "({})"]


def written(number, decimal, thousands, digits):
    text = f"{abs(number):,.{digits}f}".replace(",", "T").replace(".", decimal).replace("T", thousands)
    return text


def found_or_asked(cells, date_format=None):
    """The notation of cells, or the question about it."""
    try:
        return notation_of(cells, len(cells), asked=None, date_format=date_format, owner="test", name="x")
    except ValueError as error:
        question = str(error)
    assert "which may be" in question
    return question


@given(
    numbers=st.lists(st.integers(-(10**9), 10**9), min_size=15, max_size=30, unique_by=abs),
    marks=st.sampled_from(MARKS),
    unit=st.sampled_from(UNITS),
    digits=st.sampled_from([0, 1, 2]),
)
@settings(max_examples=200, deadline=None)
def test_numbers_in_any_notation_are_read_as_they_were_or_asked_about(numbers, marks, unit, digits):
    numbers = [number / 10**digits for number in numbers]
    cells = []
    for number in numbers:
        text = unit.format(written(number, *marks, digits))
        negative = number < 0 and unit != "({})"
        cells.append("-" + text if negative else text)
    meant = [-abs(number) for number in numbers] if unit == "({})" else numbers
    found = found_or_asked(cells)
    if isinstance(found, str):  # 1,080
        return
    notation = Figures() if found is None else found.notation
    read = [notation.read(cell) for cell in cells]
    if None in read:  # without evidence for the separator of thousands, such cells are bad and never another number
        assert marks[0] == "."
        assert marks[1] not in ("", ",")
    assert all(value is None or value == pytest.approx(number) for value, number in zip(read, meant, strict=True))


@given(
    days=st.lists(st.dates(pd.Timestamp("1950-01-01").date(), pd.Timestamp("2049-12-31").date()), min_size=1),
    form=st.sampled_from(["%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d", "%d-%m-%Y", "%d %b %Y", "%b %d, %Y"]),
)
@settings(max_examples=200, deadline=None)
def test_days_in_any_format_are_read_as_they_were_or_asked_about(days, form):
    cells = list(dict.fromkeys(day.strftime(form) for day in days))
    for given_format in (None, form):
        found = found_or_asked(cells, given_format)
        if isinstance(found, str):
            assert given_format is None
            continue
        read = [found.notation.read(cell) for cell in cells]
        assert read == [np.datetime64(day, "us") for day in dict.fromkeys(days)]


@given(text=st.text(max_size=12))
@settings(max_examples=300, deadline=None)
def test_any_text_is_a_number_or_none(text):
    for notation in (Figures(), Figures(",", "."), Figures(".", ",", "kg"), Figures(",", " ", "%")):
        found = notation.read(text.strip())
        assert found is None or np.isfinite(found)


def bad_table():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"x": rng.normal(size=120).astype(str), "y": rng.normal(size=120), "day": "2024-01-05"})


@pytest.mark.parametrize("cell", ["#REF!", "unknown", "inf", "0.33ct", "1,5", "#DIV/0!", "True", "2024-01-05"])
def test_a_row_with_a_bad_cell_is_the_worst_row_and_the_cell_its_reason(cell):
    table = bad_table()
    model = TableDetector(KNNDetector(threshold="held_out")).set_params(columns={"day": "drop"}).fit(table)
    new = table[:20].copy()
    new.loc[7, "x"] = cell
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        scores, labels = model.score_samples(new), model.predict(new)
        p, found = model.p_value(new), model.score_table(new, delta=0.2)
        batch, distance = model.label_batch(new, q=0.2), model.decision_function(new)
    assert "column 'x': 1 not a number: " + repr(cell) + ", first in row 8" in str(told[0].message)
    assert scores.argmin() == 7
    assert np.isfinite(scores).all()
    assert (labels[7], found["label"][7], batch[7], distance.argmin()) == (-1, -1, -1, 7)
    assert p[7] == p.min() == model.calibration_.smallest_budget == found["p_value"][7]
    others = np.arange(20) != 7
    np.testing.assert_array_equal(scores[others], model.score_samples(table[:20])[others])
    [reason] = model.explain(new).top(1)[7]
    assert (reason.column, reason.value) == ("x", cell)
    gaps = new.assign(x=new["x"].mask(new["x"] == cell))
    with pytest.warns(UserWarning, match="cells are treated as missing values"):
        np.testing.assert_array_equal(model.set_params(bad_cells="gap").score_samples(new), model.score_samples(gaps))
    with pytest.raises(ValueError, match="must hold a number in every cell"):
        model.set_params(bad_cells="refuse").predict(new)
    model.set_params(bad_cells="alarm")
    assert model.predict(new[7:8].assign(y=0.0)).tolist() == [-1]


def test_bad_cells_of_chunks_are_counted_once_over_all_chunks(tmp_path):
    table = bad_table().drop(columns="day")
    model = TableDetector(KNNDetector()).fit(table)
    chunks = [table[:10].assign(x="bad"), table[10:20], table[20:30].assign(x="worse")]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", ".*most of these rows are training rows")
        warnings.filterwarnings("ignore", ".*more than chance explains")
        done = model.score_chunks(chunks, tmp_path / "scored.csv", reasons=1)
    assert done.outliers >= 20
    assert [str(note.message) for note in told] == [
        "TableDetector: rows are outliers because a cell is not a value of its column: column 'x': 20 not a number: "
        "'bad', 'worse', first in row 1"
    ]


def test_variants_of_a_category_are_named_and_merged_on_request():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"town": rng.choice(["Bonn", "bonn", "BONN", "New York", "New  york"], 200), "x": 1.0})
    table["x"] = rng.normal(size=200)
    with pytest.warns(UserWarning, match="differ in case or spaces only.*'town' holds .*merge_variants=True"):
        apart = TableDetector(KNNDetector()).fit(table)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        merged = TableDetector(KNNDetector(), merge_variants=True).fit(table)
    assert (len(apart.plan_.columns[0].code.levels), len(merged.plan_.columns[0].code.levels)) == (5, 2)
    clean = table.assign(town=table["town"].str.casefold().str.replace("  ", " "))
    expected = TableDetector(KNNDetector()).fit(clean)
    np.testing.assert_array_equal(merged.encode(table), expected.encode(clean))
    assert merged.predict(table[:1].assign(town="bONN")).shape == (1,)


def test_months_and_times_of_day_are_near_across_the_year_and_midnight():
    rng = np.random.default_rng(0)
    months = ["January", "February", "March", "October", "November", "December"]
    table = pd.DataFrame({"month": rng.choice(months, 100), "at": [f"{(i * 7 + 20) % 24:02d}:30" for i in range(100)]})
    plan = make_plan(table, owner="test")
    assert [column.kind for column in plan.columns] == ["ordinal", "clock"]
    near, far = (
        np.linalg.norm(np.diff(plan.encode(columns_of(pd.DataFrame(pair), "")), axis=0))
        for pair in (
            {"month": ["December", "January"], "at": ["23:30", "00:30"]},
            {"month": ["January", "July"], "at": ["23:30", "11:30"]},
        )
    )
    assert near < 0.7 < far
    assert plan.restore(plan.encode(table[:5]))[:, 1].tolist() == table["at"][:5].tolist()
    assert plan.restore(plan.encode(table[:5]))[:, 0].tolist() == table["month"][:5].tolist()


def test_a_list_instead_of_a_dict_of_kinds_is_explained():
    with pytest.raises(TypeError, match=r"columns must be a dict from names to kinds.*\['price'\]"):
        TableDetector(columns=["price"]).fit(bad_table())


def test_models_with_notations_are_saved_and_loaded(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({
        "price": [f"$1,{i:03d}.50" for i in rng.integers(0, 999, 60)], "took": [f"{i}:02:03" for i in range(60)],
        "at": [f"{i % 24}:05" for i in range(60)], "day": [f"{i % 28 + 1}.02.2024" for i in range(60)],
        "size": ["S", "M", "L"] * 20,
    }).apply(rng.permutation)  # fmt: skip
    model = TableDetector(KNNDetector(), {"day": "date"}, merge_variants=True).fit(table)
    model.save(tmp_path / "model.oneclass")
    loaded = oneclass.load(tmp_path / "model.oneclass")
    np.testing.assert_array_equal(loaded.score_samples(table), model.score_samples(table))
    assert [column.notation for column in loaded.plan_.columns] == [column.notation for column in model.plan_.columns]
