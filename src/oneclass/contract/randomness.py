"""Seeds: no seed given draws the same every time, in every classifier."""

from __future__ import annotations

import numpy as np

from ..core.given import Seed

__all__ = ["seeded"]


def seeded(random_state: Seed) -> int | np.random.RandomState:
    """What to hand to scikit-learn for a `random_state` of the user's."""
    return 0 if random_state is None else random_state
