"""All classifiers and other detectors on the sets of ADBench, if you have them: AUROC, ranks and false alarms.

ONECLASS_ADBENCH names the folder of the `.npz` files (arrays `X` and `y`, 1 for anomalies), as the authors of ADBench
distribute them. Nothing is downloaded. Protocol: half of the normal rows, drawn at random, are the training rows, and
the other half and all anomalies are the test rows. Rows are never resampled, in particular not before this split:
copies of a row on both sides would let a detector recognise its training rows. Every detector has its defaults, and is
asked for 5 % false alarms. Without the variable, the tasks of the defaults study that can be loaded are used instead.

``python benchmarks/adbench.py [--seeds 5] [--jobs 2] [--most 2000]`` stores the results and writes the table and the
picture of docs/adbench.md; ``--draw`` writes them from the stored results, and ``--quick`` prints the table of one seed
of the fast detectors.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.covariance import EllipticEnvelope
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

import oneclass
from _arrays import Rows
from _table import PAGES, markdown, write_between_markers
from reproduction.statistics import critical_difference, friedman, ranks

VARIABLE = "ONECLASS_ADBENCH"
#: Results of the last run.
STORED = Path(__file__).parents[1] / "results" / "adbench.json"
#: Sets with fewer normal rows are left out: half of them are too few for a rate of 5 %.
FEWEST = 40
#: The false-alarm rate that every detector is asked for.
ASKED = 0.05
#: Classifiers that take minutes for thousands of rows are left out by --quick.
SLOW = ("OCRF", "SVDD", "OCSVM", "MSTDetector", "KCentersDetector", "AutoencoderDetector", "NaiveParzen", "Parzen")
FAST = ("VAAKELM", "AAKELM", "VOCKELM", "OCKELM", "OCELM", "AAELM", "KNNDetector", "KMeansDetector", "PCADetector")


@dataclass(frozen=True)
class Task:
    """A set: its name, normal rows and anomalies."""

    name: str
    normal: Rows
    anomalies: Rows


@dataclass(frozen=True)
class Result:
    """AUROC of a detector on a set, and the share of new normal rows that it rejects; means over the seeds."""

    task: str
    detector: str
    auroc: float
    alarms: float


def adbench(folder: Path) -> list[Task]:
    """The sets in a folder, and in the folders inside it."""
    files = sorted(folder.rglob("*.npz"))
    if not files:
        raise SystemExit(f"{VARIABLE} must name a folder with .npz files, got {folder}, which holds none")
    return [_read(file) for file in files]


def _read(file: Path) -> Task:
    with np.load(file, allow_pickle=False) as arrays:
        if lacking := {"X", "y"} - {*arrays.files}:
            raise SystemExit(f"{file}: has no array {min(lacking)}")
        X, y = arrays["X"].astype(float), arrays["y"].ravel()
    if len(X) != len(y) or not np.isin(y, [0, 1]).all():
        raise SystemExit(f"{file}: y must hold 0 or 1 for each of the {len(X)} rows of X")
    return Task(file.stem, X[y == 0], X[y == 1])


def loaded() -> list[Task]:
    """The tasks of the defaults study: datasets of the paper and of scikit-learn that can be loaded here."""
    from defaults import library

    return [Task(*task) for task in library()]


def split(task: Task, seed: int, most: int) -> tuple[Rows, Rows, NDArray[np.bool_]]:
    """Half of the normal rows; the other half with the anomalies; which test rows are normal.

    At most `most` training rows, and as many test rows of each kind, are kept after the split.
    """
    rng = np.random.default_rng([seed, *task.name.encode()])
    normal = rng.permutation(task.normal)
    half = len(normal) // 2
    train, fresh, anomalies = normal[:half][:most], normal[half:][:most], rng.permutation(task.anomalies)[:most]
    return train, np.concatenate([fresh, anomalies]), np.arange(len(fresh) + len(anomalies)) < len(fresh)


def detectors(*, quick: bool) -> dict[str, Callable[[], Any]]:
    """Every classifier of the library, and the outlier detectors of scikit-learn and PyOD, by name."""
    names = FAST if quick else (*FAST, *SLOW)
    made: dict[str, Callable[[], Any]] = {name: partial(getattr(oneclass, name), delta=ASKED) for name in names}
    others = (
        IsolationForest(contamination=ASKED, random_state=0),
        LocalOutlierFactor(novelty=True, contamination=ASKED),
        OneClassSVM(nu=ASKED),
        EllipticEnvelope(contamination=ASKED, random_state=0),
    )
    for other in others:
        made[f"sklearn {type(other).__name__}"] = partial(clone, make_pipeline(StandardScaler(), other))
    if find_spec("pyod"):
        from pyod.models.copod import COPOD
        from pyod.models.ecod import ECOD
        from pyod.models.knn import KNN

        made |= {f"PyOD {kind.__name__}": partial(_FromPyOD, kind) for kind in (ECOD, COPOD, KNN)}
    return made


class _FromPyOD:
    """A detector of PyOD on z-scores with the signs of scikit-learn."""

    def __init__(self, kind: Any) -> None:
        self.detector, self.scaler = kind(contamination=ASKED), StandardScaler()

    def fit(self, X: Rows) -> _FromPyOD:
        self.detector.fit(self.scaler.fit_transform(X))
        return self

    def score_samples(self, X: Rows) -> Rows:
        return np.asarray(-self.detector.decision_function(self.scaler.transform(X)))

    def predict(self, X: Rows) -> NDArray[np.int64]:
        return np.where(self.detector.predict(self.scaler.transform(X)) == 1, -1, 1)


def measure(task: Task, seeds: int, most: int, *, quick: bool) -> Iterator[Result]:
    """Every detector on a set. One that fails has the AUROC 0.5 and rejects nothing, and a line on standard error."""
    warnings.simplefilter("ignore")
    splits = [split(task, seed, most) for seed in range(seeds)]
    for name, make in detectors(quick=quick).items():
        found = [_measured(name, task.name, make, *parts) for parts in splits]
        auroc, alarms = np.mean(found, axis=0)
        yield Result(task.name, name, float(auroc), float(alarms))


def _measured(
    name: str, task: str, make: Callable[[], Any], train: Rows, test: Rows, is_normal: NDArray[np.bool_]
) -> tuple[float, float]:
    try:
        model = make().fit(train)
        scores = np.nan_to_num(np.asarray(model.score_samples(test), dtype=float))
        return float(roc_auc_score(is_normal, scores)), float(np.mean(model.predict(test[is_normal]) == -1))
    except Exception as error:
        print(f"{task}: {name} failed: {error}", file=sys.stderr)
        return 0.5, 0.0


def as_array(results: list[Result]) -> tuple[list[str], NDArray[np.float64], NDArray[np.float64]]:
    """Names of the detectors, AUROC and delivered rates: an array of tasks by detectors."""
    names = list(dict.fromkeys(result.detector for result in results))
    values = np.array([(result.auroc, result.alarms) for result in results]).reshape(-1, len(names), 2)
    return names, values[..., 0], values[..., 1]


def table(results: list[Result]) -> str:
    """Mean and median AUROC, mean rank, and delivered rates of each detector, the best mean rank first."""
    names, auroc, alarms = as_array(results)
    mean_rank = ranks(auroc).mean(axis=0)
    rows = []
    for i in np.argsort(mean_rank, kind="stable"):
        rate = 100 * alarms[:, i]
        spread = f"{rate.mean():.1f} ({np.quantile(rate, 0.1):.1f} to {np.quantile(rate, 0.9):.1f})"
        area = auroc[:, i]
        rows.append([names[i], f"{area.mean():.3f}", f"{np.median(area):.3f}", f"{mean_rank[i]:.1f}", spread])
    head = ["detector", "mean AUROC", "median", "mean rank", "normal rows rejected, %, 5 asked (10 to 90 % of sets)"]
    return markdown(head, rows)


def summary(results: list[Result], source: str, seeds: int, most: int) -> str:
    """A sentence about the tasks, and Friedman's test."""
    _, auroc, _ = as_array(results)
    statistic, p = friedman(auroc)
    splits = "one random split" if seeds == 1 else f"{seeds} random splits"
    return (
        f"{len(auroc)} sets of {source}, {splits} each, at most {most:,} training rows and test rows of "
        f"each kind. Friedman's test that the detectors do not differ: chi-square {statistic:.0f}, p = {p:.1g}."
    )


