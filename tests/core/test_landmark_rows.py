from dataclasses import replace

import numpy as np
import pytest

from oneclass import AAKELM, VAAKELM, VOCKELM, Nystrom
from oneclass.core.features import NystromMap
from oneclass.core.machine import fit_moments

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(60, 3)) + RNG.choice([-2.0, 2.0], size=(60, 1))
MACHINES = {
    "AAKELM": AAKELM(approximation=Nystrom(20)),
    "rbf": AAKELM(kernel="rbf", scale="zscore", sigma=1.0, approximation=Nystrom(20)),
    "reconstruction": AAKELM(loss="reconstruction", approximation=Nystrom(20, "uniform")),
}


@pytest.mark.parametrize("name", MACHINES)
def test_a_landmark_is_held_out_as_if_it_were_neither_row_nor_landmark(name):
    model = MACHINES[name].fit(ROWS)
    plan, own, expected = model.machine_.plan, model.machine_.plan.nearest(ROWS), []
    for place, i in enumerate(own):
        fewer = NystromMap.of(plan.kernel, np.delete(plan.map.landmarks, place, axis=0), whiten=True)
        twin = replace(plan, map=fewer)
        machine = fit_moments(twin, twin.moments(np.delete(ROWS, i, axis=0), None))
        expected.append(replace(machine, signal=model.machine_.signal).losses(plan.scaler(ROWS[i : i + 1]))[0])
    np.testing.assert_allclose(-model.held_out_scores_[own], expected, rtol=1e-7)


@pytest.mark.parametrize("machine", [VAAKELM(approximation=Nystrom(20)), VOCKELM(approximation=Nystrom(20))], ids=str)
def test_rows_are_groups_of_their_own_whether_chunked_or_not(machine):
    alone = machine.fit(ROWS, groups=np.arange(60)).held_out_scores_
    np.testing.assert_allclose(machine.fit(ROWS).held_out_scores_, alone, rtol=1e-8)
    chunked = machine.fit_chunks(np.array_split(ROWS, 4)).calibration_.losses
    np.testing.assert_allclose(chunked, np.sort(-alone), rtol=1e-8)


@pytest.mark.filterwarnings("ignore::oneclass.DependentRowsWarning")  # copies are what this is about
def test_a_landmark_whose_copy_stays_stays_too():
    copied = np.vstack([ROWS, ROWS[:30]])
    model = AAKELM(approximation=Nystrom(20)).fit(copied)
    np.testing.assert_allclose(model.held_out_scores_[:30], model.held_out_scores_[60:], rtol=1e-10)
    weighted = AAKELM(approximation=Nystrom(20)).fit(ROWS, sample_weight=np.repeat([2.0, 1.0], 30))
    np.testing.assert_allclose(weighted.held_out_scores_, model.held_out_scores_[:60], rtol=1e-8)


def test_many_landmarks_keep_the_rate_asked_for():
    """With half of the rows as landmarks, twice the rate came when these were held out as rows alone."""
    rates = []
    for seed in range(4):
        X = np.random.default_rng(seed).normal(size=(2400, 10))
        rates.append(np.mean(VAAKELM(approximation=Nystrom(200), delta=0.1).fit(X[:400]).predict(X[400:]) == -1))
    assert np.mean(rates) == pytest.approx(0.1, abs=0.03)


def test_a_landmark_that_others_span_leaves_no_variance():
    """Thirty rows span three directions as well as twenty-nine do, so that the machine is the exact one."""
    params = {"kernel": "linear", "variance": "none", "C": 1.0, "scale": "zscore"}
    exact = VAAKELM(**params, approximation=None).fit(ROWS).held_out_scores_
    np.testing.assert_allclose(
        VAAKELM(**params, approximation=Nystrom(30)).fit(ROWS).held_out_scores_, exact, rtol=1e-6
    )
