"""The defaults study: which fixed or automatic setting of VAAKELM finds outliers best when it never saw any.

Machines learn from targets only; outliers only judge (area under the ROC curve). Writes the tables of docs/defaults.md.
The first collection of datasets is what `oneclass.datasets` can load (set ONECLASS_DATA) and what scikit-learn brings.
ONECLASS_TABLES may name a folder with a folder for each further collection: CSV files of numbers, a header, and in the
last column the class. Without it the tables are printed only.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.stats import rankdata
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from _table import markdown, write_between_markers
from oneclass import AAKELM, OCKELM, VAAKELM, VOCKELM
from oneclass.contract.base import decision_of
from oneclass.core.likelihood import COSTS, FACTORS
from oneclass.datasets import load, names
from oneclass.machines.choices import recipe_of
from oneclass.selection._points import Point
from oneclass.selection._spectral import SpectralPath

LARGEST_TRAIN, LARGEST_TEST = 400, 600
GRID_COSTS = (1 / 8, 1.0, 8.0, 32.0, 64.0, 128.0)
GRID_FACTORS = FACTORS[2:7]
LOSSES = ("reconstruction", "uncertainty", "predictive")
VARIANCES = ("none", "subclass")
DIGITS = (0, 4, 8)
DEFAULTS = (VAAKELM, AAKELM, VOCKELM, OCKELM)
PEERS = ("5-NN", "LOF", "isolation forest", "one-class SVM")
AUTOMATIC = ("local", "likelihood", "held-out density")
DEFAULT = ("VAAKELM",)

Task = tuple[str, np.ndarray, np.ndarray]


def collections() -> dict[str, list[Task]]:
    """Every collection of tasks by its name."""
    found = {"library": library()}
    if folder := os.environ.get("ONECLASS_TABLES"):
        for inside in sorted(path for path in Path(folder).iterdir() if path.is_dir()):
            found[inside.name] = [task for file in sorted(inside.glob("*.csv")) for task in of_table(file)]
    return found


def of_table(file: Path) -> Iterator[Task]:
    """The two largest classes of a table, each against the rest, if there are rows enough."""
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
        classes = [k for k in np.unique(data.target) if (name, k) != ("wine", 1)]  # that one is "wine" already
        out += [(f"{name} {k}", data.data[data.target == k], data.data[data.target != k]) for k in classes]
    return [task for task in out if len(task[1]) >= 30]


def split(task: Task, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    name, targets, outliers = task
    rng = np.random.default_rng([seed, *name.encode()])
    targets, outliers = rng.permutation(targets), rng.permutation(outliers)[:LARGEST_TEST]
    n = round(0.7 * len(targets))
    held_out = targets[n:][:LARGEST_TEST]
    y = np.r_[np.ones(len(held_out)), -np.ones(len(outliers))]
    return targets[:n][:LARGEST_TRAIN], np.concatenate([held_out, outliers]), y


def peers(train: np.ndarray, test: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Scores of other detectors on z-scores, with their own defaults."""
    scaler = StandardScaler().fit(train)
    train, test = scaler.transform(train), scaler.transform(test)
    n = len(train)
    yield "5-NN", -NearestNeighbors(n_neighbors=min(5, n - 1)).fit(train).kneighbors(test)[0][:, -1]
    yield "LOF", LocalOutlierFactor(novelty=True, n_neighbors=min(20, n - 1)).fit(train).score_samples(test)
    yield "isolation forest", IsolationForest(random_state=0).fit(train).score_samples(test)
    yield "one-class SVM", OneClassSVM().fit(train).decision_function(test)


