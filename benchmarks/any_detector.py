"""Detectors of other libraries, calibrated by `Calibrated` and by nonconform, beside VAAKELM, on the same splits.

Half of the normal rows are for training. New rows are the other half and as many outliers, or all if there are fewer.
5 % false alarms are asked for, and batch labels at q = 0.1. Detectors are behind z-scores, and have their defaults; the
isolation forest has 25 trees. Writes a table of docs/false_alarms.md. The script also checks that the p-values of
`Calibrated` and of nonconform are equal if both hold out the same rows.

PyOD is measured where it is installed, and so is nonconform. It needs Python 3.12, so that this script is not part of
`make bench`. To run it: ``pip install . nonconform pyod``, then ``python benchmarks/any_detector.py``.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from _arrays import Rows
from _table import markdown, write_between_markers
from conformal_peers import calibrated
from oneclass import VAAKELM, Calibrated
from oneclass.core.calibration import benjamini_hochberg
from reproduction.datasets import load

DELTA, Q, SPLITS, MOST = 0.05, 0.1, 2, 150
#: Datasets of the paper's study without groups and with at least 97 normal rows; one of each collection of digits.
DATASETS = (
    *("breast_cancer", "diabetic_retinopathy", "heart_cleveland", "heart_statlog", "sonar", "survival", "waveform"),
    *("concordia_2", "digits_0", "digits_8", "semeion_5", "usps_8"),
)
#: Training rows, new rows, seed -> p-values of the new rows.
Judge = Callable[[Rows, Rows, int], Rows]


def ours(model: Any) -> Judge:
    """Return p-values of a classifier of this library."""

    def judge(train: Rows, new: Rows, seed: int) -> Rows:
        made = clone(model)
        if "random_state" in made.get_params():
            made.set_params(random_state=seed)
        return np.asarray(made.fit(train).p_value(new))

    return judge


def judges() -> dict[str, Judge]:
    """Return all of them by the name of their row in the table."""
    detectors: dict[str, Any] = {
        "IsolationForest": IsolationForest(n_estimators=25, random_state=0),
        "LocalOutlierFactor": LocalOutlierFactor(novelty=True),
        "OneClassSVM": OneClassSVM(),
    }
    try:
        from pyod.models.knn import KNN

        detectors["PyOD KNN"] = KNN()
    except ImportError:
        print("PyOD is not installed")
    found = {"VAAKELM": ours(VAAKELM()), "Calibrated(VAAKELM), split": ours(Calibrated(VAAKELM(), hold_out="split"))}
    for name, detector in detectors.items():
        behind = make_pipeline(StandardScaler(), detector)
        direction = "odd" if hasattr(detector, "contamination") and name.startswith("PyOD") else "normal"
        for way in ("plus", "split"):
            found[f"Calibrated({name}), {way}"] = ours(Calibrated(behind, hold_out=way, direction=direction))
    try:
        from nonconform import CrossValidation, Split

        strategies = {"five folds": CrossValidation, "split of half": lambda: Split(n_calib=0.5)}
        for name, detector in detectors.items():
            for way, strategy in strategies.items():
                found[f"nonconform, {name}, {way}"] = calibrated(detector, strategy)
        check_agreement(detectors["IsolationForest"])
    except ImportError:
        print("nonconform is not installed")
    return found


def check_agreement(detector: object) -> None:
    """Fail unless both libraries give the same p-values from the same calibration rows."""
    from nonconform import ConformalDetector, Split

    rng = np.random.default_rng(0)
    train, new = rng.normal(size=(300, 3)), 2 * rng.normal(size=(200, 3))
    model = ConformalDetector(detector=clone(detector), strategy=Split(n_calib=100), seed=0)
    model.fit(train)
    scores = np.asarray(model.calibration_set).reshape(-1, 1)
    same = Calibrated(direction="odd").fit(scores)
    new_scores = np.asarray(model.score_samples(new)).reshape(-1, 1)
    np.testing.assert_allclose(same.p_value(new_scores), model.compute_p_values(new), rtol=1e-9)
    print(f"nonconform and Calibrated give the same {len(new)} p-values from {len(scores)} calibration rows")


def splits(name: str) -> list[tuple[Rows, Rows, int]]:
    """Return training rows, new rows and the number of normal rows among these, which come first."""
    X, y = load(name, download=False)
    X, found = np.asarray(X, dtype=float), []
    for seed in range(SPLITS):
        rng = np.random.default_rng(seed)
        normal = rng.permutation(np.flatnonzero(y == 1))[: 2 * MOST]
        odd = rng.permutation(np.flatnonzero(y == -1))
        half = len(normal) // 2
        found.append((X[normal[:half]], X[np.concatenate([normal[half:], odd[:half]])], len(normal) - half))
    return found


def main() -> None:
    data, body = {name: splits(name) for name in DATASETS}, []
    for name, judge in judges().items():
        figures, start = [], time.process_time()
        for parts in data.values():
            each = []
            for seed, (train, new, normal) in enumerate(parts):
                p = judge(train, new, seed)
                limit, named = DELTA * (1 + 1e-9), p <= benjamini_hochberg(p, q=Q)
                false = named[:normal].sum() / max(1, named.sum())
                each.append([np.mean(p[:normal] <= limit), np.mean(p[normal:] <= limit), named[normal:].mean(), false])
            figures.append(100 * np.mean(each, axis=0))
        seconds = (time.process_time() - start) / len(data) / SPLITS
        rate, recall, found, false = np.mean(figures, axis=0)
        worst = max((figure[0] for figure in figures), key=lambda r: abs(r - 100 * DELTA))
        body.append(
            [name, f"{rate:.1f} ({worst:.1f})", f"{recall:.0f}", f"{found:.0f}", f"{false:.1f}", f"{seconds:.2f}"]
        )
        print(*body[-1], flush=True)
    head = ["detector", "rate (worst)", "recall", "found at q = 0.1", "false at q = 0.1", "seconds"]
    note = (
        f"Percent, means over {len(data)} datasets and {SPLITS} splits each; {100 * DELTA:.0f} % false alarms asked "
        "for. The worst rate is the mean over the splits of the dataset where it is farthest from that. Seconds are "
        "for one fit and its p-values, on one core. The defaults of VAAKELM were chosen with datasets of these "
        "collections."
    )
    page = Path(__file__).parents[1] / "docs" / "false_alarms.md"
    write_between_markers(page, "any detector", f"{markdown(head, body)}\n\n{note}")


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
