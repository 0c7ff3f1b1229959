import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel

from awkward import DATASETS
from oneclass import AAKELM, OCKELM, RBF, VAAKELM, VOCKELM
from oracle.comparison import assert_agree
from oracle.equations import repeat, spread
from oracle.problems import problems

NO_VARIANCE = [{"variance": "none"}, {"n_clusters": 60}, {"variance": np.zeros((60, 60))}]
LOSSES = ["reconstruction", "uncertainty", "predictive", "either"]


def judgement(model, fresh):
    """All results of a machine for new rows, and its threshold."""
    p = [] if model.calibration_ is None else [model.p_value(fresh)]
    return np.concatenate([model.score_samples(fresh), *p, [model.offset_]])


@pytest.mark.parametrize("without", NO_VARIANCE, ids=["none", "singletons", "zeros"])
@pytest.mark.parametrize("threshold", ["held_out", "train"])
def test_no_variance_makes_vaakelm_aakelm(rows, fresh, without, threshold):
    expected = judgement(AAKELM(C=3.0, threshold=threshold).fit(rows), fresh)
    assert_agree(judgement(VAAKELM(C=3.0, threshold=threshold, **without).fit(rows), fresh), expected)


@pytest.mark.parametrize("without", NO_VARIANCE, ids=["none", "singletons", "zeros"])
def test_no_variance_makes_vockelm_ockelm_squared(rows, fresh, without):
    plain, variance = OCKELM(C=3.0, r=2.0).fit(rows), VOCKELM(C=3.0, r=2.0, **without).fit(rows)
    assert_agree(variance.score_samples(fresh), -(plain.score_samples(fresh) ** 2))
    assert_agree(variance.p_value(fresh), plain.p_value(fresh))
    np.testing.assert_array_equal(variance.predict(fresh), plain.predict(fresh))


@pytest.mark.parametrize("variance", ["class", "subclass"])
@pytest.mark.parametrize("machine", [VOCKELM, VAAKELM], ids=["VOCKELM", "VAAKELM"])
def test_a_variance_changes_the_scores(machine, rows, fresh, variance):
    with_it = machine(variance=variance, C=0.1, lam=0.1).fit(rows).score_samples(fresh)
    without = machine(variance="none", C=0.1, lam=0.1).fit(rows).score_samples(fresh)
    assert np.max(np.abs(with_it - without)) > 1e-3 * np.max(np.abs(without))


@pytest.mark.parametrize("C", [0.1, 1.0, 32.0])
def test_aakelm_is_kernel_ridge_of_the_rows_on_themselves(rows, fresh, C):
    ridge = KernelRidge(alpha=1 / C, kernel="rbf", gamma=0.5 / 80**2).fit(rows, rows)
    model = AAKELM(C=C, kernel="rbf", sigma=80.0, scale=False, loss="reconstruction").fit(rows)
    assert_agree(model.reconstruct(fresh), ridge.predict(fresh))
    assert_agree(model.score_samples(fresh), -((fresh - ridge.predict(fresh)) ** 2).sum(axis=1))


@pytest.mark.parametrize("params", [{}, {"variance": "class"}], ids=str)
def test_precomputed_kernel_is_the_kernel_for_machines_of_a_constant(rows, fresh, params):
    machine = VOCKELM if params else OCKELM
    K, k = rbf_kernel(rows, gamma=0.02), rbf_kernel(fresh, rows, gamma=0.02)
    expected = judgement(machine(kernel="rbf", sigma=5.0, scale=False, **params).fit(rows), fresh)
    assert_agree(judgement(machine(kernel="precomputed", **params).fit(K), k), expected)


@pytest.mark.parametrize("machine", [AAKELM, VAAKELM], ids=["AAKELM", "VAAKELM"])
def test_precomputed_kernel_is_rebuilt_as_kernel_ridge_rebuilds_it(machine, as_printed, rows, fresh):
    K, k = rbf_kernel(rows, gamma=0.02), rbf_kernel(fresh, rows, gamma=0.02)
    ridge = KernelRidge(alpha=0.5, kernel="precomputed").fit(K, K)
    params = as_printed(machine) | ({"variance": "none"} if machine is VAAKELM else {})
    model = machine(C=2.0, **params | {"kernel": "precomputed"}).fit(K)
    assert_agree(model.reconstruct(k), ridge.predict(k))


