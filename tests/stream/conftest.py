"""Rows that drift, machines for them, and refits to compare with."""

from __future__ import annotations

import numpy as np
import pytest

from oneclass import AAKELM, OCKELM, VAAKELM, VOCKELM, Fourier, Nystrom

SETTINGS = {"C": 2.0, "sigma": 2.0}
MACHINES = {
    "OCKELM": OCKELM(approximation=Fourier(20), **SETTINGS),
    "VOCKELM": VOCKELM(variance="class", approximation=Nystrom(20, "uniform"), **SETTINGS),
    "AAKELM": AAKELM(approximation=Nystrom(25), kernel="rbf", scale="zscore", **SETTINGS),
    "VAAKELM": VAAKELM(variance="subclass", n_clusters=3, approximation=Nystrom(20), **SETTINGS),
}


@pytest.fixture(params=MACHINES)
def machine(request):
    """A machine of each kind."""
    return MACHINES[request.param]


@pytest.fixture(scope="session")
def aakelm():
    """A small machine for tests that need one only."""
    return AAKELM(C=1.0, approximation=Nystrom(40, "uniform"))


@pytest.fixture(scope="session")
def rows():
    """Rows of two groups in units of their own that move slowly."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3)) + rng.choice([-2.0, 2.0], size=(600, 1))
    return (X + np.linspace(0, 1, 600)[:, None]) * [1, 10, 100] + [0, 5, -300]


@pytest.fixture(scope="session")
def fresh(rows):
    """Rows that no stream has seen, some of them far away."""
    rng = np.random.default_rng(1)
    return rows[-40:] + rng.normal(size=(40, 3)) * rows.std(axis=0) * np.repeat([0.2, 2.0], 20)[:, None]
