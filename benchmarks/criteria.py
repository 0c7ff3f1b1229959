"""Which parameters should the marginal likelihood choose? Each choice is measured by outliers that it did not use.

The tasks are those of the defaults study; VAAKELM learns from targets only. Writes a table of
docs/selection_measured.md. Reads the paper's datasets: set ONECLASS_DATA to their folder.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import rankdata
from sklearn.metrics import roc_auc_score

from _table import markdown, write_between_markers
from defaults import Task, library, split
from oneclass import VAAKELM, OneClassSearchCV
from oneclass.base.protocol import Detector

#: Training rows at most, values of C, bandwidths in units of the mean distance, and kernels.
ROWS, COSTS, FACTORS = 400, (1 / 8, 1.0, 8.0, 32.0, 64.0, 128.0), (0.25, 0.5, 1.0, 2.0, 4.0)
KERNELS = ("laplacian", "rbf")
CHOICES = ("nothing: the defaults", "bandwidth", "C", "C and bandwidth", "C and kernel")


def study(task: Task) -> list[float]:
    """AUROC of the defaults and of the best candidate of each grid."""
    train, test, y = split(task, 0, ROWS)
    mean = VAAKELM(sigma="mean").fit(train).sigma_
    bandwidths = [mean * factor for factor in FACTORS]
    grids = ({"sigma": bandwidths}, {"C": COSTS}, {"C": COSTS, "sigma": bandwidths}, {"C": COSTS, "kernel": KERNELS})
    models: list[Detector] = [VAAKELM().fit(train)]
    models += [OneClassSearchCV(VAAKELM(), grid, criterion="likelihood").fit(train) for grid in grids]
    return [roc_auc_score(y, model.score_samples(test)) for model in models]


def main() -> None:
    table = np.array(Parallel(n_jobs=2)(delayed(study)(task) for task in library()))
    ranks = rankdata(-table, axis=1).mean(axis=0)
    lines = zip(CHOICES, table.T, ranks, strict=True)
    body = [[name, f"{x.mean():.4f}", f"{np.median(x):.4f}", f"{rank:.2f}"] for name, x, rank in lines]
    text = markdown(["the likelihood chooses", "mean AUROC", "median", "mean rank of five"], body)
    print(text)
    write_between_markers(Path(__file__).parents[1] / "docs" / "selection_measured.md", "criteria", text)


if __name__ == "__main__":
    main()
