from functools import partial

import numpy as np
import pytest

from classifiers import BASELINES, quick
from oneclass import baselines
from oneclass.baselines._base import Explained


def converged(name, **parameters):
    """The classifier of that name, with as many iterations as a network needs."""
    return quick(name, **{"max_iter": 2000} | parameters if name == "AutoencoderDetector" else parameters)


@pytest.fixture(params=BASELINES)
def baseline(request):
    """A function that makes one of them, with other parameters if asked."""
    return partial(converged, request.param)


@pytest.fixture(params=[n for n in BASELINES if issubclass(getattr(baselines, n), Explained)])
def explained(request):
    return partial(converged, request.param)


@pytest.fixture(scope="session")
def rows():
    """Correlated rows of different scales."""
    random = np.random.default_rng(0)
    return random.normal(size=(60, 3)) @ random.normal(size=(3, 3)) * [1.0, 10.0, 0.1] + [5.0, -3.0, 0.0]


@pytest.fixture(scope="session")
def fresh(rows):
    """Rows from the same place and rows from elsewhere."""
    random = np.random.default_rng(1)
    return np.concatenate([rows[:10] + 0.1 * rows.std(0) * random.normal(size=(10, 3)), rows[10:20] + 5 * rows.std(0)])
