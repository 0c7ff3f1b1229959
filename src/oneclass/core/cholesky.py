"""Cholesky factors, solves and inverses for any array library: with LAPACK, or in panels of large matrix products."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import get_lapack_funcs

from . import blas
from .arrays import Array, add_to_diagonal, device, mirror, namespace, solve_triangular, subtract_product

__all__ = [
    "SingularSystemError",
    "cho_solve",
    "cholesky",
    "diagonal_of_inverse",
    "explained",
    "factor",
    "inverse",
    "inverse_of_factored",
    "product_squares",
    "solve_lower",
    "times_upper",
    "trace_of_solved",
]

F = TypeVar("F", bound=np.floating)

#: Columns of a panel in blocked factorisations, for large matrices and for libraries that would copy the matrix.
_PANEL = 1024
#: Largest host matrix, in rows, that one LAPACK call factorises.
_MOST_DIRECT = 8192
#: Least and most columns of an inverse in one solve: enough for a fast product, few enough for a core's cache.
_LEAST_COLUMNS, _MOST_COLUMNS = 64, 256
#: Fewest right-hand sides for a BLAS call that lets other threads run; it takes slightly longer than SciPy's.
_LEAST_FOR_THREADS = 16


class SingularSystemError(np.linalg.LinAlgError):
    """The kernel system has no stable solution."""


def _is_direct(G: Array) -> bool:
    """Whether one LAPACK call factorises the matrix; OpenBLAS's threaded Cholesky crashes on much larger ones."""
    return isinstance(G, np.ndarray) and G.shape[0] <= _MOST_DIRECT


def cholesky(G: Array) -> Array:
    """Return the lower triangular ``L`` with ``L L' = G``, from the lower triangle of `G`; overwrites `G`.

    Raises ``numpy.linalg.LinAlgError`` when `G` is not positive definite.
    """
    if _is_direct(G):
        (potrf,) = get_lapack_funcs(("potrf",), (G,))
        # To LAPACK, the lower triangle of a C-ordered matrix is an upper one: the transpose needs no copy.
        upper, info = potrf(G.T, lower=False, clean=True, overwrite_a=True)
        if info != 0:
            raise np.linalg.LinAlgError(f"leading minor {info} is not positive")
        return upper.T
    n = G.shape[0]
    if n <= _PANEL:
        return _small_cholesky(G)
    for a in range(0, n, _PANEL):
        b = min(n, a + _PANEL)
        G[a:b, a:b] = _small_cholesky(G[a:b, a:b])
        if b < n:
            G[b:, a:b] = G[b:, a:b] @ _inverse_of_lower(G[a:b, a:b]).T
        for c in range(b, n, 2 * _PANEL):
            d = min(n, c + 2 * _PANEL)
            subtract_product(G[c:, c:d], G[c:, a:b], G[c:d, a:b].T)
    return G


def _inverse_of_lower(L: Array) -> Array:
    """Return the inverse of a small triangular panel: products with it replace large triangular solves."""
    return solve_lower(L, namespace(L).eye(L.shape[0], dtype=L.dtype, device=device(L)))


def _small_cholesky(G: Array) -> Array:
    xp = namespace(G)
    try:
        L = xp.linalg.cholesky(G)
    except (RuntimeError, ValueError) as error:  # torch's own LinAlgError is a RuntimeError
        raise np.linalg.LinAlgError(str(error)) from error
    if not bool(xp.all(xp.isfinite(xp.linalg.diagonal(L)))):  # CuPy reports failure as NaN
        raise np.linalg.LinAlgError("not positive definite")
    return L


def factor(build: Callable[[], Array]) -> Array:
    """Return the Cholesky factor of ``build()``; a small jitter is added if rounding made the matrix indefinite."""
    for lift in (0.0, 10.0, 1e3):
        G = build()
        xp = namespace(G)
        diagonal = xp.linalg.diagonal(G)
        if not bool(xp.all(xp.isfinite(diagonal))):
            break
        if lift:
            jitter = lift * xp.finfo(G.dtype).eps * xp.sum(xp.abs(diagonal))
            add_to_diagonal(G, jitter)
        try:
            return cholesky(G)
        except np.linalg.LinAlgError:
            continue
    raise SingularSystemError(
        "the kernel system K + (lam/C) S is not positive definite. Likely causes: a kernel that is not positive "
        "semi-definite or returns NaN, C / lam so large that rounding hides the ridge, or values near overflow "
        "(scaling the features helps)"
    )


def solve_lower(L: Array, B: Array, *, overwrite: bool = False) -> Array:
    """Return ``L^-1 B`` for a lower triangular `L`; for a `B` with fewer rows, its leading block is used.

    With `overwrite`, a `B` that is stored by columns may be overwritten.
    """
    n = B.shape[0]
    if not n:
        return B
    if isinstance(L, np.ndarray) and L.dtype == B.dtype and B.ndim == 2 and B.shape[1] >= _LEAST_FOR_THREADS:
        rows = np.array(B.T, order="C", copy=None if overwrite else True)
        blas.solve_rows(L, rows)
        return rows.T
    if isinstance(L, np.ndarray):
        (trtrs,) = get_lapack_funcs(("trtrs",), (L, B))
        return trtrs(L.T[:, :n], B, lower=False, trans=1, overwrite_b=overwrite)[0]
    return solve_triangular(L[:n, :n], B, upper=False)


