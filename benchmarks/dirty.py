"""The dirty-data study: odd rows among the rows that a detector learns from.

Tables are made of the targets of each task of the defaults study (defaults.py says where the collections come from) and
of a share of its outliers, unlabelled; as there, tasks of just any table are left out on which the peers have an AUROC
of 0.6 or less. Writes the tables of docs/dirty.md. ``--quick`` takes every sixth task.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import skew
from sklearn.ensemble import IsolationForest
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from _arrays import Marks, Rows
from _table import markdown, write_between_markers
from defaults import Task, collections
from oneclass import AAKELM, VAAKELM, KNNDetector

SHARES = (0.0, 0.01, 0.05, 0.10)
LARGEST, DRAWS = 300, 2
Q = 0.1
SCREEN = "`screen`"
PEERS = ("isolation forest", "LOF", "20-NN", "ECOD", "one-class SVM")

#: Score of each row (larger is more anomalous), and which rows the detector names.
Answer = tuple[Rows, Marks]
#: Of each detector: AUROC, average precision, share of false discoveries, of outliers found and of rows named.
Result = dict[str, tuple[float, ...]]


def contaminated(task: Task, share: float, seed: int) -> tuple[Rows, Marks] | None:
    """Targets with a share of outliers among them, and which these are; None where there are too few."""
    name, targets, outliers = task
    rng = np.random.default_rng([seed, *name.encode()])
    targets, outliers = rng.permutation(targets)[:LARGEST], rng.permutation(outliers)
    k = round(share * len(targets) / (1 - share)) if share else 0
    if len(outliers) < k or (share and not k):
        return None
    return np.concatenate([targets, outliers[:k]]), np.arange(len(targets) + k) >= len(targets)


def ecod(X: Rows) -> Rows:
    """The largest of the sums over features of -log of the left tail, of the right, and of the one of the skew [1].

    [1] Li et al. (2022). ECOD: unsupervised outlier detection using empirical cumulative distribution functions.
    """
    ranked = np.sort(X, axis=0)
    sides = [np.stack([np.searchsorted(r, x, side="right") for r, x in zip(ranked.T, X.T, strict=True)], axis=1)]
    sides += [len(X) - np.stack([np.searchsorted(r, x) for r, x in zip(ranked.T, X.T, strict=True)], axis=1)]
    left, right = (-np.log(side / len(X)) for side in sides)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of columns that do not vary
        by_skew = np.where(skew(X, axis=0) < 0, left, right)
    return np.asarray(np.maximum.reduce([side.sum(axis=1) for side in (left, right, by_skew)]))


def ours(X: Rows) -> Iterator[tuple[str, Answer]]:
    found = KNNDetector(delta=0).screen(X, q=Q)
    yield SCREEN, (-found.scores, found.odd)
    small = AAKELM(loss="uncertainty", C=1 / 32).fit(X)
    yield "AAKELM held out, C = 1/32, uncertainty", _held_out(small)
    machine = VAAKELM().fit(X)
    yield "VAAKELM held out, defaults", _held_out(machine)
    yield "VAAKELM.fit_predict, defaults", (-machine.score_samples(X), machine.predict(X) == -1)


def _held_out(machine: AAKELM | VAAKELM) -> Answer:
    return -machine.held_out_scores_, machine.held_out_p_values_ <= machine.delta


def peers(X: Rows) -> Iterator[tuple[str, Answer]]:
    """Other detectors on z-scores with their own defaults; where these name nothing, PyOD's: a tenth of the rows."""
    Z = StandardScaler().fit_transform(X)
    forest = IsolationForest(random_state=0).fit(Z)
    yield "isolation forest", (-forest.score_samples(Z), forest.predict(Z) == -1)
    factor = LocalOutlierFactor(n_neighbors=min(20, len(Z) - 1))
    labels = factor.fit_predict(Z)
    yield "LOF", (-factor.negative_outlier_factor_, labels == -1)
    yield "20-NN", _largest_tenth(-KNNDetector(n_neighbors=min(20, len(Z) - 1)).fit(X).held_out_scores_)
    yield "ECOD", _largest_tenth(ecod(X))
    machine = OneClassSVM().fit(Z)
    yield "one-class SVM", (-machine.decision_function(Z), machine.predict(Z) == -1)


def _largest_tenth(scores: Rows) -> Answer:
    return scores, scores > np.quantile(scores, 0.9)


def study(task: Task, share: float, seed: int) -> Result | None:
    """Results of every detector on one table."""
    if (made := contaminated(task, share, seed)) is None:
        return None
    X, y = made
    result = {}
    for name, (scores, named) in (*ours(X), *peers(X)):
        ranking = (roc_auc_score(y, scores), average_precision_score(y, scores)) if y.any() else (np.nan, np.nan)
        false = np.sum(named & ~y) / max(1, named.sum())
        result[name] = (*ranking, false, named[y].mean() if y.any() else np.nan, named.mean())
    return result


def has_outliers(results: list[Result]) -> bool:
    """Whether the other detectors separate the other class of a task."""
    return float(np.mean([area for result in results for name, (area, *_) in result.items() if name in PEERS])) > 0.6


def main() -> None:
    quick = "--quick" in sys.argv
    found = {name: tasks[:: 6 if quick else 1] for name, tasks in collections().items()}
    points = [
        (name, task, share, seed)
        for name, tasks in found.items()
        for task in tasks
        for share in SHARES
        for seed in range(1 if quick else DRAWS)
    ]
    done = Parallel(n_jobs=1 if quick else 2)(delayed(study)(*point[1:]) for point in points)
    by_task: dict[tuple[str, str], dict[float, list[Result]]] = {}
    for (name, task, share, _), result in zip(points, done, strict=True):
        if result is not None:
            by_task.setdefault((name, task[0]), {}).setdefault(share, []).append(result)
    tables = []  # collection, share, results
    for (name, _), shares in by_task.items():
        dirty = [result for share, results in shares.items() if share for result in results]
        if dirty and (name == "library" or has_outliers(dirty)):
            tables += [(name, share, result) for share, results in shares.items() for result in results]
    detectors = list(tables[0][2])

    def mean(detector: str, column: slice, **of: object) -> Rows:
        chosen = [r for n, s, r in tables if n == of.get("name", n) and (s == of["share"] if "share" in of else s > 0)]
        return np.asarray(np.mean([result[detector][column] for result in chosen], axis=0))

    ranking, naming = [], []
    for detector in detectors:
        pairs = [mean(detector, slice(2), name=name) for name in found]
        shown = [f"{area:.3f} / {precision:.3f}" for area, precision in (*pairs, np.mean(pairs, axis=0))]
        ranking.append([detector, *shown])
        named = [mean(detector, slice(2, 4), share=share) for share in SHARES[1:]]
        clean = mean(detector, slice(4, 5), share=0.0)[0]
        naming.append([detector, f"{clean:.1%}", *(f"{false:.0%} / {hit:.0%}" for false, hit in named)])
    made = {
        "ranking": markdown(["detector", *found, "mean"], ranking),
        "naming": markdown(["detector", "rows named at 0%", *(f"{share:.0%}" for share in SHARES[1:])], naming),
    }
    print(f"tables with outliers: { {name: sum(n == name and s > 0 for n, s, _ in tables) for name in found} }")
    page = Path(__file__).parents[1] / "docs" / "dirty.md"
    for name, text in made.items():
        print(text, "\n")
        if len(found) > 1 and not quick:  # the page describes all collections
            write_between_markers(page, f"dirty-{name}", text)


if __name__ == "__main__":
    main()
