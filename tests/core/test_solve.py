from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneclass.core.arrays import to_numpy
from oneclass.core.cholesky import SingularSystemError
from oneclass.core.embedding import NoVariance, WithinVariance
from oneclass.core.groups import Groups
from oneclass.core.kernels import RBF, Linear, UserKernel
from oneclass.core.solve import residual_operator, solve_dual, system
from oracle import equations, refits
from oracle.comparison import assert_agree
from oracle.equations import collapse, kernel_matrix, repeat
from oracle.problems import problems

SIGMA = 3.0
SHARES = st.sampled_from([1.0, 0.3])  # whole copies, and fractions of one


def solved(xp, problem, build, *, keep_factor=False):
    """The library's model and training rows of an auto-associative machine."""
    X, w = xp.asarray(problem.X), xp.asarray(problem.w)
    shrink = build(problem, w).shrink(w, C=problem.C)
    options = {"ridge": problem.lam / problem.C, "leave_one_out": True, "keep_factor": keep_factor}
    return solve_dual(RBF(sigma=SIGMA), X, X, w, shrink, **options)


def equation(problem, build):
    """What a refit needs: K, M, weights and the numbers of the equation."""
    K = kernel_matrix("rbf", problem.X, problem.X, SIGMA)
    M = build(problem, problem.w).laplacian(problem.w) @ np.eye(len(problem.w))
    return {"K": K, "M": M, "w": problem.w, "C": problem.C, "lam": problem.lam}


@given(problem=problems())
def test_symmetric_solve_is_the_printed_equation(xp, embedding, problem):
    build, printed = embedding
    model, rows = solved(xp, problem, build)
    T = repeat(problem.X, problem.w)
    K = kernel_matrix("rbf", T, T, SIGMA)
    A = equations.weights(K, T, printed(problem), C=problem.C, lam=problem.lam)
    assert_agree(model.weights, collapse(A, problem.w))
    assert_agree(repeat(to_numpy(rows.residuals), problem.w), T - K @ A)


@given(problem=problems())
def test_residual_operator_makes_the_residuals_of_the_solve(embedding, problem):
    X, w, ridge = problem.X, np.ones(len(problem.X)), problem.lam / problem.C
    shrink = embedding[0](problem, w).shrink(w, C=problem.C)
    rows = solve_dual(RBF(sigma=SIGMA), X, X, w, shrink, ridge=ridge, leave_one_out=True)[1]
    lower = np.tril(residual_operator(RBF(sigma=SIGMA)(X, X), shrink, ridge=ridge))
    assert_agree((lower + np.tril(lower, -1).T) @ X, rows.residuals)
    assert_agree(np.diag(lower), rows.spare)


@given(problem=problems())
def test_outputs_are_the_printed_sum_over_training_rows(xp, embedding, problem):
    model, _ = solved(xp, problem, embedding[0])
    expected = equations.outputs("rbf", problem.fresh, problem.X, to_numpy(model.weights), SIGMA)
    assert_agree(model.outputs(model.features(xp.asarray(problem.fresh))), expected)


@given(problem=problems(), share=SHARES)
def test_leave_one_out_is_refitting_without_one_unit_of_weight(xp, embedding, problem, share):
    problem = replace(problem, w=problem.w * share)
    _, rows = solved(xp, problem, embedding[0])
    expected = refits.held_out_residuals(T=problem.X, **equation(problem, embedding[0]))
    assert_agree(rows.held_out_residuals(), expected, 1e-8)


@given(problem=problems(), share=SHARES)
def test_uncertainty_is_the_posterior_variance_over_the_noise(xp, embedding, problem, share):
    problem = replace(problem, w=problem.w * share)
    model, rows = solved(xp, problem, embedding[0], keep_factor=True)
    known = equation(problem, embedding[0])
    k_new = kernel_matrix("rbf", problem.fresh, problem.X, SIGMA)
    k_self = kernel_matrix("rbf", problem.fresh, problem.fresh, SIGMA)
    fresh = xp.asarray(problem.fresh)
    assert_agree(rows.uncertainty() / problem.C, refits.posterior_variances(**known), 1e-8)
    assert_agree(rows.held_out_uncertainty() / problem.C, refits.held_out_variances(**known), 1e-8)
    actual = model.uncertainty(fresh, model.features(fresh)) / problem.C
    assert_agree(actual, refits.posterior_variances(k_new=k_new, k_self=k_self, **known), 1e-8)


