"""Many small fits, as of one model for each machine or customer: milliseconds a fit, and over the bare cost.

Processor time on one thread, the best of interleaved rounds of several fits. "Bare" is as in fit_cost.py. Writes a
table of docs/speed.md.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import IsolationForest
from sklearn.svm import OneClassSVM
from threadpoolctl import threadpool_limits

from _table import markdown, write_between_markers
from fit_cost import bare_exact, rows
from oneclass import VAAKELM, KNNDetector, TableDetector

PAGE = Path(__file__).parents[1] / "docs" / "speed.md"
SIZES, ROUNDS, SECONDS = (50, 100, 300, 1000), 7, 0.3


def mixed(n: int) -> pd.DataFrame:
    """A table of seven columns: three of numbers, two of words, a flag and a time."""
    rng = np.random.default_rng(n)
    return pd.DataFrame(
        {
            "temperature": rng.normal(70, 2, n),
            "load": rng.gamma(3, 10, n),
            "speed": rng.normal(1500, 30, n).round(),
            "state": rng.choice(["run", "idle", "clean"], n),
            "shift": rng.choice(["early", "late"], n),
            "ready": rng.random(n) < 0.9,
            "at": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 600_000, n), unit="s"),
        }
    )


def best(runs: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The shortest mean time of a call in interleaved rounds, in seconds."""
    times = dict.fromkeys(runs, np.inf)
    for _ in range(ROUNDS):
        for name, run in runs.items():
            start, calls = time.process_time(), 0
            while (spent := time.process_time() - start) < SECONDS / ROUNDS or not calls:
                run()
                calls += 1
            times[name] = min(times[name], spent / calls)
    return times


def main() -> None:
    threadpool_limits(1)
    warnings.simplefilter("ignore")
    body = []
    for n in SIZES:
        X, table = rows(n), mixed(n)
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
        runs: dict[str, Callable[[], object]] = {
            "bare": partial(bare_exact, X),
            "array": partial(VAAKELM().fit, X),
            "frame": partial(VAAKELM().fit, frame),
            "mixed": partial(TableDetector().fit, table),
            "knn": partial(KNNDetector().fit, X),
            "svm": partial(OneClassSVM(nu=0.05).fit, X),
            "forest": partial(IsolationForest(random_state=0).fit, X),
        }
        for run in runs.values():
            run()
        found = best(runs)
        cells = [f"{1000 * found[name]:.2f}" for name in runs]
        body.append([f"{n:,}", *cells[:2], f"{found['array'] / found['bare']:.1f}", *cells[2:]])
        print(body[-1], flush=True)
    head = ["rows of 20 columns", "bare, ms", "VAAKELM, ms", "over bare", "of a data frame", "7 mixed columns"]
    head += ["KNNDetector", "OneClassSVM", "IsolationForest"]
    write_between_markers(PAGE, "small-fits", markdown(head, body))


if __name__ == "__main__":
    main()
