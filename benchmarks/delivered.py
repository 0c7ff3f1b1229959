"""False-alarm rates asked for and delivered by every classifier with their defaults.

Targets are split 80/20 at random; a classifier learns from the 80 % and the delivered rate is the share of the other
20 % that it rejects, at three budgets from one fit (`predict(X, delta=...)`). Writes the table of docs/false_alarms.md.
Reads the paper's datasets: set ONECLASS_DATA to their folder.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

import oneclass
from _arrays import Rows
from _table import markdown, write_between_markers
from reproduction.datasets import load

MACHINES = ("OCKELM", "VOCKELM", "AAKELM", "VAAKELM", "OCELM", "AAELM")
BASELINES: tuple[str, ...] = ("OCSVM", "SVDD", "NaiveParzen", "Parzen", "KMeansDetector", "KNNDetector")
BASELINES += ("AutoencoderDetector", "PCADetector", "MSTDetector", "KCentersDetector", "OCRF")
DATASETS = {"survival": 1, "heart_cleveland": 1, "digits_0": 1, "waveform": 1, "breast_cancer": -1, "usps_8": 1}
BUDGETS = (0.01, 0.05, 0.10)
SPLITS = 20
LARGEST = 400


def targets(name: str) -> Rows:
    X, y = load(name)
    rows = X.to_numpy(dtype=float)[y == DATASETS[name]]
    return np.random.default_rng(0).permutation(rows)[: round(LARGEST / 0.8)]


def study(dataset: str, classifier: str, X: Rows) -> list[tuple[str, str, float, float, int, int]]:
    """Dataset, classifier, budget, rejected and held-out rows, summed over the splits, and training rows."""
    rejected = np.zeros(len(BUDGETS))
    n = round(0.8 * len(X))
    for seed in range(SPLITS):
        order = np.random.default_rng([seed, *dataset.encode()]).permutation(len(X))
        model = getattr(oneclass, classifier)()
        if "random_state" in model.get_params():
            model.set_params(random_state=seed)
        model.fit(X[order[:n]])
        rejected += [np.sum(model.predict(X[order[n:]], delta=alpha) == -1) for alpha in BUDGETS]
    held_out = SPLITS * (len(X) - n)
    return [(dataset, classifier, b, count, held_out, n) for b, count in zip(BUDGETS, rejected, strict=True)]


def main() -> None:
    sets = {name: targets(name) for name in DATASETS}
    jobs = (delayed(study)(name, c, X) for c in (*MACHINES, *BASELINES) for name, X in sets.items())
    rows = [row for part in Parallel(n_jobs=2)(jobs) for row in part]
    body = []
    for classifier in (*MACHINES, *BASELINES):
        line = [classifier]
        for dataset in DATASETS:
            found = [count / n for d, c, _, count, n, _ in rows if (d, c) == (dataset, classifier)]
            line.append(" / ".join(f"{100 * rate:.1f}" for rate in found))
        body.append(line)
    sizes = ", ".join(f"{name} {round(0.8 * len(X))}" for name, X in sets.items())
    head = ["classifier", *(f"{name}{', swapped' if DATASETS[name] < 0 else ''}" for name in DATASETS)]
    worst = max(rows, key=lambda row: abs(row[3] / row[4] - row[2]))
    text = markdown(head, body) + (
        f"\n\nPercent of fresh targets rejected when 1 / 5 / 10 % were asked for, over {SPLITS} random splits. "
        f"Training rows: {sizes}. Furthest from the rate asked for: {worst[1]} on {worst[0]}, "
        f"{100 * worst[3] / worst[4]:.1f} % for {100 * worst[2]:g} %."
    )
    print(text)
    write_between_markers(Path(__file__).parents[1] / "docs" / "false_alarms.md", "coverage", text)


if __name__ == "__main__":
    main()