@given(problem=problems(min_rows=4))
def test_uncertainty_by_the_first_rows_is_that_of_a_machine_without_the_others(xp, problem):
    X, w, options = problem.X, problem.w, {"ridge": problem.lam / problem.C, "leave_one_out": False}
    few, fresh = len(X) // 2, xp.asarray(problem.fresh)

    def model(n):
        rows, weights = xp.asarray(X[:n]), xp.asarray(w[:n])
        shrink = NoVariance().shrink(weights, C=problem.C)
        return solve_dual(RBF(sigma=SIGMA), rows, rows, weights, shrink, keep_factor=True, **options)[0]

    whole, part = model(len(X)), model(few)
    features = whole.features(fresh)
    found = to_numpy(whole.uncertainty(fresh, features[:, :few]))
    assert_agree(found, part.uncertainty(fresh, part.features(fresh)), 1e-8)
    assert np.all(found >= to_numpy(whole.uncertainty(fresh, features)) - 1e-8)


@given(problem=problems())
def test_a_model_without_its_factor_works_it_out_again(xp, embedding, problem):
    model = solved(xp, problem, embedding[0], keep_factor=True)[0]
    fresh = xp.asarray(problem.fresh)
    bare = replace(model)
    assert "factored" not in vars(bare)
    assert_agree(bare.uncertainty(fresh, bare.features(fresh)), model.uncertainty(fresh, model.features(fresh)), 1e-12)


@given(problem=problems())
def test_signal_is_the_maximum_likelihood_variance(xp, embedding, problem):
    build, printed = embedding
    _, rows = solved(xp, problem, build)
    T = repeat(problem.X, problem.w)
    K = kernel_matrix("rbf", T, T, SIGMA)
    _, expected = refits.gaussian_process(K, T, printed(problem), C=problem.C, lam=problem.lam)
    assert rows.signal(C=problem.C) == pytest.approx(expected, rel=1e-9)


@pytest.mark.usefixtures("tiny_blocks")
@given(problem=problems(min_rows=10))
def test_small_blocks_solve_the_same_equation(xp, embedding, problem):
    test_symmetric_solve_is_the_printed_equation.hypothesis.inner_test(xp, embedding, problem)


@pytest.mark.parametrize("n", [199, 257, 260])
@pytest.mark.parametrize("variance", [NoVariance(), WithinVariance(np.ones((260, 1)))])
def test_a_system_in_parts_is_the_whole_below_its_diagonal(xp, n, variance):
    rng = np.random.default_rng(n)
    Z, w = rng.normal(size=(n, 3)), rng.uniform(0.5, 2, n)
    if isinstance(variance, WithinVariance):
        variance = WithinVariance(xp.asarray(variance.membership[:n]))
    shrink = variance.shrink(xp.asarray(w), C=2.0)
    whole = kernel_matrix("rbf", Z, Z, SIGMA) + 0.3 * to_numpy(shrink @ xp.eye(n, dtype=xp.float64))
    found = to_numpy(system(RBF(sigma=SIGMA), xp.asarray(Z), shrink, ridge=0.3))
    assert_agree(np.tril(found), np.tril(whole))


def test_leave_one_out_must_be_asked_for():
    w = np.ones(3)
    options = {"ridge": 1.0, "leave_one_out": False}
    _, rows = solve_dual(Linear(), np.eye(3), np.eye(3), w, NoVariance().shrink(w, C=1.0), **options)
    with pytest.raises(ValueError, match="leave_one_out=True"):
        rows.held_out_residuals()


# Systems at the edge of what doubles can solve, against rational arithmetic.

RNG = np.random.default_rng(0)
PLANE = RNG.normal(size=(8, 2))
HARD = {
    "plain": PLANE,
    "duplicates": np.repeat(PLANE[:3], 3, axis=0),
    "constant feature": np.column_stack([PLANE, np.zeros(8)]),
    "wide": RNG.normal(size=(6, 60)) / 5,
    "near duplicates": np.vstack([PLANE[:4], PLANE[:4] + 1e-9]),
}


