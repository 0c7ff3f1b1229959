import re
import tracemalloc
import warnings
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

import oneclass
from oneclass import OCKELM, VAAKELM, Nystrom
from oneclass.core import plan
from oneclass.engines import Chunks, chunks
from oneclass.io import batches
from oneclass.io import table_file as tables
from oneclass.machines import approximate
from oracle.comparison import assert_agree

NAMES = ["mass", "height", "charge"]


class Again:
    """An iterable that can be iterated over again and again."""

    def __init__(self, parts):
        self.parts = parts

    def __iter__(self):
        return iter(self.parts)


def as_it_is(block):
    return np.asarray(block), None


def frame(X):
    return pytest.importorskip("pandas").DataFrame(X, columns=NAMES)


def npy(X, path):
    np.save(path.with_suffix(".npy"), X)
    return path.with_suffix(".npy")


def parquet(X, path):
    pytest.importorskip("pyarrow")
    frame(X).to_parquet(path.with_suffix(".parquet"), row_group_size=170)
    return path.with_suffix(".parquet")


def csv(X, path):
    # Seventeen digits are the number itself.
    frame(X).to_csv(path.with_suffix(".csv"), index=False, float_format="%.17g")
    return path.with_suffix(".csv")


def bare_csv(X, path):
    frame(X).to_csv(path.with_suffix(".csv"), index=False, header=False, float_format="%.17g")
    return path.with_suffix(".csv")


def parts(X):
    """Uneven chunks, out of order, one of them empty."""
    pieces = np.split(X, [1, 130, 130, 500, 999])
    return [pieces[i] for i in (3, 0, 5, 2, 4, 1)]


SOURCES = {
    "array": lambda X, path: X,
    "array by columns": lambda X, path: np.asfortranarray(X),
    "memory map": lambda X, path: np.load(npy(X, path), mmap_mode="r"),
    "raw memory map": lambda X, path: np.memmap(npy(X, path), dtype=float, offset=128, shape=X.shape, mode="r"),
    "array file": npy,
    "array file by columns": lambda X, path: npy(np.asfortranarray(X), path),
    "name of a file": lambda X, path: str(npy(X, path)),
    "Parquet": parquet,
    "CSV": csv,
    "CSV without names": bare_csv,
    "table": lambda X, path: frame(X),
    "arrays": lambda X, path: parts(X),
    "tables": lambda X, path: [frame(part) for part in parts(X)],
    "lists": lambda X, path: [part.tolist() for part in parts(X) if len(part)],
    "array files": lambda X, path: [npy(part, path.with_name(str(i))) for i, part in enumerate(parts(X))],
    "files of two kinds": lambda X, path: [parquet(X[:600], path), csv(X[600:], path)],
    "function": lambda X, path: lambda: (part for part in parts(X)),
    "iterable": lambda X, path: Again(parts(X)),
}


@pytest.fixture
def short_reads(monkeypatch):
    """Files and arrays are read a few rows at a time."""
    monkeypatch.setattr(chunks, "_BLOCK_ROWS", 150)
    monkeypatch.setattr(batches, "_MAX_ROWS", 150)
    monkeypatch.setattr(tables, "_MIN_PIECE_BYTES", 3000)


@pytest.mark.usefixtures("short_reads")
@pytest.mark.parametrize("source", SOURCES)
def test_every_source_is_the_rows_in_memory(vaakelm, judgement, rows, fresh, tmp_path, source):
    model = vaakelm().fit_chunks(SOURCES[source](rows, tmp_path / "rows"))
    assert_agree(judgement(model, fresh), judgement(vaakelm().fit(rows), fresh), 1e-10)
    named = source in ("Parquet", "CSV", "table", "tables", "files of two kinds")
    assert list(getattr(model, "feature_names_in_", [])) == NAMES * named
    assert model.n_features_in_ == 3


@pytest.mark.usefixtures("short_reads")
def test_arrays_of_every_library_are_sources(vaakelm, xp, rows, fresh):
    expected = vaakelm().fit(rows)
    for source in (xp.asarray(rows), [xp.asarray(part) for part in parts(rows)]):
        model = vaakelm().fit_chunks(source)
        assert_agree(model.score_samples(xp.asarray(fresh)), expected.score_samples(fresh), 1e-9)
        assert_agree(model.p_value(xp.asarray(fresh)), expected.p_value(fresh), 1e-9)


