"""A split small enough for loop-by-loop oracles."""

import numpy as np
import pytest

from reproduction.splitting import Fold, Split


@pytest.fixture
def split():
    """Forty targets and their shifted outliers, with two folds."""
    rng = np.random.default_rng(3)
    targets, outliers = rng.normal(size=(60, 3)) * [1, 2, 5], rng.normal(1.5, 2.0, size=(50, 3))
    y = np.repeat([1, -1], 10)
    folds = tuple(
        Fold(
            np.delete(targets[:40], np.s_[a : a + 10], axis=0),
            np.vstack([targets[a : a + 10], outliers[a : a + 10]]),
            y,
        )
        for a in (0, 10)
    )
    return Split(targets[:40], np.vstack([targets[40:], outliers[30:]]), np.repeat([1, -1], 20), folds)
