"""Time to fit and to score a thousand to a million rows: the default compared with scikit-learn's detectors.

Processor time on one thread; a method stops if its next size is expected to take longer than `PATIENCE` seconds.
Writes the table of docs/scale_measured.md and the plot beside it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Protocol, Self

import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDOneClassSVM
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.svm import OneClassSVM
from threadpoolctl import threadpool_limits

from _arrays import Rows
from _compiled import allow_compiled
from _table import markdown, write_between_markers
from oneclass import VAAKELM

PAGE = Path(__file__).parents[1] / "docs" / "scale_measured.md"
SIZES = (1_000, 2_000, 3_000, 5_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
D, SCORED, PATIENCE = 20, 1000, 60.0
Found = dict[str, dict[int, tuple[float, float]]]


class Scores(Protocol):
    """A method that is measured."""

    def fit(self, X: Rows, /) -> Self:
        """Learn."""
        ...

    def score_samples(self, X: Rows, /) -> Rows:
        """How normal each row is."""
        ...


class OneNN:
    """The distance to the nearest training row."""

    def fit(self, X: Rows) -> Self:
        """Index the rows."""
        self.index = NearestNeighbors(n_neighbors=1).fit(X)
        return self

    def score_samples(self, Z: Rows) -> Rows:
        """Minus the distances."""
        return np.asarray(-self.index.kneighbors(Z)[0][:, 0])


def pipeline() -> Scores:
    made: Scores = make_pipeline(
        Nystroem(gamma=1 / 72, n_components=1000, random_state=0), SGDOneClassSVM(nu=0.05, random_state=0)
    )
    return made


METHODS: dict[str, Callable[[], Scores]] = {
    "VAAKELM": VAAKELM,
    "OneClassSVM": lambda: OneClassSVM(nu=0.05),
    "Nystroem + SGDOneClassSVM": pipeline,
    "IsolationForest": lambda: IsolationForest(random_state=0),
    "1-NN": OneNN,
}


def rows(n: int, seed: int) -> Rows:
    """Rows of a mixture of five Gaussians."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(99).normal(0, 3, (5, D))
    return centres[rng.integers(5, size=n)] + rng.normal(size=(n, D))


def seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def too_long(times: dict[int, tuple[float, float]], n: int) -> bool:
    """Whether the next size would take too long, if time grows as between the last two sizes."""
    if len(times) < 2:
        return False
    (a, before), (b, last) = list(times.items())[-2:]
    slope = max(0.0, float(np.log(max(last) / max(before)) / np.log(b / a)))
    return bool(max(last) * (n / b) ** slope > PATIENCE)


def measure() -> Found:
    fresh = rows(SCORED, 2)
    found: Found = {name: {} for name in METHODS}
    for n in SIZES:
        X = rows(n, 1)
        for name, make in METHODS.items():
            if not too_long(found[name], n) and (not found[name] or max(found[name]) == SIZES[SIZES.index(n) - 1]):
                model = make()
                fit = seconds(partial(model.fit, X))
                model.score_samples(fresh[:2])
                found[name][n] = fit, seconds(partial(model.score_samples, fresh))
                print(name, n, *(f"{t:.3f}" for t in found[name][n]), flush=True)
    return found


def draw(found: Found) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
    labels = ("seconds to fit", f"seconds to score {SCORED:,} rows")
    for part, (axes, what) in enumerate(zip(panels, labels, strict=True)):
        for (name, times), marker in zip(found.items(), "os^Dv", strict=True):
            axes.loglog(list(times), [t[part] for t in times.values()], marker=marker, label=name)
        axes.set(xlabel="training rows", ylabel=what)
        axes.grid(True, which="major", alpha=0.3)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=5)
    figure.savefig(PAGE.with_name("growth.png"), dpi=110)


def main() -> None:
    threadpool_limits(1)
    allow_compiled(False)
    found = measure()
    body = [
        [f"{n:,}", *(f"{times[n][0]:.2f} / {times[n][1]:.2f}" if n in times else "" for times in found.values())]
        for n in SIZES
    ]
    table = markdown(["rows", *(f"{name}, s" for name in found)], body)
    print(table)
    write_between_markers(PAGE, "growth", table)
    draw(found)


if __name__ == "__main__":
    main()
