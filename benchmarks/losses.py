"""Compare the losses "predictive" and "either" of AAKELM on the tasks of the defaults study.

Each machine learns from targets only. The other targets and the outliers give the area under the ROC curve, the share
of outliers that are labelled (recall) and the false alarms with delta of 5 %. Then one cell of each held-out target is
made wrong, in five ways, and the share of these rows that are labelled is counted. Writes a table of docs/defaults.md.
ONECLASS_TABLES names the folder of KEEL and R as for benchmarks/defaults.py.

``python benchmarks/losses.py [ROWS]`` learns from at most ROWS rows (1,000). ``--rest`` prints the measures, and how
often the first reason is the wrong column, on the tasks of R that the study leaves out.
"""

from __future__ import annotations

import os
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from _arrays import Rows
from _table import markdown, write_between_markers
from defaults import MOST, Task, collections, of_table, split
from oneclass import AAKELM

MACHINES = {
    "predictive": partial(AAKELM, loss="predictive"),
    "either": partial(AAKELM, loss="either"),
}
#: What is measured, in percent except for the first.
MEASURES = ("AUROC", "recall", "false alarms", "wrong cells")


def wrong_cells(X: Rows, train: Rows, rng: np.random.Generator) -> list[Rows]:
    """Rows with one wrong cell each: times ten, sign, four deviations off, another row's value, two columns swapped."""
    n, d = X.shape
    i, deviations = np.arange(n), np.where(train.std(axis=0) > 0, train.std(axis=0), 1.0)
    found = []
    for kind in range(5):
        Y, j = X.copy(), rng.integers(0, d, n)
        if kind == 0:
            Y[i, j] *= 10
        elif kind == 1:
            Y[i, j] *= -1
        elif kind == 2:
            Y[i, j] += 4 * deviations[j] * rng.choice([-1, 1], n)
        elif kind == 3:
            Y[i, j] = train[rng.integers(0, len(train), n), j]
        else:
            k = (j + 1 + rng.integers(0, max(d - 1, 1), n)) % d
            Y[i, j], Y[i, k] = X[i, k], X[i, j]
        found.append(Y[np.any(X != Y, axis=1)])
    return [Y for Y in found if len(Y)]


def first_reasons(task: Task, rows: int) -> list[float]:
    """Share of held-out targets with one value four deviations off whose first reason is this column, by machine."""
    warnings.simplefilter("ignore")
    train, test, y = (np.asarray(part, dtype=float) for part in split(task, 0, rows))
    rng, X = np.random.default_rng([0, 8]), test[y == 1][:100].copy()
    i, j = np.arange(len(X)), rng.integers(0, X.shape[1], len(X))
    X[i, j] += 4 * train.std(axis=0)[j] * rng.choice([-1, 1], len(X))
    return [float(np.mean(make().fit(train).explain(X).shares.argmax(axis=1) == j)) for make in MACHINES.values()]


def left_out() -> list[Task]:
    """Tasks of R's tables of which the study draws no task."""
    found = [list(of_table(file)) for file in sorted((Path(os.environ["ONECLASS_TABLES"]) / "R").glob("*.csv"))]
    table = np.repeat(np.arange(len(found)), [len(tasks) for tasks in found])
    used = set(table[np.random.default_rng(0).permutation(len(table))[:MOST]].tolist())
    return [task for k, tasks in enumerate(found) if k not in used for task in tasks]


def compare_left_out(rows: int) -> None:
    """Print the mean measures on the tasks that the study leaves out, and the differences."""
    tasks = left_out()
    found = np.array([[*np.transpose(measured(task, rows)), first_reasons(task, rows)] for task in tasks])
    for name, values in zip((*MEASURES, "first reason"), np.moveaxis(found, 1, 0), strict=True):
        gaps = values[:, 1] - values[:, 0]
        error = gaps.std(ddof=1) / np.sqrt(len(tasks))
        print(name, values.mean(axis=0).round(4), f"{gaps.mean():+.4f} ± {error:.4f}")


def measured(task: Task, rows: int) -> list[list[float]]:
    """The measures of each machine."""
    warnings.simplefilter("ignore")
    train, test, y = (np.asarray(part, dtype=float) for part in split(task, 0, rows))
    wrong = wrong_cells(test[y == 1], train, np.random.default_rng([0, 7]))
    out = []
    for make in MACHINES.values():
        model = make().fit(train)
        labels = model.predict(test)
        cells = [np.mean(model.predict(Y) == -1) for Y in wrong]
        auroc = roc_auc_score(y, model.score_samples(test))
        out.append([auroc, *(np.mean(labels[y == sign] == -1) for sign in (-1, 1)), np.mean(cells)])
    return out


def main() -> None:
    """Run the study and write its table."""
    numbers = [word for word in sys.argv[1:] if word != "--rest"]
    rows = int(numbers[0]) if numbers else 1000
    if "--rest" in sys.argv:
        compare_left_out(rows)
        return
    body = []
    for name, tasks in collections().items():
        if rows > 1000:
            tasks = [task for task in tasks if 0.7 * len(task[1]) > 1000]
        found = np.array([measured(task, rows) for task in tasks])
        gaps = found[:, 1] - found[:, 0]
        errors = gaps.std(axis=0, ddof=1) / np.sqrt(len(tasks))
        for m, measure in enumerate(MEASURES):
            digits, unit = (4, 1) if m == 0 else (1, 100)
            values = [f"{unit * value:.{digits}f}" for value in found[:, :, m].mean(axis=0)]
            gain = f"{unit * gaps[:, m].mean():+.{digits}f} ± {unit * errors[m]:.{digits}f}"
            body.append([f"{name}, {len(tasks)} tasks", measure if m == 0 else f"{measure}, %", *values, gain])
    text = markdown(["collection", "measure", *MACHINES, "difference"], body)
    print(text)
    page = Path(__file__).parents[1] / "docs" / "defaults.md"
    write_between_markers(page, "losses" if rows == 1000 else f"losses-{rows}", text)


if __name__ == "__main__":
    main()
