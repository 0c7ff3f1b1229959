import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneclass import VOCKELM
from oneclass.core.arrays import to_numpy
from oracle import decisions, machines
from oracle.comparison import assert_agree
from oracle.equations import repeat, spread, variance_matrix
from oracle.problems import EMBEDDINGS, problems

SEVERAL = problems(min_weight=0, min_rows=6)
BUDGETS = st.sampled_from([0.0, 0.25, 0.35])
BANDWIDTHS = st.sampled_from(["mean", "median", "rms", 2.5])


def fitted(xp, variant, problem, **params):
    laplacian = xp.asarray(problem.laplacian)
    return variant(problem, laplacian, **params).fit(xp.asarray(problem.X), sample_weight=xp.asarray(problem.w))


def by_loops(variant, problem, model, **params):
    """The oracle on repeated rows, for the clustering that the machine found."""
    kept = problem.w > 0
    w = problem.w[kept]
    rows = repeat(problem.X[kept], w)
    without = None
    if variant.embedding is None:
        M = np.zeros((len(rows), len(rows)))
    elif variant.embedding == "laplacian":
        M = spread(problem.laplacian[kept][:, kept], w)
    else:
        labels = to_numpy(model.cluster_labels_) if hasattr(model, "cluster_labels_") else np.zeros(len(w))
        options = {"labels": repeat(labels, w), **EMBEDDINGS[variant.embedding]}
        M = variance_matrix(**options)

        def without(i):
            return variance_matrix(**options, without=(i,))

    numbers = {"C": problem.C, "lam": 1.0 if variant.embedding is None else problem.lam, "without": without}
    return machines.fit(variant.machine, rows, problem.fresh, M, **numbers, **params)


@given(problem=SEVERAL, sigma=BANDWIDTHS)
def test_machine_is_its_printed_equations_on_repeated_rows(xp, variant, problem, sigma):
    model = fitted(xp, variant, problem, sigma=sigma, delta=0.0)
    expected = by_loops(variant, problem, model, sigma=sigma)
    fresh = xp.asarray(problem.fresh)
    assert_agree(model.score_samples(fresh), -expected.fresh, 1e-8)
    held_out = np.round(expected.held_out, 10)  # copies of a row tie
    assert_agree(model.p_value(fresh), [decisions.p_value(s, held_out) for s in expected.fresh])
    if hasattr(model, "reconstruct"):
        assert_agree(model.reconstruct(fresh), expected.rebuilt)


@pytest.mark.parametrize("kernel", ["laplacian", "polynomial", "linear"])
@given(problem=SEVERAL)
def test_machine_is_its_printed_equations_under_every_kernel(xp, machine, as_printed, kernel, problem):
    w = xp.asarray(problem.w)
    params = as_printed(machine) | ({"variance": "none"} if "V" in machine.__name__ else {})
    model = machine(C=problem.C, delta=0.0, **params | {"kernel": kernel})
    model.fit(xp.asarray(problem.X), sample_weight=w)
    rows = repeat(problem.X, problem.w)
    nothing = np.zeros((len(rows), len(rows)))
    expected = machines.fit(machine.__name__, rows, problem.fresh, nothing, C=problem.C, lam=1.0, kernel=kernel)
    assert_agree(model.score_samples(xp.asarray(problem.fresh)), -expected.fresh, 1e-8)


@pytest.mark.filterwarnings("ignore::oneclass.FewRowsWarning")
@given(problem=SEVERAL, delta=BUDGETS)
def test_offset_is_the_held_out_loss_of_the_rank_that_counting_gives(variant, problem, delta):
    model = fitted(np, variant, problem, delta=delta)
    expected = by_loops(variant, problem, model)
    value, _ = decisions.RULES["conformal"](np.round(expected.held_out, 10), delta)
    assert -model.offset_ == pytest.approx(value, rel=1e-6, abs=1e-9)


@given(problem=SEVERAL, delta=BUDGETS)
def test_offset_on_training_losses_is_the_loss_that_the_paper_names(variant, problem, delta):
    model = fitted(np, variant, problem, threshold="train", delta=delta)
    expected = by_loops(variant, problem, model)
    value, _ = decisions.RULES["paper"](np.round(expected.training, 10), delta)
    assert -model.offset_ == pytest.approx(value, rel=1e-6, abs=1e-9)


@given(problem=SEVERAL, delta=BUDGETS)
def test_authors_offset_is_the_loss_of_their_rank(variant, problem, delta):
    model = fitted(np, variant, problem, threshold="authors", delta=delta)
    expected = by_loops(variant, problem, model)
    assert -model.offset_ == pytest.approx(decisions.authors(expected.training, delta), rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("variant", [(VOCKELM, e) for e in EMBEDDINGS], indirect=True, ids=list(EMBEDDINGS))
@pytest.mark.parametrize("r", [1.0, -2.0])
@given(problem=SEVERAL, delta=BUDGETS)
def test_mean_offset_is_the_budget_times_the_mean_output(variant, r, problem, delta):
    model = fitted(np, variant, problem, threshold="mean", delta=delta, r=r)
    expected = by_loops(variant, problem, model, r=r)
    assert -model.offset_ == pytest.approx(abs(decisions.mean_output(expected.outputs[:, 0], delta)), rel=1e-8, abs=0)
