import os

import numpy as np
import pytest
import scipy.linalg

from oneclass.core import arrays
from oracle.comparison import assert_agree

RNG = np.random.default_rng(0)
ROOT = RNG.normal(size=(9, 9))
G = ROOT @ ROOT.T + np.eye(9)
B = RNG.normal(size=(9, 2))


def factor(xp):
    return arrays.cholesky(xp.asarray(G, copy=True))


def test_factor_times_its_transpose_is_the_matrix(xp):
    L = factor(xp)
    assert_agree(L @ L.T, G, 1e-13)
    assert_agree(L, np.tril(arrays.to_numpy(L)), 0)


def test_factor_reads_the_lower_triangle_only(xp):
    lower = xp.asarray(np.tril(G))
    assert_agree(arrays.cholesky(lower), np.linalg.cholesky(G), 1e-13)


def test_indefinite_matrix_has_no_factor(xp):
    with pytest.raises(np.linalg.LinAlgError):
        arrays.cholesky(xp.asarray(np.diag([1.0, -1.0])))


def test_solves_invert_the_factor_and_the_matrix(xp):
    assert_agree(arrays.solve_lower(factor(xp), xp.asarray(B)), np.linalg.solve(np.linalg.cholesky(G), B), 1e-12)
    assert_agree(arrays.cho_solve(factor(xp), xp.asarray(B)), np.linalg.solve(G, B), 1e-12)


@pytest.mark.parametrize("budget", [4 << 20, 256])
def test_diagonal_of_the_inverse_needs_no_inverse(xp, monkeypatch, budget):
    monkeypatch.setattr(arrays, "HOST_BLOCK", budget)
    assert_agree(arrays.diagonal_of_inverse(factor(xp), keep=False), np.diag(np.linalg.inv(G)), 1e-12)


def test_exponential_in_place_is_the_exponential(xp):
    assert_agree(arrays.exp_inplace(xp.asarray(B, copy=True)), np.exp(B), 1e-15)


def test_copy_shares_no_memory(xp):
    original = xp.asarray(B, copy=True)
    twin = arrays.copy(original)
    twin[0, 0] = 100.0
    assert float(original[0, 0]) == B[0, 0]


def test_only_other_libraries_are_foreign(xp):
    assert arrays.is_foreign(xp.asarray(B)) == (xp.__name__ != "array_api_compat.numpy")
    assert not arrays.is_foreign([[1.0]])


@pytest.mark.parametrize(("rows", "items"), [(0, 5), (1, 5), (1000, 7), (10, 10**9)])
def test_blocks_cover_the_rows_once_within_the_budget(rows, items):
    ranges = list(arrays.blocks(rows, items, np.ones(1)))
    assert [r for a, b in ranges for r in range(a, b)] == list(range(rows))
    assert all(b - a == 1 or (b - a) * items * 8 <= arrays.HOST_BLOCK for a, b in ranges)


def test_available_memory_is_within_the_machine(xp):
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert 0 < arrays.available_bytes(xp.asarray(B)) <= physical


# Panels: what libraries without factorisation in place run on large matrices.

LARGE_ROOT = RNG.normal(size=(50, 50))
LARGE = LARGE_ROOT @ LARGE_ROOT.T + np.eye(50)


@pytest.fixture
def small_panels(monkeypatch):
    monkeypatch.setattr(arrays, "_PANEL", 16)
    monkeypatch.setattr(arrays, "_DIRECT", 16)


@pytest.mark.usefixtures("small_panels")
@pytest.mark.parametrize("n", [15, 16, 17, 32, 50])
def test_a_factor_in_panels_is_the_factor(xp, n):
    L = arrays.to_numpy(arrays.cholesky(xp.asarray(LARGE[:n, :n], copy=True)))
    assert_agree(np.tril(L), scipy.linalg.cholesky(LARGE[:n, :n], lower=True), 1e-12)


@pytest.mark.usefixtures("small_panels")
@pytest.mark.parametrize("n", [15, 16, 17, 32, 50])
@pytest.mark.parametrize("keep", [True, False])
def test_the_diagonal_of_the_inverse_in_panels_is_the_diagonal(xp, n, keep):
    L = arrays.cholesky(xp.asarray(LARGE[:n, :n], copy=True))
    expected = np.diag(scipy.linalg.inv(LARGE[:n, :n]))
    assert_agree(arrays.diagonal_of_inverse(L, keep=keep), expected, 1e-12)
    if keep:
        assert_agree(np.tril(arrays.to_numpy(L)), scipy.linalg.cholesky(LARGE[:n, :n], lower=True), 1e-12)


@pytest.mark.usefixtures("small_panels")
def test_solves_with_a_factor_in_panels_invert_the_matrix(xp):
    B = RNG.normal(size=(50, 2))
    L = arrays.cholesky(xp.asarray(LARGE, copy=True))
    expected = scipy.linalg.solve_triangular(scipy.linalg.cholesky(LARGE, lower=True), B, lower=True)
    assert_agree(arrays.solve_lower(L, xp.asarray(B)), expected, 1e-12)
    assert_agree(arrays.cho_solve(L, xp.asarray(B)), scipy.linalg.solve(LARGE, B), 1e-12)


@pytest.mark.usefixtures("small_panels")
@pytest.mark.parametrize("place", [0, 15, 16, 40, 49])
def test_an_indefinite_matrix_has_no_factor_in_panels(xp, place):
    indefinite = LARGE - np.diag(1e3 * (np.arange(50) == place))
    with pytest.raises(np.linalg.LinAlgError):
        arrays.cholesky(xp.asarray(indefinite))


@pytest.mark.parametrize("columns", [3, 512, 513, 1100])
def test_gram_matrix_is_the_product_with_the_transpose(xp, columns):
    F = RNG.normal(size=(4, columns))
    assert_agree(arrays.gram(xp.asarray(F)), F.T @ F, 1e-14)


def test_bits_tell_values_apart_whatever_their_precision(xp):
    values = np.array([[0.0, 1.0, -1.0, 0.5, np.nextafter(1.0, 2.0), 1e300]])
    words = arrays.to_numpy(arrays.bits(xp.asarray(values)))
    np.testing.assert_array_equal(words, values.view(np.int64))
    single = np.array([[-0.0, 1.0, -1.0, 0.5]], dtype=np.float32)
    np.testing.assert_array_equal(arrays.to_numpy(arrays.bits(xp.asarray(single))), words[:, :4])


def test_rows_go_to_a_device_unless_another_library_holds_them(xp):
    pytest.importorskip("torch")
    X = xp.asarray(B)
    moved = arrays.to_device(X, "cpu")
    assert arrays.is_foreign(moved)
    assert (moved is X) == arrays.is_foreign(X)
    assert_agree(moved, B, 0)
