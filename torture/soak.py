"""Soak: streams of many rows with anomalies, drift and jumps, saved and loaded often: flat memory, steady rate."""

from __future__ import annotations

import gc
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import oneclass
from oneclass import Stream

from .tally import Result

__all__ = ["run"]

#: Rows for each try, of a block, and between two reloads.
PER_TRY, BLOCK, RELOAD = 20_000, 1000, 10_000
#: The share of the rows that are anomalies, the rate that is asked for, and the rows between two jumps of the mean.
ANOMALIES, DELTA, JUMP = 0.005, 0.05, 50_000
#: The largest rate that passes.
MOST = 0.06
#: What changes in the streams.
KINDS = ("no drift", "slow drift", "jumps")
#: The smallest share of the anomalies that must be alarms.
FOUND = 0.9
#: Largest growth of the memory in the second half of the rows, in bytes.
GROWTH = 20 << 20


def _memory() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _rows(kind: str, rng: np.random.Generator, first: int) -> tuple[np.ndarray, np.ndarray]:
    """A block of rows of a kind, and which of them are anomalies."""
    t = first + np.arange(BLOCK)
    X = rng.normal(size=(BLOCK, 4))
    if kind == "slow drift":
        X += np.column_stack([np.sin(t / 30_000), t / 200_000, 0 * t, 0 * t])
    if kind == "jumps":
        X[:, 1] += t // JUMP % 3
    odd = rng.random(BLOCK) < ANOMALIES
    X[odd] += rng.choice([-8.0, 8.0], size=(odd.sum(), 4))
    return X, odd


def _stream(kind: str, total: int, seed: int) -> Result:
    rng, faults = np.random.default_rng(seed), []
    labels, truth = [], []
    early, began = 0, time.monotonic()
    stream = Stream(delta=DELTA)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "stream.oneclass")
        for first in range(0, total, BLOCK):
            X, odd = _rows(kind, rng, first)
            labels.append(stream.watch(X).labels < 0)
            truth.append(odd)
            if first % RELOAD == 0:
                stream.save(place, force=True)
                loaded = oneclass.load(place)
                if not np.array_equal(loaded.score_samples(X), stream.score_samples(X)):
                    faults.append(f"row {first}: other scores after a reload")
                stream = loaded
            if not early and first >= total // 2:
                early = _memory()
    alarms, odd = np.concatenate(labels)[BLOCK:], np.concatenate(truth)[BLOCK:]
    grown, rate, share = _memory() - early, float(alarms[~odd].mean()), float(alarms[odd].mean())
    if grown > GROWTH:
        faults.append(f"memory grew by {grown / 2**20:.0f} MB")
    if rate > MOST:
        faults.append(f"{rate:.1%} of the normal rows are alarms, {DELTA:.0%} asked")
    if share < FOUND:
        faults.append(f"{share:.0%} of the anomalies are alarms")
    measured = f"{rate:.1%} of normal rows and {share:.0%} of anomalies are alarms; memory +{grown / 2**20:.0f} MB; "
    measured += f"{total / (time.monotonic() - began):,.0f} rows/s"
    return Result(f"rows of a stream, {kind}", total, tuple(faults), measured)


def run(tries: int, seed: int = 0) -> Iterator[Result]:
    """`tries` times 20,000 rows in all."""
    for kind in KINDS:
        yield _stream(kind, tries * PER_TRY // len(KINDS) // BLOCK * BLOCK, seed)
