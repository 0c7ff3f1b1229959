"""Baselines that warn before a fit that takes long."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from ..base.warnings import SlowFitWarning, warn
from ..core.arrays import Array
from ._base import Baseline
from ._training import M

__all__ = ["Slow"]

#: Estimated time of a fit, in seconds, above which it warns.
_SECONDS_WITHOUT_WARNING = 60

#: Time of a fit with five folds, relative to one without: if time is linear in the rows, and if it is quadratic.
FOLDS, SQUARED_FOLDS = 5.0, 4.2


class Slow(Baseline[M]):
    """Baseline that warns before a fit that takes long because of many rows."""

    #: Faster alternatives, for the warning.
    _instead: ClassVar[str]

    @abstractmethod
    def _seconds(self, n: int, d: int) -> float:
        """Estimated time of a fit of `n` rows of `d` features on one CPU core, within a factor of three."""

    def _before(self, X: Array) -> None:
        seconds = self._seconds(*X.shape)
        if seconds > _SECONDS_WITHOUT_WARNING:
            warn(
                f"{self._name}: fitting {len(X):,} rows takes about {_in_words(seconds)}; use {self._instead}",
                SlowFitWarning,
            )


def _in_words(seconds: float) -> str:
    for unit, name in ((3600, "hours"), (60, "minutes")):
        if seconds >= 1.5 * unit:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds:.0f} seconds"
