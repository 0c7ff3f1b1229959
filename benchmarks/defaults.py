"""The defaults study: which fixed or automatic setting of VAAKELM finds outliers best when it never saw any.

Machines learn from targets only; outliers only judge (area under the ROC curve). Writes the tables of docs/defaults.md.
The datasets are those that `oneclass.datasets` can load (set ONECLASS_DATA) and those of scikit-learn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
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
from oneclass.core.likelihood import COSTS, FACTORS
from oneclass.datasets import load, names
from oneclass.selection._spectral import SpectralPath

SPLITS = 3
LARGEST_TRAIN, LARGEST_TEST = 400, 600
GRID_COSTS = (1 / 8, 1.0, 8.0, 32.0, 128.0)
GRID_FACTORS = FACTORS[2:7]
SCORES = ("reconstruction", "uncertainty", "predictive")
VARIANCES = ("none", "subclass")
DIGITS = (0, 4, 8)
DEFAULTS = (VAAKELM, AAKELM, VOCKELM, OCKELM)
PEERS = ("5-NN", "LOF", "isolation forest", "one-class SVM")

Task = tuple[str, np.ndarray, np.ndarray]


def tasks() -> list[Task]:
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
    """Scores at every fixed setting, and with the bandwidths that two likelihoods choose."""
    mean = SpectralPath(VAAKELM(sigma="mean"), train, test, costs=[1.0]).machine.sigma_
    likeliest = SpectralPath(VAAKELM(sigma="likelihood"), train, test, costs=[1.0]).machine.sigma_
    for variance in VARIANCES:
        paths = {}
        for factor in FACTORS:
            machine = VAAKELM(variance=variance, sigma=mean * factor)
            paths[factor] = SpectralPath(machine, train, test, costs=GRID_COSTS)
        for factor in GRID_FACTORS:
            yield from grid(paths[factor], (variance, f"{factor:.2g} mean"))
        yield from grid(paths[min(FACTORS, key=lambda f: abs(mean * f - likeliest))], (variance, "likelihood"))
        densest = max(FACTORS, key=lambda f: held_out_density(paths[f], C=COSTS[-1]))
        yield from grid(paths[densest], (variance, "held-out density"))


def grid(path: SpectralPath, key: tuple) -> Iterator[tuple[tuple, np.ndarray]]:
    """Scores at every C, by every score."""
    for C in GRID_COSTS:
        for score in SCORES:
            yield (*key, score, C), path.decisions({"C": C, "score": score})


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
    found = {key: float(roc_auc_score(y, np.nan_to_num(s))) for key, s in scores.items()}
    return task[0], found | {"C": VAAKELM(C="likelihood").fit(train).C_}


class Table:
    """Mean AUROC over the splits of every task (row) and setting (column)."""

    def __init__(self, results: list[tuple[str, dict]]) -> None:
        self.keys = [key for key in results[0][1] if key != "C"]
        self.tasks = list(dict.fromkeys(name for name, _ in results))
        self.values = np.array(
            [np.mean([[r[k] for k in self.keys] for n, r in results if n == name], axis=0) for name in self.tasks]
        )
        self.top_costs = np.mean([r["C"] == COSTS[-1] for _, r in results])
        self.ranks = rankdata(-self.values, axis=1).mean(axis=0)

    def line(self, key: tuple) -> list[str]:
        """Mean, median and mean rank of a setting."""
        column = self.values[:, self.keys.index(key)]
        rank = self.ranks[self.keys.index(key)]
        return [f"{column.mean():.4f}", f"{np.median(column):.4f}", f"{rank:.1f}"]

    def among(self, keys: list[tuple]) -> np.ndarray:
        """Mean rank among these settings alone."""
        return rankdata(-self.values[:, [self.keys.index(k) for k in keys]], axis=1).mean(axis=0)

    def fixed(self) -> list[int]:
        """Columns of the fixed settings."""
        return [i for i, key in enumerate(self.keys) if len(key) == 4 and key[1].endswith("mean")]

    def left_out(self, average: Callable[..., np.ndarray]) -> tuple[Counter, float]:
        """The fixed setting of the best average without each source of tasks in turn, and its average on the latter."""
        sources = np.array([name.split(",")[0].split("_")[0].split(" ")[0] for name in self.tasks])
        chosen, scores = Counter(), []
        for source in np.unique(sources):
            averages = average(self.values[sources != source], axis=0)
            best = max(self.fixed(), key=lambda i, averages=averages: averages[i])
            chosen[self.keys[best]] += 1
            scores += self.values[sources == source, best].tolist()
        return chosen, float(average(scores))


def setting(key: tuple) -> str:
    variance, sigma, score, C = key
    return f"{score}, C = {C:g}, sigma = {sigma}, variance {variance}"


def peers_table(table: Table) -> str:
    keys = [("VAAKELM",), ("AAKELM",), *((name,) for name in PEERS)]
    ranks = table.among(keys)
    default = table.values[:, table.keys.index(("VAAKELM",))]
    rows = []
    for key, rank in zip(keys, ranks, strict=True):
        column = table.values[:, table.keys.index(key)]
        wins = "" if key == ("VAAKELM",) else f"{np.sum(default > column)}-{np.sum(default < column)}"
        rows.append([key[0], *table.line(key)[:2], f"{rank:.2f}", wins])
    return markdown(["detector, defaults", "mean AUROC", "median", "mean rank of six", "VAAKELM wins-losses"], rows)


def settings_table(table: Table) -> str:
    means, medians = table.values.mean(axis=0), np.median(table.values, axis=0)
    best = {
        "best mean": max(table.fixed(), key=lambda i: means[i]),
        "best median": max(table.fixed(), key=lambda i: medians[i]),
        "best rank": min(table.fixed(), key=lambda i: table.ranks[i]),
    }
    rows = [["default VAAKELM", *table.line(("VAAKELM",))]]
    rows += [[f"fixed, {what}: {setting(table.keys[i])}", *table.line(table.keys[i])] for what, i in best.items()]
    listed = [("subclass", "1 mean", "reconstruction", 1.0), ("subclass", "1 mean", "predictive", 8.0)]
    listed += [
        ("subclass", sigma, "predictive", C) for sigma in ("likelihood", "held-out density") for C in (8.0, 32.0)
    ]
    listed += [("subclass", "likelihood", score, 32.0) for score in SCORES[:2]]
    rows += [[setting(key), *table.line(key)] for key in listed]
    rows += [[f"default {name}", *table.line((name,))] for name in ("OCKELM", "VOCKELM")]
    return markdown(["setting", "mean AUROC", "median", f"mean rank of {len(table.keys)}"], rows)


def grid_table(table: Table) -> str:
    sigmas = [*(f"{factor:.2g} mean" for factor in GRID_FACTORS), "likelihood"]
    body = [[f"{C:g}", *(table.line(("subclass", sigma, "predictive", C))[0] for sigma in sigmas)] for C in GRID_COSTS]
    return markdown(["C", *(f"sigma = {sigma}" for sigma in sigmas)], body)


def stability(table: Table) -> str:
    default = table.line(("VAAKELM",))
    lines = []
    for (name, average), own in zip((("mean", np.mean), ("median", np.median)), default, strict=False):
        chosen, score = table.left_out(average)
        listed = "; ".join(f"{setting(key)} ({count} times)" for key, count in chosen.most_common())
        lines.append(
            f"Leaving out one source of data at a time and taking the fixed setting with the best {name} on the others "
            f"chose {listed}. On what was left out those choices have a {name} AUROC of {score:.4f}, the default {own}."
        )
    top = f'`C="likelihood"` was {COSTS[-1]:g}, the end of its range, in {table.top_costs:.0%} of the fits.'
    return "\n\n".join([*lines, top])


def main() -> None:
    results = Parallel(n_jobs=2)(delayed(study)(task, seed) for task in tasks() for seed in range(SPLITS))
    table = Table(results)
    page = Path(__file__).parents[1] / "docs" / "defaults.md"
    for name, make in (
        ("peers", peers_table),
        ("settings", settings_table),
        ("grid", grid_table),
        ("stability", stability),
    ):
        print(make(table), "\n")
        write_between_markers(page, f"defaults-{name}", make(table))


if __name__ == "__main__":
    main()
