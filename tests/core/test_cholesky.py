import numpy as np
import pytest
import scipy.linalg

from oneclass.core import arrays, cholesky
from oneclass.core.arrays import to_numpy
from oracle.comparison import assert_agree

RNG = np.random.default_rng(0)
ROOT = RNG.normal(size=(9, 9))
G = ROOT @ ROOT.T + np.eye(9)
B = RNG.normal(size=(9, 2))
LARGE_ROOT = RNG.normal(size=(50, 50))
LARGE = LARGE_ROOT @ LARGE_ROOT.T + np.eye(50)


def factor(xp):
    return cholesky.cholesky(xp.asarray(G, copy=True))


def test_factor_times_its_transpose_is_the_matrix(xp):
    L = factor(xp)
    assert_agree(L @ L.T, G, 1e-13)
    assert_agree(L, np.tril(to_numpy(L)), 0)


def test_factor_reads_the_lower_triangle_only(xp):
    lower = xp.asarray(np.tril(G))
    assert_agree(cholesky.cholesky(lower), np.linalg.cholesky(G), 1e-13)


def test_indefinite_matrix_has_no_factor(xp):
    with pytest.raises(np.linalg.LinAlgError):
        cholesky.cholesky(xp.asarray(np.diag([1.0, -1.0])))


def test_solves_invert_the_factor_and_the_matrix(xp):
    assert_agree(cholesky.solve_lower(factor(xp), xp.asarray(B)), np.linalg.solve(np.linalg.cholesky(G), B), 1e-12)
    assert_agree(cholesky.cho_solve(factor(xp), xp.asarray(B)), np.linalg.solve(G, B), 1e-12)


@pytest.mark.parametrize("n", [1, 4, 8])
def test_a_shorter_solve_is_that_of_the_leading_system(xp, n):
    expected = np.linalg.solve(np.linalg.cholesky(G[:n, :n]), B[:n])
    assert_agree(cholesky.solve_lower(factor(xp), xp.asarray(B[:n])), expected, 1e-12)


@pytest.mark.parametrize("budget", [4 << 20, 256])
def test_diagonal_of_the_inverse_needs_no_inverse(xp, monkeypatch, budget):
    monkeypatch.setattr(arrays, "HOST_BLOCK", budget)
    assert_agree(cholesky.diagonal_of_inverse(factor(xp)), np.diag(np.linalg.inv(G)), 1e-12)


def test_the_inverse_of_a_factored_matrix_is_its_inverse():
    lower = np.tril(cholesky.inverse_of_factored(cholesky.cholesky(G.copy())))
    assert_agree(lower, np.tril(np.linalg.inv(G)), 1e-12)


def test_the_whole_inverse_is_the_inverse_and_leaves_the_factor_alone(xp):
    L = factor(xp)
    assert_agree(cholesky.inverse(L), np.linalg.inv(G), 1e-12)
    assert_agree(L, factor(xp), 0)


def test_what_is_explained_is_the_quadratic_form_of_the_inverse(xp):
    assert_agree(cholesky.explained(factor(xp), xp.asarray(B.T)), np.sum(B * np.linalg.solve(G, B), axis=0), 1e-12)


def test_squares_of_products_and_the_trace_of_what_is_solved_are_those_of_whole_matrices(xp):
    L = np.linalg.cholesky(G)
    assert_agree(cholesky.product_squares(factor(xp), xp.asarray(B.T)), np.sum((B.T @ L) ** 2, axis=1), 1e-12)
    S = LARGE_ROOT[:9, :40] @ LARGE_ROOT[:9, :40].T
    assert cholesky.trace_of_solved(factor(xp), xp.asarray(S)) == pytest.approx(np.trace(np.linalg.solve(G, S)))


# Panels: what libraries without factorisation in place run on large matrices.


@pytest.fixture
def small_panels(monkeypatch):
    monkeypatch.setattr(cholesky, "_PANEL", 16)
    monkeypatch.setattr(cholesky, "_MOST_DIRECT", 16)
    monkeypatch.setattr(cholesky, "_LEAST_COLUMNS", 16)


@pytest.mark.usefixtures("small_panels")
@pytest.mark.parametrize("n", [15, 16, 17, 32, 50])
def test_a_factor_in_panels_is_the_factor(xp, n):
    L = to_numpy(cholesky.cholesky(xp.asarray(LARGE[:n, :n], copy=True)))
    assert_agree(np.tril(L), scipy.linalg.cholesky(LARGE[:n, :n], lower=True), 1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 2, 17, 50])
def test_the_diagonal_of_the_inverse_may_be_worked_out_in_the_place_of_the_factor(n, dtype):
    L = cholesky.cholesky(LARGE[:n, :n].astype(dtype))
    kept = L.copy()
    found = cholesky.diagonal_of_inverse(L, overwrite=True)
    assert found.dtype == dtype
    assert_agree(found, cholesky.diagonal_of_inverse(kept), 1e-12 if dtype == np.float64 else 1e-4)
    assert np.array_equal(L, kept) == (n == 1 and kept[0, 0] == 1)  # no memory was allocated beside it


@pytest.mark.usefixtures("small_panels")
@pytest.mark.parametrize("n", [15, 16, 17, 32, 50])
def test_the_diagonal_of_the_inverse_in_panels_is_the_diagonal_and_leaves_the_factor_alone(xp, n):
    L = cholesky.cholesky(xp.asarray(LARGE[:n, :n], copy=True))
    assert_agree(cholesky.diagonal_of_inverse(L), np.diag(scipy.linalg.inv(LARGE[:n, :n])), 1e-12)
    assert_agree(np.tril(to_numpy(L)), scipy.linalg.cholesky(LARGE[:n, :n], lower=True), 1e-12)


@pytest.mark.usefixtures("small_panels")
def test_solves_with_a_factor_in_panels_invert_the_matrix(xp):
    B = RNG.normal(size=(50, 2))
    L = cholesky.cholesky(xp.asarray(LARGE, copy=True))
    expected = scipy.linalg.solve_triangular(scipy.linalg.cholesky(LARGE, lower=True), B, lower=True)
    assert_agree(cholesky.solve_lower(L, xp.asarray(B)), expected, 1e-12)
    assert_agree(cholesky.cho_solve(L, xp.asarray(B)), scipy.linalg.solve(LARGE, B), 1e-12)


@pytest.mark.usefixtures("small_panels")
@pytest.mark.parametrize("place", [0, 15, 16, 40, 49])
def test_an_indefinite_matrix_has_no_factor_in_panels(xp, place):
    indefinite = LARGE - np.diag(1e3 * (np.arange(50) == place))
    with pytest.raises(np.linalg.LinAlgError):
        cholesky.cholesky(xp.asarray(indefinite))
