"""What a stream does in a long attack, in a gradual attack and with seasons: tables of docs/streams_measured.md.

``python benchmarks/stream_limits.py [SEEDS]`` (3): about five minutes of one core.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

import drift
from _arrays import Rng, Rows
from _streams import Drift, assembled, attack, direction, mixed
from _table import markdown, write_between_markers
from oneclass import Stream

PAGE = Path(__file__).parents[1] / "docs" / "streams_measured.md"
BLOCK, COLUMNS = 50, 6


def whole_attack(rng: Rng, attacks: int) -> Drift:
    """A constant distribution and attacks of 1,000 rows of one kind, with no other rows meanwhile."""
    A, kind = rng.normal(size=(8, 8)) / 2 + np.eye(8), 8 * direction(8, rng)
    return assembled(
        "whole attack",
        lambda t, rng: mixed(t.size, A, rng),
        lambda t, rng: kind @ A + 0.8 * rng.normal(size=(t.size, 8)),
        rng,
        bursts=tuple((1000 + 2000 * k, 1000) for k in range(attacks)),
        share=0.01,
        within=1.0,
    )


def attacks(seeds: int) -> str:
    """Recall and false alarms in attacks of 1,000 rows, by patience."""
    body = []
    kinds: dict[str, Callable[[Rng], Drift]] = {
        "nine of ten rows, once": attack,
        "all rows, once": lambda rng: whole_attack(rng, 1),
        "all rows, twice": lambda rng: whole_attack(rng, 2),
    }
    for kind, make in kinds.items():
        for patience in ("prompt", 140, 1000, 1500):
            found = []
            for seed in range(seeds):
                rows = make(np.random.default_rng([seed, 99]))
                found.append(drift.run(drift.Ours(patience=patience), rows))
            recall, false = (np.mean([getattr(one, what) for one in found]) for what in ("recall", "false_alarms"))
            body.append([kind, f"`{patience!r}`", f"{100 * recall:.0f}", f"{100 * false:.1f}"])
    return markdown(["attack", "patience", "recall, %", "false alarms, %"], body)


def farthest(stream: Stream, way: Rows) -> float:
    """How far along a direction a row is still accepted."""
    near, far = 0.0, 100.0
    for _ in range(30):
        middle = (near + far) / 2
        near, far = (middle, far) if stream.predict(middle * way[None])[0] > 0 else (near, middle)
    return near


def creeping(seeds: int) -> str:
    """How far an attacker moves the border of the accepted rows, who puts each row just inside it."""
    body = []
    for share in (0.02, 0.05, 0.1, 0.2, 0.5):
        borders = []
        for seed in range(seeds):
            rng = np.random.default_rng([seed, 7])
            way = direction(COLUMNS, rng)
            stream = Stream(window=1000).fit(rng.normal(size=(1000, COLUMNS)))
            path = [farthest(stream, way)]
            for _ in range(60):
                X = rng.normal(size=(BLOCK, COLUMNS))
                chosen = rng.random(BLOCK) < share
                X[chosen] = 0.98 * farthest(stream, way) * way
                stream.partial_fit(X)
                path.append(farthest(stream, way))
            borders.append(path)
        mean = np.mean(borders, axis=0)
        body.append([f"{100 * share:.0f} %", *(f"{mean[k]:.1f}" for k in (0, 20, 40, 60))])
    return markdown(["rows of the attacker", "border at first, sd", "1,000 rows", "2,000 rows", "3,000 rows"], body)


def seasons(seeds: int) -> str:
    """False alarms in the first 200 rows after an earlier mode has come back, by the length of a season."""
    body = []
    for length in (200, 500, 1000, 2000):
        line = [f"{length:,}"]
        for window in (1000, 3 * length):
            first, all_rows = [], []
            for seed in range(seeds):
                rng = np.random.default_rng([seed, 5])
                modes = np.stack([np.zeros(COLUMNS), 8 * direction(COLUMNS, rng)])
                mode = (np.arange(8 * length) // length) % 2
                X = modes[mode] + rng.normal(size=(8 * length, COLUMNS))
                stream = Stream(window=window).fit(X[:length])
                labels = [stream.watch(X[a : a + BLOCK]).labels for a in range(length, len(X), BLOCK)]
                alarms = np.concatenate([np.zeros(length), np.concatenate(labels) < 0])
                returns = [np.arange(k * length, k * length + 200) for k in range(2, 8)]
                first.append(np.mean(alarms[np.concatenate(returns)]))
                all_rows.append(np.mean(alarms[2 * length :]))
            line += [f"{100 * np.mean(first):.1f}", f"{100 * np.mean(all_rows):.1f}"]
        body.append(line)
    head = [
        "rows in a season",
        "window 1,000: 200 rows after a return",
        "all",
        "window of 3 seasons: after a return",
        "all",
    ]
    return markdown(head, body)


def main() -> None:
    """Print all tables, and write them to the page."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    for name, table in (("attacks", attacks), ("creeping", creeping), ("seasons", seasons)):
        text = table(seeds)
        print(text, flush=True)
        write_between_markers(PAGE, name, text)


if __name__ == "__main__":
    main()
