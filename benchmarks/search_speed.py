"""The paper's grid (11 C x 10 k x 3 delta x 5 folds) by `OneClassSearchCV` and by fitting every candidate.

As in the paper, the folds are of a random 80 % of the rows. Both searches run in turn on one thread; the ratio is of
processor time. The scores must agree.
Writes the table of docs/selection_measured.md. Reads the paper's datasets: set ONECLASS_DATA to their folder.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.model_selection import GridSearchCV, train_test_split
from threadpoolctl import threadpool_limits

import oneclass
from _arrays import Rows
from _table import markdown, write_between_markers
from oneclass import VAAKELM
from oneclass.selection import SCORERS, OneClassKFold, OneClassSearchCV
from reproduction.datasets import load

GRID: dict[str, list[float]] = {
    "C": [2.0**k for k in range(-5, 6)],
    "n_clusters": list(range(1, 11)),
    "delta": [0.01, 0.05, 0.10],
}
DATASETS = ("vowel", "wine", "sonar", "biomed", "heart_cleveland", "survival", "waveform", "diabetic_retinopathy")
MACHINES = {
    "the paper's": VAAKELM(loss="reconstruction", sigma="mean", threshold="train"),
    "default": VAAKELM(),
}


def seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def compare(machine: VAAKELM, X: Rows, y: Rows) -> tuple[float, float]:
    """Seconds of both searches; raises unless they agree."""
    folds = list(OneClassKFold().split(X, y))
    shared = OneClassSearchCV(machine, GRID, scoring="gmean_paper", cv=folds, refit=False)
    brute = GridSearchCV(machine, GRID, scoring=SCORERS["gmean_paper"], cv=folds, refit=False)
    OneClassSearchCV(machine, GRID | {"n_clusters": [2]}, cv=folds, refit=False).fit(X, y)  # warm up
    times = seconds(lambda: shared.fit(X, y)), seconds(lambda: brute.fit(X, y))
    np.testing.assert_allclose(shared.cv_results_["mean_test_score"], brute.cv_results_["mean_test_score"], atol=1e-12)
    assert shared.best_params_ == brute.best_params_
    return times


def line(ours: float, theirs: float) -> list[str]:
    return [f"{ours:.2f}", f"{theirs:.1f}", f"**{theirs / ours:.0f}**"]


def main() -> None:
    warnings.simplefilter("ignore", oneclass.UnreachableRateWarning)
    threadpool_limits(1)
    body, totals = [], {label: np.zeros(2) for label in MACHINES}
    for name in DATASETS:
        data, y = load(name)
        X, _, y, _ = train_test_split(data.to_numpy(dtype=float), y, test_size=0.2, stratify=y, random_state=0)
        n = round(0.8 * np.sum(y == 1))
        for label, machine in MACHINES.items():
            times = compare(machine, X, y)
            totals[label] += times
            body.append([name, n, X.shape[1], label, *line(*times)])
            print(body[-1], flush=True)
    body += [["all", "", "", label, *line(*times)] for label, times in totals.items()]
    head = ["dataset", "training rows a fold", "features", "VAAKELM", "shared, s", "refitting, s", "ratio"]
    page = Path(__file__).parents[1] / "docs" / "selection_measured.md"
    write_between_markers(page, "search-speed", markdown(head, body))


if __name__ == "__main__":
    main()
