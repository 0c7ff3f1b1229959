"""Random seeds: without a seed, the library always draws the same numbers."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from ..core.typing import Seed

__all__ = ["random_of", "seeded"]


def seeded(random_state: Seed) -> int | np.random.RandomState:
    """The `random_state` to pass to scikit-learn: 0 if the user gave None."""
    return 0 if random_state is None else random_state


def random_of(random_state: Seed) -> np.random.RandomState:
    """The random generator for the user's `random_state`."""
    found: np.random.RandomState = check_random_state(seeded(random_state))
    return found
