"""Fits of a million rows: the bare cost, peers, memory and accuracy.

Each comparison is made in one run; each fit runs in a separate process, to measure its peak memory. Writes the
tables of docs/scale_measured.md. `python benchmarks/scale.py [part ...]` runs some of: large change accuracy. The last
two read the paper's datasets: set ONECLASS_DATA to their folder.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from _arrays import Rows
from _compiled import allow_compiled
from _table import markdown, write_between_markers

PAGE = Path(__file__).parents[1] / "docs" / "scale_measured.md"
D, M = 20, 1000


def rows(n: int, seed: int = 0) -> Rows:
    """A mixture of five Gaussians in D dimensions."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(99).normal(0, 3, (5, D))
    return centres[rng.integers(5, size=n)] + rng.normal(size=(n, D))


def bare(X: Rows) -> None:
    """Kernel blocks and their Gram matrix only."""
    from oneclass.core.kernels import RBF

    kernel, landmarks, G = RBF(6.0), X[:M].copy(), np.zeros((M, M))
    for a in range(0, len(X), 8192):
        F = np.empty((min(8192, len(X) - a), M))
        for b in range(0, len(F), 256):
            F[b : b + 256] = kernel(X[a + b : a + min(b + 256, len(F))], landmarks)
        G += F.T @ F


def ours(X: Rows, name: str = "AAKELM", loss: str = "reconstruction") -> None:
    import oneclass

    machine = getattr(oneclass, name)
    machine(approximation=oneclass.Nystrom(M), sigma="mean", loss=loss).fit(X)


def nystroem_sgd(X: Rows) -> None:
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import SGDOneClassSVM
    from sklearn.pipeline import make_pipeline

    make_pipeline(Nystroem(gamma=1 / 72, n_components=M, random_state=0), SGDOneClassSVM(random_state=0)).fit(X)


RUNS: dict[str, Callable[[Rows], None]] = {
    "bare kernel and Gram": bare,
    "AAKELM, reconstruction": ours,
    "VAAKELM, reconstruction": lambda X: ours(X, "VAAKELM"),
    "VAAKELM, predictive": lambda X: ours(X, "VAAKELM", "predictive"),
    "Nystroem + SGDOneClassSVM": nystroem_sgd,
}


def apart(name: str, n: int) -> dict[str, float]:
    """Seconds and peak gigabytes of one fit in a fresh process; data and imports are not counted as time."""
    answer = subprocess.run(
        [sys.executable, __file__, "--one", name, str(n)], check=True, capture_output=True, text=True
    )
    found: dict[str, float] = json.loads(answer.stdout.splitlines()[-1])
    return found


