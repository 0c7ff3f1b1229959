"""Several threads at one stream: calls that change it take turns, and an answer is that of one state."""

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy

import numpy as np
import pytest

from oneclass import AAKELM, KNNDetector, Stream, load
from oneclass.base.threads import lock_of


@pytest.fixture
def often_switched():
    """Threads that take turns as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.fixture
def stream(aakelm):
    return Stream(aakelm, window=200, every=10).fit(np.random.default_rng(0).normal(size=(200, 3)))


def test_rows_that_threads_watch_are_all_learned_and_each_has_a_number_of_its_own(stream, often_switched):
    def watch(seed):
        rng = np.random.default_rng(seed)
        return np.concatenate([stream.watch(rng.normal(size=(10, 3))).rows for _ in range(10)])

    with ThreadPoolExecutor(8) as threads:
        numbers = np.concatenate(list(threads.map(watch, range(8))))
    assert stream.n_seen_ == 1000
    assert sorted(numbers) == list(range(200, 1000))


def test_labels_that_threads_tell_and_events_that_they_forget_are_not_lost(stream, often_switched):
    rows = stream.watch(np.random.default_rng(1).normal(size=(80, 3))).rows

    def tell(row):
        stream.tell(row, normal=False)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(tell, rows[:40]))
    memory = stream.state_.memory
    assert np.all(memory.trust[np.isin(memory.number, rows[:40])] == 0)


def test_an_answer_beside_watch_and_fit_is_that_of_one_state(stream, often_switched):
    fresh = np.random.default_rng(2).normal(size=(20, 3)) * 2
    done = []

    def ask():
        asked = 0
        while not done or asked < 20:
            table = stream.score_table(fresh)
            # Labels are those of the p-values at the level of the same state, which a change of the state moves.
            accepted, rejected = table["p_value"][table["label"] > 0], table["p_value"][table["label"] < 0]
            assert accepted.min(initial=1) > rejected.max(initial=0)
            decisions = stream.decision_function(fresh)
            assert np.all(np.isfinite(decisions))
            asked += 1
        return asked

    with ThreadPoolExecutor(3) as threads:
        asked = [threads.submit(ask) for _ in range(2)]
        for seed in range(60):
            rng = np.random.default_rng(seed)
            stream.watch(rng.normal(size=(20, 3)) * (1 + 10 * (seed % 2)))
            stream.fit(rng.normal(size=(60, 3)) * 10.0 ** rng.integers(-3, 3))
        done.append(True)
        assert all(number.result(timeout=60) >= 20 for number in asked)


VERBS = ["score_samples", "decision_function", "predict", "p_value", "label_batch", "score_table", "explain"]


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("kind", [Stream, KNNDetector, AAKELM], ids=lambda kind: kind.__name__)
def test_an_answer_is_that_of_the_fit_that_was_there_when_it_was_asked_for(monkeypatch, kind, verb):
    rng = np.random.default_rng(0)
    first, second, fresh = rng.normal(size=(60, 2)), 5 + 3 * rng.normal(size=(90, 2)), 2 * rng.normal(size=(30, 2))
    model = kind(delta=0.1).fit(first)
    expected = getattr(deepcopy(model), verb)(fresh)
    read = kind._read

    def read_late(self, X):
        model.fit(second)  # as another thread might
        return read(self, X)

    monkeypatch.setattr(kind, "_read", read_late)
    found = getattr(model, verb)(fresh)
    monkeypatch.undo()
    if verb == "explain":
        found, expected = found.shares, expected.shares
    elif verb == "score_table":
        found, expected = (np.stack(list(table.values())) for table in (found, expected))
    np.testing.assert_array_equal(found, expected)
    assert not np.array_equal(model.score_samples(fresh), kind(delta=0.1).fit(first).score_samples(fresh))


def test_an_event_callback_may_call_the_stream_from_another_thread(aakelm):
    def forget(event):
        if event.kind == "change":
            with ThreadPoolExecutor(1) as thread:
                forgotten.append(thread.submit(stream.forget, event).result(timeout=60))

    forgotten, rng = [], np.random.default_rng(6)
    stream = Stream(aakelm, window=400, on_event=forget).fit(rng.normal(size=(300, 3)))
    for _ in range(3):
        stream.watch(rng.normal(size=(50, 3)) + 20)
    assert forgotten
    assert np.all(stream.predict(rng.normal(size=(50, 3)) + 20) < 0)


def test_a_stream_that_a_thread_holds_is_copied_pickled_and_saved_without_its_lock(stream, tmp_path):
    fresh = np.random.default_rng(3).normal(size=(20, 3))
    with lock_of(stream):
        stream.save(tmp_path / "stream.oneclass")
        copies = [deepcopy(stream), pickle.loads(pickle.dumps(stream)), load(tmp_path / "stream.oneclass")]
    with ThreadPoolExecutor(1) as thread:
        for copied in copies:
            assert lock_of(copied) is not lock_of(stream)
            thread.submit(copied.watch, fresh).result(timeout=60)
            assert copied.n_seen_ == stream.n_seen_ + 20


FORKED = """
import os, signal, threading
import numpy as np
from oneclass import AAKELM, Nystrom, Stream
from oneclass.base.threads import lock_of
stream = Stream(AAKELM(C=1.0, approximation=Nystrom(10))).fit(np.random.default_rng(0).normal(size=(40, 2)))
held, done = threading.Event(), threading.Event()
def hold():
    with lock_of(stream):
        held.set()
        done.wait(60)
thread = threading.Thread(target=hold)
thread.start()
held.wait()
child = os.fork()
if not child:
    signal.alarm(30)
    os._exit(stream.watch(np.zeros((3, 2))).rows.tolist() != [40, 41, 42])
done.set()
thread.join()
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_forked_process_does_not_wait_for_threads_that_it_does_not_have():
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED], check=True, timeout=120)
