"""Several blocks of host rows at once: a block to a core, and its linear algebra on that core alone.

The threads of a BLAS gain little on blocks that fit in a cache, and nothing where values are exponentiated or added up.
How many cores to use is what the BLAS has been told, by OPENBLAS_NUM_THREADS and its like, threadpoolctl or joblib.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from ..core.arrays import Array

__all__ = ["spread"]

B = TypeVar("B")
S = TypeVar("S")


def spread(step: Callable[[B], S], blocks: Iterable[B], like: Array) -> Iterator[S]:
    """What `step` makes of every block, in order, on all cores if rows are NumPy arrays as `like` is.

    Takes few more blocks than there are cores before it hands out the first result.
    """
    cores = _cores() if isinstance(like, np.ndarray) else 1
    if cores == 1:
        yield from map(step, blocks)
        return
    running: deque[Future[S]] = deque()
    with _blas().limit(limits=1), ThreadPoolExecutor(cores) as pool:
        for block in blocks:
            running.append(pool.submit(step, block))
            if len(running) > cores:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()


@cache
def _blas() -> Any:
    return ThreadpoolController().select(user_api="blas")


def _cores() -> int:
    """Threads that a call of the BLAS takes: one inside a thread of `spread`, or in a worker of joblib or Dask."""
    return max((library.num_threads for library in _blas().lib_controllers), default=1)
