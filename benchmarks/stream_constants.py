"""What each constant of a stream's policy does: quality with other values.

Runs the streams on which the constants were chosen (`_streams.py` and `_held_out.py`), with one constant changed at a
time. Differences are of the same streams, and the standard error is over these.
Writes a table of docs/streams_measured.md.

``python benchmarks/stream_constants.py [--jobs N] [--seeds N] [--keep FILE]``: about 16 seconds of one core for each
value and seed. FILE keeps the results of each value.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np

import _held_out
import _streams
import drift
from _table import markdown, write_between_markers
from oneclass import AAKELM, Nystrom, Stream
from oneclass.stream import Patience, trust
from oneclass.stream.policy import POLICY

FIRST_SEED = 1

#: Other values of each constant. `None` removes the rule.
CONSTANTS: dict[str, tuple[float, ...]] = {
    "min_trust": (0.25, 0.75),
    "neighbors": (5, 20),
    "ordinary": (0.5, 0.9),
    "stretch": (10, 40),
    "false_burst": (0, 20, 80),
    "losses": (250, 1000),
    "step": (0.05, 0.2),
    "max_level": (5, 20),
    "links": (5, 15),
    "complete": (0.6, 0.95),
    "returning": (0.01, 0.05),
    "min_held_back": (0.0, 0.8),
    "min_spread": (0.0, 0.5, 0.9),
    "checked_every": (50, 200),
    "max_growth": (1.5, 4),
    "max_cost_change": (1.2, 2.0),
    "max_change": (0.05, 0.2, 1e9),
    "min_learned": (250, 1000),
    "min_ranks": (100, 500),
    "compared": (512, 2048),
    "min_kept_untrusted": (256, 1024),
}
PATIENCE: dict[str, tuple[float, ...]] = {
    "rows": (100, 200),
    "share": (0.025, 0.1),
    "steepness": (0.0, 0.5, 2.0, 3.0),
    "trial": (30, 60, np.inf),
    "drift": (0.0, 0.06, 0.1),
}
MACHINE: dict[str, tuple[float, ...]] = {"C": (0.5, 2.0, 4.0, 8.0), "landmarks": (128, 400)}


def _without_support() -> None:
    trust.neighbor_support = lambda kernel, Z, known, trusted: np.ones(len(Z))


def _without_bursts() -> None:
    trust.in_bursts = lambda before, alarm: np.zeros(len(alarm), dtype=bool)


def _without_kinds() -> None:
    trust._kinds = lambda kernel, Z, trusted: np.zeros(len(Z), dtype=int)


RULES: dict[str, Callable[[], None]] = {
    "no support by neighbors": _without_support,
    "rows in bursts are not held back": _without_bursts,
    "all rows held back are one kind": _without_kinds,
}


def changed(name: str) -> dict[str, object]:
    """Parameters of a stream with one value changed; constants and rules are changed in this process."""
    if name in RULES:
        RULES[name]()
        return {}
    constant, _, value = name.partition(" = ")
    if not value:
        return {}
    if constant in CONSTANTS:
        kind = type(getattr(POLICY, constant))
        object.__setattr__(POLICY, constant, kind(float(value)))
        return {}
    if constant in PATIENCE:
        return {"patience": Patience(**{"rows": 140, "trial": 45, constant: float(value)})}
    options = {"C": 1.0, "landmarks": 256, constant: float(value)}
    approximation = Nystrom(int(options["landmarks"]))
    machine = AAKELM(C=options["C"], kernel="laplacian", sigma="mean", scale="robust", approximation=approximation)
    return {"estimator": machine}


def measured(name: str, seeds: int) -> tuple[str, dict[str, drift.Result]]:
    """Results on every stream with one value changed."""
    parameters, results = changed(name), {}
    for seed in range(FIRST_SEED, FIRST_SEED + seeds):
        for make in (*_streams.STREAMS, *_held_out.HELD_OUT):
            rows = make(np.random.default_rng([seed, sum(map(ord, make.__name__))]))
            method = drift.Ours()
            method.stream = Stream(window=drift.WINDOW, delta=drift.DELTA, **parameters)  # type: ignore[arg-type]
            results[f"{rows.name}, {seed}"] = drift.run(method, rows)
    return name, results


def names() -> Iterator[str]:
    """The default, and every change."""
    yield "default"
    yield from RULES
    for group in (MACHINE, PATIENCE, CONSTANTS):
        for constant, values in group.items():
            yield from (f"{constant} = {value:g}" for value in values)


def table(results: dict[str, dict[str, drift.Result]]) -> str:
    """A line for each change: the mean difference of AUROC and its standard error, recall, false alarms, recovery."""
    default, body = results["default"], []
    streams = sorted(default)
    for name in filter(results.__contains__, names()):
        found = [results[name][stream] for stream in streams]
        gains = np.array([one.area - default[stream].area for one, stream in zip(found, streams, strict=True)])
        waits = [rows for one in found for rows in one.recovery]
        body.append([
            name,
            f"{np.mean([one.area for one in found]):.4f}" if name == "default" else f"{gains.mean():+.4f}",
            f"{gains.std() / np.sqrt(len(gains)):.4f}",
            f"{100 * np.mean([one.recall for one in found]):.1f}",
            f"{100 * np.mean([one.false_alarms for one in found]):.1f}",
            f"{100 * max(one.worst for one in found):.0f}",
            f"{np.median(waits):.0f} / {max(waits)}",
        ])  # fmt: skip
    head = ["value", "AUROC", "standard error", "recall, %", "false alarms, %", "worst 1,000", "recovery"]
    return markdown(head, body)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--keep", type=Path, metavar="FILE")
    parser.add_argument("--only", nargs="*", help="only run these, as in 'links = 5'")
    arguments = parser.parse_args()
    results: dict[str, dict[str, drift.Result]] = {}
    if arguments.keep and arguments.keep.exists():
        for line in arguments.keep.read_text().splitlines():
            name, found = json.loads(line)
            results[name] = {stream: drift.Result(**one) for stream, one in found.items()}
    missing = [name for name in arguments.only or names() if name not in results]
    with get_context("fork").Pool(arguments.jobs, maxtasksperchild=1) as pool:
        for name, found in pool.imap_unordered(partial(measured, seeds=arguments.seeds), missing):
            results[name] = found
            print(name, flush=True)
            if arguments.keep:
                with arguments.keep.open("a") as file:
                    file.write(json.dumps([name, {stream: asdict(one) for stream, one in found.items()}]) + "\n")
    text = table(results)
    print(text)
    if not arguments.only:
        write_between_markers(Path(__file__).parents[1] / "docs" / "streams_measured.md", "constants", text)


if __name__ == "__main__":
    main()
