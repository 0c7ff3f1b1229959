"""Values of the default kernel by compiled code against SciPy and NumPy, and their effect on fits and scores.

Writes the tables of docs/speed.md. Times are processor time of one thread, but for the table of threads, which has the
shortest wall-clock time of some rounds.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from _compiled import allow_compiled
from _table import markdown, write_between_markers
from fit_cost import D, M, kernel, medians
from oneclass import VAAKELM, Nystrom
from oneclass.core import compiled

PAGE = Path(__file__).parents[1] / "docs" / "speed.md"
COLUMNS, SCORED = (2, 5, 20, 100, 200), 50_000
#: Threads that fill the kernel values, at most as many as there are cores; rows of a thread's block.
THREADS, BLOCK = (1, 2, 4, 8, 16), 1024
FITTED = ((50_000, 20), (50_000, 100), (200_000, 20))
HOW = ("s", "compiled, s", "ratio")


def values(d: int, rounds: int, fill: compiled.Fill) -> list[str]:
    """Nanoseconds of a value, by blocks of SciPy's distances and `exp`, and compiled."""
    rng = np.random.default_rng(d)
    X, Y = rng.normal(size=(8192, d)), rng.normal(size=(M, d))
    out, YT = np.empty((len(X), M)), np.ascontiguousarray(Y.T)
    runs = {"SciPy": lambda: kernel(X, Y, out), "compiled": lambda: fill(X, YT, -1 / (1.2 * D), out)}
    found = {name: 1e9 * t / out.size for name, t in medians(runs, rounds=rounds).items()}
    return [str(d), *(f"{t:.1f}" for t in found.values()), f"{found['SciPy'] / found['compiled']:.1f}"]


def in_threads(d: int, count: int, rounds: int, fill: compiled.Fill) -> list[str]:
    """Nanoseconds of a value when this many threads fill blocks of rows."""
    rng = np.random.default_rng(d)
    X, Y = rng.normal(size=(BLOCK * 32, d)), rng.normal(size=(M, d))
    out, YT = np.empty((len(X), M)), np.ascontiguousarray(Y.T)
    parts = [slice(a, a + BLOCK) for a in range(0, len(X), BLOCK)]

    def best(step: Callable[[slice], None]) -> float:
        with ThreadPoolExecutor(count) as pool:
            times = []
            for _ in range(rounds + 1):
                start = time.perf_counter()
                list(pool.map(step, parts))
                times.append(time.perf_counter() - start)
        return 1e9 * min(times) / out.size

    scipy = best(lambda part: kernel(X[part], Y, out[part]))
    fast = best(lambda part: fill(X[part], YT, -1 / (1.2 * D), out[part]))
    return [str(d), str(count), f"{scipy:.2f}", f"{fast:.2f}", f"{scipy / fast:.1f}"]


def fits(n: int, d: int, rounds: int) -> list[str]:
    """Seconds of a fit and of its scores, without and with compiled values."""
    rng = np.random.default_rng(n)
    everything = 2 * rng.normal(size=(5, d))[rng.integers(0, 5, n + SCORED)] + rng.normal(size=(n + SCORED, d))
    X, fresh = everything[:n], everything[n:]
    models: dict[bool, VAAKELM] = {}

    def fit(yes: bool) -> None:
        allow_compiled(yes)
        models[yes] = VAAKELM(approximation=Nystrom(M)).fit(X)

    def score(yes: bool) -> None:
        allow_compiled(yes)
        models[yes].score_samples(fresh)

    steps = [(step, yes) for step in (fit, score) for yes in (False, True)]
    found = medians({f"{step.__name__} {yes}": partial(step, yes) for step, yes in steps}, rounds=rounds)
    allow_compiled(True)
    pairs = [(found[f"{step} False"], found[f"{step} True"]) for step in ("fit", "score")]
    return [
        f"{n:,}",
        str(d),
        *(cell for slow, fast in pairs for cell in (f"{slow:.2f}", f"{fast:.2f}", f"{slow / fast:.2f}")),
    ]


def main() -> None:
    threadpool_limits(1)
    if (fill := compiled.load()) is None:
        sys.exit("city_block.py measures what numba makes, which is not installed: pip install numba")
    rounds = int(sys.argv[1]) if sys.argv[1:] else 3
    tables = {
        "city-block": (
            [f"columns (m = {M:,})", "SciPy and `exp`, ns a value", "compiled, ns", "ratio"],
            [values(d, 3 * rounds, fill) for d in COLUMNS],
        ),
        "city-block-threads": (
            [f"columns (m = {M:,})", "threads", "SciPy and `exp`, ns a value", "compiled, ns", "ratio"],
            [in_threads(d, k, rounds, fill) for d in (2, 20, 200) for k in THREADS if k <= (os.cpu_count() or 1)],
        ),
        "compiled-fits": (
            [f"rows (m = {M:,})", "columns", *(f"{of}, {how}" for of in ("fit", f"{SCORED:,} scores") for how in HOW)],
            [fits(n, d, max(1, min(rounds, 4 * 100_000 // n))) for n, d in FITTED],
        ),
    }
    for name, (head, body) in tables.items():
        table = markdown(head, body)
        print(table, flush=True)
        write_between_markers(PAGE, name, table, of_cores="threads" in name)


if __name__ == "__main__":
    main()
