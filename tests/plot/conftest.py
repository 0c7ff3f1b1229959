import numpy as np
import pytest

from oneclass import AAKELM

matplotlib = pytest.importorskip("matplotlib")
pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def no_window():
    matplotlib.use("agg")
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def model():
    return AAKELM(delta=0.1).fit(np.random.default_rng(0).normal(size=(120, 2)))


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    return np.concatenate([rng.normal(size=(80, 2)), rng.normal(size=(30, 2)) * 5]), np.repeat(
        ["normal", "odd"], [80, 30]
    )
