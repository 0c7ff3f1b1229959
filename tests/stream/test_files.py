"""A stream in a file: after a kill at any point it continues, and no row is lost or learned twice."""

import os
import subprocess
import sys

import numpy as np
import pytest

import oneclass
from oneclass import Patience, Stream
from oneclass.stream import Martingale


def fed(stream, X, size):
    for a in range(stream.n_seen_, len(X), size):
        stream.partial_fit(X[a : a + size])
    return stream


@pytest.fixture(scope="module")
def drifting():
    """Rows with anomalies and a change, which give waiting rows, events and a new plan."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3))
    X[rng.random(900) < 0.03] *= 5
    X[500:] += 7.0
    return X


@pytest.mark.parametrize(
    "settings",
    [{"window": 300}, {"window": None, "half_life": 100.0, "patience": Patience(90), "change": Martingale(0.01)}],
    ids=["window", "half-life"],
)
def test_a_stream_loaded_from_a_file_continues_with_identical_results(aakelm, drifting, tmp_path, settings):
    stream, loaded, tried = Stream(aakelm, on_event=id, **settings).fit(drifting[:200]), [], []
    for stop in (217, 530, 610, 888):
        fed(stream, drifting[:stop], 19)
        stream.save(tmp_path / "stream.oneclass")
        loaded.append(oneclass.load(tmp_path / "stream.oneclass"))
        tried.append(stream.state_.trial is not None)
        for one in loaded:
            fed(one, drifting[:stop], 19)
    for one in (stream, *loaded):
        fed(one, drifting, 19)
    for one in loaded:
        np.testing.assert_array_equal(one.score_samples(drifting), stream.score_samples(drifting))
        assert one.events_ == stream.events_
        assert one.on_event is None
    assert {"strange", "change"} <= {event.kind for event in stream.events_}
    assert any(tried) == ("patience" not in settings)


def test_a_stream_with_a_detector_of_another_library_is_not_saved(aakelm, drifting, tmp_path):
    class Detector:
        drift_detected = False

        def update(self, value):
            pass

    stream = Stream(aakelm, change=Detector()).fit(drifting)
    with pytest.raises(TypeError, match="Stream: change is of type"):
        stream.save(tmp_path / "stream.oneclass")


#: A process that has everything imported, and begets watchers that it kills: a start costs a thousandth of an import's.
KILLER = """
import os, signal, sys, time
import numpy as np, oneclass
from pathlib import Path
from oneclass import AAKELM, Nystrom, Stream

X, path, size, times = np.load(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
rng, killed = np.random.default_rng(1), 0

def watch():
    stream = oneclass.load(path) if path.exists() else Stream(AAKELM(C=1.0, approximation=Nystrom(40)), window=300)
    while (seen := getattr(stream, "n_seen_", 0)) < len(X):
        stream.partial_fit(X[seen : seen + (200 if seen == 0 else size)])
        stream.save(path)

while True:
    child = os.fork()
    if child == 0:
        watch()
        os._exit(0)
    if killed < times:
        time.sleep(rng.uniform(0, 0.04))
        os.kill(child, signal.SIGKILL)
    how = os.waitpid(child, 0)[1]
    if how == 0:
        break
    assert os.WIFSIGNALED(how), how
    killed += 1
print(killed)
"""


def killed_and_resumed(X, folder, times, size):
    """A stream whose watcher was killed at so many random points, and how many these were before it was through."""
    np.save(folder / "X.npy", X)
    given = (folder / "X.npy", folder / "stream.oneclass", size, times)
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", KILLER, *map(str, given)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return oneclass.load(folder / "stream.oneclass"), int(run.stdout)


def assert_never_stopped(X, folder, times, size):
    stream, killed = killed_and_resumed(X, folder, times, size)
    assert killed > times / 2
    machine = oneclass.AAKELM(C=1.0, approximation=oneclass.Nystrom(40))
    whole = fed(Stream(machine, window=300).partial_fit(X[:200]), X, size)
    assert stream.n_seen_ == len(X)
    np.testing.assert_array_equal(stream.score_samples(X), whole.score_samples(X))
    assert stream.events_ == whole.events_


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_watcher_that_is_killed_loses_nothing_and_learns_nothing_twice(drifting, tmp_path):
    assert_never_stopped(drifting, tmp_path, times=20, size=20)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_watcher_that_is_killed_hundreds_of_times_loses_nothing(drifting, tmp_path):
    assert_never_stopped(np.concatenate([drifting] * 8), tmp_path, times=300, size=10)
