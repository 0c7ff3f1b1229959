"""The short form of every section of the long tests (`make torture`), and the tools of these tests."""

import importlib
import sys

import pytest

from misbehaving import misbehave
from torture.tally import counted, told

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits and signals of processes are those of Linux")

#: Packages that sections need, beside those of the tests.
NEEDED = ("mpmath", "polars", "pyarrow", "openpyxl", "onnxruntime", "click", "uvicorn")
TRIES = {"hostile_data": 2, "numerics": 5, "hostile_files": 1, "kills": 1, "faults": 1, "concurrency": 3}


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("section", TRIES)
def test_nothing_fails(section):
    for package in NEEDED:
        pytest.importorskip(package)
    for result in importlib.import_module(f"torture.{section}").run(TRIES[section]):
        assert result.failed == (), result.what
        assert result.tried > 0


def test_a_child_that_does_what_it_must_not_is_a_failure():
    from torture.child import in_child  # which other systems than Linux cannot import

    cases = ["good", "crash", "end", "hang", "memory", "write", "refuse", "good"]
    result = in_child("misbehaviour", cases, misbehave, seconds=2)
    assert result.tried == 8
    faults = [fault.split(": ", 1)[1] for fault in result.failed]
    assert [fault.split(": ")[0] for fault in faults] == ["crash", "end", "hang", "memory", "write"]
    for fault, words in zip(faults, ("-11", "with 3", "no answer", "MemoryError", "did open"), strict=True):
        assert words in fault


def test_an_error_of_another_library_is_a_failure():
    def check(case):
        raise ValueError(case)

    assert len(counted("errors", ["array must not contain infs", "KNNDetector: X must be finite"], check).failed) == 2
    assert not told(ValueError("array must not contain infs"), "KNNDetector")
    assert told(ValueError("KNNDetector: X must be finite"), "KNNDetector")
    assert not told(ValueError("KNNDetector: X must\nbe finite"), "KNNDetector")
