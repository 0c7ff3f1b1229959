import numpy as np
import pytest

from oneclass.core import score
from oracle.comparison import assert_agree
from oracle.equations import score as by_loops

RESIDUALS = np.random.default_rng(0).normal(size=(6, 3))
VARIANCE = np.linspace(0.1, 2, 6)


@pytest.mark.parametrize(("machine", "loss"), [("OCKELM", score.absolute), ("VAAKELM", score.squared)])
def test_loss_is_the_printed_one(xp, machine, loss):
    expected = [by_loops(machine, np.zeros(3), r) for r in RESIDUALS]
    assert_agree(loss(xp.asarray(RESIDUALS)), expected, 1e-14)


def test_predictive_loss_adds_the_variance_of_every_feature(xp):
    expected = [sum(e**2 + 1.5 * v for e in r) for r, v in zip(RESIDUALS, VARIANCE, strict=True)]
    assert_agree(score.predictive(xp.asarray(RESIDUALS), xp.asarray(VARIANCE), signal=1.5), expected, 1e-14)


@pytest.mark.parametrize("known", [True, False])
def test_contributions_sum_to_the_loss(xp, known):
    residuals, variance = xp.asarray(RESIDUALS), xp.asarray(VARIANCE) if known else None
    loss = score.predictive(residuals, variance, signal=1.5) if known else score.squared(residuals)
    assert_agree(xp.sum(score.contributions(residuals, variance, signal=1.5), axis=1), loss, 1e-14)