def exactly(K, M, T, C):
    """Outputs of the training rows, K (K + MK/C + I/C)^-1 T, without rounding before the end."""
    n = range(len(K))
    K, M, T = ([[Fraction(v) for v in row] for row in matrix.tolist()] for matrix in (K, M, T))
    C = Fraction(C)
    G = [[K[i][j] + (sum(M[i][k] * K[k][j] for k in n) + (i == j)) / C for j in n] for i in n]
    A = refits.exact_solve(G, T)
    return np.array([[float(sum(K[i][k] * A[k][c] for k in n)) for c in range(len(T[0]))] for i in n])


@pytest.mark.parametrize("C", [1e6, 1e12])
@pytest.mark.parametrize("variance", ["none", "own"])
@pytest.mark.parametrize("name", HARD)
def test_near_singular_systems_keep_ten_digits_of_the_outputs(name, variance, C):
    Z = HARD[name]
    n, w = len(Z), np.ones(len(Z))
    chosen = NoVariance() if variance == "none" else WithinVariance(np.eye(2)[np.arange(n) % 2])
    kernel = RBF(sigma=2.0)
    K = np.tril(kernel(Z, Z))
    K = K + np.tril(K, -1).T
    model, rows = solve_dual(kernel, Z, Z, w, chosen.shrink(w, C=C), ridge=1 / C, leave_one_out=True)
    expected = exactly(K, chosen.laplacian(w) @ np.eye(n), Z, C)
    assert_agree(K @ model.weights, expected, 1e-10)
    assert_agree(Z - rows.residuals, expected, 1e-10)


def held_out_exactly(K, scatter, C, w, groups):
    """``C v`` of each row after its group has left errors and scatter, without rounding: ``K (U K + I / C)^-1``.

    U are the errors and the scatter over C, and lam is one. A row without a group is held out by one unit of weight.
    """
    n = len(K)
    K = [[Fraction(v) for v in row] for row in K.tolist()]
    found = []
    for i in range(n):
        gone = [j for j in range(n) if groups[j] == groups[i]]
        left = [Fraction(v) - ((min(Fraction(v), 1) if len(gone) == 1 else Fraction(v)) if j in gone else 0)
                for j, v in enumerate(w)]  # fmt: skip
        U = scatter(left) if scatter else [[Fraction(0)] * n for _ in range(n)]
        U = [[U[a][b] / Fraction(C) + (left[a] if a == b else 0) for b in range(n)] for a in range(n)]
        G = [[sum(U[a][k] * K[k][b] for k in range(n)) + (Fraction(1, 1) / Fraction(C) if a == b else 0)
              for b in range(n)] for a in range(n)]  # fmt: skip
        column = refits.exact_solve(G, [[Fraction(a == i)] for a in range(n)])
        found.append(sum(K[i][k] * column[k][0] for k in range(n)))
    return found


def two_clusters(w):
    """M of `subclass`: each half of the rows about its own mean, by the share of all rows that it had at first."""
    n = len(w)
    M = [[Fraction(0)] * n for _ in range(n)]
    for rows in (range(0, n, 2), range(1, n, 2)):
        size = sum(w[j] for j in rows)
        for a in rows:
            for b in rows:
                M[a][b] = Fraction(1, 2) * ((w[a] if a == b else 0) - (w[a] * w[b] / size if size else 0))
    return M


