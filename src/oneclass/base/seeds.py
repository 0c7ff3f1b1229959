"""Random seeds: without a seed, the library always draws the same numbers."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from ..core.typing import Seed

__all__ = ["check_seed", "random_of", "seeded"]


def seeded(random_state: Seed) -> int | np.random.RandomState:
    """The `random_state` to pass to scikit-learn: 0 if the user gave None."""
    return 0 if random_state is None else random_state


def random_of(random_state: Seed) -> np.random.RandomState:
    """The random generator for the user's `random_state`."""
    found: np.random.RandomState = check_random_state(seeded(random_state))
    return found


def check_seed(estimator: object) -> None:
    """Raise ValueError if the parameter `random_state` is no seed, also if the fit draws no numbers."""
    given = getattr(estimator, "random_state", None)
    if given is None:  # a generator need not be made, which takes as long as many steps of a small fit
        return
    try:
        check_random_state(given)
    except ValueError:
        raise ValueError(
            f"{type(estimator).__name__}: random_state must be None, a whole number of at least 0 or a RandomState, "
            f"got {given!r}"
        ) from None
