"""Seeds: no seed given draws the same every time, wherever the library draws."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from ..core.typing import Seed

__all__ = ["random_of", "seeded"]


def seeded(random_state: Seed) -> int | np.random.RandomState:
    """What to hand to scikit-learn for a `random_state` of the user's."""
    return 0 if random_state is None else random_state


def random_of(random_state: Seed) -> np.random.RandomState:
    """The generator of a `random_state` of the user's."""
    found: np.random.RandomState = check_random_state(seeded(random_state))
    return found
