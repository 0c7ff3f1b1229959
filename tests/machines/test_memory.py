import gc
import pickle
import tracemalloc

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from oneclass import AAKELM, OCKELM, VAAKELM, VOCKELM, Nystrom, load
from oneclass.base import memory
from oneclass.core import arrays, compiled
from oneclass.engines import memory as in_memory
from oneclass.machines import approximate

N = 2000
CHOICES = [
    (OCKELM, {}),
    (AAKELM, {}),
    (AAKELM, {"kernel": "laplacian"}),
    (AAKELM, {"sigma": "median"}),
    (AAKELM, {"loss": "predictive"}),
    (OCKELM, {"kernel": "precomputed", "threshold": "train"}),
    (VOCKELM, {"variance": "class"}),
    (VAAKELM, {"centering": "own"}),
    (VAAKELM, {"centering": "global", "threshold": "train"}),
    (VAAKELM, {"variance": "laplacian"}),
    (VAAKELM, {"variance": "laplacian", "loss": "predictive"}),
]


def peak_bytes(action):
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("machine", "params"), CHOICES, ids=lambda v: v.__name__ if isinstance(v, type) else str(v))
def test_a_fit_allocates_at_most_three_matrices(machine, params):
    X = np.random.default_rng(0).normal(size=(N, 3))
    if params.get("kernel") == "precomputed":
        X = X @ X.T
    if params.get("variance") == "laplacian":
        params = params | {"variance": np.eye(N)}
    # The blocks of kernel values come on top.
    assert peak_bytes(lambda: machine(**params).fit(X)) <= 3 * N * N * 8 + 4 * arrays.HOST_BLOCK


@pytest.mark.parametrize("weights", [None, np.arange(300) % 2], ids=["all rows", "half of the rows"])
def test_a_fit_keeps_no_kernel_matrix(machine, weights):
    rebuilding = machine in (AAKELM, VAAKELM)
    model = machine(kernel="precomputed", **{"loss": "reconstruction"} if rebuilding else {})
    X = np.random.default_rng(0).normal(size=(300, 3))
    model.fit(np.eye(300), sample_weight=weights)  # the first fit of a thread also allocates what all fits share
    tracemalloc.start()
    try:
        K = rbf_kernel(X, gamma=0.1)
        model.fit(K, sample_weight=weights)
        learnt, matrix = 300 if weights is None else 150, K.nbytes
        del K
        gc.collect()
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    # A machine that rebuilds kernel values has a weight for each of them.
    assert held < 0.2 * matrix + rebuilding * 8 * learnt**2


@pytest.mark.parametrize("loss", ["reconstruction", "predictive"])
def test_a_fit_that_holds_out_every_row_allocates_one_matrix(loss):
    X = np.random.default_rng(0).normal(size=(N, 3))
    assert peak_bytes(lambda: VAAKELM(loss=loss).fit(X)) <= 1.1 * N * N * 8 + 4 * arrays.HOST_BLOCK


@pytest.mark.filterwarnings("ignore::oneclass.FewRowsWarning")
@pytest.mark.parametrize(("train", "features", "n"), [(100, 4, 200_000), (10, 400, 10_000)], ids=["long", "wide"])
def test_scoring_allocates_little_beyond_its_output(machine, train, features, n):
    rng = np.random.default_rng(0)
    model = machine(delta=0.1).fit(rng.normal(size=(train, features)))
    Z = rng.normal(size=(n, features))
    compiled.load()  # once a process, where numba is there
    # A few blocks, and the scores twice: in parts and joined.
    assert peak_bytes(lambda: model.score_samples(Z)) <= 2 * n * 8 + 8 * arrays.HOST_BLOCK


def test_a_saved_machine_takes_at_most_ten_times_the_bytes_of_its_rows(machine):
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(500, 5)), rng.normal(size=(50, 5))
    model = machine().fit(X)
    saved = pickle.dumps(model)
    assert len(saved) <= 10 * X.nbytes
    np.testing.assert_allclose(pickle.loads(saved).score_samples(Z), model.score_samples(Z), rtol=1e-12)


@pytest.mark.parametrize("params", [{}, {"kernel": "rbf"}, {"loss": "reconstruction"}], ids=str)
@pytest.mark.parametrize("slices", [1, 3])
def test_so_does_one_with_landmarks_and_scores_bit_by_bit_as_before(params, slices, monkeypatch, tmp_path):
    monkeypatch.setattr(in_memory, "_LONGEST_SLICE", -(-700 // slices))
    monkeypatch.setattr(in_memory, "cores", lambda: 1)
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(700, 20)), rng.normal(size=(50, 20))
    model = VAAKELM(approximation=Nystrom(400), **params).fit(X, sample_weight=1 - np.arange(700) % 3 / 4)
    scores = model.score_samples(Z)
    model.save(tmp_path / "model")
    assert (tmp_path / "model").stat().st_size <= 10 * X.nbytes
    saved = pickle.dumps(model)
    assert len(saved) <= 10 * X.nbytes
    assert model.model_.equations is not None or params.get("loss") == "reconstruction"
    for again in (pickle.loads(saved), load(tmp_path / "model")):
        np.testing.assert_array_equal(again.score_samples(Z), scores)
        assert len(pickle.dumps(again)) <= 10 * X.nbytes


def test_rows_that_would_save_little_or_take_long_are_not_kept(monkeypatch):
    X = np.random.default_rng(0).normal(size=(300, 5))
    machine = VAAKELM(approximation=Nystrom(90))
    assert machine.fit(X).model_.equations is None
    assert machine.fit(X[:200]).model_.equations is not None
    monkeypatch.setattr(approximate, "_SAVED_FACTOR_COST", 200 * 90**2 - 1)
    assert machine.fit(X[:200]).model_.equations is None


def test_block_size_changes_nothing(machine, rows, fresh, monkeypatch):
    expected = machine().fit(rows).score_samples(fresh)
    monkeypatch.setattr(arrays, "HOST_BLOCK", 2000)
    np.testing.assert_allclose(machine().fit(rows).score_samples(fresh), expected, rtol=1e-9)


def test_a_fit_that_cannot_fit_says_so_before_it_allocates(machine, xp, monkeypatch):
    X = xp.asarray(np.random.default_rng(0).normal(size=(1000, 2)))
    monkeypatch.setattr(memory, "available_bytes", lambda like: 1_000_000)
    message = rf"{machine.__name__}: an exact fit of 1,000 rows needs about .* but 0.0 GB are free; use approximation="

    def attempt():
        with pytest.raises(MemoryError, match=message):
            machine(approximation=None).fit(X)

    assert peak_bytes(attempt) < 1_000_000


def test_the_approximation_that_the_message_suggests_fits(machine, monkeypatch):
    X = np.random.default_rng(0).normal(size=(1000, 2))
    monkeypatch.setattr(memory, "available_bytes", lambda like: 1_000_000)
    model = machine(approximation=Nystrom(50)).fit(X)
    assert set(model.predict(X)) == {-1, 1}
