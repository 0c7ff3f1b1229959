"""Targets and outliers."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture(scope="session")
def data():
    """Rows and labels: 60 targets in two clusters, 25 outliers anywhere."""
    rng = np.random.default_rng(0)
    targets = rng.normal(size=(60, 3)) * [1, 2, 0.5] + np.repeat([[0, 0, 0], [4, 0, 2]], 30, axis=0)
    order = rng.permutation(85)
    X = np.concatenate([targets, rng.uniform(-6, 8, size=(25, 3))])[order]
    return X, np.repeat([1, -1], [60, 25])[order]
