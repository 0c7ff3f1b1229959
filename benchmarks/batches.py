"""The verdict on whole batches: how often it finds a change of mean, spread, correlation or mix, and none.

Writes the table of docs/batches_measured.md. ``python benchmarks/batches.py 10`` is a quick look, which writes nothing.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from _arrays import Rows
from _table import markdown, write_between_markers
from oneclass import OCKELM, VAAKELM, KNNDetector
from oneclass.base.classifier import OneClassClassifier

DRAWS, TRAIN, BATCH, FEATURES = 200, 300, 200, 4

CLASSIFIERS: dict[str, Callable[[], OneClassClassifier]] = {"VAAKELM": VAAKELM, "OCKELM": OCKELM, "k-NN": KNNDetector}


def normal(rng: np.random.Generator, n: int) -> Rows:
    """Correlated columns, and one row in five of a second kind."""
    mixing = np.eye(FEATURES) + 0.8 * np.eye(FEATURES, k=1)
    X = rng.normal(size=(n, FEATURES)) @ mixing
    X[: n // 5] += 4.0
    return np.asarray(X)


def mean(rng: np.random.Generator) -> Rows:
    X = normal(rng, BATCH)
    X[:, 0] += 0.3 * X[:, 0].std()
    return X


def spread(rng: np.random.Generator) -> Rows:
    X = normal(rng, BATCH)
    X[:, 0] = X[:, 0].mean() + 1.3 * (X[:, 0] - X[:, 0].mean())
    return X


def correlation(rng: np.random.Generator) -> Rows:
    X = normal(rng, BATCH)
    return np.column_stack([rng.permutation(column) for column in X.T])


def mix(rng: np.random.Generator) -> Rows:
    X = normal(rng, BATCH)
    X[BATCH // 5 : 2 * BATCH // 5] += 4.0
    return X


def few(rng: np.random.Generator) -> Rows:
    X = normal(rng, BATCH)
    X[: BATCH // 10] = rng.normal(size=(BATCH // 10, FEATURES)) * [8, -8, 8, -8]
    return X


CHANGES: dict[str, Callable[[np.random.Generator], Rows]] = {
    "none": lambda rng: normal(rng, BATCH), "mean + 0.3 s": mean, "spread × 1.3": spread,
    "columns uncorrelated": correlation, "mix 20 → 40 %": mix, "10 % odd rows": few,
}  # fmt: skip


def main() -> None:
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else DRAWS
    warnings.simplefilter("ignore")
    body = []
    for name, make in CLASSIFIERS.items():
        cells = []
        for k, change in enumerate(CHANGES.values()):
            found = []
            for seed in range(draws):
                rng = np.random.default_rng([k, seed])
                verdict = make().fit(normal(rng, TRAIN)).compare_batch(change(rng))
                found.append([verdict.p_value <= 0.05, verdict.tests["losses"] <= 0.05, verdict.odd_rows])
            share, losses, odd = np.mean(found, axis=0)
            cells.append(f"{100 * share:.0f} ({100 * losses:.0f}), {odd:.1f}")
        body.append([name, *cells])
        print(*body[-1], sep=" | ", flush=True)
    text = markdown(["classifier", *CHANGES], body) + (
        f"\n\nPercent of {draws} batches that differ at 5 % (by the test of losses alone), and the mean lower bound on "
        f"the number of odd rows. A share is known to {50 / np.sqrt(draws):.1f} points or better."
    )
    print(text)
    if draws == DRAWS:
        write_between_markers(Path(__file__).parents[1] / "docs" / "batches_measured.md", "batches", text)


if __name__ == "__main__":
    main()