def test_chunks_are_the_rows_in_memory_for_every_machine(machine, judgement, rows, fresh):
    expected = judgement(machine().fit(rows), fresh)
    assert_agree(judgement(machine().fit_chunks(parts(rows)), fresh), expected, 1e-10)


@given(seed=st.integers(0, 2**32 - 1), n_chunks=st.integers(1, 60))
def test_chunks_of_any_size_in_any_order_give_the_same_machine(vaakelm, judgement, rows, fresh, seed, n_chunks):
    rng = np.random.default_rng(seed)
    cuts = np.sort(rng.integers(0, 300, size=n_chunks - 1))
    shuffled = rng.permutation(rows[:300])
    model = vaakelm().fit_chunks(np.split(shuffled, cuts))
    assert_agree(judgement(model, fresh), judgement(vaakelm().fit(rows[:300]), fresh), 1e-10)


def test_chunks_in_single_precision_stay_single_and_close_to_double(vaakelm, rows, fresh):
    rows, fresh = (((X - rows.mean(axis=0)) / rows.std(axis=0)).astype(np.float32) for X in (rows, fresh))
    model = vaakelm().fit_chunks(np.array_split(rows, 50))
    double = vaakelm().fit(rows.astype(float))
    scores = model.score_samples(fresh)
    assert scores.dtype == np.float32
    assert_agree(scores, double.score_samples(fresh.astype(float)), 1e-4)
    assert model.offset_ == pytest.approx(double.offset_, rel=1e-3)


def test_a_generator_is_refused_with_advice(vaakelm, rows):
    with pytest.raises(TypeError, match=r"a generator can be read only once.*function that returns a fresh iterator"):
        vaakelm().fit_chunks(part for part in parts(rows))


@pytest.mark.parametrize(
    "nothing", [lambda: [], lambda: np.zeros((0, 3)), lambda: list, lambda: [np.zeros((0, 3))] * 2]
)
def test_a_source_without_rows_says_so(vaakelm, nothing):
    with pytest.raises(ValueError, match="the source of chunks holds no rows"):
        vaakelm().fit_chunks(nothing())


def test_a_source_that_is_none_says_what_would_be_one(vaakelm):
    with pytest.raises(TypeError, match="chunks must be an array, a path, a callable or an iterable, got int"):
        vaakelm().fit_chunks(3)


def test_a_frame_that_is_not_read_yet_is_to_be_collected(vaakelm, rows):
    polars = pytest.importorskip("polars")
    with pytest.raises(TypeError, match="got LazyFrame; collect it first"):
        vaakelm().fit_chunks(polars.DataFrame(rows).lazy())


@pytest.mark.parametrize("more", [1, -1])
def test_another_number_of_rows_on_the_next_pass_is_an_error(vaakelm, rows, more):
    passes = count()
    with pytest.raises(ValueError, match=f"the source gave 500 rows on one pass and {500 + more} on the next"):
        vaakelm().fit_chunks(lambda: [rows[: 500 + more * next(passes)]])


@pytest.mark.parametrize("named", [False, True])
def test_a_chunk_with_other_features_is_refused_by_the_machine(vaakelm, rows, named):
    first, second = (frame(rows), frame(rows)[NAMES[:2]]) if named else (rows, rows[:, :2])
    with pytest.raises(ValueError, match=r"VAAKELM is expecting 3 features|feature names should match"):
        vaakelm().fit_chunks([first, second])
    if named:
        with pytest.raises(ValueError, match="feature names should match"):
            vaakelm().fit_chunks([first, frame(rows)[NAMES[::-1]]])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_chunk_that_is_not_finite_is_refused(vaakelm, xp, rows, value):
    broken = rows.copy()
    broken[3, 1] = value
    with pytest.raises(ValueError, match=r"(?i)X.*(NaN|infinity)"):
        vaakelm().fit_chunks([xp.asarray(rows), xp.asarray(broken)])


def test_a_file_of_an_unknown_kind_is_named(vaakelm):
    with pytest.raises(ValueError, match=r"a table file must end in one of \.csv, .*; got rows.dat"):
        vaakelm().fit_chunks("rows.dat")


@pytest.mark.parametrize("threshold", ["held_out", "train"])
def test_the_rows_are_read_three_times_whatever_the_threshold_looks_at(vaakelm, rows, threshold):
    reads = count()

    def read():
        next(reads)
        return parts(rows)

    vaakelm(threshold=threshold).fit_chunks(read)
    assert next(reads) == 3


