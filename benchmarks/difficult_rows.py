"""Every classifier on difficult rows. All results must be finite and depend on the rows only.

Every classifier is fitted with every threshold to every dataset of tests/awkward.py. Prints what was tried, failed and
refused for each check, classifier and dataset, and writes one line for each check to results/difficult_rows.json.

- answers: fitting and scoring raise nothing. A ValueError that names the classifier is a refusal, not a failure.
- quiet: no overflow, division by zero or other arithmetic warning.
- finite: scores and threshold are numbers, also for a row at 1e9 times the largest value.
- alone: a row scored alone has the score it has among others.
- beside far: a row at 1e9 times the largest value changes no other row's score.
- order: fits to the same rows in other orders give the same scores (classifiers that draw at random excepted).
- false alarms (`threshold="held_out"`): over a few fits, fresh rows are rejected no more often than asked for, within
  four standard errors. The rate of one fit has the Beta distribution of ranks k of n + 1, and the fresh rows are drawn.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import oneclass
from _arrays import Rows
from _table import markdown
from awkward import DATASETS, DEPENDENT
from oneclass import Nystrom
from oneclass.base.classifier import OneClassClassifier

FITS, FRESH, DELTA = 4, 400, 0.05
CLOSE = 1e-6
MACHINES = ("OCKELM", "VOCKELM", "AAKELM", "VAAKELM")
OTHERS: tuple[str, ...] = ("OCRF", "NaiveParzen", "KMeansDetector", "KNNDetector", "AutoencoderDetector")
OTHERS += ("PCADetector", "MSTDetector", "KCentersDetector", "OCSVM", "SVDD", "Parzen", "OCELM", "AAELM")
NYSTROM = " Nystrom"
CLASSIFIERS = (*MACHINES, *(name + NYSTROM for name in MACHINES), *OTHERS)
SETTINGS = {
    "OCRF": {"n_estimators": 20, "random_state": 0},
    "AutoencoderDetector": {"max_iter": 100, "random_state": 0},
    "KMeansDetector": {"random_state": 0},
    "KCentersDetector": {"n_init": 5, "random_state": 0},
}
MORE_THRESHOLDS = {"VOCKELM": ("mean",), "OCRF": ("oob", "half"), "OCSVM": ("boundary",), "SVDD": ("boundary",)}
CHECKS = ("answers", "quiet", "finite", "alone", "beside far", "order", "false alarms")

Row = dict[str, str]


def make(classifier: str, **params: object) -> OneClassClassifier:
    name = classifier.removesuffix(NYSTROM)
    if classifier.endswith(NYSTROM):
        params["approximation"] = Nystrom(30)
    made: OneClassClassifier = getattr(oneclass, name)(**SETTINGS.get(name, {}), **params)
    return made


def study(classifier: str, dataset: str) -> list[Row]:
    """One row for each check, for all thresholds of the classifier."""
    name = classifier.removesuffix(NYSTROM)
    rows = []
    for threshold in ("held_out", "train", "authors", *MORE_THRESHOLDS.get(name, ())):
        where = {"classifier": classifier, "dataset": dataset, "threshold": threshold}
        for check, outcome, detail in _checks(classifier, dataset, threshold):
            rows.append({**where, "check": check, "outcome": outcome, "detail": detail})
    return rows


def _checks(classifier: str, dataset: str, threshold: str) -> Iterator[tuple[str, str, str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = list(_answers(classifier, dataset, threshold))
        except Exception as error:  # every exception of a classifier is a finding
            refused = isinstance(error, ValueError) and classifier.removesuffix(NYSTROM) in str(error)
            yield "answers", "refused" if refused else "failed", f"{type(error).__name__}: {error}"[:300]
            return
    yield "answers", "passed", ""
    loud = {str(w.message) for w in caught if issubclass(w.category, RuntimeWarning)}
    yield "quiet", "failed" if loud else "passed", "; ".join(sorted(loud))[:300]
    for check, good, detail in found:
        yield check, "passed" if good else "failed", detail


def _answers(classifier: str, dataset: str, threshold: str) -> Iterator[tuple[str, bool, str]]:
    X, draw = DATASETS[dataset](np.random.default_rng(0))
    fresh = draw(60)
    far = np.full_like(X[:1], 1e9 * (np.abs(X).max() or 1.0))
    delta = max(DELTA, 1 / (len(X) + 1))
    model = make(classifier, threshold=threshold, delta=delta).fit(X)
    scores, beside = model.score_samples(fresh), model.score_samples(np.concatenate([fresh, far]))
    good = np.isfinite(scores).all() and np.isfinite(beside).all() and np.isfinite(model.offset_)
    yield "finite", bool(good), f"offset {model.offset_:.3g}, score of the far row {beside[-1]:.3g}"
    if not np.isfinite(scores).all():
        return
    alone = np.concatenate([model.score_samples(fresh[i : i + 1]) for i in range(10)])
    yield "alone", *_same(scores[:10], alone, scores)
    yield "beside far", *_same(scores, beside[:-1], scores)
    if "random_state" not in SETTINGS.get(classifier, {}):
        orders = (np.lexsort(X.T), np.random.default_rng(1).permutation(len(X)))[: 1 + (threshold == "held_out")]
        fits = [make(classifier, threshold=threshold, delta=delta).fit(X[order]) for order in orders]
        found = [_same(scores, fit.score_samples(fresh), scores) for fit in fits]
        yield "order", all(good for good, _ in found), ", ".join(detail for _, detail in found)
    if threshold == "held_out" and dataset not in DEPENDENT:
        rates = [_rate(classifier, dataset, delta, seed) for seed in range(1, FITS + 1)]
        variance = delta * (1 - delta) * (1 / (len(X) + 2) + 1 / FRESH) / FITS
        bound = delta + 4 * variance**0.5
        yield "false alarms", bool(np.mean(rates) <= bound), f"{np.mean(rates):.3f} of at most {bound:.3f}"


def _rate(classifier: str, dataset: str, delta: float, seed: int) -> float:
    X, draw = DATASETS[dataset](np.random.default_rng(seed))
    return float(np.mean(make(classifier, delta=delta).fit(X).predict(draw(FRESH)) == -1))


def _same(one: Rows, other: Rows, scores: Rows) -> tuple[bool, str]:
    """Whether scores agree to a millionth of their size and of their spread, and the largest difference."""
    one, other = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    size = np.abs(one) + float(np.ptp(scores))
    off = float(np.max(np.divide(np.abs(one - other), size, out=np.zeros_like(one), where=one != other)))
    return off <= CLOSE * (1e3 if scores.dtype == np.float32 else 1), f"{off:.1e}"


def table(rows: list[Row], by: str, keys: Iterable[str]) -> str:
    """Failed and tried checks, and refusals, for each value of a field."""
    count = Counter((row[by], row["check"], row["outcome"]) for row in rows)
    body = []
    for key in keys:
        cells, failures = [], 0
        for check in CHECKS:
            failed = count[key, check, "failed"]
            tried = failed + count[key, check, "passed"]
            failures += failed
            cells.append(f"{failed}/{tried}" if failed else f"{tried}" if tried else "")
        body.append([key, *cells, count[key, "answers", "refused"], failures])
    return markdown([by, *CHECKS, "refused", "failures"], body)


def main() -> None:
    start = time.monotonic()
    jobs = (delayed(study)(classifier, dataset) for dataset in DATASETS for classifier in CLASSIFIERS)
    rows = [row for part in Parallel(n_jobs=2, batch_size=4)(jobs) for row in part]
    results = Path(__file__).parents[1] / "results"
    results.mkdir(exist_ok=True)
    (results / "difficult_rows.json").write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    everything = [{**row, "all": "all"} for row in rows]
    print("failed/tried for each check; a single number is of those tried, none of which failed\n")
    print(table(everything, "all", ["all"]), "", sep="\n")
    print(table(rows, "classifier", CLASSIFIERS), "", sep="\n")
    print(table(rows, "dataset", DATASETS), "", sep="\n")
    print(f"{len(rows):,} checks in {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
