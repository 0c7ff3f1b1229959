"""Scores and labels of the default loss against those of `reconstruction`; a single row against `OneClassSVM`.

Processor time on one thread, the best of interleaved runs. Writes the tables of docs/speed.md.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TypedDict

import numpy as np
from sklearn.svm import OneClassSVM
from threadpoolctl import threadpool_limits

from _arrays import Rows
from _table import markdown, write_between_markers
from oneclass import VAAKELM, Nystrom

PAGE = Path(__file__).parents[1] / "docs" / "speed.md"
FEATURES = 20
#: Earlier values: time of scores relative to `reconstruction`, size of models relative to rows, and microseconds for 1
#: row, when scores used the whole factor, files held it, and inputs passed scikit-learn's general checks.
SCORES_BEFORE, SAVED_BEFORE = {"rbf, 3,000 rows": "18"}, {"rbf, 1,000 rows": "50"}
ONE_BEFORE = {"VAAKELM, rbf": "410"}


class Settings(TypedDict, total=False):
    """Parameters of a machine."""

    kernel: str
    approximation: Nystrom | None


MACHINES: dict[str, tuple[int, Settings]] = {
    "500 rows": (500, {}),
    "1,000 rows": (1000, {}),
    "2,000 rows": (2000, {}),
    "3,000 rows, 1,000 landmarks": (3000, {}),
    "10,000 rows, 1,000 landmarks": (10_000, {}),
    "10,000 rows, 500 landmarks": (10_000, {"approximation": Nystrom(500)}),
    "3,000 rows, exact": (3000, {"approximation": None}),
    "rbf, 1,000 rows": (1000, {"kernel": "rbf"}),
    "rbf, 3,000 rows": (3000, {"kernel": "rbf"}),
    "rbf, 3,000 rows, exact": (3000, {"kernel": "rbf", "approximation": None}),
}


def rows(n: int, seed: int) -> Rows:
    """Rows of a mixture of five Gaussians."""
    centres = 2 * np.random.default_rng(0).normal(size=(5, FEATURES))
    rng = np.random.default_rng(seed)
    return centres[rng.integers(0, 5, n)] + rng.normal(size=(n, FEATURES))


def best(runs: Mapping[str, Callable[[], object]], *, rounds: int, repeats: int = 1) -> dict[str, float]:
    """The shortest time of each, interleaved."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.process_time()
            for _ in range(repeats):
                run()
            times[name].append((time.process_time() - start) / repeats)
    return {name: min(t) for name, t in times.items()}


def batch(label: str, n: int, params: Settings) -> list[str]:
    """Many rows at once, and the size of the saved model."""
    X, Z = rows(n, 1), rows(3000, 2)
    plain, model = (VAAKELM(loss=loss, **params).fit(X) for loss in ("reconstruction", "predictive"))
    runs = {"plain": lambda: plain.score_samples(Z), "score": lambda: model.score_samples(Z)}
    found = best(runs | {"label": lambda: model.predict(Z)}, rounds=3)
    size = len(pickle.dumps(model)) / X.nbytes
    ratios = [f"{found[name] / found['plain']:.1f}" for name in ("score", "label")]
    score, decided = ratios
    before = SCORES_BEFORE.get(label, ""), SAVED_BEFORE.get(label, "")
    return [label, f"{1e3 * found['plain']:.0f}", before[0], score, decided, before[1], f"{size:.1f}"]


def single() -> list[list[str]]:
    """One row at a time."""
    X, z = rows(1000, 1), rows(1, 2)
    models = {"`OneClassSVM`": OneClassSVM(), "VAAKELM, reconstruction": VAAKELM(loss="reconstruction")}
    models |= {"VAAKELM": VAAKELM(), "VAAKELM, rbf": VAAKELM(kernel="rbf")}
    fitted = {name: model.fit(X) for name, model in models.items()}
    runs = {name: partial(model.predict, z) for name, model in fitted.items()}
    found = best(runs, rounds=7, repeats=200)
    return [[name, ONE_BEFORE.get(name, ""), f"{1e6 * t:.0f}"] for name, t in found.items()]


def main() -> None:
    threadpool_limits(1)
    head = ["VAAKELM", "reconstruction, ms", "score, before", "default score, ratio", "default label, ratio"]
    head += ["saved / rows, before", "saved / rows"]
    body = [batch(label, *given) for label, given in MACHINES.items()]
    write_between_markers(PAGE, "scoring", markdown(head, body))
    head_of_one = ["`predict` of one row, 1,000 training rows", "µs, before", "µs"]
    write_between_markers(PAGE, "one-row", markdown(head_of_one, single()))


if __name__ == "__main__":
    main()
