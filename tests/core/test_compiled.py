"""Compiled kernel values against SciPy's, and machines with them against machines without."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import oneclass
from oneclass import VAAKELM, Nystrom
from oneclass.core import compiled

numba = pytest.importorskip("numba", reason="the extra `fast` is not installed")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 5)) * [1, 1, 1, 3, 9]


@pytest.fixture
def calls(monkeypatch):
    """Compile calls of every size, and record the shapes of compiled calls."""
    fill, shapes = compiled.load(), []

    def counting(X, YT, scale, out):
        shapes.append(out.shape)
        fill(X, YT, scale, out)

    monkeypatch.setattr(compiled, "load", lambda: counting)
    monkeypatch.setattr(compiled, "MANY", 0)
    return shapes


@pytest.fixture
def afresh():
    """Start without compiled code, and undo the changes of the test."""
    compiled._compiled.cache_clear()
    yield
    compiled._compiled.cache_clear()


def oracle(X, Y, scale):
    return np.exp(scale * cdist(X, Y, "cityblock"))


def misaligned(A):
    words = np.zeros(A.nbytes + 1, dtype=np.uint8)[1:].view(np.float64).reshape(A.shape)
    words[...] = A
    return words


def read_only(A):
    A = A.copy()
    A.flags.writeable = False
    return A


SHAPES = [(1, 1, 1), (0, 5, 3), (5, 0, 3), (4, 3, 0), (7, 513, 4), (3, 1030, 5), (40, 300, 23), (2, 3, 100)]


@pytest.mark.usefixtures("calls")
@pytest.mark.parametrize(("n", "m", "d"), SHAPES)
@pytest.mark.parametrize("shift", [0.0, 1e3])
def test_compiled_values_are_those_of_scipy(n, m, d, shift):
    A, B = shift + RNG.normal(size=(n, d)), shift + RNG.normal(size=(m, d))
    found = compiled.exp_city_block(A, B, -1 / max(d, 1))
    np.testing.assert_allclose(found, oracle(A, B, -1 / max(d, 1)), rtol=1e-14, atol=0)


LAYOUTS = {
    "columns": np.asfortranarray,
    "strided": lambda A: np.repeat(np.repeat(A, 2, axis=0), 3, axis=1)[::2, ::3],
    "backwards": lambda A: A[::-1, ::-1].copy()[::-1, ::-1],
    "misaligned": misaligned,
    "read only": read_only,
}


@pytest.mark.usefixtures("calls")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_values_do_not_depend_on_how_rows_lie_in_memory(layout):
    A, B = X[:50], X[50:150]
    lying = (LAYOUTS[layout](rows) for rows in (A, B))
    np.testing.assert_array_equal(compiled.exp_city_block(*lying, -0.3), compiled.exp_city_block(A, B, -0.3))


@pytest.mark.usefixtures("calls")
def test_a_row_and_its_copy_have_the_value_one():
    np.testing.assert_array_equal(np.diag(compiled.exp_city_block(X, X, -0.7)), 1.0)


@pytest.mark.usefixtures("calls")
def test_values_vanish_as_those_of_numpy_do():
    near = np.linspace(0, 708, 70_801)[:, None]
    far = np.array([[708.5], [708.8], [709], [745], [746], [1e4], [1e300], [1.7e308]])
    nothing = np.zeros((1, 1))
    np.testing.assert_allclose(compiled.exp_city_block(near, nothing, -1.0), np.exp(-near), rtol=1e-15, atol=0)
    tiny = np.finfo(float).tiny
    np.testing.assert_allclose(compiled.exp_city_block(far, nothing, -1.0), np.exp(-far), rtol=0, atol=tiny)
    with np.errstate(over="ignore"):
        assert compiled.exp_city_block(far[-1:], -far[-1:], -1e-300) == 0  # a distance that overflows


@pytest.mark.usefixtures("calls")
def test_what_is_not_a_number_stays_so():
    A = X[:9].copy()
    A[4, 4] = np.nan
    found = np.isnan(compiled.exp_city_block(A, X[:700], -1.0))
    np.testing.assert_array_equal(found, np.isnan(A).any(axis=1)[:, None] & np.ones(len(X), dtype=bool))


@pytest.mark.usefixtures("calls")
@pytest.mark.parametrize("shapes", [((4, 5), (6, 3)), ((4, 3), (6, 5)), ((4, 3), (6, 1)), ((4, 3), (3,))])
def test_rows_of_another_number_of_columns_are_refused_and_not_read(shapes):
    A, B = (np.ones(shape) for shape in shapes)
    with pytest.raises(ValueError, match="same number of columns"):
        compiled.exp_city_block(A, B, -1.0)


def machine(**params):
    return VAAKELM(random_state=0, **params)


FITS = {
    "landmarks": lambda: machine(approximation=Nystrom(60)).fit(X),
    "exact": lambda: machine(approximation=None).fit(X),
    "chunks": lambda: machine(approximation=Nystrom(60)).fit_chunks([X[:250], X[250:]]),
    "groups": lambda: machine(approximation=Nystrom(60)).fit(X, groups=np.arange(len(X)) // 2),
}


@pytest.mark.parametrize("fit", FITS)
def test_machines_and_their_scores_are_those_without_compiled_code(fit, calls, monkeypatch):
    fresh = X[::2] + 0.1
    model = FITS[fit]()
    used = len(calls)
    scores, p = model.score_samples(fresh), model.p_value(fresh)
    assert 0 < used < len(calls)  # both by the fit and by its scores
    monkeypatch.setattr(compiled, "load", lambda: None)
    plain = FITS[fit]()
    np.testing.assert_allclose(scores, plain.score_samples(fresh), rtol=1e-10)
    np.testing.assert_allclose(model.offset_, plain.offset_, rtol=1e-10)
    np.testing.assert_array_equal(p, plain.p_value(fresh))


@pytest.mark.usefixtures("tiny_blocks")
def test_a_job_uses_compiled_code_by_the_size_of_the_whole_not_of_its_parts(calls, monkeypatch):
    model = machine(approximation=Nystrom(60)).fit(X)
    del calls[:]
    monkeypatch.setattr(compiled, "MANY", len(X) * 60 + 1)
    model.score_samples(X)
    assert not calls
    model.score_samples(np.concatenate([X, X[:1]]))
    assert sum(n for n, _ in calls) == len(X) + 1
    assert max(n for n, _ in calls) < len(X)


def fit_on_a_cluster(model):
    """A worker has only the steps that it is given."""
    dask = pytest.importorskip("dask")
    with dask.config.set(scheduler=partial(Context().run, dask.get)):
        model.fit(pytest.importorskip("dask.array").from_array(X, chunks=(200, 5)))


JOBS = {
    "memory": lambda model: model.fit(X),
    "chunks": lambda model: model.fit_chunks([X[:250], X[250:]]),
    "cluster": fit_on_a_cluster,
}


@pytest.mark.parametrize("job", JOBS)
def test_a_fit_uses_compiled_code_by_all_rows_wherever_they_are(job, calls, monkeypatch):
    monkeypatch.setattr(compiled, "MANY", len(X) * 60 + 1)
    JOBS[job](machine(approximation=Nystrom(60)))
    assert not calls
    monkeypatch.setattr(compiled, "MANY", len(X) * 60)
    JOBS[job](machine(approximation=Nystrom(60)))
    assert sum(n for n, _ in calls if n != 60) >= len(X)  # 60 are the landmarks themselves


def test_a_step_sent_to_another_process_keeps_its_expected_values(calls, monkeypatch):
    monkeypatch.setattr(compiled, "MANY", 1000)
    there = Context()
    assert there.run(compiled.exp_city_block, X[:3], X[:3], -1.0) is None
    step = compiled.expecting(1000, compiled.expecting)(0, compiled.exp_city_block)
    there.run(pickle.loads(pickle.dumps(step)), X[:3], X[:3], -1.0)
    assert calls == [(3, 3)]


@pytest.mark.usefixtures("afresh")
def test_threads_that_need_it_first_at_once_compile_it_once(monkeypatch):
    imported = []
    monkeypatch.setattr(compiled, "MANY", 0)
    monkeypatch.setattr(compiled, "import_module", lambda name: (imported.append(name), numba)[1])
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda a: compiled.exp_city_block(X[a : a + 150], X, -0.5), range(0, len(X), 150)))
    np.testing.assert_allclose(np.concatenate(found), oracle(X, X, -0.5), rtol=1e-13)
    assert imported == ["numba"]


FORKING = """
import os, signal, sys, threading
import numpy as np
from oneclass.core import arrays, compiled

