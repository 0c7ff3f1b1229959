"""Rows in every kind of source, and the results of a fitted machine."""

from __future__ import annotations

import numpy as np
import pytest

from oneclass import AAKELM, OCKELM, VAAKELM, VOCKELM, Fourier, Nystrom

SETTINGS = {"C": 2.0, "sigma": 1.5, "delta": 0.1}
MACHINES = {
    "OCKELM": (OCKELM, {"approximation": Fourier(40)}),
    "VOCKELM": (VOCKELM, {"variance": "class", "threshold": "mean", "approximation": Nystrom(30, "uniform")}),
    "AAKELM": (AAKELM, {"loss": "reconstruction", "threshold": "train", "approximation": Nystrom(30)}),
    "either": (VAAKELM, {"loss": "either", "n_clusters": 3, "approximation": Nystrom(30)}),
    "VAAKELM": (VAAKELM, {"loss": "predictive", "variance": "subclass", "approximation": Nystrom(30)}),
}


@pytest.fixture(scope="session", params=MACHINES)
def machine(request):
    """A function of more parameters that makes an approximated machine."""
    kind, choices = MACHINES[request.param]
    return lambda **params: kind(**SETTINGS | choices | params)


@pytest.fixture(scope="session")
def vaakelm():
    """The same for the machine that needs most: clusters, uncertainty, leave-one-out."""
    kind, choices = MACHINES["VAAKELM"]
    return lambda **params: kind(**SETTINGS | choices | params)


@pytest.fixture(scope="session")
def rows():
    """Rows of three groups in units of their own."""
    rng = np.random.default_rng(0)
    return (rng.normal(size=(1000, 3)) + rng.choice([-4.0, 0.0, 3.0], size=(1000, 1))) * [1, 10, 100] + [0, 5, -300]


@pytest.fixture(scope="session")
def fresh(rows):
    """Rows that no machine was fitted on, some of them far away."""
    rng = np.random.default_rng(1)
    return rows[:30] + rng.normal(size=(30, 3)) * rows.std(axis=0) * np.repeat([0.2, 1.0], 15)[:, None]


@pytest.fixture(scope="session")
def judgement():
    """All results of a machine for new rows, and its threshold."""

    def say(model, fresh):
        if hasattr(model, "feature_names_in_"):
            import pandas as pd

            fresh = pd.DataFrame(fresh, columns=list(model.feature_names_in_))
        p = [] if model.calibration_ is None else [model.p_value(fresh)]
        return np.concatenate([model.score_samples(fresh), *p, [model.offset_]])

    return say
