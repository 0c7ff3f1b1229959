"""The machines, each with every variance that it can embed."""

from __future__ import annotations

import numpy as np
import pytest

from oneclass import AAKELM, OCKELM, VAAKELM, VOCKELM
from oracle.problems import EMBEDDINGS

MACHINES = (OCKELM, VOCKELM, AAKELM, VAAKELM)
VARIANTS = [(OCKELM, None), (AAKELM, None), *((m, e) for m in (VOCKELM, VAAKELM) for e in EMBEDDINGS)]


def printed(machine):
    """Parameters that make a machine the paper's where its defaults are others."""
    rebuilding = {"loss": "reconstruction"} if machine in (AAKELM, VAAKELM) else {}
    return {"kernel": "rbf", "sigma": "mean", "scale": "zscore", **rebuilding}


@pytest.fixture(scope="session")
def as_printed():
    """The function of a machine's class that gives the parameters of the paper's machine."""
    return printed


@pytest.fixture(scope="session", params=MACHINES, ids=lambda m: m.__name__)
def machine(request):
    """A machine's class."""
    return request.param


@pytest.fixture(scope="session", params=[OCKELM, AAKELM], ids=lambda m: m.__name__)
def plain_machine(request):
    """The class of a machine without variance."""
    return request.param


@pytest.fixture(scope="session", params=VARIANTS, ids=lambda v: f"{v[0].__name__}-{v[1]}")
def variant(request):
    """A function of a problem and more parameters that makes an unfitted machine with one of its variances."""
    machine, name = request.param

    def make(problem, laplacian=None, **params):
        if name is not None:
            params |= EMBEDDINGS[name] | {"lam": problem.lam, "n_clusters": problem.k}
        if name == "laplacian":
            params["variance"] = problem.laplacian if laplacian is None else laplacian
        return machine(C=problem.C, **printed(machine) | params)

    make.machine, make.embedding = machine.__name__, name
    return make


@pytest.fixture(scope="session")
def rows():
    """Sixty correlated rows of four features in units of their own."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(60, 4)) @ rng.normal(size=(4, 4)) * [1, 10, 100, 0.01] + [0, 5, -300, 1]


@pytest.fixture(scope="session")
def fresh(rows):
    """Rows that no machine was fitted on, some of them far away."""
    rng = np.random.default_rng(1)
    return rows[:20] + rng.normal(size=(20, 4)) * rows.std(axis=0) * np.repeat([0.2, 3.0], 10)[:, None]
