"""Chunks of rows become scores, p-values and labels, in order, completely or not at all."""

import csv
import io
import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.preprocessing import OneHotEncoder

import oneclass
from oneclass import KMeansDetector, KNNDetector, OneClassSearchCV, TableFile, make_one_class_pipeline
from oneclass.engines import chunks
from oneclass.io import batches
from oneclass.io import table_file as tables
from saved import CASES, fitted

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(0)
NAMES = ["mass", "height"]
TRAIN = pd.DataFrame(RNG.normal(size=(60, 2)) * [1, 50], columns=NAMES)
FRESH = pd.DataFrame(RNG.normal(size=(230, 2)) * [2, 80], columns=NAMES)
ENDINGS = [".csv", ".tsv", ".csv.gz", ".tsv.zst", ".parquet", ".feather", ".arrow"]


@pytest.fixture(scope="module")
def model():
    return KNNDetector(n_neighbors=3).fit(TRAIN)


@pytest.fixture(autouse=True)
def short_reads(monkeypatch):
    """Files and arrays are read a few rows at a time."""
    monkeypatch.setattr(chunks, "_BLOCK_ROWS", 70)
    monkeypatch.setattr(batches, "_MAX_ROWS", 70)
    monkeypatch.setattr(tables, "_MIN_PIECE_BYTES", 1500)


def written(path):
    """A table that was written, by another reader than our own where there is one."""
    name = Path(path).name
    if name.endswith(".parquet"):
        return pd.read_parquet(path)
    if name.endswith((".feather", ".arrow")):
        return pd.read_feather(path)
    with pa.input_stream(str(path)) as stream:  # which unpacks by the ending
        lines = stream.read().decode().splitlines()
    found = pd.DataFrame(csv.DictReader(lines, delimiter="\t" if ".tsv" in name else ","))
    kinds = {"score": float, "p_value": float, "label": np.int64}
    return found.astype({name: kinds[name] for name in found.columns if name in kinds})


def expected(model, X, delta=None):
    p = {} if model.calibration_ is None else {"p_value": model.p_value(X)}
    return {"score": model.score_samples(X), **p, "label": model.predict(X, delta=delta)}


def assert_written(path, columns):
    found = written(path)
    assert list(found.columns) == list(columns)
    for name, column in columns.items():
        np.testing.assert_allclose(found[name], np.asarray(column, dtype=float), rtol=1e-12, err_msg=name)


@pytest.mark.parametrize("case", CASES)
def test_every_classifier_writes_what_it_says_in_memory(case, tmp_path):
    model, fresh = fitted(case)
    scored = model.score_chunks(fresh, tmp_path / "scored.csv")
    assert scored == (len(fresh), int((model.predict(fresh) == -1).sum()))
    assert_written(tmp_path / "scored.csv", expected(model, fresh))


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_format_holds_every_row_to_the_last_digit(model, ending, tmp_path):
    assert model.score_chunks(FRESH.iloc[:70], tmp_path / f"scored{ending}") == (
        70,
        (model.predict(FRESH[:70]) < 0).sum(),
    )
    found = written(tmp_path / f"scored{ending}")
    for name, column in expected(model, FRESH.iloc[:70]).items():
        np.testing.assert_array_equal(found[name], column)
    assert found["label"].dtype == np.int64


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_kept_stands_beside_its_own_row(model, ending, tmp_path):
    ids = [f"00{i}" if i % 3 else f'a "quoted", one; {i}' for i in range(230)]
    source = FRESH.assign(id=ids, extra=1.5)[["id", "height", "extra", "mass"]]
    path = tmp_path / "rows.csv"
    source.to_csv(path, index=False, float_format="%.17g")
    model.score_chunks(TableFile(path, columns=NAMES, keep=["id"]), tmp_path / f"scored{ending}")
    found = written(tmp_path / f"scored{ending}")
    assert list(found.columns) == ["id", "score", "p_value", "label"]
    assert list(found["id"]) == ids
    np.testing.assert_allclose(found["score"], model.score_samples(FRESH), rtol=1e-12)


def sources(path):
    FRESH.to_csv(path / "rows.csv", index=False, float_format="%.17g")
    FRESH.to_parquet(path / "rows.parquet")
    FRESH[:100].to_feather(path / "first.feather")
    FRESH[100:].to_csv(path / "second.csv.gz", index=False, float_format="%.17g")
    yield "table", FRESH
    yield "tables", [FRESH[:1], FRESH[1:1], FRESH[1:150], FRESH[150:]]
    yield "function", lambda: (FRESH[a : a + 100] for a in (0, 100, 200))
    yield "iterator", iter([FRESH[:100], FRESH[100:]])
    yield "path", path / "rows.csv"
    yield "name", str(path / "rows.parquet")
    yield "files", [path / "first.feather", TableFile(path / "second.csv.gz")]


