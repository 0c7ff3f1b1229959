"""Grouped rows: false-alarm rates without and with groups for 5 % asked, and the share of fits that warned.

Persons with five rows each, duplicated rows, and time series; new rows are of new persons and other times. Writes
the table of docs/dependent_rows.md. ``python benchmarks/groups.py 3`` runs three draws only, and writes nothing.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from _arrays import Rows
from _table import markdown, write_between_markers
from oneclass import AAKELM, OCKELM, VAAKELM, VOCKELM, DependentRowsWarning, KNNDetector, Nystrom, time_blocks
from oneclass.base.classifier import OneClassClassifier

DRAWS, FRESH, FEATURES = 12, 500, 4

Groups = NDArray[np.intp] | None
GroupsOf = Callable[[Rows], Groups]
#: Training rows, their groups, and new rows.
Draw = Callable[[np.random.Generator], tuple[Rows, GroupsOf, Rows]]

CLASSIFIERS: dict[str, Callable[[Rows, Groups], OneClassClassifier]] = {
    "OCKELM": lambda X, groups: OCKELM().fit(X, groups=groups),
    "VOCKELM": lambda X, groups: VOCKELM().fit(X, groups=groups),
    "AAKELM": lambda X, groups: AAKELM().fit(X, groups=groups),
    "VAAKELM": lambda X, groups: VAAKELM().fit(X, groups=groups),
    "VAAKELM, 60 landmarks": lambda X, groups: VAAKELM(approximation=Nystrom(60)).fit(X, groups=groups),
    "VAAKELM, 60 landmarks, chunks": lambda X, groups: in_chunks(X, groups),
    "k-NN": lambda X, groups: KNNDetector().fit(X, groups=groups),
}


def in_chunks(X: Rows, groups: Groups) -> VAAKELM:
    machine, rows = VAAKELM(approximation=Nystrom(60)), X if groups is None else np.column_stack([X, groups])
    return machine.fit_chunks(np.array_split(rows, 3), groups=None if groups is None else FEATURES)


def persons(rng: np.random.Generator, n: int, visits: int, noise: float) -> Rows:
    of_persons = np.repeat(rng.normal(size=(n, FEATURES)), visits, axis=0)
    return of_persons + noise * rng.normal(size=of_persons.shape)


def series(rng: np.random.Generator, phi: float) -> Rows:
    X = rng.normal(size=(300, FEATURES))
    for i in range(1, 300):
        X[i] = phi * X[i - 1] + np.sqrt(1 - phi**2) * X[i]
    return X


def of_persons(noise: float, n: int = 60, visits: int = 5) -> Draw:
    return lambda rng: (
        persons(rng, n, visits, noise),
        lambda X: np.repeat(np.arange(n), visits),
        persons(rng, FRESH, 1, noise),
    )


def of_series(phi: float) -> Draw:
    return lambda rng: (series(rng, phi), time_blocks, rng.normal(size=(FRESH, FEATURES)))


CELLS = {
    "60 persons, noise 0.1": of_persons(0.1),
    "noise 0.3": of_persons(0.3),
    "noise 0.5": of_persons(0.5),
    "every row twice": of_persons(0.0, 150, 2),
    "AR(1), 0.9": of_series(0.9),
    "AR(1), 0.99": of_series(0.99),
}


def ungrouped(X: Rows) -> None:
    """No groups."""


def study(classifier: str, cell: str, draws: int) -> tuple[str, str, Rows]:
    """Means over the draws: rejected without and with groups, warned without and with."""
    found = []
    for seed in range(draws):
        X, groups_of, fresh = CELLS[cell](np.random.default_rng(seed))
        rates, warned = list[float](), list[bool]()
        for groups in ungrouped, groups_of:
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                rates.append(float(np.mean(CLASSIFIERS[classifier](X, groups(X)).predict(fresh) == -1)))
            warned.append(any(each.category is DependentRowsWarning for each in seen))
        found.append([*rates, *warned])
    return classifier, cell, np.mean(found, axis=0)


def main() -> None:
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else DRAWS
    jobs = (delayed(study)(name, cell, draws) for name in CLASSIFIERS for cell in CELLS)
    found = {(name, cell): means for name, cell, means in Parallel(n_jobs=2)(jobs)}
    body = []
    for name in CLASSIFIERS:
        cells = [found[name, cell] for cell in CELLS]
        body.append([name, *(f"{100 * without:.0f} → {100 * grouped:.1f}" for without, grouped, *_ in cells)])
    for row, k in (("warned without groups", 2), ("warned with groups", 3)):
        shares = [100 * np.mean([found[name, cell][k] for name in CLASSIFIERS]) for cell in CELLS]
        body.append([row, *(f"{share:.0f} %" for share in shares)])
    text = markdown(["rejected, %: without → with groups", *CELLS], body) + (
        f"\n\nMeans over {draws} draws of 300 rows of {FEATURES} features, 5 % asked for; a mean is known to about a "
        "point. Groups of the series are `time_blocks(X)`; 300 rows of the last hold two or three independent ones."
    )
    print(text)
    if draws == DRAWS:
        write_between_markers(Path(__file__).parents[1] / "docs" / "dependent_rows.md", "groups", text)


if __name__ == "__main__":
    main()
