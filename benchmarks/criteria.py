"""What each way to choose parameters without outliers leads to, judged by real outliers that it never saw.

The tasks of the defaults study; every criterion chooses C and the bandwidth of VAAKELM from the same grid. Writes
a table of docs/selection.md. Set ONECLASS_DATA to where the datasets are.
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

#: Rows to learn from at most, values of C, and bandwidths in units of the mean distance.
ROWS, COSTS, FACTORS = 400, (1 / 8, 1.0, 8.0, 32.0, 64.0, 128.0), (0.25, 0.5, 1.0, 2.0, 4.0)
CRITERIA = ("consistency", "ball", "box", "gaussian", "histogram", "likelihood")


def study(task: Task) -> list[float]:
    """AUROC of the default and of what each criterion chooses."""
    train, test, y = split(task, 0, ROWS)
    default = VAAKELM().fit(train)
    mean = VAAKELM(sigma="mean").fit(train).sigma_
    grid = {"C": COSTS, "sigma": [mean * factor for factor in FACTORS]}
    chosen: list[Detector] = [
        OneClassSearchCV(VAAKELM(), grid, criterion=c, scoring="auroc").fit(train) for c in CRITERIA
    ]
    return [roc_auc_score(y, model.score_samples(test)) for model in (default, *chosen)]


def main() -> None:
    table = np.array(Parallel(n_jobs=2)(delayed(study)(task) for task in library()))
    ranks = rankdata(-table, axis=1).mean(axis=0)
    lines = zip(("none: the default", *CRITERIA), table.T, ranks, strict=True)
    body = [[name, f"{x.mean():.4f}", f"{np.median(x):.4f}", f"{rank:.2f}"] for name, x, rank in lines]
    text = markdown(["criterion", "mean AUROC", "median", "mean rank of seven"], body)
    print(text)
    write_between_markers(Path(__file__).parents[1] / "docs" / "selection.md", "criteria", text)


if __name__ == "__main__":
    main()
