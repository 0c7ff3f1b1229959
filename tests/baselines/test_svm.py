import sys

import numpy as np
import pytest
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel
from sklearn.svm import OneClassSVM

from oneclass import OCSVM, RBF, SVDD, Polynomial

clarabel = pytest.importorskip("clarabel")


def dense(model, n):
    a = np.zeros(n)
    a[model.support_] = model.dual_coef_
    return a


def svdd_dual(K, upper, signs=None):
    """Multipliers of the SVDD dual, signed, by a Clarabel solve of it as it is printed."""
    from scipy import sparse

    n = len(K)
    y = np.ones(n) if signs is None else signs
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    P = sparse.csc_matrix(np.triu(2 * K * np.outer(y, y)))
    A = sparse.csc_matrix(np.concatenate([y[None, :], -np.eye(n), np.eye(n)]))
    b = np.concatenate([[1.0], np.zeros(n), np.broadcast_to(upper, n)])
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(2 * n)]
    return y * np.array(clarabel.DefaultSolver(P, -y * np.diag(K), A, b, cones, settings).solve().x)


def test_decision_values_are_those_of_scikit_learn(rows, fresh):
    model = OCSVM(nu=0.2, sigma=3.0, scale=False, tol=1e-10, threshold="boundary").fit(rows)
    peer = OneClassSVM(nu=0.2, gamma=1 / 18, tol=1e-10).fit(rows)
    np.testing.assert_allclose(model.decision_function(fresh) * 0.2 * 60, peer.decision_function(fresh), atol=1e-7)
    assert np.array_equal(model.predict(fresh), peer.predict(fresh))


def test_without_nu_the_machine_takes_delta(rows):
    assert np.array_equal(OCSVM(delta=0.3).fit(rows).dual_coef_, OCSVM(delta=0.3, nu=0.3).fit(rows).dual_coef_)