def test_precomputed_kernel_with_weights_of_zero_forgets_those_rows(machine, as_printed, rows, fresh):
    K, k = rbf_kernel(rows, gamma=0.02), rbf_kernel(fresh, rows, gamma=0.02)
    w = np.repeat([1.0, 0.0, 2.0], 20)
    kept = w > 0
    params = as_printed(machine) | {"kernel": "precomputed"}
    model = machine(**params).fit(K, sample_weight=w)
    smaller = machine(**params).fit(K[kept][:, kept], sample_weight=w[kept])
    assert_agree(judgement(model, k), judgement(smaller, k[:, kept]))


@pytest.mark.parametrize("kernel", [RBF(sigma=2.0), lambda X, Y: rbf_kernel(X, Y, gamma=0.125)], ids=["object", "call"])
def test_kernel_object_and_callable_are_the_named_kernel(machine, rows, fresh, kernel):
    expected = judgement(machine(kernel="rbf", sigma=2.0).fit(rows), fresh)
    assert_agree(judgement(machine(kernel=kernel).fit(rows), fresh), expected)


@pytest.mark.parametrize("threshold", ["held_out", "train"])
def test_the_order_of_rows_and_features_changes_nothing(machine, rows, fresh, threshold):
    rng = np.random.default_rng(0)
    order, features = rng.permutation(60), rng.permutation(4)
    model = machine(threshold=threshold)
    expected = judgement(model.fit(rows), fresh)
    assert_agree(judgement(model.fit(rows[order][:, features]), fresh[:, features]), expected, 1e-9)


@pytest.mark.filterwarnings("ignore::oneclass.DependentRowsWarning")  # sorted rows too
@pytest.mark.parametrize("name", ["9 x 9 grid", "corners of a cube", "axes of a cross", "mirrored", "small integers"])
@pytest.mark.parametrize("machine", [VOCKELM, VAAKELM], ids=["VOCKELM", "VAAKELM"])
def test_the_order_of_symmetric_rows_changes_nothing(machine, name):
    X, _ = DATASETS[name](np.random.default_rng(0))
    expected = machine().fit(X).score_samples(X)
    for order in (np.lexsort(X.T), np.random.default_rng(1).permutation(len(X))):
        assert_agree(machine().fit(X[order]).score_samples(X), expected, 1e-9)


def test_units_of_the_features_change_nothing(machine, rows, fresh):
    unit, origin = np.array([3.0, 1e-4, 2e5, 1.0]), np.array([0.0, 7.0, -1e3, 50.0])
    expected = judgement(machine().fit(rows), fresh)
    assert_agree(judgement(machine().fit(rows * unit + origin), fresh * unit + origin), expected, 1e-8)


@pytest.mark.parametrize("threshold", ["held_out", "train", "authors"])
@given(problem=problems(min_weight=0, min_rows=6), sigma=st.sampled_from(["mean", "median", "rms"]))
def test_sample_weights_are_repeated_rows(variant, threshold, problem, sigma):
    kept = problem.w > 0
    w = problem.w[kept]
    laplacian = problem.laplacian[kept][:, kept]
    params = {"threshold": threshold, "sigma": sigma, "delta": 0.25}
    weighted = variant(problem, **params).fit(problem.X, sample_weight=problem.w)
    repeated = variant(problem, spread(laplacian, w), **params).fit(repeat(problem.X[kept], w))
    assert_agree(judgement(weighted, problem.fresh), judgement(repeated, problem.fresh), 1e-7)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("threshold", ["held_out", "train"])
