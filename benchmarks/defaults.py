"""The defaults study: AUROC of settings and of other detectors, all fitted without outliers.

Machines are fitted to targets only; outliers are used only for the area under the ROC curve. Writes the tables of
docs/defaults.md. The first collection holds the paper's datasets (set ONECLASS_DATA to their folder) and those of
scikit-learn. ONECLASS_TABLES may name a folder with a folder for each further collection (benchmarks/tables.py makes
two): CSV files with a header, columns of numbers, and the class in the last column. Without it the tables are printed
only.

``python benchmarks/defaults.py [ROWS]`` learns from at most ROWS rows (1,000). The page has tables for 1,000 and 3,000.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.stats import rankdata
from sklearn.covariance import EmpiricalCovariance
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity, LocalOutlierFactor, NearestNeighbors
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from _arrays import Rows
from _table import markdown, write_between_markers
from oneclass import AAKELM, OCKELM, VAAKELM, VOCKELM
from oneclass.base.classifier import OneClassClassifier
from reproduction.datasets import load, names

#: Largest number of test rows, and number of splits: a collection of few tasks has several splits of each.
LARGEST_TEST, JUDGEMENTS = 500, 100
#: Largest number of tasks of a collection; they are drawn at random.
MOST = 120
DIGITS = (0, 4, 8)
DEFAULT = "VAAKELM"

#: Every machine with its defaults, and other settings of the machine without a variance.
MACHINES: dict[str, Callable[[], OneClassClassifier]] = {
    "VAAKELM": VAAKELM,
    "AAKELM": AAKELM,
    "VOCKELM": VOCKELM,
    "OCKELM": OCKELM,
}
SETTINGS: dict[str, Callable[[], OneClassClassifier]] = {
    **{f"C = {C:g}": partial(AAKELM, C=C) for C in (1.0, 4.0, 8.0, 32.0, 128.0)},
    "reconstruction": lambda: AAKELM(loss="reconstruction"),
    "uncertainty": lambda: AAKELM(loss="uncertainty"),
    "z-scores": lambda: AAKELM(scale="zscore"),
    "sigma = third": lambda: AAKELM(sigma="third"),
    "rbf, sigma = mean": lambda: AAKELM(kernel="rbf"),
    "rbf, sigma = local, C = 64, z-scores": lambda: AAKELM(kernel="rbf", sigma="local", C=64.0, scale="zscore"),
    "the paper's machine, C = 8": lambda: VAAKELM(C=8.0, kernel="rbf", scale="zscore", loss="reconstruction"),
}

Task = tuple[str, Rows, Rows]


def collections() -> dict[str, list[Task]]:
    """Every collection of tasks by its name."""
    found = {"library": library()}
    if folder := os.environ.get("ONECLASS_TABLES"):
        for inside in sorted(path for path in Path(folder).iterdir() if path.is_dir()):
            tasks = [task for file in sorted(inside.glob("*.csv")) for task in of_table(file)]
            drawn = np.sort(np.random.default_rng(0).permutation(len(tasks))[:MOST])
            found[inside.name] = [tasks[i] for i in drawn]
    return found


def of_table(file: Path) -> Iterator[Task]:
    """The two largest classes of a table, each against the other rows, if they have enough rows."""
    table = pd.read_csv(file)
    X, y = table.iloc[:, :-1].to_numpy(dtype=float), table.iloc[:, -1].astype(str).to_numpy()
    for label in table.iloc[:, -1].astype(str).value_counts().index[:2]:
        if np.sum(y == label) >= 30 and np.sum(y != label) >= 10:
            yield f"{file.stem} {label}", X[y == label], X[y != label]


def library() -> list[Task]:
    """Name, targets and outliers; small sets also with the classes swapped."""
    out: list[Task] = []
    for name in (n for n in (*names("small"), "cardiotocography_21") if n != "cardiotocography"):
        X, y = load(name)
        X = X.to_numpy(dtype=float)
        out += [(name, X[y == 1], X[y == -1]), (f"{name}, swapped", X[y == -1], X[y == 1])]
    for family in ("concordia", "usps", "semeion", "digits"):
        for digit in DIGITS:
            X, y = load(f"{family}_{digit}")
            X = X.to_numpy(dtype=float)
            out.append((f"{family}_{digit}", X[y == 1], X[y == -1]))
    for name, source in (("iris", load_iris), ("wine", load_wine), ("wdbc", load_breast_cancer)):
        data = source()
        classes = [k for k in np.unique(data.target) if (name, k) != ("wine", 1)]  # the same as "wine" above
        out += [(f"{name} {k}", data.data[data.target == k], data.data[data.target != k]) for k in classes]
    return [task for task in out if len(task[1]) >= 30]


def split(task: Task, seed: int, rows: int) -> tuple[Rows, Rows, Rows]:
    """Training rows, test rows and their labels."""
    name, targets, outliers = task
    rng = np.random.default_rng([seed, *name.encode()])
    targets, outliers = rng.permutation(targets), rng.permutation(outliers)[:LARGEST_TEST]
    n = round(0.7 * len(targets))
    held_out = targets[n:][:LARGEST_TEST]
    y = np.r_[np.ones(len(held_out)), -np.ones(len(outliers))]
    return targets[:n][:rows], np.concatenate([held_out, outliers]), y


def peers(train: Rows, test: Rows) -> Iterator[tuple[str, Rows]]:
    """Scores of other detectors on z-scores, with their own defaults where they have any."""
    scaler = StandardScaler().fit(train)
    train, test = scaler.transform(train), scaler.transform(test)
    n, d = train.shape
    for k in (1, 5):
        yield f"{k}-NN", -NearestNeighbors(n_neighbors=min(k, n - 1)).fit(train).kneighbors(test)[0][:, -1]
    yield "LOF", LocalOutlierFactor(novelty=True, n_neighbors=min(20, n - 1)).fit(train).score_samples(test)
    yield "isolation forest", IsolationForest(random_state=0).fit(train).score_samples(test)
    yield "one-class SVM", OneClassSVM().fit(train).decision_function(test)
    yield "kernel density (Scott)", KernelDensity(bandwidth="scott").fit(train).score_samples(test)
    few = max(1, min(5, n // 10))
    mixture = GaussianMixture(few, covariance_type="diag" if n < 10 * d else "full", reg_covar=1e-3, random_state=0)
    yield "Gaussian mixture (5)", mixture.fit(train).score_samples(test)
    yield "Mahalanobis", -EmpiricalCovariance().fit(train).mahalanobis(test)


PEERS = (
    "1-NN",
    "5-NN",
    "LOF",
    "isolation forest",
    "one-class SVM",
    "kernel density (Scott)",
    "Gaussian mixture (5)",
    "Mahalanobis",
)


def study(task: Task, seed: int, rows: int) -> tuple[str, dict[str, float], float]:
    """AUROC of every key, and the false alarms of the default at 5 %."""
    warnings.simplefilter("ignore")
    train, test, y = split(task, seed, rows)
    scores = {key: make().fit(train).score_samples(test) for key, make in {**MACHINES, **SETTINGS}.items()}
    scores |= dict(peers(train, test))
    alarms = float(np.mean(VAAKELM().fit(train).predict(test[y == 1]) == -1))
    return task[0], {key: float(roc_auc_score(y, np.nan_to_num(s))) for key, s in scores.items()}, alarms


class Table:
    """Mean AUROC over the splits of every task (row) and detector (column)."""

    def __init__(self, tasks: list[Task], rows: int, *, chosen_for_outliers: bool) -> None:
        splits = max(1, JUDGEMENTS // len(tasks))
        results = Parallel(n_jobs=2)(delayed(study)(task, seed, rows) for task in tasks for seed in range(splits))
        self.keys = list(results[0][1])
        found = dict.fromkeys(name for name, _, _ in results)
        values = np.array(
            [np.mean([[r[k] for k in self.keys] for n, r, _ in results if n == name], axis=0) for name in found]
        )
        # In an arbitrary table, the other classes need not be outliers to a class.
        others = values[:, [self.keys.index(name) for name in PEERS]].mean(axis=1)
        self.values = values if chosen_for_outliers else values[others > 0.6]
        self.alarms = float(np.mean([alarms for _, _, alarms in results]))

    def lines(self, keys: list[str]) -> list[list[str]]:
        """Mean, median and mean rank among them of each key."""
        values = self.values[:, [self.keys.index(key) for key in keys]]
        ranks = rankdata(-values, axis=1).mean(axis=0)
        return [
            [f"{v.mean():.4f}", f"{np.median(v):.4f}", f"{rank:.2f}"] for v, rank in zip(values.T, ranks, strict=True)
        ]

    def lead(self, key: str) -> str:
        """Mean lead of the default over a key, and its standard error."""
        gaps = self.values[:, self.keys.index(DEFAULT)] - self.values[:, self.keys.index(key)]
        return f"{gaps.mean():+.4f} ± {gaps.std(ddof=1) / np.sqrt(len(gaps)):.4f}"


def compared(tables: dict[str, Table], keys: list[str], first: str) -> str:
    """A table of keys beside the default."""
    heads = [
        first,
        *(f"{name}: {what}" for name in tables for what in ("mean AUROC", "median", "mean rank", "default ahead by")),
    ]
    rows = [[key] for key in keys]
    for table in tables.values():
        for row, key, line in zip(rows, keys, table.lines(keys), strict=True):
            row += [*line, "" if key == DEFAULT else table.lead(key)]
    return markdown(heads, rows)


def main() -> None:
    """Run the study and write its tables."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    found = collections()
    if rows > 1000:  # the other tasks have no more rows than that
        found = {name: [task for task in tasks if 0.7 * len(task[1]) > 1000] for name, tasks in found.items()}
    tables = {
        name: Table(tasks, rows, chosen_for_outliers=name == "library")
        for name, tasks in found.items()
        if len(tasks) > 1
    }
    for name, table in tables.items():
        print(f"{name}: {len(table.values)} tasks, false alarms of the default at 5 %: {100 * table.alarms:.1f} %")
    page = Path(__file__).parents[1] / "docs" / "defaults.md"
    made = {"peers": compared(tables, [*MACHINES, *PEERS], "detector, defaults")}
    made["settings"] = compared(tables, [DEFAULT, *SETTINGS], "setting")
    for name, text in made.items():
        print(text, "\n")
        if len(found) > 1:  # the page describes all collections
            write_between_markers(page, f"defaults-{name}" if rows == 1000 else f"defaults-{name}-{rows}", text)


if __name__ == "__main__":
    main()
