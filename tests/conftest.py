"""Fixtures that all tests share, and the option `--quick`."""

from __future__ import annotations

import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

from oneclass.core.arrays import namespace

settings.register_profile("theorems", deadline=None, max_examples=15, derandomize=True, database=None)
settings.load_profile("theorems")


def refuse_other_machines(event, given):
    """Let connections of tests to other machines fail: tests need no network."""
    if event not in ("socket.connect", "socket.sendto", "socket.getaddrinfo"):
        return
    address = given[0] if event == "socket.getaddrinfo" else given[1]
    host = address[0] if isinstance(address, tuple) else address if event == "socket.getaddrinfo" else None
    if host not in (None, "", "localhost", "127.0.0.1", "::1", "0.0.0.0", b"localhost", b"127.0.0.1"):
        raise ConnectionRefusedError(f"a test may not connect to {host}")


sys.addaudithook(refuse_other_machines)

#: Default folder of data that are not part of the repository; ONECLASS_DATA names another.
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "raw"


CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="module")
def browser():
    """A headless browser, open during one file of tests: its event loop would disturb tests of servers."""
    playwright = pytest.importorskip("playwright.sync_api", reason="pages are opened with playwright")
    if CHROMIUM is None:
        pytest.skip("pages are opened in Chromium, which is not installed")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


#: Tests whose every parametrisation `--quick` keeps: equations, refits and equivalences.
WHOLE = (
    "machines/test_equations",
    "machines/test_theorems",
    "core/test_solve",
    "core/test_leave_out",
    "stream/test_equiv",
)


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="one parametrisation of each test, but for the oracle tests")


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--quick"):
        return
    kept, seen = [], set()
    for item in items:
        name = item.nodeid.partition("[")[0]
        if name not in seen or any(part in name for part in WHOLE):
            kept.append(item)
        seen.add(name)
    config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
    items[:] = kept


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Small matrices gain nothing from threads, and lose much on a busy machine."""
    if find_spec("torch"):
        import torch

        torch.set_num_threads(1)
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session", params=["numpy", "torch", "array_api_strict"])
def xp(request):
    """The array libraries that run the same lines, one after the other."""
    library = pytest.importorskip(request.param)
    return namespace(library.zeros(1))


@pytest.fixture
def raw_folder(monkeypatch):
    """Folder of raw files, named in ONECLASS_DATA; skip without it."""
    folder = Path(os.environ.get("ONECLASS_DATA") or SHARED)
    if not folder.is_dir():
        pytest.skip("no shared data: set ONECLASS_DATA to a folder of raw files")
    monkeypatch.setenv("ONECLASS_DATA", str(folder))
    return folder


@pytest.fixture
def beside(raw_folder):
    """Path of something beside the folder of raw files; skip when it is not there."""

    def find(*parts):
        path = raw_folder.parent.joinpath(*parts)
        if not path.exists():
            pytest.skip(f"no {path.name} beside the raw files")
        return path

    return find
