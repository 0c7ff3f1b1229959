"""False alarms of detectors calibrated by nonconform, beside this library's, on three of scikit-learn's tables.

The same splits as in benchmarks/peers.py: four fifths of the normal rows to learn from, the others to score. A row is
rejected where its p-value is at most the rate asked for. nonconform has its own defaults: five folds whose models are
all kept, and a split with a tenth of the rows for calibration. Writes the third table of docs/false_alarms.md.

nonconform needs Python 3.12, so this script is not part of `make bench`. To run it:
``pip install . nonconform pyod``, then ``python benchmarks/conformal_peers.py``.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from _arrays import Rows
from _table import markdown, write_between_markers
from oneclass import OCSVM, VAAKELM
from peers import ASKED, SPLITS, targets

#: Training rows, new rows, seed -> p-values of the new rows.
Judge = Callable[[Rows, Rows, int], Rows]


def ours(kind: type[VAAKELM] | type[OCSVM]) -> Judge:
    """Return p-values of a classifier of this library."""
    return lambda train, fresh, seed: np.asarray(kind().fit(train).p_value(fresh))


def calibrated(detector: object, strategy: Callable[[], object]) -> Judge:
    """Return p-values of a detector behind z-scores, calibrated by nonconform."""
    from nonconform import ConformalDetector

    def judge(train: Rows, fresh: Rows, seed: int) -> Rows:
        scaler = StandardScaler().fit(train)
        model = ConformalDetector(detector=clone(detector), strategy=strategy(), seed=seed)
        model.fit(scaler.transform(train))
        return np.asarray(model.compute_p_values(scaler.transform(fresh)))

    return judge


def judges() -> dict[str, Judge]:
    from nonconform import CrossValidation, Split
    from pyod.models.knn import KNN

    detectors = {
        "OneClassSVM": OneClassSVM(),
        "IsolationForest": IsolationForest(),
        "LocalOutlierFactor": LocalOutlierFactor(novelty=True),
        "PyOD KNN": KNN(),
    }
    strategies = {"five folds": CrossValidation, "split": Split}
    found = {"oneclass VAAKELM": ours(VAAKELM), "oneclass OCSVM": ours(OCSVM)}
    return found | {
        f"nonconform, {name}, {how}": calibrated(detector, strategy)
        for name, detector in detectors.items()
        for how, strategy in strategies.items()
    }


def main() -> None:
    tables, body = targets(), []
    for name, judge in judges().items():
        cells, seconds = [], 0.0
        for X in tables.values():
            rates = np.zeros((SPLITS, len(ASKED)))
            for seed in range(SPLITS):
                train, fresh = np.split(np.random.default_rng(seed).permutation(X), [round(0.8 * len(X))])
                start = time.process_time()
                p = judge(train, fresh, seed)
                seconds += time.process_time() - start
                rates[seed] = [100 * np.mean(p <= asked * (1 + 1e-9)) for asked in ASKED]
            cells.append(" / ".join(f"{rate:.1f}" for rate in rates.mean(axis=0)))
        body.append([name, *cells, f"{1000 * seconds / SPLITS / len(tables):.0f}"])
        print(*body[-1], flush=True)
    sizes = (f"{name}, {round(0.8 * len(X))} rows" for name, X in tables.items())
    note = (
        f"Percent of new normal rows rejected, 2 / 5 / 10 % asked for; means of {SPLITS} random 80/20 splits. A split "
        "of few rows leaves too few for calibration: with 29, 14 and 6 of them, no p-value is below 3, 7 and 14 %."
    )
    text = f"{markdown(['detector and calibration', *sizes, 'milliseconds'], body)}\n\n{note}"
    write_between_markers(Path(__file__).parents[1] / "docs" / "false_alarms.md", "conformal-peers", text)


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
