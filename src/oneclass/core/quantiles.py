"""The distribution of the losses over all rows: exact while they fit, a mergeable sketch beyond."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import Array, device, namespace, ones, to_numpy

__all__ = ["LossSummary"]

#: Losses that a summary keeps one by one, unless told otherwise; beyond this many it is a sketch.
EXACT = 1_000_000


@dataclass(frozen=True)
class LossSummary:
    """Losses of weighted rows; two of them add."""

    losses: Array
    w: Array
    limit: float = EXACT  # losses kept one by one
    sketch: bytes | None = None  # a quantile sketch of further rows, all of weight one; bytes travel

    @classmethod
    def of(cls, losses: Array, w: Array | None, *, limit: float = EXACT) -> LossSummary:
        """The losses of one chunk; a summary of more than `limit` becomes a sketch."""
        return cls(losses, ones(losses) if w is None else w, limit)

    def __add__(self, other: LossSummary) -> LossSummary:
        xp = namespace(self.losses)
        sketches = [sketch for sketch in (self.sketch, other.sketch) if sketch is not None]
        merged = LossSummary(
            xp.concat([self.losses, other.losses]),
            xp.concat([self.w, other.w]),
            self.limit,
            _merged(sketches).serialize() if len(sketches) == 2 else next(iter(sketches), None),
        )
        return merged if merged.losses.shape[0] <= self.limit else merged._sketched()

    def weighted(self) -> tuple[Array, Array]:
        """Losses and their weights: those of the rows, or quantiles of the sketch that stand for as many rows each."""
        if self.sketch is None:
            return self.losses, self.w
        sketch = _merged([self._sketched().sketch])
        # Ranks over the whole range, finer towards the strange end, where thresholds lie.
        tail = np.geomspace(1 / sketch.n, 1, 4096)
        ranks = np.unique(np.concatenate([np.linspace(0, 1, 1025)[1:], 1 - tail[:-1]]))
        values = np.asarray(sketch.get_quantiles(ranks.tolist()))
        weights = np.diff(ranks, prepend=0.0) * sketch.n
        like = {"dtype": self.losses.dtype, "device": device(self.losses)}
        xp = namespace(self.losses)
        return xp.asarray(values, **like), xp.asarray(weights, **like)

    def _sketched(self) -> LossSummary:
        if bool(namespace(self.w).any(self.w != 1)):
            raise ValueError(
                f"weighted rows beyond {self.limit:,} are not supported here: repeat them or leave out weights"
            )
        sketch = _merged([self.sketch] if self.sketch is not None else [])
        sketch.update(to_numpy(self.losses).astype(np.float32))
        return LossSummary(self.losses[:0], self.w[:0], self.limit, sketch.serialize())


def _merged(sketches: Sequence[bytes | None]) -> Any:
    """One sketch of all the rows behind the given ones."""
    try:
        from datasketches import req_floats_sketch
    except ImportError as error:
        raise ImportError(
            f"thresholds over more than {EXACT:,} rows need the package datasketches: pip install 'oneclass[chunks]'"
        ) from error
    # Relative error at the high end: the 99.99 % quantile is as good as the median.
    merged = req_floats_sketch(64, True)
    for sketch in sketches:
        merged.merge(req_floats_sketch.deserialize(sketch))
    return merged
