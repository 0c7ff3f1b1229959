"""Exact fit of the paper's machines against its bare cost: kernel matrix, one `cho_factor`, one `cho_solve`.

Processor time on one thread, the best of interleaved runs. Writes the table of docs/speed.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

from _arrays import Rows
from _table import markdown, write_between_markers
from oneclass import AAKELM, VAAKELM

SIZES = (1000, 3000, 8000)
PAPER: dict[str, Any] = {
    "C": 1.0,
    "kernel": "rbf",
    "sigma": "mean",
    "scale": "zscore",
    "loss": "reconstruction",
    "approximation": None,
}


def bare(X: Rows) -> None:
    K = rbf_kernel(X, gamma=1 / 40)
    K[np.diag_indices_from(K)] += 1
    cho_solve(cho_factor(K, overwrite_a=True, check_finite=False), X, check_finite=False)


def seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def main() -> None:
    threadpool_limits(1)
    body = []
    for n in SIZES:
        X = np.random.default_rng(n).normal(size=(n, 20))
        runs: dict[str, Callable[[], object]] = {"bare": partial(bare, X)}
        for machine in (AAKELM, VAAKELM):
            for threshold in ("train", "held_out"):
                model = machine(threshold=threshold, **PAPER)
                runs[f"{machine.__name__} {threshold}"] = partial(model.fit, X)
        times: dict[str, list[float]] = {name: [] for name in runs}
        for _ in range(max(3, 24_000 // n)):
            for name, run in runs.items():
                times[name].append(seconds(run))
        best = {name: min(t) for name, t in times.items()}
        ratios = [f"{best[name] / best['bare']:.2f}" for name in runs if name != "bare"]
        body.append([f"{n:,}", f"{best['bare']:.3f}", *ratios])
    head = ["n (d = 20)", "bare, s", "AAKELM, train", "AAKELM, loo", "VAAKELM, train", "VAAKELM, loo"]
    table = markdown(head, body)
    print(table)
    write_between_markers(Path(__file__).parents[1] / "docs" / "speed.md", "exact-fit", table)


if __name__ == "__main__":
    main()