def test_every_source_of_rows_is_read_once_and_in_order(model, tmp_path):
    for name, source in sources(tmp_path):
        assert model.score_chunks(source, tmp_path / f"{name}.parquet").rows == 230
        assert_written(tmp_path / f"{name}.parquet", expected(model, FRESH))


def test_an_array_file_is_a_source_too(tmp_path):
    model = KMeansDetector().fit(TRAIN.to_numpy())
    np.save(tmp_path / "rows.npy", FRESH.to_numpy())
    model.score_chunks(tmp_path / "rows.npy", tmp_path / "scored.csv")
    assert_written(tmp_path / "scored.csv", expected(model, FRESH.to_numpy()))


def test_another_budget_changes_the_labels_alone(model, tmp_path):
    scored = model.score_chunks(FRESH, tmp_path / "scored.csv", delta=0.3)
    assert_written(tmp_path / "scored.csv", expected(model, FRESH, delta=0.3))
    assert scored.outliers == (model.predict(FRESH, delta=0.3) < 0).sum() > (model.predict(FRESH) < 0).sum()
    with pytest.raises(ValueError, match=r"KNNDetector: delta must be a number in \[0, 1\)"):
        model.score_chunks(FRESH, tmp_path / "scored.csv", delta=2)


def test_arrays_of_every_library_are_scored(xp, tmp_path):
    X, fresh = TRAIN.to_numpy(copy=True), FRESH.to_numpy(copy=True)
    model = oneclass.VAAKELM(kernel="laplacian", sigma=1.0).fit(xp.asarray(X))
    model.score_chunks([xp.asarray(fresh)], tmp_path / "scored.csv")
    plain = oneclass.VAAKELM(kernel="laplacian", sigma=1.0).fit(X)
    found = written(tmp_path / "scored.csv")
    np.testing.assert_allclose(found["score"], plain.score_samples(fresh), rtol=1e-8)
    np.testing.assert_array_equal(found["label"], plain.predict(fresh))


def test_a_machine_on_a_device_writes_what_it_says(tmp_path):
    pytest.importorskip("torch")
    model = oneclass.VAAKELM(device="cpu").fit(TRAIN)
    model.score_chunks(FRESH[:70], tmp_path / "scored.csv")
    assert_written(tmp_path / "scored.csv", expected(model, FRESH[:70]))


def test_a_search_lets_its_best_estimator_score(tmp_path):
    X, y = pd.concat([TRAIN, 5 * TRAIN[:10]]), np.repeat([1, -1], [len(TRAIN), 10])
    search = OneClassSearchCV(KMeansDetector(), {"n_clusters": [2, 3]}, cv=2).fit(X, y)
    search.score_chunks(FRESH, tmp_path / "scored.csv", delta=0.2)
    assert_written(tmp_path / "scored.csv", expected(search.best_estimator_, FRESH, delta=0.2))


def test_a_tail_goes_beyond_the_sample(model, tmp_path):
    far = FRESH.assign(mass=1e6)
    model.score_chunks(far, tmp_path / "scored.csv", tail="pareto")
    np.testing.assert_allclose(
        written(tmp_path / "scored.csv")["p_value"], model.p_value(far, tail="pareto"), rtol=1e-9
    )
    with pytest.raises(ValueError, match="KNNDetector: tail must be one of None, 'pareto'; got 'normal'"):
        model.score_chunks(far, tmp_path / "scored.csv", tail="normal")


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_pipeline_scores_tables_with_text_in_them(ending, tmp_path):
    def colours(n):
        return np.random.default_rng(n).choice(["red", "green"], size=n)

    encode = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough")
    pipe = make_one_class_pipeline(encode, KNNDetector(n_neighbors=3)).fit(TRAIN.assign(colour=colours(60)))
    fresh = FRESH.assign(colour=colours(230), id=[f"r{i}" for i in range(230)])
    path = tmp_path / f"rows{ending}"
    fresh.to_parquet(path) if ending == ".parquet" else fresh.to_csv(path, index=False, float_format="%.17g")
    source = TableFile(path, keep=["id"], text=["colour"])
    scored = pipe.score_chunks(source, tmp_path / "scored.csv", delta=0.1)
    said = fresh.drop(columns="id")
    found = written(tmp_path / "scored.csv")
    assert scored == (230, (pipe.predict(said, delta=0.1) < 0).sum())
    assert list(found["id"]) == list(fresh["id"])
    np.testing.assert_allclose(found["score"], pipe.score_samples(said), rtol=1e-12)
    np.testing.assert_array_equal(found["label"], pipe.predict(said, delta=0.1))
    with pytest.raises(ValueError, match="sink must be another file than the source"):
        pipe.score_chunks(source, path)
    if ending == ".csv":
        with pytest.raises(ValueError, match=r"column 'colour' holds '(red|green)'; .* or call it text="):
            pipe.score_chunks(TableFile(path, keep=["id"]), tmp_path / "scored.csv")


