"""Do explanations name the column that is wrong? One value of fresh normal rows is corrupted, on twelve tables.

A value is shifted by three deviations of its column, up or down, or swapped for the more distant of the column's
extremes. Among the rows that a classifier then rejects at 5 %, how often does it blame that column first? Writes the
table of docs/explanations.md. Set ONECLASS_DATA.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.neighbors import NearestNeighbors

from _table import markdown, write_between_markers
from oneclass import AAKELM, OCKELM, OCSVM, VAAKELM, KNNDetector, Parzen, PCADetector
from oneclass.datasets import load

TABLES = ("biomed", "cardiotocography_21", "colposcopy", "diabetic_retinopathy", "ecoli", "heart_cleveland")
TABLES += ("sonar", "vowel", "waveform")
SPLITS, LARGEST = 5, 500

Blame = Callable[[np.ndarray], np.ndarray]


def tables() -> Iterator[tuple[str, np.ndarray]]:
    """Rows of one class; columns of few values cannot be shifted and are left out."""
    for name in TABLES:
        try:
            X, y = load(name)
        except Exception as missing:  # a table that is not there is said and left out
            print(f"{name}: {missing}")
            continue
        yield name, X.to_numpy(dtype=float)[np.asarray(y) == 1]
    for name, source in (("iris", load_iris), ("wine", load_wine), ("wdbc", load_breast_cancer)):
        data = source()
        yield name, data.data[data.target == (1 if name == "wdbc" else 0)]


def corrupted(train: np.ndarray, rows: np.ndarray, how: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Every row with one value of a random column corrupted, and which column."""
    rows, columns = rows.copy(), rng.integers(rows.shape[1], size=len(rows))
    at = np.arange(len(rows)), columns
    if how == "shifted":
        rows[at] += rng.choice([-3, 3], size=len(rows)) * train.std(axis=0)[columns]
    else:
        low, high = train.min(axis=0)[columns], train.max(axis=0)[columns]
        rows[at] = np.where(rows[at] - low > high - rows[at], low, high)
    return rows, columns


def detectors(train: np.ndarray) -> Iterator[tuple[str, object, Blame]]:
    """Name, fitted classifier, and the column that is blamed most."""
    centre, deviation = train.mean(axis=0), train.std(axis=0)
    scaled = (train - centre) / deviation
    nearest = NearestNeighbors(n_neighbors=1).fit(scaled)

    def by_z(rows: np.ndarray) -> np.ndarray:
        return np.abs((rows - centre) / deviation).argmax(axis=1)

    def by_nearest(rows: np.ndarray) -> np.ndarray:
        Z = (rows - centre) / deviation
        return np.abs(Z - scaled[nearest.kneighbors(Z)[1][:, 0]]).argmax(axis=1)

    machines = (VAAKELM(), AAKELM(kernel="rbf", sigma="local", C=64.0, scale="zscore"))
    for model in (*machines, PCADetector(), KNNDetector(), Parzen(), OCSVM(), OCKELM()):
        model.fit(train)
        name = "default VAAKELM" if isinstance(model, VAAKELM) else repr(model)
        yield name, model, lambda rows, model=model: model.explain(rows).shares.argmax(axis=1)
    default = VAAKELM().fit(train)
    yield "largest z-score, rows of the default", default, by_z
    yield "nearest normal row, rows of the default", default, by_nearest
    yield "nearest normal row, rows of k-NN", KNNDetector().fit(train), by_nearest


def main() -> None:
    """Count."""
    found: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
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
    body = []
    for detector in dict.fromkeys(key[0] for key in found):
        line = [detector]
        for how in ("shifted", "extreme"):
            right, flagged, rows = np.sum(found[detector, how], axis=0)
            line += [f"{flagged / rows:.0%}", f"{right / flagged:.0%}"]
        body.append(line)
    heads = ["blamed by", "shifted: rejected", "right column first", "extreme: rejected", "right column first "]
    text = markdown(heads, body)
    print(text)
    page = Path(__file__).parents[1] / "docs" / "explanations.md"
    if page.exists():
        write_between_markers(page, "explanations", text)


if __name__ == "__main__":
    main()
