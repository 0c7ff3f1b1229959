"""False alarms asked for and delivered by the detectors of other libraries, on three of scikit-learn's tables.

Four fifths of the normal rows are for training, the others are new rows. Detectors have their defaults; the rate is set
by the parameter that they have for it. Those of other libraries get z-scores. Writes the second table of
docs/false_alarms.md. PyOD and river are measured where they are installed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.covariance import EllipticEnvelope
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from _arrays import Marks, Rows
from _table import markdown, write_between_markers
from oneclass import OCSVM, VAAKELM, KNNDetector, PCADetector

ASKED, SPLITS = (0.02, 0.05, 0.10), 10
Judge = Callable[[float, Rows, Rows], Marks]


def targets() -> dict[str, Rows]:
    breast, digits, wine = load_breast_cancer(), load_digits(), load_wine()
    tables = {"benign breast": (breast, 1), "digit 0": (digits, 0), "wine 2": (wine, 1)}
    return {name: table.data[table.target == label] for name, (table, label) in tables.items()}


class Predicts(Protocol):
    """A detector with scikit-learn's or PyOD's labels."""

    def fit(self, X: Rows, /) -> Self:
        """Learn."""
        ...

    def predict(self, X: Rows, /) -> NDArray[np.intp]:
        """Label."""
        ...


def judged(make: Callable[[float], Predicts], outlier: int = -1) -> Judge:
    """New rows that a detector rejects."""
    return lambda asked, train, fresh: make(asked).fit(train).predict(fresh) == outlier


def told(make: Callable[..., Predicts], word: str) -> Callable[[float], Predicts]:
    """A detector whose parameter of this name sets the rate."""
    return lambda asked: make(**{word: asked})


def half_space_trees(asked: float, train: Rows, fresh: Rows) -> Marks:
    from river import anomaly, compose, preprocessing

    trees = anomaly.QuantileFilter(anomaly.HalfSpaceTrees(seed=0, window_size=len(train) // 4), q=1 - asked)
    model = compose.Pipeline(preprocessing.MinMaxScaler(), trees)
    for row in train:
        model.learn_one(dict(enumerate(row.tolist())))
    return np.array([trees.classify(model.score_one(dict(enumerate(row.tolist())))) for row in fresh])


def judges() -> dict[str, Judge]:
    found = {
        f"oneclass {m.__name__}, `delta`": judged(told(m, "delta")) for m in (VAAKELM, OCSVM, KNNDetector, PCADetector)
    }
    found |= {
        "scikit-learn OneClassSVM, `nu`": judged(lambda a: OneClassSVM(nu=a)),
        "scikit-learn IsolationForest, `contamination`": judged(
            lambda a: IsolationForest(contamination=a, random_state=0)
        ),
        "scikit-learn LocalOutlierFactor, `contamination`": judged(
            lambda a: LocalOutlierFactor(novelty=True, contamination=a)
        ),
        "scikit-learn EllipticEnvelope, `contamination`": judged(
            lambda a: EllipticEnvelope(contamination=a, random_state=0)
        ),
    }
    try:
        from pyod.models import ocsvm
        from pyod.models.ecod import ECOD
        from pyod.models.knn import KNN
        from pyod.models.pca import PCA

        pyod = {"KNN": KNN, "OCSVM": ocsvm.OCSVM, "PCA": PCA, "ECOD": ECOD}
        found |= {f"PyOD {n}, `contamination`": judged(told(m, "contamination"), 1) for n, m in pyod.items()}
    except ImportError:
        print("PyOD is not installed")
    try:
        import river.anomaly  # noqa: F401

        found["river HalfSpaceTrees, `QuantileFilter(q)`"] = half_space_trees
    except ImportError:
        print("river is not installed")
    return found


def main() -> None:
    rows = []
    for name, judge in judges().items():
        cells = []
        for X in targets().values():
            rates = np.zeros((SPLITS, len(ASKED)))
            for seed in range(SPLITS):
                shuffled = np.random.default_rng(seed).permutation(X)
                train, fresh = np.split(shuffled, [round(0.8 * len(X))])
                if not name.startswith("oneclass"):
                    scaler = StandardScaler().fit(train)
                    train, fresh = scaler.transform(train), scaler.transform(fresh)
                rates[seed] = [100 * np.mean(judge(asked, train, fresh)) for asked in ASKED]
            cells.append(" / ".join(f"{rate:.1f}" for rate in rates.mean(axis=0)))
        rows.append((name, *cells))
        print(*rows[-1], flush=True)
    tables = targets()
    head = (
        "detector, and what is told the rate",
        *(f"{name}, {round(0.8 * len(X))} rows" for name, X in tables.items()),
    )
    page = Path(__file__).parents[1] / "docs" / "false_alarms.md"
    note = f"Percent of fresh normal rows rejected, 2 / 5 / 10 % asked for; means of {SPLITS} random 80/20 splits."
    write_between_markers(page, "peers", f"{markdown(head, rows)}\n\n{note}")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
