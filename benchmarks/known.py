"""Known outliers: what they are worth, by their number and kind, against classifiers that learn from both classes.

Targets are split into training rows (70 %, at most 1,000) and test rows, outliers into known ones and test rows. Known
outliers are drawn at random; or from one of three clusters of outliers, while the test holds the others; or a tenth of
them are normal rows. Classifiers of other libraries learn from four fifths of the normal rows, and get a threshold from
the others: the 95 % quantile of their scores. A second table counts the answers that it takes to find half of the
anomalies in a table that somebody labels row by row. Writes both tables into docs/known_outliers_measured.md.

Reads the collections of benchmarks/defaults.py (ONECLASS_DATA, ONECLASS_TABLES). XGBOD needs pyod and xgboost and is
left out without them. ``python benchmarks/known.py STEP`` takes every STEP-th task (1); the page has STEP 6.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2
from sklearn.ensemble import HistGradientBoostingClassifier, IsolationForest, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from _arrays import Rng, Rows
from _table import markdown, write_between_markers
from defaults import Task, collections
from oneclass import VAAKELM

KNOWN = (0, 1, 3, 5, 20, 100)
#: Numbers of known outliers with which other classifiers are compared.
COMPARED = (1, 5, 20, 100)
KINDS = ("random", "one kind", "10 % wrong")
DELTA, LARGEST = 0.05, 1000
OURS = "VAAKELM"
#: Classifiers of two classes; the known outliers have the same total weight as the normal rows.
PEERS: dict[str, Callable[[], Any]] = {
    "balanced random forest": lambda: RandomForestClassifier(class_weight="balanced_subsample", random_state=0),
    "logistic regression": lambda: make_pipeline(
        StandardScaler(), LogisticRegression(class_weight="balanced", max_iter=1000)
    ),
    "gradient boosting": lambda: HistGradientBoostingClassifier(class_weight="balanced", random_state=0),
}
WITH_XGBOD = all(map(find_spec, ("pyod", "xgboost")))
#: Answers of a person to one table, and those asked for at a time.
ANSWERS, BATCH = 40, 5

Scores = NDArray[np.float64]


def measures(y: Scores, scores: Scores, threshold: float) -> list[float]:
    """AUROC, average precision, recall and false alarms; larger scores are more anomalous."""
    flagged = scores > threshold
    found = [float(roc_auc_score(y, scores)), float(average_precision_score(y, scores))]
    return [*found, float(flagged[y == 1].mean()), float(flagged[y == 0].mean())]


def peer(make: Callable[[], Any], train: Rows, known: Rows, test: Rows) -> tuple[Scores, float]:
    """Scores of test rows, and the threshold from normal rows that the classifier has not learned from."""
    outside, inside = train[: len(train) // 5], train[len(train) // 5 :]
    model = make().fit(np.concatenate([inside, known]), np.repeat([0, 1], [len(inside), len(known)]))
    return model.predict_proba(test)[:, 1], float(np.quantile(model.predict_proba(outside)[:, 1], 1 - DELTA))


def xgbod(train: Rows, known: Rows, test: Rows) -> Scores:
    """Scores of XGBOD: gradient boosting on the rows and the scores of unsupervised detectors."""
    from pyod.models.xgbod import XGBOD

    rows, y = np.concatenate([train, known]), np.repeat([0, 1], [len(train), len(known)])
    found: Scores = XGBOD(random_state=0).fit(rows, y).decision_function(test)
    return found


def known_of(kind: str, outliers: Rows, spare: Rows, k: int, rng: Rng) -> tuple[Rows, Rows] | None:
    """Known outliers and those of the test, or None if there are too few."""
    pool, test = outliers[: len(outliers) // 2], outliers[len(outliers) // 2 :]
    if kind == "one kind":
        Z = StandardScaler().fit_transform(outliers)
        label = kmeans2(Z, 3, minit="++", seed=0)[1]
        large = np.flatnonzero(np.bincount(label, minlength=3) >= 5)
        if not len(large):
            return None
        one = rng.choice(large)
        pool, test = outliers[label == one], outliers[label != one]
    if k > len(pool) or len(test) < 5:
        return None
    known = rng.permutation(pool)[:k]
    if kind == "10 % wrong":
        wrong = rng.random(k) < 0.1
        known = np.where(wrong[:, None], spare[rng.integers(len(spare), size=k)], known)
    return known, test[:500]


def study(task: Task) -> list[tuple[str, int, str, list[float]]]:
    """Kind of the labels, their number, the detector and its measures."""
    warnings.simplefilter("ignore")
    name, targets, outliers = task
    rng = np.random.default_rng([0, *name.encode()])
    targets, outliers = rng.permutation(targets), rng.permutation(outliers)[:LARGEST]
    n = round(0.7 * len(targets))
    train, rest = targets[:n][:LARGEST], targets[n:]
    spare, fresh = rest[: max(3, len(rest) // 10)], rest[max(3, len(rest) // 10) :][:500]
    if min(len(train), len(outliers)) < 30 or len(fresh) < 10:
        return []
    found = []
    for kind in KINDS:
        for k in KNOWN:
            given = known_of(kind, outliers, spare, max(k, 1), rng)
            if given is None:
                continue
            known, odd = given
            test, y = np.concatenate([fresh, odd]), np.repeat([0.0, 1.0], [len(fresh), len(odd)])
            model = VAAKELM(delta=DELTA).fit(train, outliers=known if k else None)
            found.append((kind, k, OURS, measures(y, -model.score_samples(test), -model.offset_)))
            if k not in COMPARED:
                continue
            for label, make in PEERS.items():
                found.append((kind, k, label, measures(y, *peer(make, train, known, test))))
            if WITH_XGBOD and kind == "random" and k > 1:  # which cannot be fitted to one outlier
                found.append((kind, k, "XGBOD", measures(y, xgbod(train, known, test), np.inf)))
    return found


def questions(task: Task) -> dict[str, float] | None:
    """Answers that it takes to find half of the anomalies of a table, by strategy; more than `ANSWERS` count so."""
    warnings.simplefilter("ignore")
    name, targets, outliers = task
    rng = np.random.default_rng([1, *name.encode()])
    targets, outliers = rng.permutation(targets), rng.permutation(outliers)
    train, fresh = targets[: len(targets) // 2][:400], targets[len(targets) // 2 :][:400]
    odd = outliers[: max(10, len(fresh) // 10)]
    if len(train) < 30 or len(fresh) < 60:
        return None
    order = rng.permutation(len(fresh) + len(odd))
    pool, y = np.concatenate([fresh, odd])[order], np.repeat([1, -1], [len(fresh), len(odd)])[order]
    forest = IsolationForest(random_state=0).fit(train).score_samples(pool)
    asked = {
        "random rows": rng.permutation(len(pool)),
        "isolation forest": np.argsort(forest),
        "VAAKELM, lowest scores": VAAKELM().fit(train).suggest(pool, k=len(pool)),
        f"VAAKELM, learns from every {BATCH} answers": with_learning(train, pool, y),
    }
    found = {}
    for strategy, rows in asked.items():
        reached = np.cumsum(y[rows[:ANSWERS]] == -1) >= len(odd) / 2
        found[strategy] = float(reached.argmax() + 1) if reached.any() else np.inf
    return found


def with_learning(train: Rows, pool: Rows, y: NDArray[np.int_]) -> NDArray[np.intp]:
    """Rows in the order in which they are asked about by a model that learns from the answers."""
    model, left = VAAKELM().fit(train), np.arange(len(pool))
    asked: list[int] = []
    while len(asked) < ANSWERS:
        rows = left[model.suggest(pool[left], k=BATCH)]
        model.learn_from(pool[rows], y[rows])
        asked += rows.tolist()
        left = np.setdiff1d(left, rows)
    return np.array(asked)


def shown(values: list[list[float]], *, rates: bool) -> str:
    auroc, precision, recall, alarms = np.mean(values, axis=0)
    text = f"{auroc:.3f} / {precision:.3f}"
    return f"{text} / {100 * recall:.0f} % / {100 * alarms:.1f} %" if rates else text


def labels_table(rows: list[tuple[str, int, str, list[float]]]) -> str:
    """Measures by kind and number of labels (rows) and detector (columns)."""
    detectors = list(dict.fromkeys(detector for _, _, detector, _ in rows))
    body = []
    for kind in KINDS:
        for k in KNOWN:
            cells = []
            for detector in detectors:
                of = [values for a, b, c, values in rows if (a, b, c) == (kind, k, detector)]
                cells.append(shown(of, rates=detector != "XGBOD") if of else "")
            body.append([kind, str(k), *cells])
    return markdown(["labels", "number", *detectors], body)


def main() -> None:
    """Run the study, and write its tables."""
    step = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    page, texts = Path(__file__).parents[1] / "docs" / "known_outliers_measured.md", []
    answers: list[dict[str, float]] = []
    for name, tasks in collections().items():
        found = Parallel(n_jobs=2)(delayed(study)(task) for task in tasks[::step])
        count = sum(map(bool, found))
        texts.append(f"{count} tasks of {name}:\n\n" + labels_table([row for rows in found for row in rows]))
        print(texts[-1], "\n")
        answers += [one for one in Parallel(n_jobs=2)(delayed(questions)(task) for task in tasks[::step]) if one]
    lines = []
    for strategy in answers[0]:
        needed = [one[strategy] for one in answers]
        middle = float(np.median(needed))
        share = f"{100 * np.mean(np.array(needed) <= ANSWERS):.0f} %"
        lines.append([strategy, f"{middle:g}" if middle <= ANSWERS else f"more than {ANSWERS}", share])
    text = markdown(["rows to ask about", "answers (median)", f"half found with {ANSWERS} answers"], lines)
    print(text)
    write_between_markers(page, "known-labels", "\n\n".join(texts))
    write_between_markers(page, "known-answers", text)


if __name__ == "__main__":
    main()
