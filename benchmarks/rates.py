"""Rows scored a second, in batches of 1 to 100,000 (with ``--long``, to a million), beside other libraries.

Fits are to 1,000 and 20,000 rows of 20 columns, or of 20 mixed columns as in command_line.py. Processor time on one
thread, the best of interleaved rounds; a detector whose batch of that size would take more than a minute is left out.
Writes a table of docs/speed.md. PyOD's detectors need ``pip install pyod``; nonconform needs Python 3.12.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor
from sklearn.svm import OneClassSVM
from threadpoolctl import threadpool_limits

from _table import markdown, write_between_markers
from command_line import block
from fit_cost import rows
from oneclass import VAAKELM, TableDetector

PAGE = Path(__file__).parents[1] / "docs" / "speed.md"
BATCHES = (1, 100, 10_000, 100_000, *((1_000_000,) if "--long" in sys.argv else ()))
LARGEST, ROUNDS = 60.0, 3
#: The largest batch for which p-values, labels and reasons are measured; the first two cost what scores cost.
JUDGED = 10_000


def reasons(model: Any, X: Any) -> object:
    """Label, p-value and three reasons of each row, by three calls; `score_table` would take one for the first two."""
    return model.predict(X), model.p_value(X), model.explain(X).top(3)


def detectors(n: int) -> dict[str, Callable[[Any], object]]:
    """What is measured for arrays: a fitted detector's answer to a batch."""
    X = rows(n)
    ours = VAAKELM().fit(X)
    found: dict[str, Callable[[Any], object]] = {
        "VAAKELM, score": ours.score_samples,
        "VAAKELM, label": ours.predict,
        "VAAKELM, p-value": ours.p_value,
        "VAAKELM, label, p-value, reasons": lambda Z: reasons(ours, Z),
        "IsolationForest, score": IsolationForest(random_state=0).fit(X).score_samples,
        "OneClassSVM, score": OneClassSVM(nu=0.05).fit(X).score_samples,
        "LocalOutlierFactor, score": LocalOutlierFactor(novelty=True).fit(X).score_samples,
    }
    if find_spec("pyod"):
        from pyod.models.ecod import ECOD
        from pyod.models.knn import KNN

        found |= {f"PyOD {kind.__name__}, score": kind().fit(X).decision_function for kind in (KNN, ECOD)}
    if find_spec("nonconform"):
        from nonconform import ConformalDetector, Split

        calibrated = ConformalDetector(detector=OneClassSVM(nu=0.05), strategy=Split(n_calib=0.5), seed=0).fit(X)
        found["nonconform, OneClassSVM, p-value"] = calibrated.compute_p_values
    return found


def tables(n: int) -> dict[str, Callable[[Any], object]]:
    """The same for tables of mixed columns."""
    ours = TableDetector().fit(block(np.random.default_rng(1), 0, n))
    return {
        "TableDetector, score": ours.score_samples,
        "TableDetector, p-value": ours.p_value,
        "TableDetector, label, p-value, reasons": lambda Z: reasons(ours, Z),
    }


def seconds(run: Callable[[Any], object], batch: Any) -> float:
    """Processor time of one call; the mean of many calls for a short one."""
    begun, calls = time.process_time(), 0
    while (spent := time.process_time() - begun) < 0.05 or not calls:
        run(batch)
        calls += 1
    return spent / calls


def measured(runs: dict[str, Callable[[Any], object]], batches: dict[int, Any]) -> dict[str, list[str]]:
    """Rows a second of each, for each size of batch; empty where it would take too long."""
    times = {name: {0: 0.0} for name in runs}
    for size, batch in batches.items():
        for _ in range(1 if size > JUDGED else ROUNDS):
            for name, run in runs.items():
                largest, took = max(times[name].items())
                judges = not name.endswith("score") and size > JUDGED
                if judges or (size > largest > 0 and took * size / largest > LARGEST):
                    continue
                times[name][size] = min(times[name].get(size, np.inf), seconds(run, batch))
    return {
        name: [f"{size / found[size]:,.0f}" if size in found else "" for size in batches]
        for name, found in times.items()
    }


def main() -> None:
    threadpool_limits(1)
    warnings.simplefilter("ignore")
    body: list[list[str]] = []
    fresh, table = rows(max(BATCHES)), block(np.random.default_rng(2), 0, max(BATCHES))
    parts: tuple[tuple[str, Any, Any], ...] = (("array", detectors, fresh), ("mixed table", tables, table))
    for kind, made, all_of_them in parts:
        for n in (1_000, 20_000):
            batches = {size: all_of_them[:size] for size in BATCHES}
            for name, cells in measured(made(n), batches).items():
                body.append([f"{kind}, {n:,}", name, *cells])
                print(body[-1], flush=True)
    head = ["training rows of 20 columns", "detector", *(f"batch of {size:,}" for size in BATCHES)]
    write_between_markers(PAGE, "rates", markdown(head, body))


if __name__ == "__main__":
    main()
