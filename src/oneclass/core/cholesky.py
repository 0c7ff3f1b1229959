"""Cholesky factors and what follows from them, on any array library: by LAPACK, or in panels of large products."""

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

#: Columns of a panel in the blocked factorisations: of large matrices, and of libraries that would copy the matrix.
_PANEL = 1024
#: Rows up to which a host matrix is factored by one call.
_DIRECT = 8192
#: Columns of an inverse that are solved for at once: as few as keep a core busy, and as many as stay in its cache.
_FEWEST, _MOST = 64, 256
#: Number of right-hand sides from which on BLAS is called without the lock of the interpreter. The call takes a little
#: longer, but other threads do not wait for it.
_UNLOCKED_COLUMNS = 16


class SingularSystemError(np.linalg.LinAlgError):
    """The kernel system has no stable solution."""


def _is_direct(G: Array) -> bool:
    """Whether LAPACK takes the matrix whole; OpenBLAS's threaded Cholesky crashes on much larger ones."""
    return isinstance(G, np.ndarray) and G.shape[0] <= _DIRECT


def cholesky(G: Array) -> Array:
    """Lower ``L`` with ``L L' = G``; reads the lower triangle of `G`, reuses its memory, and leaves the rest undefined.

    Raises ``numpy.linalg.LinAlgError`` when `G` is not positive definite.
    """
    if _is_direct(G):
        (potrf,) = get_lapack_funcs(("potrf",), (G,))
        # A C-ordered lower triangle is LAPACK's upper one: the transpose costs no copy.
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
    """Inverse of a small triangular panel, so that large products replace large triangular solves."""
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
    """Cholesky factor of the matrix that `build` makes, lifted by a hair of jitter if rounding made it indefinite."""
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
        "semi-definite or returns NaN, C / lam so large that nothing is left of the ridge, or values near overflow "
        "(scaling the features helps)"
    )


def solve_lower(L: Array, B: Array, *, overwrite: bool = False) -> Array:
    """``L^-1 B`` for a lower triangular `L`, of which a shorter `B` takes the first rows and columns.

    May `overwrite` a `B` that is stored by columns.
    """
    n = B.shape[0]
    if not n:
        return B
    if isinstance(L, np.ndarray) and L.dtype == B.dtype and B.ndim == 2 and B.shape[1] >= _UNLOCKED_COLUMNS:
        rows = np.array(B.T, order="C", copy=None if overwrite else True)
        blas.solve_rows(L, rows)
        return rows.T
    if isinstance(L, np.ndarray):
        (trtrs,) = get_lapack_funcs(("trtrs",), (L, B))
        return trtrs(L.T[:, :n], B, lower=False, trans=1, overwrite_b=overwrite)[0]
    return solve_triangular(L[:n, :n], B, upper=False)


def explained(L: Array, F: Array) -> Array:
    """``f' (L L')^-1 f`` of each row f of `F`, worked out in the precision of `L`."""
    xp = namespace(F)
    rounded = xp.astype(F, L.dtype, copy=False)
    half = solve_lower(L, rounded.T, overwrite=rounded is not F).T
    return xp.astype(xp.vecdot(half, half), F.dtype, copy=False)


def product_squares(L: Array, F: Array) -> Array:
    """``‖L'f‖²`` of each row f of `F`, for a lower triangular `L`, worked out in its precision."""
    if isinstance(L, np.ndarray):
        half = np.array(F, dtype=L.dtype, order="C")
        blas.times_triangle(half, L, upper=False)
        return np.vecdot(half, half).astype(F.dtype, copy=False)
    xp = namespace(L)
    half = F @ xp.tril(L)
    return xp.sum(half * half, axis=1)


def times_upper(F: Array, R: Array) -> Array:
    """``F R`` for an upper triangular `R`, at half the work where the library can; may overwrite `F`."""
    if isinstance(F, np.ndarray):
        product = np.array(F, dtype=R.dtype, order="C", copy=None)
        blas.times_triangle(product, R, upper=True)
        return product
    return F @ R


def cho_solve(L: Array, B: Array) -> Array:
    """``(L L')^-1 B``."""
    if not L.shape[0]:  # features that span nothing: LAPACK takes no empty matrix
        return B
    if isinstance(L, np.ndarray):
        (potrs,) = get_lapack_funcs(("potrs",), (L, B))
        return potrs(L.T, B, lower=False)[0]
    return solve_triangular(L.T, solve_lower(L, B), upper=True)


def inverse_of_factored(L: NDArray[F]) -> NDArray[F]:
    """``(L L')^-1`` of a host matrix; the strict upper triangle is unspecified. May overwrite `L`."""
    if not len(L):
        return L
    if not _is_direct(L):
        return np.asarray(cho_solve(L, np.eye(len(L), dtype=L.dtype)))
    (potri,) = get_lapack_funcs(("potri",), (L,))
    return np.asarray(potri(L.T, lower=False, overwrite_c=True)[0].T)


def inverse(L: Array) -> Array:
    """``(L L')^-1``, whole."""
    if not isinstance(L, np.ndarray):
        return cho_solve(L, namespace(L).eye(L.shape[0], dtype=L.dtype, device=device(L)))
    lower = inverse_of_factored(L.copy())
    mirror(lower.T)
    return lower


def trace_of_solved(L: Array, S: Array) -> float:
    """Trace of ``(L L')^-1 S`` for a symmetric `S`."""
    xp = namespace(L)
    if isinstance(L, np.ndarray):  # a third of the work of solving for every column
        return float(np.vdot(inverse(L), S))
    return float(xp.sum(xp.linalg.diagonal(cho_solve(L, S))))


def diagonal_of_inverse(L: Array, *, overwrite: bool = False) -> Array:
    """Diagonal of ``(L L')^-1``, the squared column norms of ``L^-1``, which takes no room: it may `overwrite` `L`."""
    n = L.shape[0]
    if overwrite and n and _is_direct(L):
        (trtri,) = get_lapack_funcs(("trtri",), (L,))
        inverse_of_L = trtri(L.T, lower=False, overwrite_c=True)[0].T
        return np.einsum("ij,ij->j", inverse_of_L, inverse_of_L)
    if isinstance(L, np.ndarray):
        parts = [np.empty(0, dtype=L.dtype)]
        step = min(max(n // 16, _FEWEST), _MOST)
        for a in range(0, n, step):
            columns = np.eye(min(step, n - a), n - a, dtype=L.dtype)  # one after the other; zero above row a
            blas.solve_rows(L[a:, a:], columns)
            parts.append(np.einsum("ij,ij->i", columns, columns))
        return np.concatenate(parts)
    xp = namespace(L)
    ranges = [(a, min(n, a + _PANEL)) for a in range(0, n, _PANEL)]
    inverses = [_inverse_of_lower(L[a:b, a:b]) for a, b in ranges]
    parts = []
    for j, (a, b) in enumerate(ranges):
        # The same columns by forward substitution in products of panels, which such libraries do far quicker.
        columns = xp.zeros((n - a, b - a), dtype=L.dtype, device=device(L))
        columns[: b - a, :] = inverses[j]
        for (c, d), inverse in zip(ranges[j + 1 :], inverses[j + 1 :], strict=True):
            columns[c - a : d - a, :] = -(inverse @ (L[c:d, a:c] @ columns[: c - a, :]))
        parts.append(xp.sum(columns * columns, axis=0))
    return xp.concat(parts)
