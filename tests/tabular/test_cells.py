"""The value of a cell does not depend on other cells: it is the same alone, in a batch and in any order."""

import datetime
import decimal
import fractions
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from oneclass import KNNDetector, TableDetector
from oneclass.tabular import sampling
from oneclass.tabular.cells import read_cells
from oneclass.tabular.frames import objects
from oneclass.tabular.planning import Asked, make_plan

EAST = datetime.timezone(datetime.timedelta(hours=2))
NOON = datetime.datetime(2024, 1, 5, 12)
TEXT = [
    *("3", " 3 ", "3.0", "+5", "1e3", "1e400", "007", "1_000", "0x10", "inf", "-inf", "\x1f3", "３", "1,5", "1e20"),
    *("9007199254740993", "9007199254740993.0", "True", "true", " FALSE", "yes", "", "NA", "-", "?", "nan", "NaT"),
    *("a", "A", "Atlantis", "2024-01-05", "2024-02-30", "2024-13-01", "2024-01-05 12:30", "2024-01-05 25:00"),
    *("2024-01-05T12:30:15.123456789", "2024-01-05 12:30+02:00", "2024-01-05 12:30Z", "0000-01-01", "12:30"),
    *("1,080", "1.080", "1.080,5", "-1,080.5", "(1,080)", "$5", "5 kg", " 5kg", "5 %", "0 %", "5-", "1 080", "5 lb"),
    *("1:02:03", "90 min", "2 h 30 min", "11:30 PM", "24:00", "05.01.2024", "31.02.2024", "s", "S", "XL", "May", "may"),
]
NUMBERS = [0, 1, 3, -7, 3.0, 0.5, -0.0, 1e300, np.inf, -np.inf, np.nan, 2**53, 2**53 + 1, 10**400, np.int8(3)]
NUMBERS += [np.uint64(2**63), np.float32(0.1), np.float16(2), np.longdouble(1.5), fractions.Fraction(1, 3), 3 + 0j]
NUMBERS += [decimal.Decimal(text) for text in ("3", "0.5", "NaN", "Infinity", "1e400")]
TIMES = [NOON, NOON.replace(tzinfo=EAST), NOON.replace(tzinfo=datetime.UTC), NOON.date(), NOON.time()]
TIMES += [datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31), datetime.timedelta(seconds=90)]
TIMES += [pd.Timestamp(NOON), pd.Timestamp(NOON, tz="Asia/Tokyo"), pd.Timedelta("90s"), pd.Period("2024-01")]
TIMES += [np.datetime64("2024-01-05"), np.datetime64("2024-01-05T12", "ns"), np.timedelta64(90, "s")]
TIMES += [np.datetime64("NaT", "s"), np.timedelta64("NaT", "s")]
OTHERS = [True, False, np.True_, np.False_, None, pd.NA, pd.NaT, NotImplemented, np.str_("3"), np.bytes_(b"3")]
OTHERS += [b"3", b"a", b"\xff", b"true", b"2024-01-05", b"", (1, 2), frozenset([1])]
CELLS = [*TEXT, *NUMBERS, *TIMES, *OTHERS]