@pytest.mark.parametrize(
    ("kernel", "peer"),
    [
        (RBF(sigma=2.0), lambda A, B: rbf_kernel(A, B, gamma=1 / 8)),
        ("laplacian", lambda A, B: laplacian_kernel(A, B, gamma=1 / 2)),
        ("polynomial", lambda A, B: polynomial_kernel(A, B, degree=3, gamma=1 / 3)),
        ("linear", lambda A, B: A @ B.T),
        (lambda A, B: A @ B.T + 1, lambda A, B: A @ B.T + 1),
    ],
    ids=["rbf", "laplacian", "polynomial", "linear", "callable"],
)
@pytest.mark.parametrize("delta", [0.0, 0.2])
def test_multipliers_of_svdd_solve_its_dual(kernel, peer, delta):
    random = np.random.default_rng(0)
    X, Z = random.normal(size=(40, 3)), 2 * random.normal(size=(10, 3))
    K = peer(X, X)
    expected = svdd_dual(K, 1 / (40 * max(delta, 1 / 40)))
    model = SVDD(kernel=kernel, sigma=2.0, delta=delta, scale=False, tol=1e-10).fit(X)
    if not isinstance(kernel, str) or kernel != "linear":  # three features: the linear centre has many multipliers
        np.testing.assert_allclose(dense(model, 40), expected, atol=1e-6)
    own = np.array([peer(z[None], z[None])[0, 0] for z in Z])
    distance = own - 2 * peer(Z, X) @ expected + expected @ K @ expected
    np.testing.assert_allclose(-model.score_samples(Z), distance, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("machine", [OCSVM, SVDD])
def test_with_all_rows_at_the_bound_the_machine_is_a_parzen_density(machine, rows, fresh):
    model = machine(nu=1.0, sigma=2.0, scale=False).fit(rows)
    density = rbf_kernel(fresh, rows, gamma=1 / 8).mean(axis=1)
    score = model.score_samples(fresh)
    np.testing.assert_allclose(np.diff(score), np.diff(density) * (2 if machine is SVDD else 1), atol=1e-12)


def test_svdd_with_a_constant_diagonal_is_the_one_class_svm(rows, fresh):
    ball = SVDD(delta=0.2, tol=1e-10, threshold="boundary").fit(rows)
    plane = OCSVM(delta=0.2, tol=1e-10, threshold="boundary").fit(rows)
    np.testing.assert_allclose(dense(ball, 60), dense(plane, 60), atol=1e-8)
    np.testing.assert_allclose(ball.decision_function(fresh), 2 * plane.decision_function(fresh), atol=1e-7)


def test_labelled_outliers_enter_the_dual_with_their_own_bound():
    random = np.random.default_rng(0)
    X = np.concatenate([random.normal(size=(30, 2)), random.normal(size=(10, 2)) + np.array([2, 0])])
    y = np.repeat([1, -1], [30, 10])
    order = random.permutation(40)
    model = SVDD(nu=0.2, nu_outliers=0.4, sigma=1.5, scale=False).fit(X[order], y[order])
    upper = np.where(y > 0, 1 / (30 * 0.2), 1 / (10 * 0.4))
    expected = svdd_dual(rbf_kernel(X, X, gamma=0.5 / 1.5**2), upper, y.astype(float))
    np.testing.assert_allclose(dense(model, 40), expected[order], atol=1e-6)
    assert (model.dual_coef_[y[order][model.support_] < 0] < 0).all()


def test_labelled_outliers_are_pushed_out_of_the_ball():
    random = np.random.default_rng(0)
    X = np.concatenate([random.normal(size=(60, 2)), random.normal(size=(20, 2)) * 0.2 + [1.5, 0]])
    y = np.repeat([1, -1], [60, 20])
    blind = SVDD(threshold="boundary", sigma=1.0).fit(X[y > 0])
    told = SVDD(threshold="boundary", sigma=1.0).fit(X, y)
    assert np.mean(blind.predict(X[y < 0]) == -1) < 0.6
    assert np.mean(told.predict(X[y < 0]) == -1) > 0.9


def test_outliers_take_no_part_in_scaling_or_calibration(rows):
    X = np.concatenate([rows, rows + 100])
    model = SVDD().fit(X, np.repeat([1, -1], 60))
    np.testing.assert_allclose(model.scaler_.centre, rows.mean(axis=0))
    assert model.calibration_.total == 60


@pytest.mark.parametrize("kernel", [RBF(sigma=2.0), Polynomial(degree=2)], ids=["rbf", "polynomial"])
def test_support_vectors_between_their_bounds_lie_on_the_ball(kernel):
    X = np.random.default_rng(0).normal(size=(50, 2))
    model = SVDD(kernel=kernel, delta=0.2, scale=False, tol=1e-10).fit(X)
    a, distance = dense(model, 50), model._center_distance(X)
    free = (a > 1e-6) & (a < 0.1 - 1e-6)
    assert free.any()
    np.testing.assert_allclose(distance[free], model.radius_, rtol=1e-5)
    assert (distance[a == 0] <= model.radius_ * (1 + 1e-5)).all()
    assert (distance[a >= 0.1 - 1e-6] >= model.radius_ * (1 - 1e-5)).all()
    np.testing.assert_allclose(model._center_distance(X) ** 2, -model.score_samples(X))


def test_two_points_have_the_ball_between_them():
    model = SVDD(kernel="linear", scale=False, delta=0.0, threshold="boundary").fit([[0.0, 0.0], [6.0, 8.0]])
    assert model.radius_ == pytest.approx(5)
    np.testing.assert_allclose(model._center_distance([[3.0, 4.0], [3.0, 9.0]]), [0, 5], atol=1e-5)


@pytest.mark.parametrize("machine", [OCSVM, SVDD])
def test_a_precomputed_kernel_gives_the_same_machine(machine, rows, fresh):
    groups = np.arange(60) // 2  # which choose the same folds
    direct = machine(sigma=2.0, scale=False, tol=1e-8).fit(rows, groups=groups)
    by_matrix = machine(kernel="precomputed", tol=1e-8).fit(rbf_kernel(rows, gamma=1 / 8), groups=groups)
    K = rbf_kernel(fresh, rows, gamma=1 / 8)
    np.testing.assert_allclose(by_matrix.decision_function(K), direct.decision_function(fresh), atol=1e-7)
    assert np.array_equal(by_matrix.p_value(K), direct.p_value(fresh))


def test_a_precomputed_kernel_must_have_a_constant_diagonal(rows):
    with pytest.raises(ValueError, match=r"SVDD: a precomputed kernel must have a constant diagonal.*got values from"):
        SVDD(kernel="precomputed").fit(rows @ rows.T)


def test_the_solver_is_asked_for_by_name_when_missing(rows, monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(ImportError, match=r"SVDD: .* need the package clarabel: pip install 'oneclass\[qp\]'"):
        SVDD(kernel="linear").fit(rows)


def test_a_kernel_that_is_none_is_an_error(rows):
    with pytest.raises(ValueError, match=r"SVDD: the quadratic program was not solved.*positive semi-definite"):
        SVDD(kernel=lambda A, B: -((A @ B.T) ** 2), scale=False).fit(rows)
