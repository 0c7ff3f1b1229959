"""Known outliers: what they are worth, by their number and kind, against classifiers that learn from both classes.

Targets are split into training rows (70 %, at most 400) and test rows, outliers into known ones and test rows. Known
outliers are drawn at random; or from one of three clusters of outliers, while the test holds the others; or a tenth of
them are normal rows. Classifiers of other libraries learn from four fifths of the normal rows, and get a threshold from
the others: the 95 % quantile of their scores. Another table counts the answers that it takes to find half of the
anomalies in a table that somebody labels row by row. Writes the tables into docs/known_outliers_measured.md.

Reads the collections of benchmarks/defaults.py (ONECLASS_DATA, ONECLASS_TABLES). XGBOD needs pyod and xgboost and is
left out without them. ``python benchmarks/known.py [STEP [PROCESSES]]`` compares other classifiers on every STEP-th
task (1); the page has 19 of the 38 tasks of STEP 8.
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
from scipy.sparse import hstack
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, IsolationForest, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from _arrays import Rng, Rows
from _table import markdown, write_between_markers
from defaults import Task, collections
from oneclass import VAAKELM, Calibrated
from ways import LAWS

KNOWN = (1, 3, 5, 20, 100)
#: Numbers of known outliers with which other classifiers are compared.
COMPARED = (1, 5, 20, 100)
KINDS = ("random", "one kind", "10 % wrong")
#: Requested false-alarm rate, and the largest number of training rows.
DELTA, LARGEST = 0.05, 400
OURS = "VAAKELM"
#: Detectors of another library, in `Calibrated`, on z-scores.
CALIBRATED: dict[str, Callable[[], Any]] = {
    "IsolationForest": lambda: IsolationForest(random_state=0),
    "LocalOutlierFactor": lambda: LocalOutlierFactor(novelty=True),
    "OneClassSVM": lambda: OneClassSVM(nu=0.1),
    "GaussianMixture": lambda: GaussianMixture(2, reg_covar=0.01, random_state=0),
}
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
#: Draws of each distribution, half with 60 rows and half with 300.
DRAWS = 20
#: In an arbitrary table, the other classes need not be outliers to a class: tasks with a lower AUROC are left out.
LEAST = 0.6

Found = tuple[str, int, str, list[float]]  # kind of the labels, their number, the detector and its measures

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


def split(task: Task) -> tuple[Rows, Rows, Rows, Rows, Rng] | None:
    """Training rows, further targets for wrong labels, those of the test, outliers and a generator; None if too few."""
    name, targets, outliers = task
    rng = np.random.default_rng([0, *name.encode()])
    targets, outliers = rng.permutation(targets), rng.permutation(outliers)[:1000]
    n = round(0.7 * len(targets))
    train, rest = targets[:n][:LARGEST], targets[n:]
    spare, fresh = rest[: max(3, len(rest) // 10)], rest[max(3, len(rest) // 10) :][:500]
    return None if min(len(train), len(outliers)) < 30 or len(fresh) < 10 else (train, spare, fresh, outliers, rng)


def changes(task: Task, least: float) -> list[Found]:
    """Measures of our classifier with and without known outliers, if the AUROC without any is at least `least`."""
    warnings.simplefilter("ignore")
    if (parts := split(task)) is None:
        return []
    train, spare, fresh, outliers, rng = parts
    found: list[Found] = []
    plain = VAAKELM(delta=DELTA).fit(train)
    for kind in KINDS:
        for k in KNOWN:
            if (given := known_of(kind, outliers, spare, k, rng)) is not None:
                found += compared(OURS, plain, kind, train, given[0], fresh, given[1])
    first = [values[0] for kind, _, label, values in found if (kind, label) == ("random", without(OURS))]
    return found if np.mean(first) > least else []


def compared(label: str, plain: Any, kind: str, train: Rows, known: Rows, fresh: Rows, odd: Rows) -> list[Found]:
    """Measures of a detector without and with known outliers."""
    test, y = np.concatenate([fresh, odd]), np.repeat([0.0, 1.0], [len(fresh), len(odd)])
    model = clone(plain).fit(train, outliers=known)
    return [
        (kind, len(known), name, measures(y, -one.score_samples(test), -one.offset_))
        for name, one in ((without(label), plain), (label, model))
    ]


def study(task: Task) -> list[Found]:
    """Measures of every detector."""
    warnings.simplefilter("ignore")
    if (parts := split(task)) is None:
        return []
    train, spare, fresh, outliers, rng = parts
    found: list[Found] = []
    plain = {OURS: VAAKELM(delta=DELTA).fit(train)} | {label: calibrated(label).fit(train) for label in CALIBRATED}
    for kind in KINDS:
        for k in COMPARED:
            if (given := known_of(kind, outliers, spare, k, rng)) is None:
                continue
            known, odd = given
            for label, before in plain.items():
                found += compared(label, before, kind, train, known, fresh, odd)
            test, y = np.concatenate([fresh, odd]), np.repeat([0.0, 1.0], [len(fresh), len(odd)])
            for label, make in PEERS.items():
                found.append((kind, k, label, measures(y, *peer(make, train, known, test))))
            if WITH_XGBOD and kind == "random" and k > 1:  # which cannot be fitted to one outlier
                found.append((kind, k, "XGBOD", measures(y, xgbod(train, known, test), np.inf)))
    return found


def calibrated(label: str) -> Calibrated:
    """A detector of another library that learns one half of the rows, and has its threshold from the other half."""
    return Calibrated(make_pipeline(StandardScaler(), CALIBRATED[label]()), hold_out="split", delta=DELTA)


def without(label: str) -> str:
    """The name of a detector that learns no known outliers."""
    return f"{label}, none known"


def questions(task: Task) -> dict[str, list[int]] | None:
    """For each strategy, whether each row that it asks about is an anomaly (1 or 0), and the number of anomalies."""
    warnings.simplefilter("ignore")
    name, targets, outliers = task
    rng = np.random.default_rng([1, *name.encode()])
    targets, outliers = rng.permutation(targets), rng.permutation(outliers)
    train, fresh = targets[: len(targets) // 2][:400], targets[len(targets) // 2 :][:400]
    odd = outliers[: max(10, len(fresh) // 10)]
    if len(train) < 30 or len(fresh) < 60 or len(odd) < 10:
        return None
    order = rng.permutation(len(fresh) + len(odd))
    pool, y = np.concatenate([fresh, odd])[order], np.repeat([1, -1], [len(fresh), len(odd)])[order]
    forest = IsolationForest(random_state=0).fit(train)
    asked = {
        "random rows": rng.permutation(len(pool)),
        "isolation forest": np.argsort(forest.score_samples(pool)),
        "isolation forest, learns from every answer": forest_with_answers(forest, pool, y),
        "VAAKELM, lowest scores": VAAKELM().fit(train).suggest(pool, k=len(pool)),
        f"VAAKELM, learns from every {BATCH} answers": with_learning(train, pool, y),
    }
    return {strategy: [*np.where(y[rows[:ANSWERS]] == -1, 1, 0).tolist(), len(odd)] for strategy, rows in asked.items()}


def forest_with_answers(forest: IsolationForest, pool: Rows, y: NDArray[np.int_]) -> NDArray[np.intp]:
    """Rows in the order in which a forest asks about them that learns a weight for each of its nodes.

    A row's score is the sum of the weights along its paths, which is the sum of their lengths at first. Weights along
    the paths of an anomaly fall, and others rise: online mirror descent with linear loss and step 1 (Siddiqui, Fern,
    Dietterich, Wright, Theriault and Archer 2018).
    """
    paths = hstack([tree.decision_path(pool.astype(np.float32)) for tree in forest.estimators_]).tocsr()
    theta, asked = np.ones(paths.shape[1]), np.zeros(len(pool), dtype=bool)
    order = []
    for _ in range(min(ANSWERS, len(pool))):
        scores = np.where(asked, np.inf, paths @ np.maximum(theta, 0))
        order.append(int(np.argmin(scores)))
        asked[order[-1]] = True
        theta[paths[order[-1]].indices] += y[order[-1]]
    return np.array(order)


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


def change(rows: list[Found], kind: str, k: int, label: str) -> str:
    """Mean change of AUROC, with its standard error, average precision and recall by known outliers, in points."""
    after, before = ([v for a, b, c, v in rows if (a, b, c) == (kind, k, name)] for name in (label, without(label)))
    if not after:
        return ""
    gaps = 100 * (np.array(after) - np.array(before))[:, :3]
    means, error = gaps.mean(axis=0), gaps[:, 0].std() / np.sqrt(len(gaps))
    return f"{means[0]:+.1f} ± {error:.1f} / {means[1]:+.1f} / {means[2]:+.0f}"


def rate(law: str, k: int, seed: int) -> float:
    """False alarms with k known outliers: rows of a distribution, of which the first half of the columns is moved."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([2, seed, *law.encode()])
    n = (60, 300)[seed % 2]
    train, known = LAWS[law](rng, n, n), LAWS[law](rng, k, n)
    known[:, : known.shape[1] // 2] += 2 * train[:, : known.shape[1] // 2].std(axis=0)
    model = VAAKELM(delta=DELTA).fit(train, outliers=known)
    return float(np.mean(model.predict(LAWS[law](rng, 1000, n)) == -1))


def rates_table(rates: dict[tuple[str, int], list[float]]) -> str:
    """False alarms by distribution and number of known outliers."""
    body = [[law, *(f"{100 * np.mean(rates[law, k]):.1f}" for k in KNOWN)] for law in LAWS]
    return markdown(["distribution", *map(str, KNOWN)], body)


def changes_table(found: dict[str, list[list[Found]]]) -> str:
    """The changes for each collection, kind and number."""
    body = []
    for name, tasks in found.items():
        rows = [row for task in tasks for row in task]
        for kind in KINDS:
            head = f"{name} ({len(tasks)})" if kind == KINDS[0] else ""
            body.append([head, kind, *(change(rows, kind, k, OURS) for k in KNOWN)])
    return markdown(["collection (tasks)", "labels", *map(str, KNOWN)], body)


def calibrated_table(rows: list[Found]) -> str:
    """The changes of detectors of another library."""
    body = [[label, kind, *(change(rows, kind, k, label) for k in COMPARED)] for label in CALIBRATED for kind in KINDS]
    return markdown(["detector", "labels", *map(str, COMPARED)], body)


def detectors_table(rows: list[Found]) -> str:
    """Measures by kind and number of labels (rows) and detector (columns)."""
    detectors = [without(OURS), OURS, *PEERS, *(["XGBOD"] if WITH_XGBOD else [])]
    body = []
    for kind in KINDS:
        for k in COMPARED:
            cells = []
            for detector in detectors:
                of = [values for a, b, c, values in rows if (a, b, c) == (kind, k, detector)]
                cells.append(shown(of, rates=detector != "XGBOD") if of else "")
            body.append([kind, str(k), *cells])
    return markdown(["labels", "number", *detectors], body)


def shown(values: list[list[float]], *, rates: bool) -> str:
    """Means of the measures; without `rates`, only AUROC and average precision."""
    auroc, precision, recall, alarms = np.mean(values, axis=0)
    text = f"{auroc:.3f} / {precision:.3f}"
    return f"{text} / {100 * recall:.0f} % / {100 * alarms:.1f} %" if rates else text


def answers_table(answers: list[dict[str, list[int]]]) -> str:
    """Answers until half of the anomalies of a table are found, and the share that 20 answers find, by strategy."""
    lines = []
    for strategy in answers[0]:
        needed, first = [], []
        for one in answers:
            *found, total = one[strategy]
            reached = np.cumsum(found) >= total / 2
            needed.append(float(reached.argmax() + 1) if reached.any() else np.inf)
            first.append(sum(found[:20]) / min(total, 20))
        middle, half = float(np.median(needed)), float(np.mean(np.array(needed) <= ANSWERS))
        asked = f"{middle:g}" if middle <= ANSWERS else f"more than {ANSWERS}"
        lines.append([strategy, asked, f"{100 * half:.0f} %", f"{100 * np.mean(first):.0f} %"])
    heads = ["rows to ask about", "answers (median)", f"half found with {ANSWERS} answers", "found with 20 answers"]
    return markdown(heads, lines)


def main() -> None:
    """Run the studies, and write their tables into the page."""
    step, processes = (int(sys.argv[i]) if len(sys.argv) > i else i for i in (1, 2))
    found: dict[str, list[list[Found]]] = {}
    rows: list[Found] = []
    answers: list[dict[str, list[int]]] = []
    with Parallel(n_jobs=processes) as run:
        rates = {(law, k): run(delayed(rate)(law, k, seed) for seed in range(DRAWS)) for law in LAWS for k in KNOWN}
        for name, tasks in collections().items():
            least = 0.0 if name == "library" else LEAST
            found[name] = [one for one in run(delayed(changes)(task, least) for task in tasks) if one]
            rows += [row for one in run(delayed(study)(task) for task in tasks[::step]) for row in one]
            answers += [one for one in run(delayed(questions)(task) for task in tasks[::step]) if one]
    write(
        {
            "known-changes": changes_table(found),
            "known-detectors": detectors_table(rows),
            "known-calibrated": calibrated_table(rows),
            "known-rates": rates_table(rates),
            "known-answers": answers_table(answers),
        }
    )


def write(tables: dict[str, str]) -> None:
    """Write tables between these markers of the page."""
    page = Path(__file__).parents[1] / "docs" / "known_outliers_measured.md"
    for marker, text in tables.items():
        print(text, "\n")
        write_between_markers(page, marker, text)


if __name__ == "__main__":
    main()
