"""Parallel processing of blocks of host rows: one block per core, with single-threaded linear algebra.

The threads of a BLAS gain little on blocks that fit in a cache, and nothing in exponentials and sums. The number of
cores is the number of threads that the BLAS may use. It is set by OPENBLAS_NUM_THREADS and similar variables, by
threadpoolctl, or by the worker processes of joblib and Dask.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from itertools import chain, islice
from threading import Lock
from typing import TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from ..core.arrays import Array

__all__ = ["cores", "on_one_thread", "spread"]

#: Upper bound on the rows of matrices that `on_one_thread` treats as small. One core factors a square matrix with so
#: many rows in about a tenth of a second.
_MAX_SMALL_ROWS = 2048

B = TypeVar("B")
S = TypeVar("S")

#: Lock for the thread limit of the BLAS. The limit holds for the whole process, so one caller at a time may set it.
_alone = Lock()


def spread(step: Callable[[B], S], blocks: Iterable[B], like: Array) -> Iterator[S]:
    """Results of `step` for all blocks, in order; on all cores if `like` is a NumPy array.

    At most two blocks more than there are cores are read before the first result is returned. A single block is
    processed in the calling thread, where the BLAS may use all its threads. The calling thread also processes the
    blocks of a nested call or of a second call at the same time, one after the other.
    """
    rest = iter(blocks)
    first = list(islice(rest, 2))
    workers = cores() if len(first) == 2 and isinstance(like, np.ndarray) else 1
    if workers == 1 or not _alone.acquire(blocking=False):
        yield from map(step, chain(first, rest))
        return
    try:
        running: deque[Future[S]] = deque()
        with _blas().limit(limits=1), ThreadPoolExecutor(workers) as pool:
            for block in chain(first, rest):
                running.append(pool.submit(copy_context().run, step, block))
                if len(running) > workers:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
    finally:
        _alone.release()


@contextmanager
def on_one_thread(size: int, like: Array) -> Iterator[None]:
    """Context in which the BLAS uses one thread, if `size` is small and `like` is a NumPy array.

    The threads of a BLAS wait for one another in busy loops. On a small matrix, a second thread gains little. If other
    work occupies its core, the wait takes many times as long as the arithmetic.
    """
    small = size <= _MAX_SMALL_ROWS and isinstance(like, np.ndarray)
    if not small or cores() == 1 or not _alone.acquire(blocking=False):
        yield
        return
    try:
        with _blas().limit(limits=1):
            yield
    finally:
        _alone.release()


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def cores() -> int:
    """The number of threads that the BLAS may use."""
    return max((library.num_threads for library in _blas().lib_controllers), default=1)