@pytest.mark.parametrize(
    ("choices", "groups", "times"),
    [
        ({"approximation": "auto"}, None, 1),
        ({"approximation": None}, None, 1),
        ({}, 250, 7),
        ({"threshold": "train"}, 250, 3),  # training losses know no groups
        ({}, 3, 5),
        ({}, 1000, 3),  # groups of one row each are no groups
    ],
    ids=str,
)
def test_few_rows_are_read_once_and_groups_once_for_each_fold(vaakelm, rows, choices, groups, times):
    reads, table = count(), rows if groups is None else np.column_stack([rows, np.arange(len(rows)) % groups])

    def read():
        next(reads)
        return parts(table)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", oneclass.UnreachableRateWarning)  # of three groups
        vaakelm(**choices).fit_chunks(read, groups=None if groups is None else -1)
    assert next(reads) == times


def test_progress_tells_rows_per_second_and_the_time_left(vaakelm, rows, capsys, monkeypatch):
    seconds = count()
    monkeypatch.setattr(chunks, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    vaakelm().fit_chunks(np.array_split(rows, 4), verbose=True)
    output = capsys.readouterr()
    assert output.out == ""
    # One second a chunk; how many rows there are is known from the second pass on.
    assert re.search(r"\rsurvey: 500 rows, 250 rows/s +\r", output.err)
    for label in ("moments", "held-out losses"):
        for k in range(1, 5):
            shown = f"\r{label}: {250 * k if k < 4 else '1,000'} rows, 250 rows/s, {4 - k} s left"
            assert shown in output.err
    assert output.err.count("\n") == 3


def test_a_fit_is_silent_unless_asked(vaakelm, rows, capsys):
    vaakelm().fit_chunks(parts(rows))
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("threads", "groups"), [(1, None), (2, None), (1, 3)])
def test_memory_does_not_grow_with_the_number_of_rows(monkeypatch, threads, groups):
    monkeypatch.setattr(plan, "_MOST_GROUPS", 400)
    monkeypatch.setattr(approximate, "_PLAN_ROWS", 400)
    monkeypatch.setattr(approximate, "_UNPLANNED_ROWS", 400)
    monkeypatch.setattr(Chunks, "loss_limit", 1000)

    def peak(n_chunks):
        def blocks():
            rng = np.random.default_rng(0)
            return (rng.normal(size=(1000, 4)).round(3) for _ in range(n_chunks))  # thousands of groups

        machine = VAAKELM(C=2.0, sigma=1.5, approximation=Nystrom(20))
        tracemalloc.start()
        try:
            machine.fit_chunks(blocks, groups=groups)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    with threadpool_limits(threads):
        peak(5)  # what is made once for all
        few, many = peak(15), peak(60)
    spare = 2000 * 88  # Python keeps so many tuples of a length, of six here, when they are no longer used
    assert many <= 1.05 * few * threads + spare


def test_a_large_mean_costs_no_digits_of_the_scaling(vaakelm, rows):
    scaled = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    # Rounded as the shifted rows are, so that only what the passes lose is seen.
    near = (scaled + 1e8) - 1e8
    plain, shifted = (vaakelm(scale="zscore").fit_chunks(np.array_split(X, 30)) for X in (near, near + 1e8))
    # Means of 1e8 are rounded to 1.5e-8; sums of squares would be right to 1e16 * 2e-16 = 2 only.
    assert_agree(shifted.scaler_.scale, plain.scaler_.scale, 1e-8)
    assert np.max(np.abs(shifted.scaler_.centre - 1e8 - plain.scaler_.centre)) < 1e-7


@pytest.mark.parametrize("machine", [OCKELM, VAAKELM], ids=lambda m: m.__name__)
def test_chunks_of_one_row_and_its_copies_are_as_good_as_all_of_them_at_once(machine):
    rows, fresh = np.full((30, 2), 3.0), np.array([[3.0, 3.0], [3.0, 4.0]])
    expected = machine().fit(rows)
    model = machine().fit_chunks([rows[:10], rows[10:]])
    np.testing.assert_allclose(model.score_samples(fresh), expected.score_samples(fresh), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(model.predict(fresh), expected.predict(fresh))
    with pytest.raises(ValueError, match="at least 2 rows, got 1"):
        machine().fit_chunks([rows[:1]])
