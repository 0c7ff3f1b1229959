import numpy as np
import pytest

from oneclass.core.loss import Measures, absolute, contributions, either, predictive, squared
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
    residuals = xp.asarray(RESIDUALS)
    loss = predictive(residuals, xp.asarray(VARIANCE), signal=1.5) if known else squared(residuals)
    squares = xp.asarray(np.array([0.5, 1.0, 2.0])) if known else None
    assert_agree(xp.sum(contributions(residuals, loss, squares=squares), axis=1), loss, 1e-14)


def test_uncertainty_falls_to_the_features_by_their_residuals_and_evenly_where_there_are_none(xp):
    residuals, variance = (xp.asarray(np.array(x)) for x in ([[3.0, 4.0], [0.0, 0.0]], [2.0, 5.0]))
    found = contributions(residuals, predictive(residuals, variance, signal=0.5))
    assert_agree(found, [[9 + 2 * 9 / 25, 16 + 2 * 16 / 25], [2.5, 2.5]], 1e-14)


def test_either_is_the_larger_ratio_to_the_held_out_medians(xp):
    residuals, variance = np.random.default_rng(1).normal(size=(2, 400, 3)), np.random.default_rng(2).uniform(1, 2, 400)
    held_out, new = residuals * [1.0, 0.1, 10.0]
    measures = Measures.of(xp.asarray(held_out), xp.asarray(variance), xp.asarray(np.ones(400)))
    mean = np.mean(held_out**2, axis=0)
    squares = mean + 0.1 * np.mean(mean)
    error = np.sum(held_out**2 / squares, axis=1)
    middle, high = (np.sort(np.stack([error, variance]), axis=1)[:, k] for k in (199, 359))
    spread = np.log(high / middle)
    expected = [
        max(np.sum(r**2 / squares) / middle[0], (v / middle[1]) ** (spread[0] / spread[1]))
        for r, v in zip(new, variance, strict=True)
    ]
    assert_agree(either(xp.asarray(new), xp.asarray(variance), measures), expected, 1e-12)


def test_either_is_finite_if_all_held_out_rows_are_reconstructed_exactly(xp):
    measures = Measures.of(xp.asarray(np.zeros((5, 2))), xp.asarray(np.ones(5)), xp.asarray(np.ones(5)))
    found = either(xp.asarray(np.zeros((5, 2))), xp.asarray(np.ones(5)), measures)
    assert_agree(found, np.ones(5), 1e-12)
