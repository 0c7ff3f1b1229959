"""Where the shared data lie, and a split small enough for loop-by-loop oracles."""

import os
from pathlib import Path

import numpy as np
import pytest

from oneclass.bench.splitting import Fold, Split

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "raw"


@pytest.fixture
def raw_folder(monkeypatch):
    """Folder of raw files, named in ONECLASS_DATA; skip without it."""
    folder = Path(os.environ.get("ONECLASS_DATA") or SHARED)
    if not folder.is_dir():
        pytest.skip("no shared data: set ONECLASS_DATA to a folder of raw files")
    monkeypatch.setenv("ONECLASS_DATA", str(folder))
    return folder


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
