"""Rates of alarms of a stream without anomalies, asked for 5 % and 1 %: the table of docs/streams_measured.md.

Each stream gets 500 initial rows and 6,000 more in blocks of 50. The rates are means over the seeds. The range is the
lowest and highest rate in 2,000 rows of any seed. The policy was chosen on the generators `CHOSEN_ON`, at the first two
seeds; the others played no part in the choice. Also the rejections of the test for change at level 0.05, in one epoch.

``python benchmarks/stream_rates.py [SEEDS]`` (3).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.signal import lfilter

from _arrays import Marks, Rng, Rows
from _table import markdown, write_between_markers
from oneclass import Stream
from oneclass.stream import Martingale

OPENING, LENGTH, BLOCK, SPAN = 500, 6000, 50, 2000
PAGE = Path(__file__).parents[1] / "docs" / "streams_measured.md"

Generator = Callable[[Rng, int], Rows]


def autoregressive(phi: float, d: int) -> Generator:
    """Normal columns with this correlation between neighboring rows."""

    def rows(rng: Rng, n: int) -> Rows:
        e = np.sqrt(1 - phi**2) * rng.normal(size=(n + 500, d))
        return np.asarray(lfilter([1.0], [1.0, -phi], e, axis=0))[500:]

    return rows


def volatile(d: int) -> Generator:
    """Stochastic volatility: normal columns times the exponential of an autoregressive column."""

    def rows(rng: Rng, n: int) -> Rows:
        return np.asarray(np.exp(0.7 * autoregressive(0.98, d)(rng, n)) * rng.normal(size=(n, d)))

    return rows


def moving_average(rng: Rng, n: int) -> Rows:
    """Two moving averages of ten normal numbers."""
    return np.stack([np.convolve(rng.normal(size=n + 9), np.ones(10), "valid") for _ in range(2)], axis=1)


CHOSEN_ON: dict[str, Generator] = {
    "normal, 1 column": lambda rng, n: rng.normal(size=(n, 1)),
    "normal, 2 columns": lambda rng, n: rng.normal(size=(n, 2)),
    "normal, 8 columns": lambda rng, n: rng.normal(size=(n, 8)),
    "lognormal, 2 columns": lambda rng, n: np.exp(rng.normal(size=(n, 2))),
    "AR(0.9), 1 column": autoregressive(0.9, 1),
    "AR(0.9), 3 columns": autoregressive(0.9, 3),
}
OTHERS: dict[str, Generator] = {
    "exponential, 1 column": lambda rng, n: rng.exponential(size=(n, 1)),
    "uniform, 1 column": lambda rng, n: rng.random((n, 1)),
    "t(3), 2 columns": lambda rng, n: rng.standard_t(3, size=(n, 2)),
    "stochastic volatility, 2 columns": volatile(2),
    "AR(0.8), 2 columns": autoregressive(0.8, 2),
    "moving average, 2 columns": moving_average,
    "AR(0.99), 3 columns": autoregressive(0.99, 3),
}


def alarms(make: Generator, delta: float, seed: int) -> Marks:
    """Which rows of a stream are alarms."""
    X = make(np.random.default_rng([seed, 11]), OPENING + LENGTH)
    stream = Stream(delta=delta).fit(X[:OPENING])
    return np.concatenate([stream.watch(X[a : a + BLOCK]).labels for a in range(OPENING, len(X), BLOCK)]) < 0


def rejections(d: int, epochs: int) -> str:
    """In how many epochs without a change the test for change at level 0.05 rejects."""
    found = 0
    for seed in range(epochs):
        X = np.random.default_rng([seed, d, 5]).normal(size=(OPENING + 2000, d))
        stream = Stream(change=Martingale(level=0.05)).fit(X[:OPENING])
        for a in range(OPENING, len(X), 100):
            stream.partial_fit(X[a : a + 100])
        found += any(event.kind == "shift" for event in stream.events_)
    return f"{found} of {epochs}"


def main() -> None:
    """Run all streams and write the table."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    body = []
    for role, generators in (("yes", CHOSEN_ON), ("no", OTHERS)):
        for name, make in generators.items():
            line = [name, role]
            for delta in (0.05, 0.01):
                found = [alarms(make, delta, seed) for seed in range(seeds)]
                spans = [np.mean(one[a : a + SPAN]) for one in found for a in range(0, LENGTH - SPAN + 1, 250)]
                line += [f"{100 * np.mean(found):.1f}", f"{100 * min(spans):.1f} - {100 * max(spans):.1f}"]
            print(*line, flush=True)
            body.append(line)
    head = [
        "rows",
        "used for choices",
        "asked 5 %: alarms, %",
        "any 2,000 rows",
        "asked 1 %: alarms, %",
        "any 2,000 rows",
    ]
    write_between_markers(PAGE, "rates", markdown(head, body))
    for d in (1, 2, 4):
        print(f"test for change, {d} columns, rejections: {rejections(d, 20 * seeds)}", flush=True)


if __name__ == "__main__":
    main()