def machines(train: np.ndarray, test: np.ndarray) -> Iterator[tuple[tuple, np.ndarray]]:
    """Scores at every fixed setting, with the bandwidths that likelihoods choose, and with another kernel."""
    chosen = {rule: VAAKELM(sigma=rule, threshold="train").fit(train).sigma_ for rule in ("mean", *AUTOMATIC[:2])}
    mean = chosen.pop("mean")
    for variance in VARIANCES:
        paths = {}
        for factor in FACTORS:
            machine = VAAKELM(variance=variance, sigma=mean * factor)
            paths[factor] = path_of(machine, train, test)
        factors = {rule: min(FACTORS, key=lambda f: abs(mean * f - chosen[rule])) for rule in chosen}
        factors["held-out density"] = max(FACTORS, key=lambda f: held_out_density(paths[f], C=COSTS[-1]))
        factors |= {f"{factor:.2g} mean": factor for factor in GRID_FACTORS}
        for rule, factor in factors.items():
            yield from grid(paths[factor], (variance, rule))
    other = VAAKELM(kernel="laplacian", sigma="mean")
    yield from grid(path_of(other, train, test), ("subclass", "laplacian"))


def path_of(machine: VAAKELM, train: np.ndarray, test: np.ndarray) -> SpectralPath:
    return SpectralPath(recipe_of(machine, None), train, test, costs=GRID_COSTS, leverages=True)


def grid(path: SpectralPath, key: tuple) -> Iterator[tuple[tuple, np.ndarray]]:
    """Scores at every C, by every loss."""
    machine = VAAKELM()
    recipe, decision = recipe_of(machine, None), decision_of(machine)
    for C in GRID_COSTS:
        for loss in LOSSES:
            yield (*key, loss, C), path.decisions(Point(replace(recipe, C=C, loss=loss), decision))[0]


def held_out_density(path: SpectralPath, C: float) -> float:
    """Leave-one-out predictive density of the rows, at the signal variance that maximises it."""
    c, d = int(np.flatnonzero(path.costs == C)[0]), path.T.shape[1]
    spare = path.spare[:, c]
    squares = C * (path.residuals[:, c, :] ** 2).sum(axis=1) / spare
    return float(0.5 * d * np.sum(np.log(spare)) - 0.5 * len(spare) * d * np.log(squares.mean() / d))


def study(task: Task, seed: int) -> tuple[str, dict[tuple, float]]:
    train, test, y = split(task, seed)
    scores = {(machine.__name__,): machine().fit(train).score_samples(test) for machine in DEFAULTS}
    scores |= {**{(name,): s for name, s in peers(train, test)}, **dict(machines(train, test))}
    return task[0], {key: float(roc_auc_score(y, np.nan_to_num(s))) for key, s in scores.items()}


