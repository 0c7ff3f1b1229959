import os

import numpy as np
import pytest

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
