import os
import pickle
import signal

import joblib
import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from oneclass import VAAKELM, KNNDetector, OneClassSearchCV, Stream, TableDetector, make_one_class_pipeline
from oneclass.engines.dask import DaskRows
from oneclass.machines import approximate
from oracle.comparison import assert_agree

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")

NAMES = ["mass", "height", "charge"]
VERBS = ["score_samples", "decision_function", "predict", "p_value"]


@pytest.fixture
def in_this_thread():
    """No cluster: the same graphs, one task after the other."""
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes of one thread each."""
    options = {"dashboard_address": ":0", "silence_logs": 50, "processes": True, "threads_per_worker": 1}
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "10s"}),
        distributed.LocalCluster(n_workers=2, **options) as local,
        distributed.Client(local) as client,
    ):
        yield client


def frame(X):
    return pd.DataFrame(X, columns=NAMES)


COLLECTIONS = {
    "array": lambda X: da.from_array(X, chunks=(170, -1)),
    "array cut across features": lambda X: da.from_array(X, chunks=(300, 2)),
    "one block": lambda X: da.from_array(X, chunks=-1),
    "frame": lambda X: dd.from_pandas(frame(X), npartitions=7),
    "array of unknown length": lambda X: dd.from_pandas(frame(X), npartitions=3).to_dask_array(),
    "frame with empty partitions": lambda X: dd.concat(
        [dd.from_pandas(frame(part), npartitions=2) for part in (X[:400], X[:20], X[400:])]
    ).map_partitions(lambda part: part.iloc[:0] if len(part) == 10 else part, meta=frame(X[:0])),
}


@pytest.mark.usefixtures("in_this_thread")
@pytest.mark.parametrize("collection", COLLECTIONS)
def test_a_collection_is_the_rows_in_memory(vaakelm, judgement, rows, fresh, collection):
    model = vaakelm().fit(COLLECTIONS[collection](rows))
    assert_agree(judgement(model, fresh), judgement(vaakelm().fit(rows), fresh), 1e-10)
    assert model.n_features_in_ == 3
    assert list(getattr(model, "feature_names_in_", [])) == NAMES * collection.startswith("frame")


@pytest.mark.usefixtures("in_this_thread")
def test_a_collection_is_the_rows_in_memory_for_every_machine(machine, judgement, rows, fresh):
    model = machine().fit(da.from_array(rows, chunks=(60, -1)))
    assert_agree(judgement(model, fresh), judgement(machine().fit(rows), fresh), 1e-10)


@pytest.mark.usefixtures("in_this_thread")
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("collection", COLLECTIONS)
def test_answers_about_a_collection_are_lazy_and_those_about_its_rows(vaakelm, rows, collection, verb):
    X = COLLECTIONS[collection](rows)
    named = collection.startswith("frame")
    model = vaakelm().fit(frame(rows) if named else rows)
    answer = getattr(model, verb)(X)
    expected = getattr(model, verb)(frame(rows) if named else rows)
    assert isinstance(answer, da.Array)
    assert answer.dtype == expected.dtype
    assert answer.ndim == 1
    computed = answer.compute()
    assert computed.dtype == expected.dtype
    assert_agree(computed, expected, 1e-12)


@pytest.mark.usefixtures("in_this_thread")
def test_asking_about_a_collection_reads_none_of_it(vaakelm, rows):
    def refuse(block):
        raise AssertionError("a block was read")

    model = vaakelm().fit(rows)
    X = da.from_array(rows, chunks=(100, -1)).map_blocks(refuse, dtype=float, meta=np.empty((0, 3)))
    for verb in VERBS:
        answer = getattr(model, verb)(X)
        with pytest.raises(AssertionError, match="a block was read"):
            answer.compute()


@pytest.mark.parametrize("verb", [*VERBS, "reconstruct"])
def test_a_graph_of_answers_holds_the_model_once(rows, verb):
    X = da.zeros((1000, 3), chunks=(100, 3))
    model = VAAKELM().fit(rows)
    sizes = sorted(len(distributed.protocol.pickle.dumps(task)) for task in dict(getattr(model, verb)(X).dask).values())
    assert 10 * sizes[-2] < len(pickle.dumps(model.machine_)) < sizes[-1]


@pytest.mark.usefixtures("in_this_thread")
def test_false_discoveries_of_a_collection_are_those_of_its_rows(vaakelm, rows, fresh):
    model = vaakelm().fit(rows)
    batch = np.vstack([rows[:50], fresh])
    labels = model.label_batch(da.from_array(batch, chunks=(30, -1)), q=0.2)
    np.testing.assert_array_equal(labels, model.label_batch(batch, q=0.2))


@pytest.mark.usefixtures("in_this_thread")
def test_a_collection_without_rows_says_so(vaakelm, rows):
    X = dd.from_pandas(frame(rows), npartitions=3)
    with pytest.raises(ValueError, match="the Dask collection holds no rows"):
        vaakelm().fit(X[X.mass > 1e9])


@pytest.mark.usefixtures("in_this_thread")
def test_a_block_that_is_not_finite_is_refused(vaakelm, rows):
    broken = rows.copy()
    broken[700, 1] = np.nan
    with pytest.raises(ValueError, match=r"^VAAKELM: X must hold a number.*X contains NaN"):
        vaakelm().fit(da.from_array(broken, chunks=(100, -1)))


@pytest.mark.usefixtures("in_this_thread")
@pytest.mark.parametrize(
    ("collection", "shape"),
    [
        (lambda X: da.from_array(X[:, 0]), r"\(1000,\)"),
        (lambda X: da.from_array(X[None]), r"\(1, 1000, 3\)"),
        (lambda X: dd.from_pandas(frame(X))["mass"], ""),
    ],
    ids=["one dimension", "three dimensions", "a column"],
)
def test_a_collection_that_is_no_table_is_refused_by_its_shape(vaakelm, rows, collection, shape):
    with pytest.raises(ValueError, match=rf"VAAKELM: X must have two dimensions \(rows, features\), got shape {shape}"):
        vaakelm().fit(collection(rows))
    with pytest.raises(ValueError, match=rf"VAAKELM: X must have two dimensions \(rows, features\), got shape {shape}"):
        vaakelm().fit(rows).score_samples(collection(rows))


@pytest.mark.usefixtures("in_this_thread")
def test_a_column_of_dates_in_a_collection_is_named(vaakelm, rows):
    dated = frame(rows).assign(when=pd.date_range("2020", periods=len(rows)))
    with pytest.raises(ValueError, match="VAAKELM: X must hold a number in every cell, but column 'when' holds dates"):
        vaakelm().fit(dd.from_pandas(dated, npartitions=2))


@pytest.mark.usefixtures("in_this_thread")
@pytest.mark.parametrize(
    "collection", [lambda X: da.from_array(X[:, :2]), lambda X: dd.from_pandas(frame(X)[NAMES[:2]])]
)
def test_a_collection_with_other_features_is_refused_before_it_is_read(vaakelm, rows, collection):
    X = collection(rows)
    model = vaakelm().fit(frame(rows) if hasattr(X, "columns") else rows)
    with pytest.raises(ValueError, match=r"VAAKELM is expecting 3 features|feature names should match"):
        model.score_samples(X)


@pytest.mark.parametrize("collection", [da.from_array, lambda X: dd.from_pandas(frame(X))], ids=["array", "frame"])
@pytest.mark.parametrize(
    "ask",
    [
        lambda rows, X: Stream().fit(X),
        lambda rows, X: Stream().watch(X),
        lambda rows, X: Stream().fit(rows).partial_fit(X),
        lambda rows, X: OneClassSearchCV(VAAKELM(), {"C": [1.0]}).fit(X),
        lambda rows, X: TableDetector().fit(X),
        lambda rows, X: TableDetector().fit(rows).predict(X),
        lambda rows, X: KNNDetector().fit(frame(rows) if hasattr(X, "columns") else rows).score_table(X),
        lambda rows, X: make_one_class_pipeline(StandardScaler(), KNNDetector()).screen(X),
    ],
)
def test_methods_that_need_the_rows_in_memory_raise_an_error(rows, collection, ask):
    with pytest.raises(TypeError, match=r"^\w+(: score_table|: screen)?: rows must be in memory, got a"):
        ask(rows[:100], collection(rows))


# Two worker processes.


@pytest.mark.parametrize("collection", ["array", "frame"])
def test_two_processes_are_one(cluster, vaakelm, judgement, rows, fresh, collection):
    X = COLLECTIONS[collection](rows)
    model = vaakelm().fit(X)
    expected = vaakelm().fit_chunks(frame(rows) if collection == "frame" else rows)
    assert_agree(judgement(model, fresh), judgement(expected, fresh), 1e-10)
    scores, p = dask.compute(model.score_samples(X), model.p_value(X))
    given = frame(rows) if collection == "frame" else rows
    assert_agree(scores, expected.score_samples(given), 1e-10)
    assert_agree(p, expected.p_value(given), 1e-10)


def test_a_worker_killed_in_mid_fit_changes_nothing(cluster, vaakelm, judgement, rows, fresh, tmp_path):
    reads = tmp_path / "reads"
    killed = tmp_path / "killed"

    def read(block, block_info=None):
        """The block; but its third reader of the second pass dies, once."""
        place = block_info[0]["chunk-location"][0]
        with reads.open("a") as log:
            log.write(f"{place}\n")
        again = reads.read_text().split().count(str(place)) > 1
        if place == 2 and again and not killed.exists():
            killed.write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        return block

    X = da.from_array(rows, chunks=(170, -1)).map_blocks(read, dtype=float, meta=np.empty((0, 3)))
    reads.touch()
    workers = {info["pid"] for info in cluster.run(lambda: {"pid": os.getpid()}).values()}
    model = vaakelm().fit(X)
    assert int(killed.read_text()) in workers
    expected = vaakelm().fit(rows)
    assert_agree(model.model_.weights, expected.model_.weights, 1e-10)
    assert_agree(judgement(model, fresh), judgement(expected, fresh), 1e-10)


def test_no_rows_travel_to_the_client(cluster, vaakelm, monkeypatch, tmp_path):
    """Results are small for any number of rows, and blocks are read on the workers only."""
    monkeypatch.setattr(approximate, "_PLAN_ROWS", 300)
    monkeypatch.setattr(approximate, "_UNPLANNED_ROWS", 100)
    monkeypatch.setattr(DaskRows, "loss_limit", 500)
    makers = tmp_path / "makers"
    sizes = []
    gather = distributed.Client.gather

    def weighed(self, *args, **kwargs):
        results = gather(self, *args, **kwargs)
        if not self.asynchronous:
            sizes.append(len(pickle.dumps(results)))
        return results

    def make(block_info=None):
        with makers.open("a") as log:
            log.write(f"{os.getpid()}\n")
        place = block_info[None]["chunk-location"][0]
        return np.random.default_rng(place).normal(size=(2000, 5))

    monkeypatch.setattr(distributed.Client, "gather", weighed)
    X = da.map_blocks(make, chunks=((2000,) * 20, (5,)), dtype=float, meta=np.empty((0, 0)))
    model = vaakelm().fit(X)
    assert len(sizes) == 3
    # The survey's sample of 400 rows, the moments of 5 clusters, the sketch of the losses: 60 kB each of 1.6 MB.
    assert max(sizes) < 60_000 < X.nbytes / 25
    assert str(os.getpid()) not in makers.read_text().split()
    assert np.isfinite(model.offset_)


@pytest.mark.usefixtures("in_this_thread")
@pytest.mark.parametrize("verb", ["reconstruct", "explain"])
@pytest.mark.parametrize("collection", ["array", "frame"])
def test_rebuilding_and_explaining_are_lazy_and_equal_those_in_memory(vaakelm, rows, fresh, verb, collection):
    model = vaakelm().fit(COLLECTIONS[collection](rows))
    found = getattr(model, verb)(COLLECTIONS[collection](fresh))
    assert isinstance(found, da.Array)
    expected = getattr(model, verb)(frame(fresh) if collection == "frame" else fresh)
    assert_agree(found.compute(), expected, 1e-10)


def test_weights_of_a_collection_are_refused(vaakelm, rows):
    with pytest.raises(ValueError, match="VAAKELM: sample_weight must be None for a Dask collection"):
        vaakelm().fit(COLLECTIONS["array"](rows), sample_weight=np.ones(len(rows)))


@pytest.mark.usefixtures("cluster")
def test_a_search_on_the_cluster_is_the_search_here(rows):
    grid = {"C": [1.0, 8.0], "delta": [0.05, 0.1]}
    X, y = np.concatenate([rows[:120], rows[:20] + 3]), np.repeat([1, -1], [120, 20])
    here = OneClassSearchCV(VAAKELM(), grid, cv=3).fit(X, y)
    with joblib.parallel_config(backend="dask"):
        there = OneClassSearchCV(VAAKELM(), grid, cv=3, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(there.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"])
