import numpy as np
import pytest

from oneclass.core.groups import Groups
from oneclass.core.kernels import Laplacian
from oneclass.core.known import Standard, solve_codes
from oracle.comparison import assert_agree

N, K, COST = 18, 4, 3.0
RNG = np.random.default_rng(0)
Z = RNG.normal(size=(N + K, 3)) + 2 * (np.arange(N + K) >= N)[:, None]
CODES = (np.arange(N + K) >= N).astype(float)
COPIES = np.r_[RNG.integers(1, 4, N), np.full(K, N / K)].astype(float)
GROUPS = np.r_[np.arange(N) // 3, [0, 1, 7, 8]]


def score_without(removed, w):
    """Known scores of all rows by a ridge fitted without the weights `removed`, from its weighted normal equations."""
    kernel, w = Laplacian(1.7)(Z, Z), w - removed
    kept = w > 0
    inside = np.linalg.inv(kernel[np.ix_(kept, kept)] + np.diag(1 / (COST * w[kept])))
    return kernel[:, kept] @ inside @ CODES[kept]


@pytest.mark.parametrize("w", [np.r_[np.ones(N), np.full(K, N / K)], COPIES], ids=["plain", "copies"])
def test_held_out_codes_are_those_of_refits_without_one_copy_of_the_row(xp, w):
    found = solve_codes(Laplacian(1.7), xp.asarray(Z), xp.asarray(w), xp.asarray(CODES), C=COST)
    refits = [score_without(np.minimum(w, 1) * (np.arange(N + K) == i), w)[i] for i in range(N)]
    assert_agree(found.held_out[:N], np.array(refits))


def test_held_out_codes_are_those_of_refits_without_the_group(xp):
    groups = Groups(np.unique(GROUPS, return_inverse=True)[1])
    given = xp.asarray(Z), xp.asarray(COPIES), xp.asarray(CODES)
    found = solve_codes(Laplacian(1.7), *given, C=COST, groups=groups)
    kernel = Laplacian(1.7)(Z, Z)
    for g in range(groups.count):
        without = score_without(COPIES * (groups.of_rows == g), COPIES)
        inside = groups.of_rows == g
        assert_agree(found.held_out[xp.asarray(np.flatnonzero(inside))], without[inside])
        # The change of alpha gives the score of any other row without the group.
        alpha = np.asarray(found.alpha) - np.asarray(found.changes)[:, g]
        assert_agree(kernel @ alpha, without)


def test_losses_that_may_be_negative_are_taken_as_they_are():
    losses, w = RNG.normal(size=50), RNG.integers(1, 4, 50).astype(float)
    copies = np.repeat(losses, w.astype(int))
    assert_agree(Standard.of_losses(losses, w)(losses), (losses - copies.mean()) / copies.std())
    positive = np.exp(losses)
    logs = np.log(positive + Standard.of_losses(positive, w).floor)
    copies = np.repeat(logs, w.astype(int))
    assert_agree(Standard.of_losses(positive, w)(positive), (logs - copies.mean()) / copies.std())
    assert np.isfinite(Standard.of_losses(np.zeros(5), np.ones(5))(np.zeros(5))).all()