@pytest.mark.parametrize("C", [1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 1.0, 1e4])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("weights", ["one", "mixed"])
def test_held_out_uncertainty_keeps_its_digits_at_every_C(xp, C, dtype, grouped, weights):
    Z, kernel = xp.asarray(PLANE.astype(dtype)), RBF(sigma=2.0)
    w = np.ones(8) if weights == "one" else np.array([1, 1e-3, 2, 0.25, 1e3, 1, 1e-8, 1.5])
    w = w.astype(dtype)
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 3]) if grouped else np.arange(8)
    K = np.tril(to_numpy(kernel(Z, Z)))
    expected = held_out_exactly(K + np.tril(K, -1).T, None, C, w.tolist(), groups)
    options = {"groups": Groups(groups)} if grouped else {}
    shrink = NoVariance().shrink(xp.asarray(w), C=C)
    _, rows = solve_dual(
        kernel, Z, Z, xp.asarray(w), shrink, ridge=1 / C, leave_one_out=True, keep_factor=True, **options
    )
    found = [Fraction(float(q)) / Fraction(C) for q in to_numpy(rows.held_out_uncertainty())]
    # To the rounding of k(z, z), which is one: all that differs from row to row where C is small is far below that.
    off = [abs(float(a - b / Fraction(C))) for a, b in zip(found, expected, strict=True)]
    assert max(off) < 30 * max(1, C) * np.finfo(dtype).eps


@pytest.mark.parametrize("C", [1e-10, 1e-7, 1e-4, 1.0])
@pytest.mark.parametrize("grouped", [False, True])
def test_held_out_uncertainty_of_a_variance_keeps_the_digits_that_the_system_has(xp, C, grouped):
    Z, kernel, w = xp.asarray(PLANE), RBF(sigma=2.0), np.ones(8)
    embedding = WithinVariance(xp.asarray(np.eye(2)[np.arange(8) % 2]))
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 3]) if grouped else np.arange(8)
    K = np.tril(to_numpy(kernel(Z, Z)))
    expected = held_out_exactly(K + np.tril(K, -1).T, two_clusters, C, w.tolist(), groups)
    options = {"groups": Groups(groups)} if grouped else {}
    shrink, w = embedding.shrink(xp.asarray(w), C=C), xp.asarray(w)
    options |= {"leave_one_out": True, "keep_factor": True, "embedding": embedding, "C": C}
    _, rows = solve_dual(kernel, Z, Z, w, shrink, ridge=1 / C, **options)
    assert_agree(to_numpy(rows.held_out_uncertainty()) / C, [float(v / Fraction(C)) for v in expected], 1e-15 * 30 / C)


@pytest.mark.parametrize("copies", [2, 3])
def test_a_row_with_copies_spares_one_less_their_share_without_ridge(xp, copies):
    Z = xp.asarray(np.repeat(PLANE, copies, axis=0))
    w = xp.ones(Z.shape[0], dtype=xp.float64)
    _, rows = solve_dual(RBF(sigma=0.5), Z, Z, w, NoVariance().shrink(w, C=1e12), ridge=1e-12, leave_one_out=True)
    assert_agree(rows.spare, np.full(len(PLANE) * copies, 1 - 1 / copies), 1e-3)


def test_a_system_that_is_singular_in_double_precision_gets_a_tiny_diagonal(xp):
    """200 rows on a line under a wide kernel: K has numerical rank 20, and the ridge is below its rounding."""
    x = np.sort(np.random.default_rng(0).normal(size=200))[:, None]
    Z, w = xp.asarray(x), xp.ones(200, dtype=xp.float64)
    _, rows = solve_dual(RBF(sigma=2.0), Z, Z, w, NoVariance().shrink(w, C=1e16), ridge=1e-16, leave_one_out=True)
    assert_agree(Z - rows.residuals, x, 1e-6)
    assert np.all(np.isfinite(to_numpy(rows.held_out_residuals())))


def test_an_indefinite_kernel_has_no_stable_solution(xp):
    Z, w = xp.asarray(PLANE), xp.ones(8, dtype=xp.float64)
    with pytest.raises(SingularSystemError, match=r"Likely causes.*not positive semi-definite"):
        solve_dual(
            UserKernel(lambda X, Y: -(X @ Y.T)), Z, Z, w, NoVariance().shrink(w, C=10.0), ridge=0.1, leave_one_out=False
        )


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_kernel_that_is_not_finite_has_no_solution(xp, value):
    Z, w = xp.asarray(PLANE), xp.ones(8, dtype=xp.float64)
    kernel = UserKernel(lambda X, Y: X @ Y.T * 0 + value)
    with pytest.raises(ValueError, match="kernel <lambda> must return finite values, but returned NaN or infinity"):
        solve_dual(kernel, Z, Z, w, NoVariance().shrink(w, C=1.0), ridge=1.0, leave_one_out=False)
