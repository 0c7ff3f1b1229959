"""Triangular products and solves by the addresses of BLAS are those of SciPy and NumPy, and let other threads run."""

import threading
import time

import numpy as np
import pytest
from scipy.linalg import solve_triangular

from oneclass.core import blas

DTYPES = [np.float32, np.float64]


def triangle(n, dtype, *, upper=False):
    T = np.tril(np.random.default_rng(n).normal(size=(n, n))) / n + np.eye(n)
    return np.ascontiguousarray(T.T if upper else T).astype(dtype)


def rows(k, n, dtype):
    return np.random.default_rng(k).normal(size=(k, n)).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("k", "n"), [(1, 1), (1, 5), (40, 3), (17, 130), (300, 64)])
def test_rows_are_solved_as_by_scipy(k, n, dtype):
    L, F = triangle(n, dtype), rows(k, n, dtype)
    found = F.copy()
    blas.solve_rows(L, found)
    np.testing.assert_allclose(found, solve_triangular(L, F.T, lower=True).T, rtol=0, atol=100 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 9, 77])
def test_shorter_rows_take_the_first_rows_and_columns(n, dtype):
    L, F = triangle(100, dtype), rows(30, n, dtype)
    found = F.copy()
    blas.solve_rows(L, found)
    expected = solve_triangular(L[:n, :n], F.T, lower=True).T
    np.testing.assert_allclose(found, expected, rtol=0, atol=100 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_part_of_a_triangle_is_read_where_it_lies(dtype):
    L, F = triangle(100, dtype), rows(30, 60, dtype)
    turned = np.ascontiguousarray(L[::-1])[::-1]  # its rows come in the other order: these are copied
    for part in (L[40:, 40:], turned[40:, 40:]):
        found = F.copy()
        blas.solve_rows(part, found)
        expected = solve_triangular(L[40:, 40:], F.T, lower=True).T
        np.testing.assert_allclose(found, expected, rtol=0, atol=100 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize(("k", "n"), [(1, 1), (1, 7), (40, 3), (300, 64)])
def test_products_are_those_of_numpy(k, n, upper, dtype):
    T, F = triangle(n, dtype, upper=upper), rows(k, n, dtype)
    for stored in (T, np.asfortranarray(T), np.repeat(T, 2, axis=1)[:, ::2]):
        found = F.copy()
        blas.times_triangle(found, stored, upper=upper)
        np.testing.assert_allclose(found, F @ T, rtol=0, atol=100 * np.finfo(dtype).eps * np.sqrt(n))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("k", "n"), [(1, 1), (1, 7), (40, 3), (30, 64)])
def test_squares_are_added_above_the_diagonal(k, n, dtype):
    F, G = rows(k, n, dtype), rows(n, n, dtype)
    found = G.copy()
    blas.add_squares(found, F, -2.0)
    expected = np.triu(G - 2 * F.T @ F) + np.tril(G, -1)
    np.testing.assert_allclose(found, expected, rtol=0, atol=100 * k * np.finfo(dtype).eps)


def test_no_rows_are_no_work():
    found = np.empty((0, 4))
    blas.solve_rows(triangle(4, np.float64), found)
    blas.times_triangle(found, triangle(4, np.float64), upper=False)
    blas.add_squares(nothing := np.zeros((4, 4)), found, 1.0)
    assert found.shape == (0, 4)
    assert not nothing.any()


@pytest.mark.parametrize(
    "wrong",
    [rows(3, 4, np.float32), rows(3, 5, np.float64), rows(4, 3, np.float64).T, rows(6, 4, np.float64)[::2]],
    ids=["another precision", "longer", "by columns", "apart"],
)
def test_what_would_be_read_wrongly_is_refused(wrong):
    before = wrong.copy()
    with pytest.raises(ValueError, match="rows must be C-contiguous"):
        blas.solve_rows(triangle(4, np.float64), wrong)
    np.testing.assert_array_equal(wrong, before)


@pytest.mark.parametrize("shape", [(6, 3), (3, 6), (4, 4, 4)])
def test_what_is_no_triangle_for_rows_of_that_length_is_refused(shape):
    for apply in (blas.solve_rows, lambda T, F: blas.times_triangle(F, T, upper=True)):
        with pytest.raises(ValueError, match="at most as wide as it"):
            apply(np.ones(shape), rows(3, 4, np.float64))


@pytest.mark.parametrize(
    ("G", "F"),
    [
        (np.zeros((4, 4), np.float32), rows(3, 4, np.float64)),
        (np.zeros((5, 5)), rows(3, 4, np.float64)),
        (np.zeros((4, 8))[:, ::2], rows(3, 4, np.float64)),
        (np.zeros((4, 4)), rows(4, 3, np.float64).T),
    ],
    ids=["another precision", "another size", "squares apart", "rows by columns"],
)
def test_squares_that_would_be_written_wrongly_are_refused(G, F):
    with pytest.raises(ValueError, match="G and rows must be C-contiguous"):
        blas.add_squares(G, F, 1.0)


def test_read_only_rows_are_refused():
    found = rows(3, 4, np.float64)
    found.flags.writeable = False
    with pytest.raises(ValueError, match="rows must be C-contiguous"):
        blas.solve_rows(triangle(4, np.float64), found)


@pytest.mark.parametrize("work", ["solve", "product"])
def test_other_threads_run_meanwhile(work):
    T, F = triangle(1000, np.float64), rows(4000, 1000, np.float64)
    call = {"solve": lambda: blas.solve_rows(T, F), "product": lambda: blas.times_triangle(F, T, upper=False)}[work]
    call()  # loads the function
    thread = threading.Thread(target=call)
    thread.start()
    turns = [time.perf_counter()]
    while thread.is_alive():
        time.sleep(0.001)
        turns.append(time.perf_counter())
    # A call that keeps the interpreter to itself is one long wait.
    assert np.max(np.diff(turns)) < (turns[-1] - turns[0]) / 2
