"""The engine for rows on a Dask cluster: each pass is one tree reduction, and no rows are sent to the client."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from ..core.arrays import Array
from ..core.block import Block
from ..core.compiled import expecting
from ..core.quantiles import EXACT
from ..core.typing import Rows

__all__ = ["DaskRows", "is_dask", "map_rows", "refuse_dask"]

S = TypeVar("S")

#: Number of partial sums that one task of the tree reduction adds up.
_FAN_IN = 8


def is_dask(X: object) -> bool:
    """Whether `X` is a Dask array or data frame."""
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr")


def refuse_dask(owner: str, *tables: object) -> None:
    """Raise TypeError if one of the tables is a Dask collection."""
    if any(map(is_dask, tables)):
        raise TypeError(f"{owner}: rows must be in memory, got a Dask collection: pass X.compute()")


def _dask() -> ModuleType:
    """Import Dask with its arrays, without its data frames, which may not be installed."""
    import dask
    import dask.array

    return dask


def _parts(X: Any) -> list[object]:
    """One delayed block for each partition, with all columns."""
    if hasattr(X, "to_delayed") and not hasattr(X, "rechunk"):
        return list(X.to_delayed())
    return list(X.rechunk({1: -1}).to_delayed().ravel())


class DaskRows:
    """Engine for a Dask array or data frame; `read` checks a block on its worker and returns it as a `Block`."""

    loss_limit = EXACT

    def __init__(self, X: Any, read: Callable[[Rows], Block]) -> None:
        self._partitions, self._read = _parts(X), read

    def total(self, step: Callable[[Block], S], label: str) -> S:
        """Sum of the results of `step` over all partitions, added up in a tree on the workers."""
        delayed = _dask().delayed
        # One task for the data that all partitions share, so that it is sent to each worker once.
        work = delayed(
            _Step(expecting(0, step), self._read), traverse=False
        )  # a worker lacks the context variables of the client
        parts = [delayed(_apply)(work, part) for part in self._partitions]
        while len(parts) > 1:
            parts = [delayed(_sum)(parts[a : a + _FAN_IN]) for a in range(0, len(parts), _FAN_IN)]
        result: S | None = parts[0].compute()
        if result is None:
            raise ValueError("the Dask collection holds no rows")
        return result


class _Step:
    def __init__(self, step: Callable[[Block], object], read: Callable[[Rows], Block]) -> None:
        self.step, self.read = step, read


def _apply(work: _Step, part: Any) -> object:
    return work.step(work.read(part)) if len(part) else None


def _sum(parts: list[Any]) -> Any:
    """Sum in the order of the partitions, so that the result does not depend on the order of the workers."""
    total = None
    for part in parts:
        total = part if total is None else total if part is None else total + part
    return total


def map_rows(function: Callable[[Rows], Array], X: Any) -> Array:
    """A lazy Dask array of the results of `function` for all blocks of rows."""
    dask = _dask()
    da = dask.array
    # A synthetic row gives the type and shape of the results, and checks the columns, before any block is read.
    nothing = function(_made_up_rows(X))[:0, ...]
    columns = nothing.shape[1:]
    # One task for all blocks: a worker unpickles it once, and caches filled by the first block serve the next ones.
    work = dask.delayed(_Answer(function, nothing), traverse=False)
    if hasattr(X, "to_dask_array"):  # a data frame: its blocks stay tables, so that column names are checked
        shape = (np.nan, *columns)
        return da.concatenate([da.from_delayed(work(part), shape=shape, meta=nothing) for part in X.to_delayed()])
    X = X.rechunk({1: -1})
    if not columns:
        return X.map_blocks(_answered, answer=work, drop_axis=1, meta=nothing)
    return X.map_blocks(_answered, answer=work, chunks=(X.chunks[0], columns), meta=nothing)


def _answered(block: Any, answer: _Answer) -> Array:
    return answer(block)


def _made_up_rows(X: Any) -> Rows:
    if hasattr(X, "to_dask_array"):
        row: Rows = _dask().dataframe.utils.meta_nonempty(X._meta)
        return row
    if X.ndim != 2:  # the reader raises an error that shows this shape
        return np.broadcast_to(0.0, [0 if np.isnan(n) else n for n in X.shape])
    return np.zeros_like(X._meta, shape=(1, X.shape[1]))


class _Answer:
    """Function that applies `function` to a block, and returns `nothing` for a block without rows."""

    def __init__(self, function: Callable[[Rows], Array], nothing: Array) -> None:
        self._function, self._nothing = function, nothing

    def __call__(self, block: Any) -> Array:
        return self._function(block) if len(block) else self._nothing
