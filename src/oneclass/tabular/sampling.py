"""A random sample of the rows of a source, in memory that does not grow with the number of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..engines.chunks import Source, blocks_of
from .frames import Table, columns_of, joined

__all__ = ["sample_of"]

#: Upper bound on the rows of a sample.
_MAX_SAMPLE_ROWS = 50_000


def sample_of(source: Source, owner: str) -> Table:
    """The columns of at most `_MAX_SAMPLE_ROWS` random rows of a source, in the order of the source."""
    random, keys = np.random.default_rng(0), np.empty(0)
    kept: list[Table] = []
    for i, (block, _) in enumerate(blocks_of(source), 1):
        table = columns_of(block, owner)
        if kept and (some := [name for name in kept[0] | table if (name in kept[0]) != (name in table)]):
            lacks = "lacks" if some[0] in kept[0] else "has, unlike the first,"
            raise ValueError(f"{owner}: all tables must have the same columns, but table {i} {lacks} {some[0]!r}")
        fresh = random.random(max(len(column) for column in table.values()))
        # The sample holds the rows with the smallest random keys. A row above the current limit cannot be among them.
        limit = np.partition(keys, _MAX_SAMPLE_ROWS - 1)[_MAX_SAMPLE_ROWS - 1] if len(keys) >= _MAX_SAMPLE_ROWS else 1.0
        chosen = np.flatnonzero(fresh < limit)
        kept.append({name: column.take(chosen) for name, column in table.items()})
        keys = np.concatenate([keys, fresh[chosen]])
        if len(keys) > 2 * _MAX_SAMPLE_ROWS:
            kept, keys = _thinned(kept, keys)
    if not kept:
        raise ValueError(f"{owner}: the source of chunks holds no rows")
    return _thinned(kept, keys)[0][0]


def _thinned(kept: list[Table], keys: NDArray[np.float64]) -> tuple[list[Table], NDArray[np.float64]]:
    table = {name: joined([part[name] for part in kept]) for name in kept[0]}
    if len(keys) > _MAX_SAMPLE_ROWS:
        chosen = np.sort(np.argpartition(keys, _MAX_SAMPLE_ROWS - 1)[:_MAX_SAMPLE_ROWS])
        table, keys = {name: column.take(chosen) for name, column in table.items()}, keys[chosen]
    return [table], keys