def explained(L: Array, F: Array) -> Array:
    """Return ``f' (L L')^-1 f`` for each row f of `F`, computed in the precision of `L`."""
    xp = namespace(F)
    rounded = xp.astype(F, L.dtype, copy=False)
    half = solve_lower(L, rounded.T, overwrite=rounded is not F).T
    return xp.astype(xp.vecdot(half, half), F.dtype, copy=False)


def product_squares(L: Array, F: Array) -> Array:
    """Return ``‖L'f‖²`` for each row f of `F` and a lower triangular `L`, computed in its precision."""
    if isinstance(L, np.ndarray):
        half = np.array(F, dtype=L.dtype, order="C")
        blas.times_triangle(half, L, upper=False)
        return np.vecdot(half, half).astype(F.dtype, copy=False)
    xp = namespace(L)
    half = F @ xp.tril(L)
    return xp.sum(half * half, axis=1)


def times_upper(F: Array, R: Array) -> Array:
    """Return ``F R`` for an upper triangular `R`; with NumPy at half the cost of a full product. May overwrite `F`."""
    if isinstance(F, np.ndarray) and len(F) != 1:
        product = np.array(F, dtype=R.dtype, order="C", copy=None)
        blas.times_triangle(product, R, upper=True)
        return product
    return F @ R  # of a single row, this is faster


def cho_solve(L: Array, B: Array) -> Array:
    """Return ``(L L')^-1 B``."""
    if not L.shape[0]:  # LAPACK does not accept an empty matrix
        return B
    if isinstance(L, np.ndarray):
        (potrs,) = get_lapack_funcs(("potrs",), (L, B))
        return potrs(L.T, B, lower=False)[0]
    return solve_triangular(L.T, solve_lower(L, B), upper=True)


def inverse_of_factored(L: NDArray[F]) -> NDArray[F]:
    """Return ``(L L')^-1`` for a host matrix; the strict upper triangle is unspecified. May overwrite `L`."""
    if not len(L):
        return L
    if not _is_direct(L):
        return np.asarray(cho_solve(L, np.eye(len(L), dtype=L.dtype)))
    (potri,) = get_lapack_funcs(("potri",), (L,))
    return np.asarray(potri(L.T, lower=False, overwrite_c=True)[0].T)


def inverse(L: Array) -> Array:
    """Return the full matrix ``(L L')^-1``."""
    if not isinstance(L, np.ndarray):
        return cho_solve(L, namespace(L).eye(L.shape[0], dtype=L.dtype, device=device(L)))
    lower = inverse_of_factored(L.copy())
    mirror(lower.T)
    return lower


def trace_of_solved(L: Array, S: Array) -> float:
    """Return the trace of ``(L L')^-1 S`` for a symmetric `S`."""
    xp = namespace(L)
    if isinstance(L, np.ndarray):  # a third of the cost of solving for every column
        return float(np.vdot(inverse(L), S))
    return float(xp.sum(xp.linalg.diagonal(cho_solve(L, S))))


def diagonal_of_inverse(L: Array, *, overwrite: bool = False) -> Array:
    """Return the diagonal of ``(L L')^-1``: the squared column norms of ``L^-1``. May `overwrite` L to save memory."""
    n = L.shape[0]
    if overwrite and n and _is_direct(L):
        (trtri,) = get_lapack_funcs(("trtri",), (L,))
        inverse_of_L = trtri(L.T, lower=False, overwrite_c=True)[0].T
        return np.einsum("ij,ij->j", inverse_of_L, inverse_of_L)
    if isinstance(L, np.ndarray):
        parts = [np.empty(0, dtype=L.dtype)]
        step = min(max(n // 16, _LEAST_COLUMNS), _MOST_COLUMNS)
        for a in range(0, n, step):
            columns = np.eye(min(step, n - a), n - a, dtype=L.dtype)  # identity columns from row a down
            blas.solve_rows(L[a:, a:], columns)
            parts.append(np.einsum("ij,ij->i", columns, columns))
        return np.concatenate(parts)
    xp = namespace(L)
    ranges = [(a, min(n, a + _PANEL)) for a in range(0, n, _PANEL)]
    inverses = [_inverse_of_lower(L[a:b, a:b]) for a, b in ranges]
    parts = []
    for j, (a, b) in enumerate(ranges):
        # The same columns by forward substitution with products of panels, which is much faster in these libraries.
        columns = xp.zeros((n - a, b - a), dtype=L.dtype, device=device(L))
        columns[: b - a, :] = inverses[j]
        for (c, d), inverse in zip(ranges[j + 1 :], inverses[j + 1 :], strict=True):
            columns[c - a : d - a, :] = -(inverse @ (L[c:d, a:c] @ columns[: c - a, :]))
        parts.append(xp.sum(columns * columns, axis=0))
    return xp.concat(parts)