def one(name: str, n: int) -> None:
    X = rows(n)
    RUNS[name](X[:3000])
    start = time.perf_counter()
    RUNS[name](X)
    seconds = time.perf_counter() - start
    print(json.dumps({"s": seconds, "gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6}))


def large(n: int = 1_000_000) -> None:
    found = {name: apart(name, n) for name in RUNS}
    base = found["bare kernel and Gram"]["s"]
    peer = found["Nystroem + SGDOneClassSVM"]["s"]
    body = [
        [name, f"{r['s']:.1f}", f"{r['s'] / base:.2f}", f"{peer / r['s']:.2f}", f"{r['gb']:.2f}"]
        for name, r in found.items()
    ]
    head = [f"{n:,} rows x {D}, m = {M:,}", "seconds", "over bare", "times faster than the pipeline", "peak GB"]
    _write("large", markdown(head, body))


Task = tuple[Rows, Rows, Rows]  # training targets, test rows, their labels


def accuracy() -> None:
    from sklearn.metrics import roc_auc_score

    from oneclass import VAAKELM, Nystrom

    body = []
    for group, tasks in groups().items():
        found = []
        for train, test, truth in tasks:
            fits = [VAAKELM(approximation=way).fit(train) for way in (None, Nystrom(M))]
            areas = [roc_auc_score(truth, fit.score_samples(test)) for fit in fits]
            found.append([*areas, abs(fits[1].sigma_ / fits[0].sigma_ - 1)])
        sizes = sorted(len(train) for train, *_ in tasks)
        listed = f"{sizes[0]:,}" if sizes[0] == sizes[-1] else f"{sizes[0]:,} to {sizes[-1]:,}"
        exact, approximated, bandwidth = np.array(found).T
        worst = float(np.max(np.abs(approximated - exact)))
        cells = (f"{value:.4f}" for value in (exact.mean(), approximated.mean(), worst))
        body.append([group, len(tasks), listed, *cells, f"{bandwidth.max():.1%}"])
        print(body[-1], flush=True)
    head = ["targets", "sets", "rows to learn", "exact AUROC", f"m = {M:,}", "largest difference", "of bandwidths"]
    _write("accuracy", markdown(head, body))


def change() -> None:
    """Cost of exact fits and of landmarks around the size at which "auto" changes to landmarks."""
    from sklearn.metrics import roc_auc_score
    from threadpoolctl import threadpool_limits

    from oneclass import VAAKELM, Nystrom

    body, known = [], groups()
    with threadpool_limits(1):
        for group in ("USPS, all digits but zero", "mixture"):
            train, test, truth = known[group][0]
            for n in (1_000, 2_000, 3_000, 5_000):
                line = [f"{group}, {train.shape[1]} columns", f"{n:,}"]
                for way in (None, Nystrom(M)):
                    machine, start = VAAKELM(approximation=way), time.process_time()
                    machine.fit(train[:n])
                    fitted = time.process_time()
                    area = roc_auc_score(truth, machine.score_samples(test))
                    scored = (time.process_time() - fitted) / len(test)
                    line += [f"{area:.4f}", f"{fitted - start:.1f}", f"{1e6 * scored:.0f}"]
                body.append(line)
    ways = [f"{way}: {what}" for way in ("exact", f"m = {M:,}") for what in ("AUROC", "fit, s", "score, µs a row")]
    _write("change", markdown(["targets", "rows to learn", *ways], body))
    if os.environ.get("ONECLASS_TABLES"):
        _write("change-classes", classes())


def classes() -> str:
    """AUROC lost by landmarks on classes of that size."""
    from sklearn.metrics import roc_auc_score

    from defaults import collections, split
    from oneclass import VAAKELM, Nystrom

    tasks, body = [task for tasks in collections().values() for task in tasks], []
    for n in (2_000, 3_000):
        found = []
        for task in (task for task in tasks if round(0.7 * len(task[1])) >= n):
            for seed in range(2):
                train, test, truth = split(task, seed, n)
                fits = [VAAKELM(approximation=way).fit(train) for way in (None, Nystrom(M))]
                areas = [roc_auc_score(truth, fit.score_samples(test)) for fit in fits]
                found.append(areas + [np.mean(fit.predict(test[truth == 1]) == -1) for fit in fits])
        of_class = np.mean(np.reshape(found, (-1, 2, 4)), axis=1)
        lost = of_class[:, 1] - of_class[:, 0]
        error, means = lost.std(ddof=1) / np.sqrt(len(lost)), of_class.mean(axis=0)
        cells = f"{means[0]:.4f}", f"{lost.mean():+.4f} ± {error:.4f}"
        body.append([f"{n:,}", len(lost), *cells, f"{means[2]:.1%}", f"{means[3]:.1%}"])
    ways = ["exact: false alarms at 5 %", f"m = {M:,}: false alarms"]
    return markdown(["rows to learn", "classes", "exact: AUROC", f"m = {M:,}: AUROC more", *ways], body)


def groups() -> dict[str, list[Task]]:
    """The paper's datasets, all of fewer rows than landmarks; larger classes of them and of others; a mixture."""
    rng = np.random.default_rng(1)
    box = rng.uniform(-8, 8, (2_000, D))
    fresh = rows(2_000, 2)
    odd = 0.35 * box + 0.65 * fresh
    mixture = rows(20_000, 1), np.concatenate([fresh, odd]), np.repeat([1, -1], 2_000)
    from reproduction.datasets import names

    concordia = [name for name in names() if name.startswith("concordia")]
    return {
        "the paper's": [task(name, 1) for name in names("small", "concordia")],
        "Concordia, all digits but one": [task(name, -1) for name in concordia],
        "Cardiotocography, healthy": [task("cardiotocography_21", -1)],
        "USPS, zeros": [task("usps_0", 1)],
        "USPS, all digits but zero": [task("usps_0", -1)],
        "mixture": [mixture],
    }


def task(name: str, target: int) -> Task:
    """Seven tenths of the target class for training; the others and the other class for testing."""
    from reproduction.datasets import load

    X, y = load(name)
    order = np.random.default_rng(0).permutation(np.flatnonzero(y == target))
    cut = int(0.7 * len(order))
    test = np.concatenate([order[cut:], np.flatnonzero(y != target)])
    X = X.to_numpy(float)
    return X[order[:cut]], X[test], target * y[test]


def _write(name: str, table: str) -> None:
    print(table, flush=True)
    write_between_markers(PAGE, name, table)


def main() -> None:
    parts = {"large": large, "change": change, "accuracy": accuracy}
    for name in sys.argv[1:] or (parts if os.environ.get("ONECLASS_DATA") else ["large"]):
        parts[name]()


if __name__ == "__main__":
    allow_compiled(False)
    if sys.argv[1:2] == ["--one"]:
        one(sys.argv[2], int(sys.argv[3]))
    else:
        main()
