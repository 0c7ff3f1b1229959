"""Fits and scores on Dask clusters of worker processes on one machine: speed, bytes sent, and a worker that is killed.

Writes each row of the tables of docs/scale_measured.md as soon as it is known. `--rows` sets the rows of the first
table, `--sizes` those of the second. No row is begun that would end after `--seconds`.
"""

from __future__ import annotations

import argparse
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Any

import joblib
import numpy as np
import psutil
from threadpoolctl import threadpool_limits

from _arrays import Rows
from _table import markdown, write_between_markers
from fit_cost import D, M
from oneclass import VAAKELM, Nystrom

PAGE = Path(__file__).parents[1] / "docs" / "scale_measured.md"
CORES = joblib.cpu_count()
#: Most rows of a partition; every core has as many partitions.
PARTITION = 20_000
SIZES = (30_000, 100_000, 300_000, 1_000_000, 3_000_000)
#: Number of workers of which one is killed.
KILLED_OF = 4


def part(k: int, n: int) -> Rows:
    """Partition number k, rows of a mixture; a worker that replaces another makes it again."""
    rng = np.random.default_rng(k)
    centres = 2 * np.random.default_rng(0).normal(size=(5, D))
    return centres[rng.integers(0, 5, n)] + rng.normal(size=(n, D))


def partitions(n: int) -> list[int]:
    """Rows of each partition."""
    count = CORES * -(-n // (CORES * PARTITION))
    return [n * (k + 1) // count - n * k // count for k in range(count)]


def in_one_process(n: int) -> Rows:
    """All rows as one array."""
    return np.concatenate([part(k, size) for k, size in enumerate(partitions(n))])


def on_workers(client: Any, n: int) -> Any:
    """The same rows in the memory of the workers."""
    import dask.array as da
    from dask.delayed import delayed
    from dask.distributed import wait

    arrays = [da.from_delayed(delayed(part)(k, size), (size, D), float) for k, size in enumerate(partitions(n))]
    held = client.persist(da.concatenate(arrays))
    wait(held)
    return held


def warm() -> None:
    """Import what a fit needs."""
    VAAKELM(approximation=Nystrom(100)).fit(part(0, 3000)).score_samples(part(1, 10))


@contextmanager
def cluster_of(count: int) -> Iterator[Any]:
    """A client of this many worker processes of one thread, which have imported the package."""
    from dask.distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=count, threads_per_worker=1, memory_limit=None, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(count)
        client.run(warm)
        yield client


def sent() -> float:
    """Megabytes sent between processes of this machine so far."""
    return float(psutil.net_io_counters(pernic=True)["lo"].bytes_sent) / 1e6


def fit(X: Any) -> tuple[float, float, VAAKELM]:
    """Seconds, megabytes sent between processes, and the model."""
    machine = VAAKELM(approximation=Nystrom(M))
    before, start = sent(), time.perf_counter()
    machine.fit(X)
    return time.perf_counter() - start, sent() - before, machine


def score(machine: VAAKELM, X: Any) -> float:
    """Seconds to score all rows where they are, and to add the scores up."""
    start = time.perf_counter()
    float(machine.score_samples(X).sum())
    return time.perf_counter() - start


def with_one_killed(X: Any, client: Any, after: float) -> tuple[float, float, VAAKELM]:
    """The same as `fit`; one worker is killed after some seconds."""
    before = set(client.run(os.getpid).values())
    timer = Timer(after, os.kill, (next(iter(before)), signal.SIGKILL))
    timer.start()
    result = fit(X)
    if timer.is_alive():
        raise RuntimeError(f"the fit ended before the worker was killed after {after:.1f} s")
    return result


class Table:
    """A table of the page, written again with every row."""

    def __init__(self, name: str, head: list[str]) -> None:
        self.name, self.head, self.body = name, head, list[list[str]]()

    def add(self, *cells: str) -> None:
        """Add a row, and write the table."""
        self.body.append(list(cells))
        print(" | ".join(cells), flush=True)
        write_between_markers(PAGE, self.name, markdown(self.head, self.body), of_cores=True)


def scaling(n: int, ends: float) -> None:
    """Clusters of growing size, a worker that is killed, and one process with threads."""
    head = [f"{n:,} rows x {D}, m = {M:,}", "fit, s", "speed-up", "scores, s", "speed-up", "MB sent by the fit"]
    table = Table("clusters", [*head, "largest relative difference of scores"])
    fresh, one, expected = part(10**6, 1000), (0.0, 0.0), np.empty(0)

    def add(name: str, fitted: float, scored: float | None, megabytes: float | None, model: VAAKELM) -> None:
        times = [f"{fitted:.1f}", f"{one[0] / fitted:.1f}"]
        times += ["", ""] if scored is None else [f"{scored:.1f}", f"{one[1] / scored:.1f}"]
        difference = np.max(np.abs(model.score_samples(fresh) / expected - 1))
        table.add(name, *times, "" if megabytes is None else f"{megabytes:,.0f}", f"{difference:.0e}")

    for count in [2**i for i in range(10) if 2**i <= CORES]:
        with cluster_of(count) as client:
            X = on_workers(client, n)
            fitted, megabytes, model = fit(X)
            scored = score(model, X)
            if count == 1:
                one, expected = (fitted, scored), model.score_samples(fresh)
            add(f"{count} worker{'s' if count > 1 else ''}", fitted, scored, megabytes, model)
            if count == min(KILLED_OF, CORES):
                late, megabytes, model = with_one_killed(X, client, fitted / 2)
                add(f"{count} workers, one killed halfway", late, None, megabytes, model)
        if time.perf_counter() > ends:
            return
    X = in_one_process(n)
    fitted, _, model = fit(X)
    add(f"one process, {CORES} threads", fitted, score(model, X), None, model)


def against_threads(sizes: list[int], ends: float) -> None:
    """One process with all cores, and a cluster of as many workers."""
    threads, workers = f"one process, {CORES} threads", f"{CORES} workers"
    head = ["rows", *(f"{what}: {where}, s" for what in ("fit", "scores") for where in (threads, workers))]
    table, last, taken = Table("cluster-sizes", head), 0, 0.0
    with cluster_of(CORES) as client:
        for n in sizes:
            begun = time.perf_counter()
            if last and begun + taken * n / last > ends:
                return
            times = []
            for X in (in_one_process(n), on_workers(client, n)):
                fitted, _, model = fit(X)
                times.append((fitted, score(model, X)))
            table.add(f"{n:,}", *(f"{seconds:.2f}" for pair in zip(*times, strict=True) for seconds in pair))
            last, taken = n, time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    asked = parser.parse_args()
    ends = time.perf_counter() + asked.seconds
    # For the workers: one thread each, and no compiled code. The variables of this process are read already.
    os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    with threadpool_limits(CORES):
        warm()
        scaling(asked.rows, ends)
        against_threads(list(asked.sizes), ends)


if __name__ == "__main__":
    main()
