from dataclasses import replace

import numpy as np
import pytest

from oneclass import AAKELM, OCKELM, VAAKELM, VOCKELM, Nystrom
from oneclass.core.embedding import Scatter
from oneclass.core.features import NystromMap
from oneclass.core.groups import Groups
from oneclass.core.kernels import RBF, Laplacian
from oneclass.core.machine import fit_moments
from oneclass.core.recipe import Variance
from oracle.comparison import assert_agree

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
OWNER = np.concatenate([np.arange(12), RNG.integers(0, 12, 28)])
W = RNG.integers(1, 4, 40).astype(float)


def planned(kernel, landmarks, scatter, *, whiten):
    """The plan of a machine with these landmarks that embeds a scatter."""
    machine = AAKELM(kernel=kernel, C=8.0 / 1.3, loss="predictive", scale=False, approximation=Nystrom(5))
    plan = machine.fit(X).machine_.plan
    recipe = replace(plan.recipe, variance=None if scatter is None else Variance(scatter))
    return replace(plan, recipe=recipe, map=NystromMap.of(plan.kernel, landmarks, whiten=whiten))


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("kernel", [RBF(1.2), Laplacian(2.0)], ids=lambda kernel: type(kernel).__name__)
@pytest.mark.parametrize("own_mean", [None, True, False])
def test_a_group_held_out_with_its_landmarks_equals_a_fit_without_both(kernel, own_mean, whiten):
    scatter = None if own_mean is None else Scatter(per_row=True, own_mean=own_mean, weight=30.0)
    drawn = np.arange(0, 40, 3)
    plan = planned(kernel, X[drawn], scatter, whiten=whiten)
    rows = plan.training_groups(fit_moments(plan, plan.moments(X, W)).model, X, W, Groups(OWNER))
    for g in range(12):
        gone = np.isin(OWNER, g)
        stay = ~gone
        # The scatter's share is 1 / n of all rows: n is the same when rows have left.
        share = None if scatter is None else replace(scatter, weight=scatter.weight * W[stay].sum() / W.sum())
        twin = planned(kernel, X[drawn[OWNER[drawn] != g]], share, whiten=whiten)
        residuals, variance = fit_moments(twin, twin.moments(X[stay], W[stay])).judge(X[gone])
        assert_agree(rows.held_out_residuals()[gone], residuals, 1e-8)
        assert_agree(rows.held_out_uncertainty()[gone] / plan.C, variance, 1e-8)


def test_equal_landmarks_are_held_out_together():
    """Whitening does not tell them apart, so that their constraints are one but for rounding."""
    rows = X.copy()
    rows[1:4] = rows[0] + 1e-9 * RNG.normal(size=(3, 3))
    groups = Groups(np.where(np.arange(40) < 4, 0, OWNER))
    found = []
    for chosen in ([0, *range(4, 16)], range(16)):
        plan = planned(RBF(1.2), rows[list(chosen)], None, whiten=True)
        machine = fit_moments(plan, plan.moments(rows, None))
        found.append(machine.held_out_losses(plan.training_groups(machine.model, rows, None, groups)))
    assert_agree(found[1], found[0], 1e-5)


@pytest.mark.parametrize("loss", ["reconstruction", "predictive"])
def test_landmarks_spanned_by_others_are_removed_without_remainder(loss):
    """Any few rows span all that a linear kernel can tell: held out are those of the exact fit."""
    machine = AAKELM(kernel="linear", C=1.0, loss=loss, delta=0.1, approximation=None)
    exact = machine.fit(X, groups=OWNER).held_out_scores_
    found = machine.set_params(approximation=Nystrom(20)).fit(X, groups=OWNER).held_out_scores_
    assert_agree(found, exact, 1e-5)


@pytest.mark.parametrize("machine", [OCKELM, VOCKELM, AAKELM, VAAKELM], ids=lambda m: m.__name__)
def test_a_landmark_shared_by_several_groups_stays_if_one_group_is_held_out(machine):
    """Rows of few values, all of them landmarks: held out are those of the exact fit, in any order of the rows."""
    rows, order = RNG.integers(0, 3, size=(90, 3)).astype(float), RNG.permutation(90)
    owner = np.arange(90) % 18
    exact = machine(delta=0.1, approximation=None).fit(rows, groups=owner).held_out_scores_
    model = machine(delta=0.1, approximation=Nystrom(27))
    assert_agree(model.fit(rows, groups=owner).held_out_scores_, exact, 1e-6)
    assert_agree(model.fit(rows[order], groups=owner[order]).held_out_scores_, exact[order], 1e-6)


def test_a_landmark_between_rows_is_held_out_with_the_same_group_in_any_order():
    """A centre of two rows is as near to either."""
    order, model = RNG.permutation(40), AAKELM(delta=0.1, approximation=Nystrom(30, "kmeans"))
    expected = model.fit(X, groups=OWNER).held_out_scores_[order]
    assert_agree(model.fit(X[order], groups=OWNER[order]).held_out_scores_, expected, 1e-6)
