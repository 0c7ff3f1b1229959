"""Ways of holding out: mean false-alarm rates, and how often the rate of one model is outside its interval.

Training rows and new rows are independent draws of one distribution. 10 % false alarms are asked for. `python
benchmarks/ways.py --save ways.json` fits every classifier to 20 to 2,000 rows of eight distributions, on all cores
(twenty minutes of processor time), and `python benchmarks/ways.py --write ways.json` writes two tables of
docs/false_alarms.md; with several files, which may hold different sizes. `python benchmarks/ways.py --draws 3 --sizes
50 200` is a quick look.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor
from sklearn.svm import OneClassSVM

from _arrays import Rng, Rows
from _table import markdown, write_between_markers
from oneclass import OCELM, OCSVM, VAAKELM, Calibrated, KMeansDetector, KNNDetector, PCADetector

DELTA, CONFIDENCE, DRAWS, NEW = 0.1, 0.95, 18, 1000
SIZES = (20, 50, 200, 2000)
#: Draws of 2,000 rows, which take most of the time.
DRAWS_OF_MANY = 18
#: Most rows for which rates are compared with their intervals: for more, the chance in the new rows is not small.
MOST_JUDGED = 200
WAYS = ("loo", "folds", "plus", "split")
CENTERS = np.array([[0, 0, 0], [5, 0, 0], [0, 5, 5]])
#: Rows of each distribution; the last argument is the number of training rows.
LAWS: dict[str, Callable[[Rng, int, int], Rows]] = {
    "normal": lambda rng, n, _: rng.normal(size=(n, 4)),
    "heavy tails": lambda rng, n, _: rng.standard_t(2, size=(n, 4)),
    "mixture": lambda rng, n, _: CENTERS[rng.integers(3, size=n)] + 0.4 * rng.normal(size=(n, 3)),
    "zero-inflated": lambda rng, n, _: rng.lognormal(size=(n, 4)) * (rng.random((n, 4)) < 0.5),
    "ordinal": lambda rng, n, _: rng.integers(0, 5, size=(n, 3)).astype(float),
    "ties": lambda rng, n, _: np.round(rng.normal(size=(n, 4)), 1) * (rng.random((n, 1)) < 0.7),
    "60 columns": lambda rng, n, _: rng.normal(size=(n, 60)),
    "more columns than rows": lambda rng, n, rows: rng.normal(size=(n, rows + 10)),
}
SCIKIT_LEARN = {
    "IsolationForest": IsolationForest(n_estimators=25, random_state=0),
    "LocalOutlierFactor": LocalOutlierFactor(5, novelty=True),
    "OneClassSVM": OneClassSVM(),
}
#: Name, and the classifier by way of holding out.
MODELS: dict[str, dict[str, Any]] = {
    "VAAKELM": {"loo": VAAKELM(), "split": Calibrated(VAAKELM(), hold_out="split")},
    "OCELM": {"loo": OCELM(), "plus": Calibrated(OCELM()), "split": Calibrated(OCELM(), hold_out="split")},
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
#: Name, way, distribution, number of rows and of draws.
Cell = tuple[str, str, str, int, int]


def measured(cell: Cell) -> tuple[Cell, list[float]]:
    """Return the mean rate, its standard error, and how often the rate is above, and below, its interval."""
    name, way, law, n, draws = cell
    rates, sides = [], np.zeros(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(draws):
            rng = np.random.default_rng([seed, n])
            fitted = MODELS[name][way].set_params(delta=DELTA).fit(LAWS[law](rng, n, n))
            rates.append(np.mean(fitted.predict(LAWS[law](rng, NEW, n)) == -1))
            low, high = fitted.false_alarm_interval(confidence=CONFIDENCE)
            sides += rates[-1] > high, rates[-1] < low
    error = float(np.std(rates) / np.sqrt(draws))
    return cell, [100 * float(share) for share in (np.mean(rates), error, *(sides / draws))]


def cells(draws: int | None, sizes: Sequence[int]) -> list[Cell]:
    """Return what is measured, the slowest first; more columns than rows where that is feasible."""
    return [
        (name, way, law, n, draws or (DRAWS_OF_MANY if n >= 2000 else DRAWS))
        for n in sorted(sizes, reverse=True)
        for name, by_way in MODELS.items()
        for way in by_way
        for law in LAWS
        if law != "more columns than rows" or n <= (50 if (name, way) == ("PCADetector", "loo") else 200)
    ]


def table(found: dict[Cell, list[float]]) -> str:
    """Return the table of classifiers and ways."""
    body = []
    for name in MODELS:
        row = [name]
        for way in WAYS:
            some = np.array([means for cell, means in found.items() if cell[:2] == (name, way)])
            if not len(some):
                row.append("")
                continue
            few = [cell[3] <= MOST_JUDGED for cell in found if cell[:2] == (name, way)]
            rate, (above, below) = some[:, 0], some[few, 2:].mean(axis=0)
            row.append(f"{rate.mean():.1f} ({rate.min():.1f} to {rate.max():.1f}); {above:.1f} / {below:.1f}")
        body.append(row)
    sizes = sorted({cell[3] for cell in found})
    errors = [means[1] for means in found.values()]
    return markdown(["classifier", *WAYS], body) + (
        f"\n\nPercent of new normal rows rejected, {100 * DELTA:.0f} % asked for: mean (lowest to highest of "
        f"{len(LAWS)} distributions with n = {', '.join(f'{n:,}' for n in sizes)}); percent of models whose rate is "
        f"above / below their {100 * CONFIDENCE:.0f} % interval, for n up to {MOST_JUDGED}. {draws_of(found)}; mean "
        f"rates have standard errors of at most {max(errors):.1f} points (median {np.median(errors):.1f})."
    )


def draws_of(found: dict[Cell, list[float]]) -> str:
    """Return the number of draws, as text."""
    draws = sorted({cell[4] for cell in found})
    return f"{' to '.join(map(str, draws))} draws each"


def table_by_law(found: dict[Cell, list[float]]) -> str:
    """Return the table of distributions and numbers of rows: means over classifiers."""
    sizes, body = sorted({cell[3] for cell in found}), []
    for law in LAWS:
        for way in WAYS:
            row = [law, way]
            for n in sizes:
                some = [means[0] for cell, means in found.items() if cell[1:4] == (way, law, n)]
                row.append(f"{np.mean(some):.1f} ({min(some):.1f} to {max(some):.1f})" if some else "")
            body.append(row)
    return markdown(["distribution", "way", *(f"n = {n:,}" for n in sizes)], body) + (
        f"\n\nPercent of new normal rows rejected, {100 * DELTA:.0f} % asked for: mean (lowest to highest) of the "
        "classifiers in the table above."
    )


def write(paths: Sequence[str]) -> None:
    """Write both tables from the results of runs."""
    pairs = [pair for path in paths for pair in json.loads(Path(path).read_text())]
    found: dict[Cell, list[float]] = {tuple(cell): means for cell, means in pairs}
    page = Path(__file__).parents[1] / "docs" / "false_alarms.md"
    write_between_markers(page, "ways", table(found))
    write_between_markers(page, "ways by distribution", table_by_law(found))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--save")
    parser.add_argument("--write", nargs="+")
    asked = parser.parse_args()
    if asked.write:
        write(asked.write)
        return
    jobs = Parallel(n_jobs=asked.jobs)(delayed(measured)(cell) for cell in cells(asked.draws, asked.sizes))
    found = dict(jobs)
    print(table(found), table_by_law(found), sep="\n\n")
    if asked.save:
        Path(asked.save).write_text(json.dumps(list(found.items())))


if __name__ == "__main__":
    main()
