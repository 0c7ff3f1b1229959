"""Fits on Dask clusters of worker processes on one machine: speed, bytes sent, and a worker that is killed.

Prints tables; `python benchmarks/clusters.py [rows]` sets the rows (default a million).
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Any

import numpy as np
import psutil
from threadpoolctl import threadpool_limits

from _compiled import allow_compiled
from _table import markdown
from fit_cost import D, M
from oneclass import VAAKELM, Nystrom

PARTITION = 20_000
SMALL = 100_000


@contextmanager
def workers(count: int) -> Iterator[Any]:
    """A client of this many worker processes of one thread."""
    from dask.distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


def part(first: int, n: int) -> Any:
    """Some rows of the mixture; a worker that replaces another makes them again."""
    rng = np.random.default_rng(first)
    centres = 2 * np.random.default_rng(0).normal(size=(5, D))
    return centres[rng.integers(0, 5, n)] + rng.normal(size=(n, D))


def partitioned(client: Any, n: int) -> Any:
    """The rows in the memory of the workers."""
    import dask.array as da
    from dask.delayed import delayed
    from dask.distributed import wait

    sizes = [min(PARTITION, n - first) for first in range(0, n, PARTITION)]
    parts = [delayed(part)(k * PARTITION, size) for k, size in enumerate(sizes)]
    held = client.persist(
        da.concatenate([da.from_delayed(p, (k, D), float) for p, k in zip(parts, sizes, strict=True)])
    )
    wait(held)
    return held


def timed(X: Any, client: Any = None, killed_after: float | None = None) -> tuple[float, float, VAAKELM]:
    """Seconds of a fit, megabytes sent between processes, and the model."""
    machine = VAAKELM(approximation=Nystrom(M))
    machine.fit(X[: 2 * PARTITION])
    before, start = psutil.net_io_counters(pernic=True)["lo"].bytes_sent, time.perf_counter()
    if killed_after is not None:
        pid = next(iter(client.run(os.getpid).values()))
        Timer(killed_after, os.kill, (pid, signal.SIGKILL)).start()
    machine.fit(X)
    sent = psutil.net_io_counters(pernic=True)["lo"].bytes_sent - before
    return time.perf_counter() - start, sent / 1e6, machine


def scaling(n: int, fresh: Any) -> Iterator[list[str]]:
    """Rows of the table: one process, and clusters of growing size."""
    one = scores = None
    cores = os.cpu_count() or 1
    for count in [2**i for i in range(10) if 2**i <= cores]:
        with workers(count) as client:
            held = partitioned(client, n)
            seconds, sent, model = timed(held)
            one, scores = one or seconds, model.score_samples(fresh) if scores is None else scores
            difference = np.max(np.abs(model.score_samples(fresh) / scores - 1))
            yield [f"{count}", f"{seconds:.1f}", f"{one / seconds:.1f}", f"{sent:,.0f}", f"{difference:.0e}"]
            if 1 < count == cores:
                late, _, model = timed(held, client, killed_after=seconds / 2)
                difference = np.max(np.abs(model.score_samples(fresh) / scores - 1))
                yield [f"{count}, one killed halfway", f"{late:.1f}", f"{one / late:.1f}", "", f"{difference:.0e}"]


def against_threads(n: int) -> list[str]:
    """One process with all cores, and a cluster of as many workers."""
    cores = os.cpu_count() or 1
    with threadpool_limits(cores):
        alone, _, _ = timed(part(0, n))
    with workers(cores) as client:
        together, _, _ = timed(partitioned(client, n))
    return [f"{n:,}", f"{alone:.1f}", f"{together:.1f}"]


def main() -> None:
    allow_compiled(False)
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    n = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000
    fresh = part(1, 1000)
    head = ["workers of one thread", "seconds", "speed-up", "MB sent", "largest relative difference of scores"]
    print(f"{n:,} rows of {D} columns, {M:,} landmarks")
    print(markdown(head, list(scaling(n, fresh))), flush=True)
    head = ["rows", f"one process, {os.cpu_count()} threads, s", f"{os.cpu_count()} workers, s"]
    print(markdown(head, [against_threads(size) for size in (SMALL, n)]))


if __name__ == "__main__":
    main()