@given(problem=problems(min_rows=6))
def test_sample_weights_are_repeated_rows_for_every_loss(loss, threshold, problem):
    model = VAAKELM(C=problem.C, lam=problem.lam, loss=loss, threshold=threshold, delta=0.25, variance="class")
    expected = judgement(model.fit(repeat(problem.X, problem.w)), problem.fresh)
    actual = judgement(model.fit(problem.X, sample_weight=problem.w), problem.fresh)
    assert_agree(actual, expected, 1e-7)


@pytest.mark.filterwarnings("ignore::oneclass.DependentRowsWarning")  # copies are what this is about
@pytest.mark.parametrize("n", [300, 700])
@pytest.mark.parametrize("params", [{}, {"C": "likelihood", "sigma": "likelihood"}], ids=["local", "likelihood"])
def test_sample_weights_are_repeated_rows_beyond_those_that_likelihoods_look_at(machine, fresh, n, params):
    rng = np.random.default_rng(2)
    X, w = rng.normal(size=(n, 4)), rng.integers(1, 4, n)
    weighted = machine(**params).fit(X, sample_weight=w)
    assert_agree(judgement(weighted, fresh), judgement(machine(**params).fit(np.repeat(X, w, axis=0)), fresh), 1e-8)


@pytest.mark.filterwarnings("ignore::oneclass.DependentRowsWarning")  # copies are what this is about
def test_a_row_split_into_fractions_is_the_row(variant, rows, fresh):
    class Numbers:
        C, lam, k = 2.0, 0.5, 4
        laplacian = np.diag(np.arange(60.0))

    twice = spread(Numbers.laplacian, np.full(60, 2))
    whole = variant(Numbers).fit(rows)
    split = variant(Numbers, twice).fit(np.repeat(rows, 2, axis=0), sample_weight=np.tile([0.3, 0.7], 60))
    assert_agree(split.score_samples(fresh), whole.score_samples(fresh))


def test_half_the_weights_and_twice_the_C_are_the_same_machine(plain_machine, as_printed, rows, fresh):
    params = as_printed(plain_machine) | {"scale": False, "sigma": 20.0, "threshold": "train", "delta": 0.0}
    whole = plain_machine(C=1.0, **params).fit(rows)
    halved = plain_machine(C=2.0, **params).fit(rows, sample_weight=np.full(60, 0.5))
    assert_agree(halved.score_samples(fresh), whole.score_samples(fresh))
    assert halved.offset_ == pytest.approx(whole.offset_, rel=1e-10)


def test_refitting_gives_the_same_bits(machine, rows, fresh):
    first, second = (judgement(machine().fit(rows), fresh) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_scores_do_not_depend_on_the_number_of_rows_scored_at_once(machine, rows, fresh):
    model = machine().fit(rows)
    one_by_one = np.concatenate([model.score_samples(z[None, :]) for z in fresh])
    assert_agree(one_by_one, model.score_samples(fresh), 1e-12)


@pytest.mark.filterwarnings("ignore::oneclass.DependentRowsWarning")  # weights are copies
def test_training_arrays_may_change_after_the_fit(machine, rows, fresh):
    for threshold in ("held_out", "train"):
        X, w = rows.copy(), np.tile([1.0, 2.0], 30)
        expected = judgement(machine(threshold=threshold).fit(X, sample_weight=w), fresh)
        model = machine(threshold=threshold).fit(X, sample_weight=w)
        X[:], w[:] = 0.0, 7.0
        np.testing.assert_array_equal(judgement(model, fresh), expected)


def test_the_target_may_be_any_number_but_zero(rows, fresh):
    one, other = (OCKELM(r=r).fit(rows) for r in (1.0, -3.0))
    assert_agree(other.score_samples(fresh), 3 * one.score_samples(fresh))
    np.testing.assert_array_equal(other.predict(fresh), one.predict(fresh))


@pytest.mark.filterwarnings("ignore::oneclass.LabelWarning")
def test_labels_that_name_no_target_class_are_not_read(machine, rows, fresh):
    expected = judgement(machine().fit(rows), fresh)
    np.testing.assert_array_equal(judgement(machine().fit(rows, np.arange(60)), fresh), expected)
