"""A word before a fit that takes long."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from ..base.warnings import SlowFitWarning, warn
from ..core.arrays import Array
from ._base import Baseline, M

__all__ = ["Slow"]

#: Seconds above which a fit warns.
_PATIENCE = 60

#: Fits of all rows and of five times four fifths of them, where time grows with the rows or with their square.
FOLDS, SQUARED_FOLDS = 5.0, 4.2


class Slow(Baseline[M]):
    """A baseline that takes long with many rows, and says so before it starts."""

    #: What to use instead.
    _instead: ClassVar[str]

    @abstractmethod
    def _seconds(self, n: int, d: int) -> float:
        """What a fit of `n` rows of `d` features takes on one core of a few years ago, within a factor of three."""

    def _before(self, X: Array) -> None:
        seconds = self._seconds(*X.shape)
        if seconds > _PATIENCE:
            warn(
                f"{self._name}: fitting {len(X):,} rows takes about {_in_words(seconds)}; use {self._instead}",
                SlowFitWarning,
            )


def _in_words(seconds: float) -> str:
    for unit, name in ((3600, "hours"), (60, "minutes")):
        if seconds >= 1.5 * unit:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds:.0f} seconds"
