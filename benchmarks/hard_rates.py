"""False-alarm rates where they were once broken: minorities, dates, weights, choices, and single classifiers.

Each line is the mean rate on fresh normal rows over independent draws, with its standard error, and the rate asked for.
``python benchmarks/hard_rates.py --draws 5`` is a quick look at five draws. The table of docs/rates_measured.md has the
rates of an earlier commit too, where it can run a case:

    git worktree add ../before fa895df
    PYTHONPATH=../before/src python benchmarks/hard_rates.py --save before.json
    python benchmarks/hard_rates.py --save now.json
    python benchmarks/hard_rates.py --write before.json now.json
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray

from _arrays import Rows
from _table import markdown, write_between_markers
from oneclass import (
    OCELM,
    OCKELM,
    SVDD,
    VAAKELM,
    Fourier,
    KCentersDetector,
    KNNDetector,
    NaiveParzen,
    PCADetector,
    TableDetector,
)
from oneclass.base.classifier import OneClassClassifier

DRAWS, FRESH = 60, 1000

#: The share of fresh rows that a classifier rejects in one draw.
Case = Callable[[np.random.Generator], float]


def rejected(labels: Rows) -> float:
    return float(np.mean(labels == -1))


def minority(make: Callable[[], OneClassClassifier], spread: float, *, segmented: bool) -> Case:
    """32 of 400 rows have their own spread; the rate among fresh rows of that kind."""

    def case(rng: np.random.Generator) -> float:
        part = np.repeat(["most", "few"], [368, 32])
        X = rng.normal(size=(400, 3)) * np.where(part == "most", 1.0, spread)[:, None]
        fresh = rng.normal(size=(FRESH, 3)) * spread
        if segmented:
            return rejected(make().fit(X, segments=part).predict(fresh, segments=["few"] * FRESH))
        return rejected(make().fit(X).predict(fresh))

    return case


def table(rng: np.random.Generator, n: int, first: float, last: float) -> pd.DataFrame:
    days = np.sort(rng.uniform(first, last, n))
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(days * 86400, unit="s")
    return pd.DataFrame({"when": when, "a": rng.normal(size=n), "b": rng.normal(size=n)})


def dated(n: int, order: str, later: float) -> Case:
    """A log of 60 days; the rate in the 30 days that begin `later` days after its end."""

    def case(rng: np.random.Generator) -> float:
        train = table(rng, n, 0, 60)
        if order == "newest first":
            train = train[::-1].reset_index(drop=True)
        elif order == "shuffled":
            train = train.sample(frac=1, random_state=int(rng.integers(2**31))).reset_index(drop=True)
        elif order == "two swapped":
            train.iloc[[3, 9]] = train.iloc[[9, 3]].to_numpy()
        return rejected(TableDetector(delta=0.05).fit(train).predict(table(rng, FRESH, 60 + later, 90 + later)))

    return case


def weighted(weights: Callable[[np.random.Generator, int], Rows]) -> Case:
    """Weights that have nothing to do with 200 rows."""

    def case(rng: np.random.Generator) -> float:
        X = rng.normal(size=(200, 4))
        model = VAAKELM(delta=0.05).fit(X, sample_weight=weights(rng, 200))
        return rejected(model.predict(rng.normal(size=(FRESH, 4))))

    return case


def plain(make: Callable[[], OneClassClassifier], n: int, d: int, *, delta: float | None = None) -> Case:
    """Normal rows of d columns; `delta` is given to `predict`."""

    def case(rng: np.random.Generator) -> float:
        model = make().fit(rng.normal(size=(n, d)))
        return rejected(model.predict(rng.normal(size=(FRESH, d)), delta=delta))

    return case


def ordinal(make: Callable[[], OneClassClassifier]) -> Case:
    """150 rows of eight ordinal columns with five levels."""

    def case(rng: np.random.Generator) -> float:
        shares = [0.4, 0.3, 0.2, 0.08, 0.02]
        X, fresh = (rng.choice(5, p=shares, size=(n, 8)).astype(float) for n in (150, FRESH))
        return rejected(make().fit(X).predict(fresh))

    return case


def categories(levels: int) -> Case:
    """400 rows with two columns of categories and two of numbers."""

    def case(rng: np.random.Generator) -> float:
        def rows(n: int) -> pd.DataFrame:
            words = {name: rng.integers(0, levels, n).astype(str) for name in ("a", "b")}
            return pd.DataFrame(words).assign(x=rng.normal(size=n), y=rng.normal(size=n)).astype({"a": str, "b": str})

        train, fresh = rows(400), rows(FRESH)
        asked: dict[str | int, str | Sequence[str]] = {"a": "category", "b": "category"}
        return rejected(TableDetector(VAAKELM(delta=0.1), asked).fit(train).predict(fresh))

    return case


def unequal(rng: np.random.Generator, n: int) -> tuple[Rows, NDArray[np.intp]]:
    """Rows of n groups, of which one in five has 20 rows and twice the spread, and the others two rows."""
    sizes = np.where(rng.random(n) < 0.2, 20, 2)
    group = np.repeat(np.arange(n), sizes)
    spread = np.where(sizes == 20, 2.0, 1.0)[group, None]
    return rng.normal(size=(n, 3))[group] * spread + 0.3 * rng.normal(size=(len(group), 3)), group


def grouped(kind: Callable[..., OneClassClassifier], rate_by: str, *, by: str) -> Case:
    """The rate among new groups of unequal size, as a mean over groups or as a share of all rows."""

    def case(rng: np.random.Generator) -> float:
        X, group = unequal(rng, 60)
        fresh, new = unequal(rng, 300)
        model = kind(delta=0.1)
        if rate_by == "row":
            model.set_params(rate_by="row")
        odd = model.fit(X, groups=group).predict(fresh) == -1
        return float(odd.mean() if by == "row" else np.mean(np.bincount(new, odd) / np.bincount(new)))

    return case


def nested(rng: np.random.Generator) -> float:
    """Four patients on each of 25 devices, groups are both; the rate for a new patient on a new device."""
    device = np.repeat(rng.normal(size=(25, 1, 4)), 4, axis=1) + rng.normal(size=(25, 4, 4))
    X = (device[:, :, None] + 0.5 * rng.normal(size=(25, 4, 3, 4))).reshape(-1, 4)
    labels = np.column_stack([np.repeat(np.arange(100), 3), np.repeat(np.arange(25), 12)])
    fresh = rng.normal(size=(FRESH, 4)) + rng.normal(size=(FRESH, 4)) + 0.5 * rng.normal(size=(FRESH, 4))
    return rejected(VAAKELM(delta=0.1).fit(X, groups=labels).predict(fresh))


def crossed(rng: np.random.Generator) -> float:
    """20 patients on 5 devices, groups are patients; the rate for a new patient on a new device."""
    patients, devices = rng.normal(size=(20, 1, 4)), rng.normal(size=(5, 4))
    X = (patients + devices + 0.5 * rng.normal(size=(20, 5, 4))).reshape(-1, 4)
    fresh = rng.normal(size=(FRESH, 4)) + rng.normal(size=(FRESH, 4)) + 0.5 * rng.normal(size=(FRESH, 4))
    return rejected(VAAKELM(delta=0.1).fit(X, groups=np.repeat(np.arange(20), 5)).predict(fresh))


def chosen(*, split: bool) -> Case:
    """The best of 150 subsets of 4 of 12 columns by recall on outliers; thresholds from the same or from fresh rows."""

    def case(rng: np.random.Generator) -> float:
        X, fresh = rng.normal(size=(100, 12)), rng.normal(size=(FRESH, 12))
        odd = rng.normal(size=(30, 12)) * 1.3
        learn = X[:50] if split else X
        subsets = [rng.choice(12, 4, replace=False) for _ in range(150)]
        models = [KNNDetector(delta=0.1).fit(learn[:, some]) for some in subsets]
        best = int(np.argmax([rejected(m.predict(odd[:, s])) for m, s in zip(models, subsets, strict=True)]))
        model = KNNDetector(delta=0.1).fit(X[50:, subsets[best]]) if split else models[best]
        return rejected(model.predict(fresh[:, subsets[best]]))

    return case


CASES: dict[str, tuple[float, Case]] = {
    **{
        f"8 % of the rows {spread:g} times as wide, {name}{' with segments' if segmented else ''}": (
            5, minority(make, spread, segmented=segmented)
        )
        for spread in (2.0, 3.0)
        for name, make in (("VAAKELM", VAAKELM), ("k-NN", KNNDetector), ("PCA", PCADetector))
        for segmented in (False, True)
    },
    **{
        f"{n} dated rows, {order}, {'next month' if later == 0 else 'a year later'}": (5, dated(n, order, later))
        for n in (200, 1000)
        for order, later in (("ascending", 0), ("newest first", 0), ("shuffled", 0), ("two swapped", 0),
                             ("shuffled", 365))
    },
    "weights 1 to 3": (5, weighted(lambda rng, n: rng.integers(1, 4, n).astype(float))),
    "weights uniform(0.5, 1.5)": (5, weighted(lambda rng, n: rng.uniform(0.5, 1.5, n))),
    "weights decaying": (5, weighted(lambda rng, n: np.asarray(0.98 ** np.arange(n), dtype=float))),
    "OCELM, 100 rows, 100 hidden units": (5, plain(lambda: OCELM(n_hidden=100), 100, 5)),
    "OCELM, 120 rows, 100 hidden units": (5, plain(lambda: OCELM(n_hidden=100), 120, 5)),
    "OCELM, 200 rows, 100 hidden units": (5, plain(lambda: OCELM(n_hidden=100), 200, 5)),
    "OCELM, 200 rows, 200 hidden units": (5, plain(OCELM, 200, 5)),
    "OCELM, 220 rows of 20 columns, 200 hidden units": (5, plain(OCELM, 220, 20)),
    "OCELM, 200 rows of 200 columns, 200 hidden units": (5, plain(OCELM, 200, 200)),
    "OCELM, 200 rows of 200 columns, 50 hidden units": (5, plain(lambda: OCELM(n_hidden=50), 200, 200)),
    "SVDD(delta=0.05), asked again for 10 %": (10, plain(lambda: SVDD(delta=0.05), 200, 4, delta=0.1)),
    "SVDD(delta=0.01), asked again for 10 %": (10, plain(lambda: SVDD(delta=0.01), 200, 4, delta=0.1)),
    "NaiveParzen, 200 columns": (5, plain(NaiveParzen, 100, 200)),
    "NaiveParzen, ordinal columns": (10, ordinal(lambda: NaiveParzen(delta=0.1))),
    "VAAKELM, ordinal columns": (10, ordinal(lambda: VAAKELM(delta=0.1))),
    "KCentersDetector": (10, plain(lambda: KCentersDetector(delta=0.1), 100, 4)),
    "KCentersDetector, 50 rows": (10, plain(lambda: KCentersDetector(delta=0.1), 50, 10)),
    "OCKELM, Fourier(200), C = 1,000": (5, plain(lambda: OCKELM(C=1000.0, approximation=Fourier(200)), 500, 4)),
    "PCADetector, 50 rows of 10 columns": (10, plain(lambda: PCADetector(delta=0.1), 50, 10)),
    "PCADetector, 100 rows of 4 columns": (10, plain(lambda: PCADetector(delta=0.1), 100, 4)),
    "categories with 10 values": (10, categories(10)),
    "categories with 100 values": (10, categories(100)),
    "categories with 300 values": (10, categories(300)),
    "new patient on a new device, groups are patients": (10, crossed),
    "new patient on a new device, four patients on a device, groups are both": (10, nested),
    **{
        f"groups of 2 and 20 rows, {name}, rate_by={rate_by!r}, rate by {by}": (
            10, grouped(kind, rate_by, by=by)
        )
        for name, kind in (("VAAKELM", VAAKELM), ("k-NN", KNNDetector))
        for rate_by in ("group", "row")
        for by in ("group", "row")
    },
    "best of 150 column subsets by recall": (10, chosen(split=False)),
    "the same, chosen on one half, fitted on the other": (10, chosen(split=True)),
}  # fmt: skip


def measured(k: int, draws: int) -> tuple[float, float] | None:
    """Return the mean rate of a case and its standard error in percent; None if this version cannot run it."""
    warnings.simplefilter("ignore")
    case = list(CASES.values())[k][1]
    try:
        rates = [100 * case(np.random.default_rng([k, seed])) for seed in range(draws)]
    except (TypeError, ValueError):
        return None
    return float(np.mean(rates)), float(np.std(rates)) / np.sqrt(draws)


def write(before: str, now: str) -> None:
    """Write the table from the results of two runs."""
    tables = [json.loads(Path(path).read_text()) for path in (before, now)]
    old, new = (one["draws"] for one in tables)
    body = [
        [name, f"{asked:g} %", *("" if found is None else "{:.1f} ± {:.1f}".format(*found) for found in both)]
        for name, (asked, _) in CASES.items()
        for both in [[one.get(name) for one in tables]]
    ]
    text = markdown(["case", "asked", "before, %", "now, %"], body) + (
        f"\n\nMeans with their standard errors over {old} draws before and {new} now, {FRESH:,} fresh rows each. "
        "Empty: not possible then."
    )
    write_between_markers(Path(__file__).parents[1] / "docs" / "rates_measured.md", "hard rates", text)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--save")
    parser.add_argument("--write", nargs=2)
    asked = parser.parse_args()
    if asked.write:
        write(*asked.write)
        return
    jobs = Parallel(n_jobs=asked.jobs)(delayed(measured)(k, asked.draws) for k in range(len(CASES)))
    found = dict(zip(CASES, jobs, strict=True))
    for name, rate in found.items():
        print(name, "not possible" if rate is None else "{:.1f} ± {:.1f}".format(*rate), sep=" | ")
    if asked.save:
        Path(asked.save).write_text(json.dumps({"draws": asked.draws, **found}))


if __name__ == "__main__":
    main()
