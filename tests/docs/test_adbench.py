"""The benchmark on the sets of ADBench, on a tiny folder in the same format."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def adbench():
    pytest.importorskip("matplotlib")
    sys.path.insert(0, str(HERE / "benchmarks"))
    import adbench

    yield adbench
    sys.path.remove(str(HERE / "benchmarks"))


@pytest.fixture
def folder(tmp_path):
    """Two sets, one of them in a folder inside, as in the collection."""
    rng = np.random.default_rng(0)
    for path, shift in (("1_near.npz", 3.0), ("Classical/2_far.npz", 9.0)):
        X = rng.normal(size=(240, 3))
        X[:40] += shift
        place = tmp_path / path
        place.parent.mkdir(exist_ok=True)
        np.savez(place, X=X.astype(np.float32), y=np.repeat([1, 0], [40, 200]))
    return tmp_path


def test_the_split_takes_half_of_the_normal_rows_and_repeats_none(adbench, folder):
    task = adbench.adbench(folder)[0]
    train, test, is_normal = adbench.split(task, seed=0, most=1000)
    assert (len(train), is_normal.sum(), (~is_normal).sum()) == (100, 100, 40)
    rows = np.concatenate([train, test])
    assert len(np.unique(rows, axis=0)) == len(rows) == 240
    both = np.concatenate([task.normal, task.anomalies])
    np.testing.assert_array_equal(np.sort(rows, axis=0), np.sort(both, axis=0))


def test_every_detector_is_asked_for_the_same_rate(adbench, folder):
    results = list(adbench.measure(adbench.adbench(folder)[1], 2, 1000, quick=True))
    names = {result.detector for result in results}
    assert {"VAAKELM", "KNNDetector", "sklearn LocalOutlierFactor", "sklearn OneClassSVM"} <= names
    found = {result.detector: result for result in results}
    assert found["VAAKELM"].auroc > 0.95
    assert found["VAAKELM"].alarms == pytest.approx(0.05, abs=0.05)


def test_the_command_reads_the_folder_of_the_variable(folder):
    environ = {**os.environ, "ONECLASS_ADBENCH": str(folder), "PYTHONPATH": f"{HERE / 'src'}{os.pathsep}{HERE}"}
    command = [sys.executable, str(HERE / "benchmarks" / "adbench.py"), "--quick", "--jobs", "1"]
    said = subprocess.run(command, env=environ, capture_output=True, text=True, check=True).stdout
    assert said.startswith("2 sets of ADBench, one random split each")
    assert "| VAAKELM |" in said


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": np.zeros((3, 1))}, "has no array y"),
        ({"X": np.zeros((3, 1)), "y": np.array([0, 1, 2])}, "y must hold 0 or 1 for each of the 3 rows of X"),
    ],
)
def test_another_format_is_refused(adbench, tmp_path, arrays, message):
    np.savez(tmp_path / "odd.npz", **arrays)
    with pytest.raises(SystemExit, match=message):
        adbench.adbench(tmp_path)


def test_an_empty_folder_is_refused(adbench, tmp_path):
    with pytest.raises(SystemExit, match=r"ONECLASS_ADBENCH must name a folder with \.npz files"):
        adbench.adbench(tmp_path)
