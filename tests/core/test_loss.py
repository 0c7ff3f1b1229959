import numpy as np
import pytest

from oneclass.core.loss import absolute, contributions, predictive, squared
from oracle.comparison import assert_agree
from oracle.equations import score as by_loops

RESIDUALS = np.random.default_rng(0).normal(size=(6, 3))
VARIANCE = np.linspace(0.1, 2, 6)


@pytest.mark.parametrize(("machine", "loss"), [("OCKELM", absolute), ("VAAKELM", squared)])
def test_loss_is_the_printed_one(xp, machine, loss):
    expected = [by_loops(machine, np.zeros(3), r) for r in RESIDUALS]
    assert_agree(loss(xp.asarray(RESIDUALS)), expected, 1e-14)


def test_predictive_loss_adds_the_variance_of_every_feature(xp):
    expected = [sum(e**2 + 1.5 * v for e in r) for r, v in zip(RESIDUALS, VARIANCE, strict=True)]
    assert_agree(predictive(xp.asarray(RESIDUALS), xp.asarray(VARIANCE), signal=1.5), expected, 1e-14)


@pytest.mark.parametrize("known", [True, False])
def test_contributions_sum_to_the_loss(xp, known):
    residuals, variance = xp.asarray(RESIDUALS), xp.asarray(VARIANCE) if known else None
    loss = predictive(residuals, variance, signal=1.5) if known else squared(residuals)
    assert_agree(xp.sum(contributions(residuals, variance, signal=1.5), axis=1), loss, 1e-14)


def test_uncertainty_falls_to_the_features_by_their_residuals_and_evenly_where_there_are_none(xp):
    residuals, variance = (xp.asarray(np.array(x)) for x in ([[3.0, 4.0], [0.0, 0.0]], [2.0, 5.0]))
    found = contributions(residuals, variance, signal=0.5)
    assert_agree(found, [[9 + 2 * 9 / 25, 16 + 2 * 16 / 25], [2.5, 2.5]], 1e-14)
