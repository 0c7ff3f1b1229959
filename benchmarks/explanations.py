"""Do explanations name the column that is wrong? On twelve tables, one value of each new normal row is corrupted.

A value is shifted by three deviations of its column, up or down, or swapped for the more distant of the column's
extremes. Among the rows that a classifier then rejects at 5 %, how often is that column the first reason? Writes the
table of docs/explanations.md. Reads the paper's datasets: set ONECLASS_DATA to their folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.neighbors import NearestNeighbors

from _arrays import Rows
from _table import markdown, write_between_markers
from oneclass import AAKELM, OCKELM, OCSVM, VAAKELM, KNNDetector, Parzen, PCADetector
from oneclass.base.classifier import OneClassClassifier
from reproduction.datasets import load

TABLES: tuple[str, ...] = ("biomed", "cardiotocography_21", "colposcopy", "diabetic_retinopathy", "ecoli")
TABLES += ("heart_cleveland", "sonar", "vowel", "waveform")
SPLITS, LARGEST = 5, 500

Columns = NDArray[np.intp]
Blame = Callable[[Rows], Columns]


def tables() -> Iterator[tuple[str, Rows]]:
    """Rows of one class; columns of few values cannot be shifted and are left out."""
    for name in TABLES:
        try:
            X, y = load(name)
        except Exception as missing:  # a missing table is reported and left out
            print(f"{name}: {missing}")
            continue
        yield name, X.to_numpy(dtype=float)[np.asarray(y) == 1]
    for name, source in (("iris", load_iris), ("wine", load_wine), ("wdbc", load_breast_cancer)):
        data = source()
        yield name, data.data[data.target == (1 if name == "wdbc" else 0)]


def corrupted(train: Rows, rows: Rows, how: str, rng: np.random.Generator) -> tuple[Rows, Columns]:
    """Every row with one value of a random column corrupted, and which column."""
    rows, columns = rows.copy(), rng.integers(rows.shape[1], size=len(rows))
    at = np.arange(len(rows)), columns
    if how == "shifted":
        rows[at] += rng.choice([-3, 3], size=len(rows)) * train.std(axis=0)[columns]
    else:
        low, high = train.min(axis=0)[columns], train.max(axis=0)[columns]
        rows[at] = np.where(rows[at] - low > high - rows[at], low, high)
    return rows, columns


def largest(blame: Rows) -> Columns:
    """The column of each row with the largest share."""
    return np.asarray(blame.argmax(axis=1))


def explained(model: OneClassClassifier, rows: Rows) -> Columns:
    """The first reason of each row."""
    return largest(model.explain(rows).shares)


def detectors(train: Rows) -> Iterator[tuple[str, OneClassClassifier, Blame]]:
    """Name, fitted classifier, and a function that returns the first reason of each row."""
    centre, deviation = train.mean(axis=0), train.std(axis=0)
    scaled = (train - centre) / deviation
    nearest = NearestNeighbors(n_neighbors=1).fit(scaled)

    def by_z(rows: Rows) -> Columns:
        return largest(np.abs((rows - centre) / deviation))

    def by_nearest(rows: Rows) -> Columns:
        Z = (rows - centre) / deviation
        return largest(np.abs(Z - scaled[nearest.kneighbors(Z)[1][:, 0]]))

    machines = (VAAKELM(), AAKELM(kernel="rbf", sigma="local", C=64.0, scale="zscore"))
    models: tuple[OneClassClassifier, ...] = (*machines, PCADetector(), KNNDetector(), Parzen(), OCSVM(), OCKELM())
    for model in models:
        model.fit(train)
        name = "default VAAKELM" if isinstance(model, VAAKELM) else repr(model)
        yield name, model, partial(explained, model)
    default = VAAKELM().fit(train)
    yield "largest z-score, rows of the default", default, by_z
    yield "nearest normal row, rows of the default", default, by_nearest
    yield "nearest normal row, rows of k-NN", KNNDetector().fit(train), by_nearest


def listed(model: OneClassClassifier, rows: Rows, columns: Columns, clean: Rows) -> tuple[int, int]:
    """How often the column is among three reasons, and how often its range holds the value before the corruption."""
    why = model.explain(rows)
    at = np.arange(len(rows)), columns
    held = (np.asarray(why.low)[at] <= clean[at]) & (clean[at] <= np.asarray(why.high)[at])
    named = [any(reason.column == j for reason in top) for top, j in zip(why.top(3), columns, strict=True)]
    return sum(named), int(held.sum())


def main() -> None:
    """Count."""
    found: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    ranges: list[tuple[int, int, int]] = []
    for name, X in tables():
        X = X[:, [len(np.unique(x)) > 5 for x in X.T]]
        for seed in range(SPLITS):
            rng = np.random.default_rng([seed, *name.encode()])
            order = rng.permutation(len(X))
            cut = round(0.7 * len(X))
            train, fresh = X[order[:cut]][:LARGEST], X[order[cut:]][:LARGEST]
            for how in ("shifted", "extreme"):
                rows, columns = corrupted(train, fresh, how, rng)
                for detector, model, blame in detectors(train):
                    flagged = model.predict(rows) == -1
                    right = int(np.sum(blame(rows)[flagged] == columns[flagged])) if flagged.any() else 0
                    found.setdefault((detector, how), []).append((right, int(flagged.sum()), len(rows)))
                    if detector == "default VAAKELM" and flagged.any():
                        counts = listed(model, rows[flagged], columns[flagged], fresh[flagged])
                        ranges.append((*counts, int(flagged.sum())))
    body = []
    for detector in dict.fromkeys(key[0] for key in found):
        line = [detector]
        for how in ("shifted", "extreme"):
            right, flagged, rows = np.sum(found[detector, how], axis=0)
            line += [f"{flagged / rows:.0%}", f"{right / flagged:.0%}"]
        body.append(line)
    named, held, alarms = np.sum(ranges, axis=0)
    print(
        f"default: among three reasons {named / alarms:.1%}, value before the corruption in range {held / alarms:.1%}"
    )
    heads = ["blamed by", "shifted: rejected", "right column first", "extreme: rejected", "right column first "]
    text = markdown(heads, body)
    print(text)
    page = Path(__file__).parents[1] / "docs" / "explanations.md"
    if page.exists():
        write_between_markers(page, "explanations", text)


if __name__ == "__main__":
    main()
