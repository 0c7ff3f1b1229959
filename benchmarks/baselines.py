"""Fit and score times of every classifier beside PyOD's and scikit-learn's, from one interleaved run.

Writes the tables of docs/baselines_details.md. Needs pyod.
"""

from __future__ import annotations

import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from pyod.models import ocsvm
from pyod.models.knn import KNN
from pyod.models.pca import PCA
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.neighbors import LocalOutlierFactor
from threadpoolctl import threadpool_limits

import oneclass
from _arrays import Rows
from _table import markdown, write_between_markers
from oneclass.base.classifier import OneClassClassifier

SIZES = (500, 5000)
FEATURES = 20
TREES = ((10_000, 20), (100_000, 5))  # rows and features of the spanning trees
REPEATS = 3
PATIENCE = 20.0  # seconds after which a slow candidate is not measured again
PAGE = Path(__file__).parents[1] / "docs" / "baselines_details.md"

OURS = ["OCKELM", "VOCKELM", "AAKELM", "VAAKELM", "OCRF", "NaiveParzen", "KMeansDetector", "KNNDetector"]
OURS += ["AutoencoderDetector", "PCADetector", "MSTDetector", "KCentersDetector", "OCSVM", "SVDD"]
OURS += ["Parzen", "OCELM", "AAELM"]
PEER_OF = {
    "KNNDetector": "PyOD KNN",
    "PCADetector": "PyOD PCA",
    "OCSVM": "PyOD OCSVM",
    "SVDD": "PyOD OCSVM",
    "OCRF": "random forest, same rows",
}


class Forest:
    """A plain random forest on as many rows as the trees of the one-class forest get."""

    def fit(self, X: Rows) -> Forest:
        """Fit a classifier of the rows against ten times as many uniform rows."""
        random = np.random.default_rng(0)
        low, high = X.min(axis=0), X.max(axis=0)
        outliers = random.uniform(low, high, size=(10 * len(X), X.shape[1]))
        self.model = RandomForestClassifier(criterion="entropy", random_state=0)
        self.model.fit(np.concatenate([X, outliers]), np.repeat([1, 0], [len(X), len(outliers)]))
        return self

    def score_samples(self, X: Rows) -> Rows:
        """Share of the votes for the class of the rows."""
        return np.asarray(self.model.predict_proba(X)[:, 1])


def candidates() -> dict[str, Callable[[], Any]]:
    """What is measured, by name; PyOD and scikit-learn have no types."""
    made: dict[str, Callable[[], Any]] = {}
    for name in OURS:
        for threshold in ("train", "held_out"):
            made[f"{name} {threshold}"] = partial(_ours, name, threshold)
    # The same nu, contamination and bandwidth as ours; otherwise the defaults.
    made["PyOD KNN"] = lambda: KNN(contamination=0.05)
    made["PyOD PCA"] = lambda: PCA(contamination=0.05)
    made["PyOD OCSVM"] = lambda: ocsvm.OCSVM(nu=0.05, contamination=0.05, gamma=0.25 / FEATURES)
    made["random forest, same rows"] = Forest
    made["scikit-learn LOF"] = lambda: LocalOutlierFactor(novelty=True, contamination=0.05)
    made["scikit-learn IsolationForest"] = lambda: IsolationForest(contamination=0.05, random_state=0)
    return made


def _ours(name: str, threshold: str) -> OneClassClassifier:
    model: OneClassClassifier = getattr(oneclass, name)(threshold=threshold)
    if name in ("OCSVM", "SVDD"):
        model.set_params(sigma=(2 * FEATURES) ** 0.5)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    return model


def seconds(run: Callable[[], object]) -> float:
    """Processor time: on one thread it does not depend on the load of the machine."""
    start = time.process_time()
    run()
    return time.process_time() - start


def measure(n: int) -> dict[str, tuple[float, float]]:
    """Median fit and score times of every candidate on n rows; candidates take turns."""
    random = np.random.default_rng(n)
    X, fresh = random.normal(size=(n, FEATURES)), random.normal(size=(n, FEATURES))
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in candidates()}
    for repeat in range(REPEATS):
        for name, make in candidates().items():
            if repeat and sum(map(sum, times[name])) > PATIENCE:
                continue
            model = make()
            fit = seconds(partial(model.fit, X))
            score = getattr(model, "score_samples", None) or model.decision_function
            times[name].append((fit, seconds(partial(score, fresh))))
    return {name: tuple(median(column) for column in zip(*t, strict=True)) for name, t in times.items()}


def table_rows(results: dict[int, dict[str, tuple[float, float]]]) -> Iterator[list[str]]:
    """One line for each of ours, then one for each other."""
    for name in OURS:
        peer = PEER_OF.get(name)
        line = [name, peer or ""]
        for n in SIZES:
            (fit, score), (fit_loo, _) = results[n][f"{name} train"], results[n][f"{name} held_out"]
            theirs = results[n].get(peer or "")
            line += [_cell(fit, theirs and theirs[0]), _cell(fit_loo, None), _cell(score, theirs and theirs[1])]
        yield line
    for name in (k for k in results[SIZES[0]] if k.split()[0] not in OURS):
        line = [f"*{name}*", ""]
        for n in SIZES:
            fit, score = results[n][name]
            line += [_cell(fit, None), "", _cell(score, None)]
        yield line


def _cell(ours: float, theirs: float | None) -> str:
    return f"{ours:.3g}" if theirs is None else f"{ours:.3g} ({ours / theirs:.2f})"


def tree_cost(n: int, d: int, threshold: str) -> tuple[float, float]:
    """Seconds and megabytes that one fit of the spanning tree detector takes."""
    X = np.random.default_rng(0).normal(size=(n, d))
    spent = seconds(lambda: oneclass.MSTDetector(threshold=threshold).fit(X))
    tracemalloc.start()
    oneclass.MSTDetector(threshold=threshold).fit(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return spent, peak / 1e6


def main() -> None:
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        results = {n: measure(n) for n in SIZES}
        costs = [(n, d, word, *tree_cost(n, d, word)) for n, d in TREES for word in ("train", "held_out")]
    head = ["classifier", "peer"]
    for n in SIZES:
        head += [f"n = {n:,}: fit, train", "fit, loo", "score"]
    times = markdown(head, list(table_rows(results)))
    lines = [[f"{n:,}", str(d), word, f"{s:.1f}", f"{mb:.0f}"] for n, d, word, s, mb in costs]
    tree = markdown(["rows", "features", "threshold", "fit, s", "memory, MB"], lines)
    print(times, tree, sep="\n\n")
    write_between_markers(PAGE, "times", times)
    write_between_markers(PAGE, "tree", tree)


if __name__ == "__main__":
    main()
