"""Losses that one decomposition gives at every C, and how far off rounding may leave decisions on them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.threshold import Ranks

__all__ = ["Judged"]

Float = NDArray[np.float64]

#: Share of a loss below which thresholds take another one for its copy.
_ALIKE = math.sqrt(float(np.finfo(np.float64).eps))


@dataclass(frozen=True)
class Judged:
    """Losses at every C, of the training rows (ranked) and of the rows to judge, and how far off rounding may be."""

    known: list[Ranks]
    known_slack: Float  # C, rank
    rows: Float  # row, C
    row_slack: Float

    def threshold_slack(self, c: int, threshold: float) -> float:
        """How far off rounding may leave a threshold; infinite where it tells copies of a row from others."""
        losses, slack = self.known[c].losses, self.known_slack[c]
        k, n = int(np.searchsorted(losses, threshold)), len(losses)
        margin, off = _ALIKE * abs(threshold), float(slack[min(k, n - 1)])
        above = losses[k] - losses[k - 1] if 0 < k < n else math.inf
        below = losses[k - 1] - losses[k - 2] if k > 1 else math.inf
        return math.inf if above < margin + 2 * off or abs(below - margin) < 2 * off else off
