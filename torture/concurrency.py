"""Concurrency: fitted models in threads and processes, while others are fitted: same scores, same global state."""

from __future__ import annotations

import decimal
import locale
import multiprocessing
import os
import random
import signal
import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from typing import Any

import numpy as np
import sklearn
from threadpoolctl import threadpool_info

from classifiers import BASELINES, MACHINES, quick
from oneclass import Calibrated, Nystrom, OneClassSearchCV, Stream, TableDetector, make_one_class_pipeline

from .tally import Result, counted

__all__ = ["run"]

ROWS = np.random.default_rng(0).normal(size=(120, 4))
FRESH = 1.5 * np.random.default_rng(1).normal(size=(40, 4))
THREADS, OTHERS = 4, 3
#: What fits in threads may change: scikit-learn checks its input inside `warnings.catch_warnings`, which is safe in
#: threads only where filters belong to a context, as in Python 3.14 without the GIL.
THEIRS: set[str] = set() if getattr(sys.flags, "context_aware_warnings", False) else {"warnings filters"}


def _wrapped(name: str) -> Any:
    from sklearn.preprocessing import StandardScaler

    if name == "pipeline":
        return make_one_class_pipeline(StandardScaler(), quick("KNNDetector"))
    if name == "search":
        return OneClassSearchCV(quick("AAKELM", sigma=1.0), {"C": [0.5, 2.0]}, criterion="likelihood")
    if name == "table":
        return TableDetector(quick("VAAKELM"))
    if name == "calibrated":
        return Calibrated(quick("OCSVM"), hold_out="split")
    if name == "stream":
        return Stream(quick("AAKELM", approximation=Nystrom(20)), window=100)
    return quick(name, approximation=Nystrom(20)) if name.endswith("KELM") else quick(name)


KINDS = [*MACHINES, *BASELINES, "pipeline", "search", "table", "calibrated", "stream"]
KINDS = [kind for kind in KINDS if kind != "Calibrated"]


@cache
def _fitted(kind: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _wrapped(kind).fit(ROWS)


def _answers(model: Any) -> str:
    """A digest of all results for the fresh rows."""
    digest = sha256()
    for verb in ("score_samples", "predict", "p_value"):
        digest.update(np.ascontiguousarray(getattr(model, verb)(FRESH)).tobytes())
    digest.update(np.ascontiguousarray(model.explain(FRESH[:5]).parts).tobytes())
    return digest.hexdigest()


def _state() -> dict[str, object]:
    """What all code of a process shares."""
    return {
        "BLAS threads": [(info["filepath"], info["num_threads"]) for info in threadpool_info()],
        "warnings filters": [*warnings.filters],
        "showwarning": warnings.showwarning,
        "errstate": np.geterr(),
        "print options": repr(np.get_printoptions()),
        "NumPy's random state": sha256(repr(np.random.get_state()).encode()).hexdigest(),  # noqa: NPY002
        "Python's random state": sha256(repr(random.getstate()).encode()).hexdigest(),
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "locale": locale.setlocale(locale.LC_ALL),
        "decimal context": repr(decimal.getcontext()),
        "recursion limit": sys.getrecursionlimit(),
        "switch interval": sys.getswitchinterval(),
        "scikit-learn's settings": repr(sklearn.get_config()),
        "signals": {number: signal.getsignal(number) for number in signal.valid_signals()},
        "excepthook": sys.excepthook,
    }


@contextmanager
def _often_switched() -> Iterator[None]:
    """Threads take turns as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)


def _in_threads(case: tuple[str, str]) -> str | None:
    """Ask a model in several threads while another kind is fitted in others."""
    kind, other = case
    model, expected = _fitted(kind), _answers(_fitted(kind))
    warnings.simplefilter("ignore")
    before = _state()
    with _often_switched(), ThreadPoolExecutor(THREADS + OTHERS) as pool:
        fits = [pool.submit(_wrapped(other).fit, ROWS) for _ in range(OTHERS)]
        found = {answer.result() for answer in [pool.submit(_answers, model) for _ in range(THREADS)]}
        refitted = {_answers(fit.result()) for fit in fits}
    if found != {expected}:
        return "other answers"
    if refitted != {_answers(_fitted(other))}:
        return "a fit beside others gives another model"
    after = _state()
    changed = [name for name, value in before.items() if after[name] != value and name not in THEIRS]
    return f"{', '.join(changed)} changed" if changed else None


def _in_processes(method: str) -> Result:
    """Ask models in processes of their own, to which they travel."""
    expected = {kind: _answers(_fitted(kind)) for kind in KINDS}
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        found = dict(zip(KINDS, pool.map(_answers, map(_fitted, KINDS)), strict=True))
    what = f"models in processes ({method})"
    return counted(what, KINDS, lambda kind: None if found[kind] == expected[kind] else "other answers")


def run(tries: int, seed: int = 0) -> Iterator[Result]:
    """`tries` times four models asked in threads, and every model in processes."""
    rng = np.random.default_rng(seed)
    cases = [(KINDS[i % len(KINDS)], str(rng.choice(KINDS))) for i in range(4 * tries)]
    with warnings.catch_warnings():
        yield counted("models in threads, while others are fitted", cases, _in_threads)
        yield _in_processes("spawn")