def test_an_open_file_gets_csv_and_stays_open(model, tmp_path):
    file = io.BytesIO()
    model.score_chunks(FRESH, file)
    model.score_chunks(FRESH, tmp_path / "scored.csv")
    assert file.getvalue() == (tmp_path / "scored.csv").read_bytes()
    with (tmp_path / "text.csv").open("w") as text:
        model.score_chunks(FRESH, text)
        text.flush()
    assert (tmp_path / "text.csv").read_bytes() == file.getvalue()


# After an error, the older file is unchanged.


def test_a_row_that_cannot_be_scored_leaves_the_older_file(model, tmp_path):
    path = tmp_path / "scored.csv"
    broken = FRESH.copy()
    broken.iloc[200, 1] = np.nan
    for ending in ENDINGS:
        path = tmp_path / f"scored{ending}"
        path.write_bytes(b"older")
        with pytest.raises(ValueError, match="NaN"):
            model.score_chunks(broken, path)
        assert path.read_bytes() == b"older"
    assert len(list(tmp_path.iterdir())) == len(ENDINGS)


def test_a_name_that_the_model_does_not_know_is_reported(model, tmp_path):
    FRESH.assign(id=1.0).to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(ValueError, match=r"(?s)feature names should match.*id"):
        model.score_chunks(tmp_path / "rows.csv", tmp_path / "scored.csv")
    assert not (tmp_path / "scored.csv").exists()


def test_the_source_is_never_written_over(model, tmp_path):
    path = tmp_path / "rows.csv"
    FRESH.to_csv(path, index=False)
    before = path.read_bytes()
    (tmp_path / "link.csv").symlink_to(path)
    for source in (path, str(path), TableFile(path), [path, path]):
        for sink in (path, tmp_path / "link.csv"):
            with pytest.raises(ValueError, match="KNNDetector: sink must be another file than the source"):
                model.score_chunks(source, sink)
    assert path.read_bytes() == before


def test_a_column_to_keep_is_not_called_as_one_that_is_written(model, tmp_path):
    FRESH.assign(score=1).to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(ValueError, match="KNNDetector: a column to keep must not be called 'score'"):
        model.score_chunks(TableFile(tmp_path / "rows.csv", keep=["score"]), tmp_path / "scored.csv")


@pytest.mark.parametrize("nothing", [[], pd.DataFrame(columns=NAMES), lambda: iter(())])
def test_no_rows_are_no_file(model, tmp_path, nothing):
    with pytest.raises(ValueError, match="KNNDetector: the source holds no rows"):
        model.score_chunks(nothing, tmp_path / "scored.csv")
    (tmp_path / "rows.csv").write_text("mass,height\n")
    with pytest.raises(ValueError, match="KNNDetector: the source holds no rows"):
        model.score_chunks(tmp_path / "rows.csv", tmp_path / "scored.csv")
    assert not (tmp_path / "scored.csv").exists()


def test_sinks_of_other_kinds_are_named(model, tmp_path):
    with pytest.raises(
        ValueError, match=r"a table file must end in .*; got scored.xls; save the sheet as CSV or .xlsx"
    ):
        model.score_chunks(FRESH, tmp_path / "scored.xls")
    with pytest.raises(TypeError, match="a sink must be a path or a binary file that is open, got StringIO"):
        model.score_chunks(FRESH, io.StringIO())
    with pytest.raises(TypeError, match="a sink must be a path or a binary file that is open, got int"):
        model.score_chunks(FRESH, 3)
    with pytest.raises(FileNotFoundError, match=r"nowhere/scored\.csv"):
        model.score_chunks(FRESH, tmp_path / "nowhere" / "scored.csv")


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_disk_that_fills_up_leaves_nothing(model, tmp_path, ending):
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, limits[1]))
    try:
        with pytest.raises(OSError, match=rf"File too large: '.*scored{ending}'"):
            model.score_chunks(FRESH, tmp_path / f"scored{ending}")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == []


def test_a_closed_pipe_is_an_error_of_its_own(model):
    reading, writing = os.pipe()
    os.close(reading)
    with pytest.raises(BrokenPipeError), os.fdopen(writing, "wb", buffering=0) as file:
        model.score_chunks(FRESH, file)


# Many rows.


def test_memory_does_not_grow_with_the_number_of_rows(model, tmp_path):
    def peak(n_blocks):
        source = (FRESH for _ in range(n_blocks))
        tracemalloc.start()
        try:
            assert model.score_chunks(source, tmp_path / "scored.csv.gz").rows == 230 * n_blocks
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(2)  # what is made once for all
    assert peak(40) <= 1.2 * peak(10)


def test_progress_is_shown_if_asked_for(model, tmp_path, capsys):
    model.score_chunks([FRESH] * 3, tmp_path / "scored.csv")
    assert capsys.readouterr() == ("", "")
    model.score_chunks([FRESH] * 3, tmp_path / "scored.csv", verbose=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("\rscores: 690 rows, ")
    assert shown.err.endswith("\n")