X = np.random.default_rng(0).normal(size=(5, 3))
expected = arrays.exp_city_block(X, X, -1.0)
compiled.MANY = 0
begun, forked = threading.Event(), threading.Event()
imported = compiled.import_module

def slowly(name):
    begun.set()
    forked.wait()
    return imported(name)

compiled.import_module = slowly
loader = threading.Thread(target=compiled.load)
loader.start()
begun.wait()
if not (child := os.fork()):
    signal.alarm(20)  # a child that hangs is killed
    np.testing.assert_allclose(arrays.exp_city_block(X, X, -1.0), expected, rtol=1e-14)
    os._exit(17 if compiled.load() is None else 1)
forked.set()
loader.join()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), compiled.load() is not None)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_child_forked_while_another_thread_imports_numba_runs_without_it():
    found = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKING], capture_output=True, text=True, check=True)
    assert found.stdout == "17 True\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_child_forked_later_has_the_compiled_code_of_its_parent():
    code = "import os; from oneclass.core import compiled; compiled.load()\n"
    code += "child = os.fork() or os._exit(17 if compiled.load() else 1)\n"
    code += "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))"
    found = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "17\n"


@pytest.mark.usefixtures("afresh")
def test_code_is_compiled_also_without_a_cache_folder(monkeypatch):
    monkeypatch.setattr("numba.core.caching.CompileResultCacheImpl._locator_classes", [])
    with pytest.raises(RuntimeError, match="cannot cache"):
        numba.njit(cache=True)(compiled._fill)
    monkeypatch.setattr(compiled, "MANY", 0)
    np.testing.assert_allclose(compiled.exp_city_block(X, X, -0.5), oracle(X, X, -0.5), rtol=1e-13)


@pytest.mark.usefixtures("afresh")
@pytest.mark.parametrize("why", ["missing", "unsuited", "told not to compile"])
def test_without_numba_a_fit_is_what_it_was(why, monkeypatch):
    plain = FITS["landmarks"]().score_samples(X)
    monkeypatch.setattr(compiled, "MANY", 0)
    if why == "missing":
        monkeypatch.setitem(sys.modules, "numba", None)
    elif why == "unsuited":
        monkeypatch.setattr(compiled, "import_module", lambda name: np.no_such_name)
    else:
        monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    assert compiled.load() is None
    np.testing.assert_array_equal(FITS["landmarks"]().score_samples(X), plain)


def test_a_small_fit_does_not_import_numba():
    code = f"import sys; sys.path.insert(0, {str(Path(oneclass.__file__).parents[1])!r})"
    code += """
import numpy as np
from oneclass import VAAKELM
from oneclass.core import compiled
X = np.random.default_rng(0).normal(size=(300, 3))
VAAKELM().fit(X).predict(X)
print("numba" in sys.modules, end=" ")
compiled.MANY = 300 * 300 // 2
VAAKELM().fit(X).predict(X)
print("numba" in sys.modules)
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "False True\n"
