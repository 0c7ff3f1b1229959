"""Ways of holding out: mean false-alarm rates, and how often intervals for the rate of one model contain it.

Training rows and new rows are independent draws of one distribution: normal, heavy tails, a mixture, zero-inflated,
ordinal with ties, and of 60 columns. 10 % false alarms are asked for. Measures that intervals which count half
of the rows (`oneclass.core.threshold`) contain the rate. Writes a table of docs/false_alarms.md. `python
benchmarks/ways.py 2000` takes other numbers of rows.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.neighbors import LocalOutlierFactor
from sklearn.svm import OneClassSVM

from _arrays import Rng, Rows
from _table import markdown, write_between_markers
from oneclass import OCSVM, VAAKELM, Calibrated, KMeansDetector, KNNDetector, PCADetector

DELTA, CONFIDENCE, DRAWS, NEW = 0.1, 0.95, 25, 1000
SIZES = (50, 200)
CENTERS = np.array([[0, 0, 0], [5, 0, 0], [0, 5, 5]])
LAWS: dict[str, Callable[[Rng, int], Rows]] = {
    "normal": lambda rng, n: rng.normal(size=(n, 4)),
    "heavy tails": lambda rng, n: rng.standard_t(2, size=(n, 4)),
    "mixture": lambda rng, n: CENTERS[rng.integers(3, size=n)] + 0.4 * rng.normal(size=(n, 3)),
    "zero-inflated": lambda rng, n: rng.lognormal(size=(n, 4)) * (rng.random((n, 4)) < 0.5),
    "ordinal": lambda rng, n: rng.integers(0, 5, size=(n, 3)).astype(float),
    "60 columns": lambda rng, n: rng.normal(size=(n, 60)),
}
SCIKIT_LEARN = {
    "LocalOutlierFactor": LocalOutlierFactor(5, novelty=True),
    "OneClassSVM": OneClassSVM(),
}
#: Name, and the classifier by way of holding out.
MODELS: dict[str, dict[str, Any]] = {
    "VAAKELM": {"loo": VAAKELM(), "split": Calibrated(VAAKELM(), hold_out="split")},
    **{
        kind.__name__: {way: kind(hold_out=way) for way in ("loo", "folds", "plus", "split")}
        for kind in (KNNDetector, PCADetector)
    },
    **{
        kind.__name__: {way: kind(hold_out=way) for way in ("folds", "plus", "split")}
        for kind in (KMeansDetector, OCSVM)
    },
    **{
        f"Calibrated({name})": {way: Calibrated(model, hold_out=way) for way in ("folds", "plus", "split")}
        for name, model in SCIKIT_LEARN.items()
    },
}


def measured(model: Any, law: str, n: int) -> tuple[float, float, float]:
    """Return the mean rate, its standard error, and the share of intervals that contain the rate."""
    rates, inside = [], 0
    for seed in range(DRAWS):
        rng = np.random.default_rng([seed, n])
        fitted = model.set_params(delta=DELTA).fit(LAWS[law](rng, n))
        rates.append(np.mean(fitted.predict(LAWS[law](rng, NEW)) == -1))
        low, high = fitted.false_alarm_interval(confidence=CONFIDENCE)
        # A tie makes rates smaller than their distribution without ties: only too high rates count then.
        inside += (low <= rates[-1] or law == "ordinal") and rates[-1] <= high
    return 100 * float(np.mean(rates)), 100 * float(np.std(rates) / np.sqrt(DRAWS)), 100 * inside / DRAWS


def main(sizes: tuple[int, ...]) -> None:
    body, errors, ways = [], [], ("loo", "folds", "plus", "split")
    for name, by_way in MODELS.items():
        cells = {}
        for way, model in by_way.items():
            found = np.array([measured(model, law, n) for law in LAWS for n in sizes])
            errors += found[:, 1].tolist()
            rates, covered = found[:, 0], found[:, 2]
            rate = f"{rates.mean():.1f} ({rates.min():.1f} to {rates.max():.1f})"
            cells[way] = f"{rate}; {covered.mean():.0f} ({covered.min():.0f})"
            print(name, way, cells[way], flush=True)
        body.append([name, *(cells.get(way, "") for way in ways)])
    note = (
        f"Percent of new normal rows rejected, {100 * DELTA:.0f} % asked for: mean (lowest to highest of {len(LAWS)} "
        f"distributions with n = {', '.join(map(str, sizes))}); percent of {100 * CONFIDENCE:.0f} % intervals that "
        f"contain the rate of their model: mean (lowest). {DRAWS} draws each: rates have standard errors of at most "
        f"{max(errors):.1f} points (median {np.median(errors):.1f}), coverages of 4 points at 95 %."
    )
    page = Path(__file__).parents[1] / "docs" / "false_alarms.md"
    write_between_markers(page, "ways", f"{markdown(['classifier', *ways], body)}\n\n{note}")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main(tuple(map(int, sys.argv[1:])) or SIZES)
