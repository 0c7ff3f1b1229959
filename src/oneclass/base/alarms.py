"""A warning if more rows of a batch are outliers than chance explains; it names the columns that changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
from scipy.stats import betabinom

from ..core.batch_verdict import ColumnChange
from ..core.calibration import Calibration, benjamini_hochberg
from ..core.threshold import ranks_within
from .warnings import ShiftedBatchWarning, warn

__all__ = ["columns_of_batch", "is_no_chance", "warn_of_alarms", "warned_once"]

#: Fewest rows of a batch for a warning, and the share of outliers up to which there is none, since a batch may hold
#: outliers.
_FEWEST_ROWS, _MAJORITY = 10, 0.5
#: Probability of a false warning for a batch of normal rows.
_LEVEL = 1e-6
#: False-discovery rate of the columns that are named, and most names.
_FALSE_DISCOVERIES, _NAMED = 0.05, 3

#: What computes the changes of the columns of a batch, if the rows are encoded columns of a table.
_CHANGES: ContextVar[Callable[[], Iterable[ColumnChange]] | None] = ContextVar("changes", default=None)
#: A list with one item after the first warning, in a context with at most one warning.
_WARNED: ContextVar[list[bool] | None] = ContextVar("warned", default=None)


@contextmanager
def warned_once() -> Iterator[None]:
    """Warn of the first such batch only: the chunks of a table are one batch."""
    token = _WARNED.set([])
    try:
        yield
    finally:
        _WARNED.reset(token)


@contextmanager
def columns_of_batch(changes: Callable[[], Iterable[ColumnChange]]) -> Iterator[None]:
    """Name these columns in warnings of this context, instead of those that the classifier sees."""
    token = _CHANGES.set(changes)
    try:
        yield
    finally:
        _CHANGES.reset(token)


def is_no_chance(calibrations: Iterable[Calibration], rate: Callable[[float], float], flagged: int, rows: int) -> bool:
    """Whether most rows are outliers, and normal rows have so many with a probability of at most `_LEVEL`.

    The number of outliers among normal rows has a Beta-binomial distribution, that of the calibration with the fewest
    rows. `rate` is the rate requested from a calibration of some weight.
    """
    if rows < _FEWEST_ROWS or flagged <= _MAJORITY * rows:
        return False
    total = min(calibration.total for calibration in calibrations)
    k = max(1, ranks_within(total, rate(total)))
    return bool(betabinom(rows, k, total + 1 - k).sf(flagged - 1) <= _LEVEL)


def warn_of_alarms(name: str, flagged: int, rows: int, changes: Callable[[], Iterable[ColumnChange]]) -> None:
    """Warn of a batch with so many outliers; `changes` are those of its columns, unless a table computes them."""
    if (warned := _WARNED.get()) is not None:
        if warned:
            return
        warned.append(True)
    found = sorted((_CHANGES.get() or changes)(), key=lambda change: change.p_value)
    limit = benjamini_hochberg(np.array([change.p_value for change in found]), q=_FALSE_DISCOVERIES) if found else 0.0
    moved = [str(change.column) for change in found if change.p_value <= limit]
    named = ", ".join(moved[:_NAMED]) + (f" and {len(moved) - _NAMED} more" if len(moved) > _NAMED else "")
    where = f"; columns that moved most: {named}" if moved else ""
    warn(
        f"{name}: {flagged} of {rows} rows are outliers, more than chance explains: as a whole, the rows differ from "
        f"the training rows{where} (see compare_batch)",
        ShiftedBatchWarning,
    )