def main() -> None:
    """Run, store the results, and write the page."""
    parser = argparse.ArgumentParser(description="AUROC, ranks and false alarms on the sets of ADBench.")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--most", type=int, default=2000)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--draw", action="store_true", help="write the page from the stored results")
    asked = parser.parse_args()
    if asked.quick:
        print(run(asked, seeds=1)["text"])
        return
    if not asked.draw:
        STORED.parent.mkdir(exist_ok=True)
        STORED.write_text(json.dumps(run(asked, seeds=asked.seeds)))
    _draw(json.loads(STORED.read_text()))


def run(asked: argparse.Namespace, seeds: int) -> dict[str, Any]:
    """Text and results of a run."""
    folder = os.environ.get(VARIABLE)
    tasks, source = (adbench(Path(folder)), "ADBench") if folder else (loaded(), "the defaults study")
    tasks = [task for task in tasks if len(task.normal) >= FEWEST and len(task.anomalies)]
    measured = delayed(lambda task: list(measure(task, seeds, asked.most, quick=asked.quick)))
    found = Parallel(n_jobs=asked.jobs)(measured(task) for task in tasks)
    results = [result for of_task in found for result in of_task]
    text = f"{summary(results, source, seeds, asked.most)}\n\n{table(results)}"
    names, auroc, _ = as_array(results)
    return {"text": text, "source": source, "names": names, "auroc": auroc.tolist()}


def _draw(stored: dict[str, Any]) -> None:
    """Write the table to the page, and draw mean ranks with bars of the critical difference."""
    from examples.style import BLUE, GREY, RC, plt, save

    mark = "adbench" if stored["source"] == "ADBench" else "loaded"
    write_between_markers(PAGES / "adbench.md", mark, stored["text"])
    auroc, names = np.array(stored["auroc"]), stored["names"]
    mean = ranks(auroc).mean(axis=0)
    half = critical_difference(len(names), len(auroc)) / 2
    order = np.argsort(mean, kind="stable")
    with plt.rc_context(RC):
        figure, ax = plt.subplots(figsize=(5.2, 0.22 * len(names) + 1), layout="constrained")
        for y, i in enumerate(order):
            colour = GREY if names[i].startswith(("sklearn", "PyOD")) else BLUE
            ax.errorbar(mean[i], y, xerr=half, fmt="o", color=colour, markersize=4, elinewidth=1.5)
        ax.set_yticks(range(len(order)), [names[i] for i in order], fontsize=9)
        ax.set(ylim=(len(order) - 0.5, -0.5), xlabel=f"mean rank on {len(auroc)} sets (1 is best)")
        save(figure, PAGES / f"adbench_{mark}.png")


if __name__ == "__main__":
    main()