def plans():
    """A plan for each meaning that a column can have, by name."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=60).round(3).tolist()
    days = [NOON + datetime.timedelta(hours=float(hours)) for hours in rng.uniform(0, 9000, 60)]
    columns = {
        "number": (numbers, None),
        "number with gaps": ([None, *numbers[1:]], None),
        "number among words": ([*map(str, numbers[1:]), "odd"], "number"),
        "flag": ([x > 0 for x in numbers], None),
        "flag in words": ([str(x > 0).lower() for x in numbers], None),
        "category": (rng.choice(["a", "A", "True", "true", "3", "007"], 60).tolist(), "category"),
        "category of numbers": (rng.integers(0, 4, 60).tolist(), "category"),
        "category of flags": ([x > 0 for x in numbers], "category"),
        "category of days": (rng.choice(["2024-01-05", "2024-01-06"], 60).tolist(), "category"),
        "date": (days, "date"),
        "clock": (days, "clock"),
        "date in words": ([*map(str, days)], "date"),
        "span": ([datetime.timedelta(seconds=abs(x)) for x in numbers], None),
        "thousands": ([f"{1000 * x:,.0f}" for x in numbers], "thousands"),
        "decimal commas": ([str(x).replace(".", ",") for x in numbers], None),
        "currency": ([f"$ {x:.2f}" for x in numbers], None),
        "percent": ([f"{x} %" for x in numbers], None),
        "unit": ([f"{x} kg" for x in numbers], None),
        "duration": ([f"{abs(x):.0f}:02:03" for x in numbers], "duration"),
        "time of day": ([f"{i % 24:02d}:30" for i in range(60)], None),
        "date by format": ([f"{1 + i % 28:02d}.02.2024" for i in range(60)], "date"),
        "size": (rng.choice(["S", "M", "L"], 60).tolist(), None),
        "grade": (rng.choice(["a", "3", "true"], 60).tolist(), ["a", "3", "true"]),
        "month": (rng.choice(["Jan", "Feb", "May"], 60).tolist(), None),
        "merged category": (rng.choice(["a", "A", "b"], 60).tolist(), "category"),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            name: make_plan(
                {"x": objects(cells)},
                Asked(None if asked is None else {"x": asked}, merge_variants=name == "merged category"),
                owner="Plan",
            )
            for name, (cells, asked) in columns.items()
        }


PLANS = plans()


def taken_by_pandas(cells):
    try:
        return pd.DataFrame({"x": pd.Series(list(cells))})
    except OverflowError:  # older versions of pandas cannot hold huge whole numbers
        reject()


def nullable(table):
    with np.errstate(invalid="ignore"):  # older versions of pandas convert infinity to a whole number
        return table.to_pandas().convert_dtypes()


HOLDERS = {
    "array": lambda cells: {"x": objects(cells)},
    "dict of lists": lambda cells: {"x": list(cells)},
    "frame of objects": lambda cells: pd.DataFrame({"x": pd.Series(objects(cells), dtype=object)}),
    "frame as pandas takes it": taken_by_pandas,
    "frame of polars": lambda cells: pl.DataFrame({"x": pl.Series("x", list(cells), dtype=pl.Object)}),
}


def coded(plan, table):
    """The encoded table, or None if the plan refuses it."""
    try:
        return plan.encode(table, owner="Plan")
    except ValueError:
        return None


def assert_the_same_alone_and_together(plan, table_of, cells):
    alone = [coded(plan, table_of([cell])) for cell in cells]
    refused = [i for i, row in enumerate(alone) if row is None]
    if not refused:
        np.testing.assert_array_equal(plan.encode(table_of(cells), owner="Plan"), np.concatenate(alone))
    elif len(cells) > 1:
        with pytest.raises(ValueError, match=rf"must hold .* in every cell.*first in row {refused[0] + 1}\b"):
            plan.encode(table_of(cells), owner="Plan")


@pytest.mark.filterwarnings("ignore:Plan. column 'x' holds values")
@pytest.mark.parametrize("name", PLANS)
@given(
    cells=st.lists(st.sampled_from(CELLS), min_size=1, max_size=6),
    holder=st.sampled_from([*HOLDERS.values()]),
    may_be_refused=st.booleans(),
    random=st.randoms(use_true_random=False),
)
@settings(max_examples=25)
def test_a_cell_says_the_same_alone_and_in_any_batch_in_any_order(name, cells, holder, may_be_refused, random):
    plan = PLANS[name]
    if not may_be_refused:
        cells = [cell for cell in cells if coded(plan, holder([cell])) is not None]
    for _ in range(2):
        if cells:
            assert_the_same_alone_and_together(plan, holder, cells)
        random.shuffle(cells)


TYPED = {
    "flags": ([True, False], pa.bool_()),
    "whole numbers": ([0, 1, 3, -7, 2**53, 2**53 + 1], pa.int64()),
    "numbers": ([0.5, 3.0, np.nan, np.inf, -0.0, 1e300], pa.float64()),
    "decimals": ([decimal.Decimal(text) for text in ("3", "0.5", "9007199254740993")], pa.decimal128(20, 3)),
    "text": (TEXT, pa.string()),
    "coded text": (TEXT, pa.dictionary(pa.int32(), pa.string())),
    "times": ([NOON, datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31)], pa.timestamp("us")),
    "times of a zone": ([NOON, NOON.replace(month=7)], pa.timestamp("us", "Asia/Tokyo")),
    "days": ([NOON.date()], pa.date32()),
    "times of day": ([NOON.time(), datetime.time(0)], pa.time64("us")),
    "spans": ([datetime.timedelta(seconds=90), datetime.timedelta(-1, microseconds=1)], pa.duration("us")),
    "bytes": ([b"3", b"a", b"\xff", b"true", b""], pa.binary()),
}
LIBRARIES = {
    "arrow": lambda table: table,
    "polars": pl.from_arrow,
    "pandas": lambda table: table.to_pandas(),
    "pandas of arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "nullable": nullable,
}


@pytest.mark.filterwarnings("ignore:Plan. column 'x' holds values")
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("kind", TYPED)
def test_a_cell_of_a_typed_column_says_the_same_alone_and_in_any_batch(kind, library):
    known, type_ = TYPED[kind]
    cells, rng = [*known, None], np.random.default_rng(0)

    def table_of(some):
        return LIBRARIES[library](pa.table({"x": pa.array(some, type_)}))

    for name in ("number among words", "flag in words", "category", "date"):
        plan = PLANS[name]
        accepted = [cell for cell in cells if coded(plan, table_of([cell])) is not None]
        for some in (cells, accepted):
            assert_the_same_alone_and_together(plan, table_of, [some[i] for i in rng.permutation(len(some))])


LISTED = [[True, 3.5], [3, "a"], [True, False], [None, 1], ["3", NOON], [np.datetime64("2024-01-05"), 2]]


@pytest.mark.parametrize("row", range(len(LISTED)))
def test_a_row_of_lists_says_the_same_alone_and_beside_any_other(row):
    listed = {j: objects([cells[j] for cells in LISTED]) for j in range(2)}
    plan = make_plan(listed, Asked(dict.fromkeys((0, 1), "category")), owner="Plan")
    alone = plan.encode(LISTED[row : row + 1], owner="Plan", training=True)
    for other in LISTED:
        for rows in ([LISTED[row], other], [tuple(LISTED[row]), tuple(other)]):
            np.testing.assert_array_equal(plan.encode(rows, owner="Plan", training=True)[:1], alone)


def test_scores_of_a_column_of_mixed_cells_do_not_depend_on_the_batch():
    rng = np.random.default_rng(0)
    model = TableDetector(KNNDetector(), columns={"x": "number"}).fit(
        pd.DataFrame({"x": [*rng.normal(size=60), "odd"], "y": rng.normal(size=61)})
    )
    cells = [True, 3, "3", "2024-13-01", None, decimal.Decimal("0.5"), np.float32(0.5), NOON, np.inf, b"3", "odd"]
    table = pd.DataFrame({"x": pd.Series(cells, dtype=object), "y": 0.0})
    scores = model.score_samples(table)
    np.testing.assert_array_equal(np.concatenate([model.score_samples(table[i : i + 1]) for i in range(11)]), scores)
    order = rng.permutation(11)
    np.testing.assert_array_equal(model.score_samples(table.iloc[order]), scores[order])


@pytest.mark.parametrize("cell", [True, np.True_, 1, "1", decimal.Decimal(1)])
def test_true_is_one_among_numbers(cell):
    plan = PLANS["number"]
    np.testing.assert_array_equal(plan.encode({"x": objects([cell, 0.5])}, owner="Plan")[:, 0], [1.0, 0.5])


def test_true_among_numbers_is_a_number_and_among_words_a_word():
    rng = np.random.default_rng(0)
    numbers = make_plan({"x": objects([True, *rng.normal(size=60)])}, None, owner="Plan")
    words = make_plan({"x": objects(rng.choice(objects([True, False, "unknown"]), 60).tolist())}, None, owner="Plan")
    assert numbers.columns[0].kind == "number"
    assert {*words.columns[0].code.levels} == {"True", "False", "unknown"}


@pytest.mark.parametrize("day", ["2024-13-01", "0000-00-00", "2024-02-30"])
def test_a_date_that_does_not_exist_is_refused_by_name_and_is_not_missing(day):
    days = [f"2024-01-{i % 28 + 1:02d}" for i in np.random.default_rng(1).permutation(40)]
    table = pd.DataFrame({"at": days, "x": np.random.default_rng(0).normal(size=40)})
    with pytest.raises(ValueError, match=f"dates as 2024-12-31, but column 'at' holds '{day}'"):
        TableDetector(KNNDetector(), bad_cells="refuse").fit(table.assign(at=[*days[1:], day]))
    model = TableDetector(KNNDetector(), columns={"at": "date"}, bad_cells="refuse").fit(table)
    for rows in (table[:1], table[:3]):
        with pytest.raises(ValueError, match=f"column 'at' must hold a time in every cell.* '{day}'"):
            model.predict(rows.assign(at=day))


@pytest.mark.parametrize(
    ("first", "second", "levels"),
    [
        (np.array([True, False] * 20), np.arange(40.0) % 3, {"True", "False", "0", "1", "2"}),
        (
            np.array(["2024-01-05", "2024-01-06"] * 20, dtype="datetime64[ns]"),
            objects(["soon", "late"] * 20),
            {"2024-01-05", "2024-01-06", "soon", "late"},
        ),
        (np.array([90] * 40, dtype="timedelta64[ns]"), np.full(40, np.nan), {"0", None}),
    ],
    ids=["flags and numbers", "times and words", "spans and gaps"],
)
def test_cells_of_a_source_are_what_they_are_in_their_chunk(first, second, levels):
    sample = sampling.sample_of([{"x": first}, {"x": second}], "Sample")
    plan = make_plan(sample, Asked({"x": "category"}), owner="Plan")
    assert {*plan.columns[0].code.levels} == levels


@pytest.mark.parametrize("unit", ["M", "W", "D", "s", "ns"])
def test_spans_of_time_of_any_unit_are_seconds_as_cells_and_as_an_array(unit):
    spans = np.array([2, "NaT", -3], dtype=f"timedelta64[{unit}]")
    found, expected = read_cells(objects(list(spans)), "x"), read_cells(spans, "x")
    np.testing.assert_array_equal(found.as_numbers(), expected.as_numbers())
    assert found.span
    assert expected.span


@pytest.mark.parametrize("cell", [[1], {}, np.zeros(1), (1, [2]), decimal.Decimal("sNaN")], ids=str)
def test_cells_that_are_no_values_are_refused_by_their_type(cell):
    with pytest.raises(TypeError, match=f"x must hold numbers, words or times, but holds a {type(cell).__name__}"):
        read_cells(objects([cell, 1]), "x")


@given(st.lists(st.one_of(st.none(), st.sampled_from(TEXT), st.floats().map(repr), st.text(max_size=4)), max_size=16))
def test_a_few_cells_of_text_are_parsed_as_many_are(words):
    few, many = (read_cells(pa.chunked_array([pa.array(words * k, pa.large_string())]), "x") for k in (1, 17))
    assert few.kind == many.kind
    one, other = few.as_words(), many.as_words()
    assert one.levels[one.codes].tolist() == other.levels[other.codes[: len(words)]].tolist()
    np.testing.assert_array_equal(few.measured(), many.measured()[: len(words)])
