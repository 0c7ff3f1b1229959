"""False discoveries and power of `label_batch`, with conformal p-values and with tails fitted beyond the sample.

First the procedure itself, on independent losses (squared lengths of rows of five features): batches of 10 to 10^5 rows
without outliers, where naming any row is a false discovery, and with 3 % of them far away. A generalised Pareto tail by
probability-weighted moments (Hosking and Wallis, 1987), plugged in as if it were known, is compared with the library's.
Then classifiers with 280 training rows: 50 far rows among 1,590, and 1,000 normal rows. Writes the tables of
docs/large_batches_measured.md in a minute and a half on one core; ``--quick`` takes a tenth and prints them only.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

import oneclass
from _arrays import Rows
from _table import markdown, write_between_markers
from oneclass.core.calibration import Calibration, benjamini_hochberg

Q = 0.1
SIZES = (100, 280, 1000)
BATCHES = (10, 100, 1_000, 10_000, 100_000)
REPEATS = {10: 300, 100: 300, 1_000: 300, 10_000: 60, 100_000: 20}
FITS = 30
FAR_SHARE = 0.03
FAR = 1e6

Draw = Callable[[np.random.Generator, int], Rows]
#: Losses, held-out rows, rows of a batch, whether some of these are far, and the method of p-values.
Key = tuple[str, int, int, bool, str]

DATA: dict[str, Draw] = {
    "normal": lambda rng, n: rng.normal(size=(n, 5)),
    "lognormal": lambda rng, n: rng.lognormal(size=(n, 5)),
    "student t 3": lambda rng, n: rng.standard_t(3, size=(n, 5)),
}


def squares(draw: Draw, rng: np.random.Generator, n: int) -> Rows:
    return np.asarray((draw(rng, n) ** 2).sum(axis=1))


#: Losses, and the loss of a far row.
LOSSES: dict[str, tuple[Draw, float]] = {
    **{name: (partial(squares, draw), FAR**2) for name, draw in DATA.items()},
    "normal, bounded": (lambda rng, n: 1 - np.exp(-squares(DATA["normal"], rng, n) / 10), 1.0),
    "normal, 3 in 1,000 wide": (
        lambda rng, n: squares(DATA["normal"], rng, n) * np.where(rng.random(n) < 0.003, 20.0, 1.0),
        FAR**2,
    ),
}

CLASSIFIERS: dict[str, dict[str, str]] = {
    "VAAKELM": {},
    "VAAKELM, uncertainty": {"loss": "uncertainty"},
    "OCKELM": {},
    "KNNDetector": {},
    "PCADetector": {},
    "OCSVM": {},
    "NaiveParzen": {},
}


def plugged_in(held_out: Rows, losses: Rows) -> Rows:
    """P-values by a generalised Pareto tail of the largest tenth, with the estimates used as if they were known."""
    calibration = Calibration.of(held_out, np.ones(len(held_out)))
    s, n = calibration.losses, len(held_out)
    p: Rows = calibration.p_value(losses)
    k = n // 10
    u, y = s[n - k - 1], s[n - k :] - s[n - k - 1]
    first, second = y.mean(), ((k - np.arange(1, k + 1)) / (k - 1) * y).mean()
    shape = 2 - first / (first - 2 * second)
    scale = 2 * first * second / (first - 2 * second)
    beyond = losses > s[-1]
    p[beyond] = np.minimum(p[beyond], k / n * np.maximum(1 + shape * (losses[beyond] - u) / scale, 0) ** (-1 / shape))
    return p


def by_library(held_out: Rows, losses: Rows, tail: str | None = None) -> Rows:
    p: Rows = Calibration.of(held_out, np.ones(len(held_out))).p_value(losses, tail)
    return p


WAYS: dict[str, Callable[[Rows, Rows], Rows]] = {
    "conformal": by_library,
    "pareto": partial(by_library, tail="pareto"),
    "plugged in": plugged_in,
}


def named(p: Rows, normal: int) -> tuple[float, float]:
    """Share of normal rows among those named, and of the far rows that are named."""
    found = p <= benjamini_hochberg(p, q=Q)
    return found[:normal].sum() / max(1, found.sum()), found[normal:].mean() if normal < len(p) else np.nan


def losses_study(name: str, m: int, repeats: int) -> dict[Key, tuple[float, float]]:
    """Mean share of false discoveries and of far rows found: by name, n, m, whether there are far rows, and method."""
    rng = np.random.default_rng([m, *name.encode()])
    draw, far = LOSSES[name]
    n_far = max(1, round(FAR_SHARE * m))
    results: dict[Key, list[tuple[float, float]]] = {}
    for _ in range(repeats):
        batch = draw(rng, m)
        mixed = np.concatenate([batch[n_far:], np.full(n_far, far)])
        for n in SIZES:
            held_out = draw(rng, n)
            for way, p_values in WAYS.items():
                results.setdefault((name, n, m, False, way), []).append(named(p_values(held_out, batch), m))
                results.setdefault((name, n, m, True, way), []).append(named(p_values(held_out, mixed), m - n_far))
    return {key: tuple(np.mean(values, axis=0)) for key, values in results.items()}


def classifier_study(name: str, data: str, repeats: int) -> tuple[str, str, float, float, float, float]:
    """Far rows found with conformal and with Pareto p-values, false discoveries, chance to name one of 1,000 normal."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([*name.encode(), *data.encode()])
    draw, found = DATA[data], []
    for _ in range(repeats):
        model = getattr(oneclass, name.split(",")[0])(**CLASSIFIERS[name]).fit(draw(rng, 280))
        batch = np.concatenate([draw(rng, 1540), np.full((50, 5), FAR)])
        usual, far = (model.label_batch(batch, Q, tail) == -1 for tail in (None, "pareto"))
        alone = np.any(model.label_batch(draw(rng, 1000), Q, "pareto") == -1)
        found.append((usual[1540:].mean(), far[1540:].mean(), far[:1540].sum() / max(1, far.sum()), alone))
    return (name, data, *np.mean(found, axis=0))


