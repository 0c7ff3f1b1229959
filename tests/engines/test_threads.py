import gc
import pickle
import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from oneclass import VAAKELM, Nystrom, OneClassSearchCV
from oneclass.base import independence
from oneclass.core import arrays
from oneclass.engines import threads
from oneclass.engines.threads import on_one_thread, spread
from oneclass.machines import approximate, exact
from oneclass.selection._exact_path import ExactPath

ROWS = np.zeros((1, 1))


def blas_threads():
    return max(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")


@pytest.fixture(autouse=True)
def two_threads():
    """As many as the BLAS is allowed; the machine may have fewer cores."""
    with threadpool_limits(2):
        if blas_threads() < 2:
            pytest.skip("the BLAS has one thread only")
        yield


def test_results_come_in_order_whatever_finishes_first():
    def step(i):
        time.sleep(0.02 * (i % 2 == 0))
        return i

    assert list(spread(step, range(9), ROWS)) == list(range(9))


def test_blocks_run_side_by_side_each_with_one_thread_of_blas():
    together = threading.Barrier(2, timeout=20)

    def step(_):
        together.wait()  # passes only when two blocks are under way at the same time
        return blas_threads()

    assert list(spread(step, range(4), ROWS)) == [1] * 4
    assert blas_threads() == 2


def test_inside_a_block_nothing_is_spread_again():
    def step(_):
        return set(spread(lambda _: threading.get_ident(), range(3), ROWS)) == {threading.get_ident()}

    assert all(spread(step, range(3), ROWS))


def test_a_single_block_has_all_threads_of_blas():
    assert list(spread(lambda _: blas_threads(), range(1), ROWS)) == [2]


def test_a_second_caller_at_the_same_time_works_alone_and_takes_no_threads_away():
    first = spread(lambda i: i, range(50), ROWS)
    next(first)
    here = threading.get_ident()
    assert set(spread(lambda _: threading.get_ident(), range(5), ROWS)) == {here}
    assert blas_threads() == 1
    assert list(first) == list(range(1, 50))
    assert blas_threads() == 2


def test_what_is_left_half_way_gives_the_threads_back():
    for _ in spread(lambda i: i, range(50), ROWS):
        break
    gc.collect()
    assert blas_threads() == 2
    assert len(set(spread(lambda _: (time.sleep(0.01), threading.get_ident())[1], range(9), ROWS))) > 1


def test_settings_of_the_caller_hold_in_the_blocks():
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        list(spread(lambda i: np.ones(1) / np.zeros(1), range(4), ROWS))


def test_blocks_are_taken_as_cores_come_free():
    taken = []
    results = spread(lambda i: i, (taken.append(i) or i for i in range(100)), ROWS)
    next(results)
    assert len(taken) == 3
    assert list(results) == list(range(1, 100))


def test_an_error_in_a_block_is_raised_and_the_threads_of_blas_come_back():
    def step(i):
        if i == 2:
            raise ValueError("row 2 is bad")
        return i

    with pytest.raises(ValueError, match="row 2 is bad"):
        list(spread(step, range(5), ROWS))
    assert blas_threads() == 2


@pytest.mark.parametrize("chunked", [False, True])
def test_the_number_of_threads_does_not_change_the_machine(chunked):
    X = np.random.default_rng(0).normal(size=(30_000, 4))
    fits = []
    for cores in (1, 2):
        with threadpool_limits(cores):
            machine = VAAKELM(approximation=Nystrom(40))
            fits.append(machine.fit_chunks(np.array_split(X, 7)) if chunked else machine.fit(X))
    np.testing.assert_allclose(fits[0].offset_, fits[1].offset_, rtol=1e-12)
    np.testing.assert_allclose(fits[0].score_samples(X[:500]), fits[1].score_samples(X[:500]), rtol=1e-12)


def test_small_matrices_have_one_thread_of_blas_and_large_ones_all():
    for size, expected in ((threads._MAX_SMALL_ROWS, 1), (threads._MAX_SMALL_ROWS + 1, 2)):
        with on_one_thread(size, ROWS):
            assert blas_threads() == expected
            with on_one_thread(size, ROWS):
                assert blas_threads() == expected
        assert blas_threads() == 2


@pytest.mark.parametrize("approximation", [None, Nystrom(20)], ids=str)
def test_small_fits_and_batches_have_one_thread_of_blas(approximation, monkeypatch):
    seen = set()

    def kernel(X, Y):
        seen.add(blas_threads())
        return np.exp(-((X[:, None] - Y[None]) ** 2).sum(axis=2))

    X = np.random.default_rng(0).normal(size=(60, 2))
    VAAKELM(kernel=kernel, approximation=approximation).fit(X).predict(X[:5])
    assert seen == {1}
    seen.clear()
    monkeypatch.setattr(threads, "_MAX_SMALL_ROWS", 0)
    VAAKELM(kernel=kernel, approximation=approximation).fit(X).predict(X[:5])
    assert seen == {2}


@pytest.mark.parametrize(("approximation", "worked_out"), [(None, "factored"), (Nystrom(40), "known")])
def test_what_uncertainty_takes_is_worked_out_before_threads_ask_for_it(monkeypatch, approximation, worked_out):
    X = np.random.default_rng(0).normal(size=(1500, 3))
    model = pickle.loads(pickle.dumps(VAAKELM(approximation=approximation).fit(X[:700])))
    seen, fitted = [], vars(model.machine_.model)

    def spread(step, blocks, like):
        seen.append(worked_out in fitted)
        return map(step, blocks)

    monkeypatch.setattr(exact, "spread", spread)
    monkeypatch.setattr(arrays, "HOST_BLOCK", 1 << 16)
    assert worked_out not in fitted
    model.decision_function(X)
    assert seen == [True]


def test_a_small_fit_takes_one_thread_from_the_first_product_to_the_last(monkeypatch):
    counted = {}

    def counting(owner, name):
        plain = getattr(owner, name)

        def count(*args):
            counted[name] = blas_threads()
            return plain(*args)

        monkeypatch.setattr(owner, name, count)

    counting(exact.ColumnMoments, "of")
    counting(exact.Scaler, "of")
    for step in ("succession", "crowding"):
        counting(independence, step)
    VAAKELM().fit(np.random.default_rng(0).normal(size=(300, 5)))
    assert counted == {"of": 1, "succession": 1, "crowding": 1}
    assert blas_threads() == 2


def test_small_landmark_systems_are_scored_on_one_thread_for_any_number_of_rows(monkeypatch):
    counted, plain = [], approximate.OwnLandmarks.of

    def count(*args):
        counted.append(blas_threads())
        return plain(*args)

    monkeypatch.setattr(approximate.OwnLandmarks, "of", count)
    VAAKELM(approximation=Nystrom(80)).fit(np.random.default_rng(0).normal(size=(threads._MAX_SMALL_ROWS + 500, 3)))
    assert counted == [1]
    assert blas_threads() == 2


@pytest.mark.parametrize(("criterion", "step"), [("likelihood", "log_likelihood"), ("labels", "decisions")])
@pytest.mark.parametrize(("n", "expected"), [(300, 1), (1500, 2)])
def test_a_search_takes_one_thread_for_few_rows(monkeypatch, n, expected, criterion, step):
    counted, plain = set(), getattr(ExactPath, step)

    def count(*args):
        counted.add(blas_threads())
        return plain(*args)

    monkeypatch.setattr(ExactPath, step, count)
    X = np.random.default_rng(0).normal(size=(n + 50, 3))
    X[n:] += 3
    machine = VAAKELM(approximation=None, sigma=2.0)
    OneClassSearchCV(machine, {"C": [1.0, 8.0]}, criterion=criterion, cv=2).fit(X, np.repeat([1, -1], [n, 50]))
    assert counted == {expected}
