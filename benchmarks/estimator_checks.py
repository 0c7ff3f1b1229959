"""Number of scikit-learn's estimator checks that detectors of other libraries fail, with their defaults.

Writes the table of docs/trust.md. This library's classifiers fail none: its tests run the same checks. PyOD is checked
where it is installed.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import sklearn
from sklearn.covariance import EllipticEnvelope
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import SGDOneClassSVM
from sklearn.neighbors import LocalOutlierFactor
from sklearn.svm import OneClassSVM
from sklearn.utils.estimator_checks import check_estimator

from _table import markdown, write_between_markers


def detectors() -> dict[str, Any]:
    """Return detectors by name."""
    ours: tuple[Any, ...] = (EllipticEnvelope(), IsolationForest(), OneClassSVM(), SGDOneClassSVM())
    found = {f"scikit-learn {type(d).__name__}": d for d in (*ours, LocalOutlierFactor(novelty=True))}
    try:
        from pyod.models import copod, ecod, hbos, iforest, kde, knn, lof, mcd, ocsvm, pca
    except ImportError:
        print("PyOD is not installed")
        return found
    pyod = (copod.COPOD, ecod.ECOD, hbos.HBOS, iforest.IForest, kde.KDE, knn.KNN, lof.LOF, mcd.MCD, ocsvm.OCSVM)
    return found | {f"PyOD {kind.__name__}": kind() for kind in (*pyod, pca.PCA)}


def main() -> None:
    body = []
    for name, detector in detectors().items():
        results = check_estimator(detector, on_skip=None, on_fail=None)
        failed = [str(result["check_name"]) for result in results if result["status"] == "failed"]
        body.append([name, len(failed), len(results)])
        print(*body[-1], *failed, flush=True)
    text = f"{markdown(['detector', 'failed', 'checks'], body)}\n\nscikit-learn {sklearn.__version__}."
    write_between_markers(Path(__file__).parents[1] / "docs" / "trust.md", "estimator-checks", text)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