def percent(*shares: float) -> str:
    return " / ".join(f"{100 * share:.0f}" for share in shares)


def losses_tables(results: dict[Key, tuple[float, float]]) -> tuple[str, str]:
    none, mixed = [], []
    for name in LOSSES:
        for n in SIZES:
            none.append([name, n, *(percent(*(results[name, n, m, False, way][0] for way in WAYS)) for m in BATCHES)])
            cells = []
            for m in BATCHES:
                conformal, pareto = (results[name, n, m, True, way] for way in ("conformal", "pareto"))
                cells.append(f"{percent(conformal[1], pareto[1])} ({percent(pareto[0])})")
            mixed.append([name, n, *cells])
    head = ["losses", "n", *(f"m = {m:,}" for m in BATCHES)]
    return markdown(head, none), markdown(head, mixed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few repeats; the page stays as it is")
    quick = parser.parse_args().quick
    repeats = {m: n // 10 if quick else n for m, n in REPEATS.items()}
    jobs = (delayed(losses_study)(name, m, repeats[m]) for name in LOSSES for m in BATCHES)
    results = {key: value for part in Parallel(n_jobs=2)(jobs) for key, value in part.items()}
    none, mixed = losses_tables(results)
    models = FITS // 10 if quick else FITS
    jobs = (delayed(classifier_study)(name, data, models) for name in CLASSIFIERS for data in DATA)
    rows = {row[:2]: row[2:] for row in Parallel(n_jobs=2)(jobs)}
    whole = markdown(
        ["classifier", *DATA], [[name, *(percent(*rows[name, data]) for data in DATA)] for name in CLASSIFIERS]
    )
    text = (
        f"Chance in percent to name any of m normal rows at q = {Q:g}, by conformal p-values / Pareto tail / "
        f"generalised Pareto tail plugged in ({', '.join(str(n) for n in repeats.values())} repeats):\n\n{none}\n\n"
        f"Percent of far rows found, {100 * FAR_SHARE:g} % of the batch, by conformal p-values / Pareto tail, and in "
        f"brackets the share of normal rows among those that the latter names:\n\n{mixed}\n\n"
        f"Classifiers fitted to 280 rows: percent of 50 far rows found among 1,590 by conformal p-values / Pareto "
        f"tail, normal rows among those named by the latter, and chance that it names any of 1,000 normal rows "
        f"({models} fits):\n\n{whole}"
    )
    print(text)
    if not quick:
        write_between_markers(Path(__file__).parents[1] / "docs" / "large_batches_measured.md", "false discovery", text)


if __name__ == "__main__":
    main()
