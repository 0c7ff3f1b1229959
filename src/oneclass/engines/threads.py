"""Several blocks of host rows at once: a block to a core, and its linear algebra on that core alone.

The threads of a BLAS gain little on blocks that fit in a cache, and nothing where values are exponentiated or added up.
How many cores to use is what the BLAS has been told, by OPENBLAS_NUM_THREADS and its like, by threadpoolctl, or by the
processes of joblib and Dask.
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

#: Rows of a square matrix that one core factors in about a tenth of a second.
_SMALL = 2048

B = TypeVar("B")
S = TypeVar("S")

#: The BLAS is told to use one thread for the whole process: only one caller at a time may say so, and take it back.
_alone = Lock()


def spread(step: Callable[[B], S], blocks: Iterable[B], like: Array) -> Iterator[S]:
    """What `step` makes of every block, in order, on all cores if rows are NumPy arrays as `like` is.

    Takes two blocks more than there are cores before it hands out the first result. A single block is left to the
    threads of the BLAS; so are blocks inside a block, and those of a second caller at the same time, to one thread.
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
    """Linear algebra of host matrices of this size on one thread, if they are small.

    Threads of a BLAS wait for one another by spinning. What a second core gains on a small matrix is little, and where
    other work has that core the wait takes many times the arithmetic.
    """
    small = size <= _SMALL and isinstance(like, np.ndarray)
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
    """Threads that a call of the BLAS may take."""
    return max((library.num_threads for library in _blas().lib_controllers), default=1)