class Table:
    """Mean AUROC over the splits of every task (row) and setting (column)."""

    def __init__(self, tasks: list[Task], *, chosen_for_outliers: bool) -> None:
        splits = max(1, 150 // len(tasks))
        results = Parallel(n_jobs=2)(delayed(study)(task, seed) for task in tasks for seed in range(splits))
        self.keys = list(results[0][1])
        found = dict.fromkeys(name for name, _ in results)
        values = np.array(
            [np.mean([[r[k] for k in self.keys] for n, r in results if n == name], axis=0) for name in found]
        )
        # A class of just any table need not be one that others are outliers to.
        others = values[:, [self.keys.index((name,)) for name in PEERS]].mean(axis=1)
        self.values = values if chosen_for_outliers else values[others > 0.6]
        self.ranks = rankdata(-self.values, axis=1).mean(axis=0)

    def column(self, key: tuple) -> np.ndarray:
        """AUROC of a setting on every task."""
        return self.values[:, self.keys.index(key)]

    def line(self, key: tuple) -> list[str]:
        """Mean, median and mean rank of a setting."""
        return [f"{score:.4f}" for score in self.scores(key)[:2]] + [f"{-self.scores(key)[2]:.1f}"]

    def scores(self, key: tuple) -> tuple[float, float, float]:
        """The same as numbers, of which larger is better."""
        column = self.column(key)
        return float(column.mean()), float(np.median(column)), -float(self.ranks[self.keys.index(key)])

    def among(self, keys: list[tuple]) -> np.ndarray:
        """Mean rank among these settings alone."""
        return rankdata(-self.values[:, [self.keys.index(k) for k in keys]], axis=1).mean(axis=0)

    def fixed(self) -> list[tuple]:
        """The fixed settings of the paper's kernel."""
        return [key for key in self.keys if len(key) == 4 and key[1].endswith("mean")]


Tables = dict[str, Table]
AVERAGES: dict[str, Callable[[tuple[float, float, float]], float]] = {
    "mean": lambda scores: scores[0],
    "median": lambda scores: scores[1],
    "mean rank": lambda scores: scores[2],
}


def setting(key: tuple) -> str:
    if len(key) == 1:
        return f"default {key[0]}"
    variance, sigma, score, C = key
    kernel, sigma = ("laplacian, ", "mean") if sigma == "laplacian" else ("", sigma)
    return f"{kernel}{score}, C = {C:g}, sigma = {sigma}, variance {variance}"


def heads(first: str, tables: Tables) -> list[str]:
    return [first, *(f"{name}: {what}" for name in tables for what in ("mean AUROC", "median", "mean rank"))]


def peers_table(tables: Tables) -> str:
    keys = [DEFAULT, ("AAKELM",), *((name,) for name in PEERS)]
    rows = [[key[0]] for key in keys]
    for table in tables.values():
        for row, key, rank in zip(rows, keys, table.among(keys), strict=True):
            row += [*table.line(key)[:2], f"{rank:.2f}"]
    return markdown(heads("detector, defaults", tables), rows)


def settings_table(tables: Tables) -> str:
    best = [
        max(t.fixed(), key=lambda k: average(t.scores(k))) for average in AVERAGES.values() for t in tables.values()
    ]
    keys = [DEFAULT, *dict.fromkeys(best)]
    keys += [("subclass", rule, "predictive", C) for rule in AUTOMATIC for C in (32.0, 64.0)]
    keys += [("subclass", "local", loss, 64.0) for loss in LOSSES[:2]]
    keys += [("subclass", "laplacian", "predictive", C) for C in (8.0, 32.0)]
    keys += [("OCKELM",), ("VOCKELM",)]
    body = [[setting(key), *(cell for table in tables.values() for cell in table.line(key))] for key in keys]
    return markdown(heads("setting", tables), body)


def grid_table(tables: Tables) -> str:
    sigmas = [*(f"{factor:.2g} mean" for factor in GRID_FACTORS), "local"]
    body = []
    for C in GRID_COSTS:
        keys = [("subclass", sigma, "predictive", C) for sigma in sigmas]
        body.append([f"{C:g}", *(f"{np.mean([t.scores(key)[0] for t in tables.values()]):.4f}" for key in keys)])
    return markdown(["C", *(f"sigma = {sigma}" for sigma in sigmas)], body)


def stability_table(tables: Tables) -> str:
    """The fixed setting that is best on the other collections, judged by each one."""
    body = []
    for what, average in AVERAGES.items():
        for name, table in tables.items():
            others = [t for n, t in tables.items() if n != name]
            best = max(table.fixed(), key=lambda k: np.mean([average(t.scores(k)) for t in others]))
            reached, own = (abs(average(table.scores(key))) for key in (best, DEFAULT))
            body.append([what, name, setting(best), f"{reached:.4g}", f"{own:.4g}"])
    return markdown(["by", "left out", "best fixed setting of the others", "what it has there", "the default"], body)


def main() -> None:
    tables = {name: Table(tasks, chosen_for_outliers=name == "library") for name, tasks in collections().items()}
    page = Path(__file__).parents[1] / "docs" / "defaults.md"
    counts = ", ".join(f"{name} {len(table.values)}" for name, table in tables.items())
    first = next(iter(tables.values()))
    print(f"tasks: {counts}; {len(first.fixed())} fixed settings of {len(first.keys)}")
    made = {"peers": peers_table, "settings": settings_table, "grid": grid_table}
    if len(tables) > 1:  # the page speaks of all collections
        made["stability"] = stability_table
    for name, make in made.items():
        text = make(tables)
        print(text, "\n")
        if "stability" in made:
            write_between_markers(page, f"defaults-{name}", text)


if __name__ == "__main__":
    main()
