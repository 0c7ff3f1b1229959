import numpy as np
import pytest

from oneclass import baselines
from oneclass.baselines._base import Explained

#: Small settings where the defaults take long; whatever is random is seeded.
QUICK = {
    "OCRF": {"n_estimators": 20, "random_state": 0},
    "AutoencoderDetector": {"max_iter": 2000, "random_state": 0},
    "KMeansDetector": {"random_state": 0},
    "KCentersDetector": {"n_init": 5, "random_state": 0},
}


@pytest.fixture(params=sorted(baselines.__all__))
def baseline(request):
    """A function that makes one of them, with other parameters if asked."""
    return lambda **parameters: getattr(baselines, request.param)(**QUICK.get(request.param, {}), **parameters)


@pytest.fixture(params=sorted(n for n in baselines.__all__ if issubclass(getattr(baselines, n), Explained)))
def explained(request):
    return lambda **parameters: getattr(baselines, request.param)(**QUICK.get(request.param, {}), **parameters)


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
